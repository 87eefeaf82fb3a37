// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The program as a shell sees it: exit codes, what stands on stdout and stderr, which files are there afterwards.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct program_run {
    int exit_code = -1; ///< 1000 + signal when it was killed
    std::string out;
    std::string err;
    double seconds = 0;
};

std::string content_of(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// A folder of its own that disappears, with a small platform file in it.
class scratch {
public:
    scratch()
    {
        std::string name = (fs::temp_directory_path() / "weft_program_XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
        write(
            "small.yaml",
            "platform: tpu_v3\n"
            "name: small\n"
            "mesh: {rows: 4, cols: 4}\n"
            "workload:\n"
            "  - {op: all_reduce, algorithms: [ring_1d, two_d, row_pair], types: [int32, bfloat16], sizes: [4 B, 100 kB]}\n"
            "  - {op: all_to_all, sizes: [100 kB]}\n");
        write("wrong.yaml", "platform: tpu_v3\nmesh: {rows: 0, cols: 4}\nworkload: [{op: broadcast, sizes: [4 B]}]\n");
    }
    ~scratch() { fs::remove_all(path_); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    const fs::path& path() const { return path_; }
    void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
    std::vector<std::string> names() const
    {
        std::vector<std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(path_))
            all.push_back(fs::relative(entry.path(), path_).string());
        std::sort(all.begin(), all.end());
        return all;
    }

    /// Runs weft in this folder, both outputs into files, so that they are no terminal.
    program_run run(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(), "weft");
        std::vector<char*> argv;
        for (std::string& a : arguments)
            argv.push_back(a.data());
        argv.push_back(nullptr);
        const std::string out = path_.string() + ".out";
        const std::string err = path_.string() + ".err";
        const auto start = std::chrono::steady_clock::now();
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            const auto redirect = [](const std::string& file, int to) {
                ::dup2(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), to);
            };
            redirect(out, STDOUT_FILENO);
            redirect(err, STDERR_FILENO);
            if (::chdir(path_.c_str()) == 0)
                ::execv(WEFT_PROGRAM, argv.data());
            ::_exit(127);
        }
        program_run r;
        int status = 0;
        for (int waited_ms = 0; ::waitpid(child, &status, WNOHANG) == 0; ++waited_ms) {
            if (waited_ms == 30'000)
                ::kill(child, SIGKILL);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        r.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
        r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        r.out = content_of(out);
        r.err = content_of(err);
        fs::remove(out);
        fs::remove(err);
        return r;
    }

private:
    fs::path path_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::vector<std::string> k_only_inputs = {"small.yaml", "wrong.yaml"};

} // namespace

TEST_CASE("a good run ends with 0 and leaves its results", "[program][fast]")
{
    const scratch dir;
    const program_run r = dir.run({"run", "small.yaml"});
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK(r.err.empty());
    CHECK(has(r.out, "#wrong"));
    CHECK(has(r.out, "Wrong elements   0 in 13 of 13 results"));
    CHECK(has(r.out, "results: out/small/results.json"));
    // In a pipe: no progress bar, no colours, nothing that overwrites itself.
    CHECK_FALSE(has(r.out, "\x1b"));
    CHECK_FALSE(has(r.out, "\r"));
    CHECK(dir.names() ==
          std::vector<std::string>{"out", "out/small", "out/small/results.json", "small.yaml", "wrong.yaml"});
}

TEST_CASE("results.json has every promised field", "[program][fast]")
{
    const scratch dir;
    REQUIRE(dir.run({"run", "small.yaml", "--out", "deep/er", "--quiet"}).exit_code == 0);
    const json j = json::parse(content_of(dir.path() / "deep/er/results.json"));
    REQUIRE(j.at("results").is_array());
    CHECK(j.at("results").size() == 13);
    for (const json& row : j.at("results")) {
        for (const char* key : {"op", "algorithm", "type", "redop"})
            CHECK(row.at(key).is_string());
        for (const char* key : {"size_bytes", "count", "wrong"})
            CHECK(row.at(key).is_number_unsigned());
        for (const char* key : {"time_us", "algbw_GBps", "busbw_GBps"})
            CHECK(row.at(key).is_number());
        CHECK(row.at("time_us").get<double>() > 0);
        CHECK(row.at("wrong") == 0);
    }
    CHECK(j.at("digest").is_string());
    CHECK(j.at("digest").get<std::string>().size() == 16);
    CHECK(j.at("version").is_string());
    for (const char* key : {"simulated_time_ps", "packet_hops", "timeline_events"}) {
        CHECK(j.at(key).is_number_unsigned());
        CHECK(j.at(key) > 0);
    }
    for (const char* key : {"host_seconds", "packet_hops_per_cpu_s"})
        CHECK(j.at(key).is_number());
    CHECK(j.at("config").at("platform") == "tpu_v3");
    CHECK(j.at("config").at("mesh").at("rows") == 4);
    CHECK(j.at("config").at("ici").at("link_rate") == "82 GB/s"); // a default
    REQUIRE(j.at("stats").is_array());
    CHECK_FALSE(j.at("stats").empty());
    for (const json& stat : j.at("stats")) {
        CHECK(stat.at("name").is_string());
        CHECK(stat.at("value").is_number());
        CHECK_FALSE(stat.at("unit").get<std::string>().empty());
    }
}

TEST_CASE("JSON to stdout leaves nothing else there", "[program][fast]")
{
    const scratch dir;
    const program_run r = dir.run({"run", "small.yaml", "--json", "-"});
    CHECK(r.exit_code == 0);
    CHECK(r.err.empty());
    const json printed = json::parse(r.out); // throws on anything else
    const json written = json::parse(content_of(dir.path() / "out/small/results.json"));
    CHECK(printed == written);
    // A warning stays on stderr.
    const program_run warned = dir.run({"run", "small.yaml", "--json", "-", "--set", "ici.buffer_per_vl=4 KiB"});
    CHECK(warned.exit_code == 0);
    CHECK(has(warned.err, "--set: warning: ici.buffer_per_vl: is 4 KiB, below link_rate x round trip = 5.47 kB"));
    CHECK_NOTHROW(json::parse(warned.out));
    // And to a file.
    CHECK(dir.run({"run", "small.yaml", "--quiet", "--json", "mine.json"}).exit_code == 0);
    CHECK_NOTHROW(json::parse(content_of(dir.path() / "mine.json")));
}

TEST_CASE("the digest depends on the seed and on nothing else", "[program][fast]")
{
    const scratch dir;
    const auto digest = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments = {"run", "small.yaml", "--json", "-"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const program_run r = dir.run(arguments);
        REQUIRE(r.exit_code == 0);
        return json::parse(r.out).at("digest").get<std::string>();
    };
    const std::string first = digest({});
    CHECK(digest({}) == first);
    CHECK(digest({"--out", "elsewhere", "--set", "name=other"}) == first);
    CHECK(digest({"--seed", "1"}) == first); // the default
    const std::string second = digest({"--seed", "2"});
    CHECK(second != first);
    CHECK(digest({"--set", "seed=2"}) == second);
    CHECK(digest({"--set", "seed=3", "--seed", "2"}) == second);
}

TEST_CASE("data off gives the same times", "[program][fast]")
{
    const scratch dir;
    const auto results = [&](const std::string& data) {
        const program_run r = dir.run({"run", "small.yaml", "--json", "-", "--set", "data=" + data});
        REQUIRE(r.exit_code == 0);
        return json::parse(r.out);
    };
    const json checked = results("checked");
    const json off = results("off");
    REQUIRE(checked.at("results").size() == off.at("results").size());
    for (std::size_t i = 0; i < off.at("results").size(); ++i) {
        CHECK(checked.at("results")[i].at("time_us") == off.at("results")[i].at("time_us"));
        CHECK(off.at("results")[i].at("wrong").is_null());
    }
    CHECK(checked.at("simulated_time_ps") == off.at("simulated_time_ps"));
    CHECK(checked.at("packet_hops") == off.at("packet_hops"));
    CHECK(checked.at("timeline_events") == off.at("timeline_events"));
}

TEST_CASE("a wrong file ends with 2 and nothing is written", "[program][fast]")
{
    const scratch dir;
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"run", "wrong.yaml"},
             {"run", "wrong.yaml", "--out", "results", "--json", "r.json"},
             {"check", "wrong.yaml"},
             {"check", "wrong.yaml", "--resolved"},
             {"run", "small.yaml", "--set", "mesh.rows=3", "--out", "results"},
             {"run", "missing.yaml"},
             {"run", "."},
             {"run", "small.yaml", "--set", "ici.link_rate=82"},
             {"run", "small.yaml", "--set", "data=checked", "--set", "workload.0.sizes=[31 GiB]"}}) {
        const program_run r = dir.run(arguments);
        INFO(arguments[1] << "\n" << r.err);
        CHECK(r.exit_code == 2);
        CHECK(r.out.empty());
        CHECK(has(r.err, "error: "));
        CHECK(dir.names() == k_only_inputs);
    }
    const program_run r = dir.run({"run", "wrong.yaml"});
    CHECK(r.err == "wrong.yaml:2:14: error: mesh.rows: is 0, must be 1 to 256.\n"
                   "    mesh: {rows: 0, cols: 4}\n"
                   "                 ^\n"
                   "wrong.yaml: 1 error; nothing was built or written.\n");
}

