// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The bench of all machines. It reads a platform file as users write it, builds the machine in a child, since a
// process has one SystemC kernel, runs the workload, and tells what happened. It knows no platform: statistics are
// found by name in the registry of components.
#pragma once

#include "platforms/workload/collective_runner.h"
#include "testbenches/support/child.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace weft::test {

using nlohmann::json;

constexpr std::uint64_t k_us = 1'000'000, k_ms = 1'000'000'000; // ps

/// What a run tells.
struct verdict : run_outcome {
    bool failed = false;              ///< `failure` says why
    std::uint64_t wrong = 0;          ///< elements, of all cases and training steps
    std::uint64_t checked = 0;        ///< cases
    std::uint64_t payload_digest = 0; ///< of the answers alone, without any time
    std::uint64_t events = 0;         ///< of the timeline
    std::uint64_t hops = 0;           ///< packets over wires between devices
    std::string unsound; ///< balances that do not come out; of a run that has ended well also what is left inside
    /// "dma.bytes_sent" -> of every component, in the order of building
    std::map<std::string, std::vector<std::uint64_t>> stats;
    std::string proof;          ///< platform::routing_report(), where it was asked for
    json more = json::object(); ///< of the probe

    std::uint64_t time(std::size_t number = 0) const { return cases.at(number).time_ps; }
    std::vector<std::uint64_t> times() const;
    std::vector<std::uint64_t> answers() const; ///< digests, of every case
    bool says(const std::string& what) const { return failure.find(what) != std::string::npos; }
    std::string warning_text() const;
    bool warns(const std::string& what) const { return warning_text().find(what) != std::string::npos; }
    std::string restart_text() const; ///< from the first restart on, a line each
    /// Sum over all components and all names that match, "switch_*.packets". The test fails when nobody has such a
    /// name.
    std::uint64_t stat(const std::string& pattern) const;
    const std::vector<std::uint64_t>& each(const std::string& name) const;
};

/// What `tell` fills in, in a child; {"thrown": ...} where it threw.
json in_child(const std::function<void(json&)>& tell);

/// What a test does beside the run.
struct run_hooks {
    std::function<void(machine&)> prepare;        ///< before time starts
    std::function<void(machine&, verdict&)> look; ///< when it has ended
    bool proof = false;                           ///< fill in verdict::proof
};

/// In the process of the test: runs the workload of a machine that has been built.
verdict run_here(machine& m, const run_config& config, const run_hooks& hooks = {});
json to_json(const verdict& v);

/// One run, whatever comes of it. The test fails when the file is refused, and at a crash or an exception.
/// `overrides`: as --set.
verdict run_file(const std::string& text, const std::vector<std::string>& overrides = {}, const run_hooks& hooks = {});
/// Errors of a file, key and sentence, a line each; "" when it may run.
std::string errors_of_file(const std::string& text);

/// What must hold after every run that completes: all answers right, all credits and packets back.
void check_exact(const verdict& v, const run_config& config);

// --- Workloads
collective_spec spec(abi::collective_op op, std::vector<abi::algorithm> algorithms,
                     const std::vector<std::uint64_t>& bytes);
collective_spec all_reduce(std::vector<abi::algorithm> algorithms, const std::vector<std::uint64_t>& bytes,
                           std::vector<abi::element_type> types = {abi::element_type::int32},
                           data_style inputs = data_style::exact);

/// Every collective by every algorithm that the firmware can run on a machine with this table.
std::vector<collective_spec> all_that_runs(const abi::platform_table& table, const std::vector<std::uint64_t>& bytes);
template <class Config>
std::vector<collective_spec> all_that_runs(const Config& config, const std::vector<std::uint64_t>& bytes)
{
    return all_that_runs(config.rank_table(0), bytes);
}

} // namespace weft::test
