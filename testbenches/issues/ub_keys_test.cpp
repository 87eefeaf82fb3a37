// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys of UB-Mesh do what they say: buffers and slots have the size in the file, or a warning names the size in force.
#include "hw/ub/ub_link.h"
#include "testbenches/issues/program.h"
#include "testbenches/support/small_machines.h"

#include <functional>
#include <nlohmann/json.hpp>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;
using Catch::Matchers::Contains;
using weft::testing::program_folder;

namespace {

std::string warnings_about_burst(const ub_mesh_config& config)
{
    std::string text;
    for (const config_problem& p : config.validate())
        if (p.key == "burst")
            text += p.message + "\n";
    return text;
}

std::uint64_t one_packet_bytes(const ub_config& ub)
{
    const packet_format format = ub.format();
    return format.cells_of_one(format.max_payload_bytes) * format.cell_bytes();
}

ub_mesh_config exchange(std::uint32_t npus, std::uint64_t bytes)
{
    ub_mesh_config config = ub_board(npus);
    config.ub.paths = ub_path_use::shortest;
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {bytes})};
    return config;
}

} // namespace

TEST_CASE("a VL buffer of UB holds one packet where the file says so", "[ub]")
{
    ub_mesh_config config = exchange(4, 1 << 20);
    config.ub.buffers_cover_round_trip = false;
    config.ub.buffer_per_vl = data_size(one_packet_bytes(config.ub));
    const std::uint64_t cells = config.ub.format().cells_of_one(config.ub.max_payload.value());
    CHECK(ub_depth_cells(config.ub, 4, duration(5'000), ub_device::npu) == cells);
    // One packet in a round trip: its time over the wire, the arbitration behind it, and the credit back.
    const std::uint64_t one_ps = run_exact(config).time();
    config.ub.buffer_per_vl = data_size(2 * one_packet_bytes(config.ub));
    CHECK(ub_depth_cells(config.ub, 4, duration(5'000), ub_device::npu) == 2 * cells);
    const std::uint64_t two_ps = run_exact(config).time();
    fmt::print("buffers of one packet {:.1f} us, of two {:.1f} us\n", static_cast<double>(one_ps) / 1e6,
               static_cast<double>(two_ps) / 1e6);
    const std::uint64_t round_trip_ps = ub_round_trip_ps(config.ub, 4, config.cables.x, ub_device::npu);
    const std::uint64_t packets = (1 << 20) / 4 / config.ub.max_payload.value(); // to each of the others
    // Packets cut through, so each takes 0.87 of the round trip that buffers are sized for: the slope between 1 and 16 MiB.
    CHECK(one_ps > packets * round_trip_ps * 87 / 100);
    CHECK(one_ps < packets * round_trip_ps + 15 * k_us); // doorbells, tables, first way
    CHECK(static_cast<double>(two_ps) < 0.6 * static_cast<double>(one_ps));
}

TEST_CASE("buffers that throttle the links of UB are told with a bound that holds", "[ub]")
{
    ub_mesh_config config = exchange(4, 1 << 20);
    config.run.data = data_mode::off;
    const auto told = [&] {
        std::string text;
        for (const config_problem& p : config.validate())
            if (p.key == "ub.buffer_per_vl")
                text += p.message;
        return text;
    };
    config.ub.buffer_per_vl = data_size(one_packet_bytes(config.ub));
    CHECK(told().empty()); // raised
    config.ub.buffers_cover_round_trip = false;
    const double share = ub_reachable_share(config.ub, config.mesh.x_lanes, config.cables.x, ub_device::npu);
    CHECK(share < 0.1);
    CHECK_THAT(told(), Contains("buffers_cover_round_trip is false: a credit of the link from npu(p0,r0,b0,") &&
                           Contains(fmt::format("one VL reaches at most {:.3g} % of its rate", 100 * share)));
    const wire_rate rate(config.ub.link_rate(config.mesh.x_lanes));
    const auto busy_ps = static_cast<double>(256 * rate.time_ps(config.ub.format().wire_bytes(1024)));
    const auto time_ps = static_cast<double>(run_exact(config).time());
    CHECK(busy_ps / time_ps < share);
    CHECK(busy_ps / time_ps > 0.6 * share);
    config.ub.buffer_per_vl = data_size(64 << 10);
    CHECK(told().empty()); // covers it anyway
    config.ub.buffers_cover_round_trip = true;
    CHECK(told().empty());
}

TEST_CASE("a DMA engine reads one packet ahead where the file says so", "[ub]")
{
    ub_mesh_config config = exchange(2, 1 << 20);
    config.npu.dma.read_ahead = 1;
    const std::uint64_t one_ps = run_exact(config).time();
    config.npu.dma.read_ahead = 2;
    const std::uint64_t two_ps = run_exact(config).time();
    fmt::print("read ahead: one packet {:.1f} us, two {:.1f} us\n", static_cast<double>(one_ps) / 1e6,
               static_cast<double>(two_ps) / 1e6);
    // One message on one port: each packet is read when the one before has started.
    const std::uint64_t read_ps =
        config.npu.hbm.latency.value() + wire_rate(config.npu.hbm.rate).time_ps(config.ub.max_payload.value());
    const std::uint64_t packets = (1 << 20) / 2 / config.ub.max_payload.value();
    CHECK(one_ps > packets * read_ps);
    CHECK(one_ps < packets * read_ps + 10 * k_us);
    CHECK(static_cast<double>(two_ps) < 0.6 * static_cast<double>(one_ps));
}

TEST_CASE("the receive buffer of an NPU is counted in cells of UB", "[ub]")
{
    // Memory that takes one packet in 100 ns: what it has not taken waits in the receive buffer, or in the network.
    const auto time_of = [](std::uint64_t packets) {
        ub_mesh_config config = exchange(2, 256 << 10);
        config.npu.hbm.rate = bandwidth(2 * 82'000'000'000);
        config.npu.dma.receive_buffer = data_size(packets * one_packet_bytes(config.ub));
        return run_exact(config).time();
    };
    const std::uint64_t one_ps = time_of(1), four_ps = time_of(4), thirty_ps = time_of(30);
    fmt::print("receive buffers of one packet {:.2f} us, of four {:.2f} us, of thirty {:.2f} us\n",
               static_cast<double>(one_ps) / 1e6, static_cast<double>(four_ps) / 1e6,
               static_cast<double>(thirty_ps) / 1e6);
    CHECK(one_ps > four_ps);
}

TEST_CASE("a burst beyond the bound is told with what buffers hold and what is exact", "[ub]")
{
    ub_mesh_config config = exchange(4, 1 << 20);
    CHECK(warnings_about_burst(config).empty()); // auto
    config.run.burst = packet_count(64);
    const std::string told = warnings_about_burst(config);
    CHECK_THAT(told, Contains("is 64 packets. npu.dma.receive_buffer = 32 KiB holds no more than "));
    CHECK_THAT(told, Contains("times may be off by ") && Contains("burst: auto takes single packets"));
    CHECK(config.trains().packets ==
          config.npu.dma.receive_buffer.value() / one_packet_bytes(config.ub));
    config.ub.bit_error_rate = 1e-9;
    CHECK_THAT(warnings_about_burst(config), Contains("but links with bit errors repeat single packets"));
    CHECK(config.trains().packets == 1);
}

TEST_CASE("paths that the machine does not have are told where they are asked for")
{
    const program_folder folder;
    const auto says = [&](const char* mesh, const char* use) {
        folder.write("a.yaml", fmt::format("platform: ub_mesh\nname: a\ndata: off\nmesh: {{{}}}\nub:\n  paths: {}\n"
                                           "workload: [{{op: all_to_all, sizes: [4 KiB]}}]\n",
                                           mesh, use));
        CHECK(folder.weft("check a.yaml") == 0);
        return folder.read("stderr");
    };
    CHECK_THAT(
        says("boards: 8, npus: 8", "borrow"),
        Contains("a.yaml:6:10: warning: ub.paths: is borrow, but no way between NPUs can be borrowed from HRS here"));
    CHECK_THAT(says("boards: 8, npus: 8, hrs: true", "borrow"), Contains("ub.paths: is borrow, but"));
    CHECK_THAT(says("boards: 4, npus: 4, rack_cols: 2, hrs: true", "borrow"), !Contains("ub.paths"));
    CHECK_THAT(says("boards: 1, npus: 2, backplane: false", "detour"),
               Contains("a.yaml:6:10: warning: ub.paths: is detour, but this machine has no detours"));
    for (const char* use : {"detour", "all", "shortest"})
        CHECK_THAT(says("boards: 2, npus: 4", use), !Contains("ub.paths"));
}

TEST_CASE("packets that a controller holds are told to be another key with rtp")
{
    const program_folder folder;
    folder.write("a.yaml", "platform: ub_mesh\nname: a\ndata: off\nmesh: {boards: 1, npus: 4, backplane: false}\n"
                           "ub: {transport: rtp, transmit_queue: 32}\n"
                           "workload: [{op: all_to_all, sizes: [4 KiB]}]\n");
    CHECK(folder.weft("check a.yaml") == 0);
    CHECK_THAT(folder.read("stderr"), Contains("ub.transmit_queue: is set, but nothing uses it: it applies only with "
                                               "transport: ctp"));
}

TEST_CASE("a text that names a default names that of its platform")
{
    const program_folder folder;
    REQUIRE(folder.weft("docs --out docs") == 0);
    unsigned keys = 0, named = 0;
    const std::function<void(const std::string&, const nlohmann::json&)> walk = [&](const std::string& path,
                                                                                    const nlohmann::json& node) {
        if (node.is_array())
            for (const auto& item : node)
                walk(path, item);
        if (!node.is_object())
            return;
        for (const auto& [name, value] : node.items())
            walk(path + "/" + name, value);
        if (node.count("default") == 0)
            return;
        ++keys;
        const std::string message = node.value("patternErrorMessage", node.value("errorMessage", ""));
        const std::size_t at = message.find(" is the default");
        if (at == std::string::npos || !node["default"].is_string())
            return;
        const auto value = node["default"].get<std::string>();
        INFO(path << ": default " << value << ", " << message);
        CHECK((at >= value.size() && message.compare(at - value.size(), value.size(), value) == 0));
        ++named;
    };
    for (const char* platform : {"tpu_v3", "ub_mesh", "switchml"})
        walk(platform, nlohmann::json::parse(folder.read(fmt::format("docs/{}.schema.json", platform))));
    CHECK(keys > 300);
    CHECK(named > 0); // start_skew of every platform
    // What is derived from a clock holds at any clock.
    const std::string table = folder.read("docs/04_config.md");
    CHECK_THAT(table, !Contains("| 50 ns, as firmware/boot |"));
}
