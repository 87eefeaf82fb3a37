// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The host of a platform: fills the inputs, posts a command to every rank, waits for the last answer, checks it, and goes on
// to the next case. Time of a case: from the post, the same moment on every rank, to the last DONE. After the collectives of
// `workload` it runs those of `training_step` in the same way; compute is time that it lets pass.
//
// Cases are independent unless the configuration says `continuous`: between two of them the host waits until the machine has
// settled, resets it on a whole microsecond and lets it boot, as before the first one. With `repeats` the ranks start at
// random times; then the time counts from the last start.
//
// A stop request (tlm/stop_request.h) ends the run where it is: what has completed counts, and where every rank is is told.
//
// Nothing hangs: when nothing can move any more (no timeline event, every core asleep), the picture of who waits for what is
// taken at once; the firmware's own time-outs then tell which neighbour and step. The run ends there, as failed. Whatever
// the host waits for, time_limit bounds it, and the CPU time of host_watch bounds it while no data moves.
#pragma once

#include "platforms/workload/collective_data.h"
#include "platforms/workload/digest.h"
#include "platforms/workload/machine.h"
#include "platforms/workload/process_groups.h"
#include "platforms/workload/run_config.h"

#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace weft {

/// Told about the progress of a run; calls come between simulation steps.
class run_observer {
public:
    virtual void on_case(std::size_t index, std::size_t cases, const collective_case& c) = 0;
    virtual void on_progress(double fraction) = 0;

protected:
    ~run_observer() = default;
};

/// Names places in the source of the firmware.
class code_places {
public:
    virtual ~code_places() = default;
    /// Where a core is: "pc 0x10b714, firmware/drivers/dma_driver.cpp:104, weft::firmware::dma_driver::wait"; "" for nothing.
    virtual std::string place_of(core_base& core) = 0;
    /// `text` with the place behind every pc of firmware in it. `core` is any core of the machine.
    virtual std::string with_places(core_base& core, std::string text) = 0;
};

/// The job was interrupted and went on from its last checkpoint: the beginning of the collective or training step under way.
struct job_restart {
    std::uint64_t at_ps = 0;      ///< when it was interrupted; may lie in the restart before
    std::uint64_t resumed_ps = 0; ///< when it went on
    std::uint64_t lost_ps = 0;    ///< work since the checkpoint, done again
    std::string text;             ///< a sentence
};

struct run_outcome {
    std::vector<case_result> cases;                   ///< completed ones, of `workload`
    std::vector<training_step_result> training_steps; ///< completed ones
    std::string failure;                              ///< why the run stopped early; "" when it did not
    int stop_signal = 0;                              ///< that asked for it; 0: none did
    std::optional<collective_case> failed_case;       ///< the collective that did not complete
    std::uint64_t failed_start_ps = 0;                ///< when it began
    std::vector<std::string> warnings;                ///< what was asked for and did not happen
    std::vector<job_restart> restarts;
    std::uint64_t digest = 0;
    std::uint64_t simulated_time_ps = 0;
    double host_seconds = 0;
    double cpu_seconds = 0; ///< simulation only, without making and checking data
};

class collective_runner final : public sc_core::sc_module, private mailbox_listener, private step_host {
public:
    SC_HAS_PROCESS(collective_runner);
    /// `places` may be nullptr: then cores are told without their place in the source.
    collective_runner(const sc_core::sc_module_name& name, machine& m, const run_config& config,
                      run_observer* observer, code_places* places = nullptr);

    /// Runs sc_start() until everything is done. Call once.
    run_outcome run();

private:
    static constexpr const char* k_timed_out_text = "a wait timed out on";

