// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Components: the list of a timeline, and what a component answers that overrides nothing.
#include "tlm/component.h"
#include "tlm/packet_trace.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace weft;

namespace {

class plain final : public component {
public:
    std::string stat_prefix() const override { return "plain"; }
};

class counted final : public component {
public:
    counted(std::vector<std::string>& log, std::string name) : log_(log), name_(std::move(name)) {}
    std::string stat_prefix() const override { return name_; }
    bool settled(std::uint64_t now_ps) override { return now_ps >= quiet_from_ps; }
    void reset(std::uint32_t draw) override { log_.push_back(name_ + " " + std::to_string(draw)); }
    std::uint64_t quiet_from_ps = 0;

private:
    std::vector<std::string>& log_;
    std::string name_;
};

class written_trace final : public trace_sink {
public:
    std::uint32_t add_track(const component& owner, const std::string& name) override
    {
        tracks.push_back(owner.stat_prefix() + " / " + name);
        return static_cast<std::uint32_t>(tracks.size() - 1);
    }
    void slice(const trace_slice& s) override
    {
        slices.push_back(tracks.at(s.track) + " " + std::to_string(s.start_ps) + "+" + std::to_string(s.span_ps) + " " + s.name + " {" +
                         s.arguments + "}");
    }
    void mark(const trace_slice&) override {}
    std::vector<std::string> tracks, slices;
};

} // namespace

TEST_CASE("components are reset in the order in which they were built and settled when all are")
{
    std::vector<std::string> log;
    counted a(log, "a"), b(log, "b");
    component_list all;
    all.add(a);
    all.add(b);
    all.reset(3);
    CHECK(log == std::vector<std::string>{"a 3", "b 3"});
    CHECK(all.settled(0));
    b.quiet_from_ps = 10;
    CHECK_FALSE(all.settled(9));
    CHECK(all.settled(10));
}

TEST_CASE("a component that overrides nothing has nothing to tell")
{
    plain p;
    CHECK(p.settled(0));
    CHECK(p.stat_groups().empty());
    CHECK(p.wires() == 0);
    CHECK(p.work() + p.arrived_bytes() + p.packet_hops() == 0);
    CHECK(p.waits().empty());
    CHECK(p.audit().empty());
    CHECK_FALSE(p.memory_traffic());
}

TEST_CASE("packets on links and of a DMA engine become slices of their tracks")
{
    plain owner;
    written_trace out;
    packet_trace links(out);
    links.add_track(owner, "link 0");
    links.add_track(owner, "link 1");
    event_record r{1000, 50, record_kind::link_emitted, 1, 4, 5, 6, 7, 256, true};
    links.record(r);
    packet_trace engine(out);
    engine.add_track(owner, "queue 0 sends");
    engine.add_track(owner, "queue 1 sends");
    engine.add_track(owner, "receives");
    r.kind = record_kind::message_emitted;
    r.queue = 1;
    engine.record(r);
    r.kind = record_kind::message_accepted;
    engine.record(r);
    const std::string arguments = R"({"from":4,"to":5,"message":6,"bytes":256,"last":true})";
    CHECK(out.slices == std::vector<std::string>{"plain / link 1 1000+50 to 5 " + arguments,
                                                 "plain / queue 1 sends 1000+50 to 5 " + arguments,
                                                 "plain / receives 1000+50 from 4 " + arguments});
}
