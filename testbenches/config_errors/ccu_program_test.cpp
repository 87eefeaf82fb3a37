// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft ccu` as a shell sees it: exit codes, what stands on stdout and stderr, which files are there afterwards.
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <sys/wait.h>

using weft::testing::has;
using weft::testing::temporary_folder;

namespace {

struct outcome {
    int exit_code = -1;
    std::string out, err;
};

outcome run(const temporary_folder& dir, const std::string& arguments)
{
    const std::string command =
        "cd " + dir.path().string() + " && " + WEFT_PROGRAM + " ccu " + arguments + " > .out 2> .err < /dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000, dir.read(".out"), dir.read(".err")};
}

const std::string k_copy = "load_arg_a a0 0\nload_arg_a a1 1\nmem_to_ms m0 a0 set 0:1\nms_to_mem a1 m0 wait 0:1 clear set 0:2\nclear_bits wait 0:2\n";

} // namespace

TEST_CASE("ccu command: a program is assembled and listed and read back", "[program][fast]")
{
    const temporary_folder dir;
    dir.write("copy.ccu", k_copy);
    const outcome made = run(dir, "asm copy.ccu -o copy.bin");
    CHECK(made.exit_code == 0);
    CHECK(made.err.empty());
    CHECK(made.out == "copy.ccu: 5 instructions in copy.bin\n");
    const outcome text = run(dir, "disasm copy.bin");
    CHECK(text.exit_code == 0);
    CHECK(has(text.out, "    ms_to_mem a1 m0 wait 0:0x1 clear set 0:0x2\n"));
    const outcome unread = run(dir, "check copy.bin");
    CHECK(unread.exit_code == 2);
    CHECK(unread.err == "copy.bin: error: is an assembled program; `weft ccu disasm copy.bin` gives its text.\ncopy.bin: 1 error; nothing was written.\n");
    const outcome both = run(dir, "check copy.bin copy.ccu"); // the other file is looked at all the same
    CHECK(both.exit_code == 2);
    CHECK(has(both.out, "copy.ccu: accepted"));
    dir.write("again.ccu", text.out);
    REQUIRE(run(dir, "asm again.ccu --out again.bin").exit_code == 0);
    CHECK(dir.read("again.bin") == dir.read("copy.bin"));
    const outcome listing = run(dir, "asm copy.ccu");
    CHECK(listing.exit_code == 0);
    CHECK(has(listing.out, "    2  0000000000000020 0000000000000001 0000000000000000 00000000ffff0000  mem_to_ms m0 a0 set 0:0x1\n"));
}

TEST_CASE("ccu command: a good program is accepted with what it takes", "[program][fast]")
{
    const temporary_folder dir;
    dir.write("copy.ccu", k_copy);
    const outcome r = run(dir, "check copy.ccu");
    CHECK(r.exit_code == 0);
    CHECK(r.err.empty());
    CHECK(r.out == "copy.ccu: accepted; 5 instructions, 0 engines of loops, 1 slice, 1 check-bit entry, 2 address and 0 general registers\n");
    CHECK(run(dir, "check - < copy.ccu").exit_code != 0); // standard input is empty here
}

TEST_CASE("ccu command: what is wrong ends with 2 and its line and writes nothing", "[program][fast]")
{
    const temporary_folder dir;
    dir.write("typo.ccu", "load_a a0 0\nmem_to_sm m0 a0\n");
    const outcome typo = run(dir, "asm typo.ccu -o typo.bin");
    CHECK(typo.exit_code == 2);
    CHECK(typo.out.empty());
    CHECK(typo.err == "typo.ccu:2:1: error: 'mem_to_sm' is no instruction; did you mean 'mem_to_ms'?\n"
                      "    mem_to_sm m0 a0\n"
                      "    ^\n"
                      "typo.ccu: 1 error; nothing was written.\n");
    CHECK_FALSE(dir.exists("typo.bin"));
    CHECK(run(dir, "check typo.ccu").err == typo.err);
    dir.write("endless.ccu", "load_x x0 1\nload_x x1 again\nagain: set_bits\n    jump x1 x0 0\n");
    const outcome endless = run(dir, "check endless.ccu");
    CHECK(endless.exit_code == 2);
    CHECK(endless.out.empty());
    CHECK(has(endless.err, "endless.ccu:4:5: error: loops while x0 is not 0, but no round moves x0, so the loop has no end; add a constant to it in every "
                           "round.\n        jump x1 x0 0\n        ^\n"));
    CHECK(run(dir, "check missing.ccu").exit_code == 2);
    CHECK(run(dir, "check .").exit_code == 2);
    const outcome no_file = run(dir, "disasm typo.ccu");
    CHECK(no_file.exit_code == 2);
    CHECK(has(no_file.err, "typo.ccu: error: is no program of `weft ccu asm FILE.ccu -o FILE`"));
}

TEST_CASE("ccu command: a warning does not refuse", "[program][fast]")
{
    const temporary_folder dir;
    dir.write("loose.ccu", "set_bits set 3:1\n");
    const outcome r = run(dir, "check loose.ccu");
    CHECK(r.exit_code == 0);
    CHECK(has(r.err, "loose.ccu:1:1: warning: sets check bit 3:0x1, for which nothing ever waits.\n"));
    CHECK(has(r.out, "loose.ccu: accepted, "));
}

TEST_CASE("ccu command: capacities and several programs", "[program][fast]")
{
    const temporary_folder dir;
    dir.write("copy.ccu", k_copy);
    dir.write("other.ccu", "load_arg_a a2 0\nmem_to_ms m5 a2 set 7:1\nclear_bits wait 7:1\n");
    const outcome together = run(dir, "check copy.ccu other.ccu");
    CHECK(together.exit_code == 0);
    CHECK(has(together.out, "they fit into one unit together\n"));
    const outcome small = run(dir, "check copy.ccu other.ccu --capacity slices=5");
    CHECK(small.exit_code == 2);
    CHECK(has(small.err, "other.ccu:2:1: error: names slice m5; the unit has 5, m0 to m4."));
    const outcome few = run(dir, "check copy.ccu other.ccu --capacity missions=1 --capacity instructions=7");
    CHECK(few.exit_code == 2);
    CHECK(few.err == "other.ccu: error: is program 2; a unit has 1 missions.\n"
                     "other.ccu: error: with the programs before it has 8 instructions; the unit holds 7.\n");
    const outcome twice = run(dir, "check copy.ccu copy.ccu");
    CHECK(twice.exit_code == 2);
    CHECK(has(twice.err, "uses slice m0, as copy.ccu does"));
    const outcome wrong = run(dir, "check copy.ccu --capacity slcies=5");
    CHECK(wrong.exit_code == 2);
    CHECK(has(wrong.err, "--capacity: 'slcies' is no capacity of a unit; did you mean 'slices'?"));
}
