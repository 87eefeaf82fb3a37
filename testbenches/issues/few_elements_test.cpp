// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives of few elements: a rank whose shard is empty costs nothing, so that time does not fall when the size doubles.
#include "firmware/collectives/full_mesh.h"
#include "hw/core/iss.h"
#include "testbenches/support/small_machines.h"

#include <map>
#include <tuple>

using namespace weft;
using namespace weft::test;

namespace {

/// From one element to some of every rank, and on.
std::vector<std::uint64_t> doubled(std::uint64_t from, std::uint64_t to)
{
    std::vector<std::uint64_t> all;
    for (std::uint64_t bytes = from; bytes <= to; bytes *= 2)
        all.push_back(bytes);
    return all;
}

/// What may fall all the same, as part of the time before: with messages in one direction of a ring only, or one at a time, chips
/// wake up in another rhythm than with more. The worst seen are 8.5 %, all_reduce of few elements on two UB boards (the
/// tests of the rhythm below), and 8.4 % of 8 and 16 B there. All-to-all on a board whose ranks do not divide the elements takes a second
/// descriptor: 10.2 %, of 128 B, which has it, and 256 B, which has not.
constexpr double k_rhythm = 0.105;

void check_times(const std::vector<collective_spec>& workload, const std::vector<std::uint64_t>& times_ps)
{
    std::vector<collective_case> cases;
    for (const collective_spec& s : workload)
        for (const collective_case& c : s.cases())
            cases.push_back(c);
    REQUIRE(times_ps.size() == cases.size());
    std::map<std::tuple<abi::collective_op, abi::algorithm>, std::pair<std::uint64_t, std::uint64_t>> before;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const collective_case& c = cases[i];
        auto& [bytes, time_ps] = before[{c.op, c.algo}];
        INFO(name_of(c.op) << " " << name_of(c.algo) << ": " << bytes << " B in " << time_ps / 1000 << " ns, "
                           << c.size_bytes << " B in " << times_ps[i] / 1000 << " ns");
        if (bytes != 0) {
            CHECK((c.size_bytes == 2 * bytes || abi::moves_tokens(c.op))); // which are rounded to whole tokens
            CHECK(static_cast<double>(times_ps[i]) >= (1 - k_rhythm) * static_cast<double>(time_ps));
            ++compared;
        }
        bytes = c.size_bytes;
        time_ps = times_ps[i];
    }
    CHECK(compared != 0);
}

void check_pod(tpu_v3_config config, core_model model, std::vector<collective_spec> workload)
{
    if (model == core_model::rv64 && *iss_engine_name() == '\0')
        return;
    config.chip.core.model = model;
    config.run.workload = std::move(workload);
    check_times(config.run.workload, run_exact(config).times());
}

std::vector<collective_spec> halves_by_ring(const std::vector<std::uint64_t>& bytes)
{
    return {spec(abi::collective_op::reduce_scatter, {abi::algorithm::ring_1d}, bytes),
            spec(abi::collective_op::all_gather, {abi::algorithm::ring_1d}, bytes)};
}

} // namespace

TEST_CASE("few elements on a tpu mesh of 4x4: time does not fall when the size doubles")
{
    check_pod(pod(4, 4), core_model::native, everything(doubled(4, 4096)));
}

TEST_CASE("few elements on a tpu mesh of 4x4 with rv64 cores: time does not fall when the size doubles")
{
    check_pod(pod(4, 4), core_model::rv64, everything(doubled(4, 1024)));
}

TEST_CASE("few elements on a tpu mesh of 8x8: time does not fall when the size doubles")
{
    check_pod(pod(8, 8), core_model::native, halves_by_ring(doubled(4, 2048)));
}

TEST_CASE("few elements on a tpu mesh of 6x2 by its columns: time does not fall when the size doubles")
{
    std::vector<collective_spec> workload = halves_by_ring(doubled(4, 512));
    for (collective_spec& s : workload)
        s.transposed = true;
    check_pod(pod(6, 2), core_model::native, workload);
}

TEST_CASE("few elements around failed chips: time does not fall when the size doubles")
{
    using abi::algorithm;
    tpu_v3_config config = pod(8, 8);
    failed_region_config host;
    host.row = host.col = 2;
    host.cols = 4;
    config.faults.regions = {host};
    const std::vector<std::uint64_t> bytes = doubled(4, 2048);
    std::vector<collective_spec> workload = halves_by_ring(bytes);
    workload.push_back(all_reduce({algorithm::ring_1d, algorithm::row_pair, algorithm::row_pair_forward}, bytes));
    check_pod(config, core_model::native, workload);
    check_pod(config, core_model::rv64, {all_reduce({algorithm::ring_1d}, doubled(4, 128))});
}

