// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Walks all paths of a mission through its program, with registers as far as they are known. Backward jumps are
// followed for a few rounds; a round with an unknown counter then proves that all others are like it, and the walk goes
// on behind the loop.
#pragma once

#include "platforms/ccu/ccu_unit_state.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// Of a general register: a number; or a symbol and a number added to it; or nothing is known. Symbols below
/// k_arguments are declared arguments, the others counters of loops.
struct ccu_value {
    enum class kind : std::uint8_t { constant, relative, unknown } what = kind::unknown;
    std::uint32_t symbol = 0;
    std::uint64_t number = 0;

    bool is_constant() const { return what == kind::constant; }
    friend bool operator==(const ccu_value& a, const ccu_value& b) { return a.what == b.what && a.symbol == b.symbol && a.number == b.number; }
    friend bool operator!=(const ccu_value& a, const ccu_value& b) { return !(a == b); }
    static ccu_value of(std::uint64_t number) { return {kind::constant, 0, number}; }
};

struct ccu_loop_round {
    std::uint32_t jump = 0;
    std::uint32_t head = 0;
    std::uint32_t rounds = 0; ///< that were followed
    ccu_value last;           ///< of the counter, at the jump
    std::uint64_t stride = 0;
    std::string signature;
    std::map<std::uint16_t, ccu_value> registers;
    bool any_round = false;   ///< the counter is a symbol now
    std::uint32_t tries = 0;
};

struct ccu_path {
    std::uint32_t pc = 0;
    std::map<std::uint16_t, ccu_value> general;
    std::set<std::uint16_t> address; ///< written
    std::map<std::uint32_t, ccu_argument_range> ranges; ///< of arguments, as far as this path has narrowed them
    std::vector<ccu_loop_round> loops;
    ccu_unit_state unit;
};

class ccu_walk {
public:
    ccu_walk(const ccu_program& program, const ccu_capacities& capacities, ccu_findings& findings, ccu_history& history)
        : program_(program), capacities_(capacities), findings_(findings), history_(history), reached_(program.code.size(), false)
    {
    }
    void run();
    /// By instruction: some path, or a loop engine, comes there.
    const std::vector<bool>& reached() const { return reached_; }

private:
    using instruction = abi::ccu::instruction;

    void follow(ccu_path path);
    bool step(ccu_path& p);
    void read_registers(ccu_path& p, std::uint32_t at, const ccu_access& a);
    void write_registers(ccu_path& p, const instruction& i);
    /// False: the path ends here.
    bool jump(ccu_path& p, const instruction& i);
    bool jump_back(ccu_path& p, const instruction& i, std::uint32_t target);
    bool next_round(ccu_path& p, ccu_loop_round& l, std::uint16_t counter, std::uint64_t constant);
    bool last_round(ccu_path& p, std::uint16_t counter, std::uint64_t constant);
    void begin_any_round(ccu_path& p, ccu_loop_round& l, std::uint16_t counter);
    /// How the path goes on where `v` is `constant`, and where not; nullopt: it never is so.
    struct split {
        std::optional<ccu_path> equal, other;
    };
    split split_at(const ccu_path& p, const ccu_value& v, std::uint64_t constant) const;
    static void pin(ccu_path& p, std::uint32_t argument, std::uint64_t value);
    std::optional<std::uint64_t> rounds_to(std::uint64_t from, std::uint64_t constant, std::uint64_t stride) const;
    void check_length(const ccu_path& p, std::uint32_t at, const instruction& i);

    // ccu_group_check.cpp
    bool group(ccu_path& p, const instruction& i);
    bool loop_is_good(std::uint32_t group, std::uint32_t loop);
    void engine(ccu_path& p, const instruction& loop, std::uint32_t replica, std::uint64_t offsets, std::map<std::uint32_t, std::uint32_t>& readers,
                std::map<std::uint32_t, std::uint32_t>& writers, std::map<std::uint32_t, std::uint32_t>& bits, std::uint32_t number,
                std::set<std::uint32_t>& written, std::set<std::uint32_t>& read);

    const ccu_program& program_;
    const ccu_capacities& capacities_;
    ccu_findings& findings_;
    ccu_history& history_;
    std::vector<bool> reached_;
    std::vector<ccu_path> open_;
    std::uint64_t steps_ = 0;
    std::uint64_t paths_ = 0;
    std::uint32_t next_symbol_ = abi::ccu::k_arguments;
    bool too_long_ = false;
};

} // namespace weft