TEST_CASE("a sweep that is run and a platform file that is swept are told the right command", "[program][fast]")
{
    const scratch dir;
    std::ofstream(dir.path() / "s.yaml") << "sweep: {platform: small.yaml}\ngrid: {mesh.rows: [2, 4]}\n";
    const program_run run = dir.run({"run", "s.yaml"});
    CHECK(run.exit_code == 2);
    CHECK(has(run.err, "s.yaml:1:1: error: sweep: this is the file of a sweep; `weft sweep s.yaml` runs it."));
    const program_run sweep = dir.run({"sweep", "small.yaml"});
    CHECK(sweep.exit_code == 2);
    CHECK(has(sweep.err, "error: platform: this is a platform file; `weft run small.yaml` runs it."));
    CHECK_FALSE(has(sweep.err, "unknown key"));
}

TEST_CASE("a wrong command line ends with 2 and says what is meant", "[program][fast]")
{
    const scratch dir;
    const auto refused = [&](const std::vector<std::string>& arguments) {
        const program_run r = dir.run(arguments);
        CHECK(r.exit_code == 2);
        CHECK(r.out.empty());
        CHECK(dir.names() == k_only_inputs);
        return r.err;
    };
    CHECK(refused({"chek", "small.yaml"}) ==
          "weft: 'chek' is no command; did you mean 'check'?\n`weft --help` explains.\n");
    CHECK(has(refused({}), "Subcommands:"));
    CHECK(has(refused({"run"}), "a platform file is missing"));
    CHECK(has(refused({"run", "small.yaml", "other.yaml"}), "'other.yaml' is one argument too many"));
    CHECK(has(refused({"run", "small.yaml", "--fast"}), "'--fast' is no option of it\n"));
    CHECK(has(refused({"run", "small.yaml", "--reprot"}), "'--reprot' is no option of it; did you mean '--report'?"));
    CHECK(has(refused({"run", "small.yaml", "--jsn=x"}), "'--jsn' is no option of it; did you mean '--json'?"));
    CHECK(has(refused({"run", "small.yaml", "-b", "4K", "-w", "5"}), "'-w' of nccl-tests is not needed"));
    CHECK(has(refused({"run", "small.yaml", "-b", "4K", "-e", "1K"}), "--maxbytes: 1K is less than --minbytes 4K; give the larger one here"));
    CHECK(has(refused({"run", "small.yaml", "-b", "4X"}), "--minbytes: '4X' has the unknown unit 'X'; write a size in B,"));
    CHECK(has(refused({"firmware", "tst"}), "weft firmware: 'tst' is no command of it; did you mean 'test'?"));
    CHECK(has(refused({"ccu"}), "weft ccu: a command is missing, one of: asm, disasm, check"));
    CHECK(has(refused({"run", "small.yaml", "--set"}), "KEY.PATH=VALUE"));
    CHECK(has(refused({"run", "small.yaml", "--out", ""}), "--out: is empty"));
    for (const char* seed : {"-1", "x", "1.5", "18446744073709551616", ""})
        CHECK(has(refused({"run", "small.yaml", "--seed", seed}),
                  "is no seed; write a whole number from 0 to 18446744073709551615"));
}

