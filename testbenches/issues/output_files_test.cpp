// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is written where: outputs destroy neither what is no file, nor what is read, nor each other.
#include "platforms/report/output_file.h"
#include "testbenches/issues/program_shell.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <vector>

using namespace weft::testing;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const fs::path& path)
{
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

constexpr unsigned k_null = 3; // minor numbers of the memory devices
constexpr unsigned k_full = 7;

/// A node like /dev/null or /dev/full, where this user may make one: a program that replaces devices must not meet those of
/// the host.
bool make_device(const fs::path& path, unsigned minor_number)
{
    constexpr unsigned k_memory_devices = 1;
    return ::mknod(path.c_str(), S_IFCHR | 0666, makedev(k_memory_devices, minor_number)) == 0 &&
           std::ofstream(path).is_open();
}

} // namespace

TEST_CASE("a device that is named as an output stays a device")
{
    const program_shell sh;
    if (!make_device(sh.path() / "null", k_null)) {
        WARN("this host lets nobody make devices: not tested");
        return;
    }
    const shell_result r = sh.run("$weft run small.yaml --quiet --json null --trace null && "
                                  "$weft firmware test collective --device wrong_version --runs 1 --quiet --out null");
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK(S_ISCHR(mode_of(sh.path() / "null")));
    CHECK(sh.exists("out/small/results.json"));
}

TEST_CASE("a FIFO that is named as an output gets the content and stays a FIFO")
{
    const program_shell sh;
    for (const std::string option : {"--json", "--trace"}) {
        const shell_result r = sh.run("rm -f pipe; mkfifo pipe; cat pipe > got & $weft run small.yaml --quiet " +
                                      option + " pipe; code=$?; wait; exit $code");
        INFO(option << "\n" << r.err);
        CHECK(r.exit_code == 0);
        CHECK(S_ISFIFO(mode_of(sh.path() / "pipe")));
        CHECK_FALSE(nlohmann::json::parse(sh.read("got")).empty());
    }
}

TEST_CASE("a symbolic link that is named as an output stays and its file is written with the permissions it had")
{
    const program_shell sh;
    fs::create_directory(sh.path() / "elsewhere");
    sh.write("elsewhere/old.json", "old");
    ::chmod((sh.path() / "elsewhere/old.json").c_str(), 0640);
    fs::create_symlink("elsewhere/old.json", sh.path() / "link");
    fs::create_symlink("elsewhere/new.json", sh.path() / "dangling");
    for (const auto& [link, target] :
         {std::pair{"link", "elsewhere/old.json"}, std::pair{"dangling", "elsewhere/new.json"}}) {
        const shell_result r = sh.run(std::string("$weft run small.yaml --quiet --json ") + link);
        INFO(link << "\n" << r.err);
        CHECK(r.exit_code == 0);
        CHECK(fs::is_symlink(sh.path() / link));
        CHECK_NOTHROW(nlohmann::json::parse(sh.read(target)));
    }
    CHECK((mode_of(sh.path() / "elsewhere/old.json") & 07777) == 0640);
    CHECK(std::distance(fs::directory_iterator(sh.path() / "elsewhere"), {}) == 2); // no temporary file is left

    fs::create_symlink("round", sh.path() / "round");
    const shell_result r = sh.run("$weft run small.yaml --quiet --json round");
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "round cannot be "));
}

TEST_CASE("an output that is also read or written for something else is refused before the run")
{
    const program_shell sh;
    const std::string prices = text_of(fs::path(WEFT_SOURCE_DIR) / "configs/ub_mesh/prices.yaml");
    sh.write("prices.yaml", prices);
    sh.write("board.yaml", text_of(fs::path(WEFT_SOURCE_DIR) / "configs/ub_mesh/board.yaml"));
    sh.write("log", "");
    fs::create_symlink("small.yaml", sh.path() / "link.yaml");
    fs::create_hard_link(sh.path() / "small.yaml", sh.path() / "hard.yaml");
    fs::create_symlink("new.json", sh.path() / "link.json"); // to what does not exist
    const std::string before = sh.read("small.yaml");
    for (const auto& [line, sentence] : std::vector<std::pair<std::string, std::string>>{
             {"run small.yaml --json small.yaml", "--json small.yaml is the platform file, which this command reads"},
             {"run small.yaml --trace ./small.yaml", "--trace ./small.yaml is the platform file"},
             {"run small.yaml --json link.yaml", "--json link.yaml is the platform file"},
             {"run link.yaml --json hard.yaml", "--json hard.yaml is the platform file"},
             {"run - --json small.yaml < small.yaml", "is the platform file on standard input"},
             {"run board.yaml --json prices.yaml", "--json prices.yaml is named in the platform file"},
             {"run small.yaml --json x --trace ./x", "--trace ./x is the same file as --json x"},
             {"run small.yaml --json new.json --trace link.json", "is the same file as --json new.json"},
             {"run small.yaml --json out/small/results.json",
              "is the same file as the run's own out/small/results.json"},
             {"run small.yaml --out d --trace d/firmware.log", "is the same file as the run's own d/firmware.log"},
             {"run small.yaml --json log > log", "--json log is the file that standard output goes to"},
             {"run small.yaml --json a --trace a --coverage-firmware a", "--coverage-firmware a is the same file as"},
             {"validate tpu_v3 --quick --configs . --out small.yaml", "is a platform file of --configs"},
             {"validate tpu_v3 --quick --out x.md --json x.md", "--json x.md is the same file as --out x.md"}}) {
        const shell_result r = sh.run("$weft " + line);
        INFO(line << "\n" << r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, sentence));
        CHECK(has(r.err, "Give another name."));
        CHECK(sh.read("small.yaml") == before);
        CHECK(sh.read("prices.yaml") == prices);
        CHECK_FALSE(sh.exists("out"));
        CHECK_FALSE(sh.exists("d"));
        CHECK_FALSE(sh.exists("x"));
    }
}

TEST_CASE("an output that cannot be written completely is told and does not cost the others")
{
    // Nothing ever fits onto this device; it is no regular file, so that nothing is tried on it before the run.
    const program_shell sh;
    if (!make_device(sh.path() / "full", k_full)) {
        WARN("this host lets nobody make devices: not tested");
        return;
    }
    for (const std::string option : {"--json", "--trace"}) {
        fs::remove_all(sh.path() / "out");
        const shell_result r = sh.run("$weft run small.yaml --quiet " + option + " full");
        INFO(option << "\n" << r.err);
        CHECK(r.exit_code == 1);
        CHECK(has(r.err, "full cannot be written: No space left on device."));
        CHECK(sh.exists("out/small/results.json"));
    }
    weft::output_file full((sh.path() / "full").string());
    full.write("x");
    CHECK_THROWS_AS(full.commit(), weft::output_lost);
}
