// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the program says of itself and of its host: version, doctor, predictions of check, completion of bash and man page.
#include "testbenches/cli/platform_names.h"
#include "testbenches/issues/program_shell.h"

#include <catch2/catch.hpp>

#include <regex>
#include <set>

using namespace weft::testing;

namespace {

/// "run", "check": the commands that --help lists.
std::vector<std::string> commands(const program_shell& sh)
{
    std::vector<std::string> names;
    std::istringstream lines(sh.run("$weft --help").out);
    std::string line;
    while (std::getline(lines, line) && line != "Subcommands:") {
    }
    while (std::getline(lines, line) && line.rfind("  ", 0) == 0)
        if (line[2] != ' ')
            names.push_back(line.substr(2, line.find(' ', 2) - 2));
    CHECK(names.size() >= 15);
    return names;
}

/// Long options in a text.
std::set<std::string> long_options(const std::string& text)
{
    std::set<std::string> names;
    static const std::regex option("(^|[ ,|'(])(--[a-z][a-z-]*)");
    for (std::sregex_iterator at(text.begin(), text.end(), option), end; at != end; ++at)
        names.insert((*at)[2]);
    return names;
}

double megabytes(const std::string& text)
{
    static const std::regex of_memory("([0-9.]+) ([kMGT]?)B of memory, as predicted");
    std::smatch found;
    REQUIRE(std::regex_search(text, found, of_memory));
    const std::string prefix = found[2];
    return std::stod(found[1]) * (prefix == "G" ? 1e3 : prefix == "k" ? 1e-3 : 1);
}

/// What the completion offers behind these words; the last one is being written.
std::set<std::string> completions(const program_shell& sh, const std::string& words)
{
    const shell_result r =
        sh.run("bash -c 'source " WEFT_SOURCE_DIR "/docs/weft.bash; COMP_WORDS=(weft " + words +
               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _weft; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
    INFO(r.err);
    CHECK(r.err.empty());
    std::set<std::string> all;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty())
            all.insert(line);
    return all;
}

} // namespace

TEST_CASE("the verbose version tells what a report of a bug needs")
{
    const program_shell sh;
    const std::string brief = sh.run("$weft --version").out;
    for (const char* line : {"$weft --version --verbose", "$weft --verbose --version"}) {
        const shell_result r = sh.run(line);
        CHECK(r.exit_code == 0);
        CHECK(r.out.rfind(brief, 0) == 0);
        for (const char* what : {"build       ", "with        ", "libraries   SystemC 2.3", "yaml-cpp 0.",
                                 "system      Linux ", "host        "})
            CHECK(has(r.out, what));
        CHECK_FALSE(has(r.out, WEFT_SOURCE_DIR)); // it is for others to read
    }
    CHECK(std::count(brief.begin(), brief.end(), '\n') == 1);
    CHECK(sh.run("$weft --verbose").exit_code == 2);
}

TEST_CASE("doctor names the largest machine that fits into memory")
{
    const program_shell sh;
    sh.write("machines/small.yaml", sh.read("small.yaml"));
    sh.write(
        "machines/large.yaml",
        "platform: tpu_v3\nname: large\nmesh: {rows: 16, cols: 16}\nworkload: [{op: all_reduce, sizes: [1 MiB]}]\n");
    sh.write("machines/sweep.yaml", "sweep:\n  platform: small.yaml\ngrid:\n  seed: [1, 2]\n");
    const shell_result all = sh.run("$weft doctor --configs machines --memory '8 GiB'");
    CHECK(all.exit_code == 0);
    CHECK(has(all.out, "Largest   machines/large.yaml: 256 ranks, about "));
    CHECK(has(all.out, "Fit       2 of 2 platform files in machines\n"));
    const shell_result some = sh.run("$weft doctor --configs machines --memory '100 MiB'");
    CHECK(has(some.out, "Largest   machines/small.yaml: 4 ranks"));
    CHECK(has(some.out, "Fit       1 of 2 platform files"));
    CHECK(has(some.out, "Too large machines/large.yaml: 256 ranks"));
    CHECK(has(sh.run("$weft doctor --configs machines --memory '1 MiB'").out,
              "none of the 2 platform files in machines fits"));
    const shell_result nowhere = sh.run("$weft doctor --configs nowhere");
    CHECK(nowhere.exit_code == 2);
    CHECK(has(nowhere.err, "--configs 'nowhere': there is no such folder"));
    REQUIRE(sh.run("mkdir empty").exit_code == 0);
    const shell_result empty = sh.run("$weft doctor --configs empty");
    CHECK(empty.exit_code == 2);
    CHECK(has(empty.out, "no platform file in empty can be run"));
    // What means to be a platform file and has errors counts; sweeps, prices and parts do not.
    sh.write("machines/wrong.yaml", "platform: tpu_v3\nmesh: {rows: 0}\n");
    sh.write("machines/part.yaml", "mesh: {rows: 4}\n");
    sh.write("machines/torn.yaml", "platform: [\n");
    const shell_result broken = sh.run("$weft doctor --configs machines --memory '8 GiB'");
    CHECK(broken.exit_code == 0);
    CHECK(has(broken.out, "Broken    machines/wrong.yaml: it has errors; `weft check` names them\n"));
    CHECK(has(broken.out, "Broken    machines/torn.yaml: "));
    CHECK_FALSE(has(broken.out, "part.yaml"));
    CHECK(has(broken.out, "Fit       2 of 4 platform files in machines; 2 with errors\n"));
    CHECK(sh.run("$weft doctor --memory 100").exit_code == 2);
    const shell_result plain = sh.run("$weft doctor --configs machines");
    CHECK(has(plain.out, "Cores     "));
    CHECK(has(plain.out, " free\n"));
}

