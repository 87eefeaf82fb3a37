// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Platform files that extend others and include parts: what lies over what, where values and mistakes stand, and what is refused.
#include "testbenches/issues/program_shell.h"

#include <catch2/catch.hpp>

#include <regex>

using namespace weft::testing;

namespace {

class layered_files : public program_shell {
public:
    layered_files()
    {
        std::filesystem::create_directories(path() / "base/parts");
        write("base/pod.yaml", "platform: tpu_v3\n"
                               "name: pod\n"
                               "mesh: {rows: 2, cols: 2}\n"
                               "ici:\n"
                               "  link_rate: 80 GB/s\n"
                               "  local_ports: 2\n"
                               "workload:\n"
                               "  - {op: all_reduce, sizes: [4 kB]}\n"
                               "  - {op: all_gather, sizes: [4 kB]}\n");
        write("base/parts/slow.yaml", "ici:\n"
                                      "  link_rate: 40 GB/s\n"
                                      "  cable_propagation: 90 ns\n");
        write("base/parts/memory.yaml", "chip:\n  hbm: {rate: 450 GB/s}\n");
        write("variant.yaml", "extends: base/pod.yaml\n"
                              "include: [base/parts/slow.yaml, base/parts/memory.yaml]\n"
                              "name: variant\n"
                              "mesh: {cols: 3}\n"
                              "workload:\n"
                              "  - {op: broadcast, sizes: [8 kB]}\n");
    }
    std::string resolved(const std::string& file) const
    {
        const shell_result r = run("$weft check " + file + " --resolved");
        INFO(r.err);
        CHECK(r.exit_code == 0);
        return r.out;
    }
};

/// The line of a key, without its indentation; of a key that stands once.
std::string line_of(const std::string& yaml, const std::string& key)
{
    const std::size_t at = yaml.find(" " + key + ": ");
    REQUIRE(at != std::string::npos);
    return yaml.substr(at + 1, yaml.find('\n', at) - at - 1);
}

std::string without_places(std::string text) { return std::regex_replace(text, std::regex("set by [^;\n]*"), ""); }

} // namespace

TEST_CASE("a variant lies over its parts and these over the file that it extends")
{
    const layered_files sh;
    const std::string all = sh.resolved("variant.yaml");
    CHECK(has(line_of(all, "rows"), "rows: 2 "));
    CHECK(has(line_of(all, "rows"), "set by base/pod.yaml:3"));
    CHECK(has(line_of(all, "cols"), "cols: 3 "));
    CHECK(has(line_of(all, "cols"), "set by variant.yaml:4"));
    CHECK(has(line_of(all, "link_rate"), "link_rate: 40 GB/s "));
    CHECK(has(line_of(all, "link_rate"), "set by base/parts/slow.yaml:2"));
    CHECK(has(line_of(all, "local_ports"), "set by base/pod.yaml:6"));
    CHECK(has(all, "set by base/parts/memory.yaml:2"));
    CHECK(has(all, "op: broadcast")); // a list replaces the list as a whole
    CHECK_FALSE(has(all, "op: all_gather"));
    CHECK_FALSE(has(all, "extends"));
    // The same in one file.
    sh.write("flat.yaml", "platform: tpu_v3\nname: variant\nmesh: {rows: 2, cols: 3}\n"
                          "ici: {link_rate: 40 GB/s, local_ports: 2, cable_propagation: 90 ns}\n"
                          "chip: {hbm: {rate: 450 GB/s}}\nworkload: [{op: broadcast, sizes: [8 kB]}]\n");
    CHECK(without_places(all) == without_places(sh.resolved("flat.yaml")));
    const auto digest = [&](const std::string& file) { return sh.run("$weft run " + file + " | grep Digest").out; };
    CHECK(digest("variant.yaml") == digest("flat.yaml"));
    CHECK(digest("variant.yaml").size() > 20);
    CHECK(digest("variant.yaml") != digest("base/pod.yaml"));
    // --set lies over all of it, and a file reads the same from elsewhere.
    CHECK(has(line_of(sh.resolved("variant.yaml --set ici.link_rate='60 GB/s'"), "link_rate"), "60 GB/s "));
    CHECK(sh.run("cd base/parts && $weft check ../../variant.yaml --resolved").exit_code == 0);
    CHECK(sh.run("$weft check - < variant.yaml").exit_code == 0);
}

