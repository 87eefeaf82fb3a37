// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Looks at a machine while it works: at the end of every bin of time it reads what wires and parts have done so far.
// Nothing tells it anything, so a
// machine without a recorder pays nothing, and one with a recorder runs as without: it only reads.
//
// Memory is bounded: bins per collective (time_bins.h), series by the levels of the map, ranks that are shown,
// collectives that are kept.
#pragma once

#include "platforms/report/run_activity.h"
#include "platforms/report/time_bins.h"
#include "platforms/workload/machine_loads.h"
#include "platforms/workload/map_maker.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

namespace weft {

class activity_recorder final : public sc_core::sc_module {
public:
    static constexpr std::uint32_t k_most_ranks = 64;          ///< whose work is shown
    static constexpr std::uint32_t k_most_bins = 128;          ///< of a collective
    static constexpr std::uint64_t k_most_values = 24'000'000; ///< of all collectives
    static constexpr std::size_t k_most_cases = 400;
    static constexpr std::size_t k_most_alike = 100; ///< of one operation, algorithm, type and size
    static constexpr std::size_t k_troubles = 10; ///< wires and VLs that are named

    /// Before the simulation starts. `m` outlives it.
    activity_recorder(const sc_core::sc_module_name& name, machine& m);

    /// A collective begins now, and has ended.
    void begin(const collective_case& c);
    void end(std::uint64_t time_ps); ///< of what results call its time
    void lose();                     ///< what is under way will not end: it is kept as far as it came
    /// Of a run that has ended; a collective under way is kept as one that did not complete.
    run_activity finish();

    /// For tests: the exact busy time in ps of the bins of the last collective, by level and bundle.
    std::uint64_t busy_ps(std::size_t level, std::size_t bundle) const;

    SC_HAS_PROCESS(activity_recorder);

private:
    struct wire_reading {
        std::uint64_t busy_ps = 0, starved_ps = 0, contended_ps = 0, bytes = 0;
    };
    struct lane_reading {
        std::uint64_t starved_ps = 0;
        std::uint32_t most_cells = 0;
    };

    void look();
    void look_at_lanes();
    void set_up();
    void arm();
    /// `time_ps`: of a collective that completed.
    void close(std::optional<std::uint64_t> time_ps);
    std::vector<std::uint8_t> shares_of(std::size_t first_series, std::size_t count,
                                        const std::vector<std::uint32_t>& parts) const;
    void name_troubles(case_activity& c, std::uint64_t now_ps) const;
    std::pair<std::uint64_t, std::uint64_t> memory_bytes() const;

    machine& machine_;
    sc_core::sc_event bin_ends_;
    std::unique_ptr<machine_loads> loads_;
    std::unique_ptr<map_maker> map_;
    std::unique_ptr<time_bins> bins_;
    run_activity all_;
    share_meter meter_;
    std::optional<case_activity> now_; ///< the collective under way
    std::uint64_t values_ = 0;         ///< kept so far
    std::pair<std::uint64_t, std::uint64_t> memory_before_;

    // Series of bins_: bundles of all levels, then kinds of the shown ranks, then kinds of the whole machine and its
    // links.
    std::vector<std::size_t> first_of_level_;
    std::size_t first_of_ranks_ = 0, first_of_machine_ = 0;
    std::vector<std::uint32_t> slot_of_rank_;                      ///< k_not_shown: it is not shown
    std::vector<std::uint32_t> parts_of_ranks_, parts_of_machine_; ///< units behind a series
    std::vector<wire_reading> before_, at_start_;                  ///< by wire
    std::vector<std::uint64_t> spent_[k_work_kinds];
    std::vector<lane_reading> lanes_;     ///< by wire and VL, of wires that have them
    std::vector<std::size_t> first_lane_; ///< by wire
};

} // namespace weft
