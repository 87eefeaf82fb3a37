// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds UB-Mesh machines and runs workloads on them, each in a child: a process has one SystemC kernel.
#pragma once

#include "firmware/collectives/supports.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/digest.h"
#include "testbenches/support/child.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <exception>
#include <fmt/format.h>

namespace weft::test {

constexpr std::uint64_t k_us = 1'000'000, k_ms = 1'000'000'000;

inline ub_mesh_config ub_machine_of(std::uint32_t boards, std::uint32_t npus, bool backplane = true)
{
    ub_mesh_config config;
    config.run.name = "test";
    config.run.firmware_timeout = duration(2 * k_ms);
    config.mesh.boards = boards;
    config.mesh.npus = npus;
    config.mesh.backplane = backplane;
    return config;
}
inline ub_mesh_config ub_board(std::uint32_t npus = 8) { return ub_machine_of(1, npus, false); }
inline ub_mesh_config ub_rack() { return ub_machine_of(8, 8); }
inline ub_mesh_config ub_racks(std::uint32_t rows, std::uint32_t cols, std::uint32_t boards, std::uint32_t npus)
{
    ub_mesh_config config = ub_machine_of(boards, npus);
    config.mesh.rack_rows = rows;
    config.mesh.rack_cols = cols;
    return config;
}

inline collective_spec ub_spec(abi::collective_op op, std::vector<abi::algorithm> algorithms,
                               std::vector<std::uint64_t> bytes)
{
    collective_spec s;
    s.op = op;
    s.algorithms = std::move(algorithms);
    for (const std::uint64_t b : bytes)
        s.sizes.emplace_back(b);
    return s;
}

/// Every collective by every algorithm that the firmware can run on this machine.
inline std::vector<collective_spec> all_that_runs(const ub_mesh_config& config, const std::vector<std::uint64_t>& bytes)
{
    std::vector<collective_spec> all;
    for (const auto& [op, op_name] : enum_names<abi::collective_op>::values) {
        std::vector<abi::algorithm> algorithms;
        for (const auto& [algo, name] : enum_names<abi::algorithm>::values) {
            const char* reason = "";
            if (firmware::supports(op, algo, config.rank_table(0), false, &reason))
                algorithms.push_back(algo);
        }
        if (!algorithms.empty())
            all.push_back(ub_spec(op, algorithms, bytes));
    }
    return all;
}

inline ub_link_fault_config link_fault(const char* from, const char* to, std::uint64_t at_ps)
{
    ub_link_fault_config f;
    f.from = from;
    f.to = to;
    f.at = duration(at_ps);
    return f;
}
inline ub_npu_fault_config npu_fault(const char* npu, std::uint64_t at_ps)
{
    ub_npu_fault_config f;
    f.npu = npu;
    f.at = duration(at_ps);
    return f;
}

/// What a child tells about its run; plain bytes for the pipe.
struct ub_verdict {
    std::uint64_t digest = 0;
    std::uint64_t payload_digest = 0; ///< of the answers alone, without any time
    std::uint64_t end_ps = 0, cases = 0, checked = 0, wrong = 0, hops = 0;
    std::uint64_t sent = 0, delivered = 0, resent = 0, duplicates = 0, given_up = 0, not_sent = 0, dropped = 0;
    std::uint64_t retries = 0, wire_bits = 0; ///< of the links
    std::uint64_t separated = 0;              ///< pairs of NPUs that live of which one cannot reach the other
    std::uint64_t restarts = 0, restart_at_ps = 0, resumed_ps = 0, lost_ps = 0; ///< the first one's
    std::uint64_t failed_npu_packets = 0;                 ///< over links of NPUs that have failed, since they have
    std::uint64_t spare_packets = 0;                      ///< that spare NPUs have sent
    std::uint64_t step_ps = 0, step_communication_ps = 0; ///< of the last training step
    std::array<std::uint64_t, 160> times{};               ///< of the first cases
    bool failed = false;
    std::array<char, 8192> failure{};
    std::array<char, 4096> warnings{}, restart_text{}, unsound{}; ///< unsound: credits, packets
    bool says(const char* what) const { return std::strstr(failure.data(), what) != nullptr; }
    bool warns(const char* what) const { return std::strstr(warnings.data(), what) != nullptr; }
    std::uint64_t time() const { return times[0]; }
};

template <std::size_t n> void put_text(std::array<char, n>& to, const std::string& text)
{
    std::strncpy(to.data(), text.c_str(), n - 1);
}

inline ub_verdict run_here(const ub_mesh_config& config)
{
    ub_verdict v;
    const auto routes = std::make_shared<const ub_routes>(config);
    ub_machine machine(config, routes);
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    v.digest = outcome.digest;
    v.end_ps = outcome.simulated_time_ps;
    v.cases = outcome.cases.size();
    digest64 payload;
    for (std::size_t i = 0; i < outcome.cases.size(); ++i) {
        const case_result& r = outcome.cases[i];
        v.wrong += r.check.wrong;
        v.checked += r.checked ? 1 : 0;
        payload.update_u64(r.check.digest);
        if (i < v.times.size())
            v.times[i] = r.time_ps;
    }
    for (const training_step_result& s : outcome.training_steps) {
        v.step_ps = s.time_ps;
        v.step_communication_ps = s.communication_ps;
        for (const step_part& p : s.parts) {
            v.wrong += p.wrong;
            payload.update_u64(p.digest);
        }
    }
    v.payload_digest = payload.value();
    const ub_fabric& ub = machine.ub();
    v.hops = ub.engine().packet_hops();
    v.sent = ub.sum(&ub_endpoint::sent);
    v.delivered = ub.sum(&ub_endpoint::delivered);
    v.resent = ub.sum(&ub_endpoint::resent);
    v.duplicates = ub.sum(&ub_endpoint::duplicates_dropped);
    v.given_up = ub.sum(&ub_endpoint::given_up);
    v.not_sent = ub.sum(&ub_endpoint::not_sent);
    v.dropped = ub.engine().dropped();
    const ub_topology& topology = *routes->topology;
    for (std::uint32_t l = 0; l < topology.plan().links.size(); ++l) {
        v.retries += ub.engine().link_retries(ub.link_of(l));
        v.wire_bits += 8 * ub.engine().link_wire_bytes(ub.link_of(l));
    }
    for (const auto& [from, to] : ub.unreachable())
        v.separated += std::none_of(config.faults.npus.begin(), config.faults.npus.end(),
                                    [&, a = from, b = to](const ub_npu_fault_config& f) {
                                        return f.npu == ub.endpoint_name(a) || f.npu == ub.endpoint_name(b);
                                    })
                           ? 1
                           : 0;
    for (const ub_npu_fault_config& f : config.faults.npus)
        for (std::uint32_t l = 0; l < topology.plan().links.size(); ++l)
            if (const ub_link_plan& link = topology.plan().links[l];
                topology.plan().routers[link.from].name == f.npu || topology.plan().routers[link.to].name == f.npu)
                v.failed_npu_packets += ub.engine().link_packets(ub.link_of(l));
    for (std::uint32_t rack = 0; config.mesh.backplane && rack < config.mesh.racks(); ++rack)
        v.spare_packets += ub.router_stats(topology.spare_router(rack)).packets_out;
    v.failed = !outcome.failure.empty();
    put_text(v.failure, outcome.failure);
    std::string warnings, restarts, unsound = ub.engine().audit();
    for (const std::string& w : outcome.warnings)
        warnings += w + "\n";
    for (const job_restart& r : outcome.restarts)
        restarts += r.text + "\n";
    put_text(v.warnings, warnings);
    put_text(v.restart_text, restarts);
    v.restarts = outcome.restarts.size();
    if (v.restarts > 0) {
        v.restart_at_ps = outcome.restarts[0].at_ps;
        v.resumed_ps = outcome.restarts[0].resumed_ps;
        v.lost_ps = outcome.restarts[0].lost_ps;
    }
    if (!v.failed) {
        if (ub.engine().packets_inside() != 0)
            unsound += fmt::format("{} packets inside; ", ub.engine().packets_inside());
        if (!ub.idle())
            unsound += "endpoints wait; ";
        unsound += machine.pool().leak_report();
    }
    put_text(v.unsound, unsound);
    return v;
}

/// Of a sound configuration.
inline ub_verdict run_in_child(const ub_mesh_config& config)
{
    for (const config_problem& p : config.validate()) {
        INFO(p.key << ": " << p.message);
        REQUIRE(p.level == severity::warning);
    }
    return testing::value_from_child([&] {
        ub_verdict v;
        try {
            v = run_here(config);
        } catch (const std::exception& e) {
            v.failed = true;
            put_text(v.failure, std::string("exception: ") + e.what());
        }
        return v;
    });
}

/// Runs and checks what must hold after every run that completes: all answers right, every packet delivered once, all credits and
/// packets back.
inline ub_verdict run_exact(const ub_mesh_config& config)
{
    const ub_verdict v = run_in_child(config);
    INFO(v.failure.data());
    INFO(v.unsound.data());
    CHECK_FALSE(v.failed);
    CHECK(v.cases == config.run.case_count());
    CHECK(v.checked == (config.run.data == data_mode::checked ? v.cases : 0));
    CHECK(v.wrong == 0);
    CHECK(v.unsound[0] == 0);
    CHECK(v.not_sent == 0);
    // An NPU that fails when the last answer is out takes acknowledgements with it, of packets that have all arrived: its peers give them
    // up when the run is over, and find no one else unreachable.
    const bool failed_behind_the_end = v.restarts == 0 && !config.faults.npus.empty();
    CHECK((v.given_up == 0 || failed_behind_the_end));
    CHECK(v.separated == 0);
    CHECK(v.delivered == v.sent);
    return v;
}

} // namespace weft::test