TEST_CASE("a mistake is told with the file and the line that has it")
{
    const layered_files sh;
    sh.write("base/parts/slow.yaml", "ici:\n  link_rat: 40 GB/s\n");
    const shell_result part = sh.run("$weft check variant.yaml");
    CHECK(part.exit_code == 2);
    CHECK(has(
        part.err,
        "base/parts/slow.yaml:2:3: error: ici.link_rat: unknown key; did you mean 'link_rate'?\n      link_rat: 40 GB/s\n"));
    CHECK(has(part.err, "variant.yaml: 1 error; nothing was built"));
    sh.write("base/parts/slow.yaml", "ici:\n  link_rate: 40\n  link_rate: 50 GB/s\n");
    sh.write("base/parts/memory.yaml", "chip: {hbm: {rate: [}\n");
    const shell_result two = sh.run("$weft check variant.yaml");
    CHECK(two.exit_code == 2);
    CHECK(has(two.err, "base/parts/memory.yaml:1:"));
    sh.write("base/parts/memory.yaml", "chip: {hbm: {rate: 4}}\n");
    const shell_result three = sh.run("$weft check variant.yaml --set mesh.rows=0");
    CHECK(has(three.err, "base/parts/slow.yaml:3:3: error: ici"));
    CHECK(has(three.err, "a second time"));
    CHECK(has(three.err, "base/parts/memory.yaml:1:20: error: chip.hbm.rate: '4' has no unit"));
    CHECK(has(three.err, "--set: error: mesh.rows: is 0"));
    // A finding about two keys stands at the file that has the last word.
    sh.write(
        "odd.yaml",
        "extends: base/pod.yaml\nmesh: {rows: 3, cols: 3}\nworkload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 kB]}]\n");
    const shell_result odd = sh.run("$weft check odd.yaml");
    CHECK(odd.exit_code == 2);
    CHECK(has(odd.err, "odd.yaml:"));
    CHECK_FALSE(has(odd.err, "pod.yaml:"));
}

