// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C and SIGTERM: what is finished is printed and saved, and where every rank is is told.
#include "testbenches/issues/started_program.h"

#include <sys/prctl.h>
#include <sys/stat.h>

using namespace weft::testing;
using nlohmann::json;

namespace {

/// A short collective, then one that takes the host minutes.
constexpr const char* k_long = "platform: tpu_v3\nname: long\nmesh: {rows: 8, cols: 8}\ndata: off\n"
                               "workload:\n  - {op: all_reduce, algorithms: [two_d], sizes: [1 kB]}\n"
                               "  - {op: all_reduce, algorithms: [ring_1d], sizes: [4 GB]}\n";

/// The simulation runs when the results of an earlier run have been moved.
void start_long(started_program& weft, const std::vector<std::string>& more = {})
{
    weft.write("long.yaml", k_long);
    weft.write("out/results.json", "{\"of\": \"an earlier run\"}\n");
    weft.write("out/firmware.log", "of an earlier run\n");
    std::vector<std::string> arguments{"run", "long.yaml", "--out", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    weft.start(arguments);
    weft.until([&] { return weft.exists("out/results.previous.json"); });
    weft.let_work(0.6); // the first collective takes a tenth of that
}

void check_interrupted(started_program& weft, const char* signal)
{
    INFO(weft.err());
    INFO(weft.out());
    const json j = weft.results();
    const std::string failure = j.at("failure");
    CHECK(failure.rfind(std::string("interrupted by ") + signal, 0) == 0);
    REQUIRE(j.at("results").size() == 1);
    CHECK(j.at("results").at(0).at("size_bytes") == 1000);
    CHECK(j.at("failed_case").at("algorithm") == "ring_1d");
    CHECK(j.at("simulated_time_ps").get<std::uint64_t>() > 0);
    CHECK(has(weft.out(), "     two_d "));
    CHECK(has(weft.err(), "the run was interrupted by"));
    CHECK(has(weft.err(), "all_reduce ring_1d of 4000000000 B was under way, and 64 of 64 ranks have not answered."));
    CHECK(has(weft.err(), "have not answered. It was working: in "));
    CHECK(has(weft.err(), " % of its bytes have arrived.\n"));
    CHECK_FALSE(has(weft.err(), "wait inside the fabric")); // nothing is stuck
    CHECK_FALSE(has(weft.err(), "ring entries left"));
    CHECK(has(weft.err(), "the core")); // what they do, and where
    CHECK(has(weft.err(), "firmware/"));
    CHECK(has(weft.err(), "weft::firmware::"));
    CHECK(weft.names_with(".part").empty());
    CHECK(weft.names_with(".tmp").empty());
    CHECK(text_of(weft / "out/results.previous.json") == "{\"of\": \"an earlier run\"}\n");
    CHECK(text_of(weft / "out/firmware.previous.log") == "of an earlier run\n");
    CHECK_FALSE(weft.exists("out/firmware.log"));
}

} // namespace

TEST_CASE("Ctrl-C saves what is finished and says where every rank is")
{
    started_program weft;
    start_long(weft, {"--trace", "t.json", "--trace-limit", "1000", "--json", "r.json"});
    weft.signal(SIGINT);
    CHECK(weft.finish() == 130);
    check_interrupted(weft, "SIGINT (Ctrl-C)");
    CHECK(json::parse(text_of(weft / "t.json")).at("traceEvents").size() > 1000); // closed properly
    CHECK(weft.results("r.json").at("results").size() == 1);
}

TEST_CASE("scale keeps the steps that have ended when it is interrupted")
{
    started_program weft;
    weft.start({"scale", std::string(WEFT_SOURCE_DIR) + "/configs/ipu_pod/sharded_pod16.yaml", "--to", "64", "--jobs",
                "1", "--json", "scale.json"});
    weft.until([&] { return has(weft.err(), " us a step") || weft.ended(); });
    weft.signal(SIGINT);
    CHECK(weft.finish() == 130);
    INFO(weft.err());
    CHECK(has(weft.err(), "steps have ended"));
    const json points = weft.results("scale.json").at("points");
    REQUIRE(points.size() == 7);
    CHECK(points.back().at("step_us").get<double>() > 0); // the longest is the first one
    CHECK(points.front().at("problem") == "interrupted before it ended");
}

TEST_CASE("SIGTERM saves what is finished and says where every rank is")
{
    started_program weft;
    start_long(weft);
    weft.signal(SIGTERM);
    CHECK(weft.finish() == 143);
    check_interrupted(weft, "SIGTERM");
}

TEST_CASE("the same signal again within a second is the same request")
{
    started_program weft;
    start_long(weft);
    // A terminal that closes sends SIGHUP twice.
    weft.signal(SIGHUP);
    weft.until([&] { return has(weft.err(), "stops and saves"); });
    weft.signal(SIGHUP);
    CHECK(weft.finish() == 128 + SIGHUP);
    INFO(weft.err());
    CHECK_FALSE(has(weft.err(), "ended at once"));
    CHECK(weft.results().at("results").size() == 1);
}

TEST_CASE("the same signal again after a second ends the program at once")
{
    started_program weft;
    weft.write("long.yaml", k_long);
    weft.write("out/results.json", "{}\n");
    weft.start({"run", "long.yaml", "--out", "out", "--json", "pipe"});
    weft.until([&] { return weft.exists("out/results.previous.json"); });
    weft.let_work(0.3);
    ::mkfifo((weft / "pipe").c_str(), 0600); // it will wait for a reader
    weft.signal(SIGINT);
    weft.until([&] { return has(weft.err(), "stops and saves"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
    weft.signal(SIGINT);
    CHECK(weft.finish() == 130);
    INFO(weft.err());
    CHECK(has(weft.err(), "ended at once"));
}

TEST_CASE("a signal that the caller ignores stays ignored")
{
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        started_program weft;
        std::signal(signal, SIG_IGN); // which the program inherits
        start_long(weft);
        std::signal(signal, SIG_DFL);
        weft.signal(signal);
        weft.let_work(0.5);
        CHECK_FALSE(has(weft.err(), "stops"));
        weft.signal(signal == SIGTERM ? SIGINT : SIGTERM);
        CHECK(weft.finish() == (signal == SIGTERM ? 130 : 143));
    }
}

TEST_CASE("a second signal ends the program at once")
{
    started_program weft;
    start_long(weft, {"--trace", "t.json", "--trace-limit", "1000"});
    weft.signal(SIGSTOP); // so that both are there when it goes on
    weft.signal(SIGINT);
    weft.signal(SIGTERM);
    weft.signal(SIGCONT);
    const int code = weft.finish();
    INFO(weft.err());
    CHECK((code == 130 || code == 143));
    CHECK(has(weft.err(), "ended at once"));
    CHECK_FALSE(weft.exists("out/results.json"));
    CHECK(weft.names_with(".part").empty());
}

TEST_CASE("an interrupted firmware test prints the devices that are done and leaves no child")
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // orphans become children of this process
    bool ended_with_parent = false;
    for (const int signal : {SIGINT, SIGKILL, SIGKILL, SIGKILL, SIGKILL, SIGKILL}) {
        if (ended_with_parent)
            break;
        started_program weft;
        weft.start({"firmware", "test", "collective", "--mesh", "8x8", "--out", "report.json"});
        weft.until([&] { return has(weft.out(), "healthy"); });
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        weft.signal(signal);
        const int code = weft.finish();
        INFO(weft.err());
        CHECK(code == (signal == SIGINT ? 130 : 1000 + SIGKILL));
        CHECK((signal != SIGINT || has(weft.err(), "interrupted")));
        CHECK_FALSE(has(weft.err(), "saves")); // no file is written
        CHECK_FALSE(weft.exists("report.json"));
        int status = 0;
        pid_t orphan = 0;
        for (int waits = 0; waits < 200 && (orphan = ::waitpid(-1, &status, WNOHANG)) == 0; ++waits)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        // A run may have ended at that very moment: then the next attempt has to show it.
        const bool killed = orphan > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        CHECK((orphan == -1 || killed || (signal == SIGKILL && WIFEXITED(status))));
        CHECK(::waitpid(-1, &status, WNOHANG) == -1); // none is left
        ended_with_parent = signal == SIGKILL && killed;
    }
    CHECK(ended_with_parent);
}

TEST_CASE("a signal while the file is checked or the machine built is told and moves what an earlier run left")
{
    for (const int signal : {SIGINT, SIGTERM})
        for (const double worked_s :
             {0.05, 0.2, 0.4}) { // the machine stands after 0.6 s on a fast host, 1.3 s on a slow one
            started_program weft;
            weft.write("out/results.json", "earlier");
            weft.start({"run", WEFT_SOURCE_DIR "/configs/ub_mesh/superpod.yaml", "--out", "out", "--quiet"});
            weft.let_work(worked_s);
            weft.signal(signal);
            const int code = weft.finish();
            INFO(worked_s << " s: " << weft.err());
            CHECK(code == 128 + signal);
            CHECK(has(weft.err(), "interrupted before the simulation began; there are no results."));
            CHECK_FALSE(weft.exists("out/results.json"));
            CHECK(text_of(weft / "out/results.previous.json") == "earlier");
        }
}

TEST_CASE("a signal while a file is checked that is refused leaves the folder as it is")
{
    started_program weft;
    weft.write("out/results.json", "earlier");
    weft.start(
        {"run", WEFT_SOURCE_DIR "/configs/ub_mesh/superpod.yaml", "--set", "firmware_timeout=0 s", "--out", "out"});
    weft.let_work(0.02);
    weft.signal(SIGTERM);
    const int code = weft.finish();
    INFO(weft.err());
    // On a busy host it was refused before (2), or stood at its end, where the system ends it (1000 + SIGTERM).
    CHECK((code == 143 || code == 2 || code == 1000 + SIGTERM));
    CHECK(text_of(weft / "out/results.json") == "earlier");
    CHECK_FALSE(weft.exists("out/results.previous.json"));
}
