// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "hw/core/host_watch.h"
#include "hw/core/iss.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/firmware_log.h"
#include "platforms/cli/frame_replay.h"
#include "platforms/cli/kernel_words.h"
#include "platforms/cli/machine_figures.h"
#include "platforms/cli/run_capture.h"
#include "platforms/cli/run_observers.h"
#include "platforms/cli/run_results.h"
#include "platforms/cli/run_trace.h"
#include "platforms/cli/terminal.h"
#include "platforms/cli/trace_fan.h"
#include "platforms/debug/code_places.h"
#include "platforms/config/config_rows.h"
#include "platforms/debug/instruments.h"
#include "platforms/report/activity_file.h"
#include "platforms/report/folder_lock.h"
#include "platforms/report/previous_results.h"
#include "platforms/report/progress.h"
#include "platforms/report/replaced_files.h"
#include "platforms/report/report_page.h"
#include "platforms/report/results_csv.h"
#include "platforms/report/run_report.h"
#include "platforms/report/trace_writer.h"
#include "platforms/workload/activity_recorder.h"
#include "platforms/workload/algorithm_predictions.h"
#include "platforms/workload/bounds.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/interruption.h"
#include "platforms/workload/invariants.h"
#include "platforms/workload/records_waves.h"
#include "tlm/notifier.h"
#include "tlm/standard_error.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

