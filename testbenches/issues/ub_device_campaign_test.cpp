// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A rack of UB-Mesh, and a pod with HRS, lose devices, one and two at a time: collectives stay exact, and are as fast behind the failure as with
// the same faults from the start. In the rack host traffic goes on meanwhile, and the last collectives are by CCUs.
#include "testbenches/issues/program.h"
#include "testbenches/support/small_machines.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

constexpr const char* k_rack = R"(platform: ub_mesh
name: rack
data: checked
mesh: {boards: 8, npus: 8}
npu: {ccu: {presence: always}}
ub: {transport: rtp, paths: all}
host:
  compare: false
  traffic:
    - {name: samples, direction: to_npus, rate: 1 GB/s, message: 64 KiB}
workload:
  - {op: all_reduce, algorithms: [multi_axis], sizes: [256 KiB]}
  - {op: all_to_all, algorithms: [direct], sizes: [256 KiB]}
  - {op: all_reduce, algorithms: [multi_axis], sizes: [256 KiB]}
  - {op: all_reduce, algorithms: [ccu_axes], sizes: [256 KiB]}
)";

/// Exact answers of a rack that loses `devices` while it runs, and the times of the last two collectives as with the same faults from the start.
void lose(const std::vector<std::string>& devices, std::mt19937& random)
{
    const weft::testing::program_folder folder;
    folder.write("rack.yaml", k_rack);
    const auto times = [&](bool later) {
        std::string faults;
        for (const std::string& d : devices)
            faults += fmt::format("{}{{device: \"{}\", at: {} ns}}", faults.empty() ? "" : ", ", d, later ? 1000 + random() % 40'000 : 0);
        const int code = folder.weft(fmt::format("run rack.yaml --quiet --out out --set 'faults.devices=[{}]'", faults));
        INFO(faults << "\n" << folder.read("stderr"));
        REQUIRE(code == 0);
        const json results = json::parse(folder.read("out/results.json")).at("results");
        std::vector<double> us;
        for (const json& r : results) {
            CHECK(r.at("wrong") == 0);
            us.push_back(r.at("time_us"));
        }
        REQUIRE(us.size() == 4);
        return us;
    };
    const std::vector<double> later = times(true), from_start = times(false);
    for (const std::size_t last : {2u, 3u}) {
        INFO(devices.front() << " and " << devices.size() - 1 << " more, collective " << last << ": " << later[last] << " us, " << from_start[last] << " us from the start");
        CHECK(later[last] < 1.03 * from_start[last]);
        CHECK(later[last] > 0.97 * from_start[last]);
    }
}

void lose_pairs(unsigned pairs)
{
    std::vector<std::string> devices = devices_of(ub_mesh_config{});
    std::mt19937 random(5);
    for (unsigned i = 0; i < pairs; ++i) {
        std::swap(devices[0], devices[random() % devices.size()]);
        std::swap(devices[1], devices[1 + random() % (devices.size() - 1)]);
        lose({devices[0], devices[1]}, random);
    }
}

} // namespace

TEST_CASE("one device of each kind fails in a rack of UB-Mesh and two pairs do")
{
    std::mt19937 random(3);
    for (const char* device : {"spare(p0,r0)", "cpu(p0,r0,1)", "nic(p0,r0,3)", "leaf(p0,r0,2.5)"})
        lose({device}, random);
    lose_pairs(2);
}

TEST_CASE("every device of a rack of UB-Mesh fails alone", "[slow]")
{
    std::mt19937 random(4);
    const std::vector<std::string> devices = devices_of(ub_mesh_config{});
    REQUIRE(devices.size() == 57); // 48 LRS, 4 CPUs, 4 NICs, a spare
    for (const std::string& d : devices)
        lose({d}, random);
}

TEST_CASE("devices of a rack of UB-Mesh fail in pairs", "[slow]") { lose_pairs(100); }

TEST_CASE("devices of a pod of UB-Mesh fail alone and in pairs", "[ub][slow]")
{
    ub_mesh_config config = ub_racks(2, 2, 4, 4);
    config.mesh.hrs = true;
    config.ub.transport = ub_transport::rtp;
    config.run.firmware_timeout = duration(20 * k_ms);
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::multi_axis}, std::vector<std::uint64_t>(4, 1 << 20))};
    run_exact(config);
    const std::vector<std::string> devices = devices_of(config);
    std::mt19937 random(11);
    for (unsigned i = 0; i < 60; ++i) {
        config.faults.devices.clear();
        std::string text;
        for (unsigned k = 0; k <= i % 2; ++k) {
            ub_device_fault_config f;
            f.device = devices[random() % devices.size()];
            f.at = duration(20 * k_us + random() % (40 * k_us));
            if (k == 0 || f.device != config.faults.devices[0].device)
                config.faults.devices.push_back(f);
            text += f.device + " ";
        }
        INFO(text);
        const verdict later = run_exact(config);
        for (ub_device_fault_config& f : config.faults.devices)
            f.at = duration(0);
        const verdict from_start = run_exact(config);
        const double ratio = static_cast<double>(later.times().back()) / static_cast<double>(from_start.times().back());
        CHECK(ratio < 1.03);
        CHECK(ratio > 0.97);
    }
}
