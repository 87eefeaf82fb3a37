// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The worker firmware of SwitchML on both kinds of cores: the same answers, and the cost table (firmware/costs.h) against the
// counters of RV64 cores.
#include "hw/core/iss.h"
#include "testbenches/support/small_machines.h"

#include <cstdio>

using namespace weft;
using namespace weft::test;

namespace {

struct worker_case {
    const char* name;
    abi::switchml::transport protocol;
    abi::element_type type;
    std::uint64_t bytes;
    std::uint32_t elements_per_packet = 256;
    std::uint32_t packets_per_message = 4;
};

struct run_record {
    std::uint64_t instructions = 0; ///< of all cores
    std::uint64_t digest = 0;       ///< of the last answer
};

switchml_config config_of(const worker_case& c, core_model model, std::size_t times)
{
    switchml_config config;
    config.run.name = "test";
    config.workers = 2;
    config.worker.cores = 2;
    config.worker.core.model = model;
    config.worker.core.cpi = 0.05; // both kinds of cores meet packets in the same order
    config.job.slots = 64;
    config.job.transport = c.protocol;
    config.job.elements_per_packet = c.elements_per_packet;
    config.job.packets_per_message = c.packets_per_message;
    config.run.workload = {
        all_reduce({abi::algorithm::switchml}, std::vector<std::uint64_t>(times, c.bytes), {c.type})};
    config.run.cases = case_start::continuous; // cores boot once
    return config;
}

/// Instructions of one command on all cores: those of three runs less those of one, so that booting does not count.
run_record one_command(const worker_case& c, core_model model)
{
    const std::uint64_t once = run_exact(config_of(c, model, 1)).stat("core.instructions");
    const verdict thrice = run_exact(config_of(c, model, 3));
    return {(thrice.stat("core.instructions") - once) / 2, thrice.answers().back()};
}

} // namespace

TEST_CASE("SwitchML workers: native cores charge the instructions that rv64 cores execute")
{
    if (*iss_engine_name() == '\0')
        return; // a build without an engine
    using abi::element_type;
    using abi::switchml::transport;
    constexpr double k_tolerance = 0.03;
    const worker_case cases[] = {
        {"udp int32 4 B", transport::udp, element_type::int32, 4},
        {"udp int32 32 KiB", transport::udp, element_type::int32, 32 << 10},
        {"udp int32 32 KiB by 64", transport::udp, element_type::int32, 32 << 10, 64},
        {"udp float32 4 B", transport::udp, element_type::float32, 4},
        {"udp float32 32 KiB", transport::udp, element_type::float32, 32 << 10},
        {"udp float32 32 KiB by 64", transport::udp, element_type::float32, 32 << 10, 64},
        {"rdma int32 4 B", transport::rdma, element_type::int32, 4},
        {"rdma int32 100 KiB", transport::rdma, element_type::int32, 100 << 10},
        {"rdma float32 4 B", transport::rdma, element_type::float32, 4},
        {"rdma float32 100 KiB", transport::rdma, element_type::float32, 100 << 10},
        {"rdma float32 100 KiB, messages of 1", transport::rdma, element_type::float32, 100 << 10, 256, 1}};
    for (const worker_case& c : cases) {
        const run_record native = one_command(c, core_model::native);
        const run_record rv64 = one_command(c, core_model::rv64);
        const auto charged = static_cast<double>(native.instructions);
        const auto executed = static_cast<double>(rv64.instructions);
        std::printf("%-36s charged %8.0f, executed %8.0f: %+.1f %%\n", c.name, charged, executed,
                    100 * (charged / executed - 1));
        INFO(c.name << ": charged " << charged << ", executed " << executed);
        CHECK(rv64.instructions != 0);
        CHECK(native.digest == rv64.digest);
        CHECK(native.digest != 0);
        CHECK(charged == Approx(executed).epsilon(k_tolerance));
    }
}