TEST_CASE("an output folder that cannot be written is refused before the run", "[program][fast]")
{
    const scratch dir;
    for (const char* out : {"small.yaml", "small.yaml/results", "/proc/weft"}) {
        const program_run r = dir.run({"run", "small.yaml", "--out", out});
        INFO(r.err);
        CHECK(r.exit_code == 2);
        CHECK(r.out.empty());
        CHECK(has(r.err, std::string("error: ") + out + " cannot be made: "));
        CHECK(has(r.err, "another place"));
        CHECK(dir.names() == k_only_inputs);
    }
    for (const char* file : {"missing/r.json", "/proc/r.json", "."}) {
        const program_run r = dir.run({"run", "small.yaml", "--json", file});
        INFO(r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, std::string("error: ") + file + " cannot be "));
        CHECK(dir.names() == k_only_inputs);
    }
}

TEST_CASE("a down link that routing does not know ends at once and names who waits for what", "[program][fast]")
{
    const scratch dir;
    const program_run r = dir.run({"run", "small.yaml", "--set",
                                   "faults.links_down=[{row: 0, col: 0, direction: +X, announced: false}]", "--quiet"});
    INFO(r.err);
    CHECK(r.exit_code == 1);
    CHECK(r.seconds < 10);
    CHECK(has(r.err, "the run failed: all_reduce ring_1d of 4 B did not complete."));
    CHECK(has(r.err, "waits for chip(0,0).+X: the link is down"));
    CHECK(has(r.err, "rank "));
    CHECK(has(r.err, "a wait timed out on DMA."));
    const json j = json::parse(content_of(dir.path() / "out/small/results.json"));
    CHECK(has(j.at("failure").get<std::string>(), "the link is down"));
    CHECK(j.at("results").empty());
}

