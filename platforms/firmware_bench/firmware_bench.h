// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The validation bench of firmware: runs one firmware on a small machine of a platform, first with devices that behave,
// then once for every place where every hostile device can strike. Right is: all ranks finish and every element of
// every answer is the right one; or every rank that does not finish reports why, the struck one with the right code and
// register. Anything else is a failure: no answer, a wrong answer, an error that nobody reports, another error than the
// one that occurred.
//
// Every run is a child process, bounded in simulated and in host time. Deterministic: the same firmware and options
// give the same report.
#pragma once

#include "platforms/firmware_bench/hostile_device.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Native firmware has an entry; what runs on RV64 cores has none: the shipped binary, or the ELF file `elf`.
struct firmware_under_test {
    std::string name;
    firmware_entry entry = nullptr;
    std::string elf = {};
};

struct bench_options {
    const platform_info* platform = nullptr; ///< has firmware_bench
    std::uint32_t rows = 2;
    std::uint32_t cols = 2;
    std::uint32_t rank = 1;        ///< whose devices are hostile
    std::uint64_t most_runs = 0;   ///< of one device, an even sample; 0: all
    std::vector<std::string> only; ///< names of devices; empty: all
    bool stop_at_failure = false;  ///< go on with the next device at the first failure of one
    unsigned host_seconds = 30;    ///< of one run
    std::vector<std::string> settings; ///< KEY.PATH=VALUE, of the machine and its workload
};

/// One device, after its runs.
struct device_report {
    std::string name;
    std::string summary;
    std::string right;
    std::uint64_t runs = 0;
    std::uint64_t possible_runs = 0;
    std::uint64_t exact = 0;
    std::uint64_t right_error = 0;
    std::uint64_t failed = 0;
    std::uint64_t worst_ps = 0; ///< simulated time of the longest run
    std::string first_failure;  ///< what was done, what came of it, where; "" when nothing failed
    static constexpr std::size_t k_most_failures = 100;
    std::vector<std::string> failures; ///< the first so many, in the order of the runs
};

struct bench_report {
    std::string firmware;
    std::string platform; ///< in words
    std::uint64_t healthy_ps = 0;
    std::uint64_t accesses = 0;         ///< of the struck rank in the healthy run
    std::uint64_t digest = 0;           ///< of all answers of the healthy run
    std::vector<device_report> devices; ///< the first is the run with devices that behave
    std::uint64_t failed() const;
    const device_report* find(const std::string& name) const;
};

/// Called before every run.
using bench_progress = std::function<void(const std::string& device, std::uint64_t run, std::uint64_t runs)>;
/// Called when a device is done.
using bench_listener = std::function<void(const device_report&)>;

/// Throws user_error when the options make no platform or name no device.
bench_report run_firmware_bench(const firmware_under_test& firmware, const bench_options& options,
                                const bench_progress& progress = {}, const bench_listener& on_device = {});

/// The table's head, one line of it, and all of it as JSON.
std::string bench_table_head();
std::string bench_table_line(const device_report& device);
nlohmann::ordered_json to_json(const bench_report& report);

} // namespace weft
