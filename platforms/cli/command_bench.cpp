// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/iss.h"
#include "platforms/cli/bench_cases.h"
#include "platforms/cli/cli.h"
#include "platforms/report/run_report.h"
#include "platforms/switchml/aggregators.h"
#include "platforms/workload/interruption.h"

#include "cmake/version.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <functional>

namespace weft::cli {

namespace {

/// Median of every figure over `repeats` runs.
figures median_of(unsigned repeats, const std::function<figures()>& measure)
{
    std::map<std::string, std::vector<double>> all;
    for (unsigned i = 0; i < repeats; ++i)
        for (const auto& [name, value] : in_child(measure))
            all[name].push_back(value);
    figures result;
    for (auto& [name, values] : all) {
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
        result[name] = values[values.size() / 2];
    }
    return result;
}

std::string host_name()
{
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "unknown processor";
}

/// One line of the page: what, figure, target, and whether it is met.
class page {
public:
    void title(const std::string& text)
    {
        add(fmt::format("\n### {}\n\n| measured | figure | target | |\n|---|---|---|---|\n", text), "\n" + text + "\n");
    }
    void line(const std::string& what, const std::string& figure, const std::string& target = "", bool met = true)
    {
        const char* verdict = target.empty() ? "" : met ? "met" : "MISSED";
        add(fmt::format("| {} | {} | {} | {} |\n", what, figure, target, verdict),
            fmt::format("  {:<66} {:>18}  {:<16} {}\n", what, figure, target, verdict));
        missed_ += target.empty() || met ? 0 : 1;
    }
    const std::string& markdown() const { return markdown_; }
    unsigned missed() const { return missed_; }

private:
    void add(const std::string& markdown, const std::string& plain)
    {
        markdown_ += markdown;
        fmt::print("{}", plain);
        std::fflush(stdout);
    }
    std::string markdown_;
    unsigned missed_ = 0;
};

constexpr std::uint32_t k_auto = 0; ///< `burst: auto`
constexpr std::uint64_t k_superpod_chunk = 4 << 20; ///< of configs/ub_mesh/superpod.yaml

std::string millions(double value) { return fmt::format("{:.2f} M/s", value / 1e6); }

void measure_queues(page& out, unsigned repeats)
{
    out.title("Events, this host");
    for (const unsigned pending : {1u, 16384u}) {
        const double s = median_of(repeats, [=] { return bench_kernel_events(pending); }).at("events_per_s");
        out.line(fmt::format("SystemC timed SC_METHOD, {} pending", pending), millions(s));
    }
    for (const unsigned pending : {64u, 16384u}) {
        const double s = median_of(repeats, [=] { return bench_calendar_queue(pending); }).at("events_per_s");
        out.line(fmt::format("calendar queue, hold model, {} pending", pending), millions(s));
    }
}

void measure_hops(page& out, unsigned repeats)
{
    constexpr double k_uniform_target = 5e6;
    constexpr double k_ring_target = 0.6e6;
    constexpr double k_train_target = 100e6;
    out.title("Packet-hops per CPU second, one packet per transaction");
    // Loads are shares of the local port; 0.13 keeps the mesh links of 8x8 at 40 %, 0.0185 those of 64x64.
    const auto small = median_of(repeats, [] { return bench_uniform(8, false, 0.13, 10'000); });
    const auto with_data = median_of(repeats, [] { return bench_uniform(8, true, 0.13, 10'000); });
    const auto full = median_of(repeats, [] { return bench_uniform(8, false, 1.0, 10'000); });
    const auto large = median_of(repeats, [] { return bench_uniform(64, false, 0.0185, 200); });
    out.line("uniform random, 8x8, 256 B, links at 40 %, data off", millions(small.at("hops_per_s")), ">= 5 M/s",
             small.at("hops_per_s") >= k_uniform_target);
    out.line("the same, saturated", millions(full.at("hops_per_s")), ">= 5 M/s",
             full.at("hops_per_s") >= k_uniform_target);
    out.line("the same at 40 %, data carried and checked", millions(with_data.at("hops_per_s")));
    out.line("timeline events per packet-hop (40 %, saturated)",
             fmt::format("{:.2f}, {:.2f}", small.at("events_per_hop"), full.at("events_per_hop")));
    out.line("kernel activations per packet-hop", fmt::format("{:.4f}", small.at("activations_per_hop")));
    out.line("uniform random, 64x64, links at 40 %, data off", millions(large.at("hops_per_s")));
    const double ratio = small.at("hops_per_s") / large.at("hops_per_s");
    out.line("cost per packet-hop at 4,096 routers / at 64", fmt::format("{:.2f}", ratio), "<= 2", ratio <= 2);
    const auto ring_off = median_of(repeats, [] { return bench_all_reduce("ring_1d", 8, false, "16 MiB", 4096, 1); });
    const auto ring = median_of(repeats, [] { return bench_all_reduce("ring_1d", 8, true, "16 MiB", 4096, 1); });
    const auto ring_256 = median_of(repeats, [] { return bench_all_reduce("ring_1d", 8, true, "16 MiB", 256, 1); });
    out.line("ring all-reduce, 64 chips, 16 MiB, 4 KiB packets, data off", millions(ring_off.at("hops_per_s")));
    out.line("the same, data checked", millions(ring.at("hops_per_s")), ">= 0.6 M/s",
             ring.at("hops_per_s") >= k_ring_target);
    out.line("the same, data checked, 256 B packets", millions(ring_256.at("hops_per_s")));
    const auto trains = median_of(repeats, [] { return bench_all_reduce("ring_1d", 8, false, "1 GiB", 256, k_auto, false, true); });
    out.line("the same, 1 GiB, 256 B packets in trains, buffers of 512 KiB, data off", millions(trains.at("hops_per_s")),
             ">= 100 M/s", trains.at("hops_per_s") >= k_train_target);
    out.line("timeline events per packet-hop (off, checked)",
             fmt::format("{:.2f}, {:.2f}", ring_off.at("events_per_hop"), ring.at("events_per_hop")));
    out.line("kernel activations per packet-hop", fmt::format("{:.3f}", ring_off.at("activations_per_hop")));
}

void measure_size(page& out, unsigned repeats)
{
    out.title("Size and elaboration");
    const auto e = median_of(repeats, [] { return bench_elaboration(32); });
    out.line("resident memory per idle chip (core thread, DMA, HBM, router)",
             fmt::format("{:.1f} KiB", e.at("bytes_per_chip") / 1024));
    out.line("state per directed link (2 VLs, share of router and queues)",
             fmt::format("{:.0f} B", e.at("bytes_per_link")));
    out.line("elaboration per 1,000 chips", fmt::format("{:.3f} s CPU", e.at("s_per_1000_chips")));
}

void measure_rv64(page& out, unsigned repeats)
{
    if (*iss_engine_name() == '\0')
        return;
    constexpr double k_seconds = 60;
    constexpr double k_MiB = 1024;
    constexpr double k_engine_target = 10e6;
    out.title("RV64 cores: 64 chips all-reduce 16 MiB by ring_1d, data off");
    const auto native = median_of(repeats, [] { return bench_all_reduce("ring_1d", 8, false, "16 MiB", 256, 1); });
    const auto rv64 = median_of(repeats, [] { return bench_all_reduce("ring_1d", 8, false, "16 MiB", 256, 1, true); });
    out.line("CPU time", fmt::format("{:.1f} s", rv64.at("cpu_s")), "<= 60 s", rv64.at("cpu_s") <= k_seconds);
    out.line("the same on native cores", fmt::format("{:.1f} s", native.at("cpu_s")));
    out.line("resident memory", fmt::format("{:.0f} MiB", rv64.at("resident_MiB")), "<= 1 GiB",
             rv64.at("resident_MiB") <= k_MiB);
    out.line("instructions executed", fmt::format("{:.1f} M", rv64.at("instructions") / 1e6));
    out.line("instructions per second of one host core in this run, fabric included",
             millions(rv64.at("instructions") / rv64.at("cpu_s")));
    const auto engine = median_of(repeats, [] { return bench_rv64_engine(); });
    out.line("instructions per second of one host core, by a modelled core that only computes",
             millions(engine.at("instructions_per_s")), ">= 10 M/s",
             engine.at("instructions_per_s") >= k_engine_target);
}

void measure_switchml(page& out, unsigned repeats)
{
    constexpr double k_model_target = 200e3;
    constexpr double k_rtl_target = 10e3;
    out.title("SwitchML: switch packets per CPU second, 8 workers of 8 cores, packets of 256 elements");
    const auto line = [&](const std::string& text, const switchml_case& what, double target = 0) {
        const auto r = median_of(repeats, [&] { return bench_switchml(what); });
        const double rate = r.at("packets_per_s");
        out.line(text, fmt::format("{:.0f} k/s", rate / 1e3),
                 target == 0 ? "" : fmt::format(">= {:.0f} k/s", target / 1e3), rate >= target);
        return r;
    };
    out.line("a switch packet: sent by a worker, aggregated by the switch", "");
    switchml_case c;
    const auto rdma = line("RDMA, 100 Gb/s, int32, 16 MiB, data checked", c, k_model_target);
    c.checked = false;
    line("the same, data off", c);
    c.checked = true;
    c.type = "float32";
    line("the same, data checked, float32", c, k_model_target);
    c.type = "int32";
    c.rdma = false;
    const auto udp_fast = line("UDP, 100 Gb/s, int32, 16 MiB, data checked", c, k_model_target);
    c.gigabits_per_s = 10;
    const auto udp = line("UDP, 10 Gb/s, int32, 16 MiB, data checked", c, k_model_target);
    c.checked = false;
    line("the same, data off", c);
    for (const char* aggregator : {"rtl", "lockstep"}) {
        if (!aggregator_refusal(aggregator_kind::rtl, {}).empty())
            break;
        c = {};
        c.aggregator = aggregator;
        c.size = "2 MiB";
        line(fmt::format("RDMA, 100 Gb/s, int32, 2 MiB, data checked, aggregator: {}", aggregator), c, k_rtl_target);
    }
    out.line("timeline events per packet (RDMA; UDP at 100 and 10 Gb/s)",
             fmt::format("{:.1f}; {:.1f}, {:.1f}", rdma.at("events_per_packet"), udp_fast.at("events_per_packet"),
                         udp.at("events_per_packet")));
    out.line("switches of a core's thread per packet (the same)",
             fmt::format("{:.1f}; {:.1f}, {:.1f}", rdma.at("thread_switches_per_packet"),
                         udp_fast.at("thread_switches_per_packet"), udp.at("thread_switches_per_packet")));
    const auto elaboration = [&](const std::string& text, std::uint32_t workers, std::vector<std::uint32_t> tree) {
        const auto r = median_of(repeats, [&] { return bench_switchml_elaboration(workers, tree); });
        out.line(text, fmt::format("{:.2f} s, {:.0f} MiB", r.at("s"), r.at("resident_MiB")));
    };
    elaboration("elaboration and memory, 8 workers below one switch", 8, {});
    elaboration("32 workers below one switch", 32, {});
    elaboration("256 workers below a tree [16, 16] of 17 switches", 256, {16, 16});
}

/// A ratio of two runs that follow each other, so that it holds on any host.
void measure_ub_fault(page& out, unsigned repeats)
{
    constexpr double k_most = 1.5;
    out.title("UB-Mesh: CPU time of a run with a fault over that of the same run without, one rack, rtp, data off");
    ub_case healthy;
    healthy.all_to_all = true;
    healthy.algorithm = "direct";
    healthy.size = "4 MiB";
    healthy.rtp = true;
    ub_case faulty = healthy;
    faulty.link_fails_at_ps = 20'000'000;
    std::vector<double> ratios;
    for (unsigned i = 0; i < repeats; ++i) {
        const double without = in_child([&] { return bench_ub_mesh(healthy); }).at("cpu_s");
        ratios.push_back(in_child([&] { return bench_ub_mesh(faulty); }).at("cpu_s") / without);
    }
    std::sort(ratios.begin(), ratios.end());
    const double ratio = ratios[ratios.size() / 2];
    out.line("all-to-all of 4 MiB, a link fails at 20 us", fmt::format("{:.2f}", ratio), "<= 1.5", ratio <= k_most);
}

void measure_ub_mesh(page& out, unsigned repeats)
{
    constexpr double k_rack_target = 3e6;
    constexpr double k_seconds = 60;
    constexpr double k_MiB = 12 * 1024;
    out.title(
        "UB-Mesh: packet-hops per CPU second, one rack, all-to-all of 1 MiB per pair, one packet per transaction, data off");
    ub_case c;
    c.all_to_all = true;
    c.algorithm = "direct";
    c.size = "64 MiB";
    for (const std::uint32_t payload : {1024u, 512u, 4096u}) {
        c.payload_bytes = payload;
        const auto r = median_of(repeats, [&] { return bench_ub_mesh(c); });
        const bool counts = payload == 1024;
        out.line(fmt::format("packets of {} B", payload), millions(r.at("hops_per_s")), counts ? ">= 3 M/s" : "",
                 r.at("hops_per_s") >= k_rack_target);
        if (counts)
            out.line("timeline events per packet-hop, cores and DMA included",
                     fmt::format("{:.2f}", r.at("events_per_hop")));
    }
    measure_ub_fault(out, repeats);
    out.title("UB-Mesh: a SuperPod of 8,192 NPUs");
    ub_case superpod;
    superpod.pods = 8;
    superpod.racks = 4;
    superpod.burst = k_auto;
    superpod.deep = true;
    const auto e = median_of(1, [&] { return bench_ub_elaboration(superpod); });
    out.line("topology, proof of the lane rule, check of tables, census of paths",
             fmt::format("{:.1f} s CPU", e.at("proof_s")), "<= 60 s", e.at("proof_s") <= k_seconds);
    out.line("the same and all hardware, until every core waits", fmt::format("{:.1f} s CPU", e.at("s")), "<= 60 s",
             e.at("s") <= k_seconds);
    out.line("resident memory", fmt::format("{:.0f} MiB", e.at("resident_MiB")), "<= 12 GiB",
             e.at("resident_MiB") <= k_MiB);
    out.line("resident memory per NPU, of which fabric",
             fmt::format("{:.1f} KiB, {:.1f} KiB", e.at("bytes_per_npu") / 1024, e.at("fabric_bytes_per_npu") / 1024));
}

void measure_ub_trains(page& out, bool full)
{
    constexpr double k_error_target = 2.0;
    const auto time_of = [](const ub_case& c) { return in_child([=] { return bench_ub_mesh(c); }).at("time_us"); };
    const auto line = [&](ub_case c) {
        c.burst = 1;
        const double one = time_of(c);
        c.burst = k_auto;
        const double error = 100 * (time_of(c) / one - 1);
        out.line(fmt::format("{}{} {}, all paths, chunks of {} KiB", c.all_to_all ? "all-to-all, " : "", c.algorithm, c.size,
                             c.chunk_bytes >> 10),
                 fmt::format("{:+.2f} %", error), "<= 2 %", std::abs(error) <= k_error_target);
    };
    out.title("UB-Mesh: error of the simulated time with `burst: auto` against single packets, one rack, data off");
    ub_case c;
    c.deep = true;
    c.chunk_bytes = k_superpod_chunk;
    const std::vector<const char*> sizes =
        full ? std::vector<const char*>{"16 MiB", "64 MiB"} : std::vector<const char*>{"16 MiB"};
    for (const char* size : sizes) {
        c.size = size;
        c.all_to_all = false;
        for (const char* algorithm : {"hierarchical", "direct", "ring_1d"}) {
            c.algorithm = algorithm;
            line(c);
        }
        c.all_to_all = true;
        c.algorithm = "direct";
        line(c);
    }
    c.all_to_all = false;
    c.algorithm = "hierarchical";
    c.size = "256 MiB";
    line(c);
}

void measure_superpod(page& out)
{
    constexpr double k_seconds = 600;
    constexpr double k_MiB = 12 * 1024;
    out.title("UB-Mesh: 8,192 NPUs all-reduce 256 MiB each, hierarchical, all paths, data off");
    ub_case c;
    c.pods = 8;
    c.racks = 4;
    c.size = "256 MiB";
    c.burst = k_auto;
    c.deep = true;
    c.chunk_bytes = k_superpod_chunk;
    const auto r = in_child([=] { return bench_ub_mesh(c); });
    out.line("simulated time", fmt::format("{:.3f} ms", r.at("time_us") / 1000));
    out.line("CPU time", fmt::format("{:.0f} s", r.at("cpu_s")), "<= 10 min", r.at("cpu_s") <= k_seconds);
    out.line("resident memory", fmt::format("{:.0f} MiB", r.at("resident_MiB")), "<= 12 GiB",
             r.at("resident_MiB") <= k_MiB);
}

void measure_trains(page& out, bool full)
{
    constexpr double k_error_target = 2.0;
    out.title("Trains: error of the simulated time with `burst: auto` against single packets, 8x8, float32, data off");
    const std::vector<const char*> sizes = full ? std::vector<const char*>{"6.4 MB", "25.6 MB", "102.4 MB"}
                                                : std::vector<const char*>{"6.4 MB", "25.6 MB"};
    for (const char* algorithm : {"two_d", "row_pair", "ring_1d"})
        for (const char* size : sizes) {
            const auto time_of = [=](unsigned burst) {
                return in_child([=] { return bench_all_reduce(algorithm, 8, false, size, 256, burst); }).at("time_us");
            };
            const double error = 100 * (time_of(k_auto) / time_of(1) - 1);
            out.line(fmt::format("{} {}", algorithm, size), fmt::format("{:+.2f} %", error), "<= 2 %",
                     std::abs(error) <= k_error_target);
        }
}

void measure_pod(page& out)
{
    constexpr double k_seconds = 60;
    constexpr double k_MiB = 2048;
    out.title("A 32x32 mesh all-reduces 102.4 MB, data off, `burst: auto`");
    for (const char* algorithm : {"two_d", "row_pair"}) {
        const auto r = in_child([=] { return bench_all_reduce(algorithm, 32, false, "102.4 MB", 256, k_auto); });
        out.line(fmt::format("{}: simulated time", algorithm), fmt::format("{:.3f} ms", r.at("time_us") / 1000));
        out.line(fmt::format("{}: CPU time", algorithm), fmt::format("{:.1f} s", r.at("cpu_s")), "<= 60 s",
                 r.at("cpu_s") <= k_seconds);
        out.line(fmt::format("{}: resident memory", algorithm), fmt::format("{:.0f} MiB", r.at("resident_MiB")),
                 "<= 2 GiB", r.at("resident_MiB") <= k_MiB);
    }
}

} // namespace

void add_bench(CLI::App& app, int& exit_code)
{
    struct bench_options {
        unsigned repeats = 3;
        bool quick = false;
        bool full = false;
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
    command->add_option("--out", options->out, "Also write the figures as a Markdown page")->type_name("FILE")->check(is_output_name());
    command->callback([options, &exit_code] {
        if (!options->out.empty()) {
            output_targets targets;
            targets.add_output(options->out, "--out");
            targets.check();
            prepare_output_file(options->out);
        }
        page out;
        interruption signals;
        signals.begin("stops; what is printed stays, and no file is written");
        fmt::print("weft {} on {}: medians of {}, CPU time\n", version(), host_name(), options->repeats);
        measure_queues(out, options->repeats);
        measure_hops(out, options->repeats);
        measure_size(out, options->repeats);
        measure_switchml(out, options->repeats);
        measure_ub_mesh(out, options->repeats);
        measure_rv64(out, options->repeats);
        if (!options->quick) {
            measure_trains(out, options->full);
            measure_pod(out);
            measure_ub_trains(out, options->full);
        }
        if (options->full)
            measure_superpod(out);
        if (!options->out.empty()) {
            const std::string head = fmt::format(
                "# Speed\n\n<!-- Made by `weft bench{} --out {}`; do not edit. -->\n\nweft {} on {}, medians of {} runs, CPU time of one "
                "core. Hosts differ and are noisy: compare ratios within one page.\n",
                options->full    ? " --full"
                : options->quick ? " --quick"
                                 : "",
                options->out, version(), host_name(), options->repeats);
            write_file_atomically(options->out, head + out.markdown());
        }
        if (out.missed() > 0)
            fmt::print("\n{} targets missed on this host\n", out.missed());
        exit_code = 0; // speed is measured, not judged: hosts differ
    });
}

} // namespace weft::cli
