// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The launcher ./weft: its own commands explain themselves, refuse what they do not know, and are in --help. It runs as a copy
// in a folder of its own, with the program of this build, so that it builds nothing and deletes nothing of ours.
#include "testbenches/issues/program_shell.h"

using namespace weft::testing;
namespace fs = std::filesystem;

namespace {

/// A copy of the launcher, with programs that are up to date.
class launcher_copy : public program_shell {
public:
    enum class built : std::uint8_t { nothing, first_of_tpu_v3, first, all };
    explicit launcher_copy(built what = built::all)
    {
        const fs::path source = WEFT_SOURCE_DIR;
        fs::copy_file(source / "weft", path() / "weft");
        fs::create_directories(path() / "docs");
        fs::copy_file(source / "docs/help.txt", path() / "docs/help.txt");
        fs::copy_file(source / "CMakeLists.txt", path() / "CMakeLists.txt");
        fs::create_directories(path() / "platforms");
        fs::copy_file(source / "platforms/platforms.txt", path() / "platforms/platforms.txt");
        fs::create_directories(path() / "build/release/bin");
        write("build/built", "");
        if (what == built::first_of_tpu_v3)
            add_program("weft_first_tpu_v3", ".weft_first_tpu_v3_built", fs::path(WEFT_PROGRAM).parent_path() / "weft_first_tpu_v3");
        if (what == built::first)
            add_program("weft_first", ".weft_first_built", fs::path(WEFT_PROGRAM).parent_path() / "weft_first");
        if (what == built::all)
            add_program("weft", ".weft_built", WEFT_PROGRAM);
    }
    /// With the stamp that a build leaves, by the launcher's own function.
    void add_program(const std::string& name, const std::string& stamp, const fs::path& program)
    {
        fs::create_symlink(program, path() / "build/release/bin" / name);
        REQUIRE(run("sed -n '/^fingerprint()/,/^}/p' weft > stamp.sh && root=$PWD && . ./stamp.sh && rm stamp.sh && "
                    "fingerprint > build/release/" +
                    stamp)
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

TEST_CASE("before anything is built the launcher shows help and version at once")
{
    for (const auto what : {launcher_copy::built::nothing, launcher_copy::built::first}) {
        const launcher_copy sh(what);
        const shell_result help = sh.run("./weft --help");
        CHECK(help.exit_code == 0);
        CHECK(help.err.empty());
        const shell_result program = sh.run("$weft --help");
        CHECK(help.out.substr(0, program.out.size()) == program.out);
        CHECK(has(help.out, "./weft clean"));
        const shell_result none = sh.run("./weft");
        CHECK(none.exit_code == 2);
        CHECK(none.err == help.out);
        const shell_result version = sh.run("./weft --version");
        CHECK(version.exit_code == 0);
        CHECK(has(version.out, "weft 0."));
        CHECK(has(version.out, "not built yet") == (what == launcher_copy::built::nothing));
        const shell_result wrong = sh.run("./weft rum x.yaml");
        CHECK(wrong.exit_code == 2);
        CHECK(has(wrong.err, "'rum' is no command; did you mean 'run'?"));
        CHECK(has(sh.run("./weft vlaidate x").err, "did you mean 'validate'?"));
        CHECK(has(sh.run("./weft biuld").err, "did you mean 'build'?"));
        CHECK_FALSE(has(sh.run("./weft xyz").err, "did you mean"));
        CHECK_FALSE(sh.exists("build/release/build.ninja"));
    }
}

TEST_CASE("before anything is built the launcher explains every command and refuses files that are not there")
{
    for (const auto what : {launcher_copy::built::nothing, launcher_copy::built::first}) {
        const launcher_copy sh(what);
        const std::string all = sh.run("$weft --help").out;
        std::istringstream lines(all.substr(all.find("Subcommands:")));
        std::string line;
        std::getline(lines, line);
        std::size_t commands = 0;
        while (std::getline(lines, line) && line.rfind("  ", 0) == 0) {
            std::string command;
            std::istringstream(line) >> command;
            if (line[2] == ' ' || command == "doctor") // which the launcher has, too
                continue;
            for (const std::string option : {" --help", " -h", " some.yaml --help"}) {
                const shell_result r = sh.run("./weft " + command + option);
                INFO(command << option << "\n" << r.err);
                CHECK(r.exit_code == 0);
                CHECK(r.err.empty());
                CHECK(r.out == sh.run("$weft " + command + " --help").out);
            }
            ++commands;
        }
        CHECK(commands >= 16);
        CHECK(sh.run("./weft firmware test --help").out == sh.run("$weft firmware test --help").out);
        CHECK(sh.run("./weft ccu check --help").out == sh.run("$weft ccu check --help").out);

        const auto refused = [&](const std::string& arguments, const std::string& file) {
            const shell_result r = sh.run("./weft " + arguments);
            INFO(arguments << "\n" << r.err);
            CHECK(r.exit_code == 2);
            CHECK(r.out.empty());
            CHECK(has(r.err, file + ": error: there is no such file\n"));
            CHECK_FALSE(has(r.err, "building"));
        };
        refused("run nowhere.yaml", "nowhere.yaml");
        refused("run --set mesh.rows=4 --quiet --out out -b 4 nowhere.yaml", "nowhere.yaml");
        refused("check small.yam --resolved", "small.yam");
        refused("sweep nowhere.yaml --jobs 1", "nowhere.yaml");
        refused("tune --op all_reduce nowhere.yaml", "nowhere.yaml");
        refused("explain out/nowhere", "out/nowhere");
        refused("report out/nowhere", "out/nowhere");
        refused("compare small.yaml out/b", "out/b");
        refused("ccu check small.yaml nowhere.ccu", "nowhere.ccu");
        CHECK_FALSE(sh.exists("build/release/build.ninja"));
    }
    const launcher_copy sh(launcher_copy::built::nothing);
    const auto program = [&](const std::string& file) { return sh.run("$weft run " + file).err; };
    CHECK(sh.run("./weft run nowhere.yaml").err == program("nowhere.yaml"));
}

TEST_CASE("help and refusals do not wait for a program whose source has changed")
{
    const launcher_copy sh;
    sh.write("build/release/.weft_built", "of another source\n");
    CHECK(sh.run("./weft run --help").out == sh.run("$weft run --help").out);
    CHECK(has(sh.run("./weft --help").out, "./weft clean"));
    CHECK(has(sh.run("./weft --version").out, "changed since it was built"));
    CHECK(sh.run("./weft run nowhere.yaml").exit_code == 2);
    CHECK_FALSE(sh.exists("build/release/build.ninja"));
}

TEST_CASE("the first program runs what it has and starts the launcher for everything else")
{
    const launcher_copy sh(launcher_copy::built::first);
    const shell_result first = sh.run("./weft run small.yaml --json -");
    const shell_result all = sh.run("$weft run small.yaml --json -");
    REQUIRE(all.exit_code == 0);
    CHECK(first.exit_code == 0);
    const auto digest = [](const std::string& text) {
        const std::size_t at = text.find("\"digest\"");
        return at == std::string::npos ? "none" : text.substr(at, 40);
    };
    CHECK(digest(first.out) != "none");
    CHECK(digest(first.out) == digest(all.out));
    CHECK(sh.run("./weft check small.yaml").out == sh.run("$weft check small.yaml").out);
    CHECK(sh.run("./weft list").out == sh.run("$weft list").out);

    // The first program itself, with a launcher that says how it was called.
    sh.write("launcher", "#!/bin/sh\necho \"launched for $WEFT_WHOLE: $*\"\n");
    const std::string first_program = "chmod +x launcher; WEFT_LAUNCHER=$PWD/launcher build/release/bin/weft_first ";
    const shell_result help = sh.run("$weft --help");
    std::istringstream lines(help.out.substr(help.out.find("Subcommands:")));
    std::string line;
    std::getline(lines, line);
    std::size_t commands = 0;
    while (std::getline(lines, line) && line.rfind("  ", 0) == 0) {
        std::string command;
        std::istringstream(line) >> command;
        if (line[2] == ' ' || command.empty()) // a second line of the same command
            continue;
        ++commands;
        const shell_result r = sh.run(first_program + command + " --help");
        INFO(command);
        CHECK(r.exit_code == 0);
        CHECK((has(r.out, "weft " + command) ||
               r.out == "launched for `weft " + command + "`: " + command + " --help\n"));
    }
    CHECK(commands >= 17);
    CHECK(sh.run(first_program + "--help").out == "launched for help: --help\n");

    const shell_result wrong = sh.run(first_program + "tunee x");
    CHECK(wrong.exit_code == 2);
    CHECK(has(wrong.err, "did you mean 'tune'"));
    const std::string rack = WEFT_SOURCE_DIR "/configs/switchml/rack_4x10g.yaml";
    CHECK(has(sh.run(first_program + "run " + rack + " --set switch.aggregator=rtl").out, "launched for the Verilog"));
    CHECK(has(sh.run(first_program + "run " + rack + " --waves x.fst").out, "launched for --waves"));
    // A "-" that is standard output, as of --json, is handed over like anything else.
    CHECK(has(sh.run(first_program + "run " + rack + " --set switch.aggregator=rtl --json -").out, "launched for"));
    const shell_result piped = sh.run(first_program + "run - --set switch.aggregator=rtl < " + rack);
    CHECK(piped.exit_code == 2);
    CHECK(has(piped.err, "standard input cannot be read twice"));
    const shell_result alone = sh.run("unset WEFT_LAUNCHER; build/release/bin/weft_first tune x");
    CHECK(alone.exit_code == 2);
    CHECK(has(alone.err, "./weft build"));
}

TEST_CASE("the first file gets a program of its platform alone and other files one of all platforms")
{
    // What would be built is told by a ninja that builds nothing.
    const auto wanted = [](launcher_copy::built what, const std::string& arguments) {
        const launcher_copy sh(what);
        sh.write("bin/ninja", "#!/bin/sh\nfor last; do :; done\necho \"$last\" > wanted\nexit 1\n");
        sh.write("bin/cmake", "#!/bin/sh\nexit 0\n");
        sh.write("extends.yaml", "extends: small.yaml\n");
        sh.write("unknown.yaml", "platform: tpu_v33\n");
        sh.write("comment.yaml", "# platform: switchml\nplatform: ub_mesh # a machine\n");
        sh.run("chmod +x bin/ninja bin/cmake; PATH=$PWD/bin:$PATH ./weft " + arguments);
        std::string name = sh.exists("wanted") ? sh.read("wanted") : "";
        return name.substr(0, name.find('\n'));
    };
    using built = launcher_copy::built;
    CHECK(wanted(built::nothing, "run small.yaml") == "weft_first_tpu_v3");
    CHECK(wanted(built::nothing, "check --set seed=2 comment.yaml") == "weft_first_ub_mesh");
    for (const char* line : {"run extends.yaml", "check unknown.yaml", "run - < small.yaml", "list", "new tpu_v3"}) {
        INFO(line);
        CHECK(wanted(built::nothing, line) == "weft_first");
    }
    CHECK(wanted(built::first_of_tpu_v3, "run comment.yaml") == "weft_first");
    CHECK(wanted(built::first_of_tpu_v3, "sweep small.yaml") == "weft_first"); // which hands it over
    CHECK(wanted(built::first_of_tpu_v3, "run small.yaml").empty());
    const launcher_copy sh(built::first_of_tpu_v3);
    const shell_result own = sh.run("./weft check small.yaml");
    CHECK(own.exit_code == 0);
    CHECK(own.out == sh.run("$weft check small.yaml").out);
    sh.write("launcher", "#!/bin/sh\necho \"launched for $WEFT_WHOLE: $*\"\n");
    sh.write("other.yaml", "platform: ub_mesh\n");
    const std::string program = "chmod +x launcher; WEFT_LAUNCHER=$PWD/launcher build/release/bin/weft_first_tpu_v3 ";
    CHECK(sh.run(program + "check other.yaml").out == "launched for platform: ub_mesh: check other.yaml\n");
}

TEST_CASE("once all commands are built the launcher starts no other program")
{
    launcher_copy sh(launcher_copy::built::first);
    sh.add_program("weft", ".weft_built", WEFT_PROGRAM);
    sh.write("broken", "");
    sh.run("rm build/release/bin/weft_first && ln -s ../../../broken build/release/bin/weft_first");
    CHECK(sh.run("./weft check small.yaml").exit_code == 0);
    CHECK(sh.run("./weft list").exit_code == 0);
}
