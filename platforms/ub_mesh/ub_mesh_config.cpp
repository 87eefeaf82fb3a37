// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the YAML of a UB-Mesh machine means: checks that need more than one section.
#include "firmware/collectives/supports.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/workload/workload_checks.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint32_t k_most_ranks = 8192;
constexpr std::uint64_t k_most_burst_bytes = 64ull << 20;
constexpr std::uint64_t k_longest_transmission_ps = 4'000'000'000; // the fabric holds it in 32 bits of picoseconds
constexpr std::uint64_t k_much_host_memory = 16ull << 30;

bool failed_from_the_start(const ub_faults_config& faults)
{
    return std::all_of(faults.npus.begin(), faults.npus.end(), [](const auto& f) { return f.at.value() == 0; });
}

bool exchanges_directly(const run_config& run)
{
    for (const collective_spec& spec : run.workload)
        for (const abi::algorithm a : spec.all_algorithms())
            if (a == abi::algorithm::direct)
                return true;
    return false;
}
} // namespace

std::vector<config_problem> ub_shape::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    if (!no_errors(p))
        return p;
    if (ranks() < 2)
        p.push_back({severity::error, "", "has one NPU; a machine needs at least two."});
    if (!backplane && racks() > 1)
        p.push_back(
            {severity::error, "backplane", "is false, but racks are connected by the LRS of their back-planes."});
    if (!hrs && pods > 1)
        p.push_back({severity::error, "hrs", "is false, but several pods are connected by HRS only; write hrs: true."});
    if (!backplane && hrs)
        p.push_back({severity::error, "hrs",
                     "is true, but HRS are connected to the LRS of back-planes; write backplane: true."});
    if (pod == ub_pod_kind::clos && !hrs)
        p.push_back({severity::error, "hrs", "is false, but pod: clos connects racks by HRS; write hrs: true."});
    return p;
}

std::vector<config_problem> ub_cables::validate() const { return limit_problems(*this); }

npu_memory_config::npu_memory_config()
{
    capacity = data_size(128ull << 30);
    rate = bandwidth(25'600'000'000'000);
}

