// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The time of a case is the same alone, first, last, after itself and after any other case; repeats tell how far it hangs on
// when the ranks start.
#include "platforms/report/run_report.h"
#include "testbenches/support/machine_bench.h"

#include <algorithm>

namespace weft {

namespace {

using test::run_file;
using test::verdict;

/// What a case has to say, in the order of the run.
struct told {
    std::uint64_t time_ps, steps, messages, digest, wrong;
    bool operator==(const told& o) const
    {
        return time_ps == o.time_ps && steps == o.steps && messages == o.messages && digest == o.digest &&
               wrong == o.wrong;
    }
};

std::ostream& operator<<(std::ostream& out, const told& t)
{
    return out << t.time_ps << " ps, " << t.steps << " steps, " << t.messages << " messages, digest " << t.digest;
}

/// A run that completes.
verdict completed(const std::string& text)
{
    verdict v = run_file(text);
    INFO(v.failure);
    REQUIRE(v.failure == "");
    CHECK(v.unsound == "");
    return v;
}

std::string file_of(const std::string& head, const std::vector<std::string>& entries)
{
    return head + "workload:\n  - " + fmt::format("{}", fmt::join(entries, "\n  - ")) + "\n";
}

std::vector<told> cases_of(const std::string& head, const std::vector<std::string>& entries)
{
    std::vector<told> all;
    for (const case_result& r : completed(file_of(head, entries)).cases)
        all.push_back({r.time_ps, r.steps, r.messages, r.check.digest, r.check.wrong});
    return all;
}

/// Every entry alone; then all of them, backwards, and the first one three times more.
void check_independence(const std::string& head, const std::vector<std::string>& entries)
{
    INFO(head);
    std::vector<told> alone;
    for (const std::string& e : entries) {
        const std::vector<told> one = cases_of(head, {e});
        REQUIRE(one.size() == 1);
        alone.push_back(one[0]);
    }
    std::vector<std::string> order = entries;
    std::vector<told> expected = alone;
    order.insert(order.end(), entries.rbegin(), entries.rend());
    expected.insert(expected.end(), alone.rbegin(), alone.rend());
    for (int again = 0; again < 3; ++again) {
        order.push_back(entries.front());
        expected.push_back(alone.front());
    }
    const std::vector<told> together = cases_of(head, order);
    REQUIRE(together.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO("case " << i << ": " << order[i]);
        CHECK(together[i] == expected[i]);
        CHECK(together[i].wrong == 0);
    }
}

const std::vector<std::string> k_mesh_cases{
    "{op: all_reduce, algorithms: [ring_1d], sizes: [40000 B]}",
    "{op: all_reduce, algorithms: [two_d], sizes: [100000 B]}",
    "{op: all_reduce, algorithms: [row_pair], sizes: [4000 B]}",
    "{op: broadcast, algorithms: [mesh_tree], sizes: [20000 B], root: 5}",
    "{op: all_to_all, sizes: [64 KiB]}",
    "{op: reduce_scatter, sizes: [10000 B]}",
    "{op: all_gather, sizes: [30000 B]}",
};
const char* const k_mesh = "platform: tpu_v3\nname: t\nmesh: {rows: 4, cols: 4}\n";

const std::vector<std::string> k_rack_cases{
    "{op: all_reduce, algorithms: [switchml], sizes: [40000 B]}",
    "{op: all_reduce, algorithms: [switchml], sizes: [5000 B]}",
    "{op: all_reduce, algorithms: [ring_1d], sizes: [40000 B]}",
    "{op: all_reduce, algorithms: [halving_doubling], sizes: [40000 B]}",
    "{op: all_reduce, algorithms: [parameter_server], sizes: [40000 B]}",
    "{op: all_reduce, algorithms: [switchml], types: [float32], sizes: [30000 B]}",
};
std::string rack(const char* network, const char* job)
{
    return fmt::format("platform: switchml\nname: t\nworkers: 4\nworker: {{cores: 2, nic: {{queues: 2}}}}\n"
                       "network: {{rate: 10 Gbps{}}}\njob: {{slots: 32{}}}\n",
                       network, job);
}

const std::vector<std::string> k_board_cases{
    "{op: all_reduce, algorithms: [hierarchical], sizes: [64 KiB]}",
    "{op: all_to_all, sizes: [64 KiB]}",
    "{op: all_reduce, algorithms: [direct], sizes: [64 KiB]}",
    "{op: all_reduce, algorithms: [two_d], sizes: [30000 B]}",
    "{op: all_reduce, algorithms: [ring_1d], sizes: [50000 B]}",
    "{op: broadcast, sizes: [20000 B]}",
    "{op: reduce_scatter, sizes: [30000 B]}",
};
std::string boards(const char* ub)
{
    return fmt::format("platform: ub_mesh\nname: t\nmesh: {{boards: 2, npus: 4}}\nub: {{{}}}\n", ub);
}

} // namespace

TEST_CASE("the time of a case does not depend on what ran before: tpu_v3")
{
    check_independence(k_mesh, k_mesh_cases);
    check_independence(std::string(k_mesh) + "burst: 4 packets\n", k_mesh_cases);
}

TEST_CASE("the time of a case does not depend on what ran before: tpu_v3 around failed chips")
{
    check_independence("platform: tpu_v3\nname: t\nmesh: {rows: 6, cols: 4}\nfaults: {regions: [{row: 2, col: 2}]}\n",
                       {"{op: all_reduce, algorithms: [row_pair], sizes: [50000 B]}",
                        "{op: broadcast, algorithms: [mesh_tree], sizes: [20000 B]}",
                        "{op: all_to_all, sizes: [40000 B]}"});
}

TEST_CASE("the time of a case does not depend on what ran before: tpu_v3 on rv64 cores")
{
    check_independence(std::string(k_mesh) + "chip: {core: {model: rv64}}\n",
                       {k_mesh_cases.begin(), k_mesh_cases.begin() + 4});
}

TEST_CASE("the time of a case does not depend on what ran before: switchml over UDP")
{
    check_independence(rack("", ""), k_rack_cases);
}

TEST_CASE("the time of a case does not depend on what ran before: switchml over RDMA")
{
    check_independence(rack("", ", transport: rdma"), k_rack_cases);
}

TEST_CASE("the time of a case does not depend on what ran before: switchml with losses")
{
    check_independence(
        rack(", cable: {impairments: {loss: 0.01, reordering: 0.01, duplication: 0.01}}", ", timeout: 100 us"),
        k_rack_cases);
    check_independence(rack("", ", timeout: 100 us") + "switch: {ingress_drop: 0.01, egress_drop: 0.01}\n",
                       k_rack_cases);
}

TEST_CASE("the time of a case does not depend on what ran before: switchml on rv64 cores and without loss recovery")
{
    check_independence(
        "platform: switchml\nname: t\nworkers: 2\nworker: {cores: 2, core: {model: rv64}, nic: {queues: 2}}\n"
        "job: {slots: 16}\n",
        {k_rack_cases[0], k_rack_cases[2]});
    check_independence(rack("", ""), {"{op: all_reduce, algorithms: [switchml_lossless], sizes: [40000 B]}",
                                      "{op: all_reduce, algorithms: [switchml_lossless], sizes: [4000 B]}"});
}

TEST_CASE("the time of a case does not depend on what ran before: ub_mesh by packet and by flow")
{
    check_independence(boards("spreading: packet"), k_board_cases);
    check_independence(boards("spreading: flow"), k_board_cases);
    check_independence("burst: 4 packets\n" + boards("spreading: packet"), k_board_cases);
}

TEST_CASE(
    "the time of a case does not depend on what ran before: ub_mesh with weighted and adaptive choice of all paths")
{
    check_independence(boards("spreading: packet, paths: all, choice: adaptive"), k_board_cases);
    check_independence(boards("spreading: packet, paths: all, choice: weighted"), k_board_cases);
}

TEST_CASE("the time of a case does not depend on what ran before: ub_mesh with rtp and bit errors")
{
    check_independence(boards("spreading: packet, transport: rtp"), k_board_cases);
    check_independence(boards("spreading: packet, transport: rtp, bit_error_rate: 1e-7"), k_board_cases);
}

TEST_CASE("continuous cases find what the case before has left")
{
    const std::string head = boards("spreading: packet");
    const std::string continuous = head + "cases: continuous\n";
    const std::vector<told> alone = cases_of(continuous, {k_board_cases[1]});
    const std::vector<told> after = cases_of(continuous, {k_board_cases[0], k_board_cases[1]});
    CHECK(after[1].time_ps != alone[0].time_ps);
    CHECK(cases_of(head, {k_board_cases[1]})[0] == alone[0]);
}

TEST_CASE("a training step takes the time that it takes without cases before it")
{
    const std::string step =
        "training_step:\n  steps: 2\n  compute: 50 us\n  groups: [{bytes: 40000 B}, {bytes: 9000 B}]\n";
    const auto times = [&](const std::string& text) {
        std::vector<std::uint64_t> all;
        for (const training_step_result& s : completed(text).training_steps)
            all.push_back(s.time_ps);
        return all;
    };
    const std::vector<std::uint64_t> alone = times(k_mesh + step);
    REQUIRE(alone.size() == 2);
    CHECK(times(file_of(k_mesh + step, {k_mesh_cases[1], k_mesh_cases[4]})) == alone);
}

TEST_CASE("repeats begin with the plain case and give mean and spread over seeded starts")
{
    const std::string entry = "{op: all_reduce, algorithms: [ring_1d], sizes: [64 KiB]";
    const auto times_of = [&](const std::string& head, const std::string& more) {
        const verdict v = completed(file_of(head, {k_board_cases[1], entry + more + "}"}));
        const case_result& r = v.cases.at(1);
        std::vector<std::uint64_t> all{r.time_ps, r.check.wrong, v.digest};
        all.insert(all.end(), r.repeats_ps.begin(), r.repeats_ps.end());
        return all;
    };
    const std::string head = boards("spreading: packet");
    const std::vector<std::uint64_t> once = times_of(head, "");
    const std::vector<std::uint64_t> six = times_of(head, ", repeats: 6");
    REQUIRE(once.size() == 3);
    REQUIRE(six.size() == 3 + 6);
    CHECK(six[1] == 0);
    CHECK(six[3] == once[0]);
    std::uint64_t sum = 0;
    for (std::size_t i = 3; i < six.size(); ++i)
        sum += six[i];
    CHECK(six[0] == (sum + 3) / 6);
    const time_spread spread = spread_of({six.begin() + 3, six.end()});
    CHECK(spread.least_ps < spread.most_ps);
    CHECK(spread.deviation_ps > 0);
    CHECK(times_of(head, ", repeats: 6") == six);
    CHECK(times_of(head + "seed: 2\n", ", repeats: 6")[3] == six[3]); // the plain case draws nothing
    CHECK(times_of(head + "seed: 2\n", ", repeats: 6") != six);
    // Without anything random and without skew all repeats are the same.
    const std::vector<std::uint64_t> still = times_of(head, ", repeats: 3, start_skew: 0 ps");
    CHECK(std::vector<std::uint64_t>(still.begin() + 3, still.end()) == std::vector<std::uint64_t>(3, once[0]));
}

TEST_CASE("repeats draw other losses")
{
    const std::string lossy = rack(", cable: {impairments: {loss: 0.02}}", ", timeout: 100 us");
    const std::vector<std::uint64_t> times =
        completed(file_of(lossy, {"{op: all_reduce, algorithms: [switchml], sizes: [40000 B], repeats: 4, "
                                  "start_skew: 0 ps}"}))
            .cases.at(0)
            .repeats_ps;
    REQUIRE(times.size() == 4);
    CHECK(std::count(times.begin(), times.end(), times[0]) < 4);
}

TEST_CASE("the spread of times is that of the sample")
{
    const time_spread s = spread_of({4'000'000, 2'000'000, 6'000'000});
    CHECK(s.least_ps == 2'000'000);
    CHECK(s.most_ps == 6'000'000);
    CHECK(s.deviation_ps == 2'000'000); // squares 4 + 4 over n - 1
    CHECK(spread_of({5}).deviation_ps == 0);
}

} // namespace weft
