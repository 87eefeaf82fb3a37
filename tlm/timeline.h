// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The timeline of a partition: one calendar queue for packet arrivals, output-free times, awaited credits, DMA steps
// and memory completions, drained by one SC_METHOD. Why one queue of our own: docs/adr/0001-one-timeline.md.
//
// Order. Events run in order of (time, order word). The order word is (class, actor, sequence), all chosen by the
// scheduling component and unique per event, so the order never depends on insertion, partitions or builds.
//
// Kernel time. The method re-arms itself for the next event, so sc_time_stamp() is true in every handler. With
// run-ahead on, it instead keeps draining while the SystemC kernel has nothing to do before the next event: no process
// can see the difference, since none runs, and a kernel activation per event is saved. Handlers use now_ps() and wake
// processes with notify_at(). Results are identical with run-ahead on and off (testbenches/unit/timeline_test.cpp). It
// stays off where handlers call foreign SystemC code that reads sc_time_stamp().
#pragma once

#include "tlm/cache_hints.h"
#include "tlm/calendar_queue.h"
#include "tlm/component.h"
#include "tlm/notifier.h"

#include <cstdint>
#include <systemc>

namespace weft {

class timeline final : public sc_core::sc_module, public notifier {
public:
    SC_HAS_PROCESS(timeline);
    explicit timeline(const sc_core::sc_module_name& name);

    std::uint64_t now_ps() const override { return draining_ ? now_ps_ : kernel_now_ps(); }
    void notify_at(sc_core::sc_event& event, std::uint64_t time_ps) override;

    /// Schedule `client.on_event(a, kind)` at `time_ps`, which must not lie before now_ps().
    void schedule(std::uint64_t time_ps, std::uint64_t order, timeline_client& client, std::uint32_t a,
                  std::uint8_t kind)
    {
        if (client.home_ != this)
            enrol(client);
        queue_.push(time_ps, order, timeline_event::pack(a, client.number_, kind));
        if (!draining_ && time_ps < armed_for_ps_)
            arm(time_ps);
    }

    /// Before events of `client` come, `hints` hear of them. Once, when the client is built.
    void take_hints(timeline_client& client, const event_hints& hints)
    {
        enrol(client);
        hints_.back() = &hints;
    }

    /// Whether hints are asked for at present: events pend in such numbers that the state of the devices no longer fits
    /// the inner caches. (Measured on 64 chips: 2,048 and more save a tenth of the time of a ring against 512, and lose
    /// nothing with 1,024 chips.)
    bool announces() const { return k_cache_hints && queue_.size() > 4096; }

    /// Numbers for order words: `count` consecutive actor ids, handed out in construction order.
    std::uint32_t register_actors(std::uint32_t count);

    /// Let the drain run ahead of the kernel (see above). Off by default, so that a bench that steps sc_start(t) sees
    /// no event after t.
    void set_run_ahead(bool on) { run_ahead_ = on; }

    /// All components of this partition.
    component_list& components() { return components_; }

    bool empty() const { return queue_.empty(); }
    std::uint64_t events() const { return events_; }           ///< handled so far
    std::uint64_t extra_moves() const { return queue_.extra_moves(); } ///< see calendar_queue
    std::uint64_t activations() const { return activations_; } ///< kernel activations of the drain method

private:
    void drain();
    void announce();
    void enrol(timeline_client& client);
    void arm(std::uint64_t time_ps);

    calendar_queue queue_;
    std::vector<timeline_client*> clients_;
    std::vector<const event_hints*> hints_; ///< of each client; nullptr: none
    component_list components_;
    sc_core::sc_event tick_;
    std::uint64_t now_ps_ = 0;
    std::uint64_t armed_for_ps_ = k_never_ps;
    std::uint64_t horizon_ps_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t activations_ = 0;
    std::uint32_t next_actor_ = 1;
    std::uint64_t present_ = 0;       ///< bucket of the queue
    std::uint64_t announced_[2] = {}; ///< bucket up to which each stage has been announced
    bool draining_ = false;
    bool run_ahead_ = false;
};

} // namespace weft