namespace weft::cli {

namespace {

/// Of CPU time, without a call of the HAL, or of a machine that moves no data. Measured (docs/09_speed.md): a whole
/// all-reduce of 1,024 ranks takes 26 ms of CPU time a rank, fabric included, so no stretch of the shipped firmware
/// between two calls is longer, and the machine is no 26 s without a packet; it may take twice this.
constexpr std::uint32_t k_host_timeout_s = 60;

struct run_options {
    platform_source source;
    std::string out;
    std::string json;
    std::string csv;
    log_options log;
    std::string trace;
    std::uint64_t trace_limit = 1'000'000;
    trace_filter_texts trace_filter;
    std::string pcap;
    std::string pcap_limit = "1 GiB";
    std::uint32_t pcap_bytes = 0;
    trace_filter_texts pcap_filter{{}, {}, "", "--pcap"};
    std::vector<std::string> replay;
    std::string waves;
    bool quiet = false;
    bool report = false;
    bool of_sweep = false;
    std::optional<std::uint16_t> gdb_port;
    std::uint32_t gdb_core = 0;
    std::uint32_t gdb_wait_s = 300;
    bool trace_firmware = false;
    std::string coverage_firmware;
    std::uint32_t host_timeout_s = k_host_timeout_s;
};

run_report make_report(const weft::platform& p, machine& m, const run_outcome& outcome,
                       const std::vector<problem>& warnings)
{
    run_report r;
    r.title = fmt::format("{}: {} ranks", p.run().name, p.ranks());
    for (const case_result& c : outcome.cases) {
        result_row row;
        row.op = name_of(c.what.op);
        row.algorithm = name_of(c.what.algo);
        row.group = c.group;
        row.type = name_of(c.what.type);
        row.redop = name_of(c.what.redop);
        row.size_bytes = c.what.size_bytes;
        row.count = c.what.count;
        row.time_ps = c.time_ps;
        row.token_bytes = c.what.token_bytes;
        row.expert_skew = c.what.expert_skew;
        row.algbw_GBps = algorithm_bandwidth_GBps(c.what.size_bytes, c.time_ps);
        row.alone_ps = c.alone_ps;
        row.steps = c.steps;
        row.shares = c.shares;
        row.train_packets = m.train_of(c.what);
        row.repeats_ps = c.repeats_ps;
        row.choice = choice_of(c.what);
        if (!row.choice.empty())
            row.chosen_by = c.what.tuned                  ? "tuning " + c.what.tuning
                            : c.what.published_by.empty() ? "prediction"
                                                          : fmt::format("the range in {}{}", c.what.published_by,
                                                      c.what.gathers_by ? fmt::format(", all-gather by {}", name_of(*c.what.gathers_by)) : "");
        for (const algorithm_prediction& one : c.what.predictions)
            row.predicted.emplace_back(name_of(one.algorithm), one.us);
        abi::platform_table table = p.rank_table(0);
        const bool all_told = table.ranks == p.ranks();
        table.ranks = p.ranks();
        if (!c.what.groups.empty())
            table = tables_told(p, c.what).front();
        row.experts_per_token = experts_of(c.what, table.ranks);
        if (abi::by_switch(c.what.algo) && c.what.groups.empty())
            table.ranks = p.ranks_of_sum();
        row.transposed = c.what.transposed;
        row.busbw_GBps = row.algbw_GBps * bus_bandwidth_factor(c.what.op, table.ranks, row.experts_per_token);
        if (row.group.empty())
            row.group = fmt::format("{}", fmt::join(c.what.groups, "; "));
        const bool bounded = c.what.ranks_per_group == 0 && c.group.empty() && all_told;
        if (bounded)
            if (const auto bound = bound_on(p, c.what)) {
                row.bound_us = bound->us;
                row.bound_by = bound->resource;
            }
        if (c.checked) {
            row.wrong = c.check.wrong;
            row.answers = c.check.digest;
        }
        r.rows.push_back(row);
    }
    if (p.run().training_step)
        r.training = training_report_of(p, *p.run().training_step, outcome.training_steps);
    r.hosts = hosts_report_of(outcome, m.hosts() != nullptr);
    r.simulated_time_ps = outcome.simulated_time_ps;
    r.microcode_ps = outcome.microcode_ps;
    r.counted_from_ps = outcome.restarts.empty() ? 0 : outcome.restarts.back().at_ps;
    // A restart finds new hardware.
    const std::uint64_t begin_ps = outcome.restarts.empty() ? 0 : outcome.restarts.back().resumed_ps;
    // What hosts have begun, and what was sent again in vain, ends behind the last collective.
    const std::uint64_t end_ps = std::max(outcome.simulated_time_ps, kernel_now_ps());
    r.busiest_links = busiest_links(m, end_ps - std::min(begin_ps, end_ps));
    r.links = links_of(m, end_ps - std::min(begin_ps, end_ps));
    r.ranks = ranks_of(m);
    r.memory = memory_traffic_of(m);
    r.transport = transport_of(p, outcome);
    r.host_seconds = outcome.host_seconds;
    r.host_cpu_seconds = outcome.cpu_seconds;
    r.packet_hops = packet_hops_of(m);
    r.packet_hops_per_cpu_s = outcome.cpu_seconds > 0 ? static_cast<double>(r.packet_hops) / outcome.cpu_seconds : 0;
    r.timeline_events = m.time().events();
    r.kernel_activations = m.time().activations();
    r.digest = outcome.digest;
    r.version = version();
    for (const problem& w : warnings)
        r.warnings.push_back(to_string(w));
    r.config = to_json(p.resolved());
    r.stats = statistics_of(m);
    r.failure = outcome.failure;
    for (const job_restart& restart : outcome.restarts)
        r.warnings.push_back(restart.text);
    r.warnings.insert(r.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
    if (const auto& c = outcome.failed_case)
        r.failed = failed_row{name_of(c->op), name_of(c->algo), name_of(c->type),       name_of(c->redop),
                              c->size_bytes,  c->count,         outcome.failed_start_ps};
    return r;
}

/// Data that cannot fit would end in the host's out-of-memory killer, minutes later and without a word.
void refuse_beyond_host_memory(const weft::platform& p)
{
    const std::uint64_t needed = host_data_bytes_for(p.run(), p.ranks());
    rlimit address_space{};
    getrlimit(RLIMIT_AS, &address_space);
    const std::uint64_t reserved = p.rv64_cores() * iss_address_space_bytes();
    if (address_space.rlim_cur != RLIM_INFINITY && needed + reserved > address_space.rlim_cur) {
        std::string parts = fmt::format("{} for the contents of all HBMs", rounded_text(data_size(needed)));
        if (reserved != 0)
            parts += fmt::format(", {} for {} RV64 cores, of which each reserves {} for translated code",
                                 rounded_text(data_size(reserved)), p.rv64_cores(),
                                 rounded_text(data_size(iss_address_space_bytes())));
        throw user_error(
            fmt::format("{}: this run takes at least {} of address space ({}), and the limit of this process is {}. "
                        "Raise it (ulimit -v), use fewer ranks{}.",
                        p.run().name, rounded_text(data_size(needed + reserved)), parts,
                        rounded_text(data_size(address_space.rlim_cur)),
                        reserved == 0 ? ", smaller sizes or --set data=off" : " or native cores"));
    }
    const auto present =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    if (needed > present)
        throw user_error(fmt::format(
            "{}: the contents of all HBMs take {} of host memory, and this host has {}. Use smaller sizes or fewer chips, "
            "or --set data=off, which needs none of it and gives the same times.",
            p.run().name, rounded_text(data_size(needed)), rounded_text(data_size(present))));
}

trace_filter filter_of(const run_options& options, const weft::platform& p)
{
    std::vector<abi::platform_table> tables;
    for (std::uint32_t rank = 0; !options.trace_filter.ranks.empty() && rank < p.ranks(); ++rank)
        tables.push_back(p.rank_table(rank));
    return trace_filter(options.trace_filter, p.ranks(), [&tables](std::uint32_t rank) -> const abi::platform_table& { return tables[rank]; });
}

capture_options capture_of(const run_options& options, const char* platform)
{
    const parsed_quantity limit = parse_quantity(quantity_kind::data_size, options.pcap_limit);
    if (!limit.ok)
        throw user_error(
            fmt::format("--pcap-limit {}: {}; write a size, such as \"100 MiB\".", options.pcap_limit, limit.error));
    if (limit.value == 0)
        throw user_error(fmt::format(
            "--pcap-limit {}: no packet fits; write a size, such as \"100 MiB\", or leave --pcap out.", options.pcap_limit));
    return {options.pcap, limit.value, options.pcap_bytes, platform};
}

instrument_options instruments_for(const run_options& options, trace_writer* trace, const trace_filter& traced_part)
{
    instrument_options all;
    all.trace = options.trace_firmware ? trace : nullptr;
    all.traces_rank = [&traced_part](std::uint32_t rank) { return traced_part.shows_rank(rank); };
    all.coverage = !options.coverage_firmware.empty();
    if (options.gdb_port)
        all.gdb = gdb_options{*options.gdb_port, options.gdb_core, std::chrono::seconds(options.gdb_wait_s)};
    return all;
}

/// Waits for the debugger. Its user needs the program with its symbols: it goes to `dir`.
void begin_debugging(instruments& i, const std::string& dir)
{
    if (i.debugger() == nullptr)
        return;
    const std::vector<std::uint8_t> elf = i.elf_file();
    const std::string path = dir + "/firmware.elf";
    write_file_atomically(path, std::string(elf.begin(), elf.end()));
    print_to_stderr("gdb-multiarch {} -ex 'target remote 127.0.0.1:{}'\n", path, i.debugger()->port());
    i.debugger()->begin();
}

/// Refuses outputs that would destroy what is read, or each other.
void check_targets(const run_options& options, const loaded_platform& loaded, const std::string& dir)
{
    const weft::platform& p = *loaded.platform;
    output_targets targets;
    if (options.source.file == "-")
        targets.add_input(STDIN_FILENO, "the platform file on standard input");
    else
        targets.add_input(options.source.file, "the platform file");
    for (const std::string& file : p.input_files())
        targets.add_input(file, "named in the platform file");
    for (const std::string& file : loaded.layers())
        targets.add_input(file, "a part of the platform file");
    if (options.report)
        for (const char* file : {k_activity_file, k_report_file}) {
            targets.add_output(dir + "/" + file, "the run's own");
            targets.add_output(previous_name(dir + "/" + file), "the run's own, for what an earlier run left,");
        }
    for (const std::string& file : {dir + "/results.json", dir + "/firmware.log"}) {
        // The log is begun while the simulation runs, which cannot wait for a reader.
        targets.add_output(file, "the run's own",
                           file == dir + "/firmware.log" ? target_kind::no_fifo : target_kind::any);
        targets.add_output(previous_name(file), "the run's own, for what an earlier run left,");
    }
    if (options.gdb_port)
        targets.add_output(dir + "/firmware.elf", "the run's own");
    for (const std::string& file : p.output_files()) {
        targets.add_output(file, "the platform's", target_kind::regular_file);
        targets.add_output(file + ".hier", "beside it, for the time of the run,", target_kind::regular_file);
    }
    if (options.json == "-" && options.csv == "-")
        throw user_error("--json - and --csv -: standard output holds one of them; write a file name for the other.");
    if (options.json != "-")
        targets.add_output(options.json, "--json");
    targets.add_output(options.trace, "--trace");
    targets.add_output(options.log.file, "--log");
    if (options.csv != "-")
        targets.add_output(options.csv, "--csv");
    targets.add_output(options.waves, "--waves", target_kind::regular_file);
    if (!options.waves.empty())
        for (const char* beside : {".part", ".part.hier"})
            targets.add_output(options.waves + beside, "beside it, for the time of the run,", target_kind::regular_file);
    for (const std::string& file : options.replay)
        targets.add_input(file, "of --replay");
    targets.add_output(options.coverage_firmware, "--coverage-firmware");
    targets.check();
}

/// Writes the files of a run. One that cannot be written does not cost the others.
class final_outputs {
public:
    explicit final_outputs(replaced_files& replaced) : replaced_(replaced) {}
    /// `what`: for the sentence that it is missing. `file`: where one of an earlier run then stays. Returns whether it
    /// is written.
    template <class Write> bool write(const std::string& what, Write&& write_one, const std::string& file = "")
    {
        try {
            write_one();
            return true;
        } catch (const user_error& e) {
            print_to_stderr("{} {} is missing.\n", e.what(), what);
            const auto* const loss = dynamic_cast<const output_lost*>(&e);
            full_disk_ = full_disk_ || (loss != nullptr && loss->is_full_disk());
            lost_ = true;
            replaced_.stays(file);
            return false;
        }
    }
    bool lost() const { return lost_; }
    bool full_disk() const { return full_disk_; }

private:
    replaced_files& replaced_;
    bool lost_ = false, full_disk_ = false;
};

/// A pipe or a terminal may never send the file: nothing waits for that.
bool is_there_at_once(const std::string& file)
{
    std::error_code error;
    return std::filesystem::is_regular_file(file == "-" ? "/dev/stdin" : file, error);
}

/// Feeds captured frames in place of the workload, and tells how the answers compare.
int end_replay(const run_options& options, machine& m, frame_replay& replay, run_capture* captured, trace_writer* trace,
               const run_trace* traced, replaced_files& replaced, interruption& signals)
{
    signals.begin("stops the replay and compares what has come");
    replay.run();
    final_outputs outputs(replaced);
    const bool has_trace =
        trace != nullptr && outputs.write("The trace", [&] { trace->close(); }, options.trace);
    const bool has_pcap = captured != nullptr && outputs.write("A capture", [&] { captured->close(); });
    if (!options.quiet) {
        fmt::print("{}", replay.summary());
        if (has_trace)
            fmt::print("trace:   {} ({}; open it at https://ui.perfetto.dev)\n", options.trace, traced->summary());
        if (has_pcap)
            fmt::print("pcap:    {} ({})\n", options.pcap, captured->summary());
        if (!options.waves.empty())
            fmt::print("waves:   {} (open it with gtkwave)\n", options.waves);
        fmt::print("{}", replaced.text());
    }
    print_to_stderr("{}", replaced.text_of_those_that_stay());
    for (const std::string& warning : m.warnings())
        print_to_stderr("warning: {}\n", warning);
    if (!replay.failure().empty())
        print_to_stderr("the replay differs: {}.\n", replay.failure());
    return stop_requested() ? interrupted_exit_code() : replay.failure().empty() && !outputs.lost() ? 0 : 1;
}

int run(const run_options& options)
{
    interruption signals;
    // Only the file tells whose results are out of date, and whether it is refused, which changes nothing.
    if (is_there_at_once(options.source.file))
        signals.hold("ends when the platform file is checked");
    const loaded_platform loaded = load(options.source);
    if (!loaded.platform) {
        signals.release();
        return 2;
    }
    const weft::platform& p = *loaded.platform;
    const trace_filter traced_part = filter_of(options, p);
    const trace_filter captured_part(options.pcap_filter, p.ranks(), {});
    const capture_options captures = capture_of(options, loaded.info->name);
    if (!options.waves.empty()) {
        auto* const signals_of = dynamic_cast<records_waves*>(loaded.platform.get());
        if (signals_of == nullptr)
            throw user_error(fmt::format(
                "--waves: the platform {} has no signals to draw; switchml has, with any switch.aggregator.",
                loaded.info->name));
        if (const std::string why = signals_of->no_waves(); !why.empty())
            throw user_error("--waves: " + why);
        signals_of->record_waves(options.waves);
    }
    refuse_beyond_host_memory(p);
    const std::string dir = options.out.empty() ? "out/" + p.run().name : options.out;
    check_targets(options, loaded, dir);
    const std::string chart = options.report ? chart_library() : "";
    folder_lock lock(dir);
    replaced_files replaced({options.trace, options.log.file, options.waves, options.coverage_firmware});
    for (const std::string* file : {&options.json, &options.csv})
        if (*file != "-")
            replaced.look(*file);
    std::vector<std::string> kept;
    // What an earlier run has left in the folder must not look like the answer of this one.
    earlier_files earlier({dir + "/results.json", dir + "/firmware.log", dir + "/" + k_activity_file, dir + "/" + k_report_file});
    signals.release();
    for (const std::string* file : {&options.json, &options.csv, &options.coverage_firmware, &options.waves})
        if (const bool to_stdout = *file == "-" && (file == &options.json || file == &options.csv); !file->empty() && !to_stdout)
            prepare_output_file(*file);
    made_folders folders(dir);
    const made_folders capture_folders(options.pcap.empty() ? dir : options.pcap);
    prepare_output_dir(dir);
    try {
        lock.take();
    } catch (...) {
        folders.keep();
        throw;
    }
    if (!options.pcap.empty()) {
        prepare_output_dir(options.pcap);
        refuse_captures_over(options.replay, options.pcap);
    }
    for (const std::string& file : p.output_files())
        prepare_output_file(file);

    progress bar =
        progress::on_stderr(static_cast<std::uint32_t>(collective_count(p.run())), options.quiet || options.log.verbose);
    std::unique_ptr<trace_writer> trace;
    if (!options.trace.empty()) {
        trace = std::make_unique<trace_writer>(options.trace, options.trace_limit);
        if (!trace->unfinished_file().empty())
            signals.remove_at_once(trace->unfinished_file());
    }
    std::unique_ptr<run_log> lines;
    if (!options.log.file.empty()) {
        lines = std::make_unique<run_log>(options.log);
        signals.remove_at_once(lines->unfinished_file());
    }
    signals.remove_at_once(output_file::temporary_for(dir + "/firmware.log"));
    for (const char* beside : {".part", ".part.hier"})
        if (!options.waves.empty())
            signals.remove_at_once(options.waves + beside);
    constexpr std::uint32_t k_many_ranks = 512; // seconds until the first case begins
    if (p.ranks() >= k_many_ranks)
        bar.begin_case(0, fmt::format("building {} ranks", p.ranks()));
    const std::unique_ptr<machine> m = p.build();
    std::optional<run_trace> traced;
    std::vector<trace_sink*> sinks;
    if (trace)
        sinks.push_back(&traced.emplace(*trace, traced_part));
    if (lines)
        sinks.push_back(lines.get());
    const trace_fan recording(*m, sinks);
    if (traced)
        traced->check_filter();
    if (lines)
        lines->check_components();
    std::optional<run_capture> captured;
    if (!options.pcap.empty())
        captured.emplace(captures, captured_part,
                         [&](const std::string& file) { signals.remove_at_once(output_file::temporary_for(file)); });
    std::optional<frame_replay> replay;
    if (!options.replay.empty())
        replay.emplace("replay", *m, options.replay, captured ? &*captured : nullptr);
    else if (captured)
        captured->attach(*m);
    if (captured)
        captured->check_wires(replaced);
    for (std::uint32_t rank = 0; options.trace_firmware && rank < p.ranks(); ++rank)
        if (traced_part.shows_rank(rank))
            trace->name_core(rank);
    firmware_places places;
    firmware_log log(*m, places, dir + "/firmware.log");
    instruments instrumented(*m, instruments_for(options, trace.get(), traced_part));
    gdb_server* const debugger = instrumented.debugger();
    begin_debugging(instrumented, dir);
    if (debugger != nullptr && debugger->killed()) {
        print_to_stderr("the debugger ended the run before it began\n");
        return 1;
    }
    if (replay)
        return end_replay(options, *m, *replay, captured ? &*captured : nullptr, trace.get(),
                          traced ? &*traced : nullptr, replaced, signals);
    std::optional<activity_recorder> recorder;
    if (options.report)
        recorder.emplace("activity", *m);
    run_observers observer(*m, {bar, debugger, recorder ? &*recorder : nullptr, lines.get(), options.log.verbose});
    run_outcome outcome;
    std::exception_ptr found_wrong;
    std::string log_line, lines_text;
    bool has_results = true, has_page = false, has_trace = false, has_log = false, has_pcap = false;
    final_outputs outputs(replaced);
    {
        collective_runner runner("host", *m, p.run(), &observer, &places);
        // A debugger lets the host work for the firmware as long as its user likes.
        const host_watch watch(debugger == nullptr ? options.host_timeout_s : 0);
        for (const std::string& file : earlier.moved())
            kept.push_back(previous_name(file));
        earlier.are_replaced();
        signals.begin("stops and saves what is finished");
        try {
            outcome = runner.run();
        } catch (const std::exception& e) { // a part of the machine found itself wrong, Verilog among them
            if (std::string(e.what()).find("bug in ") == std::string::npos)
                throw;
            found_wrong = std::current_exception();
            outcome = runner.so_far();
            outcome.failure = without_kernel_words(e.what());
            outcome.simulated_time_ps = kernel_now_ps();
        }
        bar.finish();
        if (debugger != nullptr && debugger->killed())
            outcome.failure = "the debugger ended it.";
        outputs.write("firmware.log", [&] { log_line = log.close(); });
        const auto close_recorders = [&] {
            if (trace) { // also of a run that failed: that is when one wants to look
                instrumented.end_trace(m->time().now_ps());
                has_trace = outputs.write("The trace", [&] { trace->close(); }, options.trace);
            }
            if (lines)
                has_log = outputs.write("The log", [&] { lines_text = lines->close(); }, options.log.file);
            if (captured)
                has_pcap = outputs.write("A capture", [&] { captured->close(); });
            if (!options.coverage_firmware.empty())
                outputs.write("--coverage-firmware",
                              [&] { write_file_atomically(options.coverage_firmware, instrumented.lcov()); },
                              options.coverage_firmware);
        };
        if (outcome.failure.empty())
            try {
                check_invariants(*m);
            } catch (...) {
                close_recorders();
                throw;
            }
        const run_report report = make_report(p, *m, outcome, loaded.problems);
        // Before a trace or a log is whole: on a disk that is too small for all, results are worth most.
        const auto save = [&] { write_results(dir, report); };
        try {
            save();
        } catch (const output_lost& e) {
            const bool makes_room = e.is_full_disk();
            if (trace && makes_room)
                trace->give_up();
            if (lines && makes_room)
                lines->give_up();
            if (captured && makes_room)
                captured->give_up();
            has_results = outputs.write("results.json", save);
        }
        const nlohmann::ordered_json results = to_json(report);
        if (recorder) {
            const nlohmann::ordered_json activity = activity_json(*recorder, loaded, results);
            const auto text = [](const nlohmann::ordered_json& j) { return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); };
            outputs.write(k_activity_file, [&] { write_file_atomically(dir + "/" + k_activity_file, text(activity) + "\n"); });
            has_page = outputs.write(k_report_file, [&] { write_file_atomically(dir + "/" + k_report_file, report_page(results, activity, nullptr, chart)); });
        }
        if (!options.json.empty() && options.json != "-")
            outputs.write("--json", [&] { write_file_atomically(options.json, results.dump(2) + "\n"); }, options.json);
        const auto csv = [&] { return to_csv(results_of(results, dir + "/results.json")); };
        if (!options.csv.empty() && options.csv != "-")
            outputs.write("--csv", [&] { write_file_atomically(options.csv, csv()); }, options.csv);
        close_recorders();
        if (options.csv == "-")
            std::cout << csv();
        else if (options.json == "-")
            std::cout << results.dump(2) << "\n";
        else if (!options.quiet)
            print_table(std::cout, report, style_of_stdout());
    }
    if (!options.quiet && options.json != "-" && options.csv != "-") {
        if (has_results)
            fmt::print("results: {}/results.json\n", dir);
        fmt::print("{}", log_line);
        if (has_page)
            fmt::print("report:  {}/{}\n", dir, k_report_file);
        if (has_trace)
            fmt::print("trace:   {} ({}; open it at https://ui.perfetto.dev)\n", options.trace, traced->summary());
        if (has_log)
            fmt::print("log:     {} ({})\n", options.log.file, lines_text);
        if (has_pcap)
            fmt::print("pcap:    {} ({})\n", options.pcap, captured->summary());
        if (!options.waves.empty())
            fmt::print("waves:   {} (open it with gtkwave)\n", options.waves);
        fmt::print("{}", replaced.text());
        for (const std::string& file : kept)
            fmt::print("kept:    {} (of the run before)\n", file);
    }

    if (found_wrong)
        std::rethrow_exception(found_wrong); // told as what it is, with an exit code of its own
    print_to_stderr("{}", replaced.text_of_those_that_stay());
    if (has_trace && traced->shows_nothing())
        print_to_stderr("warning: --trace {} has {}. Name other ranks, links or times.\n", options.trace, traced->summary());
    if (has_pcap && captured->shows_nothing())
        print_to_stderr("warning: --pcap {} has {}. Name other links or times.\n", options.pcap, captured->summary());
    if (options.quiet && has_trace && traced->is_cut())
        print_to_stderr("warning: --trace {} has {}\n", options.trace, traced->summary());
    if (options.quiet && has_pcap && captured->is_cut())
        print_to_stderr("warning: --pcap {} has {}\n", options.pcap, captured->summary());
    for (const job_restart& restart : outcome.restarts)
        print_to_stderr("restart: {}\n", restart.text);
    for (const std::string& warning : outcome.warnings)
        print_to_stderr("warning: {}\n", warning);
    int code = 0;
    for (const case_result& c : outcome.cases)
        if (c.checked && c.check.wrong > 0) {
            print_to_stderr("{} {} of {} B: {} wrong elements; the first: {}\n", name_of(c.what.op),
                       name_of(c.what.algo), c.what.size_bytes, c.check.wrong, to_string(c.check.first, c.what.type));
            code = 1;
        }
    for (std::size_t i = 0; i < outcome.training_steps.size(); ++i)
        for (const step_part& part : outcome.training_steps[i].parts)
            if (part.wrong > 0) {
                print_to_stderr("training step {}, {}: {} wrong elements; the first: {}\n", i, part.name, part.wrong,
                           part.first_wrong);
                code = 1;
            }
    for (const checkpoint_result& c : outcome.checkpoints)
        if (c.wrong_bytes > 0) {
            print_to_stderr("{} {}: {} of {} B are wrong\n", c.load ? "load of checkpoint" : "checkpoint", c.number, c.wrong_bytes, c.bytes);
            code = 1;
        }
    for (const host_stream_result& s : outcome.host_streams)
        if (s.wrong_bytes > 0) {
            print_to_stderr("host traffic {}: {} B are wrong\n", s.name, s.wrong_bytes);
            code = 1;
        }
    if (!outcome.failure.empty()) {
        print_to_stderr("{}{}\n", outcome.stop_signal == 0 ? "the run failed: " : "the run was ", outcome.failure);
        code = outcome.stop_signal == 0 ? 1 : interrupted_exit_code();
    }
    if (outputs.lost())
        code = outputs.full_disk() && options.of_sweep ? k_full_disk_exit_code : 1;
    if (debugger != nullptr)
        debugger->end(code);
    return code;
}

} // namespace

void add_run(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<run_options>();
    CLI::App* command =
        app.add_subcommand("run", "Run the workload of a platform file, check every answer, write the results");
    add_platform_options(*command, options->source);
    add_size_options(*command, options->source.sizes);
    command
        ->add_option("--out", options->out, "Folder for results.json; made if missing. Default: out/<name of the run>")
        ->type_name("DIR")
        ->check(is_output_name());
    command
        ->add_option("--json", options->json,
                     "Write the results as JSON to FILE too; '-' prints them instead of the table")
        ->type_name("FILE")
        ->check(is_output_name(dash::is_stdout));
    command
        ->add_option("--csv", options->csv, "Write the results as CSV to FILE, too; '-' prints them instead of the table")
        ->type_name("FILE")
        ->check(is_output_name(dash::is_stdout));
    add_log_options(*command, options->log);
    CLI::Option* trace =
        command->add_option("--trace", options->trace, "Write a trace of all messages, frames and links for Perfetto")
            ->type_name("FILE")
            ->check(is_output_name());
    add_number(*command, "--trace-limit", options->trace_limit, "Records in the trace at most", "number of records", 1,
               1'000'000'000) // of about 150 B each
        ->capture_default_str();
    command
        ->add_option("--trace-ranks", options->trace_filter.ranks,
                     "Trace what these ranks do, send and get: \"0-3,8\" or another form of `groups`; repeatable")
        ->type_name("RANKS")
        ->needs(trace);
    command
        ->add_option("--trace-links", options->trace_filter.links, "Of links and cables, trace those that have TEXT in their names; repeatable")
        ->type_name("TEXT")
        ->needs(trace);
    command
        ->add_option("--trace-window", options->trace_filter.window,
                     "Trace what happens in this simulated time: \"10 us..20 us\", \"..1 ms\", \"5 us..\";\n"
                     "functions of firmware always")
        ->type_name("FROM..TO")
        ->needs(trace);
    command
        ->add_flag("--trace-firmware", options->trace_firmware,
                   "Trace the functions that rv64 cores enter and leave, too")
        ->needs(trace);
    CLI::Option* pcap =
        command
            ->add_option("--pcap", options->pcap,
                         "Write what crosses each cable to a pcapng file in DIR, for Wireshark; lost and\n"
                         "damaged packets are flagged")
            ->type_name("DIR")
            ->check(is_output_name());
    command->add_option("--pcap-limit", options->pcap_limit, "Size of all these files together at most")
        ->type_name("SIZE")
        ->needs(pcap)
        ->capture_default_str();
    add_number(*command, "--pcap-bytes", options->pcap_bytes, "Of each packet, keep its first N bytes; 0: all",
               "number of bytes", 0, 1 << 20)
        ->needs(pcap)
        ->capture_default_str();
    command
        ->add_option("--pcap-links", options->pcap_filter.links,
                     "Capture links and cables that have TEXT in their names; repeatable")
        ->type_name("TEXT")
        ->needs(pcap);
    command
        ->add_option("--pcap-window", options->pcap_filter.window,
                     "Capture what crosses in this simulated time, as of --trace-window")
        ->type_name("FROM..TO")
        ->needs(pcap);
    command
        ->add_option(
            "--waves", options->waves,
            "Draw the pins of the switch's aggregation pipes in an FST file, for GTKWave: of the\n"
            "Verilog or, by the same names, of its C++ twin, as switch.aggregator says")
        ->type_name("FILE")
        ->check(is_output_name());
    CLI::Option* replay =
        command
            ->add_option(
                "--replay", options->replay,
                "In place of the workload, feed the switch the frames that workers sent in this pcapng\n"
                "file (a folder: all in it), at their times, and compare its answers with those in the\n"
                "file; repeatable")
            ->type_name("FILE");
    command
        ->add_option("--coverage-firmware", options->coverage_firmware,
                     "Write which lines of the firmware rv64 cores have executed, for lcov and genhtml")
        ->type_name("FILE")
        ->check(is_output_name());
    CLI::Option* gdb = add_number(*command, "--gdb", options->gdb_port,
                                  "Serve gdb on this port of 127.0.0.1, 0 for a free one: rv64 cores, one thread each",
                                  "port", 0, 65'535)
                           ->type_name("PORT");
    add_number(*command, "--gdb-core", options->gdb_core, "Core (rank) that gdb finds selected, at its entry", "rank",
               0, 65'535)
        ->needs(gdb)
        ->capture_default_str();
    add_number(*command, "--gdb-wait", options->gdb_wait_s, "How long to wait for gdb, in seconds", "number of seconds",
               1, 86'400)
        ->type_name("S")
        ->needs(gdb)
        ->capture_default_str();
    add_number(*command, "--host-timeout", options->host_timeout_s,
               "CPU seconds that firmware may take without a call of the HAL, twice that\n"
               "while no data moves; 0: any; off with --gdb",
               "number of seconds", 0, 86'400)
        ->type_name("S")
        ->capture_default_str();
    command->add_flag("--report", options->report,
                      "Write report.html, one page to look at, and what `weft report` makes it of again");
    for (const char* other : {"--json", "--csv", "--log", "-v", "--report", "--gdb", "--coverage-firmware", "--trace-firmware"})
        replay->excludes(command->get_option(other));
    command->add_flag("--quiet", options->quiet, "No table and no progress bar, only problems");
    command
        ->add_flag("--of-sweep", options->of_sweep,
                   "A point of `weft sweep`: a full disk, which stops the sweep, has an exit code of its own")
        ->group(""); // not for users
    command->callback([options, &exit_code] {
        try {
            exit_code = run(*options);
        } catch (const output_lost& e) {
            if (!options->of_sweep || !e.is_full_disk())
                throw;
            print_to_stderr("{}\n", e.what());
            exit_code = k_full_disk_exit_code;
        }
    });
}

} // namespace weft::cli
