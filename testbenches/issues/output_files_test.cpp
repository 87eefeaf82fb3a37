// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is written where: outputs destroy neither what is no file, nor what is read, nor each other.
#include "hw/core/iss.h"
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
             {"run small.yaml --json out/small/results.previous.json",
              "is the same file as the run's own, for what an earlier run left, out/small/results.previous.json"},
             {"run small.yaml --out d --trace d/firmware.previous.log",
              "is the same file as the run's own, for what an earlier run left, d/firmware.previous.log"},
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

TEST_CASE("a log of the firmware does not wait for the reader of a FIFO and keeps what it is linked to")
{
    const program_shell sh;
    shell_result r = sh.run("mkdir d && mkfifo d/firmware.log && timeout 60 $weft run small.yaml --quiet --out d");
    INFO(r.err);
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "d/firmware.log is a FIFO or socket, and the run would wait for its reader."));
    CHECK_FALSE(sh.exists("d/results.json"));
#ifdef WEFT_RV64_PROGRAMS
    if (*::weft::iss_engine_name() == '\0')
        return;
    const std::string probe = " --set chip.core.model=rv64 --set chip.core.elf=" WEFT_RV64_PROGRAMS "/test_hal_probe.elf";
    r = sh.run("mkdir e && touch mine.log && ln -s ../mine.log e/firmware.log && $weft run small.yaml --quiet --out e" + probe);
    CHECK(r.exit_code == 1); // it answers no command
    CHECK(fs::is_symlink(sh.path() / "e/firmware.log"));
    CHECK(has(sh.read("mine.log"), "argument 0"));
    r = sh.run("mkdir f; ln small.yaml f/firmware.log; $weft run small.yaml --quiet --out f" + probe);
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "f/firmware.log is the platform file, which this command reads"));
    CHECK(sh.read("small.yaml").rfind("platform: tpu_v3", 0) == 0);
#endif
}

TEST_CASE("waves are refused where they would destroy something and where no room is left")
{
    const program_shell sh;
    sh.write("w.yaml", "platform: switchml\nname: w\nworkers: 2\nswitch: {aggregator: rtl, waves: w}\n"
                       "workload: [{op: all_reduce, algorithms: [switchml], sizes: [1 KiB]}]\n");
    if (sh.run("$weft check w.yaml").exit_code != 0) {
        WARN("this build has no RTL models: not tested");
        return;
    }
    shell_result r = sh.run("$weft run w.yaml --quiet");
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK(fs::file_size(sh.path() / "w_0_0.fst") > 100);

    sh.write("mine", "mine");
    const std::vector<std::pair<std::string, std::string>> cases{
        {"rm -f w_*; ln -s mine w_0_1.fst; $weft run w.yaml", "w_0_1.fst is no regular file"},
        {"rm -f w_*; mkfifo w_0_2.fst; $weft run w.yaml", "w_0_2.fst is no regular file"},
        {"rm -f w_*; $weft run w.yaml --json w_0_0.fst", "--json w_0_0.fst is the same file as"},
        {"rm -f w_*; mv w.yaml w_0_0.fst; $weft run w_0_0.fst", "w_0_0.fst is the platform file, which this command reads"}};
    for (const auto& [line, sentence] : cases) {
        r = sh.run(line);
        INFO(line << "\n" << r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, sentence));
        CHECK(sh.read("mine") == "mine");
    }
    sh.run("mv w_0_0.fst w.yaml");
    r = sh.run("unshare -m sh -c 'mkdir -p small && mount -t tmpfs -o size=1m none small && "
               "$0 run w.yaml --quiet --set switch.waves=small/w --out fresh' $weft");
    if (has(r.err, "unshare") || has(r.err, "mount")) {
        WARN("this host lets nobody mount: a full disk is not tested");
        return;
    }
    INFO(r.err);
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "has less than 256 MiB left, which the writer of waves needs"));
    CHECK_FALSE(sh.exists("fresh"));
}