TEST_CASE("a link that goes down during the run keeps what was done before and says who waited for whom",
          "[program][fast]")
{
    const scratch dir;
    const std::string at = "faults.links_down=[{row: 0, col: 0, direction: +X, at: ";
    const program_run r = dir.run({"run", "small.yaml", "--set", at + "50 us}]"});
    INFO(r.err);
    CHECK(r.exit_code == 1);
    CHECK(r.seconds < 10);
    CHECK(has(r.err, "\nlink chip(0,0).+X to chip(0,1) went down at 50 us, "));
    CHECK(has(r.err, " after the start of this collective: "));
    CHECK(has(r.err, ", chip("));
    CHECK(has(r.err, " of ring_1d, waiting for rank "));
    CHECK(has(r.out, "Stopped          all_reduce ring_1d of 100000 B did not complete."));
    CHECK(has(r.out, "Wrong elements   0 in 1 of 1 results"));
    const json j = json::parse(content_of(dir.path() / "out/small/results.json"));
    REQUIRE(j.at("results").size() == 1);
    CHECK(j["results"][0]["wrong"] == 0);
    CHECK(j.at("failed_case")["algorithm"] == "ring_1d");
    CHECK(j["failed_case"]["type"] == "int32");
    CHECK(j["failed_case"]["size_bytes"] == 100000);
    CHECK(j["failed_case"]["start_us"].get<double>() > 30);

    const program_run late = dir.run({"run", "small.yaml", "--set", at + "1 s}]"});
    INFO(late.err);
    CHECK(late.exit_code == 0);
    CHECK(has(late.err,
              "warning: faults: link chip(0,0).+X to chip(0,1) goes down at 1 s, after the end of the run at "));
    CHECK(has(late.out, "the fault had no effect."));
    CHECK(json::parse(content_of(dir.path() / "out/small/results.json")).at("failed_case").is_null());
    CHECK(has(dir.run({"check", "small.yaml", "--set", at + "1 s}]"}).out,
              "Faults    0 failed chips, 1 link down, of which routing does not know 1; (0,0) +X goes down at 1 s\n"));
}

