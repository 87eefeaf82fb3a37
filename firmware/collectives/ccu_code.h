// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes microcode of a collective communication unit: instructions by name, and a stream of them straight into the
// instruction store. Labels are offsets from the first instruction, as tasks want them, so a program runs wherever it
// lies.
#pragma once

#include "firmware/drivers/ccu_driver.h"

namespace weft::firmware {

/// An instruction, with what it waits for and sets.
struct ccu_step {
    abi::ccu::instruction i;

    explicit constexpr ccu_step(abi::ccu::op code) { i.code = code; }
    /// What it waited for is cleared.
    constexpr ccu_step& wait(std::uint32_t entry, std::uint32_t mask)
    {
        i.wait_entry = static_cast<std::uint16_t>(entry);
        i.wait_mask = static_cast<std::uint16_t>(mask);
        i.flags = mask != 0 ? abi::ccu::k_clears : 0;
        return *this;
    }
    constexpr ccu_step& set(std::uint32_t entry, std::uint32_t mask)
    {
        i.set_entry = static_cast<std::uint16_t>(entry);
        i.set_mask = static_cast<std::uint16_t>(mask);
        return *this;
    }
    /// Register with the bytes of it; k_no_length: a slice.
    constexpr ccu_step& length(std::uint32_t x)
    {
        i.set_length(static_cast<std::uint16_t>(x));
        return *this;
    }
    constexpr ccu_step& fields(std::uint32_t r0, std::uint32_t r1 = 0, std::uint32_t r2 = 0, std::uint32_t r3 = 0)
    {
        i.r[0] = static_cast<std::uint16_t>(r0);
        i.r[1] = static_cast<std::uint16_t>(r1);
        i.r[2] = static_cast<std::uint16_t>(r2);
        i.r[3] = static_cast<std::uint16_t>(r3);
        return *this;
    }
    constexpr ccu_step& channel(std::uint32_t c)
    {
        i.channel = static_cast<std::uint16_t>(c);
        return *this;
    }
    constexpr ccu_step& count(std::uint32_t n)
    {
        i.count = static_cast<std::uint8_t>(n);
        return *this;
    }
};

/// Registers a, x, slices m and channels c by number; operands in the order of ccu_ops.def.
namespace ccu_steps {
using abi::ccu::op;
constexpr ccu_step load_arg_a(std::uint32_t a, std::uint32_t argument) { return ccu_step(op::load_arg_a).fields(a).count(argument); }
constexpr ccu_step load_arg_x(std::uint32_t x, std::uint32_t argument) { return ccu_step(op::load_arg_x).fields(x).count(argument); }
constexpr ccu_step load_x(std::uint32_t x, std::uint64_t value)
{
    ccu_step s = ccu_step(op::load_x).fields(x);
    s.i.set_immediate(value);
    return s;
}
constexpr ccu_step add_ax(std::uint32_t to, std::uint32_t a, std::uint32_t x) { return ccu_step(op::add_ax).fields(to, a, x); }
constexpr ccu_step add_xx(std::uint32_t to, std::uint32_t a, std::uint32_t b) { return ccu_step(op::add_xx).fields(to, a, b); }
constexpr ccu_step loop(std::uint32_t first, std::uint32_t last, std::uint32_t parameter) { return ccu_step(op::loop).fields(first, last, parameter); }
constexpr ccu_step group(std::uint32_t loops, std::uint32_t first, std::uint32_t counts, std::uint32_t offsets)
{
    return ccu_step(op::group).fields(first, counts, offsets).count(loops);
}
constexpr ccu_step clear_bits() { return ccu_step(op::clear_bits); }
/// To the label in `target` where `x` is not `value`.
constexpr ccu_step jump(std::uint32_t target, std::uint32_t x, std::uint64_t value)
{
    ccu_step s = ccu_step(op::jump).fields(target, x);
    s.i.set_immediate(value);
    return s;
}
constexpr ccu_step mem_to_ms(std::uint32_t m, std::uint32_t a) { return ccu_step(op::mem_to_ms).fields(m, a).length(abi::ccu::k_no_length); }
constexpr ccu_step ms_to_mem(std::uint32_t a, std::uint32_t m) { return ccu_step(op::ms_to_mem).fields(a, m).length(abi::ccu::k_no_length); }
constexpr ccu_step remote_mem_to_ms(std::uint32_t c, std::uint32_t m, std::uint32_t a, std::uint32_t token)
{
    return ccu_step(op::remote_mem_to_ms).channel(c).fields(m, a, token).length(abi::ccu::k_no_length);
}
constexpr ccu_step ms_to_remote_mem(std::uint32_t c, std::uint32_t a, std::uint32_t token, std::uint32_t m)
{
    return ccu_step(op::ms_to_remote_mem).channel(c).fields(a, token, m).length(abi::ccu::k_no_length);
}
constexpr ccu_step mem_to_remote_mem(std::uint32_t c, std::uint32_t to, std::uint32_t token, std::uint32_t from, std::uint32_t length)
{
    return ccu_step(op::mem_to_remote_mem).channel(c).fields(to, token, from).length(length);
}
constexpr ccu_step mem_to_mem(std::uint32_t to, std::uint32_t from, std::uint32_t length) { return ccu_step(op::mem_to_mem).fields(to, from).length(length); }
constexpr ccu_step send_bits(std::uint32_t c, std::uint32_t entry, std::uint32_t mask) { return ccu_step(op::send_bits).channel(c).fields(0, 0, entry, mask); }
constexpr ccu_step send_a(std::uint32_t c, std::uint32_t to, std::uint32_t from, std::uint32_t entry, std::uint32_t mask)
{
    return ccu_step(op::send_a).channel(c).fields(to, from, entry, mask);
}
constexpr ccu_step send_x(std::uint32_t c, std::uint32_t to, std::uint32_t from, std::uint32_t entry, std::uint32_t mask)
{
    return ccu_step(op::send_x).channel(c).fields(to, from, entry, mask);
}
/// Into the first of `n` slices; `first`, then those from `more` on.
constexpr ccu_step reduce(abi::reduce_op by, abi::element_type type, std::uint32_t n, std::uint32_t first, std::uint32_t more)
{
    ccu_step s(by == abi::reduce_op::max ? op::reduce_max : by == abi::reduce_op::min ? op::reduce_min : op::reduce_add);
    s.i.type = static_cast<std::uint8_t>(type);
    s.count(n).length(abi::ccu::k_no_length);
    s.i.r[0] = static_cast<std::uint16_t>(first);
    for (std::uint32_t k = 1; k < n; ++k)
        s.i.r[k] = static_cast<std::uint16_t>(more + k - 1);
    return s;
}
} // namespace ccu_steps

class ccu_code {
public:
    /// Into the store from instruction `start` on.
    ccu_code(const ccu_driver& unit, std::uint32_t start) : unit_(&unit), start_(start) { unit.seek(start); }
    /// Into no store: it counts.
    ccu_code() = default;

