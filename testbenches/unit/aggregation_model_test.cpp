// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The aggregation model against the tables written down independently: every row of the next-step table, random passes, and
// the corner cases that follow from the order of the rows.
#include "hw/tofino/aggregation_model.h"
#include "testbenches/support/aggregation_passes.h"
#include "testbenches/unit/aggregation_reference.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

using namespace weft;
using weft::testing::aggregation_reference;
using weft::testing::random_passes;

namespace {

aggregation_pass consume(int worker, int workers, int pool_index, packet_size size = packet_size::words64,
                         pass_type type = pass_type::consume0)
{
    aggregation_pass pass;
    pass.type = type;
    pass.size = size;
    pass.pool_index = static_cast<std::uint16_t>(pool_index);
    pass.worker = static_cast<std::uint8_t>(worker);
    pass.workers = static_cast<std::uint8_t>(workers);
    for (std::uint32_t k = 0; k < k_aggregation_alus; ++k) {
        pass.d0[k] = (k + 1) << (worker & 31);
        pass.d1[k] = (k + 101) << (worker & 31);
    }
    return pass;
}

aggregation_result run(aggregation_unit& unit, const aggregation_pass& pass)
{
    return unit.take(unit.submit(pass, 0), 0);
}

aggregation_pass harvest7_after(const aggregation_pass& pass, const aggregation_result& result)
{
    aggregation_pass next = pass;
    next.type = pass_type::harvest7;
    next.map_result = result.map_result;
    next.count = result.count;
    return next;
}

} // namespace

TEST_CASE("aggregation model: random passes as the tables say")
{
    for (const std::uint32_t depth : {4u, 64u, 16384u}) {
        aggregation_model model(depth);
        aggregation_reference reference;
        random_passes passes(depth, depth);
        for (int i = 0; i < 20'000; ++i) {
            const aggregation_pass& pass = passes.next();
            const aggregation_result expected = reference.pass(pass);
            const aggregation_result result = run(model, pass);
            if (result != expected) {
                INFO("pass " << i << '\n' << to_string(pass));
                REQUIRE(to_string(result) == to_string(expected));
                FAIL("results differ where their texts do not");
            }
        }
    }
}

