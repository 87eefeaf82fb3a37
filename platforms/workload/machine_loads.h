// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the parts of a machine have done so far, read from their components: wires, and the work of every rank. Two
// readings tell what happened
// between them. It knows no kind of component, and keeps no count of its own.
#pragma once

#include "platforms/report/case_limits.h"
#include "platforms/workload/machine.h"

#include <cstdint>
#include <vector>

namespace weft {

class machine_loads {
public:
    /// A wire of the machine. `local`: between a device and what sends or receives there.
    struct wire {
        const component* owner;
        std::uint32_t number;
        bool local;
        wire_load load() const { return owner->load_of_wire(number); }
    };
    /// A component that does work of a kind. `rank`: of the chip that it is part of.
    struct worker {
        const component* owner;
        std::uint32_t rank;
        work_load spent(work_kind kind, std::uint64_t now_ps) const { return owner->spent_on(kind, now_ps); }
    };

    /// Of the hardware that the machine has now.
    explicit machine_loads(machine& m);
    bool is_of(machine& m) const { return &m.time() == time_; }

    /// A part that moves bytes at a rate of its own.
    struct mover {
        const component* owner;
        std::uint32_t number;
        std::uint64_t moved_ps(std::uint64_t now_ps) const { return owner->moved_ps(number, now_ps); }
    };
    /// A part that works on what passes.
    struct offload_unit {
        const component* owner;
        std::uint32_t number;
        std::uint64_t busy_ps(std::uint64_t now_ps) const { return owner->offloaded_ps(number, now_ps); }
    };
    const std::vector<offload_unit>& offload_units() const { return offload_units_; }
    std::uint64_t lost_packets() const;
    const std::vector<wire>& wires() const { return wires_; }
    const std::vector<mover>& movers() const { return movers_; }
    const std::vector<worker>& workers(work_kind kind) const { return workers_[static_cast<std::size_t>(kind)]; }

    /// What `w` has carried up to now: of a transmission under way the part that is over.
    static std::uint64_t busy_ps(const wire_load& w, std::uint64_t now_ps)
    {
        const std::uint64_t left_ps = w.busy_until_ps > now_ps ? w.busy_until_ps - now_ps : 0;
        return w.busy_ps > left_ps ? w.busy_ps - left_ps : 0;
    }
    /// The same of the time in which others waited behind it.
    static std::uint64_t contended_ps(const wire_load& w, std::uint64_t now_ps)
    {
        const std::uint64_t left_ps = w.busy_until_ps > now_ps ? w.busy_until_ps - now_ps : 0;
        return w.contended_ps > left_ps ? w.contended_ps - left_ps : 0;
    }

private:
    const timeline* time_;
    std::vector<const component*> components_;
    std::vector<wire> wires_;
    std::vector<mover> movers_;
    std::vector<offload_unit> offload_units_;
    std::vector<worker> workers_[k_work_kinds];
};

/// Measures the shares of one collective after the other.
class share_meter {
public:
    explicit share_meter(machine& m) : machine_(m) {}
    void begin(std::uint64_t now_ps);
    /// Shares of `time_ps` of what parts have done since begin().
    case_shares end(std::uint64_t now_ps, std::uint64_t time_ps);

private:
    struct wire_reading {
        std::uint64_t busy_ps, starved_ps, contended_ps;
    };
    struct reading {
        std::vector<wire_reading> wires;
        std::vector<std::uint64_t> moved_ps;
        std::vector<std::uint64_t> offloaded_ps;
        std::vector<std::uint64_t> spent[k_work_kinds];
        std::vector<std::uint64_t> taken[k_work_kinds]; ///< of it, by compute units
        std::vector<std::uint64_t> waited[k_work_kinds]; ///< of it, for memory
        std::uint64_t lost_packets = 0;
    };
    void read(std::uint64_t now_ps, reading& all) const;

    machine& machine_;
    std::unique_ptr<machine_loads> loads_;
    std::uint64_t begun_ps_ = 0;
    reading begun_;
};

} // namespace weft