TEST_CASE("few elements on a ub board and a mesh of boards: time does not fall when the size doubles")
{
    for (ub_mesh_config config : {ub_board(), ub_machine_of(3, 4)}) {
        config.run.workload = all_that_runs(config, doubled(4, 1024));
        check_times(config.run.workload, run_exact(config).times());
    }
}

TEST_CASE("larger messages on ub boards: time does not fall when the size doubles")
{
    ub_mesh_config two_by_five = ub_machine_of(2, 5), board_of_five = ub_board(5);
    for (ub_mesh_config config : {ub_board(), two_by_five, ub_machine_of(5, 2), board_of_five}) {
        config.run.data = data_mode::off;
        config.run.workload = all_that_runs(config, doubled(64, 1 << 20));
        check_times(config.run.workload, run_exact(config).times());
    }
}

namespace {

struct rhythm {
    std::uint64_t time_ps = 0, wakeups = 0; ///< of all cores
};

rhythm rhythm_of(ub_mesh_config config, collective_spec spec)
{
    config.run.data = data_mode::off;
    config.run.workload = {std::move(spec)};
    const verdict v = run_exact(config);
    return {v.time(), v.stat("core.wakeups")};
}

} // namespace

// Longer messages begin to take detours, and one core serves both directions: the time may fall a little where the size doubles.
TEST_CASE("a ring on a ub board falls by no more than 3 % from one size to the next")
{
    const auto ring = [](std::uint64_t bytes) {
        return spec(abi::collective_op::all_reduce, {abi::algorithm::ring_1d}, {bytes});
    };
    std::uint64_t before_ps = 0;
    for (const std::uint64_t kib : {32u, 64u, 128u, 192u, 256u, 384u, 512u}) {
        INFO(kib << " KiB");
        const std::uint64_t time_ps = rhythm_of(ub_board(), ring(kib << 10)).time_ps;
        CHECK(static_cast<double>(time_ps) > 0.97 * static_cast<double>(before_ps));
        before_ps = time_ps;
    }
}

