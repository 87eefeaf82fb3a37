// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Targets that need one sum on one rack: rates, pools, volumes, loss, passes.
#include "platforms/switchml/validation.h"

#include "hw/abi/switchml.h"
#include "hw/ethernet/ethernet_format.h"
#include "platforms/switchml/validation_runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::uint64_t k_tensor_bytes = 100 * k_megabyte; ///< of the microbenchmarks, section 6.1
constexpr std::uint32_t k_workers = 8;
constexpr std::uint32_t k_framing_bytes = 76; ///< of a UDP packet, without its elements

/// Elements a second that a line of `rate` can bring in packets of k.
double limit_elements_per_s(double rate_bits_per_s, std::uint32_t k)
{
    return rate_bits_per_s / 32 * (4.0 * k / (4.0 * k + k_framing_bytes));
}

std::optional<double> elements_per_s(const run_figures& figures, std::uint64_t bytes)
{
    const auto us = figure(figures, "time_us_0");
    return us ? std::optional<double>(static_cast<double>(bytes) / 4 / (*us * 1e-6)) : std::nullopt;
}

std::optional<double> scaled(const std::optional<double>& value, double by)
{
    return value ? std::optional<double>(*value * by) : std::nullopt;
}

struct network {
    const char* file_udp;
    const char* file_rdma;
    double rate_gbps;
    std::uint32_t slots;
    std::uint64_t knee_bytes; ///< tensor for the search of the smallest pool
};
constexpr network k_networks[] = {{"rack_8x10g", "rack_8x10g_rdma", 10, 128, 10 * k_megabyte},
                                  {"rack_16x100g", "rack_8x100g_rdma", 100, 512, 40 * k_megabyte}};

std::string at(const network& net) { return fmt::format("{:g} Gb/s", net.rate_gbps); }

constexpr std::uint64_t k_seeds = 5;
struct seeded_times {
    std::optional<double> mean; ///< none: a run did not complete
    double least = 0;
    double most = 0;
    std::string spread() const { return fmt::format("{} seeds ({:.1f} to {:.1f} ms)", k_seeds, least, most); }
};
template <class Run> seeded_times over_seeds(Run&& run)
{
    seeded_times t;
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= k_seeds; ++seed) {
        const std::optional<double> ms = run(seed);
        if (!ms)
            return {};
        t.least = seed == 1 ? *ms : std::min(t.least, *ms);
        t.most = std::max(t.most, *ms);
        sum += *ms;
    }
    t.mean = sum / static_cast<double>(k_seeds);
    return t;
}

} // namespace

/// M1: share of the line that packets of k elements can use, from the counters of the NICs.
void switchml_checks::goodput_limit()
{
    const auto row = [&](std::uint32_t k, std::optional<double> simulated) {
        return row_of(row_kind::conformity(), "M1", fmt::format("goodput of packets of {} elements over UDP", k),
                      100 * 4.0 * k / (4.0 * k + k_framing_bytes), simulated, "% of the line",
                      "Sapio et al., Fig. 3 and section 5: 63, 77 and 93 % (quoted); k * 4 B / (k * 4 B + 76 B) (derived)",
                      tolerance::percent(1e-9));
    };
    validation_row narrow = row(32, std::nullopt);
    narrow.why_not_run = "the switch aggregates packets of 64 or 256 elements, as the published program does";
    add(std::move(narrow));
    for (const std::uint32_t k : {64u, 256u}) {
        switchml_config config = one_sum("rack_8x10g", std::uint64_t{k} * 4 * 1000);
        config.job.elements_per_packet = k;
        const auto wire = figure(run(config), "wire_bytes_sent");
        add(row(k, wire ? std::optional<double>(100.0 * k * 4 * 1000 * k_workers / *wire) : std::nullopt));
    }
}