npu_core_config::npu_core_config() { clock = frequency(1'000'000'000); }

std::vector<std::uint32_t> ub_mesh_config::positions() const
{
    const std::vector<std::uint32_t> failed = masked_npus(*this);
    std::vector<std::uint32_t> all;
    for (std::uint32_t n = 0; n < mesh.ranks(); ++n)
        if (std::find(failed.begin(), failed.end(), n) == failed.end())
            all.push_back(n);
    return all;
}

std::uint32_t ub_mesh_config::ranks() const
{
    return mesh.ranks() - static_cast<std::uint32_t>(masked_npus(*this).size());
}

abi::platform_table ub_mesh_config::table(std::uint32_t rank) const
{
    abi::platform_table t;
    t.rank = rank;
    t.ranks = ranks();
    const auto dimension = [&](std::uint32_t size, std::uint32_t coordinate) {
        if (size == 1)
            return;
        t.dims[t.dim_count] = size;
        t.coord[t.dim_count] = coordinate;
        t.wrap[t.dim_count] = abi::k_wrap_full;
        ++t.dim_count;
    };
    if (!groups.empty()) {
        const std::vector<std::uint32_t>& members = group_of(rank);
        t.rank = static_cast<std::uint32_t>(std::lower_bound(members.begin(), members.end(), rank) - members.begin());
        t.ranks = static_cast<std::uint32_t>(members.size());
        dimension(t.ranks, t.rank);
        return t;
    }
    if (t.ranks != mesh.ranks()) { // holes: no coordinates any more, but everybody reaches everybody
        dimension(t.ranks, rank);
        return t;
    }
    const std::uint32_t rack = rank / mesh.npus_per_rack() % mesh.racks_per_pod();
    dimension(mesh.pods, rank / mesh.npus_per_rack() / mesh.racks_per_pod());
    dimension(mesh.rack_rows, rack / mesh.rack_cols);
    dimension(mesh.rack_cols, rack % mesh.rack_cols);
    dimension(mesh.boards, rank / mesh.npus % mesh.boards);
    dimension(mesh.npus, rank % mesh.npus);
    return t;
}

const std::vector<std::uint32_t>& ub_mesh_config::group_of(std::uint32_t rank) const
{
    for (const std::vector<std::uint32_t>& members : groups)
        if (std::binary_search(members.begin(), members.end(), rank))
            return members;
    throw bug("ub_mesh", 0, fmt::format("rank {} is in no group", rank));
}

std::uint32_t ub_mesh_config::burst_cells() const
{
    return run.burst.value() == 1 ? 0 : static_cast<std::uint32_t>(2 * ub.format().cells(burst_payload()));
}

std::string ub_mesh_config::refusal_of(abi::collective_op op, abi::algorithm algo, bool transposed) const
{
    const char* reason = "";
    if (!firmware::supports(op, algo, table(0), transposed, &reason)) {
        const std::string where =
            ranks() == mesh.ranks() ? "here" : fmt::format("on the {} NPUs that are left", ranks());
        return fmt::format("{} by {} cannot run {}: {}.", name_of(op), name_of(algo), where, reason);
    }
    if (ranks() == mesh.ranks() || failed_from_the_start(faults))
        return {};
    ub_mesh_config before = *this; // a job that loses NPUs begins with all of them
    before.faults.npus.clear();
    return before.refusal_of(op, algo, transposed);
}

std::vector<config_problem> ub_mesh_config::validate() const
{
    std::vector<config_problem> p = run.validate();
    const bool runs = no_errors(p) && no_errors(ub.validate()) && no_errors(npu.validate()) &&
                      no_errors(npu.hbm.validate()) && no_errors(npu.dma.validate());
    // What a section itself refuses is not computed with.
    if (!no_errors(mesh.validate()) || !no_errors(cables.validate()))
        return p;
    std::vector<config_problem> found = shape_problems();
    if (no_errors(found) && no_errors(faults.validate()))
        check_faults(*this, found);
    const bool sound = no_errors(found) && no_errors(faults.validate());
    p.insert(p.end(), found.begin(), found.end());
    if (!sound || !runs)
        return p;
    check_workload(p);
    check_burst(p);
    return p;
}

std::vector<config_problem> ub_mesh_config::shape_problems() const
{
    std::vector<config_problem> p;
    if (mesh.ranks() > k_most_ranks)
        p.push_back(
            {severity::error, "mesh", fmt::format("has {} NPUs, must be at most {}.", mesh.ranks(), k_most_ranks)});
    for (const std::string& reason : ub_topology::problems(mesh))
        p.push_back({severity::error, "mesh", fmt::format("cannot be built: {}.", reason)});
    if (!no_errors(p))
        return p;
    for (const std::string& violation : ub_topology(mesh, cables).ledger().violations)
        p.push_back({severity::error, "mesh", fmt::format("has lanes that do not fit: {}.", violation)});
    return p;
}

void ub_mesh_config::check_workload(std::vector<config_problem>& p) const
{
    const chip_config chip = npu.chip();
    workload_ground ground;
    ground.ranks = ranks();
    ground.room_bytes = chip.buffer_bytes();
    ground.room_text = fmt::format("npu.hbm.capacity is {}, of which the descriptor rings take {}",
                                   to_string(chip.hbm.capacity), to_string(data_size(chip.ring_area_bytes())));
    ground.refusal = [this](abi::collective_op op, abi::algorithm algo, bool transposed) {
        return refusal_of(op, algo, transposed);
    };
    check_collectives(run, ground, p);
    if (run.training_step) {
        const std::string refusal =
            refusal_of(abi::collective_op::all_reduce, run.training_step->algorithm, run.training_step->transposed);
        if (!refusal.empty())
            p.push_back({severity::error, "training_step.algorithm", refusal});
        for (std::size_t i = 0; i < run.training_step->exchanges.size(); ++i)
            if (run.training_step->exchanges[i].ranks_per_group)
                p.push_back({severity::error, fmt::format("training_step.exchanges.{}.ranks_per_group", i),
                             "groups of NPUs do not exist here yet."});
    }
    check_host_memory(run, ranks(), "HBMs", k_much_host_memory, p);
}

void ub_mesh_config::check_burst(std::vector<config_problem>& p) const
{
    if (burst_payload() > k_most_burst_bytes) {
        p.push_back(
            {severity::error, "burst",
             fmt::format("is {} of ub.max_payload = {}, {} in one transaction; must be at most 64 MiB.",
                         to_string(run.burst), to_string(ub.max_payload), to_string(data_size(burst_payload())))});
        return;
    }
    if (run.burst.value() > 1 && (ub.paths != ub_path_use::shortest || exchanges_directly(run)))
        p.push_back(
            {severity::warning, "burst",
             fmt::format("is {}: a burst takes one path and one turn in every queue, so {} differ from those of single "
                         "packets by tens of per cent (docs/17_ub_mesh.md, section 7); {}",
                         to_string(run.burst),
                         ub.paths == ub_path_use::shortest ? "the times of direct exchanges"
                                                           : "times over several paths",
                         ub.paths == ub_path_use::shortest ? "write burst: 1 packet."
                                                           : "write burst: 1 packet, or ub.paths: shortest.")});
    const bandwidth slowest = ub.link_rate(1);
    const std::uint64_t transmission = wire_rate(slowest).time_ps(ub.format().wire_bytes(burst_payload()));
    if (transmission > k_longest_transmission_ps)
        p.push_back({severity::error, "burst",
                     fmt::format("is {}, which take {} on one lane of {}; must take at most 4 ms.",
                                 to_string(run.burst), rounded_text(duration(transmission)), to_string(slowest))});
}

} // namespace weft
