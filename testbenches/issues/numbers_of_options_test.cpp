// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Every number on the command line has a range, and what is outside is refused with a sentence.
#include "testbenches/issues/program_shell.h"

#include <vector>

using namespace weft::testing;

TEST_CASE("numbers of options that are negative or absurd are refused")
{
    const program_shell sh;
    struct option {
        std::string command;
        std::string what;
        std::vector<std::string> wrong;
    };
    const std::string huge = "18446744073709551616"; // 2^64
    for (const option& o :
         std::vector<option>{{"run small.yaml --trace t.json --trace-limit", "number of records", {"0", "1000000001"}},
                             {"run small.yaml --seed", "seed", {}},
                             {"check small.yaml --seed", "seed", {}},
                             {"run small.yaml --gdb", "port", {"65536"}},
                             {"run small.yaml --gdb 0 --gdb-core", "rank", {"65536"}},
                             {"run small.yaml --gdb 0 --gdb-wait", "number of seconds", {"0", "86401"}},
                             {"firmware test collective --runs", "number of runs", {"1000000001"}},
                             {"firmware test collective --rank", "rank", {"65536"}},
                             {"bench --quick --repeats", "number of repeats", {"0", "100"}}}) {
        std::vector<std::string> wrong = {"-1",  "-5", "+1",   "1.5", "1e3", "0x10",
                                          "010", "''", "' 1'", "one", huge,  "-" + huge};
        wrong.insert(wrong.end(), o.wrong.begin(), o.wrong.end());
        for (const std::string& value : wrong) {
            const shell_result r = sh.run("$weft " + o.command + " " + value);
            INFO(o.command << " " << value << "\n" << r.err);
            CHECK(r.exit_code == 2);
            CHECK(has(r.err, " is no " + o.what + "; write a whole number from "));
            CHECK(r.out.empty());
            CHECK_FALSE(sh.exists("t.json"));
            CHECK_FALSE(sh.exists("out"));
        }
    }
    for (const char* mesh :
         {"-2x2", "2x-2", "2", "2x", "x2", "x", "''", "0x2", "2x2x2", "2x2.0", "257x2", "4294967298x2"}) {
        const shell_result r = sh.run(std::string("$weft firmware test collective --mesh ") + mesh);
        INFO(mesh << "\n" << r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, "is no mesh; write rows x columns, each 1 to 256, for example 2x2."));
    }
}

TEST_CASE("a trace has at most as many records as its limit")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft run small.yaml --quiet --trace t.json --trace-limit 10").exit_code == 0);
    const std::string trace = sh.read("t.json");
    std::size_t records = 0;
    for (std::size_t at = 0; (at = trace.find("\"ph\":\"X\"", at)) != std::string::npos; ++at)
        ++records;
    CHECK(records == 10);
}
