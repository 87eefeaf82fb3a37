// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "platforms/cli/build_facts.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/kernel_words.h"
#include "platforms/config/suggest.h"
#include "platforms/config/whole_program.h"
#include "platforms/report/output_file.h"
#include "platforms/workload/interruption.h"
#include "tlm/check.h"
#include "tlm/standard_error.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <poll.h>
#include <systemc>
#include <unistd.h>

namespace {

constexpr const char* k_description =
    "weft - virtual platforms of the machines that train large models\n"
    "\n"
    "A platform is described by a YAML file: chips, links, memories, and the collectives to run on them. weft builds it\n"
    "from SystemC/TLM-2.0 models, runs the collectives as firmware on the modelled cores, and checks every byte of every\n"
    "answer. Start with:\n"
    "\n"
    "    weft check configs/tpu_v3/mesh_4x4.yaml        what does this file describe?\n"
    "    weft run configs/tpu_v3/mesh_4x4.yaml          run it: times, bandwidths, wrong elements (a few seconds)\n"
    "    weft run configs/tpu_v3/mesh_4x4.yaml --set mesh.rows=8 --set data=off --out out/try\n"
    "    weft run configs/tpu_v3/mesh_4x4.yaml --report a page to look at: where the time went, over time\n"
    "    weft list                                      which collectives, by which algorithms?\n"
    "    weft tune configs/tpu_v3/mesh_4x4.yaml         which algorithm is the fastest, for each size?\n"
    "    weft sweep configs/sweeps/board_lane_rate.yaml what if? a grid of values for keys, as CSV and as a page\n"
    "    weft compare out/a out/b                       how do two results differ, and why?\n"
    "\n"
    "`weft COMMAND --help` explains a command and its options.\n";

constexpr const char* k_footer =
    "Exit codes:\n"
    "  0  all answers are right\n"
    "  1  a run did not complete, an answer was wrong, a published value or a bound missed, or output not written\n"
    "  2  the input cannot be used: nothing was run or written, and stderr says what to change\n"
    "  3  a bug of weft\n"
    "  130, 143  Ctrl-C or SIGTERM: what was finished is printed; `run`, `sweep`, `tune`, `bursts`, `validate` save it;"
    "\n            again: at once\n"
    "Files:\n"
    "  <out>/results.json  all results, the whole configuration and the statistics of a run\n"
    "  <out>/report.html   with --report: one page to look at; activity.json beside it, of which `report` makes it again\n"
    "  <out>/sweep.csv     all results of a sweep, beside it the page sweep.html and a folder for each point\n"
    "  <out>/tuning.yaml   which algorithm is the fastest by size, for the key `tuning`; beside it plots\n"
    "  docs/04_config.md   every key of a platform file\n";

/// The first word of the command line, when it should have been a command.
std::string first_word(int argc, char* argv[]) { return argc > 1 && argv[1][0] != '-' ? argv[1] : ""; }

/// What is said of an argument that the command does not have.
std::string explain_unknown(const CLI::App& command, const std::string& argument)
{
    if (argument.empty() || argument.front() != '-')
        return fmt::format("{} is one argument too many", weft::in_quotes(argument));
    const std::string name = argument.substr(0, argument.find('='));
    if (name == "-w" || name == "--warmup_iters")
        return fmt::format("'{}' of nccl-tests is not needed: each case begins on a machine that has settled, and nothing gets faster by use; leave it out", name);
    std::vector<std::string> options;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& each : option->get_lnames())
            options.push_back("--" + each);
        for (const std::string& each : option->get_snames())
            options.push_back("-" + each);
    }
    const std::string meant = weft::closest(name, options);
    return fmt::format("{} is no option of it{}", weft::in_quotes(name), meant.empty() ? "" : "; did you mean '" + meant + "'?");
}

/// What a wrong command line is told, instead of the library's words.
std::string explain(const CLI::App* app, const CLI::Error& e)
{
    std::string name = "weft";
    const CLI::App* command = app;
    while (!command->get_subcommands().empty()) {
        command = command->get_subcommands().front();
        name += " " + command->get_name();
    }
    std::string what = e.what();
    const std::vector<std::string> rest = app->remaining(true);
    std::vector<std::string> below;
    for (const CLI::App* each : command->get_subcommands({}))
        below.push_back(each->get_name());
    if (what == "SWEEP is required")
        what = "a sweep file is missing, for example " + name + " configs/sweeps/board_lane_rate.yaml";
    else if (what == "FILE is required")
        what = "a platform file is missing, for example " + name + " configs/tpu_v3/mesh_4x4.yaml";
    else if (command != app && !below.empty() && dynamic_cast<const CLI::RequiredError*>(&e) != nullptr)
        what = rest.empty() ? fmt::format("a command is missing, one of: {}", fmt::join(below, ", "))
                            : fmt::format("{} is no command of it; {}", weft::in_quotes(rest.front()), weft::suggestion(rest.front(), below));
    else if (!rest.empty() && dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr)
        what = explain_unknown(*command, rest.front());
    return fmt::format("{}: {}\n`{} --help` explains.\n", name, what, name);
}

/// A standard stream that the caller has closed would be the next file that is opened, and output would go into that
/// one.
void occupy_closed_streams()
{
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
            static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)); // its use fails
}

