// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A limit of address space (ulimit -v) ends in a sentence with a remedy, whatever takes the memory.
#include "hw/core/iss.h"
#include "testbenches/issues/started_program.h"

using namespace weft::testing;

namespace {
constexpr std::uint64_t k_GiB = 1ull << 30;
constexpr const char* k_small = "platform: tpu_v3\nname: small\nmesh: {rows: 2, cols: 4}\n"
                                "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [1 MiB]}]\n";
} // namespace

TEST_CASE("rv64 cores under a limit of address space are refused with the need and a remedy")
{
    if (*weft::iss_engine_name() == '\0')
        return;
    started_program weft;
    weft.write("small.yaml", k_small);
    const int code = weft.run({"run", "small.yaml", "--set", "chip.core.model=rv64"}, 4 * k_GiB);
    INFO(weft.err());
    CHECK(code == 2);
    CHECK_FALSE(has(weft.err(), "dynamic translator"));
    CHECK(has(weft.err(), "for 8 RV64 cores"));
    CHECK(has(weft.err(), "the limit of this process is 4.29 GB. Raise it (ulimit -v), use fewer ranks"));
    CHECK(has(weft.err(), "or native cores."));
    // Where nobody has counted before: the engine looks itself.
    const int test = weft.run({"firmware", "test", "collective", "--core", "rv64", "--runs", "1", "--device",
                               "lost_interrupt"},
                              2 * k_GiB);
    INFO(weft.err());
    CHECK(test == 1);
    CHECK_FALSE(has(weft.err(), "dynamic translator"));
    CHECK(has(weft.err(), "MiB of address space for the code that the engine translates"));
}

TEST_CASE("contents of memories that exceed a limit of address space are refused before anything runs")
{
    started_program weft;
    weft.write("small.yaml", k_small);
    const int code = weft.run({"run", "small.yaml", "--set", "workload.0.sizes=[64 MiB]"}, k_GiB / 4);
    INFO(weft.err());
    CHECK(code == 2);
    CHECK(has(weft.err(), "537 MB for the contents of all HBMs"));
    CHECK_FALSE(weft.exists("out"));
}

TEST_CASE("native cores under a limit of address space run or say that it is the limit")
{
    started_program weft;
    weft.write("small.yaml", k_small);
    bool ran = false;
    for (std::uint64_t limit = k_GiB / 16; limit <= k_GiB; limit *= 2) {
        const int code = weft.run({"run", "small.yaml", "--out", "out"}, limit);
        INFO(limit << ": " << weft.err());
        ran = ran || code == 0;
        CHECK((code == 0 || (code == 1 && has(weft.err(), "ulimit -v"))));
    }
    CHECK(ran);
}
