// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The shipped firmware against hostile devices at every rank: where a chip stands decides how long it waits for its next
// command, and so which races it can lose.
#include "firmware/main.h"
#include "hw/core/iss.h"
#include "platforms/firmware_bench/firmware_bench.h"
#include "platforms/tpu_v3/tpu_v3.h"

#include <catch2/catch.hpp>
#include <dlfcn.h>

using namespace weft;

namespace {

const firmware_under_test k_native = {"collective", firmware::collective_main};
const firmware_under_test k_rv64 = {"collective"};

bench_options at(std::uint32_t rows, std::uint32_t cols, std::uint32_t rank)
{
    bench_options options;
    options.platform = &k_tpu_v3_info;
    options.rows = rows;
    options.cols = cols;
    options.rank = rank;
    return options;
}

void must_pass(const firmware_under_test& firmware, const bench_options& options)
{
    const bench_report report = run_firmware_bench(firmware, options);
    for (const device_report& d : report.devices) {
        INFO(options.rows << "x" << options.cols << " rank " << options.rank << " " << d.name << ": "
                          << d.first_failure);
        CHECK(d.failed == 0);
        CHECK(d.runs > 0);
    }
}

/// `runs` of the 48 of the device: line of DMA or mailbox, register mute or not, over the time of the run.
void storms(const firmware_under_test& firmware, std::uint32_t rows, std::uint32_t cols, std::uint64_t runs,
            std::uint32_t stride = 1)
{
    for (std::uint32_t rank = 0; rank < rows * cols; rank += stride) {
        bench_options options = at(rows, cols, rank);
        options.only = {"interrupt_storm"};
        options.most_runs = runs;
        must_pass(firmware, options);
    }
}

/// What the healthy run of the broken firmware is told.
std::string failure_of_broken(std::uint32_t rows, std::uint32_t cols, unsigned host_seconds)
{
    void* const library = ::dlopen(WEFT_BROKEN_FIRMWARE, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    const firmware_under_test firmware{"broken", reinterpret_cast<firmware_entry>(::dlsym(library, "weft_firmware_entry"))};
    bench_options options = at(rows, cols, 0);
    options.host_seconds = host_seconds;
    const bench_report report = run_firmware_bench(firmware, options);
    REQUIRE(report.devices.size() == 1);
    return report.devices.front().first_failure;
}

} // namespace

TEST_CASE("interrupt storms at every rank of 2x2 and 2x4: no DONE for a command that is not posted")
{
    storms(k_native, 2, 2, 0);
    storms(k_native, 2, 4, 0);
}

TEST_CASE("interrupt storms at every rank of 3x4: no DONE for a command that is not posted")
{
    storms(k_native, 3, 4, 24);
}

TEST_CASE("interrupt storms at every rank of 4x4: no DONE for a command that is not posted")
{
    storms(k_native, 4, 4, 16);
}

TEST_CASE("interrupt storms on the diagonal of 8x8: no DONE for a command that is not posted")
{
    storms(k_native, 8, 8, 8, 27);
}

TEST_CASE("interrupt storms at ranks of 2x4 with rv64 cores: no DONE for a command that is not posted")
{
    if (*iss_engine_name() == '\0')
        return;
    storms(k_rv64, 2, 4, 8, 3);
}

TEST_CASE("every hostile device in turn at the ranks of 4x4")
{
    // Every device meets two ranks in each of two passes, another pair in the second.
    constexpr std::uint32_t k_ranks = 16;
    const auto& devices = hostile_devices();
    for (std::uint32_t rank = 0; rank < k_ranks; ++rank) {
        bench_options options = at(4, 4, rank);
        for (std::size_t d = 0; d < devices.size(); ++d)
            if (d % (k_ranks / 2) == rank % (k_ranks / 2))
                options.only.emplace_back(devices[d]->name());
        options.most_runs = 8;
        must_pass(k_native, options);
    }
}

TEST_CASE("a firmware test of a library that loops names rank and function and line")
{
    for (const unsigned host_seconds : {1u, 6u}) { // ended from outside, which leaves no half second of CPU; by its own bound
        const std::string failure = failure_of_broken(2, 2, host_seconds);
        INFO(failure);
        if (host_seconds == 1)
            CHECK(failure.find("the run did not end in 1 s of host time, rank 2 at ") == 0);
        CHECK(failure.find("rank 2 ") != std::string::npos); // of a busy host also from outside
        CHECK(failure.find("broken_firmware/broken.cpp:1") != std::string::npos);
        CHECK(failure.find("spin") != std::string::npos);
    }
}

TEST_CASE("a firmware test of an RV64 program that loops names the rank that executes and its line")
{
    if (*iss_engine_name() == '\0')
        return;
    bench_options options = at(2, 4, 2);
    options.only = {"healthy"};
    const firmware_under_test loops{"loops", nullptr, WEFT_RV64_PROGRAMS "/test_loops.elf"};
    const bench_report report = run_firmware_bench(loops, options);
    REQUIRE(report.devices.size() == 1);
    const std::string& failure = report.devices.front().first_failure;
    INFO(failure);
    CHECK(failure.find("rank 1 gives no answer: ") == 0); // rank 0 only waits
    CHECK(failure.find("issues/rv64/loops.cpp:") != std::string::npos);
    CHECK(failure.find("ring_the_doorbell") != std::string::npos);
}

TEST_CASE("a device that the struck rank does not use says so in the table")
{
    device_report none;
    none.name = "lost_interrupt";
    CHECK(bench_table_line(none) == "  lost_interrupt                     0  has nothing to break: the struck rank does not use it in this workload\n");
}

TEST_CASE("a firmware test of a library that crashes names rank and function and line")
{
    const std::string failure = failure_of_broken(2, 3, 30);
    INFO(failure);
    CHECK(failure.find("the run crashed with signal 11, rank 2 at ") == 0);
    CHECK(failure.find("broken_firmware/broken.cpp:19, ") != std::string::npos);
    CHECK(failure.find("write_to; the last call of the HAL: ") != std::string::npos);
    CHECK(failure.find("weft_firmware_entry") != std::string::npos);
}

TEST_CASE("a firmware test of a library that throws names rank and function and line")
{
    const std::string failure = failure_of_broken(2, 4, 30);
    INFO(failure);
    CHECK(failure.find("the run ended: the firmware threw an exception, rank 2 at ") == 0);
    CHECK(failure.find("broken_firmware/broken.cpp:21, ") != std::string::npos);
    CHECK(failure.find("throw_it; the last call of the HAL: ") != std::string::npos);
}