// 16 elements leave some of ten ranks without a shard, 32 none: rings with gaps have messages in one direction at a time. And each message
// takes the next of its paths in turn, so that others of them are detours.
TEST_CASE(
    "few elements on two boards of five fall by the rhythm of cores and by turns among paths and by no more than 2 % without")
{
    const auto rings = [](std::uint64_t bytes) {
        return spec(abi::collective_op::all_reduce, {abi::algorithm::hierarchical}, {bytes});
    };
    const auto ratio = [&](ub_mesh_config config) {
        return static_cast<double>(rhythm_of(config, rings(128)).time_ps) /
               static_cast<double>(rhythm_of(config, rings(64)).time_ps);
    };
    ub_mesh_config config = ub_machine_of(2, 5);
    const double usual = ratio(config);
    config.npu.core.clock = frequency(100'000'000'000);
    config.ub.paths = ub_path_use::shortest;
    const double neither = ratio(config);
    fmt::print("hierarchical on 2x5, 128 B against 64 B: {:.3f}; with neither slow cores nor several paths {:.3f}\n",
               usual, neither);
    CHECK(usual > 1 - k_rhythm);
    CHECK(usual < neither);
    CHECK(neither > 0.98);
}

TEST_CASE("few elements on ub boards with rv64 cores: time does not fall when the size doubles")
{
    if (*iss_engine_name() == '\0')
        return;
    ub_mesh_config config = ub_board();
    config.npu.core.model = core_model::rv64;
    config.run.workload = all_that_runs(config, doubled(4, 256));
    check_times(config.run.workload, run_exact(config).times());
}

TEST_CASE("few elements below a switch: time does not fall when the size doubles")
{
    for (const core_model model : {core_model::native, core_model::rv64}) {
        if (model == core_model::rv64 && *iss_engine_name() == '\0')
            continue;
        switchml_config config = rack(8);
        config.worker.core.model = model;
        config.run.workload = {all_reduce({abi::algorithm::switchml, abi::algorithm::ring_1d,
                                           abi::algorithm::halving_doubling, abi::algorithm::parameter_server},
                                          doubled(4, 1024))};
        check_times(config.run.workload, run_exact(config).times());
    }
}

TEST_CASE("few elements over RDMA: a short message takes no longer than a whole one and its copies")
{
    // The core copies a short message to a place of its own and back, 1 KiB at a time: an access to memory of 30 ns and 1024 B at
    // 8 B a cycle on either side, and 83 instructions. float32 is filled up with zeros, 16 such accesses at most.
    constexpr std::uint64_t k_message = 16 << 10, k_access_ps = 92'000, k_piece_ps = 20'000;
    const auto copies_ps = [&](std::uint64_t bytes, abi::element_type type) {
        const std::uint64_t pieces = bytes % k_message == 0 ? 0 : (bytes + 1023) / 1024;
        const std::uint64_t zeros = pieces == 0 || type == abi::element_type::int32 ? 0 : k_message / 1024 - pieces;
        return pieces * 2 * (2 * k_access_ps + k_piece_ps) + zeros * (k_access_ps + k_piece_ps);
    };
    const std::vector<std::uint64_t> sizes = doubled(4, 4 * k_message);
    for (const std::uint64_t gbps : {10u, 100u})
        for (const abi::element_type type : {abi::element_type::int32, abi::element_type::float32}) {
            switchml_config config = rack(8);
            config.network.rate = bandwidth(gbps * 1'000'000'000);
            config.job.transport = abi::switchml::transport::rdma;
            config.run.workload = {all_reduce({abi::algorithm::switchml}, sizes, {type})};
            const std::vector<std::uint64_t> times = run_exact(config).times();
            REQUIRE(times.size() == sizes.size());
            for (std::size_t i = 1; i < sizes.size(); ++i) {
                INFO(gbps << " Gb/s, " << name_of(type) << ": " << sizes[i - 1] << " B in " << times[i - 1] / 1000
                          << " ns, " << sizes[i] << " B in " << times[i] / 1000 << " ns");
                CHECK(times[i] + copies_ps(sizes[i - 1], type) >= times[i - 1]);
            }
        }
}

TEST_CASE("a rank finds the next shard that is not empty in one step and misses none")
{
    using namespace weft::firmware;
    const auto below = [](std::uint32_t size, std::uint32_t limit, std::uint32_t from, auto&& member) {
        while (member(from) >= limit)
            from = from == 0 ? size - 1 : from - 1;
        return from;
    };
    const auto check_mesh = [&](const firmware::mesh& m, ring_id id) {
        const std::uint32_t n = ring_size(m, id);
        for (std::uint32_t limit = 1; limit <= n; ++limit)
            for (std::uint32_t p = 0; p < n; ++p)
                if (ring_position_below(m, id, p, limit) !=
                    below(n, limit, p, [&](std::uint32_t at) { return ring_member(m, id, 0, at); }))
                    FAIL(m.rows << "x" << m.cols << " limit " << limit << " position " << p);
    };
    for (const bool reversed : {false, true}) {
        for (std::uint32_t rows = 2; rows <= 6; ++rows)
            for (std::uint32_t cols = 2; cols <= 6; ++cols)
                for (const bool transposed : {false, true}) {
                    firmware::mesh m;
                    m.rows = rows;
                    m.cols = cols;
                    if ((transposed ? cols : rows) % 2 == 0)
                        check_mesh(m, {ring_kind::hamiltonian, transposed, reversed});
                }
        firmware::mesh line;
        line.rows = 1;
        line.cols = 9;
        line.wrap_cols = true;
        check_mesh(line, {ring_kind::line, false, reversed});
        for (const std::vector<std::uint32_t>& dims : std::vector<std::vector<std::uint32_t>>{
                 {8, 8}, {3, 4}, {3, 3}, {2, 3, 4}, {3, 2, 5}, {5, 3, 3}, {3, 3, 2}, {2, 2, 2, 2}, {1, 4, 4}, {7, 2}}) {
            abi::platform_table t;
            t.dim_count = 0;
            t.ranks = 1;
            for (const std::uint32_t side : dims) {
                t.kind[t.dim_count] = abi::dimension_kind::full;
                t.dims[t.dim_count++] = side;
                t.ranks *= side;
            }
            const ring_id id{ring_kind::whole, false, reversed};
            for (std::uint32_t limit = 1; limit <= t.ranks; ++limit)
                for (std::uint32_t p = 0; p < t.ranks; ++p)
                    if (ring_position_below(t, id, p, limit) !=
                        below(t.ranks, limit, p, [&](std::uint32_t at) { return ring_member(t, id, at); }))
                        FAIL(dims.size() << " dimensions, limit " << limit << " position " << p);
        }
    }
    SUCCEED();
}
