// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft firmware test` as a shell sees it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>

namespace {

struct shell_run {
    int exit_code = -1;
    std::string text; ///< stdout and stderr
};

shell_run weft(const std::string& arguments)
{
    FILE* pipe = ::popen((WEFT_PROGRAM " " + arguments + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    shell_run r;
    char buffer[1024];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr)
        r.text += buffer;
    const int status = ::pclose(pipe);
    r.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return r;
}

bool has(const shell_run& r, const std::string& part) { return r.text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("weft firmware test prints a table and writes the report")
{
    const std::string report = (std::filesystem::temp_directory_path() / "weft_firmware_report.json").string();
    const shell_run r = weft("firmware test collective --device wrong_version,lost_interrupt --runs 3 --out " + report);
    INFO(r.text);
    CHECK(r.exit_code == 0);
    CHECK(has(r, "right error"));
    CHECK(has(r, "3 of 7"));
    CHECK(has(r, "Failed        0"));
    const auto json = nlohmann::json::parse(std::ifstream(report));
    CHECK(json.at("failed") == 0);
    CHECK(json.at("devices").size() == 3); // and the run with devices that behave
    CHECK(json.at("devices").at(1).at("right_error") == 3);
    std::filesystem::remove(report);
}

TEST_CASE("weft firmware test runs on the machine of another platform and attacks what its chips have beside the DMA")
{
    const shell_run r = weft("firmware test collective --platform switchml --device wrong_version,stuck_doorbell");
    INFO(r.text);
    CHECK(r.exit_code == 0);
    CHECK(has(r, "wrong_version                     10")); // 7 of DMA and mailbox, 3 of the NIC
    CHECK(has(r, "Platform      1x3 workers below SwitchML switches, hostile at rank 1"));
    CHECK(has(r, "Failed        0"));
    const shell_run boards = weft("firmware test collective --platform ub_mesh --mesh 1x3 --device wrong_version");
    INFO(boards.text);
    CHECK(boards.exit_code == 0);
    CHECK(has(boards, "Platform      board of 3 NPUs of UB-Mesh"));
    // Microcode is a command of its own before the collective: answers are counted by commands.
    const shell_run units = weft("firmware test collective --platform ub_mesh --mesh 1x4 --runs 10 --set "
                                 "'workload=[{op: all_reduce, algorithms: [ccu], types: [int32], sizes: [4096 B]}]'");
    INFO(units.text);
    CHECK(units.exit_code == 0);
    CHECK(has(units, "Failed        0"));
}

#ifdef WEFT_RV64_PROGRAMS
TEST_CASE("weft firmware test runs the shipped binary and an ELF file on RV64 cores")
{
    for (const std::string& firmware :
         {std::string("collective --core rv64"), std::string(WEFT_RV64_PROGRAMS "/firmware.elf")}) {
        const shell_run r = weft("firmware test " + firmware + " --device wrong_version,bus_error,link_down --runs 5");
        INFO(r.text);
        CHECK(r.exit_code == 0);
        CHECK(has(r, "5 of 7"));
        CHECK(has(r, "Failed        0"));
    }
    // A binary that knows nothing of commands is a failure, with the place where it stopped.
    const shell_run r = weft("firmware test " WEFT_RV64_PROGRAMS "/test_endings.elf");
    INFO(r.text);
    CHECK(r.exit_code == 1);
    CHECK(has(r, "stack overflow"));
    CHECK(has(r, "endings.S:"));
}
#endif

TEST_CASE("weft firmware test lists its devices")
{
    const shell_run r = weft("firmware test --list");
    CHECK(r.exit_code == 0);
    CHECK(has(r, "bus_error\n"));
    CHECK(has(r, "    right: "));
}

TEST_CASE("weft firmware test refuses what it cannot run with a sentence and 2")
{
    const auto refuses = [](const std::string& arguments, const std::string& sentence) {
        const shell_run r = weft("firmware test " + arguments);
        INFO(arguments << ": " << r.text);
        CHECK(r.exit_code == 2);
        CHECK(has(r, sentence));
    };
    refuses("", "say which firmware");
    refuses("collectiv", "did you mean 'collective'?");
    refuses("README.md", "is no ELF file");
    refuses(WEFT_PROGRAM, "cannot be loaded");
    refuses(WEFT_PROGRAM " --core rv64", "is no RISC-V binary");
    refuses("collective --device spurous", "did you mean 'spurious'?");
    refuses("collective --platform ub_mes", "did you mean 'ub_mesh'?");
    refuses("collective --mesh 2by2", "is no mesh");
    refuses("collective --mesh 2x2 --rank 4", "a 2x2 mesh has 4 ranks");
    refuses("collective --mesh 100x100", "too large");
    refuses("collective --mesh 3x3", "cannot run the bench");
}