/// M2: rate of RDMA against the limit. M3: the same for every number of workers. M4: time of 100 MB.
void switchml_checks::aggregation_rates()
{
    add_null("M2", "line rate x goodput of M1, no constant");
    add_null("M3", "the same for every number of workers");
    for (const network& net : k_networks) {
        double lowest = 1e300, highest = 0;
        for (const std::uint32_t n : {2u, 4u, 8u, 16u}) {
            switchml_config config = one_sum(net.file_rdma, k_tensor_bytes);
            config.workers = n;
            const run_figures figures = run(config);
            const auto rate = elements_per_s(figures, k_tensor_bytes);
            lowest = std::min(lowest, rate.value_or(0));
            highest = std::max(highest, rate.value_or(0));
            if (n > 2)
                add(with_null(
                    row_of(row_kind::emergent(), "M2",
                           fmt::format("RDMA, 256 elements, {}, {} workers, 100 MB: elements aggregated", at(net), n),
                           limit_elements_per_s(net.rate_gbps * 1e9, 256) * 1e-6, scaled(rate, 1e-6), "M/s",
                           "Sapio et al., section 6.1: within 2 % of the maximum (quoted), the maximum by M1 (derived)",
                           tolerance::percent(2)),
                    limit_elements_per_s(net.rate_gbps * 1e9, 256) * 1e-6));
            if (n == 8)
                add(row_of(row_kind::conformity(), "M4",
                           fmt::format("RDMA, 256 elements, {}, 8 workers: aggregation time of 100 MB, arithmetic on M2",
                                       at(net)),
                           859.375 / net.rate_gbps, scaled(figure(figures, "time_us_0"), 1e-3), "ms",
                           "25 M elements at the maximum of Fig. 3 (derived); tolerance: ours", tolerance::percent(2)));
        }
        add(with_null(
            row_of(
                row_kind::emergent(), "M3",
                fmt::format("RDMA, 256 elements, {}: rate with 2, 4, 8, 16 workers, largest / smallest - 1", at(net)),
                0, lowest > 0 ? std::optional<double>(100 * (highest / lowest - 1)) : std::nullopt, "%",
                "Sapio et al., section 6.1: predictable regardless of the number of workers (quoted); tolerance: ours",
                tolerance::points(1)),
            0));
    }
}

/// M5: the smallest pool that reaches the line rate. M6: register space of the pool.
void switchml_checks::pool_sizes()
{
    add_null("M5", "two batches a core, one under way and one being made: 2 x cores x worker.packet_batch, no network");
    for (const network& net : k_networks) {
        switchml_config config = one_sum(net.file_udp, net.knee_bytes);
        config.workers = k_workers;
        std::uint32_t knee = 0;
        std::string list;
        const double limit_us =
            static_cast<double>(net.knee_bytes) / 4 / limit_elements_per_s(net.rate_gbps * 1e9, 256) * 1e6;
        for (std::uint32_t slots = net.slots / 16; slots <= net.slots * 2; slots *= 2) {
            config.job.slots = slots;
            const auto time = figure(run(config), "time_us_0");
            list += fmt::format("{}{}: {:.3f}", list.empty() ? "" : ", ", slots, time.value_or(0) / limit_us);
            if (time && knee == 0 && *time < 1.05 * limit_us)
                knee = slots;
        }
        std::uint32_t null_slots = 1;
        while (null_slots < 2 * config.worker.cores * config.worker.packet_batch.value())
            null_slots *= 2;
        add(with_null(
            row_of(
                row_kind::emergent(), "M5",
                fmt::format(
                    "{}, UDP, {} core{}: smallest power of two of slots within 5 % of the line rate (time / limit: {})",
                    at(net), config.worker.cores, config.worker.cores == 1 ? "" : "s", list),
                net.slots, knee != 0 ? std::optional<double>(knee) : std::nullopt, "slots",
                "Sapio et al., appendix C (quoted)"),
            null_slots));
    }
    for (const network& net : k_networks) {
        switchml_config config = one_sum(net.file_udp, std::uint64_t{net.slots} * 1024 * 4);
        config.workers = 2;
        config.run.data = data_mode::checked;
        const auto bytes = figure(run(config), "register_bytes");
        add(row_of(row_kind::conformity(), "M6",
                   fmt::format("{} slots: registers of the switch that hold sums", net.slots),
                   net.slots * 1024 * 2 / 1024.0, scaled(bytes, 1 / 1024.0), "KiB",
                   "Sapio et al., appendix C: 256 KB and 1 MB (quoted)"));
    }
}

