// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs what a file asks of a platform: the collectives of `workload`, one after the other, then those of
// `training_step` in the same way. How a machine is asked for one is collective_host's.
//
// Cases are independent unless the configuration says `continuous`: between two of them the host waits until the
// machine has settled, resets it on a whole microsecond and lets it boot, as before the first one. With `repeats` the
// ranks start at random times. A case whose job was interrupted begins again on what the machine has then.
//
// With `host` streams run beside each case, and beside all training steps together; a case has one checkpoint, steps
// have one after every few of them. A job that is interrupted goes on behind the last complete checkpoint.
//
// A stop request (tlm/stop_request.h) ends the run where it is: what has completed counts, and where every rank is is
// told.
#pragma once

#include "platforms/workload/collective_host.h"
#include "platforms/workload/machine.h"
#include "platforms/workload/run_config.h"
#include "platforms/workload/run_outcome.h"

#include <systemc>

namespace weft {

class collective_runner final : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(collective_runner);
    /// `places` may be nullptr: then cores are told without their place in the source.
    collective_runner(const sc_core::sc_module_name& name, machine& m, const run_config& config, run_observer* observer,
                      code_places* places = nullptr);

    /// Runs sc_start() until everything is done. Call once.
    run_outcome run();
    /// Of a run() that has thrown: what had ended before.
    const run_outcome& so_far() const { return outcome_; }

private:
    void work();
    bool run_workload();
    bool run_repeats(const collective_spec& spec, const collective_case& c);
    bool run_case(const collective_case& c, std::uint64_t chunk_bytes, case_result& result, bool beside_hosts);
    bool run_training_steps();
    bool run_step(std::uint32_t i, training_step_result& result);
    bool run_step_alone();

    // Beside: what hosts do
    const checkpoint_config* checkpoints() const;
    bool begin_checkpoint(std::uint32_t steps_done);
    bool finish_checkpoint();
    bool begin_hosts();
    bool end_hosts();
    std::uint32_t steps_to_keep(std::uint32_t step, std::uint64_t& checkpoint_ps) const;
    std::vector<std::string> warnings() const;

    machine& machine_;
    run_config config_;
    run_outcome outcome_;
    collective_host host_;
    bool done_ = false; ///< work() has ended by itself
    struct begun_checkpoint {
        std::uint32_t steps_done;
        std::uint64_t at_ps;
    };
    std::uint32_t next_checkpoint_ = 0;
    std::vector<begun_checkpoint> checkpoints_; ///< the last ones, up to next_checkpoint_
    bool pending_ = false;                      ///< the last of them has begun, and its end was not seen
};

} // namespace weft