TEST_CASE("what has failed is routed around and the proof is printed", "[program][fast]")
{
    const scratch dir;
    const program_run around =
        dir.run({"run", "small.yaml", "--set", "faults.links_down=[{row: 0, col: 0, direction: +X}]", "--quiet"});
    INFO(around.err);
    CHECK(around.exit_code == 0);
    const program_run whole = dir.run({"check", "small.yaml"});
    CHECK(has(whole.out, "Routing   dimension order"));
    CHECK(has(whole.out, "Proof     deadlock-free: "));
    const program_run broken = dir.run({"check", "small.yaml", "--set", "mesh={rows: 8, cols: 8}", "--set",
                                        "workload=[]", "--set", "faults.regions=[{row: 2, col: 2, rows: 2, cols: 4}]"});
    INFO(broken.err);
    CHECK(broken.exit_code == 0);
    CHECK(has(broken.out, "64 chips, of which 56 work"));
    CHECK(has(broken.out, "Proof     deadlock-free: 360 channels, 360 dependencies, acyclic"));
    const program_run cut =
        dir.run({"check", "small.yaml", "--set",
                 "faults.links_down=[{row: 0, col: 0, direction: +X}, {row: 0, col: 0, direction: +Y}]"});
    CHECK(cut.exit_code == 2);
    CHECK(has(cut.err, "faults: leave chips that no route connects: chip(0,0) cannot reach chip(0,1)"));
}

TEST_CASE("a run that its limits are too short for says so and ends with 1", "[program][fast]")
{
    const scratch dir;
    const program_run limit = dir.run({"run", "small.yaml", "--quiet", "--set", "time_limit=10 us"});
    CHECK(limit.exit_code == 1);
    CHECK(has(limit.err, "time_limit = 10 us of simulated time is over"));
    const program_run timeout = dir.run({"run", "small.yaml", "--quiet", "--set", "firmware_timeout=1 us"});
    CHECK(timeout.exit_code == 1);
    CHECK(has(timeout.err, "a wait timed out on DMA."));
    CHECK(has(timeout.err, "bounded by firmware_timeout = 1 us; raise it"));
    // The root gives up, and then the others have nothing to wait for: no deadlock.
    const program_run chain =
        dir.run({"run", std::string(WEFT_SOURCE_DIR) + "/configs/switchml/rack_4x10g.yaml", "--quiet", "--set", "workers=11", "--set", "network.rate=1 Gbps", "--set",
                 "data=off", "--set", "worker.core.clock=10 MHz", "--set", "workload=[{op: broadcast, algorithms: [mesh_tree], sizes: [84628156 B], root: 9}]"});
    CHECK(chain.exit_code == 1);
    CHECK(has(chain.err, "Who had waited for 0.1 s, as long as firmware_timeout allows, gave up; at 159 ms nothing could move any more."));
    CHECK(has(chain.err, "bounded by firmware_timeout = 0.1 s. Raise it"));
    CHECK_FALSE(has(chain.err, "Nothing can move any more"));
}