TEST_CASE("check predicts memory of the host that grows with ranks and data and is about what a run takes")
{
    const program_shell sh;
    const auto predicted = [&](const std::string& sets) {
        return megabytes(sh.run("$weft check small.yaml " + sets).out);
    };
    CHECK(predicted("--set mesh.rows=64 --set mesh.cols=64") > 20 * predicted(""));
    CHECK(predicted("--set 'workload.0.sizes=[64 MiB]'") >
          predicted("--set 'workload.0.sizes=[64 MiB]' --set data=off") + 250);
    // Of a run with much data, within a factor of two.
    const std::string sets = "--set 'workload.0.sizes=[16 MiB]' --set mesh.rows=4";
    const shell_result ran = sh.run("bash -c 'ulimit -c 0; exec /usr/bin/env python3 - \"$@\" <<END\n"
                                    "import resource, subprocess, sys\n"
                                    "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
                                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000)\n"
                                    "END\n' x $weft run small.yaml " +
                                    sets);
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    const double taken = std::stod(ran.out);
    CHECK(predicted(sets) > taken / 2);
    CHECK(predicted(sets) < taken * 2);
}

TEST_CASE("completion of bash and man page know every command and every option of its help")
{
    const program_shell sh;
    const std::string manual = text_of(WEFT_SOURCE_DIR "/docs/weft.1");
    std::string plain = std::regex_replace(manual, std::regex("\\\\-"), "-");
    const std::vector<std::string> names = commands(sh);
    std::size_t options = 0;
    for (const std::string& name : names) {
        INFO(name);
        CHECK(completions(sh, "\"\"").count(name) == 1);
        CHECK(has(plain, ".SS \"" + name));
        const std::set<std::string> offered = completions(sh, name + " --");
        const std::string help = sh.run("$weft " + name + " --help").out;
        if (has(help, "Subcommands:"))
            continue;
        for (const std::string& option : long_options(help.substr(help.find("Options:")))) {
            INFO(option);
            if (std::regex_search(
                    help, std::regex("(^|\n)  (-[a-z],)?" + option + "[ ,\n]"))) { // an option, no mention of one
                CHECK(offered.count(option) == 1);
                ++options;
            }
        }
    }
    CHECK(options >= 60);
    for (const char* word : {"build", "test", "clean"})
        CHECK(completions(sh, "\"\"").count(word) == 1);
    CHECK(completions(sh, "ch") == std::set<std::string>{"check"});
    CHECK(completions(sh, "ccu \"\"").count("disasm") == 1);
    CHECK(completions(sh, "run sm") == std::set<std::string>{"small.yaml"});
    CHECK(completions(sh, "run --out sm") == std::set<std::string>{"small.yaml"});
    for (const std::string& platform : platform_names(sh))
        CHECK(completions(sh, "new \"\"").count(platform) == 1);
    // The page as man shows it, without complaints.
    const shell_result shown = sh.run("groff -man -Tutf8 " WEFT_SOURCE_DIR "/docs/weft.1");
    CHECK(shown.exit_code == 0);
    CHECK(shown.err.empty());
    CHECK(has(shown.out, "virtual platforms"));
    CHECK(sh.run("head -c 2 " WEFT_SOURCE_DIR "/docs/weft.1").out == ".\\"); // what begins with ' names preprocessors
}
