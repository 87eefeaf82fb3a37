// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The host protocol of a machine: lets it boot, posts a command to every rank, waits for the last answer, checks it,
// waits until the machine has come to rest, resets or restarts it. Time of a collective: from the post, the same moment
// on every rank, to the last DONE; with a start skew it counts from the last start. Compute is time that the host lets
// pass.
//
// Nothing hangs: when nothing can move any more (stall_watch), the picture of who waits for what (machine_picture) is
// taken at once; the firmware's own timeouts then tell which neighbour and step. The collective ends there, as failed.
// Whatever the host waits for, wait_bound bounds it.
//
// Its calls run in one SC_THREAD, that of the runner. What cannot go on is told in the outcome; calls come back with
// false then.
#pragma once

#include "platforms/workload/case_memory.h"
#include "platforms/workload/group_assignment.h"
#include "platforms/workload/machine.h"
#include "platforms/workload/machine_loads.h"
#include "platforms/workload/machine_picture.h"
#include "platforms/workload/run_config.h"
#include "platforms/workload/run_outcome.h"
#include "platforms/workload/stall_watch.h"
#include "platforms/workload/wait_bound.h"

#include <cstdint>
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
    /// Its command is about to be posted; and all ranks have answered it.
    virtual void on_begin(const collective_case& c) { static_cast<void>(c); }
    /// `time_ps`: its time, which begins when the last rank does.
    virtual void on_end(std::uint64_t time_ps) { static_cast<void>(time_ps); }
    /// The job was interrupted, and a restart begins: the collective under way, if there is one, will not end.
    virtual void on_lost() {}
    /// A rank has answered it: all its cores have.
    virtual void on_answer(std::uint32_t rank, std::uint64_t at_ps)
    {
        static_cast<void>(rank);
        static_cast<void>(at_ps);
    }

protected:
    ~run_observer() = default;
};

class collective_host final : public step_host, private mailbox_listener {
public:
    /// In the failure of a collective whose waits were only too short; what helps follows in the same line.
    static constexpr const char* k_waits_too_short = "Nothing was blocked for good.";

    /// Failures, restarts, and results of finished groups of a failed collective go into `outcome`. `observer` and
    /// `places` may be nullptr. All outlive the host.
    collective_host(machine& m, const run_config& config, run_outcome& outcome, run_observer* observer,
                    code_places* places);

    // All of these come back with false when the run ends (outcome.failure is set, or a stop was requested);
    // run_collective and compute also when the job was interrupted.
    bool boot();
    /// Everything as before the first collective, unless cases are continuous or nothing has run yet. `draw` numbers
    /// the repeats.
    bool begin_case(std::uint32_t draw);
    /// What is still on its way belongs to the collective before, not to the next one.
    bool let_it_drain();
    bool run_collective(const collective_case& c, std::uint64_t chunk_bytes, std::uint64_t buffer_offset,
                        std::uint64_t input_seed, case_result& result) override;
    bool compute(std::uint64_t time_ps) override;
    /// Until the checkpoint or load that hosts have under way has ended.
    bool await_hosts();
    std::uint32_t replicas() const override { return machine_.replicas(); }
    /// Goes on from the checkpoint, on the chips that are there now. `lost` names what will be done again.
    bool restart(std::uint64_t checkpoint_ps, const std::string& lost);
    /// What has just failed did so because the job was interrupted.
    bool interrupted() const { return interrupted_; }

    /// The ranks start within this span, at random by the seed and the draw.
    void set_start_skew(std::uint64_t ps) { start_skew_ps_ = ps; }
    /// Whether collectives are cases of `workload`: of those that fail, groups that have finished are results.
    void set_keeps_groups(bool keeps) { keeps_groups_ = keeps; }
    /// Microcode of CCUs is written before a collective, by a command of its own; else by the first collective that
    /// needs it.
    void set_prepares(bool prepares) { prepares_ = prepares; }
    std::size_t begun() const { return index_; } ///< collectives so far
    void set_begun(std::size_t index) { index_ = index; }