TEST_CASE("platforms at the edge of what is accepted still give the right answers", "[program][fast]")
{
    const scratch dir;
    for (const std::vector<std::string>& edge : std::vector<std::vector<std::string>>{
             {"chip.core.clock=1 MHz"},
             {"chip.core.mmio_overhead=1000000 cycles", "firmware_timeout=100 s"},
             {"chip.core.clock=100 GHz", "chip.core.mmio_overhead=0 cycles", "chip.bus.latency=0 ps",
              "chip.mailbox.latency=0 ps", "chip.dma.register_latency=0 ps", "chip.local_memory.latency=0 ps",
              "chip.hbm.latency=0 ps", "ici.router_latency=0 cycles", "ici.board_propagation=1 ps",
              "ici.cable_propagation=1 ps"},
             {"chip.dma.ring_entries=4", "chip.dma.queues=4", "chip.dma.prefetch=1", "chip.dma.read_ahead=1",
              "chip.dma.receive_buffer=288 B", "ici.buffer_per_vl=288 B", "ici.local_ports=4", "ici.virtual_lanes=1"},
             {"ici.flit=1 B", "ici.max_payload=4 B", "ici.header=0 B", "workload.0.algorithms=[two_d]"},
             {"ici.flit=4 KiB", "ici.header=4 KiB", "ici.max_payload=1 MiB", "ici.buffer_per_vl=2 MiB",
              "chip.dma.receive_buffer=2 MiB"},
             {"burst=65535 packets", "ici.virtual_lanes=8"},
             {"ici.link_rate=10 Mbps", "ici.local_port_rate=10 Mbps", "chip.hbm.rate=1 Mbps",
              "firmware_timeout=1000 s"},
             {"ici.link_rate=1000 Tbps", "ici.local_port_rate=1000 Tbps", "chip.hbm.rate=1000 TB/s"},
             {"ici.link_rate=1000 Tbps", "ici.flit=1 B", "ici.max_payload=4 B", "workload.0.algorithms=[two_d]"},
             {"ici.router_latency=1000 cycles", "ici.clock=1 MHz", "ici.cable_propagation=1 ms",
              "chip.hbm.latency=1 ms", "firmware_timeout=100 s"},
             {"mesh={rows: 2, cols: 2}", "workload.0.chunk=4 B", "workload.0.sizes=[4 B, 1 kB]",
              "ici.switching=store_and_forward"},
             {"mesh={rows: 4, cols: 3, wrap: both}", "ici.rate_counts=wire"},
             {"mesh={rows: 1, cols: 2}", "workload.0={op: broadcast, sizes: [4 B]}"}}) {
        std::vector<std::string> arguments = {
            "run",    "small.yaml", "--set", "workload.0.sizes=[4 B, 10 kB]", "--set", "workload.1.sizes=[10 kB]",
            "--quiet"};
        std::string all;
        for (const std::string& set : edge) {
            arguments.push_back("--set");
            arguments.push_back(set);
            all += set + " ";
        }
        const program_run r = dir.run(arguments);
        INFO(all << "\n" << r.err);
        CHECK(r.exit_code == 0);
        CHECK(r.seconds < 20);
    }
}

#ifdef WEFT_RV64_PROGRAMS
namespace {
/// Runs small.yaml on rv64 cores with the program of that name under testbenches/hw/rv64, or with a file.
program_run run_rv64(const scratch& dir, const std::string& elf)
{
    return dir.run({"run", "small.yaml", "--out", "out", "--set", "chip.core.model=rv64", "--set",
                    "chip.core.elf=" + elf, "--set", "firmware_timeout=1 ms"});
}
} // namespace

