// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The shipped firmware against hostile devices at every rank: where a chip stands decides how long it waits for its next
// command, and so which races it can lose.
#include "firmware/main.h"
#include "hw/core/iss.h"
#include "platforms/firmware_bench/firmware_bench.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {

const firmware_under_test k_native = {"collective", firmware::collective_main};
const firmware_under_test k_rv64 = {"collective"};

bench_options at(std::uint32_t rows, std::uint32_t cols, std::uint32_t rank)
{
    bench_options options;
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
