// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// --pcap and --replay: captures as tshark reads them, with the dissector of platforms/report/wireshark, against what the run counts; and the
// switch that gives the same answers again.
#include "testbenches/issues/program.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

using row = std::vector<std::string>;

/// Fields of all packets that `filter` shows, a row each.
std::vector<row> dissect(const program_folder& folder, const std::string& file, const row& fields, const std::string& filter = "")
{
    std::string command = fmt::format("cd {} && tshark -X lua_script:{}/platforms/report/wireshark/weft.lua -r {} -T fields -E separator=';'",
                                      folder.path().string(), WEFT_SOURCE_DIR, file);
    for (const std::string& field : fields)
        command += " -e " + field;
    if (!filter.empty())
        command += " -Y '" + filter + "'";
    command += " > tshark.out 2> tshark.err";
    if (std::system("command -v tshark > /dev/null") != 0)
        FAIL("tshark is missing, which reads captures in this test: apt-get install tshark");
    INFO(command);
    const int status = std::system(command.c_str());
    INFO(folder.read("tshark.err"));
    CHECK(status == 0);
    CHECK_FALSE(has(folder.read("tshark.err"), "Lua"));
    std::vector<row> rows;
    std::istringstream lines(folder.read("tshark.out"));
    for (std::string line; std::getline(lines, line);) {
        row cells(1);
        for (const char c : line)
            if (c == ';')
                cells.emplace_back();
            else
                cells.back() += c;
        rows.push_back(cells);
    }
    return rows;
}