TEST_CASE("the program holds the RISC-V firmware that was built with it", "[program][fast]")
{
    const std::string program = content_of(WEFT_PROGRAM), firmware = content_of(WEFT_RV64_PROGRAMS "/firmware.elf");
    REQUIRE(firmware.size() > 100'000);
    CHECK(memmem(program.data(), program.size(), firmware.data(), firmware.size()) != nullptr);
}

TEST_CASE("an ELF that cannot run ends with 2 and a sentence", "[program][fast]")
{
    const scratch dir;
    dir.write("text.elf", "no program at all");
    const auto refused = [&](const std::string& elf, const std::string& why) {
        const program_run r = run_rv64(dir, elf);
        INFO(r.err);
        CHECK(r.exit_code == 2);
        CHECK(r.err.find("chip.core.elf: names '" + elf + "', " + why) != std::string::npos);
        CHECK_FALSE(fs::exists(dir.path() / "out"));
    };
    refused("nowhere.elf", "which cannot be read: No such file or directory.");
    refused("text.elf", "which is no ELF file; give a program linked for RV64.");
    refused(WEFT_PROGRAM, "which is a 64-bit little-endian program for x86-64, but the cores are RV64GC;");
    // A program that would run, damaged: e_entry, and p_vaddr of the first segment.
    const auto damaged = [&](const std::string& name, std::size_t at, std::uint64_t value) {
        std::string elf = content_of(WEFT_RV64_PROGRAMS "/test_endings.elf");
        REQUIRE(elf.size() > 64 + 56);
        elf.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
        dir.write(name, elf);
        return name;
    };
    const std::size_t headers = static_cast<unsigned char>(content_of(WEFT_RV64_PROGRAMS "/test_endings.elf")[32]);
    refused(damaged("no_entry.elf", 24, 0), "which has no entry; define _start, or link it with -e SYMBOL.");
    refused(damaged("wild_entry.elf", 24, 0x13'fff0), "whose entry 0x13fff0 lies in no executable segment;");
    const std::string elf = content_of(WEFT_RV64_PROGRAMS "/test_endings.elf");
    std::string outside = elf;
    for (std::size_t i = 0; i < static_cast<unsigned char>(elf[56]); ++i) {
        const std::uint64_t address = 0x8000'0000;
        outside.replace(headers + 56 * i + 16, sizeof address, reinterpret_cast<const char*>(&address), sizeof address);
    }
    dir.write("outside.elf", outside);
    const program_run r = run_rv64(dir, "outside.elf");
    INFO(r.err);
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "bytes at 0x80000000 lies outside program memory (0x100000 to 0x14ffff); link it with "));
    CHECK_FALSE(fs::exists(dir.path() / "out"));
}

TEST_CASE("a driver built outside this repository runs and its answers are checked", "[program][fast]")
{
    // Its own build file needs hw/abi and the cross compiler. A copy shows that it needs nothing beside it.
    const scratch dir;
    const fs::path source = fs::path(WEFT_SOURCE_DIR) / "firmware/examples/chain_broadcast";
    const fs::path abi = fs::path(WEFT_SOURCE_DIR) / "hw/abi";
    fs::copy(source, dir.path() / "mine");
    fs::create_directories(dir.path() / "include/hw");
    fs::copy(abi, dir.path() / "include/hw/abi");
    const std::string folder = (dir.path() / "mine").string();
    const std::string make = "make -s -C " + folder + " WEFT=../include OUT=. > " + folder + "/log 2>&1";
    const int made = std::system(make.c_str());
    INFO(content_of(folder + "/log"));
    REQUIRE(made == 0);
    const program_run r =
        dir.run({"run", "mine/chain_4x4.yaml", "--set", "chip.core.elf=mine/chain_broadcast.elf", "--out", "out"});
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK(has(r.out, "Wrong elements   0 in 3 of 3 results"));
    // What it does not know it says, like any firmware.
    const program_run other = run_rv64(dir, "mine/chain_broadcast.elf");
    INFO(other.err);
    CHECK(other.exit_code == 1);
    CHECK(has(other.err, "not supported: chain_broadcast can only broadcast"));
}

TEST_CASE("rv64 firmware whose stack overflows ends the run with 1 and a sentence", "[program][fast]")
{
    const scratch dir;
    const program_run r = run_rv64(dir, WEFT_RV64_PROGRAMS "/test_endings.elf");
    INFO(r.err);
    CHECK(r.exit_code == 1);
    CHECK(
        r.err.find(
            "the firmware stopped.\nrank 0, chip(0,0): stack overflow: the firmware writes 0xffff8 with sp 0xfffc0, below "
            "program memory, which begins at 0x100000, at pc 0x10a") != std::string::npos);
    CHECK(r.err.find("... and 12 more ranks stopped") != std::string::npos);
}

TEST_CASE("what rv64 firmware writes to the console is in its log", "[program][fast]")
{
    const scratch dir;
    const program_run r = run_rv64(dir, WEFT_RV64_PROGRAMS "/test_hal_probe.elf");
    CHECK(r.exit_code == 1); // it answers no command
    CHECK(r.out.find("firmware: out/firmware.log (") != std::string::npos);
    const std::string log = content_of(dir.path() / "out/firmware.log");
    INFO(log);
    CHECK(log.find(" us  chip_0_0.core: argument 0\n") != std::string::npos);
    CHECK(log.find(" us  chip_3_3.core: bus error on a write at pc 0x1") != std::string::npos);
}
#endif

TEST_CASE("help and version and list", "[program][fast]")
{
    const scratch dir;
    const program_run version = dir.run({"--version"});
    CHECK(version.exit_code == 0);
    CHECK(version.out.compare(0, 7, "weft 0.") == 0);
    CHECK(version.err.empty());
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"--help"},
                                                                                           {"run", "--help"},
                                                                                           {"check", "--help"},
                                                                                           {"list", "--help"},
                                                                                           {"docs", "--help"},
                                                                                           {"ccu", "asm", "--help"},
                                                                                           {"ccu", "check", "--help"},
                                                                                           {"ccu", "disasm", "--help"},
                                                                                           {"bursts", "--help"},
                                                                                           {"tune", "--help"},
                                                                                           {"sweep", "--help"},
                                                                                           {"compare", "--help"}}) {
        const program_run r = dir.run(arguments);
        INFO(arguments.front());
        CHECK(r.exit_code == 0);
        CHECK(r.err.empty());
        CHECK(has(r.out, "Usage: weft"));
        std::istringstream lines(r.out);
        for (std::string line; std::getline(lines, line);)
            CHECK(line.size() <= 120);
    }
    const program_run list = dir.run({"list"});
    CHECK(list.exit_code == 0);
    for (const char* word : {"tpu_v3", "all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all",
                             "ring_1d", "two_d", "row_pair"})
        CHECK(has(list.out, word));
    CHECK(dir.names() == k_only_inputs);
}

