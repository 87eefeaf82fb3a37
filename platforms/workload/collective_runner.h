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

private:
    void work();
    bool run_workload();
    bool run_repeats(const collective_spec& spec, const collective_case& c);
    bool run_case(const collective_case& c, std::uint64_t chunk_bytes, case_result& result);
    bool run_training_steps();
    std::vector<std::string> warnings() const;

    machine& machine_;
    run_config config_;
    run_outcome outcome_;
    collective_host host_;
    bool done_ = false; ///< work() has ended by itself
};

} // namespace weft