TEST_CASE("names that lead nowhere or in circles or to files that contradict each other are refused")
{
    const layered_files sh;
    const auto refused = [&](const std::string& text, const std::string& what) {
        sh.write("wrong.yaml", text);
        const shell_result r = sh.run("$weft check wrong.yaml");
        INFO(text << r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, what));
        CHECK(has(r.err, "wrong.yaml: "));
    };
    refused("extends: base/pot.yaml\n",
            "wrong.yaml:1:10: error: extends: base/pot.yaml: there is no such file; did you mean 'pod.yaml'?");
    refused("extends: wrong.yaml\n", "leads back to a file that is being read: wrong.yaml > wrong.yaml");
    refused("extends: base/../wrong.yaml\n", "leads back to");
    refused("extends: base\n", "this is a directory");
    refused("extends: [base/pod.yaml]\n", "names one platform file");
    refused("extends:\nmesh: {rows: 2}\n", "needs the name of a file");
    refused("extends: base/pod.yaml\ninclude: [base/parts/slow.yaml, {a: b}]\n",
            "wrong.yaml:2:33: error: include: needs the name of a file");
    refused("extends: base/pod.yaml\nextend: base/pod.yaml\n", "did you mean 'extends'?");
    refused("extends: base/pod.yaml\nici: {include: base/parts/slow.yaml}\n", "ici.include: unknown key");
    refused("extends: &here base/pod.yaml\n", "anchors");
    sh.write("base/parts/memory.yaml", "ici: {link_rate: 50 GB/s}\n");
    refused("extends: base/pod.yaml\ninclude: [base/parts/slow.yaml, base/parts/memory.yaml]\n",
            "base/parts/memory.yaml:1:7: error: ici.link_rate: is set by base/parts/slow.yaml:2, too");
    refused(
        "platform: switchml\nextends: base/pod.yaml\nmesh: {rows: 2}\n",
        "wrong.yaml:1:1: error: platform: is switchml, but base/pod.yaml, which lies below this file, is for tpu_v3; a "
        "variant stays on the platform of what it extends.\n    platform: switchml\n    ^\nwrong.yaml: 1 error;");
    refused("extends: base/pod.yaml\nici: {flit: null}\n",
            "wrong.yaml:2:7: error: ici.flit: null takes away a key that a file below sets, and none sets this one");
    refused("extends: base/pod.yaml\nici: {flit: null, flti: 1}\n", "2:19: error: ici.flti: unknown key");
    refused("extends: base/pod.yaml\nici:\n  link_rate:\n", "ici.link_rate: has no value");
    sh.write("a.yaml", "include: b.yaml\n");
    sh.write("b.yaml", "include: a.yaml\n");
    refused("extends: a.yaml\n",
            "b.yaml:1:10: error: include: leads back to a file that is being read: a.yaml > b.yaml > a.yaml");
    for (int i = 0; i < 20; ++i)
        sh.write("deep" + std::to_string(i) + ".yaml", "extends: deep" + std::to_string(i + 1) + ".yaml\n");
    refused("extends: deep0.yaml\n", "more than 16 deep");
    const shell_result set = sh.run("$weft check base/pod.yaml --set extends=base/pod.yaml --set include=x");
    CHECK(set.exit_code == 2);
    CHECK(has(set.err, "--set: error: extends: is read before anything is changed"));
    CHECK(has(set.err, "--set: error: include: is read before"));
}

TEST_CASE("null takes a key of a file below away")
{
    const layered_files sh;
    const auto defaults = sh.resolved("base/pod.yaml --set ici.local_ports=2");
    for (const std::string null : {"null", "~"}) {
        sh.write("less.yaml",
                 "extends: base/pod.yaml\nici: {local_ports: " + null + "}\nmesh:\n  rows: " + null + "\n");
        const std::string all = sh.resolved("less.yaml");
        CHECK(has(line_of(all, "local_ports"), "default, source: "));
        CHECK(has(line_of(all, "rows"), "; default"));
        CHECK_FALSE(has(all, "set by less.yaml"));
    }
    // A whole section, by a part; and of a file that an extended file extends.
    sh.write("part.yaml", "ici: null\n");
    sh.write("less.yaml", "extends: base/pod.yaml\ninclude: part.yaml\n");
    sh.write("least.yaml", "extends: less.yaml\nname: null\nmesh: {cols: null}\n");
    const std::string all = sh.resolved("least.yaml");
    CHECK_FALSE(has(all.substr(all.find("\nici:")), "set by base/pod.yaml:6"));
    CHECK(has(line_of(all, "cols"), "; default"));
    CHECK(has(line_of(all, "rows"), "set by base/pod.yaml:3"));
}

TEST_CASE("parts that include one part have its keys once")
{
    const layered_files sh;
    sh.write("common.yaml", "ici: {link_rate: 40 GB/s}\n");
    sh.write("a.yaml", "include: common.yaml\nchip: {hbm: {rate: 450 GB/s}}\n");
    sh.write("b.yaml", "include: ./common.yaml\nmesh: {rows: 2}\n");
    sh.write("both.yaml", "extends: base/pod.yaml\ninclude: [a.yaml, b.yaml, b.yaml]\n");
    const std::string all = sh.resolved("both.yaml");
    CHECK(has(line_of(all, "link_rate"), "set by common.yaml:1"));
    CHECK(has(line_of(all, "rows"), "set by b.yaml:2"));
    // A part that has changed what it includes does contradict another one that has not.
    sh.write("b.yaml", "include: common.yaml\nici: {link_rate: 50 GB/s}\n");
    const shell_result r = sh.run("$weft check both.yaml");
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "ici.link_rate: is set by common.yaml:1, too"));
    // Mistakes in it are told once.
    sh.write("common.yaml", "ici: {link_rate: 40 GB/s}\nici: {}\n");
    sh.write("b.yaml", "include: common.yaml\n");
    const shell_result twice = sh.run("$weft check both.yaml");
    CHECK(has(twice.err, "both.yaml: 1 error;"));
}