TEST_CASE("check describes a platform and writes nothing", "[program][fast]")
{
    const scratch dir;
    const program_run r = dir.run({"check", "small.yaml"});
    CHECK(r.exit_code == 0);
    CHECK(r.err.empty());
    CHECK(has(r.out, "small.yaml: no errors\n"));
    CHECK(has(r.out, "4 x 4 mesh of 16 chips"));
    CHECK(has(r.out, "13 cases in all"));
    const program_run resolved = dir.run({"check", "small.yaml", "--resolved"});
    CHECK(resolved.exit_code == 0);
    dir.write("small.yaml", resolved.out); // a platform file of its own
    CHECK(dir.run({"check", "small.yaml"}).out == r.out);
    CHECK(dir.names() == k_only_inputs);
}

TEST_CASE("a training step alone is a run that is checked and reported", "[program][fast]")
{
    const scratch dir;
    dir.write("step.yaml", "platform: tpu_v3\n"
                           "name: step\n"
                           "mesh: {rows: 4, cols: 4}\n"
                           "training_step:\n"
                           "  compute: 100 us\n"
                           "  algorithm: two_d\n"
                           "  groups: [{name: layer4, bytes: 40 kB}]\n");
    CHECK(has(dir.run({"check", "step.yaml"}).out,
              "1 training step of 100 us of compute, overlap none: 1 gradient group of 40 kB"));
    const program_run r = dir.run({"run", "step.yaml", "--out", "o"});
    CHECK(r.exit_code == 0);
    CHECK(has(r.out, "# training_step by two_d, overlap none"));
    CHECK(has(r.out, "Wrong elements   0 in 1 of 1 results"));
    const json j = json::parse(dir.run({"run", "step.yaml", "--out", "o", "--json", "-"}).out);
    const json step = j["training_step"]["steps"][0];
    CHECK(step["time_us"].get<double>() == Approx(100 + step["groups"][0]["time_us"].get<double>()));
    CHECK(step["groups"][0]["wrong"] == 0);
    CHECK(j["results"].empty());
}

TEST_CASE("validate refuses what it cannot use before anything is simulated", "[program][fast]")
{
    const scratch dir;
    CHECK(dir.run({"validate"}).exit_code == 2);
    CHECK(dir.run({"validate", "tpu_v9"}).exit_code == 2);
    const program_run r = dir.run({"validate", "tpu_v3", "--configs", "nowhere", "--out", "page.md"});
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "nowhere/resnet50_512.yaml"));
    const program_run s = dir.run({"validate", "switchml", "--configs", "nowhere", "--out", "page.md"});
    CHECK(s.exit_code == 2);
    CHECK(has(s.err, "nowhere/rack_8x10g.yaml"));
    CHECK(dir.names() == k_only_inputs);
}
