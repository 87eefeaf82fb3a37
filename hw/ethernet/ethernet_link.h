// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ethernet_link: a full-duplex cable between two ports, end 0 and end 1.
//
// Models: propagation; per direction loss, corruption, duplication and reordering with given probabilities; outages
// (times during which nothing gets through either way); a test hook that decides frame by frame. Does not model: rates
// and queues (they belong to the ports, ethernet_transmitter), bit errors in bursts, pause frames.
//
// Timing: the last byte arrives `propagation` after it entered; a reordered frame `reorder_delay` later still, so that
// frames behind it pass; a duplicate one wire time after its original. No events: receivers schedule the arrival.
//
// Chance: whether something happens to frame n (counted from 0 per direction) is a function of (seed, stream,
// direction, n, kind of impairment) alone. Links do not share a sequence, and more corruption does not change which
// frames are lost.
#pragma once

#include "hw/ethernet/ethernet_transmitter.h"
#include "hw/ethernet/frame_trace.h"
#include "tlm/config_fields.h"
#include "tlm/key_rules.h"
#include "tlm/packet_tap.h"
#include "tlm/stats.h"
#include "tlm/timeline.h"
#include "tlm/units.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// What one direction of a cable does to frames.
struct ethernet_impairments {
    double loss = 0;
    double corruption = 0;
    double duplication = 0;
    double reordering = 0;
    duration reorder_delay{10'000'000};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("loss", self.loss, "Probability that a frame is lost, 0 to 1, each direction by itself", assumed("nothing is published"),
              real_between(0, 1).because(": a probability"));
        visit("corruption", self.corruption, "Probability that a bit of a frame flips; its receiver drops it",
              assumed("nothing is published"), real_between(0, 1).because(": a probability"));
        visit("duplication", self.duplication, "Probability that a frame arrives twice", assumed("nothing is published"),
              real_between(0, 1).because(": a probability"));
        visit("reordering", self.reordering, "Probability that a frame is delayed so that others pass it", assumed("nothing is published"),
              real_between(0, 1).because(": a probability"));
        visit("reorder_delay", self.reorder_delay, "Delay of such a frame", assumed("nothing is published"),
              at_most(duration(1'000'000'000'000)));
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<ethernet_impairments>> key_rules()
    {
        return {{"reorder_delay", "with reordering", [](const ethernet_impairments& i) { return i.reordering > 0; }}};
    }
    bool any() const { return loss > 0 || corruption > 0 || duplication > 0 || reordering > 0; }
};

/// The cable is down in [from, until): frames whose last byte enters it then are lost, in both directions.
struct ethernet_outage {
    duration from;
    duration until;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("from", self.from, "Simulated time at which the cable fails", k_user_choice);
        visit("until", self.until, "Simulated time at which it works again", k_user_choice);
    }
};

struct ethernet_link_config {
    static constexpr config_part k_part = config_part::links;
    duration propagation{500'000};
    ethernet_impairments impairments;
    std::uint64_t seed = 1;
    std::vector<ethernet_outage> outages;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("propagation", self.propagation, "Time of flight of one cable, with what the two PHYs add", assumed("nothing is published"),
              at_most(duration(1'000'000'000'000)));
        visit("impairments", self.impairments, "Chance, the same in both directions", k_user_choice);
        visit("seed", self.seed, "Of all chance on links; every link and direction has its own sequence", k_user_choice);
        visit("outages", self.outages, "Times during which the cable is down", k_user_choice);
    }
    std::vector<config_problem> validate() const;
};

/// What a test wants to happen to a frame, in addition to chance.
struct ethernet_verdict {
    bool drop = false;
    bool corrupt = false;
    std::uint32_t copies = 0;         ///< further copies that arrive behind it
    std::uint64_t extra_delay_ps = 0; ///< later frames may pass
};
class ethernet_fault_if {
public:
    /// Frame `number` (from 0, per direction) enters the cable at end `from`, its last byte at `time_ps`.
    virtual ethernet_verdict on_frame(std::uint32_t from, std::uint64_t number, std::uint64_t time_ps,
                                      const packet& frame) = 0;

protected:
    ~ethernet_fault_if() = default;
};

class ethernet_link final : public sc_core::sc_module, public component, public tapped_wires, private ethernet_device {
public:
    /// `stream` numbers the link among all that share a seed.
    ethernet_link(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool,
                  const ethernet_link_config& config, std::uint32_t stream);

