// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is printed arrives, or the exit code says that it did not.
#include "testbenches/issues/program_shell.h"

using namespace weft::testing;

TEST_CASE("standard output that is lost is a failure of every command")
{
    const program_shell sh;
    for (const std::string command :
         {"run small.yaml", "run small.yaml --json -", "check small.yaml", "check small.yaml --resolved", "list",
          "--help", "run --help", "--version", "firmware test --list",
          "firmware test collective --device wrong_version --runs 1"}) {
        for (const std::string lost : {"> /dev/full", ">&-"}) {
            const shell_result r = sh.run("$weft " + command + " " + lost);
            INFO(command << " " << lost << "\n" << r.err);
            CHECK(r.exit_code == 1);
            CHECK(has(r.err, "weft: standard output could not be written"));
            CHECK(has(r.err, "what was printed is not complete."));
        }
    }
    // The result of the run is not lost.
    CHECK(sh.exists("out/small/results.json"));
    // A wrong file stays a wrong file.
    CHECK(sh.run("$weft check missing.yaml > /dev/full").exit_code == 2);
    CHECK(sh.run("$weft run small.yaml --quiet > /dev/full").exit_code == 0); // nothing was to be printed
}

TEST_CASE("a reader that leaves early ends weft quietly with the code of SIGPIPE")
{
    const program_shell sh;
    constexpr int k_sigpipe = 128 + 13;
    for (const std::string ignored : {"", "trap '' PIPE; "}) {
        const shell_result r = sh.run("{ " + ignored + "sleep 0.2; $weft list; echo $? > code; } | true; cat code");
        INFO(ignored << r.err);
        CHECK(r.out == std::to_string(k_sigpipe) + "\n");
        CHECK_FALSE(has(r.err, "weft"));
    }
}

TEST_CASE("a standard stream that is closed is not taken for a file of the run")
{
    const program_shell sh;
    const shell_result r = sh.run("$weft run small.yaml --json mine.json >&- 2>&-");
    CHECK(r.exit_code == 1);
    CHECK(sh.read("small.yaml").rfind("platform: tpu_v3\n", 0) == 0);
    CHECK(sh.read("mine.json").rfind("{", 0) == 0);
    CHECK(sh.read("out/small/results.json").rfind("{", 0) == 0);
}

TEST_CASE("standard error that is lost costs neither a run nor a sweep")
{
    const program_shell sh;
    sh.write("warned.yaml", sh.read("small.yaml") + "burst: 64 packets\n");
    sh.write("sweep.yaml", "sweep: {platform: small.yaml, out: swept}\ngrid: {seed: [1, 2], data: [\"off\"]}\n");
    for (const std::string lost : {"2> /dev/full", "2>&-"}) {
        INFO(lost);
        CHECK(sh.run("$weft run warned.yaml --out run " + lost).exit_code == 0);
        CHECK(sh.exists("run/results.json"));
        CHECK(sh.run("$weft sweep sweep.yaml --jobs 1 " + lost).exit_code == 0);
        CHECK(sh.exists("swept/sweep.csv"));
        CHECK(sh.run("rm -r run swept").exit_code == 0);
    }
    sh.run("$weft sweep sweep.yaml --jobs 1 2>&1 | head -n 1");
    CHECK(sh.exists("swept/sweep.html"));
}

TEST_CASE("standard output holds one of JSON and CSV and an unwritable CSV is told before the run")
{
    const program_shell sh;
    CHECK(has(sh.run("$weft run small.yaml --json - --csv -").err, "standard output holds one of them"));
    const shell_result r = sh.run("mkdir folder; $weft run small.yaml --csv folder");
    CHECK(r.exit_code == 2);
    CHECK(!sh.exists("out/small/results.json"));
}
