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
