// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/run_trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace weft::cli {

namespace {
constexpr std::uint32_t k_links_process = 1'000'000; ///< ranks are below, other devices behind

std::string arguments_of(const event_record& r)
{
    return fmt::format(R"("from":{},"to":{},"message":{},"bytes":{},"last":{})", r.source, r.destination, r.message,
                       r.payload_bytes, r.last_of_message);
}

std::string name_of(const frame_summary& f)
{
    switch (f.kind) {
    case frame_kind::switchml: return fmt::format("slot {}.{}", f.switchml.slot, f.switchml.version ? 1 : 0);
    case frame_kind::roce: return fmt::format("qp {} psn {}", f.bth.queue_pair, f.bth.psn);
    default: return "frame";
    }
}
} // namespace

/// Of one rank.
class run_trace::dma_sink final : public event_sink {
public:
    dma_sink(trace_writer& out, std::uint32_t rank)
        : out_(out), sends_(out.add_track(rank, "DMA sends")), receives_(out.add_track(rank, "DMA receives"))
    {
    }
    void record(const event_record& r) override
    {
        const bool received = r.kind == record_kind::message_accepted;
        out_.slice(received ? receives_ : sends_, r.time_ps, r.span_ps,
                   fmt::format("{} {}", received ? "from" : "to", received ? r.source : r.destination),
                   arguments_of(r));
    }

private:
    trace_writer& out_;
    std::uint32_t sends_;
    std::uint32_t receives_;
};

/// Of the links of one fabric.
class run_trace::fabric_sink final : public event_sink {
public:
    fabric_sink(trace_writer& out, const fabric_engine& fabric) : out_(out)
    {
        for (std::uint32_t l = 0; l < fabric.link_count(); ++l)
            tracks_.push_back(out.add_track(k_links_process, fabric.link_name(l)));
    }
    void record(const event_record& r) override
    {
        out_.slice(tracks_.at(r.where), r.time_ps, r.span_ps, fmt::format("to {}", r.destination), arguments_of(r));
    }

private:
    trace_writer& out_;
    std::vector<std::uint32_t> tracks_;
};

/// Of all places that frames pass: place n of the machine is track n.
class run_trace::frames_sink final : public frame_sink {
public:
    explicit frames_sink(trace_writer& out) : out_(out) {}
    std::uint32_t add(std::uint32_t process, const std::string& track)
    {
        tracks_.push_back(out_.add_track(process, track));
        return static_cast<std::uint32_t>(tracks_.size() - 1);
    }
    void record(const frame_record& r) override
    {
        const std::string arguments = fmt::format(R"("bytes":{},"lost":{},"frame":{})", r.frame.wire_bytes, r.lost,
                                                  nlohmann::json(to_string(r.frame)).dump());
        const std::string name = fmt::format("{}{}", name_of(r.frame), r.lost ? " lost" : "");
        if (r.lost && r.span_ps == 0)
            out_.mark(tracks_.at(r.direction), r.time_ps, name, arguments);
        else
            out_.slice(tracks_.at(r.direction), r.time_ps - r.span_ps, r.span_ps, name, arguments);
    }

private:
    trace_writer& out_;
    std::vector<std::uint32_t> tracks_;
};

run_trace::run_trace(machine& m, trace_writer& out) : out_(out)
{
    watch_chips(m);
    out_.name_process(k_links_process, "links");
    watch_fabrics(m);
    watch_frames(m);
}

run_trace::~run_trace() = default;

void run_trace::watch_chips(machine& m)
{
    std::set<std::uint32_t> named;
    for (chip* c : m.chips_of_all_restarts()) {
        if (named.insert(c->rank()).second)
            out_.name_process(c->rank(), fmt::format("rank {} {}", c->rank(), c->basename()));
        dmas_.push_back(std::make_unique<dma_sink>(out_, c->rank()));
        c->dma.set_event_sink(dmas_.back().get());
    }
}

void run_trace::watch_fabrics(machine& m)
{
    for (fabric_engine* f : m.fabrics_of_all_restarts()) {
        fabrics_.push_back(std::make_unique<fabric_sink>(out_, *f));
        f->set_event_sink(fabrics_.back().get());
    }
}

void run_trace::watch_frames(machine& m)
{
    frames_ = std::make_unique<frames_sink>(out_);
    std::vector<std::string> devices;
    for (const frame_place& place : m.frame_places()) {
        std::uint32_t process = k_links_process;
        if (place.rank) {
            process = *place.rank;
        } else if (!place.device.empty()) {
            const auto found = std::find(devices.begin(), devices.end(), place.device);
            process += static_cast<std::uint32_t>(found - devices.begin()) + 1;
            if (found == devices.end()) {
                devices.push_back(place.device);
                out_.name_process(process, place.device);
            }
        }
        std::vector<std::uint32_t> numbers;
        for (const std::string& track : place.tracks)
            numbers.push_back(frames_->add(process, track));
        place.watch(*frames_, numbers.front());
    }
}

std::string run_trace::summary() const
{
    if (out_.written() + out_.dropped() == 0)
        return "no records: nothing moved over any link, cable or DMA engine";
    std::string text = fmt::format("{} records", out_.written());
    if (out_.dropped() > 0)
        text += fmt::format(", {} more beyond --trace-limit", out_.dropped());
    if (out_.crowded() > 0)
        text += fmt::format(", {} of them marks: more than {} at a time on one track", out_.crowded(),
                            trace_writer::k_most_lanes);
    return text;
}

} // namespace weft::cli
