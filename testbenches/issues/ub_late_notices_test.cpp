// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Notices that come after the tries of RTP, or never: no destination counts as unreachable while a way to it lives.
#include "testbenches/issues/program.h"
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;
using Catch::Matchers::Contains;
using weft::testing::program_folder;

namespace {

/// Both shortest ways from npu(..,b0,0) to npu(..,b1,1) break at links of others: only a notice could tell it.
ub_mesh_config both_ways_break(ub_notification notification)
{
    ub_mesh_config config = ub_machine_of(4, 4);
    config.ub.transport = ub_transport::rtp;
    config.ub.paths = ub_path_use::shortest;
    config.run.firmware_timeout = duration(100 * k_ms);
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {1 << 20, 1 << 20})};
    config.faults.notification = notification;
    config.faults.links = {link_fault("npu(p0,r0,b0,1)", "npu(p0,r0,b1,1)", 5 * k_us),
                           link_fault("npu(p0,r0,b1,0)", "npu(p0,r0,b1,1)", 5 * k_us)};
    return config;
}

constexpr const char* k_file = R"y(platform: ub_mesh
name: a
data: off
firmware_timeout: {}
mesh: {{boards: 4, npus: 4}}
ub: {{transport: rtp, paths: shortest}}
faults:
  links: [{{from: "npu(p0,r0,b0,1)", to: "npu(p0,r0,b1,1)", at: 5 us}}]
  notification: {}
  flood_per_hop: {}
workload: [{{op: all_to_all, sizes: [4 KiB]}}]
)y";

} // namespace

TEST_CASE("hop by hop: notices that come after the last try of RTP find a source that still tries", "[ub]")
{
    ub_mesh_config config = both_ways_break(ub_notification::hop_by_hop);
    config.faults.flood_per_hop = duration(2 * k_ms); // the neighbours of the links hear of it after 4.01 ms
    const verdict v = run_exact(config);
    CHECK_FALSE(v.says("cannot reach"));
    CHECK(v.stat("ub.lost") > 0);
    CHECK(v.time() > config.ub.rtp_tries_ps()); // the tries alone end before
}

TEST_CASE(
    "notices that come after the tries of RTP or after the firmware's timeout are told with both times and the remedy")
{
    const program_folder folder;
    const auto says = [&](const char* firmware, const char* notification, const char* flood) {
        folder.write("a.yaml", fmt::format(k_file, firmware, notification, flood));
        CHECK(folder.weft("check a.yaml") == 0);
        return folder.read("stderr");
    };
    CHECK_THAT(
        says("100 ms", "hop_by_hop", "2 ms"),
        Contains(
            "a.yaml:9:17: warning: faults.notification: is hop_by_hop: the last source hears of the failure of "
            "faults.links.0 after 4.01 ms, when ub.rtp_tries = 7 from ub.rtp_timeout = 25.6 us on have ended, at 3.25 "
            "ms: it goes on to try every 1.64 ms until then; write direct, or a shorter faults.flood_per_hop."));
    CHECK_THAT(says("2 ms", "hop_by_hop", "2 ms"),
               Contains("after 4.01 ms, and firmware waits no longer than firmware_timeout = 2 ms"));
    CHECK_THAT(says("100 ms", "hop_by_hop", "1 ms"), !Contains("hears of the failure"));
    CHECK_THAT(says("2 ms", "direct", "2 ms"), !Contains("hears of the failure"));
}

TEST_CASE("no notices: the last try takes ways beside the set before a destination counts as unreachable", "[ub]")
{
    for (const bool back : {false, true}) {
        ub_mesh_config config = both_ways_break(ub_notification::none);
        if (back) // what is broken for the packets of one direction is broken for the acknowledgements of the other
            config.run.workload = {spec(collective_op::all_reduce, {algorithm::direct}, {1 << 20})};
        const verdict v = run_exact(config);
        CHECK_FALSE(v.says("cannot reach"));
        CHECK(v.stat("ub.lost") > 0);
    }
}

TEST_CASE("no notices: a destination without any way left is still reported", "[ub]")
{
    ub_mesh_config config = ub_board(4); // no backplane: three links an NPU
    config.ub.transport = ub_transport::rtp;
    config.run.firmware_timeout = duration(100 * k_ms);
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {1 << 20})};
    config.faults.notification = ub_notification::none;
    for (const char* other : {"npu(p0,r0,b0,1)", "npu(p0,r0,b0,2)", "npu(p0,r0,b0,3)"})
        config.faults.links.push_back(link_fault("npu(p0,r0,b0,0)", other, 5 * k_us));
    const verdict v = run(config);
    CHECK(v.failed);
    CHECK(v.says("npu(p0,r0,b0,1) cannot reach npu(p0,r0,b0,0)"));
    CHECK(v.stat("ub.given_up") > 0);
}

TEST_CASE("weft check tells when sources have left a link on idle and on loaded wires and proves the lanes of notices")
{
    const program_folder folder;
    folder.write("a.yaml", fmt::format(k_file, "100 ms", "direct", "1 ms"));
    CHECK(folder.weft("check a.yaml") == 0);
    const std::string said = folder.read("stdout");
    CHECK_THAT(said, Contains("Notices   direct: 8 sources have left npu(p0,r0,b0,1) - npu(p0,r0,b1,1) within 13.4 us of its failure when "
                              "nothing else is on the wires, and 13.6 us under full load"));
    CHECK_THAT(said, Contains("Proof     of notices, which begin at switches, too: "));
    folder.write("b.yaml", fmt::format(k_file, "100 ms", "none", "1 ms"));
    CHECK(folder.weft("check b.yaml") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("Notices   none: sources go on to use") && !Contains("Proof     of notices"));
}

TEST_CASE("a notice that is no single packet is refused")
{
    const program_folder folder;
    std::string text = fmt::format(k_file, "100 ms", "direct", "1 ms");
    text.replace(text.find("paths: shortest"), 15, "paths: shortest, max_payload: 64 B");
    text.replace(text.find("  notification"), 0, "  notice_payload: 68 B\n");
    folder.write("a.yaml", text);
    CHECK(folder.weft("check a.yaml") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("faults.notice_payload: is 68 B, but a notice is one packet, whose payload is ub.max_payload = 64 B at most."));
}
