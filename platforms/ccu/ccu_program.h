// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A program of a collective communication unit (hw/abi/ccu.h) as assembler, disassembler and checker share it:
// instructions, where each of them stands, and what the text promises about the task's arguments and about the peers.
//
// Numbers of instructions, in the fields L of loops and groups and in the registers of jumps, count from the task's
// start: a program runs wherever it is loaded, and nothing has to be relocated.
#pragma once

#include "hw/abi/ccu.h"
#include "tlm/check.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// `.argument N least..most step S`: the argument is least, or least + S, ... up to most, and the same on all ranks.
struct ccu_argument_range {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    std::uint64_t step = 1;
    source_position where = {};
};

struct ccu_program {
    std::string file;                             ///< as in messages
    std::vector<abi::ccu::instruction> code = {};
    std::vector<source_position> where = {};      ///< of each instruction
    std::map<std::string, std::uint32_t> labels = {};

    // What the text declares.
    std::map<std::uint32_t, ccu_argument_range> arguments = {};
    /// `.ranks n`: all n ranks run it, channel c leads to rank + 1 + c modulo n.
    std::optional<std::uint32_t> ranks = {};
    source_position ranks_where = {};
    std::map<std::uint16_t, std::uint16_t> peer_sets = {}; ///< mask by entry: whatever waits for these bits is served
    std::set<std::uint16_t> peer_address_registers = {};   ///< .peer_writes
    std::set<std::uint16_t> peer_general_registers = {};
    std::set<std::uint16_t> peer_slices = {};
    std::set<std::uint16_t> kept_slices = {}; ///< .peer_keeps: hold data at the peers whenever this program reads them

    bool peer_sets_bit(std::uint16_t entry, unsigned bit) const
    {
        const auto found = peer_sets.find(entry);
        return found != peer_sets.end() && (found->second >> bit & 1) != 0;
    }
    source_position position_of(std::size_t i) const { return i < where.size() ? where[i] : source_position{file, 0, 0}; }
};

} // namespace weft