/// M7: bytes that a worker sends and receives, without headers.
void switchml_checks::volumes()
{
    constexpr std::uint64_t k_bytes = 8 * 1024 * 1024;
    const run_figures ina = run(one_sum("rack_8x10g", k_bytes));
    const run_figures ring = run(one_sum("rack_8x10g", k_bytes, abi::algorithm::ring_1d));
    const auto both = [&](const run_figures& f, const char* sent, const char* received) -> std::optional<double> {
        const auto s = figure(f, sent), r = figure(f, received);
        return s && r ? std::optional<double>((*s + *r) / k_workers / k_bytes) : std::nullopt;
    };
    const auto in_network = both(ina, "udp_payload_sent", "udp_payload_received");
    const auto of_ring = both(ring, "dma_bytes_sent", "dma_bytes_received");
    const char* source = "Sapio et al., section 3: 2 |U| and 4 |U| (n - 1) / n (quoted)";
    add(row_of(row_kind::conformity(), "M7", "switchml, 8 workers: bytes a worker sends and receives / |U|", 2,
               in_network, "", source));
    add(row_of(row_kind::conformity(), "M7", "ring_1d, 8 workers: bytes a worker sends and receives / |U|", 3.5,
               of_ring, "", source));
    add(row_of(row_kind::conformity(), "M7", "ring_1d / switchml, 8 workers: bytes", 1.75,
               in_network && of_ring ? std::optional<double>(*of_ring / *in_network) : std::nullopt, "", source));
}

/// M9: time of 100 MB with loss.
void switchml_checks::loss()
{
    const auto tat_ms = [&](double loss, std::uint64_t seed = 1) {
        switchml_config config = one_sum("loss_8x10g", k_tensor_bytes);
        config.network.cable.impairments.loss = loss;
        config.run.seed = seed;
        return scaled(figure(run(config), "time_us_0"), 1e-3);
    };
    const auto none = tat_ms(0);
    const seeded_times little = over_seeds([&](std::uint64_t seed) { return tat_ms(0.0001, seed); });
    const seeded_times much = over_seeds([&](std::uint64_t seed) { return tat_ms(0.01, seed); });
    add_null("M9", "loss costs nothing: the time without it");
    add(with_null(
        row_of(row_kind::emergent(), "M9",
               fmt::format("10 Gb/s, 8 workers, 100 MB, 0.01 % loss on every link: mean time of {} / time without",
                           little.spread()),
               1, none && little.mean ? std::optional<double>(*little.mean / *none) : std::nullopt, "",
               "Sapio et al., section 6.3: minimally affected (quoted); tolerance: ours", tolerance::percent(5)),
        1));
    validation_row past = row_of(
        row_kind::emergent(), "M9",
        fmt::format("10 Gb/s, 8 workers, 100 MB, 1 % loss on every link: mean time of {}", much.spread()), std::nullopt,
        std::nullopt, "", "Sapio et al., Fig. 7: with 1 % it slows down past 150 ms, so that it ends later (quoted)",
        tolerance::order());
    past.published_order = {"1 % loss", "150 ms", "0.01 % loss"};
    if (much.mean && little.mean)
        past.simulated_order = in_order({{"1 % loss", much.mean}, {"150 ms", 150}, {"0.01 % loss", little.mean}});
    past.null_order = in_order({{"1 % loss", none}, {"150 ms", 150}, {"0.01 % loss", none}});
    add(std::move(past));
    if (how_.sensitivities)
        for (const double loss : {0.001, 0.05}) {
            const auto ms = tat_ms(loss);
            report.sensitivities.push_back(
                {fmt::format("10 Gb/s, 8 workers, 100 MB, {:g} % loss on every link", loss * 100),
                 ms && none ? fmt::format("{:.1f} ms, {:.2f} times the time without loss", *ms, *ms / *none)
                            : "did not complete"});
        }
    if (how_.sensitivities) {
        switchml_config config = one_sum("loss_8x10g", k_tensor_bytes);
        config.worker.transmit_hold = duration(0);
        const auto ms = scaled(figure(run(config), "time_us_0"), 1e-3);
        report.sensitivities.push_back({"10 Gb/s, 8 workers, 100 MB, 1 % loss on every link, worker.transmit_hold 0",
                                        ms ? fmt::format("{:.1f} ms", *ms) : "did not complete"});
    }
    // The same protocol with every byte carried.
    for (const double rate : {0.01, 0.05}) {
        switchml_config config = one_sum("loss_8x10g", 4 << 20);
        config.run.data = data_mode::checked;
        config.network.cable.impairments.loss = rate;
        add(row_of(
            row_kind::conformity(), "M9",
            fmt::format("10 Gb/s, 8 workers, 4 MiB of int32, {:g} % loss: wrong elements in all workers", 100 * rate),
            0, figure(run(config), "wrong"), "", "Sapio et al., section 4.5: a packet sent again is not added again (derived)"));
    }
}

