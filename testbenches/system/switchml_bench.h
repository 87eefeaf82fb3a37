// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds a SwitchML rack in a child and runs one workload on it: a process has one SystemC kernel, and a test case many racks.
// What a child has to tell comes back as JSON.
#pragma once

#include "hw/tofino/tofino_switch.h"
#include "platforms/switchml/aggregators.h"
#include "platforms/switchml/switchml.h"
#include "platforms/workload/collective_runner.h"
#include "testbenches/support/child.h"

#include <catch2/catch.hpp>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::test {

using nlohmann::json;

/// A small rack: little memory, few slots, 10 Gb/s unless a test says otherwise.
inline switchml_config rack(std::uint32_t workers, std::uint32_t cores = 1)
{
    switchml_config config;
    config.run.name = "test";
    config.workers = workers;
    config.worker.cores = cores;
    config.worker.nic.queues = cores;
    config.worker.hbm.capacity = data_size(64 << 20);
    config.network.rate = bandwidth(10'000'000'000);
    config.job.slots = 16;
    // Formulas know neither large batches nor a hold; issues/switchml_hosts_test has both.
    config.worker.packet_batch = packet_count(4);
    config.worker.transmit_hold = duration(0);
    return config;
}

inline collective_spec all_reduce(std::vector<abi::algorithm> algorithms, const std::vector<std::uint64_t>& bytes,
                                  std::vector<abi::element_type> types = {abi::element_type::int32},
                                  data_style inputs = data_style::exact)
{
    collective_spec s;
    s.algorithms = std::move(algorithms);
    s.types = std::move(types);
    s.inputs = inputs;
    for (const std::uint64_t b : bytes)
        s.sizes.emplace_back(b);
    return s;
}
inline collective_spec switched(const std::vector<std::uint64_t>& bytes)
{
    return all_reduce({abi::algorithm::switchml}, bytes, {abi::element_type::int32, abi::element_type::float32});
}

/// Everything wrong with the file, warnings left out; every part of it checked, as the reader does.
inline std::string errors_of(const switchml_config& config)
{
    std::string text;
    const auto add = [&](const std::vector<config_problem>& problems) {
        for (const config_problem& p : problems)
            if (p.level == severity::error)
                text += p.key + ": " + p.message + "\n";
    };
    add(config.run.validate());
    add(config.network.validate());
    add(config.network.cable.validate());
    add(config.tofino.validate());
    add(config.job.validate());
    add(config.worker.validate());
    add(config.validate());
    return text;
}

inline json results_of(switchml_machine& machine, const run_outcome& outcome)
{
    json j;
    j["failure"] = outcome.failure;
    j["digest"] = outcome.digest;
    j["simulated_ps"] = outcome.simulated_time_ps;
    j["cpu_s"] = outcome.cpu_seconds;
    std::uint64_t wrong = 0, checked = 0;
    json times = json::array(), data = json::array();
    std::string first_wrong;
    for (const case_result& r : outcome.cases) {
        wrong += r.check.wrong;
        checked += r.checked ? 1 : 0;
        times.push_back(r.time_ps);
        data.push_back(r.check.digest);
        if (r.check.wrong != 0 && first_wrong.empty())
            first_wrong = fmt::format("{} {} {} B: {} wrong", name_of(r.what.algo), name_of(r.what.type),
                                      r.what.size_bytes, r.check.wrong);
    }
    j["cases"] = outcome.cases.size();
    j["wrong"] = wrong;
    j["checked"] = checked;
    j["first_wrong"] = first_wrong;
    j["times"] = times;
    j["data"] = data;
    // What no run may leave behind, and what the network saw.
    j["leaks"] = machine.pool().leak_report();
    std::uint64_t inside = 0, completions = 0, packets = 0, ignored = 0, retransmissions = 0, dropped = 0;
    for (const auto& sw : machine.switches()) {
        inside += sw->idle() ? 0 : 1;
        completions += sw->completions.value();
        packets += sw->packets.value();
        ignored += sw->duplicates_ignored.value();
        retransmissions += sw->retransmissions.value();
        dropped += sw->dropped();
    }
    j["switches_busy"] = inside;
    j["completions"] = completions;
    j["packets"] = packets;
    j["ignored"] = ignored;
    j["retransmissions"] = retransmissions;
    j["dropped"] = dropped;
    return j;
}

using rack_hook = std::function<void(switchml_machine&)>;
using rack_probe = std::function<void(switchml_machine&, json&)>;

/// Runs `child`, which fills in what it has to tell, in a process of its own.
inline json in_child(const std::function<void(json&)>& child)
{
    const testing::child_output out = testing::run_child([&] {
        json j = json::object();
        child(j);
        return j.dump();
    });
    REQUIRE(out.ended);
    return out.thrown.empty() ? json::parse(out.bytes) : json{{"thrown", out.thrown}};
}

/// One run, whatever comes of it. `prepare` sees the machine before time starts, `probe` after it has ended.
inline json run_rack(const switchml_config& config, const rack_hook& prepare = {}, const rack_probe& probe = {})
{
    const std::string errors = errors_of(config);
    INFO(errors);
    REQUIRE(errors.empty());
    json j = in_child([&](json& answer) {
        switchml_machine machine(config);
        if (prepare)
            prepare(machine);
        collective_runner runner("host", machine, config.run, nullptr);
        const run_outcome outcome = runner.run();
        answer = results_of(machine, outcome);
        if (probe)
            probe(machine, answer);
    });
    INFO(j.value("thrown", ""));
    REQUIRE_FALSE(j.contains("thrown"));
    return j;
}

/// A run that must give every answer, exact or within its bound, and leave nothing behind.
inline json run_exact(const switchml_config& config, const rack_hook& prepare = {}, const rack_probe& probe = {})
{
    const json j = run_rack(config, prepare, probe);
    INFO(j.at("failure").get<std::string>());
    INFO(j.at("first_wrong").get<std::string>());
    CHECK(j.at("failure") == "");
    CHECK(j.at("cases") == config.run.case_count());
    CHECK(j.at("checked") == (config.run.data == data_mode::checked ? config.run.case_count() : 0));
    CHECK(j.at("wrong") == 0);
    CHECK(j.at("leaks") == "");
    CHECK(j.at("switches_busy") == 0);
    return j;
}

/// All that this build has.
inline std::vector<aggregator_kind> aggregator_settings()
{
    std::vector<aggregator_kind> all;
    for (const aggregator_kind kind : {aggregator_kind::model, aggregator_kind::rtl, aggregator_kind::lockstep})
        if (aggregator_refusal(kind, tofino_config{}).empty())
            all.push_back(kind);
    return all;
}

/// Uses of slots by one worker for a tensor: blocks, and for float32 the uses that carry exponents alone.
inline std::uint64_t blocks_of(std::uint64_t elements, std::uint64_t per_block)
{
    return (elements + per_block - 1) / per_block;
}

/// Does something to one frame of a cable.
class nth_frame final : public ethernet_fault_if {
public:
    nth_frame(std::uint32_t from, std::uint64_t number, ethernet_verdict verdict)
        : from_(from), number_(number), verdict_(verdict)
    {
    }
    ethernet_verdict on_frame(std::uint32_t from, std::uint64_t number, std::uint64_t, const packet&) override
    {
        return from == from_ && number == number_ ? verdict_ : ethernet_verdict{};
    }

private:
    std::uint32_t from_;
    std::uint64_t number_;
    ethernet_verdict verdict_;
};

} // namespace weft::test
