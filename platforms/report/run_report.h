// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything a run has to say, and its two written forms: the table on the terminal and results.json. Plain data,
// filled by whoever ran; nothing here knows about platforms or SystemC.
#pragma once

#include "platforms/report/case_limits.h"
#include "platforms/report/output_file.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

/// One line of the table. Names are the user's ("all_reduce", "ring_1d", "int32", "sum").
struct result_row {
    std::string op;
    std::string algorithm;
    std::string type;
    std::string redop;
    std::uint64_t size_bytes = 0;
    std::uint64_t count = 0;
    std::uint64_t time_ps = 0;
    double algbw_GBps = 0; ///< 10^9 bytes per second
    double busbw_GBps = 0;
    std::optional<std::uint64_t> wrong; ///< elements, over all ranks; none: the run carried no data
    std::uint32_t steps = 0;            ///< longest chain of ring or tree steps
    std::uint32_t train_packets = 1;    ///< that a transaction stood for, at most
    bool transposed = false;
    /// Digest of all bytes of all ranks, without times; none: not checked.
    std::optional<std::uint64_t> answers = std::nullopt;
    std::uint64_t token_bytes = 0;      ///< of dispatch and combine
    std::uint32_t experts_per_token = 0;
    double expert_skew = 0;
    std::uint64_t alone_ps = 0;         ///< the same without hosts beside it; 0: not known
    /// The least time by links and memory (platforms/workload/bounds.h); 0: not known.
    double bound_us = 0;
    std::string bound_by = {};          ///< what sets it
    /// Of a case of `auto`: why it has this algorithm, "by tuning FILE, 25.5 us predicted; next ..."; "" where the file
    /// names the algorithm.
    std::string choice = {};
    std::string chosen_by = {};                                  ///< "tuning FILE", "prediction"
    std::vector<std::pair<std::string, double>> predicted = {}; ///< us by algorithm, the fastest first
    case_shares shares = {};            ///< what its parts were busy with; of all runs
    std::string group = {};             ///< "job 0": of these ranks alone, others did not complete it; "": of all
    /// Of a case that was repeated: the time of every run; time_ps is their mean. Empty: it ran once.
    std::vector<std::uint64_t> repeats_ps = {};
};

/// How far the times of a repeated case lie apart.
struct time_spread {
    std::uint64_t least_ps = 0;
    std::uint64_t most_ps = 0;
    std::uint64_t deviation_ps = 0; ///< standard deviation of the sample, rounded
};
time_spread spread_of(const std::vector<std::uint64_t>& times_ps);

/// The collective that did not complete.
struct failed_row {
    std::string op;
    std::string algorithm;
    std::string type;
    std::string redop;
    std::uint64_t size_bytes = 0;
    std::uint64_t count = 0;
    std::uint64_t start_ps = 0; ///< simulated time
};

/// A gradient group or the exchanges of one entry, in one step.
struct training_part_row {
    std::string name;
    bool is_exchange = false;
    std::string type;
    std::uint64_t size_bytes = 0;                 ///< of one call
    std::uint64_t count = 0;                      ///< elements of one call
    std::optional<std::uint32_t> ranks_per_group; ///< that sum among themselves; none: all ranks do
    std::uint32_t calls = 0;
    std::uint64_t ready_ps = 0; ///< of the first call, since the start of the step
    std::uint64_t start_ps = 0;
    std::uint64_t time_ps = 0; ///< all calls together
    std::optional<std::uint64_t> wrong;
    case_shares shares = {}; ///< what parts were busy with; of all calls
};

struct training_step_row {
    std::uint64_t time_ps = 0;
    std::uint64_t compute_ps = 0;
    std::uint64_t communication_ps = 0;
    std::uint64_t exposed_ps = 0;
    double share = 0; ///< exposed / time
    std::vector<training_part_row> parts;
    std::uint64_t input_ps = 0;  ///< waited for samples
    std::uint64_t update_ps = 0; ///< of the optimiser
    std::uint64_t samples = 0;   ///< of all replicas; 0: nobody told, and the following is not shown
    double samples_per_second = 0;
    double law_per_second = 0;   ///< R MBS GA / (GA T_MB + T_AR)
    bool beside_checkpoint = false; ///< one was under way when it began
    double links_per_second = 0; ///< the same with the least T_AR that links and memories allow; 0: not known
};

struct training_report {
    std::string algorithm;
    bool transposed = false;
    std::string overlap;
    std::string text; ///< what a step is made of besides collectives; "": compute alone
    std::vector<training_step_row> steps;
};

/// A checkpoint that NPUs wrote through NICs, or its way back.
struct checkpoint_row {
    std::uint32_t number = 0;
    bool load = false;
    std::uint64_t bytes = 0;
    std::uint64_t start_ps = 0; ///< simulated time
    std::uint64_t time_ps = 0;
    std::uint64_t waited_ps = 0; ///< that the job waited for it
    double rate_GBps = 0;
    double bound_us = 0;
    std::string bound_by;
    double bound_share = 0; ///< bound / time
    std::string busiest;    ///< what was in use for the largest part of the time
    double busiest_share = 0;
    std::uint64_t resent = 0; ///< messages that went to another NIC
    std::optional<std::uint64_t> wrong_bytes; ///< none: the run carried no data
    std::uint64_t checksum = 0;
};

