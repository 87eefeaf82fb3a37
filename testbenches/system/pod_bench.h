// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds a TPU pod in this process and runs one workload on it. One test case is one process, so one pod per test case.
#pragma once

#include "platforms/tpu_v3/tpu_v3.h"
#include "platforms/workload/collective_runner.h"

#include <catch2/catch.hpp>

namespace weft::test {

inline tpu_v3_config pod(std::uint32_t rows, std::uint32_t cols)
{
    tpu_v3_config config;
    config.run.name = "test";
    config.mesh.rows = rows;
    config.mesh.cols = cols;
    return config;
}

inline collective_spec spec(abi::collective_op op, std::vector<abi::algorithm> algorithms,
                            std::vector<std::uint64_t> bytes)
{
    collective_spec s;
    s.op = op;
    s.algorithms = std::move(algorithms);
    for (const std::uint64_t b : bytes)
        s.sizes.emplace_back(b);
    return s;
}

/// Every collective and scheme, on the given sizes in bytes.
inline std::vector<collective_spec> everything(const std::vector<std::uint64_t>& bytes)
{
    using abi::algorithm;
    using abi::collective_op;
    return {spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::two_d, algorithm::row_pair}, bytes),
            spec(collective_op::reduce_scatter, {algorithm::ring_1d}, bytes),
            spec(collective_op::all_gather, {algorithm::ring_1d}, bytes),
            spec(collective_op::broadcast, {algorithm::mesh_tree}, bytes),
            spec(collective_op::all_to_all, {algorithm::direct}, bytes)};
}

/// Runs and checks what must hold after every run: configuration sound, all answers right, all credits and packets back.
inline run_outcome run(const tpu_v3_config& config)
{
    for (const config_problem& p : config.validate()) {
        INFO(p.key << ": " << p.message);
        REQUIRE(p.level == severity::warning);
    }
    tpu_v3 machine(config);
    collective_runner runner("host", machine, config.run, nullptr);
    run_outcome outcome = runner.run();
    INFO(outcome.failure);
    REQUIRE(outcome.failure.empty());
    std::size_t cases = 0;
    for (const collective_spec& s : config.run.workload)
        cases += s.cases().size();
    CHECK(outcome.cases.size() == cases);
    for (const case_result& r : outcome.cases) {
        INFO(name_of(r.what.op) << " " << name_of(r.what.algo) << " " << name_of(r.what.type) << " "
                                << r.what.size_bytes << " B");
        CHECK(r.checked == (config.run.data == data_mode::checked));
        CHECK(r.check.wrong == 0);
    }
    CHECK(machine.ici().engine().audit() == "");
    CHECK(machine.ici().engine().packets_inside() == 0);
    CHECK(machine.pool().leak_report() == "");
    return outcome;
}

} // namespace weft::test