    void host();
    bool run_workload();
    bool run_training_steps();
    bool run_spec(const collective_case& c, std::uint64_t chunk_bytes, case_result& result);
    std::uint64_t interrupted_at_ps() const { return restarts_ == nullptr ? k_never_ps : restarts_->interrupted_at_ps(); }
    bool interrupted() const { return kernel_now_ps() >= interrupted_at_ps(); }
    /// What the host waits for while no collective is under way.
    enum class host_wait : std::uint8_t { nothing, boot, rest, compute };
    // These come back with false when the run ends: failure() is set, or a stop was requested.
    bool restart(std::uint64_t checkpoint_ps, const std::string& lost);
    bool boot();
    bool begin_case(std::uint32_t draw);
    bool reset_machine();
    bool let_it_drain();
    bool may_wait_on();
    /// Restarts take minutes where collectives take microseconds: time_limit bounds the work alone.
    std::uint64_t limit_ps() const;
    void begin_looking();
    void begin_rest();
    /// "time_limit = 1 ms of simulated time is over"; "" while the host may wait on.
    std::string over_bound();
    std::uint64_t work_so_far() const;
    void fail_between_collectives(const std::string& why);
    void post(const abi::command& command, const rank_groups& groups);
    bool run_collective(const collective_case& c, std::uint64_t chunk_bytes, std::uint64_t buffer_offset,
                        std::uint64_t input_seed, case_result& result) override;
    bool compute(std::uint64_t time_ps) override;
    group_layout layout_of(const collective_case& c) const;
    table_of_rank tables() const;
    std::uint32_t bank_of(const group_layout& layout);
    void write_groups(const rank_groups& groups, const group_layout& layout);
    void fill_inputs(const collective_case& c, const rank_groups& groups, std::uint64_t buffer_offset,
                     std::uint64_t input_seed);
    check_outcome check(const collective_case& c, const rank_groups& groups, std::uint64_t buffer_offset,
                        std::uint64_t input_seed);
    memory_reader reader_of(const collective_case& c, std::uint64_t buffer_offset);
    void on_done(std::uint32_t rank, std::uint32_t sequence) override;
    std::size_t parked_ranks() const;
    bool all_parked() const { return parked_ranks() == machine_.chips().size(); }
    bool stalled();
    bool spins() const;
    std::string who_waits() const;
    std::string what_cores_do() const;
    void note_failure(const collective_case& c, std::uint64_t start_ps, std::string why);
    void note_stop();
    void keep_finished_groups();
    std::string answers_of_failed_ranks(std::uint32_t sequence, const collective_case& c) const;
    std::string rank_name(std::uint32_t rank) const; ///< "rank 5, chip(1,1)"
    /// The same with its core, where there are several: "rank 5, worker 5, core 2".
    std::string core_name(const chip& c, std::size_t core) const;
    void explain_failure(const collective_case& c, const std::string& picture, const std::string& failed,
                         std::uint64_t start_ps);
    void add_to_digest(digest64& digest) const;
    std::string stopped_cores() const; ///< whose firmware ended by a trap or a halt, and why; "" when there is none
    std::uint64_t traffic_so_far() const;
    double expected_traffic(const collective_case& c) const;

    machine& machine_;
    restarting* restarts_; ///< nullptr: nothing interrupts the machine
    run_config config_;
    run_observer* observer_;
    code_places* places_;
    run_outcome outcome_;
    /// The collective under way.
    struct under_way {
        collective_case what;
        std::uint64_t start_ps = 0;
        std::uint64_t buffer_offset = 0;
        std::uint64_t input_seed = 0;
        bool of_workload = false;             ///< not of a training step
        std::vector<std::uint64_t> answer_ps; ///< by rank; k_never_ps: has not answered
    };
    std::optional<under_way> now_;
    bool done_ = false;        ///< host() has ended by itself
    bool in_workload_ = false; ///< host() is at `workload`
    host_wait waits_ = host_wait::nothing;
    std::uint64_t rest_began_ps_ = 0;
    std::size_t most_parked_ = 0;           ///< ranks, since the boot began
    std::uint64_t work_at_last_look_ = 0;   ///< work_so_far()
    std::uint64_t last_work_ps_ = 0;        ///< first look that saw this work
    double cpu_seconds_at_last_work_ = 0;
    std::uint64_t output_offset_ = 0;
    std::uint32_t sequence_ = 0;
    /// Semaphore bank i + 1 is that of these groups, since the last reset.
    std::vector<std::vector<std::vector<std::uint32_t>>> banks_;
    std::uint32_t answers_ = 0;
    std::uint64_t last_answer_ps_ = 0;
    std::uint64_t last_start_ps_ = 0; ///< of a rank, of the present collective
    std::uint32_t draw_ = 0;          ///< number of the present repeat
    std::uint64_t start_skew_ps_ = 0; ///< of the present repeat
    bool fresh_ = true;               ///< nothing has run on this machine
    std::uint64_t end_ps_ = 0; ///< of what has been run so far
    std::size_t index_ = 0;    ///< collectives begun
    std::size_t cases_ = 0;    ///< of the whole run
    std::uint64_t activity_at_last_look_ = 0;
    std::uint64_t restarts_ps_ = 0;    ///< that all restarts took
    bool interrupted_ = false;         ///< what has just failed did so because the job was interrupted
    std::uint64_t quiet_since_ps_ = 0; ///< first look that saw this activity
    sc_core::sc_event all_answered_;
    double data_cpu_seconds_ = 0; ///< spent on inputs and checks
};

/// Offset of the output buffer of all_to_all: behind the largest input, page-aligned.
std::uint64_t output_offset_for(const run_config& config);
/// And where all_to_all by two_phase keeps what is on its way.
std::uint64_t scratch_offset_for(std::uint64_t output_offset, std::uint32_t ranks);
/// HBM that a case needs, from offset 0; `output_offset` as above.
std::uint64_t hbm_bytes_for(std::uint64_t output_offset, const collective_case& c, std::uint32_t ranks);
/// Collectives that a run makes: those of `workload` and of all training steps.
std::size_t collective_count(const run_config& config);
/// Host memory for the contents of all HBMs while everything runs; 0 with data off.
std::uint64_t host_data_bytes_for(const run_config& config, std::uint32_t ranks);

} // namespace weft
