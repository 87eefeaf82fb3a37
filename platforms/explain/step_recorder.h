// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Records all steps of a machine, and what stands between its cores and their chips. It adds no time: a run with a
// recorder gives the times of one without (testbenches/issues/explain_test.cpp).
#pragma once

#include "platforms/explain/step_store.h"
#include "platforms/workload/machine.h"

#include <deque>
#include <memory>
#include <vector>

namespace weft {

class step_recorder final : public step_trace_sink {
public:
    /// Of the steps of packets, those that memory holds; with what finds them each takes about 150 B. The others go to
    /// a file. Of all other records, of messages and cores, it is all there may be.
    static constexpr std::size_t k_in_memory = 16'000'000;

    explicit step_recorder(std::size_t steps_in_memory = k_in_memory);
    ~step_recorder();
    step_recorder(const step_recorder&) = delete;
    step_recorder& operator=(const step_recorder&) = delete;

    /// For platform::build(): gates between cores and chips. The recorder outlives the machine.
    core_fitting fit(std::uint32_t rank);
    /// The machine that was built, before the simulation starts.
    void attach(machine& m);

    /// The collective's command is posted now; what was recorded before is forgotten, but for what rings hold.
    void begin(std::uint64_t now_ps);
    /// All have answered: nothing more is recorded.
    void end();
    /// Of the path, which goes back along run().
    step_store& store() { return store_; }

    /// "" as long as all steps found room; else a sentence.
    const std::string& problem() const { return problem_; }
    recorded_run& run() { return run_; }

private:
    class gate;
    class tap;

    std::uint32_t add_track(const component& owner, const std::string& name) override;
    void slice(const trace_slice& s) override;
    void mark(const trace_slice&) override {}
    step_sink& steps_of(const component& owner) override;
    std::uint32_t device_of(const component& owner);
    bool has_room();
    bool has_room_for_step(std::uint64_t now_ps);

    step_store store_;
    std::size_t records_ = 0; ///< besides steps of packets
    bool ended_ = false;
    std::string problem_;
    recorded_run run_;
    std::vector<std::unique_ptr<gate>> gates_;
    std::vector<gate*> gate_of_rank_;
    std::vector<std::unique_ptr<tap>> taps_;
    std::vector<const component*> owners_; ///< of devices
};

} // namespace weft