TEST_CASE("a file that a base file names is looked for beside that one and parts are no place for outputs")
{
    const layered_files sh;
    REQUIRE(sh.run("$weft check base/pod.yaml --routes > base/routes.txt").exit_code == 0);
    sh.write("base/routed.yaml", "extends: pod.yaml\nrouting: routes.txt\n");
    sh.write("variant.yaml", "extends: base/routed.yaml\nname: v\n");
    CHECK(sh.run("$weft check variant.yaml").exit_code == 0);
    CHECK(has(sh.resolved("variant.yaml"), "routing: base/routes.txt"));
    // Firmware is looked for in the same way, there first, then in the present folder.
    sh.write("base/elf.yaml", "extends: pod.yaml\nchip: {core: {model: rv64, elf: fw.elf}}\n");
    sh.write("base/fw.elf", "no program");
    CHECK(has(sh.run("$weft check base/elf.yaml").err, "names 'base/fw.elf', which is no ELF file"));
    REQUIRE(sh.run("mv base/fw.elf fw.elf").exit_code == 0);
    CHECK(has(sh.run("$weft check base/elf.yaml").err, "names 'fw.elf', which is no ELF file"));
    REQUIRE(sh.run("rm fw.elf").exit_code == 0);
    CHECK(has(
        sh.run("$weft check base/elf.yaml").err,
        "names 'fw.elf', which cannot be read: No such file or directory. It is looked for in the folder of the file"));
    const shell_result over = sh.run("$weft run variant.yaml --json base/pod.yaml");
    CHECK(over.exit_code == 2);
    CHECK(has(over.err, "base/pod.yaml"));
    CHECK(has(sh.read("base/pod.yaml"), "platform: tpu_v3"));
}

TEST_CASE("sweeps and tunings of a variant read its parts")
{
    const layered_files sh;
    sh.write("sweep.yaml", "sweep:\n  platform: variant.yaml\ngrid:\n  ici.link_rate: [40 GB/s, 80 GB/s]\n");
    const shell_result swept = sh.run("$weft sweep sweep.yaml --out swept");
    INFO(swept.err);
    REQUIRE(swept.exit_code == 0);
    const std::string table = sh.read("swept/sweep.csv");
    CHECK(has(table, "broadcast"));
    // A part that changes is another configuration: nothing is taken from before.
    sh.write("base/parts/slow.yaml", "ici: {cable_propagation: 900 ns}\n");
    CHECK(has(sh.run("$weft sweep sweep.yaml --out swept 2>&1").out, "2 to run"));
    sh.write("base/parts/slow.yaml", "ici: {cable_propagatio: 900 ns}\n");
    const shell_result wrong = sh.run("$weft sweep sweep.yaml --out other");
    CHECK(wrong.exit_code == 2);
    CHECK(has(wrong.err, "base/parts/slow.yaml:1:7: error: ici.cable_propagatio: unknown key"));
    CHECK(has(wrong.err, "\n    ici: {cable_propagatio: 900 ns}\n"));
    sh.write("base/parts/slow.yaml", "ici: {cable_propagation: 900 ns}\n");
    CHECK(sh.run("$weft tune variant.yaml --op broadcast --sizes 4B..4KiB --out tuned --set workload.0.sizes='[8 B]'")
              .exit_code == 0);
}