/// Of a pipe or socket. Why a write failed that was not the last one is not known any more.
bool reader_has_left()
{
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

/// The exit code when everything printed on stdout has to have arrived. A reader that left early (`weft ... | head`) is
/// told nothing: the exit code is what a shell shows for SIGPIPE.
int with_stdout_checked(int exit_code)
{
    constexpr int k_ended_by_sigpipe = 128 + SIGPIPE;
    int error =
        std::fflush(stdout) == 0 ? 0 : errno; // first: to flush std::cout flushes stdout, and loses why it failed
    std::cout.flush();
    // Network file systems report a full disk when a descriptor is closed.
    if (const int copy = ::dup(STDOUT_FILENO); error == 0 && copy >= 0 && ::close(copy) != 0)
        error = errno;
    if (error == EPIPE || (std::ferror(stdout) != 0 && reader_has_left()))
        return k_ended_by_sigpipe;
    if (error == 0 && std::ferror(stdout) == 0 && std::cout.good())
        return exit_code;
    weft::print_to_stderr("weft: standard output could not be written{}; what was printed is not complete.\n",
               error == 0 ? "" : fmt::format(": {}", std::strerror(error)));
    return exit_code == 0 ? 1 : exit_code;
}

/// The kernel prints a banner before sc_main() unless it finds this; a user who sets it is not overruled.
[[maybe_unused]] const int k_no_banner = setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 0);

int run_command(int argc, char* argv[])
{
    // A reader that leaves and a limit on file sizes cost one output, not the run: writing fails, and that is told.
    for (const int number : {SIGPIPE, SIGXFSZ})
        std::signal(number, SIG_IGN);
    // The kernel announces on stdout that a simulation was stopped; results are what belongs there.
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    CLI::App app{k_description, "weft"};
    app.footer(k_footer);
    bool verbose = false; // as CLI11 asks for the text when it sees --version, whatever stands behind it
    for (int i = 1; i < argc; ++i)
        verbose = verbose || std::strcmp(argv[i], "--verbose") == 0;
    app.set_version_flag(
        "--version", [verbose] { return verbose ? weft::cli::build_facts() : std::string("weft ") + weft::version(); },
        "Print the version and exit; with --verbose also how it was built, for reports of bugs");
    app.add_flag("--verbose", "With --version")->needs("--version");
    app.require_subcommand(1);
    app.failure_message(explain);
    app.get_formatter()->column_width(30);
    int exit_code = 0;
    weft::cli::add_commands(app, exit_code);
    const std::string word = first_word(argc, argv);
    std::vector<std::string> commands;
    for (const CLI::App* command : app.get_subcommands({}))
        commands.push_back(command->get_name());
    const bool is_known = std::find(commands.begin(), commands.end(), word) != commands.end();
    const std::vector<std::string>& elsewhere = weft::cli::commands_elsewhere();
    if (std::find(elsewhere.begin(), elsewhere.end(), word) != elsewhere.end())
        throw weft::whole_program_needed("`weft " + word + "`");
    if (!elsewhere.empty() && word.empty() && (argc == 1 || std::strcmp(argv[1], "--version") != 0))
        throw weft::whole_program_needed("help"); // which lists all commands
    commands.insert(commands.end(), elsewhere.begin(), elsewhere.end()); // for suggestions
    if (argc == 1 || (!word.empty() && !is_known)) {
        if (argc > 1)
            weft::print_to_stderr("weft: {} is no command; {}\n`weft --help` explains.\n", weft::in_quotes(word),
                       weft::suggestion(word, commands));
        else
            weft::print_to_stderr("{}", app.help());
        return 2;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const weft::whole_program_needed&) {
        throw;
    } catch (const weft::output_lost& e) {
        weft::print_to_stderr("{}\n", e.what());
        return 1;
    } catch (const weft::interrupted&) {
        weft::print_to_stderr("weft: interrupted; what was finished stands above, and no file was written.\n");
        return weft::interrupted_exit_code();
    } catch (const weft::user_error& e) {
        weft::print_to_stderr("{}\n", e.what());
        return 2;
    } catch (const std::exception& e) {
        if (std::ferror(stdout) != 0 || std::ferror(stderr) != 0)
            return 1;                      // what was to be printed did not arrive
        const std::string what = e.what(); // of the kernel, which hands on the text of other exceptions only
        if (what.find("bad_alloc") != std::string::npos ||
            what.find("failed to allocate stack memory") != std::string::npos) {
            fmt::print(
                stderr,
                "weft: this host, or the limit of this process (ulimit -v), has no memory left; use fewer chips, "
                "smaller sizes or --set data=off.\n");
            return 1;
        }
        for (const auto& [module, found] : {std::pair{"bug in lockstep_aggregation", "the Verilog and its model differ; one of them is wrong"},
                                            std::pair{"bug in rtl_aggregation", "the Verilog breaks its own properties"}})
            if (what.find(module) != std::string::npos) {
                weft::print_to_stderr("weft stopped because {}:\n{}\n", found, weft::cli::without_kernel_words(what));
                return 3;
            }
        fmt::print(
            stderr,
            "weft stopped because of a bug of its own:\n{}\nversion {}; please report this with the file that was run.\n",
            e.what(), weft::version());
        return 3;
    }
    return exit_code;
}

} // namespace

int sc_main(int argc, char* argv[])
{
    occupy_closed_streams();
    try {
        return with_stdout_checked(run_command(argc, argv));
    } catch (const weft::whole_program_needed& e) {
        return weft::cli::start_whole_program(argc, argv, e.what());
    }
}