std::vector<std::string> captures_in(const program_folder& folder, const std::string& dir)
{
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder / dir)) {
        CHECK(file.path().extension() == ".pcapng");
        names.push_back(dir + "/" + file.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

double statistic(const program_folder& folder, const std::string& results, const std::string& name)
{
    const json all = json::parse(folder.read(results));
    for (const json& one : all.at("stats"))
        if (one.at("name") == name)
            return one.at("value").get<double>();
    FAIL("no statistic " + name);
    return 0;
}

std::size_t rows_with(const std::vector<row>& rows, std::size_t column, const std::string& text)
{
    std::size_t n = 0;
    for (const row& r : rows)
        n += has(r.at(column), text) ? 1 : 0;
    return n;
}

/// Three workers over cables that lose, damage, repeat and delay. `more`: of the job.
std::string rack(const std::string& more, const std::string& cases = "types: [int32], sizes: [40 KiB, 4 B]")
{
    return "platform: switchml\nname: r\nworkers: 3\nworker: {cores: 1, nic: {queues: 1}}\n"
           "network: {rate: 10 Gbps, cable: {seed: 7, impairments: {loss: 0.03, corruption: 0.03, duplication: 0.03, reordering: 0.03}}}\n"
           "job: {slots: 8, timeout: 100 us" +
           more + "}\nworkload:\n- {op: all_reduce, algorithms: [switchml], " + cases + "}\n";
}

} // namespace

TEST_CASE("captures of SwitchML over UDP hold every frame and say which are lost and damaged")
{
    const program_folder folder;
    folder.write("r.yaml", rack(""));
    REQUIRE(folder.weft("run r.yaml --out o --quiet") == 0);
    const std::string digest = json::parse(folder.read("o/results.json")).at("digest");
    REQUIRE(folder.weft("run r.yaml --out o --pcap cap") == 0);
    CHECK(json::parse(folder.read("o/results.json")).at("digest") == digest);
    CHECK_THAT(folder.read("stdout"), Contains("pcap:    cap (3 files, "));
    const std::vector<std::string> files = captures_in(folder, "cap");
    REQUIRE(files == std::vector<std::string>{"cap/nic_0--switch.pcapng", "cap/nic_1--switch.pcapng", "cap/nic_2--switch.pcapng"});
    std::size_t frames = 0, lost = 0, damaged = 0, repeated = 0, late = 0;
    std::set<std::string> slots;
    for (const std::string& file : files) {
        const auto rows = dissect(folder, file,
                                  {"frame.interface_name", "frame.comment", "frame.packet_flags_crc_error", "switchml.job", "switchml.slot",
                                   "switchml.version", "switchml.size", "udp.length", "frame.time_epoch"});
        double before = 0;
        for (const row& r : rows) {
            const bool is_damaged = r[2] == "1";
            CHECK(is_damaged == has(r[1], "damaged"));
            CHECK((has(r[0], "up") || has(r[0], "down")));
            if (!is_damaged) {
                CHECK(r[3] == "0");
                CHECK(r[6] == "3");
                CHECK(r[7] == std::to_string(8 + 10 + 1024));
                slots.insert(r[4] + "." + r[5]);
            }
            const double time = std::stod(r[8]);
            CHECK(time >= before);
            before = time;
        }
        frames += rows.size();
        lost += rows_with(rows, 1, "lost");
        damaged += rows_with(rows, 1, "damaged");
        repeated += rows_with(rows, 1, "repeated by the cable");
        late += rows_with(rows, 1, "delayed by the cable");
    }
    CHECK(slots.size() == 16); // both versions of all
    CHECK(lost > 0);
    CHECK(damaged > 0);
    CHECK(late > 0);
    const auto counted = [&](const char* name) { return statistic(folder, "o/results.json", name); };
    CHECK(static_cast<double>(frames) == counted("cables.frames") + counted("cables.duplicated"));
    CHECK(static_cast<double>(lost) == counted("cables.lost"));
    CHECK(static_cast<double>(repeated) >= counted("cables.duplicated"));
    CHECK(static_cast<double>(damaged) >= counted("cables.corrupted")); // and copies of those
}

TEST_CASE("captures of SwitchML over RDMA: the dissector agrees with Wireshark's own of RoCE")
{
    const program_folder folder;
    folder.write("r.yaml", rack(", transport: rdma, packets_per_message: 4"));
    REQUIRE(folder.weft("run r.yaml --out o --quiet --pcap cap") == 0);
    const auto rows = dissect(folder, "cap/nic_1--switch.pcapng",
                              {"frame.interface_name", "sml_roce.psn", "infiniband.bth.psn", "sml_roce.queue_pair", "infiniband.bth.destqp",
                               "sml_roce.opcode", "infiniband.bth.opcode", "sml_roce.worker", "sml_roce.slot", "sml_roce.key",
                               "infiniband.reth.r_key", "sml_roce.exponent0"},
                              "sml_roce and not frame.packet_flags_crc_error == 1");
    REQUIRE(rows.size() > 40);
    std::size_t firsts = 0, immediates = 0, agreed = 0;
    for (const row& r : rows) {
        if (std::stoul(r[3], nullptr, 0) < 2) { // which Wireshark takes for management
            CHECK((r[2].empty() && r[4].empty() && r[6].empty() && r[10].empty()));
        } else {
            ++agreed;
            CHECK(r[1] == r[2]);
            CHECK(std::stoul(r[3], nullptr, 0) == std::stoul(r[4], nullptr, 0));
            CHECK(std::stoul(r[5], nullptr, 0) == std::stoul(r[6], nullptr, 0));
        }
        if (has(r[0], "up"))
            CHECK(r[7] == "1");
        else
            CHECK(r[7].empty()); // numbers of the worker's own
        if (has(r[0], "up") && !r[9].empty()) {
            ++firsts;
            CHECK(std::stoul(r[8]) == std::stoul(r[9], nullptr, 0) >> 1);
            CHECK((r[10].empty() || std::stoul(r[9], nullptr, 0) == std::stoul(r[10], nullptr, 0)));
        }
        immediates += r[11].empty() ? 0 : 1;
    }
    CHECK(firsts > 5);
    CHECK(immediates > 5);
    CHECK(agreed > 20);
    for (const std::string file : {"cap/nic_0--switch.pcapng", "cap/nic_1--switch.pcapng"})
        CHECK(dissect(folder, file, {"frame.number"}, "infiniband.mad").empty());
}

TEST_CASE("captures of a UB-Mesh board: source routes lead where packets go")
{
    const program_folder folder;
    folder.write("b.yaml", "platform: ub_mesh\nname: b\nburst: 1 packet\nmesh: {boards: 1, npus: 4, backplane: false}\n"
                           "ub: {spreading: packet}\nworkload:\n- {op: all_reduce, algorithms: [ring_1d], sizes: [64 KiB]}\n");
    REQUIRE(folder.weft("run b.yaml --out o --quiet") == 0);
    const std::string digest = json::parse(folder.read("o/results.json")).at("digest");
    REQUIRE(folder.weft("run b.yaml --out o --quiet --pcap cap") == 0);
    CHECK(json::parse(folder.read("o/results.json")).at("digest") == digest);
    const std::vector<std::string> files = captures_in(folder, "cap");
    REQUIRE(files.size() == 6); // every pair of four NPUs
    std::size_t packets = 0, routed = 0, around = 0;
    std::map<std::string, std::set<std::string>> ports_of; // output port of an instruction -> interfaces
    for (const std::string& file : files)
        for (const row& r : dissect(folder, file, {"weft_fabric.source", "weft_fabric.destination", "weft_fabric.packets", "weft_fabric.payload_bytes",
                                                   "weft_ub.route.ptr", "weft_ub.route.bitmap", "frame.interface_description", "frame.len"})) {
            ++packets;
            CHECK(r[2] == "1");
            CHECK(std::stoul(r[7]) == 64 + std::stoul(r[3]));
            const std::string& ends = r[6];
            const std::size_t to = ends.find(" > ");
            REQUIRE(to != std::string::npos);
            const bool direct = has(ends.substr(0, to), "," + r[0] + ")") && has(ends.substr(to), "," + r[1] + ")");
            around += direct ? 0 : 1;
            routed += r[5].empty() ? 0 : 1;
            if (!direct)
                CHECK_FALSE(r[5].empty()); // around, a packet goes by its header alone
        }
    CHECK(packets == json::parse(folder.read("o/results.json")).at("packet_hops").get<std::size_t>());
    CHECK(routed > 0);
    CHECK(around > 0);
}

TEST_CASE("the dissector says whose fabric a packet is of")
{
    const std::pair<std::string, std::string> machines[] = {
        {"tpu_v3\nmesh: {rows: 2, cols: 2}", "ICI"},
        {"trainium\nnode: {rows: 1, cols: 2}", "NeuronLink"},
        {"ub_mesh\nmesh: {boards: 1, npus: 2, backplane: false}", "UB"},
        {"switchml\nworkers: 2", "lossless"},
    };
    for (const auto& [machine, protocol] : machines) {
        INFO(machine);
        const program_folder folder;
        folder.write("a.yaml", "platform: " + machine + "\nname: a\nworkload: [{op: all_gather, sizes: [4 KiB]}]\n");
        const int code = folder.weft("run a.yaml --out o --quiet --pcap cap");
        INFO(folder.read("stderr"));
        REQUIRE(code == 0);
        std::size_t packets = 0;
        for (const std::string& file : captures_in(folder, "cap"))
            for (const row& r : dissect(folder, file, {"_ws.col.Protocol", "weft_fabric.platform", "weft_ub.route.ptr"})) {
                ++packets;
                CHECK(r[0] == protocol);
                CHECK(r[1] == machine.substr(0, machine.find('\n')));
                if (protocol != "UB")
                    CHECK(r[2].empty());
            }
        CHECK(packets > 0);
    }
}

TEST_CASE("packets that a failing link loses are flagged")
{
    const program_folder folder;
    folder.write("b.yaml", "platform: ub_mesh\nname: b\nburst: 1 packet\nmesh: {boards: 1, npus: 4, backplane: false}\n"
                           "faults: {links: [{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\", at: 40 us}]}\n"
                           "workload:\n- {op: all_reduce, algorithms: [direct], sizes: [4 MiB]}\n");
    const int code = folder.weft("run b.yaml --out o --quiet --pcap cap");
    INFO(folder.read("stderr"));
    REQUIRE(code != 2);
    std::size_t lost = 0;
    for (const std::string& file : captures_in(folder, "cap"))
        lost += rows_with(dissect(folder, file, {"frame.comment"}), 0, "lost");
    CHECK(lost > 0);
}

TEST_CASE("captures have a bound of size and filters")
{
    const program_folder folder;
    folder.write("r.yaml", rack(""));
    REQUIRE(folder.weft("run r.yaml --out o --pcap cap --pcap-limit 20KiB") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("more beyond --pcap-limit"));
    std::size_t bytes = 0;
    for (const std::string& file : captures_in(folder, "cap"))
        bytes += std::filesystem::file_size(folder / file) - 2 * 44; // less statistics at the end
    CHECK(bytes <= 20 << 10);
    CHECK(bytes > 18 << 10);
    CHECK(dissect(folder, "cap/nic_0--switch.pcapng", {"frame.len"}).size() > 2);

    REQUIRE(folder.weft("run r.yaml --out o --pcap one --pcap-links 'cable_1 up' --pcap-bytes 60 --pcap-window '..20 us'") == 0);
    REQUIRE(captures_in(folder, "one") == std::vector<std::string>{"one/nic_1--switch.pcapng"});
    const auto rows = dissect(folder, "one/nic_1--switch.pcapng", {"frame.interface_name", "frame.cap_len", "frame.time_epoch", "switchml.slot"});
    CHECK(rows.size() > 2);
    for (const row& r : rows) {
        CHECK(r[0] == "cable_1 up");
        CHECK(r[1] == "60");
        CHECK(std::stod(r[2]) < 20e-6);
    }
    CHECK(folder.weft("run r.yaml --out o --pcap none --pcap-links nothing") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("--pcap-links leaves nothing to capture"));
    folder.write("w.fst", "earlier");
    CHECK(folder.weft("run r.yaml --out o --pcap none --pcap-links nothing --waves w.fst") == 2);
    CHECK(folder.read("w.fst") == "earlier");
    CHECK_FALSE(folder.exists("w.fst.part"));
    CHECK(folder.weft("run r.yaml --out o --pcap none --pcap-window 5") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("--pcap-window 5: write two times"));
    CHECK(folder.weft("run r.yaml --out o --pcap none --pcap-limit 5") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("--pcap-limit 5"));
    CHECK_FALSE(folder.exists("none"));
}

TEST_CASE("a filter that leaves nothing of a trace or a capture is told with --quiet")
{
    const program_folder folder;
    folder.write("file.yaml", "platform: tpu_v3\nmesh: {rows: 2, cols: 2}\nworkload: [{op: broadcast, sizes: [4 B]}]\n");
    CHECK(folder.weft("run file.yaml --quiet --trace t.json --trace-window '1 s..2 s' --pcap cap --pcap-window '1 s..2 s'") == 0);
    const std::string told = folder.read("stderr");
    CHECK_THAT(told, Contains("warning: --trace t.json has no records: the filter shows none of "));
    CHECK_THAT(told, Contains("warning: --pcap cap has no packets: the filter shows none of "));
    CHECK(folder.weft("run file.yaml --quiet --trace t.json --trace-window '..2 s' --pcap cap") == 0);
    CHECK_THAT(folder.read("stderr"), !Contains("warning: --"));
}

TEST_CASE("a replayed capture gives the answers that it has by the model and by the Verilog")
{
    const program_folder folder;
    folder.write("r.yaml", rack("", "types: [int32, float32], sizes: [24 KiB, 100 B]"));
    REQUIRE(folder.weft("run r.yaml --out o --quiet --pcap cap") == 0);
    for (const std::string aggregator : {"model", "rtl"}) {
        REQUIRE(folder.weft("run r.yaml --out p --replay cap --pcap again --set switch.aggregator=" + aggregator) == 0);
        const std::string said = folder.read("stdout");
        INFO(said + folder.read("stderr"));
        CHECK_THAT(said, Contains("frames fed over 3 cables") && Contains("3 resets between"));
        // Frames that the cables have lost on their way down are among the answers, too: the same chance loses them.
        std::size_t answers = 0;
        for (const std::string& file : captures_in(folder, "cap"))
            answers += rows_with(dissect(folder, file, {"frame.interface_name"}), 0, "down");
        CHECK_THAT(said, Contains(fmt::format("answers: {0}, in the files {0}; {0} have the same bytes, {0} the same time, too", answers)));
        for (const std::string& file : captures_in(folder, "cap")) {
            const std::string other = "again" + file.substr(3);
            const row fields{"frame.time_epoch", "frame.packet_flags", "frame.len", "switchml.slot", "switchml.words"};
            CHECK(dissect(folder, file, fields, "frame.interface_name contains \"down\"") ==
                  dissect(folder, other, fields, "frame.interface_name contains \"down\""));
        }
    }
    CHECK(folder.weft("run r.yaml --out p --quiet --replay cap --set job.timeout='1 ms'") == 0); // workers send nothing themselves
    const std::string before = folder.read("cap/nic_0--switch.pcapng");
    for (const char* from : {"cap", "cap/nic_0--switch.pcapng"}) {
        CHECK(folder.weft(fmt::format("run r.yaml --out p --quiet --replay {} --pcap cap", from)) == 2);
        CHECK_THAT(folder.read("stderr"), Contains("--pcap: cap holds what --replay reads"));
    }
    CHECK(folder.read("cap/nic_0--switch.pcapng") == before);
    CHECK(folder.weft("run r.yaml --out p --quiet --replay cap --set switch.pass_latency='1 us'") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("the replay differs: "));
    CHECK(folder.weft("run r.yaml --out p --quiet --replay cap/nic_0--switch.pcapng") == 1); // the others are missing
}

TEST_CASE("a replay of other frames or of another machine is told apart")
{
    const program_folder folder;
    folder.write("r.yaml", rack(""));
    folder.write("t.yaml", "platform: tpu_v3\nname: t\nmesh: {rows: 2, cols: 2}\nworkload:\n- {op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}\n");
    REQUIRE(folder.weft("run r.yaml --out o --quiet --pcap cap") == 0);
    std::string bytes = folder.read("cap/nic_2--switch.pcapng");
    const auto refused = [&](const std::string& text, const std::string& why) {
        folder.write("other.pcapng", text);
        CHECK(folder.weft("run r.yaml --out p --quiet --replay other.pcapng") == 2);
        CHECK_THAT(folder.read("stderr"), Contains(why));
    };
    refused("", "has nothing in it");
    refused(bytes.substr(0, bytes.size() - 5), "it was cut");
    std::string renamed = bytes;
    renamed.replace(renamed.find("cable_2 up"), 10, "cable_9 up");
    refused(renamed, "its interface 'cable_9 up' is no cable of this machine, which has cable_0 down, cable_0 up");
    CHECK(folder.weft("run t.yaml --out p --quiet --replay cap") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("this machine has no Ethernet cable"));
    CHECK(folder.weft("run r.yaml --out p --replay nowhere.pcapng") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("nowhere.pcapng cannot be read"));
    CHECK(folder.weft("run r.yaml --replay cap --json x.json") != 0);

    // One bit of one word of a frame that arrives: the sum of its slot is another.
    const auto frames = dissect(folder, "cap/nic_2--switch.pcapng", {"frame.number", "switchml.words"},
                                "frame.interface_name contains \"up\" and not frame.comment and switchml.version == 0");
    REQUIRE(!frames.empty());
    const std::string words = frames[0][1];
    std::string sample;
    for (std::size_t i = 0; i + 1 < 64; i += 2)
        sample += static_cast<char>(std::stoi(words.substr(i, 2), nullptr, 16));
    const std::size_t at = bytes.find(sample);
    REQUIRE(at != std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    folder.write("cap/nic_2--switch.pcapng", bytes);
    CHECK(folder.weft("run r.yaml --out p --quiet --replay cap") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("has other bytes, or another fate, than in the files"));
}

TEST_CASE("a replay of a capture that was cut or is named twice is refused")
{
    const program_folder folder;
    folder.write("r.yaml", rack(""));
    const auto refused = [&](const std::string& files, const std::string& why) {
        CHECK(folder.weft("run r.yaml --out p --quiet --replay " + files) == 2);
        CHECK_THAT(folder.read("stderr"), Contains(why));
    };
    REQUIRE(folder.weft("run r.yaml --out o --quiet --pcap whole") == 0);
    REQUIRE(folder.weft("run r.yaml --out o --quiet --pcap small --pcap-limit 20KiB") == 0);
    refused("small", "packets of its interface 'cable_0 ");
    CHECK_THAT(folder.read("stderr"), Contains("are not in the file") && Contains("a larger --pcap-limit"));
    REQUIRE(folder.weft("run r.yaml --out o --quiet --pcap part --pcap-window '..30 us'") == 0);
    refused("part", "without --pcap-window");
    REQUIRE(folder.weft("run r.yaml --out o --quiet --pcap heads --pcap-bytes 60") == 0);
    refused("heads", "the capture keeps the first 60 B of each frame");
    refused("whole/nic_0--switch.pcapng --replay whole/nic_0--switch.pcapng",
            "its interface 'cable_0 up' is in whole/nic_0--switch.pcapng, too; name each capture once");
    refused("whole --replay whole/nic_2--switch.pcapng", "its interface 'cable_2 up' is in ");
    folder.write("copy.pcapng", folder.read("whole/nic_1--switch.pcapng"));
    refused("whole --replay copy.pcapng", "name each capture once");
    // Without data frames have their headers alone: nothing was cut.
    REQUIRE(folder.weft("run r.yaml --out o --quiet --pcap bare --set data=off --pcap-bytes 2000") == 0);
    CHECK(folder.weft("run r.yaml --out p --quiet --replay bare --set data=off") == 0);
}

TEST_CASE("waves of the model and of the Verilog are the same and show every pass")
{
    const program_folder folder;
    folder.write("r.yaml", rack(""));
    std::map<std::string, std::string> drawn;
    for (const std::string aggregator : {"model", "rtl", "lockstep"}) {
        REQUIRE(folder.weft("run r.yaml --out o --quiet --waves w.fst --set switch.aggregator=" + aggregator) == 0);
        if (std::system("command -v fst2vcd > /dev/null") != 0)
            FAIL("fst2vcd is missing, which reads waves in this test: apt-get install gtkwave");
        REQUIRE(std::system(fmt::format("cd {} && fst2vcd w.fst > w.vcd", folder.path().string()).c_str()) == 0);
        drawn[aggregator] = folder.read("w.vcd");
    }
    CHECK(drawn["model"] == drawn["rtl"]);
    CHECK(drawn["model"] == drawn["lockstep"]);
    // By hand: codes of the signals, then rising edges of valid_i at rising edges of the clock.
    std::map<std::string, std::string> code_of; // "scope.signal"
    std::istringstream lines(drawn["rtl"]);
    std::string scope;
    std::map<std::string, std::string> value;
    std::size_t passes = 0, results = 0, clocks = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string first, second, third, code, name;
        words >> first;
        if (first == "$scope") {
            words >> second >> scope;
        } else if (first == "$var") {
            words >> second >> third >> code >> name;
            if (scope == "switch_0_pipe_0")
                code_of[name] = code;
        } else if (!line.empty() && (line[0] == '0' || line[0] == '1')) {
            value[line.substr(1)] = line.substr(0, 1);
            if (line.substr(1) == code_of["clk_i"] && line[0] == '0') { // as they stood while the clock was high
                ++clocks;
                passes += value[code_of["valid_i"]] == "1" ? 1 : 0;
                results += value[code_of["valid_o"]] == "1" ? 1 : 0;
            }
        }
    }
    CHECK(clocks > passes);
    CHECK(passes == results);
    CHECK(passes > 40); // 40 packets of three workers
    for (const char* name : {"type_i", "index_i", "worker_i", "d0_i", "bitmap_before_o", "count_o", "words_o", "broadcast_o"})
        CHECK(code_of.count(name) == 1);
    CHECK(folder.weft("run r.yaml --quiet --out o --waves nodir/w.fst") == 2);
    folder.write("t.yaml", "platform: tpu_v3\nname: t\nmesh: {rows: 2, cols: 2}\nworkload:\n- {op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}\n");
    CHECK(folder.weft("run t.yaml --quiet --out o --waves w.fst") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("--waves: the platform tpu_v3 has no signals to draw"));
}
