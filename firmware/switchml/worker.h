// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Worker of SwitchML (Sapio et al., NSDI 2021): algorithm 4 (switchml), or algorithm 2 (switchml_lossless), which has
// neither versions nor timers.
//
// A core cuts its share of the tensor into blocks (UDP: packets, RDMA: messages) and has at most W of them in the
// switch, W the slots of its window. int32: use u of a slot (switchml_job.h) carries block u; its answer starts use u +
// W. float32 needs the exponent of a block before it can be sent, so uses 0 to W-1 carry exponents alone, and use u the
// integers of block u-W and the exponent of block u: blocks + W uses in all. A tensor of less than W blocks does
// without the uses in between, so every slot is used twice or not at all and `shift` stays as it was.
//
// An answer counts once: when its use is the one under way in its slot. A request that is not answered in time is sent
// again; whether the first one was lost, its answer, or another worker's request, the switch sorts out. What can be
// late belongs to older uses, and use numbers run on from tensor to tensor (`tag`).
//
// Limits of the algorithm, not checked here: requests of one worker for one slot must reach the switch in the order in
// which they were sent, as they do on one path of links.
#pragma once

#include "firmware/collectives/collective_result.h"
#include "firmware/context.h"
#include "firmware/costs.h"
#include "firmware/drivers/nic_driver.h"
#include "firmware/switchml/timers.h"

namespace weft::firmware {

/// What both transports share: uses, positions, progress and the answer.
class switchml_worker {
protected:
    /// RDMA: messages between two looks at the ring, and between two doorbells: a burst must not keep the switch
    /// waiting.
    static constexpr std::uint32_t k_message_batch = 4;

    switchml_worker(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command,
                    std::uint32_t window);

    std::uint64_t address_of(std::uint64_t element) const
    {
        return context_.table.hbm_base + command_.buffer_offset + element * 4;
    }
    bool is_float() const { return float_; }
    /// Elements of block `block`.
    std::uint32_t elements_of(std::uint32_t block, std::uint32_t block_elements) const
    {
        const std::uint64_t left = share_.count - std::uint64_t{block} * block_elements;
        return left < block_elements ? static_cast<std::uint32_t>(left) : block_elements;
    }
    std::uint64_t core_area() const { return job_.nic_area + nic_ring_bytes(job_) + job_.core * core_area_bytes(job_); }
    /// A use of float32 that carries no integers yet.
    bool exponent_only(std::uint32_t use) const { return float_ && use < window_; }
    std::uint32_t block_of(std::uint32_t use) const { return float_ ? use - window_ : use; }

    std::uint32_t tag_of(std::uint32_t use) const { return context_.next_use + use; }
    bool finished() const { return answered_ == uses_; }
    /// Notes progress; without any for command.timeout_ns the collective has failed.
    void on_answer()
    {
        ++answered_;
        progress_ns_ = now_ns_;
    }
    /// How long to sleep at most, 0: the time is up. `wake_ns` is when something is to be done.
    std::uint64_t sleep_ns(std::uint64_t wake_ns) const;
    abi::status give_up();
    void finish(collective_result& result, const abi::status& status);

    /// The part of a turn that does not depend on the transport: takes what has come, tells the NIC what is new, sends
    /// again what is late and, where nothing is left to do, sleeps. `worker` receives one entry and sends late ones
    /// again. The NIC is told of a whole batch, `at_once` of any, and of a part of one when nothing has come and the
    /// hold is over: what the transmit buffer of the published client does. A whole batch and a part both start the
    /// hold anew, from when nothing had come (p4app-switchML, prev_tsc and cur_tsc, quoted).
    template <class Worker, class Timers> abi::status serve(Worker& worker, const Timers& timers, bool at_once)
    {
        std::uint32_t news = 0;
        charge(costs::k_switchml_turn);
        if (abi::status s = nic_.look(news); !s.ok())
            return s;
        for (std::uint32_t i = 0; i < batch_ && i < news; ++i)
            if (abi::status s = worker.receive(); !s.ok())
                return s;
        pay(); // the work comes before the doorbell
        now_ns_ = hal_.now_ns();
        if (news == 0)
            idle_ns_ = now_ns_;
        const bool drains = news == 0 && now_ns_ - drained_ns_ >= hold_ns_;
        const bool whole = nic_.held() >= batch_;
        if (drains || (whole && !at_once))
            drained_ns_ = idle_ns_; // the client reads its clock when nothing has come
        if (drains || at_once || hold_ns_ == 0 || whole)
            if (abi::status s = nic_.doorbell(); !s.ok())
                return s;
        if (abi::status s = nic_.release(); !s.ok())
            return s;
        bool resent = false;
        if (abi::status s = worker.send_late_ones_again(resent); !s.ok())
            return s;
        if (news != 0 || resent || begun_ < first_uses_ || finished())
            return {};
        std::uint64_t wake_ns = timers.none() ? ~std::uint64_t{0} : timers.started_ns(timers.oldest()) + timeout_.ns();
        if (nic_.held() != 0 && drained_ns_ + hold_ns_ < wake_ns)
            wake_ns = drained_ns_ + hold_ns_;
        const std::uint64_t sleep = sleep_ns(wake_ns);
        if (sleep == 0)
            return give_up();
        charge(costs::k_switchml_sleep);
        pay();
        if (abi::status s = nic_.wait(sleep); !s.ok())
            return s;
        now_ns_ = idle_ns_ = hal_.now_ns();
        if (nic_.held() == 0 && hold_ns_ != 0) // a client that polls has let nothing go meanwhile, once a hold
            drained_ns_ += (now_ns_ - drained_ns_) / hold_ns_ * hold_ns_;
        return {};
    }

    void charge(std::uint32_t instructions) { work_ += instructions; }
    void pay()
    {
        if (work_ != 0)
            hal_.compute(work_);
        work_ = 0;
    }

    /// Costs of loops over elements. An RV64 core executes them, so that none is looked up.
#ifdef __riscv
    static constexpr const costs::element_costs& column() { return costs::k_rv64gc; }
#else
    const costs::element_costs& column() const { return costs::column_of(hal_.charged_as()); }
#endif

    abi::hal& hal_;
    nic_driver& nic_;
    firmware_context& context_;
    const abi::command& command_;
    const abi::switchml::table& job_;
    const core_share share_;
    const std::uint32_t window_; ///< slots, or groups of them
    const bool float_;
    const bool lossless_;
    const std::uint32_t batch_;   ///< packets or messages at a time
    const std::uint64_t hold_ns_; ///< for a part of a batch
    std::uint32_t uses_ = 0;     ///< to be answered
    std::uint32_t last_use_ = 0; ///< one above the highest
    std::uint32_t first_uses_ = 0;
    std::uint32_t begun_ = 0; ///< of the first uses
    std::uint32_t answered_ = 0;
    std::uint32_t sent_ = 0; ///< blocks, with those sent again
    std::uint64_t now_ns_ = 0;
    std::uint64_t progress_ns_ = 0;
    std::uint64_t drained_ns_ = 0 - hold_ns_; ///< from when the hold runs; at first as if long ago
    std::uint64_t idle_ns_ = 0 - hold_ns_;    ///< when nothing had come
    retransmission_timeout timeout_;
    std::uint32_t work_ = 0; ///< not yet charged
};

/// Runs switchml or switchml_lossless on this core. The command has been checked.
void run_switchml(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command,
                  collective_result& result);

void run_udp(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command,
             collective_result& result);
void run_rdma(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command,
              collective_result& result);

} // namespace weft::firmware