/// Messages between CPUs and NPUs over the whole run.
struct stream_row {
    std::string name;
    std::string direction;
    double asked_GBps = 0;
    double rate_GBps = 0;
    std::uint64_t bytes = 0, messages = 0, late = 0, lost = 0;
    std::uint64_t mean_latency_ps = 0, longest_latency_ps = 0;
    std::optional<std::uint64_t> wrong_bytes;
};

/// What hosts did beside collectives and training steps, and what it cost these.
struct host_report {
    std::vector<checkpoint_row> checkpoints; ///< in the order of their ends
    std::vector<stream_row> streams;
    std::uint64_t step_alone_ps = 0; ///< a training step without hosts; 0: none was run
};

struct link_load {
    std::string name;
    std::uint64_t bytes = 0;
    double utilisation_percent = 0; ///< busy time / simulated time since the last restart
};

/// What the devices of one rank counted, without what is 0.
struct rank_row {
    std::uint32_t rank = 0;
    std::vector<std::pair<std::string, std::uint64_t>> stats = {}; ///< by prefix and name, in the order of the devices
};

struct memory_traffic {
    std::string memory = "HBM";   ///< what it is
    std::uint64_t bytes_read = 0; ///< all chips together
    std::uint64_t bytes_written = 0;
    std::string busiest_chip; ///< empty: unknown
    std::uint64_t busiest_bytes = 0;
};

/// A statistic, as it stands in results.json.
struct report_stat {
    std::string name;
    std::variant<std::uint64_t, double> value;
    std::string unit;
    std::string description;
};

struct run_report {
    std::string title; ///< "tpu_v3_mesh_8x8: 64 chips", first line of the table
    std::vector<result_row> rows;
    std::optional<training_report> training; ///< none: the run has no training step
    std::optional<host_report> hosts;        ///< none: CPUs and NICs took no part
    std::vector<link_load> busiest_links;    ///< in the order to print
    std::vector<link_load> links; ///< all that carried anything, in the order of the machine
    std::vector<rank_row> ranks;
    memory_traffic memory;
    /// "trains of up to 28 packets in long messages, ... (auto: ...); here up to 8"; "" where no fabric has them.
    std::string transport;
    std::uint64_t simulated_time_ps = 0;
    std::uint64_t microcode_ps = 0; ///< run_outcome::microcode_ps; 0: nothing was written before
    /// When a job was interrupted for the last time: links, ranks, memories and hops count from there, on new hardware.
    std::uint64_t counted_from_ps = 0;
    double host_seconds = 0;
    double host_cpu_seconds = 0;
    std::uint64_t packet_hops = 0;
    double packet_hops_per_cpu_s = 0;
    std::uint64_t timeline_events = 0;
    std::uint64_t kernel_activations = 0;
    std::uint64_t digest = 0;
    std::string version;
    std::vector<std::string> warnings;
    std::string failure;              ///< why the run stopped early; "" when it completed
    std::optional<failed_row> failed; ///< the collective at which it stopped
    nlohmann::ordered_json config;    ///< resolved
    std::vector<report_stat> stats;
};

struct table_style {
    unsigned width = 0; ///< columns of the terminal, longer names are cut; 0: no limit
    bool color = false; ///< ANSI colours for wrong results and headings
    bool warnings = true; ///< above the table; not where the user has read them on the same terminal
};

/// Rows in the columns of nccl-tests, grouped by operation, then the training steps, then the summary. Times are
/// rounded to a nanosecond from picoseconds without floating point; results.json has them in full.
void print_table(std::ostream& out, const run_report& report, const table_style& style = {});

/// results.json, by results_schema.h: {schema, version, results: [{op, algorithm, group (where not all ranks
/// completed it), type, redop, size_bytes, count, time_us, algbw_GBps, busbw_GBps, wrong, answers, steps,
/// train_packets, limited_by, busy_shares (case_limits.h), and for a repeated case repeats: {count, min_us, max_us,
/// standard_deviation_us, times_us}}], training_step: {algorithm, transposed, overlap, steps: [{time_us, compute_us,
/// communication_us, exposed_us, share, groups: [{name, type, size_bytes, count, ranks_per_group, calls, ready_us,
/// start_us, time_us, wrong}], exchanges: [the same]}]} if the run has one, host: {checkpoints: [{number, load,
/// bytes, start_us, time_us, waited_us, rate_GBps, bound_us, bound_by, bound_share, busiest, busiest_share, resent,
/// wrong_bytes, checksum}], traffic: [{name, direction, asked_GBps, rate_GBps, bytes, messages, late, lost,
/// mean_latency_us, longest_latency_us, wrong_bytes}], step_alone_us} where CPUs and NICs took part; a result then
/// has alone_us, a step beside_checkpoint; digest, simulated_time_ps, microcode_ps (where CCUs were used),
/// counted_from_ps (of a restarted job), host_seconds, packet_hops, packet_hops_per_cpu_s, timeline_events, config,
/// stats: [{name, value, unit,
/// description}]}. `wrong` is null for a run without data, `ranks_per_group` where all ranks sum together; `digest`
/// is a string of 16 hex digits. CPU time, kernel activations and the busiest links come first among the stats.
/// Throws bug for a number that is not finite.
nlohmann::ordered_json to_json(const run_report& report);

/// `ps` picoseconds in microseconds, exactly, without trailing zeros: 1234500 -> "1.2345".
std::string exact_us(std::uint64_t ps);

/// Writes `dir`/results.json, an output_file: nobody ever sees half of it.
/// Throws user_error with a remedy (full disk, no permission, ...); an older results.json then stays as it was.
void write_results(const std::string& dir, const run_report& report);

} // namespace weft
