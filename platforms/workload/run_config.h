// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a platform file says besides the platform itself: how to simulate, and what to run: collectives, training steps.
#pragma once

#include "platforms/workload/collective_case.h"
#include "platforms/workload/host_traffic.h"
#include "platforms/workload/training_step.h"
#include "tlm/key_rules.h"
#include "tlm/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

enum class data_mode : std::uint8_t { checked, off };
template <> struct enum_names<data_mode> {
    static constexpr std::pair<data_mode, const char*> values[] = {{data_mode::checked, "checked"},
                                                                   {data_mode::off, "off"}};
};

/// What a case finds when it begins.
enum class case_start : std::uint8_t { independent, continuous };
template <> struct enum_names<case_start> {
    static constexpr std::pair<case_start, const char*> values[] = {{case_start::independent, "independent"},
                                                                    {case_start::continuous, "continuous"}};
};

/// A geometric row of sizes, both ends included.
struct size_range {
    data_size from = data_size(4);
    data_size to = data_size(64ull << 20);
    std::uint32_t factor = 4;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("from", self.from, "First size", k_user_choice,
              between(data_size(1), k_largest_size).because("; write the smallest size to run, for example \"4 B\""));
        visit("to", self.to, "Last size; reached exactly, whatever the factor", k_user_choice, at_most(k_largest_size));
        visit("factor", self.factor, "Each size is this many times the one before", k_user_choice,
              at_least(2).because(", or the row of sizes would never end"));
    }
    std::vector<config_problem> validate() const;
};

inline constexpr std::uint32_t k_most_repeats = 10'000;

