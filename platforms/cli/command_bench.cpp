// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/iss.h"
#include "platforms/cli/bench_cases.h"
#include "platforms/cli/bench_shares.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/report/bench_page.h"
#include "platforms/report/replaced_files.h"
#include "platforms/report/run_report.h"
#include "platforms/workload/interruption.h"
#include "platforms/workload/platform_studies.h"

#include "cmake/version.h"

#include <fmt/format.h>
#include <fstream>

namespace weft::cli {

namespace {

std::string host_name()
{
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "unknown processor";
}

void measure_host(bench_page& out, const bench_settings& how)
{
    out.title("Events, this host");
    for (const unsigned pending : {1u, 16384u}) {
        const double s = how.median_of([=] { return bench_kernel_events(pending); }).at("events_per_s");
        out.line(fmt::format("SystemC timed SC_METHOD, {} pending", pending), millions(s));
    }
    for (const unsigned pending : {64u, 16384u}) {
        const double s = how.median_of([=] { return bench_calendar_queue(pending); }).at("events_per_s");
        out.line(fmt::format("calendar queue, hold model, {} pending", pending), millions(s));
    }
    if (*iss_engine_name() == '\0')
        return;
    constexpr double k_engine_target = 10e6;
    const auto engine = how.median_of([] { return bench_rv64_engine(); });
    out.line("RV64 instructions per second of one host core, by a modelled core that only computes",
             millions(engine.at("instructions_per_s")), ">= 10 M/s",
             engine.at("instructions_per_s") >= k_engine_target);
}

} // namespace

void add_bench(CLI::App& app, int& exit_code)
{
    struct bench_options {
        unsigned repeats = 3;
        bool quick = false;
        bool full = false;
        bool shares = false;
        std::string out;
    };
    auto options = std::make_shared<bench_options>();
    CLI::App* command = app.add_subcommand(
        "bench", "Measure the simulator on this host: packet-hops, memory, elaboration, error of trains");
    add_number(*command, "--repeats", options->repeats, "Runs of each measurement; the median is shown",
               "number of repeats", 1, 99)
        ->capture_default_str();
    command->add_flag("--quick", options->quick, "Only events, packet-hops and size, about half a minute");
    command->add_flag("--full", options->full,
                      "Also errors of larger sizes and the all-reduce of 8,192 NPUs, many minutes");
    command
        ->add_flag("--shares", options->shares,
                   "Only what collectives reach of what links and memories allow: simulated times, no host")
        ->excludes("--quick");
    command->add_option("--out", options->out, "Also write the figures as a Markdown page")
        ->type_name("FILE")
        ->check(is_output_name());
    command->callback([options, &exit_code] {
        if (!options->out.empty()) {
            output_targets targets;
            targets.add_output(options->out, "--out");
            targets.check();
            prepare_output_file(options->out);
        }
        bench_page out;
        interruption signals;
        signals.begin("stops; what is printed stays, and no file is written");
        fmt::print("weft {} on {}: medians of {}, CPU time\n", version(), host_name(), options->repeats);
        bench_settings how;
        how.repeats = options->repeats;
        how.quick = options->quick;
        how.full = options->full;
        how.isolated = isolated_run(in_child);
        if (!options->shares) {
            measure_host(out, how);
            for (const platform_studies* one : studies())
                if (one->bench != nullptr)
                    one->bench(out, how);
        }
        if (!how.quick)
            measure_shares(out, how);
        if (!options->out.empty()) {
            const std::string head = fmt::format(
                "# Speed\n\n<!-- Made by `weft bench{} --out {}`; do not edit. -->\n\nweft {} on {}, medians of {} runs, CPU time of one "
                "core. Hosts differ and are noisy: compare ratios within one page.\n",
                fmt::format("{}{}", options->shares ? " --shares" : "",
                            options->full    ? " --full"
                            : options->quick ? " --quick"
                                             : ""),
                options->out, version(), host_name(), options->repeats);
            const replaced_files replaced({options->out});
            write_file_atomically(options->out, head + out.markdown());
            fmt::print("{}", replaced.text());
        }
        if (out.missed() > 0)
            fmt::print("\n{} targets missed on this host\n", out.missed());
        exit_code = 0; // speed is measured, not judged: hosts differ
    });
}

} // namespace weft::cli
