// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Looking into the firmware of RV64 cores, as a user does it: weft and the foreign tools are started as programs.
#include "hw/core/iss.h"
#include "platforms/debug/line_table.h"
#include "platforms/debug/rsp_packet.h"
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// A folder with a small platform file in it, and weft in that folder.
class workshop : public weft::testing::temporary_folder {
public:
    workshop()
    {
        write("small.yaml",
              "platform: tpu_v3\nname: small\nmesh: {rows: 2, cols: 2}\nchip: {core: {model: rv64}}\n"
              "workload:\n  - {op: all_reduce, algorithms: [ring_1d], types: [int32], sizes: [4 KiB, 64 KiB]}\n");
    }
    ~workshop()
    {
        if (child_ > 0) {
            ::kill(child_, SIGKILL);
            ::waitpid(child_, nullptr, 0);
        }
    }

    /// Exit code of a shell command in this folder, with a time limit.
    int shell(const std::string& command) const
    {
        const int status = std::system(("cd " + path().string() + " && timeout 120 " + command).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
    }
    int weft(const std::string& arguments) const
    {
        return shell(std::string(WEFT_PROGRAM) + " " + arguments + " > weft.out 2> weft.err");
    }
    std::string digest() const { return json::parse(read("out/small/results.json")).at("digest").dump(); }

    /// weft with a debugger's port; returns the port when it waits.
    int start(const std::string& arguments)
    {
        const std::string command = "cd " + path().string() + " && exec timeout 120 " + WEFT_PROGRAM +
                                    " run small.yaml " + arguments + " > weft.out 2> weft.err";
        fs::remove(path() / "weft.err"); // of an earlier run
        child_ = ::fork();
        REQUIRE(child_ >= 0);
        if (child_ == 0) {
            ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
            ::_exit(127);
        }
        const std::string before = "waiting for a debugger on 127.0.0.1:";
        for (int waits = 0; waits < 3000; ++waits) {
            const std::string said = read("weft.err");
            const auto at = said.find(before);
            if (at != std::string::npos && said.find('\n', at) != std::string::npos)
                return std::stoi(said.substr(at + before.size()));
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        FAIL("weft does not wait: " << read("weft.err"));
        return 0;
    }
    int finish()
    {
        int status = 0;
        ::waitpid(child_, &status, 0);
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    }
    /// gdb in batch mode; what it said.
    std::string gdb(int port, const std::string& commands) const
    {
        write("commands", "set pagination off\nset confirm off\nset width 0\ntarget remote 127.0.0.1:" +
                              std::to_string(port) + "\n" + commands);
        shell("gdb-multiarch -nx -batch -x commands out/small/firmware.elf > gdb.out 2>&1 < /dev/null");
        return read("gdb.out");
    }

private:
    pid_t child_ = -1;
};

bool has_program(const std::string& name)
{
    if (std::system(("command -v " + name + " > /dev/null").c_str()) == 0)
        return true;
    WARN(name << " is not installed (cmake/debian-packages.txt): this part is not tested");
    return false;
}

bool has_engine() { return *weft::iss_engine_name() != '\0'; }

/// A debugger of few words.
class debugger_line {
public:
    explicit debugger_line(int port) : line_(::socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        REQUIRE(::connect(line_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    }
    ~debugger_line() { hang_up(); }
    debugger_line(const debugger_line&) = delete;
    debugger_line& operator=(const debugger_line&) = delete;

    void raw(const std::string& bytes)
    {
        CHECK(::send(line_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
    }
    void send(const std::string& packet) { raw(weft::encode_rsp_packet(packet, false)); }
    std::string answer()
    {
        for (;;) {
            while (const auto event = reader_.next())
                if (event->what == weft::rsp_event::kind::packet)
                    return event->payload;
            pollfd one{line_, POLLIN, 0};
            char bytes[4096];
            const ssize_t n = ::poll(&one, 1, 30'000) > 0 ? ::recv(line_, bytes, sizeof bytes, 0) : 0;
            if (n <= 0)
                return "(nothing)";
            reader_.feed({bytes, static_cast<std::size_t>(n)});
        }
    }
    std::string ask(const std::string& packet)
    {
        send(packet);
        return answer();
    }
    void hang_up()
    {
        if (line_ >= 0)
            ::close(std::exchange(line_, -1));
    }

private:
    int line_;
    weft::rsp_reader reader_{true};
};

void visit(int port, const std::string& bytes) { debugger_line(port).raw(bytes); }

} // namespace

TEST_CASE("gdb: break in the collective and look and step and watch and go on to the end")
{
    if (!has_engine() || !has_program("gdb-multiarch"))
        return;
    workshop w;
    REQUIRE(w.weft("run small.yaml") == 0);
    const std::string plain = w.digest();

    const int port = w.start("--gdb 0 --gdb-core 1");
    const std::string said = w.gdb(port, R"(
monitor time
info threads
x/1wx 0x1000
x/1wx 0x10010000
break weft::firmware::run_collective if context.table.rank == 2
continue
printf "rank %d of %d, count %lu\n", context.table.rank, context.table.ranks, command.count
backtrace
stepi
next
delete
monitor watch 3
watch -l context.expected[16]
continue
delete
break *&weft_read64 thread 2
continue
backtrace 3
delete
set $before = $a0
set var $a0 = 1234
p $a0
set var $a0 = $before
thread 4
info registers pc
p $ft0
monitor cores
continue
)");
    INFO(said << w.read("weft.err"));
    CHECK(w.finish() == 0);
    CHECK(w.digest() == plain);
    CHECK_THAT(said, Contains("simulated time 0 ps"));
    CHECK_THAT(said, Contains("* 2    Thread 2 (rank 1, chip(0,1): has not started) _start ()"));
    CHECK_THAT(said, Contains("4    Thread 4 (rank 3, chip(1,1)"));
    CHECK_THAT(said, Contains("0x1000:\t0x54464557"));     // platform table
    CHECK_THAT(said, Contains("0x10010000:\t0x444d4131")); // type of the DMA
    CHECK_THAT(said, Contains("Thread 3 hit Breakpoint 1, weft::firmware::run_collective ("));
    CHECK_THAT(said, Contains("rank 2 of 4, count 1024"));
    CHECK_THAT(said, Contains("in weft::firmware::collective_main ("));
    CHECK_THAT(said, Contains("in _start ()"));
    CHECK_THAT(said, Contains("Thread 3 hit Hardware watchpoint 2: -location context.expected[16]"));
    CHECK_THAT(said, Contains("Old value = 0\nNew value = 1\n"));
    CHECK_THAT(said, Contains("Thread 2 hit Breakpoint 3, weft_read64 ()"));
    CHECK_THAT(said, Contains("weft::firmware::dma_driver::wait (this="));
    CHECK_THAT(said, Contains("= 1234"));
    CHECK_THAT(said, Contains("rank 0, chip(0,0): "));
    CHECK_THAT(said, Contains("exited normally"));
}

TEST_CASE("gdb: no core slips through a breakpoint while another is taken over it")
{
    if (!has_engine() || !has_program("gdb-multiarch"))
        return;
    workshop w; // two cases, with a reset of all cores between them, one of which gdb takes over its breakpoint then
    REQUIRE(w.weft("run small.yaml --trace t.json --trace-firmware") == 0);
    const std::string plain = w.digest();
    const json trace = json::parse(w.read("t.json"));
    std::size_t sleeps = 0;
    for (const json& e : trace.at("traceEvents"))
        sleeps += e.at("ph") == "B" && e.at("name") == "weft_sleep";
    REQUIRE(sleeps >= 8);
    // Over the wfi at its entry a core takes long, and all breakpoints are out of the program meanwhile.
    const std::string said =
        w.gdb(w.start("--gdb 0"), "break *&weft_sleep\nignore 1 100000\ncontinue\ninfo breakpoints\n");
    INFO(said << w.read("weft.err"));
    CHECK(w.finish() == 0);
    CHECK(w.digest() == plain);
    CHECK_THAT(said, Contains("breakpoint already hit " + std::to_string(sleeps) + " times"));
}

TEST_CASE("gdb: the pc can be set with trace and coverage at the same time")
{
    if (!has_engine() || !has_program("gdb-multiarch"))
        return;
    workshop w;
    const std::string coverage = weft::can_read_line_tables() ? " --coverage-firmware c.info" : "";
    const std::string said = w.gdb(w.start("--gdb 0 --trace t.json --trace-firmware" + coverage), R"(
break *&weft_read64
continue
delete
x/2i $pc
set $a1 = $a0
set var $begin = $pc
set $pc = $pc + 2
info symbol $pc
stepi
print $pc - $begin
set var *(unsigned short*)$begin = *(unsigned short*)$begin
stepi
continue
)");
    INFO(said << w.read("weft.err"));
    CHECK(w.finish() == 0); // every answer is right
    CHECK_THAT(said, Contains("weft_read64 + 2 in section"));
    CHECK_THAT(said, Contains("$1 = 4\n"));
    CHECK_THAT(said, Contains("exited normally"));
    CHECK_NOTHROW(json::parse(w.read("t.json")));
    if (!coverage.empty())
        CHECK_THAT(w.read("c.info"), Contains("start.S"));
}

TEST_CASE("gdb: an interrupt stops cores that run for ever and patched code is executed")
{
    if (!has_engine())
        return;
    workshop w;
    debugger_line gdb(w.start("--gdb 0"));
    CHECK(gdb.ask("m2000000,4") == "E0e"); // the control block: reading it could change something
    CHECK(gdb.ask("mffffffffffffffff,4") == "E0e");
    const std::string begin = gdb.ask("m10a000,2");
    CHECK(gdb.ask("M10a000,2:01a0") == "OK"); // j .
    gdb.send("vCont;c");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    gdb.raw("\x03");
    CHECK(gdb.answer().substr(0, 3) == "T02");
    CHECK(gdb.ask("Hg1") == "OK");
    CHECK(gdb.ask("p20") == "00a0100000000000");
    CHECK(gdb.ask("M10a000,2:" + begin) == "OK"); // of core 0 alone, which the others wait for
    gdb.send("vCont;s:1");
    CHECK(gdb.answer().substr(0, 3) == "T05");
    CHECK(gdb.ask("D") == "OK");
    gdb.hang_up();
    CHECK(w.finish() == 0);
    CHECK_THAT(w.read("weft.out"), Contains("Wrong elements   0 in 2 of 2 results"));
}

TEST_CASE("gdb: one that goes away or kills or never comes")
{
    if (!has_engine())
        return;
    workshop w;
    REQUIRE(w.weft("run small.yaml") == 0);
    const std::string plain = w.digest();

    visit(w.start("--gdb 0"), "+$?#3f$g#6");
    CHECK(w.finish() == 0);
    CHECK_THAT(w.read("weft.err"), Contains("the debugger has gone; the run goes on without it"));
    CHECK(w.digest() == plain);

    visit(w.start("--gdb 0"), "$vCont;c#a8"); // goes while the cores run
    CHECK(w.finish() == 0);
    CHECK(w.digest() == plain);

    visit(w.start("--gdb 0"), "$k#6b");
    CHECK(w.finish() == 1);
    CHECK_THAT(w.read("weft.err"), Contains("the debugger ended the run before it began"));

    visit(w.start("--gdb 0"), "$Z0,10a000,2#38$vCont;s#b8$k#6b");
    CHECK(w.finish() == 1);
    CHECK_THAT(w.read("weft.err"), Contains("the run failed: the debugger ended it"));

    CHECK(w.weft("run small.yaml --gdb 0 --gdb-wait 1") == 2);
    CHECK_THAT(w.read("weft.err"), Contains("no debugger has come within 1 s"));
}

TEST_CASE("gdb: arguments that cannot be used")
{
    if (!has_engine())
        return;
    workshop w;
    CHECK(w.weft("run small.yaml --gdb 0 --gdb-core 4") == 2);
    CHECK_THAT(w.read("weft.err"), Contains("--gdb-core: is 4, but this machine has cores 0 to 3."));
    CHECK(w.weft("run small.yaml --gdb 0 --set chip.core.model=native") == 2);
    CHECK_THAT(w.read("weft.err"), Contains("--gdb: the cores are native and execute no instructions"));
    CHECK(w.weft("run small.yaml --gdb 65536") == 2);
    CHECK(w.weft("run small.yaml --gdb seven") == 2);
    CHECK(w.weft("run small.yaml --gdb-core 1") == 2);
    const int port = w.start("--gdb 0");
    CHECK(w.weft("run small.yaml --out other --gdb " + std::to_string(port)) == 2);
    CHECK_THAT(w.read("weft.err"), Contains("cannot be used: Address already in use."));
}

TEST_CASE("firmware trace: calls nest and their times do not go back")
{
    if (!has_engine())
        return;
    workshop w;
    REQUIRE(w.weft("run small.yaml --trace plain.json") == 0);
    const std::string plain = w.digest();
    REQUIRE(w.weft("run small.yaml --trace trace.json --trace-firmware") == 0);
    CHECK(w.digest() == plain);

    std::map<int, std::vector<std::string>> stacks;
    std::map<int, double> last;
    std::map<std::string, int> calls;
    std::string path_to_poll; // of rank 3: who called whom when the DMA was polled first
    const json events = json::parse(w.read("trace.json")).at("traceEvents");
    std::size_t others = 0;
    for (const json& e : events) {
        if (e.at("ph") != "B" && e.at("ph") != "E") {
            ++others;
            continue;
        }
        const int rank = e.at("pid");
        CHECK(e.at("ts").get<double>() >= last[rank]);
        last[rank] = e.at("ts");
        std::vector<std::string>& stack = stacks[rank];
        if (e.at("ph") == "E") {
            REQUIRE(!stack.empty());
            stack.pop_back();
            continue;
        }
        stack.push_back(e.at("name"));
        ++calls[stack.back()];
        if (rank == 3 && path_to_poll.empty() && stack.back() == "weft::firmware::dma_driver::wait")
            for (const std::string& name : stack)
                path_to_poll += "/" + name.substr(name.rfind(':') + 1);
    }
    CHECK(stacks.size() == 4);
    for (const auto& [rank, stack] : stacks)
        CHECK(stack.empty());
    CHECK(calls["_start"] == 8);         // each core boots for each of two cases
    CHECK(calls["weft::firmware::run_collective"] == 8); // two cases on four cores
    CHECK(calls["?"] == 0);
    CHECK_THAT(path_to_poll, Contains("/_start/weft_boot/") && Contains("/run_collective/"));
    // The cores' entries come to what the trace has anyway, and their four names.
    CHECK(others == json::parse(w.read("plain.json")).at("traceEvents").size() + 4);

    CHECK(w.weft("run small.yaml --trace short.json --trace-firmware --trace-limit 100") == 0);
    CHECK_NOTHROW(json::parse(w.read("short.json")));
    CHECK(w.weft("run small.yaml --trace-firmware") == 2);
    CHECK(w.weft("run small.yaml --trace t.json --trace-firmware --set chip.core.model=native") == 2);
    CHECK_THAT(w.read("weft.err"), Contains("--trace-firmware: the cores are native"));
}

TEST_CASE("firmware coverage: lines of what ran and of what did not")
{
    if (!has_engine())
        return;
    workshop w;
    if (!weft::can_read_line_tables()) {
        CHECK(w.weft("run small.yaml --coverage-firmware c.info") == 2);
        CHECK_THAT(w.read("weft.err"), Contains("install libdw-dev"));
        return;
    }
    REQUIRE(w.weft("run small.yaml") == 0);
    const std::string plain = w.digest();
    REQUIRE(w.weft("run small.yaml --coverage-firmware c.info") == 0);
    CHECK(w.digest() == plain);
    CHECK(w.weft("run small.yaml --coverage-firmware no/such/c.info") == 2);

    std::map<std::string, std::map<unsigned, std::uint64_t>> files;
    std::istringstream info(w.read("c.info"));
    std::string file;
    for (std::string line; std::getline(info, line);) {
        if (line.rfind("SF:", 0) == 0)
            file = line.substr(3);
        unsigned number = 0;
        unsigned long long count = 0;
        if (std::sscanf(line.c_str(), "DA:%u,%llu", &number, &count) == 2)
            files[file][number] = count;
    }
    const auto covered = [&](const std::string& name) {
        const auto& lines = files[std::string(WEFT_SOURCE_DIR) + "/firmware/" + name];
        REQUIRE(!lines.empty());
        std::size_t hit = 0;
        for (const auto& [number, count] : lines)
            hit += count != 0;
        return 100 * hit / lines.size();
    };
    CHECK(covered("collectives/engine.cpp") > 50);
    CHECK(covered("drivers/dma_driver.cpp") > 25); // no elements on this platform
    CHECK(covered("collectives/all_to_all.cpp") == 0);
    CHECK(covered("collectives/failed_chips.cpp") == 0);

    // The very line that enters the collective: once for each case and core, however the compiler has spread it.
    std::ifstream main_cpp(std::string(WEFT_SOURCE_DIR) + "/firmware/main.cpp");
    unsigned at = 0;
    unsigned call = 0;
    for (std::string line; std::getline(main_cpp, line);) {
        ++at;
        if (line.find("result = run_collective(") != std::string::npos)
            call = at;
    }
    CHECK(files[std::string(WEFT_SOURCE_DIR) + "/firmware/main.cpp"][call] == 8);

    if (has_program("lcov")) {
        CHECK(w.shell("lcov --summary c.info > lcov.out 2>&1") == 0);
        CHECK_THAT(w.read("lcov.out"), Contains("lines......: "));
        CHECK(w.shell("genhtml -q -o html c.info > genhtml.out 2>&1") == 0);
        CHECK(fs::exists(w / "html/index.html"));
    }
}