/// One entry of `workload`: all combinations of its lists are run.
struct collective_spec {
    abi::collective_op op = abi::collective_op::all_reduce;
    std::vector<abi::algorithm> algorithms;
    std::vector<abi::element_type> types{abi::element_type::int32};
    std::vector<abi::reduce_op> redops{abi::reduce_op::sum};
    std::vector<data_size> sizes;
    std::optional<size_range> range;
    std::uint32_t root = 0;
    bool transposed = false;
    data_style inputs = data_style::exact;
    std::optional<data_size> chunk; ///< none: k_default_chunk, or what an algorithm takes in its place
    std::uint32_t repeats = 1;
    duration start_skew = duration(1'000'000);
    std::vector<std::string> groups;
    std::optional<data_size> token; ///< none: k_default_token
    std::optional<std::uint32_t> experts_per_token; ///< none: k_default_experts
    double expert_skew = 0;
    algorithm_choices choices; ///< of `auto`; not a key: made when the machine is known

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("op", self.op, "The collective", k_user_choice);
        visit("algorithms", self.algorithms, "How; auto: the one of the table of `tuning`, else the one that a document on the platform names for the size (trainium), else the one with the shortest predicted time, for each size by itself (switchml where no frame is lost and one job has the switch); empty: ring_1d, for broadcast mesh_tree, for all_to_all, dispatch and combine direct", k_user_choice);
        visit("types", self.types, "Element types. Everything moves all of them; 8-bit floats are summed by CCUs alone (ub_mesh), and nothing compares them", k_user_choice);
        visit("redops", self.redops, "Reductions", k_user_choice);
        visit(
            "sizes", self.sizes,
            "Sizes as in nccl-tests: the buffer, or for all_gather, reduce_scatter and all_to_all all shards together; for dispatch and combine the tokens of a rank, each once",
            k_user_choice, between(data_size(1), k_largest_size));
        visit("range", self.range, "A geometric row of sizes instead of, or besides, `sizes`", k_user_choice);
        visit("root", self.root, "Root rank", k_user_choice);
        visit("transposed", self.transposed, "Swap the roles of rows and columns", k_user_choice);
        visit("inputs", self.inputs,
              "exact: every sum is exact and bits are compared; random: compared within the rounding bound", k_user_choice);
        visit("chunk", self.chunk,
              "Pipelining grain of the firmware; left out: 128 KiB, and of mesh_tree on a full mesh from 192 KiB on 28 KiB "
              "for each link of a rank, in a reduce 400 KiB; of mesh_tree on a torus from 16 KiB on 96 KiB. A reduce on a full mesh has at most 16 pieces over its dimensions",
              assumed("Kumar and Jouppi give none"), between(data_size(1), data_size(1ull << 32)));
        visit(
            "repeats", self.repeats,
            "Run every case so often and report mean, spread and extremes. The first run is the plain case; in each other one "
            "the ranks start at random within start_skew, and everything random is drawn anew",
            k_user_choice, between(1, k_most_repeats).because("; 1 runs the plain case once"));
        visit(
            "start_skew", self.start_skew,
            "With repeats: each rank starts this much later than the first moment at most, uniformly drawn from the seed; the "
            "time counts from the last start",
            assumed("hosts that have met in a barrier post within about a microsecond"),
            at_most(duration(1'000'000'000)).because("; 1 us is the default"));
        visit("groups", self.groups,
              "Process groups that run it among themselves, all at once; sizes, shards and root are those of a group. Each entry is rows, "
              "columns, \"dimension 0\" (the innermost), \"dimensions 0 1\", \"blocks of 4\" or a list of ranks like \"0-3,8,12-28/4\". Empty: all "
              "ranks together",
              k_user_choice);
        visit("token", self.token,
              "Of dispatch and combine: bytes of one token; sizes are rounded down to whole tokens. Left out: 24 KiB, or the size where that is less",
              derived("UB-Mesh, Table 1: 192 MiB are 8192 tokens of 12288 numbers of 2 B"), between(data_size(1), k_largest_size));
        visit("experts_per_token", self.experts_per_token,
              "Of dispatch and combine: how many different ranks each token goes to, one expert on each; drawn from the seed. Left out: 8, or all where there are fewer",
              assumed("so many routed experts are active in DeepSeek-V3"), between(1, k_most_experts));
        visit("expert_skew", self.expert_skew,
              "Of dispatch and combine: share of the choices of experts that are among the first quarter of the ranks alone; the others are among all",
              k_user_choice, real_between(0, 1));
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<collective_spec>> key_rules();

    std::uint64_t chunk_bytes() const { return chunk.value_or(k_default_chunk).value(); }
    std::vector<std::uint64_t> all_sizes() const; ///< bytes, in the order to run
    std::vector<abi::algorithm> all_algorithms() const;
    /// The same, with what `auto` took in its place as soon as that is known.
    std::vector<abi::algorithm> taken_algorithms() const;
    abi::algorithm default_algorithm() const;
    std::vector<collective_case> cases() const;
    std::uint64_t case_count() const; ///< of cases(), without making them, each as often as it is repeated
};

struct run_config {
    static constexpr std::uint64_t k_largest_burst = 65535;
    static constexpr duration k_longest_time = duration(1'000'000'000'000'000'000); ///< twice that still fits 64 bits
    static constexpr std::uint64_t k_most_cases = 100'000;

    std::string name = "unnamed";
    std::uint64_t seed = 1;
    data_mode data = data_mode::checked;
    packet_count burst = packet_count(0);
    duration firmware_timeout = duration(100'000'000'000);
    duration time_limit = duration(100'000'000'000'000);
    case_start cases = case_start::independent;
    file_name routing;
    file_name tuning;
    std::vector<collective_spec> workload;
    std::optional<training_step_config> training_step;
    std::optional<host_config> host; ///< a key of platforms that have hosts, which show it themselves

    /// Called by the platform's own fields(): these keys stand at the top of the file.
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("name", self.name, "Name of the run; results go to out/<name>", k_user_choice);
        visit("seed", self.seed, "Seed of the generated inputs and of everything random", k_user_choice);
        visit("data", self.data,
              "checked: every byte is carried and the answer verified; off: the same times without bytes", k_user_choice);
        visit("burst", self.burst,
              "Packets that are simulated as one transaction, a train. auto: as many as keep times within 2 % of those of single packets, "
              "by bounds that a sweep supports (docs/18); 1 packet: the reference",
              derived("docs/adr/0003"), at_most(packet_count(k_largest_burst)).because("; 1 packet is the reference"));
        visit("firmware_timeout", self.firmware_timeout,
              "Bound of every single wait of the firmware, in simulated time", assumed("nothing is published"),
              between(duration(1'000'000), k_longest_time).because(": it bounds every single wait of the firmware"));
        visit("time_limit", self.time_limit, "The run ends after this much simulated time", k_user_choice,
              between(duration(1'000'000), k_longest_time).because(": the run ends after this much simulated time"));
        visit(
            "cases", self.cases,
            "independent: every case begins on a machine that has just been reset, so that its time is the same whatever ran "
            "before it; continuous: cases run back to back, and what one leaves in arbiters, rings and path turns the next one "
            "finds. The steps of training_step always follow each other without a reset",
            k_user_choice);
        visit("routing", self.routing,
              "File with routing tables of your own, a line each: router, destination, port, VL; from the folder of this file or the present "
              "one. They are checked, and proved free of deadlock or refused with the cycle. `weft check FILE --routes` prints tables to "
              "begin with",
              k_user_choice);
        visit("tuning", self.tuning,
              "File with a table of the fastest algorithms by size, which `weft tune FILE` has measured; from the folder of this file or the present "
              "one. auto takes the algorithm of the table for the operations, types and sizes that it covers, else the one of its prediction",
              k_user_choice);
        visit("workload", self.workload, "Collectives to run, in order", k_user_choice);
        visit("training_step", self.training_step, "Training steps to run, after the collectives", k_user_choice);
    }
    /// Of sound entries, those of the training step behind those of the workload; without repeats.
    std::vector<collective_case> all_cases() const;
    std::uint64_t case_count() const; ///< of all entries of `workload`
    std::vector<config_problem> validate() const;
};

/// Whether the entry is sound by itself, so that its cases can be made.
bool is_sound(const collective_spec& spec);

/// Whether the workload or the training step runs an algorithm of this kind; in place of `auto` counts what it took,
/// when that is known.
bool runs_any(const run_config& run, bool (*is)(abi::algorithm));
/// Whether ranks start at different, drawn times.
bool starts_at_random(const run_config& run);
/// Whether experts of tokens are drawn.
bool draws_tokens(const run_config& run);
/// Whether anything in `run` is left to the host to choose.
bool uses_auto(const run_config& run);
/// Whether it runs such an algorithm, or leaves a choice to the host, which depends on keys of all that it could take.
bool may_run(const run_config& run, bool (*is)(abi::algorithm));

/// Collectives that a run makes: those of `workload`, each as often as it is repeated, and of all training steps.
std::size_t collective_count(const run_config& config);

/// Of a platform whose machine has random events from the seed of the run: draws() of its configuration.
template <class C, class = void> struct has_draws : std::false_type {
};
template <class C> struct has_draws<C, std::void_t<decltype(std::declval<const C&>().draws())>> : std::true_type {
};
template <class C> bool uses_seed(const C& c)
{
    if constexpr (has_draws<C>::value)
        if (c.draws())
            return true;
    return c.run.data == data_mode::checked || starts_at_random(c.run) || draws_tokens(c.run);
}

/// Rules about the keys of run_config, for the configuration of a platform that shows them as its own.
template <class C> void add_run_rules(std::vector<key_rule<C>>& rules)
{
    rules.push_back({"seed", "with data: checked, start_skew, dispatch and combine, or faults by chance", &uses_seed<C>});
    for (const char* key : {"workload.N.inputs", "training_step.inputs"})
        rules.push_back({key, "with data: checked", [](const C& c) { return c.run.data == data_mode::checked; }});
    rules.push_back({"tuning", "with algorithms: [auto]", [](const C& c) { return uses_auto(c.run); }});
}
/// The same where ranks are no mesh of rows and columns.
template <class C> void add_no_mesh_rules(std::vector<key_rule<C>>& rules)
{
    for (const char* key : {"workload.N.transposed", "training_step.transposed"})
        rules.push_back({key, "on a mesh of rows and columns (tpu_v3)", [](const C&) { return false; }});
}

} // namespace weft
