// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A training step as a workload: compute, and the communication that it needs. One step of one rank, alike on all
// ranks, is
//
//   compute     `compute` of time, during which gradient groups become ready and exchanges are met
//   group       a fused all-reduce of gradients; its start follows the overlap rule:
//                 none        after all compute
//                 when_ready  when the group is ready and the machine is free; compute goes on meanwhile
//   exchange    a small all-reduce that compute waits for (batch-norm statistics)
//
// The machine runs one collective at a time: groups in the order of the file, a waiting exchange before a waiting
// group. A group that is being sent when compute meets an exchange ends first. The update of the weights belongs to
// `compute`, unless `optimiser` has it behind the last group. Posting a command takes the host no time.
//
// With gradient accumulation a step has several micro batches: compute and exchanges in each, groups after the last
// one. Where samples have to come from hosts, a step cannot be shorter than they take.
//
//   communication   sum of the times of all collectives
//   exposed         step time - compute - update - waiting for samples: the communication that compute does not hide
//   share           exposed / step time
//   law             R MBS GA / (GA T_MB + T_AR) samples a second (Graphcore, "Scaling an application over multiple
//                   replicas", section 7.2.1): R replicas, micro batch MBS, accumulation GA; T_MB compute and exchanges
//                   of a micro batch, T_AR the groups and the update. In a pipeline of S stages GA T_MB is
//                   GA + S - 1 times the longest stage
//
// Pure C++: the schedule knows the machine through step_host alone.
#pragma once

#include "platforms/report/case_limits.h"
#include "platforms/workload/collective_data.h"
#include "tlm/config_fields.h"
#include "tlm/key_rules.h"
#include "tlm/units.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

enum class overlap_rule : std::uint8_t { none, when_ready };
template <> struct enum_names<overlap_rule> {
    static constexpr std::pair<overlap_rule, const char*> values[] = {{overlap_rule::none, "none"},
                                                                      {overlap_rule::when_ready, "when_ready"}};
};

/// Gradients that are summed by one all-reduce.
struct gradient_group {
    std::string name = "gradients";
    std::optional<data_size> bytes;
    std::optional<std::uint64_t> elements;
    abi::element_type type = abi::element_type::float32;
    std::optional<double> ready;
    std::optional<duration> ready_at;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("name", self.name, "Name in the results", k_user_choice);
        visit("bytes", self.bytes, "Size of the group; or `elements`", k_user_choice, between(data_size(1), k_largest_size));
        visit("elements", self.elements, "Elements of the group; or `bytes`", k_user_choice, at_least(1));
        visit("type", self.type, "Type in which gradients are summed", k_user_choice);
        visit("ready", self.ready, "When the group is complete, as a fraction of the step's compute; default 1", k_user_choice,
              real_between(0, 1).because(": a fraction of the compute; for a time write ready_at"));
        visit("ready_at", self.ready_at, "The same as a time since the start of compute", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    std::uint64_t size_bytes() const
    {
        return bytes ? bytes->value() : elements.value_or(0) * abi::element_bytes(type);
    }
};

/// `count` equal all-reduces that compute waits for, evenly spread over a part of the compute.
struct step_exchange {
    std::string name = "exchange";
    std::uint32_t count = 1;
    data_size bytes;
    abi::element_type type = abi::element_type::float32;
    double from = 0;
    double to = 1;
    std::optional<std::uint32_t> ranks_per_group;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("name", self.name, "Name in the results", k_user_choice);
        visit("count", self.count, "How many in one step", k_user_choice,
              at_least(1).because("; remove the entry, or write how many exchanges a step makes"));
        visit("bytes", self.bytes, "Size of each", k_user_choice, between(data_size(1), k_largest_size));
        visit("type", self.type, "Type in which they are summed", k_user_choice);
        visit("from", self.from,
              "Fraction of the compute where they begin; the i-th stands at from + (i + 1/2) (to - from) / count", k_user_choice,
              real_between(0, 1).because(": a fraction of the compute"));
        visit("to", self.to, "Fraction of the compute where they end", k_user_choice,
              real_between(0, 1).because(": a fraction of the compute"));
        visit("ranks_per_group", self.ranks_per_group,
              "Ranks that exchange with each other, neighbours: by ring_1d, on ipu_pod by what the library chooses; default: all, by `algorithm`", k_user_choice,
              at_least(2).because("; remove the entry when every rank computes alone"));
    }
    std::vector<config_problem> validate() const;
};

