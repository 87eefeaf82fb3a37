// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The launcher ./weft: its own commands explain themselves, refuse what they do not know, and are in --help. It runs as a copy
// in a folder of its own, with the program of this build, so that it builds nothing and deletes nothing of ours.
#include "testbenches/issues/program_shell.h"

using namespace weft::testing;
namespace fs = std::filesystem;

namespace {

/// A copy of the launcher whose program is up to date.
class launcher_copy : public program_shell {
public:
    launcher_copy()
    {
        const fs::path source = WEFT_SOURCE_DIR;
        fs::copy_file(source / "weft", path() / "weft");
        fs::create_directories(path() / "build/release/bin");
        fs::create_symlink(WEFT_PROGRAM, path() / "build/release/bin/weft");
        write("build/built", "");
        // The stamp that a build leaves, by the launcher's own function.
        REQUIRE(run("sed -n '/^fingerprint()/,/^}/p' weft > stamp.sh && root=$PWD && . ./stamp.sh && "
                    "fingerprint > build/release/.weft_built")
                    .exit_code == 0);
    }
    bool keeps_the_build() const { return exists("build/built") && exists("build/release/bin/weft"); }
};

} // namespace

TEST_CASE("asking the launcher for help deletes and builds nothing")
{
    const launcher_copy sh;
    for (const std::string command : {"clean", "build", "test", "doctor"})
        for (const std::string help : {"--help", "-h"}) {
            const shell_result r = sh.run("./weft " + command + " " + help);
            INFO(command << " " << help << "\n" << r.err);
            CHECK(r.exit_code == 0);
            CHECK(has(r.out, "./weft " + command));
            CHECK(sh.keeps_the_build());
        }
}

TEST_CASE("the launcher refuses arguments that it does not know and deletes nothing")
{
    const launcher_copy sh;
    for (const std::string line : {"clean foo", "clean --all", "clean -n", "clean ''", "build foo", "build --target x",
                                   "build -j", "build -j 0", "build -j -3", "build -j-3", "build -j 99999", "test foo",
                                   "test -j -3", "test -j 99999", "test --build-type ..", "test -L"}) {
        const shell_result r = sh.run("./weft " + line);
        INFO(line << "\n" << r.err);
        CHECK(r.exit_code == 2);
        CHECK(r.out.empty());
        CHECK(has(r.err, "weft: " + line.substr(0, line.find(' ')) + ": "));
        CHECK(sh.keeps_the_build());
    }
    REQUIRE(sh.run("./weft clean").exit_code == 0);
    CHECK_FALSE(sh.exists("build/built"));
}

TEST_CASE("the launcher's help lists its own commands beside those of the program")
{
    const launcher_copy sh;
    for (const std::string line : {"--help", "-h", ""}) {
        const shell_result r = sh.run("./weft " + line);
        const std::string& text = line.empty() ? r.err : r.out;
        INFO(line << "\n" << r.err);
        CHECK(r.exit_code == (line.empty() ? 2 : 0));
        CHECK(has(text, "Subcommands:"));
        for (const std::string command : {"build", "test", "clean", "doctor"})
            CHECK(has(text, "./weft " + command));
    }
    CHECK(sh.run("./weft --help > /dev/full").exit_code != 0);
}
