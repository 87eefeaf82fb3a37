// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user sets of a collective communication unit, and what the unit is told of the fabric behind its port.
#pragma once

#include "hw/abi/ccu.h"
#include "tlm/config_fields.h"
#include "tlm/packet.h"
#include "tlm/units.h"

#include <cstdint>
#include <vector>

namespace weft {

struct ccu_config {
    static constexpr config_part k_part = config_part::ccu;
    std::uint32_t instructions = 32'768;
    std::uint32_t missions = 16;
    std::uint32_t loop_engines = 200;
    std::uint32_t address_registers = 3072;
    std::uint32_t general_registers = 3072;
    std::uint32_t check_entries = 1024;
    std::uint32_t slices = 1536;
    std::uint32_t channels = 128;
    frequency clock{1'000'000'000};
    cycle_count check_bit_cycles{14};
    bandwidth sram_rate{4'096'000'000'000};
    bandwidth reduce_rate{1'280'000'000'000};
    bandwidth copy_rate{1'600'000'000'000};
    std::uint32_t outstanding = 64;
    std::uint32_t queue_depth = 256;
    data_size segment = data_size(64 << 10);
    std::uint32_t read_ahead = 64;
    duration task_start{2'000'000};
    duration register_latency{20'000};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("instructions", self.instructions, "Instructions of 32 B that the store holds", quoted("32768, published for CCU V1"), between(64, 32'768));
        visit("missions", self.missions, "Tasks at once; the shipped firmware uses 2", quoted("16, published for CCU V1"), between(1, abi::ccu::k_most_missions));
        visit("loop_engines", self.loop_engines, "Loops at once; the shipped firmware uses 129 of a collective", quoted("200, published for CCU V1"), between(1, 512));
        visit("address_registers", self.address_registers, "Address registers, 64 bits each", quoted("3072, published for CCU V1"), between(16, 16'384));
        visit("general_registers", self.general_registers, "General registers, 64 bits each", quoted("3072, published for CCU V1"), between(16, 16'384));
        visit("check_entries", self.check_entries, "Entries of 16 check bits; the shipped firmware uses 1008", quoted("1024, published for CCU V1"), between(16, 4'096));
        visit("slices", self.slices, "Memory slices of 4 KiB in SRAM; the shipped firmware uses up to 15 for each of 128 loops", quoted("1536, 6 MiB, published for CCU V1"), between(16, 4'096));
        visit("channels", self.channels, "Peers of one unit at a time; the shipped firmware uses 128", quoted("128, published for CCU V1"), between(1, 1'024));
        visit("clock", self.clock, "Clock; a mission or loop engine issues one instruction a cycle", assumed("1 GHz; not published"),
              between(frequency(1'000'000), frequency(100'000'000'000)).because("; write for example \"1 GHz\""));
        visit("check_bit_cycles", self.check_bit_cycles, "Cycles from a set of check bits until a wait sees them", quoted("14, published for CCU V1"), at_most(cycle_count(1'000'000)));
        visit("sram_rate", self.sram_rate, "Rate of the slices, of reads and of writes each", assumed("512 GB/s; not published"),
              between(bandwidth(1'000'000'000), bandwidth(1'000'000'000'000'000)).because("; write for example \"512 GB/s\""));
        visit("reduce_rate", self.reduce_rate, "Rate at which up to 8 slices are reduced, by bytes of the result",
              quoted("160 GB/s, local reduction of up to 8 ranks in a public cost model; for each die, and by bytes of the result: assumed"),
              between(bandwidth(1'000'000'000), bandwidth(1'000'000'000'000'000)).because("; write for example \"160 GB/s\""));
        visit("copy_rate", self.copy_rate, "Rate of transfers inside the own memory", quoted("200 GB/s, local copy in a public cost model; for each die: assumed"),
              between(bandwidth(1'000'000'000), bandwidth(1'000'000'000'000'000)).because("; write for example \"200 GB/s\""));
        visit("outstanding", self.outstanding, "Operations of 4 KiB under way on one channel; a segment counts as several, and one may always go. A reduce of several rounds uses as many loop engines, 32 at least", assumed("64; not published"),
              between(1, 65'536));
        visit("queue_depth", self.queue_depth, "Transfers of one channel from their issue until they are done; whoever issues one more waits for a place",
              quoted("16 to 256, depth of a send queue published for CCU V1; the deepest"), between(1, 65'536));
        visit("segment", self.segment, "Longest part of a transfer between memories that is acknowledged at once", quoted("64 KiB, transaction segment of UB"),
              between(data_size(4 << 10), data_size(16 << 20)).multiple_of(4 << 10));
        visit("read_ahead", self.read_ahead, "Packets between memory or slices and wire", assumed("covers HBM latency at port rate"),
              between(1, 65'536).because(" packets"));
        visit("task_start", self.task_start, "From the launch of a task to its first instruction", quoted("2 us a task in a public cost model"),
              at_most(duration(1'000'000'000)));
        visit("register_latency", self.register_latency, "One register access inside the unit", assumed("as the DMA engine"),
              at_most(duration(10'000'000)));
    }
    std::vector<config_problem> validate() const { return limit_problems(*this); }

    std::uint64_t cycle_ps() const { return cycles_to_ps(1, clock); }
};

/// What the fabric behind the unit's port looks like.
struct ccu_fabric_view {
    std::uint32_t vl_count = 4;
    std::uint32_t ranks = 0;     ///< of the machine
    std::uint32_t die = 0;       ///< of the unit, and of its peers
    std::uint32_t answer_vl = 2; ///< of acknowledgements; everything else goes on VL 0
    bandwidth port_rate;
    packet_format format;
    bool carry_data = true; ///< false: no payload bytes, same times
};

} // namespace weft
