// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// run_outcome: what repeats of a case come to, and what the digest of a run depends on.
#include "platforms/workload/run_outcome.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {

case_result result_of(std::uint64_t time_ps, std::uint64_t wrong = 0)
{
    case_result r;
    r.what = make_case(abi::collective_op::all_reduce, abi::algorithm::ring_1d, abi::element_type::int32,
                       abi::reduce_op::sum, 4096);
    r.time_ps = time_ps;
    r.steps = static_cast<std::uint32_t>(time_ps % 7);
    r.messages = 10;
    r.checked = true;
    r.check.checked = 1024;
    r.check.wrong = wrong;
    r.check.first.rank = static_cast<std::uint32_t>(time_ps);
    r.check.digest = 0x1234 + time_ps;
    return r;
}

} // namespace

TEST_CASE("run_outcome: repeats give the mean and the sums")
{
    case_result all;
    add_repeat(all, result_of(10));    // 3 steps
    add_repeat(all, result_of(13, 2)); // 6
    add_repeat(all, result_of(15, 5)); // 1
    CHECK(all.time_ps == 13);          // 38 / 3 = 12.67
    CHECK(all.repeats_ps == std::vector<std::uint64_t>{10, 13, 15});
    CHECK(all.steps == 6);
    CHECK(all.messages == 30);
    CHECK(all.check.checked == 3072);
    CHECK(all.check.wrong == 7);
    CHECK(all.check.first.rank == 13); // of the first run that had one
}

TEST_CASE("run_outcome: the digest depends on every part of a result")
{
    run_outcome base;
    base.cases.push_back(result_of(10));
    base.training_steps.emplace_back().parts.emplace_back();
    base.restarts.emplace_back();
    const std::vector<abi::response> answers(2);
    const std::uint64_t digest = digest_of(base, answers);
    CHECK(digest_of(base, answers) == digest);

    const auto changed = [&](auto&& change) {
        run_outcome other = base;
        change(other);
        return digest_of(other, answers) != digest;
    };
    CHECK(changed([](run_outcome& o) { ++o.cases[0].time_ps; }));
    CHECK(changed([](run_outcome& o) { ++o.cases[0].steps; }));
    CHECK(changed([](run_outcome& o) { ++o.cases[0].messages; }));
    CHECK(changed([](run_outcome& o) { ++o.cases[0].check.digest; }));
    CHECK(changed([](run_outcome& o) { ++o.cases[0].check.wrong; }));
    CHECK(changed([](run_outcome& o) { o.cases[0].what.algo = abi::algorithm::direct; }));
    CHECK(changed([](run_outcome& o) { o.cases[0].repeats_ps.push_back(10); }));
    CHECK(changed([](run_outcome& o) { ++o.training_steps[0].communication_ps; }));
    CHECK(changed([](run_outcome& o) { ++o.training_steps[0].parts[0].start_ps; }));
    CHECK(changed([](run_outcome& o) { ++o.restarts[0].resumed_ps; }));
    CHECK(changed([](run_outcome& o) { o.failed_case = o.cases[0].what; }));
    // Texts and host times are no results.
    CHECK_FALSE(changed([](run_outcome& o) { o.warnings.emplace_back("a warning"); }));
    CHECK_FALSE(changed([](run_outcome& o) { ++o.host_seconds; }));
    // Data that nobody checked has no digest.
    run_outcome off = base;
    off.cases[0].checked = false;
    const std::uint64_t unchecked = digest_of(off, answers);
    ++off.cases[0].check.digest;
    CHECK(digest_of(off, answers) == unchecked);
}

TEST_CASE("run_outcome: answers count when a collective has failed")
{
    run_outcome o;
    std::vector<abi::response> answers(2);
    const std::uint64_t passed = digest_of(o, answers);
    answers[1].failed_step = 3;
    CHECK(digest_of(o, answers) == passed);
    o.failed_case = result_of(10).what;
    const std::uint64_t failed = digest_of(o, answers);
    CHECK(failed != passed);
    answers[1].failed_peer = 4;
    CHECK(digest_of(o, answers) != failed);
}
