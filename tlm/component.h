// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A device of a machine as report, trace, progress, the picture of a stall and reset see it. Whoever has the timeline
// adds it to the components of that timeline, once; nobody keeps a second list, and nobody who walks the list knows
// what a component is.
//
// Reset: every component goes back to its state at time zero, while simulated time goes on. What a reset leaves alone
// is history: statistics, contents of HBM, links that have failed or will fail and what endpoints have learnt of them,
// endpoints that have moved.
#pragma once

#include "tlm/stats.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

class trace_sink;

/// What one direction of a wire has carried.
struct wire_load {
    std::uint64_t wire_bytes = 0;
    std::uint64_t busy_ps = 0;       ///< of transmissions that have begun, the rest of the present one included
    std::uint64_t busy_until_ps = 0; ///< end of the present one, and of what is queued behind it in `busy_ps`
    std::uint64_t starved_ps = 0;    ///< it was idle while a head waited for credits of its far end
    std::uint64_t contended_ps =
        0; ///< it was busy while another head waited; the rest of the present transmission included
};

/// The buffer of one VL at the far end of a wire.
struct lane_load {
    std::uint32_t depth_cells = 0;
    std::uint32_t held_cells = 0; ///< now, what is in flight included
    std::uint64_t starved_ps = 0; ///< its wire was idle while a head of this VL waited for credits
};

/// Names of what a wire joins, in its direction.
struct wire_ends {
    std::string from;
    std::string to;
};

/// What parts of a chip spend their time with.
enum class work_kind : std::uint8_t {
    core,
    send,
    memory,
    reduce,
    sync,
    start, ///< engines that take time between the order and the first byte
};
inline constexpr std::size_t k_work_kinds = 6;

/// Time that a component has spent with one kind of work. It has `units` that can do so at a time.
struct work_load {
    std::uint64_t spent_ps = 0;
    std::uint32_t units = 0;    ///< 0: it does no such work
    std::uint64_t taken_ps = 0; ///< of it, for compute units that load a memory beside what is simulated
    std::uint64_t waited_ps = 0; ///< of it, in which a core waited for memory
};

/// What has gone through a memory that buffers lie in.
struct memory_load {
    std::string name; ///< of this kind of memory, as users know it: "HBM"
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
};

class component {
public:
    component() = default;
    component(const component&) = delete;
    component& operator=(const component&) = delete;

    /// In front of its statistics: "dma". Those of all components of a prefix are summed.
    virtual std::string stat_prefix() const = 0;

    // --- Reset
    /// Nothing that began before is still to come: no credit under way, no busy wire, no timer that would be heard.
    virtual bool settled(std::uint64_t now_ps)
    {
        static_cast<void>(now_ps);
        return true;
    }
    /// Called when all are settled, between two steps of the simulation. `draw` numbers the sequence of everything
    /// random from now on; 0 is the sequence of time zero.
    virtual void reset(std::uint32_t draw) { static_cast<void>(draw); }

    // --- Look
    virtual std::vector<const stat_group*> stat_groups() const { return {}; }
    /// Grows with every byte and packet that gets on. Accesses to registers do not count: firmware that polls makes
    /// them for ever.
    virtual std::uint64_t work() const { return 0; }
    /// Packets that were lost or damaged on the way so far, or were sent again: whoever sent them waits for a timeout.
    virtual std::uint64_t lost_packets() const { return 0; }
    /// Payload that has come to a chip here, for progress.
    virtual std::uint64_t arrived_bytes() const { return 0; }
    /// Who waits here, for what, and for how long already: lines without a line break at the end; "" for nobody.
    virtual std::string waits() const { return {}; }
    /// A balance that does not come out, as a sentence: credits that are lost. "" when all do.
    virtual std::string audit() const { return {}; }
    /// Packets that this component has sent over wires between devices.
    virtual std::uint64_t packet_hops() const { return 0; }
    /// Wires that people may want ranked, each direction by itself: links between routers, cables.
    virtual std::uint32_t wires() const { return 0; }
    virtual wire_load load_of_wire(std::uint32_t wire) const
    {
        static_cast<void>(wire);
        return {};
    }
    virtual std::string wire_name(std::uint32_t wire) const
    {
        static_cast<void>(wire);
        return {};
    }
    /// What it joins; "" for what nobody knows.
    virtual wire_ends ends_of_wire(std::uint32_t wire) const
    {
        static_cast<void>(wire);
        return {};
    }
    virtual bool wire_works(std::uint32_t wire) const
    {
        static_cast<void>(wire);
        return true;
    }
    /// Further wires, numbered behind wires(): between a device and what sends or receives at it.
    virtual std::uint32_t local_wires() const { return 0; }
    /// VLs of a wire; 0: its buffers are not told apart.
    virtual std::uint32_t lanes() const { return 0; }
    virtual lane_load load_of_lane(std::uint32_t wire, std::uint32_t vl) const
    {
        static_cast<void>(wire), static_cast<void>(vl);
        return {};
    }
    /// Up to `now_ps`, which is the present.
    virtual work_load spent_on(work_kind kind, std::uint64_t now_ps) const
    {
        static_cast<void>(kind), static_cast<void>(now_ps);
        return {};
    }
    /// Parts that move bytes at a rate of their own, beside wires and memories: engines of a queue.
    virtual std::uint32_t movers() const { return 0; }
    /// Time that one of them has been busy, up to `now_ps`, which is the present.
    virtual std::uint64_t moved_ps(std::uint32_t mover, std::uint64_t now_ps) const
    {
        static_cast<void>(mover), static_cast<void>(now_ps);
        return 0;
    }
    /// Parts that work on what passes, beside cores and memories: SRAM and adders of a coprocessor, loop-back ports of
    /// a switch that sums.
    virtual std::uint32_t offload_units() const { return 0; }
    /// Time that one of them has been busy, up to `now_ps`, which is the present.
    virtual std::uint64_t offloaded_ps(std::uint32_t unit, std::uint64_t now_ps) const
    {
        static_cast<void>(unit), static_cast<void>(now_ps);
        return 0;
    }
    virtual std::optional<memory_load> memory_traffic() const { return std::nullopt; }
    /// From now on what happens here is recorded, too. Before the simulation starts; `trace` outlives the run.
    virtual void record_into(trace_sink& trace) { static_cast<void>(trace); }

protected:
    ~component() = default;
};

/// All components of a timeline, in the order in which they were built.
class component_list {
public:
    void add(component& c) { all_.push_back(&c); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

    bool settled(std::uint64_t now_ps) const
    {
        return std::all_of(all_.begin(), all_.end(), [=](component* c) { return c->settled(now_ps); });
    }
    /// In the order of add(): cores begin in the order in which they were built, as at time zero.
    void reset(std::uint32_t draw) const
    {
        for (component* c : all_)
            c->reset(draw);
    }

private:
    std::vector<component*> all_;
};

} // namespace weft