TEST_CASE("a dash is standard output for --json of run and refused by every other output option")
{
    const program_shell sh;
    for (const std::string line :
         {"run small.yaml --trace -", "run small.yaml --out -", "run small.yaml --coverage-firmware -",
          "validate tpu_v3 --quick --out -", "validate tpu_v3 --quick --json -", "bench --quick --out -", "docs --out -",
          "firmware test collective --runs 1 --device wrong_version --out -"}) {
        const shell_result r = sh.run("$weft " + line);
        INFO(line << "\n" << r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, "'-' is standard output, which carries the table; give a name, ./- for a file called '-'."));
        CHECK_FALSE(sh.exists("-"));
        CHECK_FALSE(sh.exists("out"));
    }
    CHECK(sh.run("$weft run small.yaml --quiet --json - | grep -q digest && test ! -e ./-").exit_code == 0);
    CHECK(sh.run("$weft run small.yaml --quiet --trace ./- && test -f ./-").exit_code == 0);
}

TEST_CASE("a run that is refused after its folder was made leaves none and gives back what an earlier run left")
{
    const program_shell sh;
    shell_result r = sh.run("$weft run small.yaml --gdb 0 --out a/b/c"); // its cores are native
    INFO(r.err);
    CHECK(r.exit_code == 2);
    CHECK_FALSE(sh.exists("a"));
    sh.run("mkdir d");
    sh.write("d/results.json", "earlier");
    r = sh.run("$weft run small.yaml --gdb 0 --out d");
    CHECK(r.exit_code == 2);
    CHECK(sh.read("d/results.json") == "earlier");
    CHECK_FALSE(sh.exists("d/results.previous.json"));
}

TEST_CASE("problems of several --set and of the file are told in one pass")
{
    const program_shell sh;
    const shell_result r =
        sh.run("$weft check small.yaml --set nonsense --set mesh.rows=many --set mesh.colour=red --set =3 --seed 1");
    INFO(r.err);
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "'nonsense' is not of the form key.path=value"));
    CHECK(has(r.err, "mesh.rows"));
    CHECK(has(r.err, "mesh.colour"));
    CHECK(has(r.err, "'=3' is not of the form key.path=value"));
    CHECK(has(r.err, "4 errors; nothing was built or written."));
}

TEST_CASE("a reader of a FIFO that leaves costs that output and not the run")
{
    const program_shell sh; // a trace of 0.9 MB: a pipe holds 64 KiB, so that it can not be through before the reader leaves
    const shell_result r = sh.run("mkfifo pipe; head -c 1 pipe > got & $weft run small.yaml --set 'workload.0.sizes=[64 KiB]' "
                                  "--trace pipe > table; code=$?; wait; exit $code");
    INFO(r.err);
    CHECK(r.exit_code == 1); // not 128 + SIGPIPE
    CHECK(has(r.err, "pipe cannot be written: Broken pipe."));
    CHECK(has(sh.read("table"), "all_reduce"));
    CHECK(sh.exists("out/small/results.json"));
}

TEST_CASE("a limit on file sizes costs the file and not the run")
{
    const program_shell sh;
    const shell_result r = sh.run("ulimit -f 8; $weft run small.yaml --trace t.json > table");
    INFO(r.err);
    CHECK(r.exit_code == 1); // not 128 + SIGXFSZ
    CHECK(has(r.err, "t.json cannot be written: File too large."));
    CHECK(has(sh.read("table"), "all_reduce"));
    CHECK_FALSE(sh.exists("t.json"));
}

TEST_CASE("waves of a switch that no algorithm uses are neither written nor in the way")
{
    const program_shell sh;
    sh.write("u.yaml", "platform: switchml\nname: u\nworkers: 2\nswitch: {aggregator: rtl, waves: w}\n"
                       "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [1 KiB]}]\n");
    shell_result r = sh.run("$weft run u.yaml --quiet --out o");
    INFO(r.err);
    if (has(r.err, "this build has no RTL models")) {
        WARN("this build has no RTL models: not tested");
        return;
    }
    CHECK(r.exit_code == 0);
    CHECK(has(r.err, "switch.waves: is set, but nothing uses it"));
    for (const auto& entry : fs::directory_iterator(sh.path()))
        CHECK(entry.path().extension() != ".fst");
    r = sh.run("$weft run u.yaml --quiet --set switch.waves=nodir/w --out o");
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK_FALSE(sh.exists("nodir"));
}
