// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the checker knows of a unit at one point of a program: check bits, transfers under way, slices with data, and
// what the peers have done for sure.
//
// Whole-group programs (`.ranks n`): all n ranks run the same instructions, and channel c of each leads to the rank 1 +
// c further, modulo n. So what this rank sends at a position of the program, another rank has sent to this one at the
// same position of its own run. A wait is served when the send stands before it. A bit, register or slice of a peer may
// be sent again only when this rank knows, by messages, that the peer has taken the one before: known_ holds for each
// rank the position that it has passed for sure; it travels with every bit that is sent.
#pragma once

#include "platforms/ccu/ccu_resources.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Problems of a program, each told once.
class ccu_findings {
public:
    ccu_findings(const ccu_program& program, std::vector<problem>& problems) : program_(program), problems_(problems) {}
    void error(std::uint32_t at, std::string message) { add(severity::error, program_.position_of(at), std::move(message)); }
    void warning(std::uint32_t at, std::string message) { add(severity::warning, program_.position_of(at), std::move(message)); }
    void add(severity level, const source_position& where, std::string message);
    std::size_t errors() const { return errors_; }
    /// "line 12"; "instruction 3" of a program without text.
    std::string line_of(std::uint32_t at) const;

private:
    const ccu_program& program_;
    std::vector<problem>& problems_;
    std::set<std::pair<int, std::string>> told_;
    std::size_t errors_ = 0;
};

/// A bit of a check-bit entry as one number, and as text.
constexpr std::uint32_t ccu_bit(std::uint32_t entry, unsigned bit) { return entry * abi::ccu::k_bits_of_entry + bit; }
std::string text_of_ccu_bit(std::uint32_t bit);

/// What all paths through a program have done.
struct ccu_history {
    std::map<std::uint32_t, std::uint32_t> set_here;    ///< bit, and an instruction that sets it
    std::map<std::uint32_t, std::uint32_t> set_by_peer; ///< bit, and an instruction that sets it at a peer
    std::set<std::uint32_t> waited;
    ccu_use use;
};

class ccu_unit_state {
public:
    ccu_unit_state(const ccu_program& program, ccu_findings& findings, ccu_history& history);

    /// The next instruction begins.
    void advance() { ++position_; }
    void wait(std::uint32_t at, std::uint32_t entry, std::uint16_t mask, bool clears);
    /// At once: of instructions that are done when they are issued.
    void set(std::uint32_t at, std::uint32_t entry, std::uint16_t mask);
    /// A transfer or reduction is issued; slices and entry are those of the replica.
    void begin(std::uint32_t at, const ccu_access& a, std::uint32_t entry, std::uint16_t mask);
    /// Bits of the peer, and what else of it is written before them.
    void send(std::uint32_t at, const ccu_access& a, std::uint32_t entry, std::uint16_t mask);
    /// Judges the read of a register that peers of the same program write; true: it is one.
    /// `kind`: 'a' or 'x'. Nobody but peers writes what peers write: its value would not be known.
    void check_register_write(std::uint32_t at, char kind, std::uint16_t number) const;
    bool read_from_peer(std::uint32_t at, char kind, std::uint16_t number);
    /// Slices of peers, of an instruction in a loop body: only declared ones.
    void peer_slices_of_body(std::uint32_t at, const ccu_access& a);

    bool is_clear(std::uint32_t key) const { return bits_.count(key) == 0; }
    const std::set<std::uint32_t>& written() const { return written_; }
    void add_written(const std::set<std::uint32_t>& more) { written_.insert(more.begin(), more.end()); }
    /// For a loop engine: the same slices and transfers under way, no bits.
    ccu_unit_state for_engine() const;
    /// Of a loop engine whose iteration ends: all as at its begin?
    void end_of_iteration(const ccu_unit_state& at_begin);
    /// Slices that peers write and an engine has read, as read now.
    void note_read(std::uint32_t slice);
    void end_of_program();

    /// Equal texts: the same bits, transfers, slices and messages, whatever the positions.
    std::string signature() const;
    std::string replica; ///< " (replica 3)", for messages

private:
    using object = std::pair<char, std::uint32_t>; ///< 'a', 'x', 'm' and a number
    struct transfer {
        std::uint32_t at;
        std::vector<std::uint16_t> reads, writes;
        std::uint32_t entry;
        std::uint16_t mask;
    };
    enum class bit_state : std::uint8_t { set, pending, sent };
    struct bit {
        bit_state state;
        std::uint32_t by; ///< instruction
        std::uint32_t transfer = 0;
        std::uint16_t channel = 0;
        std::uint64_t position = 0;
        std::shared_ptr<const std::vector<std::uint64_t>> known = nullptr; ///< of the sender
        object brings = {' ', 0};
    };
    struct mail {
        bool here = false;
        std::uint32_t by = 0;
        bool used = false;
        std::uint64_t used_at = 0;
    };
    struct peer_read {
        std::uint16_t channel;
        std::uint32_t by;
        std::uint32_t transfer;
        bool done = false;
        std::uint64_t done_at = 0;
    };
    template <class Use> static void each_bit(std::uint32_t entry, std::uint16_t mask, Use&& use)
    {
        for (unsigned b = 0; b < abi::ccu::k_bits_of_entry; ++b)
            if ((mask >> b & 1) != 0)
                use(ccu_bit(entry, b), b);
    }
    std::uint32_t distance(std::uint16_t channel) const { return (1u + channel) % static_cast<std::uint32_t>(known_.size()); }
    /// The peer behind the channel has passed the position for sure.
    bool knows(std::uint16_t channel, std::uint64_t position) const { return !known_.empty() && known_[distance(channel)] >= position; }
    void finish(std::uint32_t number);
    void learn(const bit& b);
    void check_read(std::uint32_t at, std::uint16_t slice);
    void check_write(std::uint32_t at, std::uint16_t slice);
    void check_peer_read(std::uint32_t at, const ccu_access& a, std::uint32_t transfer_number);
    void send_object(std::uint32_t at, std::uint16_t channel, object o);
    std::string not_known(std::uint16_t channel) const;

    const ccu_program* program_;
    ccu_findings* findings_;
    ccu_history* history_;
    std::uint64_t position_ = 0;
    std::map<std::uint32_t, bit> bits_; ///< those that are not clear for sure
    std::map<std::uint32_t, std::uint64_t> cleared_at_;
    std::map<std::uint32_t, transfer> under_way_;
    std::uint32_t next_transfer_ = 1;
    std::set<std::uint32_t> written_;
    std::map<std::uint32_t, std::uint64_t> written_at_; ///< position from which on the data is there for sure
    std::map<object, mail> mail_; ///< what peers of the same program write here
    std::map<std::uint32_t, std::vector<peer_read>> peer_reads_; ///< by slice
    std::vector<std::uint64_t> known_; ///< by distance; empty without `.ranks`
};

} // namespace weft