enum class sample_source : std::uint8_t { synthetic, generated, real };
template <> struct enum_names<sample_source> {
    static constexpr std::pair<sample_source, const char*> values[] = {
        {sample_source::synthetic, "synthetic"}, {sample_source::generated, "generated"}, {sample_source::real, "real"}};
};

/// Where the samples of a step come from (Scaling, section 7.5), as rates.
struct step_input {
    sample_source data = sample_source::synthetic;
    data_size sample = data_size(0);
    bandwidth link_rate = bandwidth(100'000'000'000);
    std::uint32_t links = 1;
    double samples_per_second = 0;
    std::uint32_t instances = 1;
    std::uint32_t numa_nodes = 0;
    std::uint32_t hosts_per_pod = 0;
    bool prefetch = true;
    std::optional<bandwidth> into_ranks; ///< what all ranks take together; not a key: made when the machine is known
    std::uint32_t pods = 1;              ///< the same
    /// What one replica takes from memory that only its host fills; none: hosts write where it computes. Not a key.
    std::optional<bandwidth> onto_tiles;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("data", self.data, "synthetic: made on the accelerators; generated: hosts send what costs them nothing to make; real: hosts prepare it as well", k_user_choice);
        visit("sample", self.sample, "Bytes of a sample", k_user_choice, at_most(k_largest_size));
        visit("link_rate", self.link_rate, "Of one link between hosts and accelerators", quoted("100 GbE: Scaling 7.9.1"),
              between(bandwidth(1'000'000), bandwidth(100'000'000'000'000)));
        visit("links", self.links, "Such links, of all hosts together; with hosts_per_pod, of one host", k_user_choice, at_least(1));
        visit("samples_per_second", self.samples_per_second, "What one instance of the host program prepares", k_user_choice, real_between(0, 1e12));
        visit("instances", self.instances, "Instances of the host program, of all hosts together; with hosts_per_pod, of one host", k_user_choice, at_least(1));
        visit("numa_nodes", self.numa_nodes, "NUMA nodes of the same hosts: more instances than that bring nothing (Scaling 7.5); 0: not told", k_user_choice);
        visit("hosts_per_pod", self.hosts_per_pod,
              "Hosts of each Pod, one at least (Scaling 7.5): a larger machine has more of them. On ipu_pod a Pod has up to 16 IPU-Machines, elsewhere the machine is one; 0: not told",
              k_user_choice, between(0, 1'000'000));
        visit("prefetch", self.prefetch, "Samples of a step come while the step before computes", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<step_input>> key_rules();
    std::uint64_t preparation_ps(std::uint64_t samples) const; ///< by the host program; 0 unless data are real
    std::uint64_t transfer_ps(std::uint64_t samples) const;    ///< by the slower links; 0 of synthetic data
    /// From that memory to where one replica computes; 0 without onto_tiles, and of synthetic data.
    std::uint64_t onto_tiles_ps(std::uint64_t samples) const;
    /// What has as many instances, NUMA nodes and links as the keys say.
    std::uint64_t hosts() const { return hosts_per_pod == 0 ? 1 : std::uint64_t{hosts_per_pod} * pods; }
    /// Bit/s of all links from hosts.
    double links_bps() const { return static_cast<double>(link_rate.value()) * links * static_cast<double>(hosts()); }
    /// Until `samples` have come: both go on at once.
    std::uint64_t time_ps(std::uint64_t samples) const { return std::max(preparation_ps(samples), transfer_ps(samples)); }
};

/// The optimiser's update of the weights, after all groups are summed.
struct step_optimiser {
    duration update = duration(0);
    bool sharded = false;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("update", self.update, "Time in which one replica updates all weights, behind the last group",
              k_user_choice, at_most(duration(1'000'000'000'000'000)));
        visit(
            "sharded", self.sharded,
            "Replicated tensor sharding (Scaling 7.8): gradients go by a reduce-scatter, each replica updates its share, an all-gather gives the weights to all",
            k_user_choice);
    }
    std::vector<config_problem> validate() const { return limit_problems(*this); }
};

/// A replica of several ranks, each of which computes a part of the layers (Scaling, section 7.8).
struct step_pipeline {
    std::uint32_t stages = 2;
    std::optional<double> largest_stage;
    data_size activations = data_size(0);
    std::optional<bandwidth> rate;

    static step_pipeline example()
    {
        step_pipeline c;
        c.largest_stage = 0.5;
        c.rate = bandwidth(652'800'000'000);
        return c;
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("stages", self.stages, "Ranks of a replica, one behind the other: as pod.replica_size", k_user_choice,
              between(2, 64));
        visit("largest_stage", self.largest_stage,
              "Part of `compute` in the longest stage, which sets the pace; left out: stages are alike", k_user_choice,
              real_between(0, 1));
        visit(
            "activations", self.activations,
            "Bytes of a micro batch from one stage to the next; as many gradients come back at the same time. Compute waits for them",
            k_user_choice, at_most(k_largest_size));
        visit("rate", self.rate,
              "From a stage to the next one, each way; left out: that of the IPU-Links between two stages, six across a rung for two stages, two along the ladder for more",
              k_user_choice, between(bandwidth(1'000'000), bandwidth(100'000'000'000'000)));
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<step_pipeline>> key_rules();
    std::uint32_t fewest_links() const { return stages > 2 ? 2 : 6; } ///< IPU-Links between two stages
    duration each{0}; ///< of an exchange, besides its bytes: sync, set-up, latency; not a key: the platform knows it
    std::uint64_t transfer_ps() const;
};

/// What does not stay on the chip: it comes from Streaming Memory and goes back there (Scaling, section 7.3).
struct step_streaming {
    data_size bytes = data_size(0);
    std::optional<bandwidth> rate;
    std::uint32_t io_tiles = 0;
    std::uint32_t tiles = 1472;

    static step_streaming example()
    {
        step_streaming c;
        c.rate = bandwidth(256'000'000'000);
        return c;
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("bytes", self.bytes,
              "Between Streaming Memory and one rank in a micro batch, in the direction with more of them",
              k_user_choice, at_most(k_largest_size));
        visit(
            "rate", self.rate,
            "Of a rank, each way; left out on ipu_pod: that of the Host-Link of an IPU, gateway.host_link_rate, or of the I/O tiles where they exchange less; needed elsewhere",
            k_user_choice, between(bandwidth(1'000'000), bandwidth(100'000'000'000'000)));
        visit("io_tiles", self.io_tiles,
              "Tiles that only move data, so that it comes while the others compute; 0: compute waits for it",
              k_user_choice);
        visit("tiles", self.tiles, "Of a rank, all of them", quoted("1472 of a GC200, Graphcore documentation"),
              between(1, 1'000'000));
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<step_streaming>> key_rules();
    std::uint64_t transfer_ps() const;
    duration each{0}; ///< of a transfer, besides its bytes: latency; not a key: the platform knows it
    /// The part of it in which tiles compute, which are fewer beside `io_tiles`.
    std::uint64_t on_tiles_ps(std::uint64_t compute_ps) const;
};

struct training_step_config {
    static constexpr std::uint64_t k_most_collectives = 100'000;
    static constexpr std::uint32_t k_most_steps = 10'000;
    static constexpr duration k_longest_compute = duration(1'000'000'000'000'000); ///< 1000 s
    static constexpr std::uint64_t k_buffer_alignment = 4096;

    std::uint32_t steps = 1;
    duration compute;
    std::uint32_t accumulation = 1;
    std::uint32_t micro_batch = 0;
    std::optional<data_size> merge_up_to;
    step_input input;
    std::optional<step_optimiser> optimiser;
    std::optional<step_pipeline> pipeline;
    std::optional<step_streaming> streaming;
    overlap_rule overlap = overlap_rule::none;
    std::optional<abi::algorithm> algorithm;
    algorithm_choices choices; ///< of `auto`; not a key: made when the machine is known
    bool transposed = false;
    data_size chunk = data_size(128 << 10);
    data_style inputs = data_style::exact;
    std::vector<gradient_group> groups;
    std::vector<step_exchange> exchanges;

    static training_step_config example()
    {
        training_step_config c;
        c.compute = duration(40'000'000'000);
        c.algorithm = k_auto_algorithm;
        c.groups.resize(2);
        for (gradient_group& group : c.groups)
            group.bytes = data_size(25'000'000);
        c.groups.front().ready = 0.5;
        return c;
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("steps", self.steps, "Steps to run", k_user_choice, between(1, k_most_steps));
        visit("compute", self.compute, "Compute time of one step on every rank; with accumulation, of one micro batch", k_user_choice,
              between(duration(1), k_longest_compute)
                  .because("; write the compute time of one step, for example \"40 ms\""));
        visit("accumulation", self.accumulation,
              "Micro batches of a step, GA: compute and exchanges are those of each, groups are summed after the last one, in which they become ready", k_user_choice, between(1, 10'000));
        visit("micro_batch", self.micro_batch, "Samples of a micro batch on one replica, MBS: for the throughput; 0: not told", k_user_choice);
        visit("merge_up_to", self.merge_up_to,
              "Groups of one type are summed together, up to this size (maximum_reduce_many_buffer_size, Scaling 7.3); left out: none is", k_user_choice,
              between(data_size(1), k_largest_size));
        visit("input", self.input, "Samples that have to come from hosts", k_user_choice);
        visit("optimiser", self.optimiser, "The update of the weights; left out: it belongs to `compute`",
              k_user_choice);
        visit("pipeline", self.pipeline,
              "Replicas of several ranks, through which micro batches go; left out: a replica computes as a whole",
              k_user_choice);
        visit("streaming", self.streaming,
              "What comes from Streaming Memory in each micro batch; left out: everything stays on the chip",
              k_user_choice);
        visit("overlap", self.overlap,
              "none: all-reduces start after compute; when_ready: as soon as a group is ready, one at a time",
              k_user_choice);
        visit(
            "algorithm", self.algorithm,
            "How gradient groups, and exchanges over all ranks, are summed; auto: each by the algorithm of the table of `tuning`, else the one that the maker of the machine names for the size, else the one with the shortest predicted time; left out: ring_1d, on ipu_pod auto",
            k_user_choice);
        visit("transposed", self.transposed, "Swap the roles of rows and columns", k_user_choice);
        visit("chunk", self.chunk, "Pipelining grain of the firmware", assumed("nothing is published"),
              between(data_size(1), data_size(1ull << 32)));
        visit("inputs", self.inputs,
              "exact: every sum is exact and bits are compared; random: compared within the rounding bound", k_user_choice);
        visit("groups", self.groups, "Gradient groups, in the order in which they are summed", k_user_choice);
        visit("exchanges", self.exchanges, "Small all-reduces that compute waits for", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<training_step_config>> key_rules();

    /// Everything below needs a sound config.
    /// Groups as they are summed: merged where `merge_up_to` says so, in the order in which their last ones come.
    std::vector<gradient_group> summed() const;
    /// The same by numbers of groups. Each type has a cluster of its own, as a collective has one type; what goes
    /// beyond `merge_up_to` begins the next one.
    std::vector<std::vector<std::size_t>> clusters(bool by_type = true) const;
    abi::algorithm by() const { return algorithm.value_or(abi::algorithm::ring_1d); }
    bool sharded() const { return optimiser && optimiser->sharded; }
    /// What a slot is made of. `streaming`: only what compute waits for, samples that come the same way included.
    struct slot_times {
        std::uint64_t compute_ps = 0, streaming_ps = 0, activations_ps = 0;
    };
    slot_times slot() const;
    /// A micro batch, as long as nothing is exchanged: of the longest stage, with what comes from Streaming Memory.
    std::uint64_t slot_ps() const;
    std::uint64_t slots() const
    {
        return accumulation + (pipeline ? pipeline->stages - 1 : 0);
    }                                                                ///< of a step: a pipeline fills and drains
    /// Of a step; one that is longer than any run is twice k_longest_time.
    std::uint64_t compute_ps() const;
    std::uint64_t update_ps(std::uint32_t replicas) const
    {
        const std::uint64_t on_all_tiles_ps = !optimiser ? 0 : optimiser->update.value() / (sharded() ? std::max(1u, replicas) : 1);
        return streaming ? streaming->on_tiles_ps(on_all_tiles_ps) : on_all_tiles_ps;
    }
    /// What a step is made of besides collectives, as a sentence: "10 micro batches in 11 slots of 5 ms ..."; "" where
    /// it is compute alone.
    std::string text() const;
    std::uint64_t ready_ps(const gradient_group& g) const;
    /// Compute of a micro batch done when it is met.
    std::uint64_t exchange_ps(const step_exchange& e, std::uint32_t index) const;
    collective_case case_of(const gradient_group& g) const;
    collective_case gather_of(const gradient_group& g) const; ///< of its weights, sharded
    collective_case case_of(const step_exchange& e) const;
    std::vector<collective_case> cases() const; ///< of groups, then of exchanges, then of the weights of groups
    std::uint64_t collectives() const;          ///< of all steps
    std::uint64_t buffer_bytes() const;         ///< HBM of one rank: groups, then exchanges, one after another
};

/// Whether the section and all its entries are sound by themselves.
bool is_sound(const training_step_config& config);

/// One collective as the host ran it.
struct case_result {
    collective_case what;
    std::uint64_t time_ps = 0;
    std::uint32_t steps = 0;    ///< longest over all ranks
    std::uint64_t messages = 0; ///< all ranks together
    bool checked = false;
    check_outcome check; ///< when checked
    case_shares shares;  ///< what its parts were busy with; of all runs
    /// With `repeats` above 1: the time of every run, the plain one first. Then time_ps is their mean, steps the most
    /// of one run, messages and wrong elements the sum.
    std::vector<std::uint64_t> repeats_ps = {};
    std::uint64_t alone_ps = 0; ///< the same without hosts beside it; 0: there were none, or it was not asked for
    std::string group;   ///< "job 0" where the collective of one group completed and that of another did not; else ""
};

/// A group, or all exchanges of one entry, of one step.
struct step_part {
    std::string name;
    collective_case what;
    std::vector<std::string> ran_in = {}; ///< process groups that the machine made of it: collective_case::groups
    bool is_exchange = false;
    std::uint32_t calls = 0;
    std::uint64_t ready_ps = 0; ///< of the first call, since the start of the step: it could have begun
    std::uint64_t start_ps = 0; ///< of the first call, since the start of the step
    std::uint64_t time_ps = 0;  ///< sum over all calls
    std::uint32_t steps = 0;    ///< longest chain of one call
    bool checked = false;
    std::uint64_t wrong = 0;  ///< elements, over all ranks and calls
    std::string first_wrong;  ///< "" when none
    std::uint64_t digest = 0; ///< of the results of all calls
    case_shares shares;       ///< what parts were busy with; of all calls
};

struct training_step_result {
    std::uint64_t time_ps = 0;
    std::uint64_t compute_ps = 0;
    std::uint64_t communication_ps = 0;
    std::uint64_t input_ps = 0;     ///< waited for samples
    std::uint64_t update_ps = 0;    ///< of the optimiser
    std::uint64_t samples = 0;      ///< of all replicas; 0: not told
    std::vector<step_part> parts;   ///< groups, then exchanges, in the order of the file, then weights of groups
    bool beside_checkpoint = false; ///< one was under way when it began

    std::uint64_t exposed_ps() const { return time_ps - compute_ps - input_ps - update_ps; }
    /// Samples a second, simulated.
    double throughput() const { return time_ps == 0 ? 0 : static_cast<double>(samples) * 1e12 / static_cast<double>(time_ps); }
    /// The same by the law, with this T_AR.
    double law(double t_ar_ps) const;
    std::uint64_t t_ar_ps() const; ///< the groups and the update
    double share() const { return time_ps == 0 ? 0 : static_cast<double>(exposed_ps()) / static_cast<double>(time_ps); }
};

/// The machine as a training step needs it. Both calls return false when the run cannot go on.
class step_host {
public:
    /// Runs one collective on all ranks, in buffers at `buffer_offset`, and fills `result`. `input_seed` makes the
    /// inputs.
    virtual bool run_collective(const collective_case& c, std::uint64_t chunk_bytes, std::uint64_t buffer_offset,
                                std::uint64_t input_seed, case_result& result) = 0;
    /// Lets time pass.
    virtual bool compute(std::uint64_t time_ps) = 0;
    /// Copies of the model, each with samples of its own.
    virtual std::uint32_t replicas() const = 0;

protected:
    ~step_host() = default;
};

/// What the step would take with collectives as long as they were in `step` and no time of compute.
std::uint64_t time_without_compute_ps(training_step_config config, const training_step_result& step,
                                      std::uint32_t replicas);

/// Runs one step. `first_input_seed` + i makes the inputs of the i-th collective. False when a call of the host failed:
/// `part` is then the name of the group or exchange.
bool run_training_step(const training_step_config& config, step_host& host, std::uint64_t first_input_seed,
                       training_step_result& result, std::string& part);

} // namespace weft