TEST_CASE("aggregation model: every row of the next-step table")
{
    aggregation_model model(4);
    for (unsigned size = 0; size < 4; ++size)
        for (unsigned count = 0; count < 33; ++count)
            for (const std::uint32_t map_result : {0u, 1u, 0x8000'0000u})
                for (unsigned type = 8; type < 16; ++type) {
                    aggregation_pass pass;
                    pass.type = static_cast<pass_type>(type);
                    pass.size = static_cast<packet_size>(size);
                    pass.map_result = map_result;
                    pass.count = static_cast<std::uint8_t>(count);
                    aggregation_reference reference;
                    const auto expected = reference.pass(pass);
                    const auto result = run(model, pass);
                    REQUIRE(to_string(result) == to_string(expected));
                }
}

TEST_CASE("aggregation model: three workers and 64 words")
{
    aggregation_model model(8);
    for (int round = 0; round < 4; ++round) {
        const int index = round & 1;
        CHECK(run(model, consume(0, 3, index)).step == next_step::finish_consume);
        CHECK(run(model, consume(2, 3, index)).step == next_step::finish_consume);
        const auto last = consume(1, 3, index);
        const auto result = run(model, last);
        CHECK(result.count == 1);
        CHECK(result.step == next_step::recirculate);
        CHECK(result.next_type == pass_type::harvest7);
        CHECK_FALSE(result.writes_d0);
        CHECK(result.words[5] == 106 * 7); // the sum with this packet
        const auto first_half = run(model, harvest7_after(last, result));
        CHECK(first_half.step == next_step::broadcast);
        CHECK(first_half.writes_d0);
        CHECK(first_half.words[5] == 6 * 7);
    }
}

TEST_CASE("aggregation model: corner 1. A short repeated packet is harvested in vain while one worker is missing")
{
    aggregation_model model(8);
    run(model, consume(0, 2, 0));
    const auto again = consume(0, 2, 0);
    const auto result = run(model, again);
    CHECK(result.map_result == 1);
    CHECK(result.count == 1);
    CHECK(result.step == next_step::recirculate);
    CHECK(run(model, harvest7_after(again, result)).step == next_step::drop);

    // The long form is dropped at once.
    run(model, consume(0, 2, 2, packet_size::words256));
    CHECK(run(model, consume(0, 2, 2, packet_size::words256)).step == next_step::drop);
}

TEST_CASE("aggregation model: corners 2 and 4. What a dropped packet leaves behind")
{
    // Two pipes; the packet of worker 1 is lost between them. Its retransmission completes neither: the first pipe takes it for
    // a repeated packet of a complete slot, the second still adds it.
    aggregation_model first(8);
    aggregation_model second(8);
    const auto size = packet_size::words256;
    run(first, consume(0, 2, 0, size));
    run(second, consume(0, 2, 0, size, pass_type::consume1));
    CHECK(run(first, consume(1, 2, 0, size)).count == 1);
    const auto again = run(first, consume(1, 2, 0, size));
    CHECK(again.map_result == 2);
    CHECK(again.count == 0);
    CHECK(again.step == next_step::recirculate);
    const auto late = run(second, consume(1, 2, 0, size, pass_type::consume1));
    CHECK(late.map_result == 0);
    CHECK(late.count == 1);
}

TEST_CASE("aggregation model: corner 5. Without a change of version a reused slot is taken for repeated")
{
    aggregation_model model(8);
    run(model, consume(0, 2, 0));
    run(model, consume(1, 2, 0));
    const auto reused = run(model, consume(0, 2, 0));
    CHECK(reused.map_result == 1);
    CHECK(reused.count == 0);
    CHECK(reused.step == next_step::recirculate); // the old sum goes back to the sender
    CHECK(run(model, harvest7_after(consume(0, 2, 0), reused)).step == next_step::retransmit);
    CHECK(reused.words[0] == 101 * 3);
    // The other version clears the bit: then the slot may be used again, and nothing of the old sum is left.
    run(model, consume(0, 2, 1));
    run(model, consume(1, 2, 1));
    const auto fresh = run(model, consume(0, 2, 0));
    CHECK(fresh.bitmap_before == 0);
    CHECK(fresh.words[0] == 101);
}

TEST_CASE("aggregation model: corner 6. Exponents count only with the last packet of a message")
{
    aggregation_model model(8);
    auto pass = consume(0, 3, 0);
    pass.exponent0 = -5;
    pass.exponent1 = 7;
    const auto first = run(model, pass);
    CHECK(first.reads_exponent0);
    CHECK(first.exponent == -5);
    pass = consume(1, 3, 0);
    pass.exponent0 = 100;
    pass.exponent1 = 100;
    pass.last_of_message = false;
    CHECK_FALSE(run(model, pass).reads_exponent0);
    pass = consume(2, 3, 0);
    pass.exponent0 = -6;
    pass.exponent1 = 9;
    const auto last = run(model, pass);
    CHECK(last.exponent == -5);
    const auto harvest = run(model, harvest7_after(pass, last));
    CHECK(harvest.reads_exponent1);
    CHECK(harvest.exponent == 9);
}

TEST_CASE("aggregation model: a single worker completes its slot")
{
    aggregation_model model(8);
    for (int round = 0; round < 4; ++round) {
        CHECK(run(model, consume(0, 1, round & 1)).count == 1);
        CHECK(run(model, consume(0, 1, round & 1)).count == 0);
    }
}

TEST_CASE("aggregation model: tickets and limits")
{
    aggregation_model model(8);
    const auto a = model.submit(consume(0, 2, 0), 0);
    const auto b = model.submit(consume(1, 2, 0), 0);
    CHECK_THROWS_AS(model.take(b, 0), bug);
    CHECK(model.take(a, 0).count == 0);
    CHECK(model.take(b, 0).count == 1);
    CHECK_THROWS_AS(model.take(b, 0), bug);
    CHECK_THROWS_AS(model.submit(consume(0, 2, 8), 0), bug);
    CHECK_THROWS_AS(model.submit(consume(32, 32, 0), 0), bug);
    CHECK_THROWS_AS(model.submit(consume(0, 0, 0), 0), bug);
    CHECK_THROWS_AS(model.submit(consume(0, 33, 0), 0), bug);
    CHECK_THROWS_AS(aggregation_model(12), bug);
    CHECK(model.describe_slot(0).find("version 0: bitmap 00000003, count 0") != std::string::npos);
    model.clear();
    CHECK(model.slot_state(0) == aggregation_slot_state{});
    CHECK(run(model, consume(1, 2, 0)).bitmap_before == 0);
    // Many results may wait.
    std::vector<std::uint64_t> tickets;
    for (int i = 0; i < 100; ++i)
        tickets.push_back(model.submit(consume(i % 32, 32, 2), 0));
    for (int i = 0; i < 100; ++i)
        CHECK(model.take(tickets[static_cast<std::size_t>(i)], 0).map_result == (i < 32 ? 0 : 1u << (i % 32)));
}
