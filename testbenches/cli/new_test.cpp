// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft new`: a file to begin with that every platform reads without a word, that says what its keys mean, and that runs.
#include "testbenches/cli/platform_names.h"
#include "testbenches/issues/program_shell.h"

#include <catch2/catch.hpp>

using namespace weft::testing;

namespace {

/// The lines of a file that are no comments, without what `check --resolved` says of them.
std::string keys_of(const std::string& yaml)
{
    std::string keys;
    std::istringstream lines(yaml);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find_first_not_of(' ');
        if (first == std::string::npos || line[first] == '#')
            continue;
        const std::string key = line.substr(0, line.find("  # "));
        if (key.size() < 4 || key.compare(key.size() - 4, 4, ": {}") != 0) // nothing in it is used
            keys += key + "\n";
    }
    return keys;
}

using text_lines = std::vector<std::string>;

/// Lines of a key behind '#', with the section that it begins.
struct hidden_key {
    std::size_t begin = 0, end = 0;
    std::string indent;
};

std::vector<hidden_key> hidden_keys(const text_lines& lines, std::size_t begin, std::size_t end)
{
    std::vector<hidden_key> found;
    for (std::size_t i = begin; i < end; ++i) {
        const std::string& line = lines[i];
        const std::size_t hash = line.find_first_not_of(' ');
        if (hash == std::string::npos || line[hash] != '#' || hash + 1 == line.size() || line[hash + 1] == ' ')
            continue;
        hidden_key key{i, i + 1, line.substr(0, hash)};
        while (key.end < end &&
               (lines[key.end] == key.indent + "#" || lines[key.end].rfind(key.indent + "#  ", 0) == 0))
            ++key.end;
        found.push_back(key);
        i = key.end - 1;
    }
    return found;
}

/// Takes the '#' of each key away, one after the other; in sections that were behind one as well. Returns how many.
std::size_t check_hidden_keys(const program_shell& sh, const text_lines& lines, std::size_t begin, std::size_t end)
{
    std::size_t count = 0;
    for (const hidden_key& key : hidden_keys(lines, begin, end)) {
        text_lines shown = lines;
        std::string text;
        for (std::size_t i = key.begin; i < key.end; ++i)
            shown[i].erase(key.indent.size(), 1);
        for (const std::string& line : shown)
            text += line + "\n";
        sh.write("shown.yaml", text);
        const shell_result r = sh.run("$weft check shown.yaml");
        INFO(shown[key.begin] << "\n" << r.err);
        ++count;
        if (has(r.err, "pod.replica_size makes larger ones")) { // `pipeline` is for replicas of several ranks
            CHECK(has(shown[key.begin], " pipeline:"));
            continue;
        }
        CHECK(r.exit_code == 0);
        count += check_hidden_keys(sh, shown, key.begin, key.end);
    }
    return count;
}

} // namespace

TEST_CASE("every key behind a hash of a new file is legal when the hash is taken away")
{
    const program_shell sh;
    for (const std::string& name : platform_names(sh)) {
        INFO(name);
        std::istringstream file(sh.run("$weft new " + name).out);
        text_lines lines;
        for (std::string line; std::getline(file, line);)
            lines.push_back(line);
        CHECK(check_hidden_keys(sh, lines, 0, lines.size()) >= 8);
    }
}

TEST_CASE("a new file of every platform is read without a word and means the defaults")
{
    const program_shell sh;
    for (const std::string& name : platform_names(sh)) {
        INFO(name);
        const shell_result made = sh.run("$weft new " + name + " " + name + ".yaml");
        REQUIRE(made.exit_code == 0);
        CHECK(made.err.empty());
        CHECK(has(made.out, name + ".yaml: written"));
        const shell_result check = sh.run("$weft check " + name + ".yaml");
        CHECK(check.exit_code == 0);
        CHECK(check.err.empty());
        CHECK(has(check.out, "no errors\n"));
        // Every key of the page, and the values that a file with three lines has.
        sh.write("short.yaml", "platform: " + name + "\nname: " + name +
                                   "\nworkload:\n  - {op: all_reduce, algorithms: [auto], sizes: [64 KiB, 1 MiB]}\n");
        const std::string resolved = keys_of(sh.run("$weft check short.yaml --resolved").out);
        CHECK(resolved.size() > 1000);
        CHECK(keys_of(sh.run("$weft check " + name + ".yaml --resolved").out) == resolved);
        CHECK(keys_of(sh.read(name + ".yaml")) == resolved);
    }
}

TEST_CASE("a new file tells meaning and source and range of a key and has what is not used behind a hash")
{
    const program_shell sh;
    const shell_result made = sh.run("$weft new ub_mesh");
    REQUIRE(made.exit_code == 0);
    CHECK(has(made.out, "  # Rate of one lane (x1), raw, per direction"));
    CHECK(has(made.out, "  # Default: 14 GB/s") == false); // a source, not the value
    CHECK(has(made.out, "  lane_rate: 14 GB/s\n"));
    CHECK(has(made.out, "  #rtp_window: "));
    CHECK(has(made.out, "only with transport: rtp"));
    CHECK(has(made.out, "#training_step:\n"));
    std::istringstream lines(made.out);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        if (line.find("# ") != std::string::npos && line.find(": ") == std::string::npos)
            CHECK(line.size() <= 120);
        CHECK((line.empty() || line.back() != ' '));
    }
    // One '#' away, and the key is one again.
    const shell_result used = sh.run(
        "$weft new ub_mesh | sed 's/^  #rtp_window:/  rtp_window:/; s/  transport: ctp/  transport: rtp/; /  transmit_queue:/d' > rtp.yaml && "
        "$weft check rtp.yaml");
    CHECK(used.exit_code == 0);
    CHECK(used.err.empty());
}

TEST_CASE("a new file runs")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft new tpu_v3 my.pod.yaml --set mesh.rows=2 --set mesh.cols=3").exit_code == 0);
    CHECK(has(sh.read("my.pod.yaml"), "\nname: my_pod\n"));
    const shell_result ran = sh.run("$weft run my.pod.yaml");
    CHECK(ran.exit_code == 0);
    CHECK(has(ran.out, "my_pod: 6 ranks"));
    CHECK(has(ran.out, "Wrong elements   0 in 2 of 2 results"));
}

TEST_CASE("new refuses what it does not know and keeps what is there")
{
    const program_shell sh;
    const shell_result unknown = sh.run("$weft new ub_mash x.yaml");
    CHECK(unknown.exit_code == 2);
    CHECK(has(unknown.err, "did you mean 'ub_mesh'?"));
    CHECK_FALSE(sh.exists("x.yaml"));
    const shell_result wrong = sh.run("$weft new ub_mesh x.yaml --set mesh.bords=2");
    CHECK(wrong.exit_code == 2);
    CHECK(has(wrong.err, "did you mean 'boards'?"));
    CHECK_FALSE(sh.exists("x.yaml"));
    const std::string before = sh.read("small.yaml");
    const shell_result there = sh.run("$weft new tpu_v3 small.yaml");
    CHECK(there.exit_code == 2);
    CHECK(has(there.err, "--force"));
    CHECK(sh.read("small.yaml") == before);
    CHECK(sh.run("$weft new tpu_v3 small.yaml --force").exit_code == 0);
    CHECK(sh.read("small.yaml") != before);
    CHECK(sh.run("$weft new tpu_v3 no/such/folder.yaml").exit_code == 2);
    CHECK(sh.run("$weft new").exit_code == 2);
    CHECK(sh.run("$weft new tpu_v3 > /dev/full").exit_code == 1);
}
