// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Register file of a device, made from its register table (hw/abi/*_regs.def). Plain C++; mem_socket.h puts it on a
// bus.
//
// Behaviour of an access. Its width must be the width of the register (32 or 64 bits) and its offset that of an
// element.
//   ro   a write is refused (read_only)
//   rw   a write stores
//   w1c  a write clears the bits that are 1 in it
//   rc   a read returns the value and clears it
//   db   as rw; the write hook is the doorbell
// Hooks run after the stored value has changed: a write hook sees the new value in the file and gets the value that was
// written; a read hook gets the value that was stored (before an rc clear) and returns what the reader sees.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft {

/// Access rights; the same enumerators as abi::reg_access.
enum class reg_rights : std::uint8_t { ro, rw, w1c, rc, db };

/// Maps the access enumeration of a table (which tlm/ does not know) by the names of its enumerators.
template <class Access> constexpr reg_rights reg_rights_of(Access a)
{
    return a == Access::ro    ? reg_rights::ro
           : a == Access::rw  ? reg_rights::rw
           : a == Access::w1c ? reg_rights::w1c
           : a == Access::rc  ? reg_rights::rc
                              : reg_rights::db;
}

/// One row of a register table. The texts are static. A plain register is an array of one.
struct reg_row_view {
    const char* name;
    std::uint32_t offset;
    std::uint32_t stride;
    std::uint32_t count;
    std::uint32_t width_bits;
    reg_rights access;
    std::uint64_t reset;
    const char* doc;
};

enum class reg_status : std::uint8_t {
    ok,
    unknown_offset, ///< no register starts here
    bad_width,      ///< the access is not as wide as the register
    read_only       ///< a write to an ro or rc register
};
const char* to_string(reg_status s);

class reg_file {
public:
    using read_hook = std::function<std::uint64_t(std::uint32_t index, std::uint64_t stored)>;
    using write_hook = std::function<void(std::uint32_t index, std::uint64_t written)>;

    /// `block` names the device in messages ("DMA"). `rows` is an array of any row type with the members of
    /// reg_row_view. Throws `bug` when two registers overlap, a width is neither 32 nor 64, or an offset is not aligned
    /// to it.
    template <class Row, std::size_t N> reg_file(const char* block, const Row (&rows)[N]) : block_(block)
    {
        rows_.reserve(N);
        for (const Row& r : rows)
            add({r.name, r.offset, r.stride, r.count, r.width_bits, reg_rights_of(r.access), r.reset, r.doc});
        build();
    }

    /// An access from the bus, with side effects; `bytes` is 4 or 8. On an error nothing changes and `value` is 0.
    reg_status read(std::uint64_t offset, std::uint32_t bytes, std::uint64_t& value);
    reg_status write(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value);
    /// A debugger's access: stored values, no hook, no clear; a poke goes to read-only registers, too.
    reg_status peek(std::uint64_t offset, std::uint32_t bytes, std::uint64_t& value) const;
    reg_status poke(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value);

    /// The device's own view of the stored value of the register at `offset`; throws `bug` when there is none. The
    /// reference stays valid as long as the file: a device may keep it.
    std::uint64_t& at(std::uint64_t offset) { return values_[slot_of(offset)]; }
    std::uint64_t at(std::uint64_t offset) const { return values_[slot_of(offset)]; }

    /// Attach a hook to the register or register array that begins at `row_offset`; throws `bug` when there is none.
    void on_read(std::uint64_t row_offset, read_hook hook);
    void on_write(std::uint64_t row_offset, write_hook hook);

    /// All registers to their reset values; no hook runs.
    void reset();

    /// "DMA.TAIL[3]", "DMA.CONTROL"; "DMA+0x3c" where there is no register.
    std::string name_of(std::uint64_t offset) const;
    const std::vector<reg_row_view>& rows() const { return rows_; }

private:
    struct entry {
        std::uint32_t first_slot = 0; ///< of the row, in values_
        std::int32_t read_hook = -1;  ///< index into the hooks, -1: none
        std::int32_t write_hook = -1;
    };
    struct place {
        std::uint32_t row;
        std::uint32_t index;
        bool found;
    };
    /// What finding a row needs, close together: every access scans it.
    struct span {
        std::uint32_t offset;
        std::uint32_t bytes; ///< from the first element to behind the last; 1 when there is one
        std::uint32_t stride;
    };
    void add(const reg_row_view& row) { rows_.push_back(row); }
    void build();
    place find(std::uint64_t offset) const;
    bool holds(std::uint32_t row, std::uint64_t offset, std::uint32_t& index) const;
    reg_status check(std::uint64_t offset, std::uint32_t bytes, place& where) const;
    std::size_t slot_of(std::uint64_t offset) const;
    std::uint32_t row_at(std::uint64_t row_offset) const;

    const char* block_;
    std::vector<reg_row_view> rows_;
    std::vector<span> spans_;
    mutable std::uint8_t guesses_[16] = {}; ///< row of a register with this number modulo 16
    std::vector<entry> entries_;
    std::vector<std::uint64_t> values_;
    std::vector<read_hook> read_hooks_;
    std::vector<write_hook> write_hooks_;
};

} // namespace weft
