// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the checker of microcode accepts ends on healthy peers: random programs, on units of a board.
#include "platforms/ccu/ccu_assembler.h"
#include "platforms/ccu/ccu_checker.h"
#include "testbenches/hw/ccu_bench.h"
#include "testbenches/support/ccu_programs.h"

#include <deque>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;
namespace abi_ccu = weft::abi::ccu;

TEST_CASE("ccu: every random program that the checker accepts ends on all ranks")
{
    constexpr std::uint32_t wanted = 150, most_ranks = 5, token = 0x1234;
    ccu_config config;
    config.task_start = 100_ns;
    ccu_bench b(most_ranks, config);
    struct run {
        std::uint64_t seed;
        std::uint32_t ranks;
        microcode code;
    };
    std::deque<run> runs;
    std::uint64_t at_ps = 1'000'000;
    std::uint32_t refused = 0;
    for (std::uint64_t seed = 1; runs.size() < wanted; ++seed) {
        const random_ccu_program text = make_ccu_program(seed);
        std::vector<problem> problems;
        const ccu_program program = assemble_ccu(text.text, "random.ccu", problems);
        const bool sound = std::none_of(problems.begin(), problems.end(), [](const problem& p) { return p.level == severity::error; });
        if (!sound || !check_ccu(program).accepted()) {
            ++refused;
            continue;
        }
        runs.push_back({seed, text.ranks, {}});
        run& r = runs.back();
        r.code.all = program.code;
        b.board.bench.events.at(at_ps, [&b, &r] {
            for (std::uint32_t n = 0; n < r.ranks; ++n) {
                b.write(n, abi_ccu::CLEAR_ENTRIES, 1024u << 16);
                b.write(n, abi_ccu::TOKEN, token);
                for (std::uint32_t c = 0; c + 1 < r.ranks; ++c) {
                    b.write(n, abi_ccu::CHANNEL_INDEX, c);
                    b.write(n, abi_ccu::CHANNEL_PEER, (n + 1 + c) % r.ranks);
                }
                b.load(n, 64, r.code);
                b.write(n, abi_ccu::TASK_ARGUMENT(0), 1 << 20, 8);
                b.write(n, abi_ccu::TASK_ARGUMENT(1), token, 8);
                b.write(n, abi_ccu::TASK_ARGUMENT(2), 1 + r.seed % random_ccu_program::k_most_rounds, 8);
                b.write(n, abi_ccu::TASK_ARGUMENT(3), abi_ccu::loop_parameter(1 + r.seed % 4, 4096), 8);
            }
        });
        for (std::uint32_t n = 0; n < r.ranks; ++n) // one after the other
            b.board.bench.events.at(at_ps + 1'000'000 + n * 37'000 * (seed % 7), [&b, &r, n] {
                b.launch(n, static_cast<std::uint32_t>(r.seed % 16), 64, static_cast<std::uint32_t>(r.code.all.size()), 900);
            });
        at_ps += 1'000'000'000; // 1 ms
        b.board.bench.events.at(at_ps - 1'000, [&b, &r] {
            for (std::uint32_t n = 0; n < r.ranks; ++n) {
                INFO("seed " << r.seed << ", rank " << n << " of " << r.ranks << ": " << b.unit(n).waits());
                CHECK(b.state(n, static_cast<std::uint32_t>(r.seed % 16)) == 2);
                CHECK(b.status(n, static_cast<std::uint32_t>(r.seed % 16)) == 0);
                CHECK(b.unit(n).idle());
            }
        });
    }
    b.run();
    CHECK(refused > wanted / 10); // the others are not all alike
    CHECK(b.unit(0).tasks.value() == wanted);
}