/// M10: passes of a packet: what they cost, from the times of a sum of one packet a worker with two latencies of a
/// pass, both longer than the packet on the recirculation port; and how many there are, from the counter of the switch.
void switchml_checks::passes()
{
    constexpr std::uint64_t k_published_ns = 520, k_slower_ns = 1520;
    const char* source = "Sapio et al., section 5: 520 ns a pass (quoted); p4app-switchML: 11 and 2 passes (quoted)";
    for (const std::uint32_t k : {64u, 256u}) {
        const auto run_with = [&](std::uint64_t pass_ns) {
            switchml_config config = one_sum("rack_8x10g", std::uint64_t{k} * 4);
            config.job.elements_per_packet = k;
            config.tofino.chip.pass_latency = duration(pass_ns * 1000);
            return run(config);
        };
        const run_figures slower = run_with(k_slower_ns), published = run_with(k_published_ns);
        const auto us = figure(published, "time_us_0"), slower_us = figure(slower, "time_us_0");
        const int further = k == 64 ? 1 : 10;
        std::optional<double> cost_ns; // of further passes, scaled to the published latency
        if (us && slower_us)
            cost_ns = std::round((*slower_us - *us) * 1e6) * 1e-3 * k_published_ns / (k_slower_ns - k_published_ns);
        add(row_of(row_kind::conformity(), "M10",
                   fmt::format("{} elements: {:.2f} us for the passes after the first", k, further * 0.52),
                   further * static_cast<double>(k_published_ns), cost_ns, "ns", source));
        const int consume = k == 64 ? 1 : 4;
        add(row_of(row_kind::conformity(), "M10",
                   fmt::format("{} elements, 8 workers, one slot: passes ({} a packet, {} more for the completing one)",
                               k, consume, further + 1 - consume),
                   k_workers * consume + further + 1 - consume, figure(published, "passes"), "passes", source));
    }
}

/// What cores cost, and what instruction sets and batches change.
void switchml_checks::rate_sensitivities()
{
    for (const network& net : k_networks)
        for (const std::uint32_t k : {64u, 256u}) {
            switchml_config config = one_sum(net.file_udp, 20 * k_megabyte);
            config.workers = k_workers;
            config.job.elements_per_packet = k;
            if (k == 64)
                config.job.slots *= 2;
            const auto rate = elements_per_s(run(config), 20 * k_megabyte);
            const double limit = limit_elements_per_s(net.rate_gbps * 1e9, k);
            report.sensitivities.push_back(
                {fmt::format("UDP, {} cores, {} elements, {} slots, {}, 8 workers, 20 MB", config.worker.cores, k,
                             config.job.slots, at(net)),
                 rate ? fmt::format("{:.4g} M elements/s, {:.1f} % of the maximum of such packets", *rate * 1e-6,
                                    100 * *rate / limit)
                      : "did not complete"});
        }
}

