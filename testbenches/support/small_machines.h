// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Small machines of all platforms for the bench (machine_bench.h), and what only one of them tells of a run.
#pragma once

#include "platforms/switchml/switchml.h"
#include "platforms/tpu_v3/tpu_v3.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "testbenches/support/machine_bench.h"

namespace weft::test {

/// The machine that a configuration makes; look(), what it tells beside its statistics; check(), what holds after
/// every exact run.
template <class Config> struct machine_kind;

template <> struct machine_kind<tpu_v3_config> {
    using type = tpu_v3;
    static void look(const tpu_v3_config&, tpu_v3&, verdict&) {}
    static void check(const tpu_v3_config&, const verdict&) {}
};

template <> struct machine_kind<switchml_config> {
    using type = switchml_machine;
    static void look(const switchml_config& config, switchml_machine& m, verdict& v);
    static void check(const switchml_config&, const verdict&) {}
};

template <> struct machine_kind<ub_mesh_config> {
    using type = ub_machine;
    /// "wire_bits": of the links; "separated": pairs of NPUs that live, one of which cannot reach the other;
    /// "failed_npu_packets": over links of NPUs that have failed, since they have; "spare_packets": sent by spare NPUs.
    static void look(const ub_mesh_config& config, ub_machine& m, verdict& v);
    static void check(const ub_mesh_config& config, const verdict& v); ///< every packet is delivered once
};

/// The file of a configuration, all values in it.
std::string file_of(const tpu_v3_config& config);
std::string file_of(const switchml_config& config);
std::string file_of(const ub_mesh_config& config);

template <class Config> using machine_of = typename machine_kind<Config>::type;
template <class Config> using prepare_of = std::function<void(machine_of<Config>&)>;
template <class Config> using probe_of = std::function<void(machine_of<Config>&, json&)>;

/// One run, whatever comes of it. `prepare` sees the machine before time starts, `probe` after it has ended; `probe`
/// fills verdict::more.
template <class Config>
verdict run(const Config& config, const prepare_of<Config>& prepare = {}, const probe_of<Config>& probe = {},
            bool proof = false)
{
    run_hooks hooks;
    hooks.proof = proof;
    if (prepare)
        hooks.prepare = [&](machine& m) { prepare(dynamic_cast<machine_of<Config>&>(m)); };
    hooks.look = [&](machine& m, verdict& v) {
        auto& mine = dynamic_cast<machine_of<Config>&>(m);
        machine_kind<Config>::look(config, mine, v);
        if (probe)
            probe(mine, v.more);
    };
    return run_file(file_of(config), {}, hooks);
}

/// A run that must give every answer, exact or within its bound, and leave nothing behind.
template <class Config>
verdict run_exact(const Config& config, const prepare_of<Config>& prepare = {}, const probe_of<Config>& probe = {})
{
    verdict v = run(config, prepare, probe);
    check_exact(v, config.run);
    INFO(v.failure);
    machine_kind<Config>::check(config, v);
    return v;
}

// --- TPU-v3
inline tpu_v3_config pod(std::uint32_t rows, std::uint32_t cols)
{
    tpu_v3_config config;
    config.run.name = "test";
    config.mesh.rows = rows;
    config.mesh.cols = cols;
    return config;
}

/// Every collective and scheme of a mesh, on the given sizes in bytes.
std::vector<collective_spec> everything(const std::vector<std::uint64_t>& bytes);

// --- SwitchML
/// A small rack: little memory, few slots, 10 Gb/s unless a test says otherwise.
inline switchml_config rack(std::uint32_t workers, std::uint32_t cores = 1)
{
    switchml_config config;
    config.run.name = "test";
    config.workers = workers;
    config.worker.cores = cores;
    config.worker.nic.queues = cores;
    config.worker.hbm.capacity = data_size(64 << 20);
    config.network.rate = bandwidth(10'000'000'000);
    config.job.slots = 16;
    // Formulas know neither large batches nor a hold; issues/switchml_hosts_test has both.
    config.worker.packet_batch = packet_count(4);
    config.worker.transmit_hold = duration(0);
    return config;
}

inline collective_spec switched(const std::vector<std::uint64_t>& bytes)
{
    return all_reduce({abi::algorithm::switchml}, bytes, {abi::element_type::int32, abi::element_type::float32});
}

/// Everything wrong with the file, warnings left out, a line each.
template <class Config> std::string errors_of(const Config& config) { return errors_of_file(file_of(config)); }

/// All that this build has.
std::vector<aggregator_kind> aggregator_settings();

/// Does something to one frame of a cable.
class nth_frame final : public ethernet_fault_if {
public:
    nth_frame(std::uint32_t from, std::uint64_t number, ethernet_verdict verdict)
        : from_(from), number_(number), verdict_(verdict)
    {
    }
    ethernet_verdict on_frame(std::uint32_t from, std::uint64_t number, std::uint64_t, const packet&) override
    {
        return from == from_ && number == number_ ? verdict_ : ethernet_verdict{};
    }

private:
    std::uint32_t from_;
    std::uint64_t number_;
    ethernet_verdict verdict_;
};

// --- UB-Mesh
inline ub_mesh_config ub_machine_of(std::uint32_t boards, std::uint32_t npus, bool backplane = true)
{
    ub_mesh_config config;
    config.run.name = "test";
    config.run.firmware_timeout = duration(2 * k_ms);
    config.mesh.boards = boards;
    config.mesh.npus = npus;
    config.mesh.backplane = backplane;
    return config;
}
inline ub_mesh_config ub_board(std::uint32_t npus = 8) { return ub_machine_of(1, npus, false); }
inline ub_mesh_config ub_rack() { return ub_machine_of(8, 8); }
inline ub_mesh_config ub_racks(std::uint32_t rows, std::uint32_t cols, std::uint32_t boards, std::uint32_t npus)
{
    ub_mesh_config config = ub_machine_of(boards, npus);
    config.mesh.rack_rows = rows;
    config.mesh.rack_cols = cols;
    return config;
}

/// Names of everything but NPUs that do their work: LRS, HRS, CPUs, NICs, and spares.
inline std::vector<std::string> devices_of(const ub_mesh_config& config)
{
    std::vector<std::string> all;
    const ub_topology topology(config.mesh, config.cables);
    for (const ub_router_plan& r : topology.plan().routers)
        if (r.name.rfind("npu(", 0) != 0)
            all.push_back(r.name);
    return all;
}

inline ub_link_fault_config link_fault(const char* from, const char* to, std::uint64_t at_ps)
{
    ub_link_fault_config f;
    f.from = from;
    f.to = to;
    f.at = duration(at_ps);
    return f;
}
inline ub_npu_fault_config npu_fault(const char* npu, std::uint64_t at_ps)
{
    ub_npu_fault_config f;
    f.npu = npu;
    f.at = duration(at_ps);
    return f;
}

} // namespace weft::test
