// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the program prints about itself, and files that come from standard input.
#include "testbenches/issues/program_shell.h"

#include <vector>

using namespace weft::testing;

TEST_CASE("no help page has control characters")
{
    const program_shell sh;
    for (const std::string page :
         {"--help", "run --help", "check --help", "list --help", "bench --help", "docs --help", "firmware --help",
          "firmware test --help", "validate --help", "firmware test collective --core foo"}) {
        const shell_result r = sh.run("$weft " + page);
        INFO(page << "\n" << r.out << r.err);
        CHECK_FALSE((r.out + r.err).empty());
        for (const char c : r.out + r.err)
            if (static_cast<unsigned char>(c) < 0x20 && c != '\n')
                FAIL("byte " << static_cast<int>(c));
    }
    const shell_result r = sh.run("$weft firmware test collective --core foo");
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "native"));
    CHECK(has(r.err, "rv64"));
}

TEST_CASE("the columns of weft list stand apart and begin alike")
{
    const program_shell sh;
    const shell_result r = sh.run("$weft list");
    std::istringstream lines(r.out);
    std::size_t column = 0; // of the summaries in this group
    std::size_t entries = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("  ", 0) != 0) {
            column = 0;
            continue;
        }
        INFO(line);
        const std::size_t gap = line.find("  ", 2);
        REQUIRE(gap != std::string::npos);
        const std::size_t summary = line.find_first_not_of(' ', gap);
        CHECK((column == 0 || column == summary));
        column = summary;
        ++entries;
    }
    CHECK(entries > 20);
    CHECK(has(r.out, "\n  halving_doubling  "));
}

TEST_CASE("a minus sign as the file is standard input")
{
    const program_shell sh;
    const shell_result checked = sh.run("$weft check - < small.yaml");
    INFO(checked.err);
    CHECK(checked.exit_code == 0);
    CHECK(has(checked.out, "<stdin>: no errors\n"));
    const shell_result run = sh.run("sed 's/cols: 2/cols: 3/' small.yaml | $weft run - --set name=piped --quiet");
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(sh.exists("out/piped/results.json"));
    CHECK_FALSE(sh.exists("-"));

    const shell_result wrong = sh.run("sed 's/rows: 2/rows: 0/' small.yaml | $weft check -");
    CHECK(wrong.exit_code == 2);
    CHECK(has(wrong.err, "<stdin>:3:14: error: mesh.rows: is 0"));
    CHECK(has(wrong.err, "    mesh: {rows: 0, cols: 2}\n")); // the line of the file
    CHECK(has(wrong.err, "<stdin>: 1 error; nothing was built or written."));
    CHECK(has(sh.run("$weft check - < /dev/null").err, "<stdin>: error: the file is empty"));
    CHECK(has(sh.run("$weft check - < .").err, "<stdin>: error: the file cannot be read"));
    CHECK(has(sh.run("$weft check - <&-").err, "<stdin>: error: the file cannot be read"));
    CHECK(sh.run("head -c 5000000 /dev/zero | $weft check -").exit_code == 2);

    // What the file names is looked for in the present folder.
    const std::string configs = WEFT_SOURCE_DIR "/configs/ub_mesh";
    const shell_result priced = sh.run("cat " + configs + "/prices.yaml > p.yaml; sed 's/^prices: prices/prices: p/' " +
                                       configs + "/board.yaml | $weft check -");
    INFO(priced.err);
    CHECK(priced.exit_code == 0);
}