void switchml_checks::inputs()
{
    report.inputs = {
        {"rack", "8 workers, 10 or 100 Gb/s, one switch", "Sapio et al., section 6 (quoted)"},
        {"packets", "256 elements, UDP 1100 B on the wire; RDMA in messages of 16 packets",
         "section 5 (quoted), p4app-switchML (quoted)"},
        {"pool", "128 slots at 10 Gb/s, 512 at 100 Gb/s", "appendix C (quoted)"},
        {"timeout", "1 ms", "section 6.3 (quoted)"},
        {"further pass", "520 ns", "section 5 (quoted)"},
        {"first pass", "600 ns", "not published (assumed)"},
        {"worker.packet_batch, worker.transmit_hold", "32 packets, 10 us, at both rates",
         "appendix B (quoted); p4app-switchML, bulk_drain_tx_us (quoted)"},
        {"worker.core.instruction_set", "x86_avx2",
         "section 6.3, appendix B (quoted); instructions of a loop counted, cycles of a division by llvm-mca for Broadwell (derived), scalar steps as "
         "counted on RV64 (assumed): firmware/costs.h"},
        {"worker.core", "2.2 GHz, 0.5 cycles an instruction", "section 6 (quoted); cycles an instruction: assumed"},
        {"cores", "1 at 10 Gb/s, 8 at 100 Gb/s; 1 with RDMA; 8 of a parameter server",
         "appendix B (quoted); assumed, section 5: up to 8 (quoted); section 5 (quoted); section 6.1 (quoted)"},
        {"ring_1d", "lossless Ethernet of the same rate, 1024 B of payload in 1122 B",
         "RoCE v2 with a maximum transfer unit of 1024 (assumed); nothing lost, no acknowledgements (assumed)"},
        {"batch time, communication share, overlap", "Table 1", "quoted"},
        {"compute of a step", "T - (1 - overlap) c T", "derived"},
        {"sizes", "Table 1, read as MiB; 98 for ResNet-50 and 87 for SSD",
         "quoted; that they are MiB, derived: VGG19 (143.7 M parameters), BERT and NCF are right in MiB to the digit, and c T is then 1.05 |U| / rate, the share of "
         "1460 in 1538 B of TCP frames; ResNet-50 has 25.6 M parameters, 98 MiB, and c T of both says that the two are exchanged in print"},
        {"gradient groups", "layers as published where they are; buckets of 64 MiB (TensorFlow) and 25 MiB (PyTorch)",
         "recalled, see the files"},
        {"when groups are ready", "see the files",
         "calibrated: from T and c T of Table 1; ResNet-50, SSD, the embedding of LSTM: derived and assumed"},
    };
}

void switchml_checks::notes()
{
    report.notes = {
        "Bytes are carried where their value is judged (M6, wrong elements of M9, M13); all other runs have `data: off`, which changes no event and no "
        "time. M8: a speed-up is the time of a step with ring_1d by that with switchml, both simulated; \"theory\" is 1 + 0.75 c of the paper's own "
        "model without slack. Tolerance of M8: 5 % where less than half of the communication overlaps, else 10 % (ours).",
        "M5: no delay is calibrated. What the hosts add is a batch of 32 packets and a hold of 10 us, the same at both rates; that this does not explain "
        "the pool of 128 at 10 Gb/s is shown, not fitted, and 512 slots at 100 Gb/s are two batches of each core. The end-to-end delays of appendix C are no "
        "rows: of a core with one slot they measure worker.transmit_hold, of a full pipe pool x packet / rate, and Fig. 9 is printed as a picture only.",
        "M14, M15 at 100 Gb/s: the costs of hosts are derived, not fitted. Loops convert between tensor and packet and are charged no copy besides, as in the "
        "published client; eight such cores nearly keep up with the line. float32 sends a window of exponents first, 2.6 % of 20 MB.",
        "M9 at 1 % depends on the delay of the hosts: it decides how many slots have to stand still before the line does. No time is published; the end "
        "of Fig. 7 is judged as an order.",
        "M14, M15: parameter servers move their data over a lossless network, while one core is charged the packets of one of the cores (docs/16_switchml.md).",
    };
}

validation_report validate_switchml(const validation_settings& how)
{
    switchml_checks v(how);
    v.report.name = "switchml";
    v.report.title = "SwitchML: Sapio et al., Scaling Distributed Machine Learning with In-Network Aggregation";
    v.check_files();
    v.goodput_limit();
    v.aggregation_rates();
    v.pool_sizes();
    v.volumes();
    v.speed_ups();
    v.loss();
    v.passes();
    v.training_order();
    v.traces();
    v.registers();
    v.hosts();
    v.order_of_systems();
    if (how.sensitivities) {
        v.rate_sensitivities();
        v.speed_up_sensitivities();
    }
    v.inputs();
    v.notes();
    return std::move(v.report);
}

} // namespace weft