    /// Somebody has ended the run; the kernel has stopped between two events.
    void note_stop();
    std::uint64_t end_ps() const { return end_ps_; }              ///< of what has been run so far
    double data_cpu_seconds() const { return data_cpu_seconds_; } ///< spent on inputs and checks

private:
    /// What the host waits for while no collective is under way.
    enum class host_wait : std::uint8_t { nothing, boot, rest, compute, hosts };
    struct under_way {
        placed_case placed;
        std::uint64_t start_ps = 0;
        answer_times answer_ps; ///< by rank
        std::string picture;    ///< of who waits for what; "" until nothing can move any more
        std::uint64_t picture_ps = 0;
        bool keeps_answers = false; ///< for case_memory::early_answers()
        bool gave_up_before = false; ///< a wait had timed out before all stood still
        std::uint64_t traffic_before = 0; ///< bytes that had arrived anywhere when it began
        std::uint64_t traffic_seen = 0;   ///< at the last look
        std::uint64_t moved_ps = 0;       ///< last look that saw more than the one before
    };

    std::uint64_t interrupted_at_ps() const
    {
        return restarts_ == nullptr ? k_never_ps : restarts_->interrupted_at_ps();
    }
    bool is_interrupted() const { return kernel_now_ps() >= interrupted_at_ps(); }
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(machine_.chips().size()); }
    std::uint64_t work() const { return most_parked_ + answers_; } ///< that the host has seen done
    const answer_times* answers() const { return now_ ? &now_->answer_ps : nullptr; }
    std::string who_waits() const { return picture_.who_waits(answers()); }

    // Between collectives
    bool reset_machine();
    bool load_checkpoint(std::string& text);
    bool hosts_stand(const std::string& why);
    void begin_anew(); ///< sequence numbers and banks of semaphores, on a machine on which nothing has run
    void begin_rest();
    bool may_wait_on(wait_bound::counts what = wait_bound::counts::all);
    void fail_between_collectives(const std::string& why);

    // A collective
    bool carry_out(const placed_case& placed, const abi::command& command, const rank_groups& groups);
    abi::command command_for(const placed_case& placed, std::uint64_t chunk_bytes);
    void post(const abi::command& command, const rank_groups& groups);
    bool await_answers(bool recovers);
    void pass(std::uint64_t span_ps);
    std::string where_it_is();
    bool firmware_stopped();
    bool firmware_loops();
    bool firmware_polls_instead_of_booting() const;
    bool is_over_bound();
    case_result result_of(const placed_case& placed, const rank_groups& groups);
    std::string wrong_use_of_memory() const;
    void on_done(std::uint32_t rank, std::uint32_t sequence) override;
    void note_failure(std::string why);
    void keep_finished_groups();
    void explain_failure(const std::string& failed);

    machine& machine_;
    restarting* restarts_; ///< nullptr: nothing interrupts the machine
    const run_config& config_;
    run_outcome& outcome_;
    run_observer* observer_;
    machine_picture picture_;
    stall_watch stall_;
    wait_bound bound_;
    case_memory memory_;
    group_assignment groups_;
    share_meter shares_;

    std::optional<under_way> now_; ///< the collective under way
    host_wait waits_ = host_wait::nothing;
    std::size_t most_parked_ = 0; ///< ranks, since the boot began
    std::uint32_t sequence_ = 0;
    std::uint32_t answers_ = 0;
    sc_core::sc_event all_answered_;
    std::uint64_t last_answer_ps_ = 0;
    std::uint64_t last_start_ps_ = 0; ///< of a rank, of the present collective
    std::uint32_t draw_ = 0;          ///< number of the present repeat
    std::uint64_t start_skew_ps_ = 0;
    bool fresh_ = true; ///< nothing has run on this machine
    bool interrupted_ = false;
    bool keeps_groups_ = false;
    bool prepares_ = false;
    std::uint64_t end_ps_ = 0;
    std::size_t index_ = 0;
    std::size_t cases_; ///< collectives of the whole run
    double data_cpu_seconds_ = 0;
};

} // namespace weft