    /// Label of the next instruction.
    std::uint32_t here() const { return count_; }
    void put(const ccu_step& s)
    {
        if (unit_ != nullptr)
            unit_->write(s.i);
        ++count_;
    }
    /// Writes that at `label` anew, of which something was not known yet.
    void patch(std::uint32_t label, const ccu_step& s)
    {
        if (unit_ == nullptr)
            return;
        unit_->seek(start_ + label);
        unit_->write(s.i);
        unit_->seek(start_ + count_);
    }
    /// Goes to a label that is not known yet. `target` is a register for it.
    std::uint32_t jump_ahead(std::uint32_t target)
    {
        const std::uint32_t at = count_;
        put(ccu_steps::load_x(target, 0));
        put(ccu_steps::jump(target, target, k_no_label));
        return at;
    }
    void land(std::uint32_t at, std::uint32_t target) { patch(at, ccu_steps::load_x(target, count_)); }

    /// Waits for bits [0, bits) of the entries from `first` on, without bit `but`, and clears them.
    void await(std::uint32_t first, std::uint32_t bits, std::uint32_t but = k_none)
    {
        for (std::uint32_t done = 0; done < bits; done += abi::ccu::k_bits_of_entry) {
            const std::uint32_t left = bits - done;
            std::uint32_t mask = left < abi::ccu::k_bits_of_entry ? (1u << left) - 1 : 0xffffu;
            if (but - done < abi::ccu::k_bits_of_entry) // unsigned: not below `done`
                mask &= ~(1u << (but - done));
            if (mask != 0)
                put(ccu_steps::clear_bits().wait(first + done / abi::ccu::k_bits_of_entry, mask));
        }
    }

    static constexpr std::uint32_t k_none = ~0u;

private:
    static constexpr std::uint64_t k_no_label = ~0ull;

    const ccu_driver* unit_ = nullptr;
    std::uint32_t start_ = 0;
    std::uint32_t count_ = 0;
};

/// Entry and mask of bit number `bit` of the entries from `first` on.
struct ccu_bit {
    std::uint32_t entry;
    std::uint32_t mask;
    constexpr ccu_bit(std::uint32_t first, std::uint32_t bit)
        : entry(first + bit / abi::ccu::k_bits_of_entry), mask(1u << bit % abi::ccu::k_bits_of_entry)
    {
    }
};

} // namespace weft::firmware