    ethernet_receive_socket& in(std::uint32_t end) { return ends_[end].in; }    ///< the device at `end` transmits here
    ethernet_transmit_socket& out(std::uint32_t end) { return ends_[end].out; } ///< and receives from here

    /// Another chance in the direction from end `from`.
    void set_impairments(std::uint32_t from, const ethernet_impairments& impairments);
    /// Who transmits into end `end`, for what is told of the wire; outlives the link.
    void driven_by(std::uint32_t end, ethernet_transmitter& transmitter) { ends_[end].transmitter = &transmitter; }
    /// Names what stands at an end.
    void set_device(std::uint32_t end, std::string name) { ends_[end].device = std::move(name); }
    void set_fault_hook(ethernet_fault_if* hook) { hook_ = hook; }
    /// A frame that has entered at end `from` comes out in `delay_ps`, whatever this cable would do to it: captured
    /// frames are fed so.
    void put_out(std::uint32_t from, packet_ptr frame, std::uint64_t delay_ps);
    duration propagation() const { return config_.propagation; }
    /// Frames count from 0 again, in the sequence of chance of `draw`; outages stay at their times.
    void reset(std::uint32_t draw) override;

    std::string stat_prefix() const override { return "cables"; }
    std::vector<const stat_group*> stat_groups() const override { return {&ends_[0].stats, &ends_[1].stats}; }
    std::uint64_t lost_packets() const override
    {
        std::uint64_t all = 0;
        for (const end_side& end : ends_)
            all += end.seen.lost.value() + end.seen.corrupted.value();
        return all;
    }
    std::uint64_t packet_hops() const override { return ends_[0].seen.frames.value() + ends_[1].seen.frames.value(); }
    /// Wire 0 goes up, from end 0; wire 1 down.
    std::uint32_t wires() const override { return 2; }
    wire_load load_of_wire(std::uint32_t wire) const override;
    std::string wire_name(std::uint32_t wire) const override;
    wire_ends ends_of_wire(std::uint32_t wire) const override { return {ends_.at(wire).device, ends_.at(1 - wire).device}; }
    /// Frames while they are on a wire whose transmitter is known, and losses at the time at which the frame entered.
    void record_into(trace_sink& trace) override;
    /// Frames as they come out at the far end, at that time; those that are lost at the time at which they would have.
    void tap_wires(packet_tap& tap) override;

    /// What frames entering at one end have met.
    struct direction_stats {
        counter frames;
        counter lost; ///< all reasons
        counter corrupted;
        counter duplicated;
        counter delayed;
        counter lost_in_outage;
    };
    const direction_stats& from(std::uint32_t end) const { return ends_[end].seen; }
    const stat_group& stats(std::uint32_t from_end) const { return ends_[from_end].stats; }

private:
    struct end_side {
        end_side(ethernet_link& link, std::uint32_t end);
        ethernet_receive_socket in;
        ethernet_transmit_socket out;
        ethernet_impairments impairments;
        std::uint64_t seed_key = 0; ///< of draw 0
        std::uint64_t key = 0;
        std::uint64_t frames_before = 0; ///< the present draw
        bool chance = false;
        direction_stats seen;
        stat_group stats;
        ethernet_transmitter* transmitter = nullptr;
        std::string device; ///< that stands here
        frame_watch losses;
        std::uint32_t tapped = packet_tap::k_hidden; ///< number at the tap
    };

    void on_frame(std::uint32_t end, packet_ptr frame, std::uint64_t delay_ps) override;
    void lose(end_side& from, const packet& frame, std::uint64_t enters_ps, const char* why);
    void tell(const end_side& from, const packet& frame, std::uint64_t delay_ps, wire_fate fate, const char* remark)
    {
        if (from.tapped != packet_tap::k_hidden)
            tap_->on_packet(from.tapped, frame, time_.now_ps(), time_.now_ps() + delay_ps, fate, remark);
    }
    void impair(end_side& from, std::uint32_t end, std::uint64_t number, packet_ptr frame, std::uint64_t delay_ps);

    const timeline& time_;
    packet_pool& pool_;
    ethernet_link_config config_;
    std::array<end_side, 2> ends_;
    ethernet_fault_if* hook_ = nullptr;
    packet_tap* tap_ = nullptr;
    std::unique_ptr<frame_trace> trace_;
};

} // namespace weft
