// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A built platform as a workload sees it, and a configured one as the command line sees it. A platform folder
// implements both; nothing else knows its parts.
#pragma once

#include "hw/abi/platform_table.h"
#include "hw/chip/chip.h"
#include "hw/fabric/fabric_engine.h"
#include "platforms/config/config_dump.h"
#include "platforms/workload/bounds.h"
#include "platforms/workload/cost_model.h"
#include "platforms/workload/host_traffic.h"
#include "platforms/workload/link_cuts.h"
#include "platforms/workload/rank_groups.h"
#include "platforms/workload/run_config.h"
#include "platforms/workload/train_choice.h"
#include "tlm/check.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct validation_report;
struct validation_settings;
class bench_page;
struct bench_settings;

/// What a restart costs, and why it was.
struct restart_plan {
    std::uint64_t takes_ps = 0; ///< from the interruption until the host may post commands again
    std::string cause;          ///< "npu(p0,r0,b1,3) failed"
    std::string remedy;         ///< "the spare NPU of rack p0,r0 has taken over"
    bool loads = false;         ///< then the last checkpoint is loaded back from storage, if there is one
};

/// A machine whose job is interrupted when a chip fails for good, and goes on with other chips on fresh hardware
/// (docs/adr/0013).
class restarting {
public:
    /// Kernel time in ps of the next interruption; k_never_ps: none is to come.
    virtual std::uint64_t interrupted_at_ps() const = 0;
    /// The host restarts the job: all that the machine has is new from now on, and its firmware has booted or boots;
    /// what the old hardware still does concerns nobody. Called at an interruption, at most once for each.
    virtual restart_plan restart() = 0;
    /// Interruptions that have not come yet, as the start of a sentence: "npu(p0,r0,b1,3) fails at 60 us".
    virtual std::vector<std::string> interruptions_to_come() const = 0;
    /// Of all hardware, that of now included.
    virtual std::vector<timeline*> timelines() = 0;

protected:
    ~restarting() = default;
};

/// All modules of one simulation. Ranks are indices into `chips`.
class machine {
public:
    virtual ~machine() = default;
    virtual timeline& time() = 0;
    virtual packet_pool& pool() = 0;
    virtual const std::vector<chip*>& chips() const = 0;
    virtual const std::vector<fabric_engine*>& fabrics() const = 0;
    /// How people find the chip of a rank: "chip(3,4)".
    virtual std::string chip_name(std::uint32_t rank) const = 0;
    /// The end of wires (component::ends_of_wire) at which the chip of a rank stands. Several may share one.
    virtual std::string node_name(std::uint32_t rank) const { return chip_name(rank); }
    /// Ranks that bring data and get the answer, the first of chips(). The others help; what they hold before is zeros.
    virtual std::uint32_t data_ranks() const { return static_cast<std::uint32_t>(chips().size()); }
    /// Copies of a model that data-parallel training has here.
    virtual std::uint32_t replicas() const { return data_ranks(); }
    /// A case as this machine runs it: jobs as groups of ranks, sums that are quantised.
    virtual collective_case as_run(const collective_case& c) const { return c; }
    /// How much later than the others a rank begins each collective.
    virtual std::uint64_t late_ps(std::uint32_t rank) const
    {
        static_cast<void>(rank);
        return 0;
    }
    /// Packets of a train of case `c` (platforms/workload/train_choice.h).
    virtual std::uint32_t train_of(const collective_case& c) const = 0;
    /// Firmware sends again what is lost: that all is at rest does not mean that it stays so.
    virtual bool recovers(const collective_case& c) const
    {
        static_cast<void>(c);
        return false;
    }
    /// Nothing of what has been run is under way any more. A timeline may hold what is yet to come, a link that is
    /// going to fail.
    virtual bool at_rest() { return time().empty(); }
    /// And no credit, timer or wire is left over from it: the machine may be reset.
    bool settled() { return at_rest() && time().components().settled(time().now_ps()); }
    /// All components as at time zero, while simulated time goes on (tlm/component.h); cores boot. Only when settled().
    void reset(std::uint32_t draw) { time().components().reset(draw); }
    /// nullptr: nothing interrupts it.
    virtual restarting* restarts() { return nullptr; }
    std::vector<timeline*> all_timelines()
    {
        restarting* const r = restarts();
        return r == nullptr ? std::vector<timeline*>{&time()} : r->timelines();
    }
    /// All that may ever answer the host.
    std::vector<chip*> all_chips()
    {
        std::vector<chip*> all;
        for (timeline* t : all_timelines())
            for (component* c : t->components())
                if (auto* const one = dynamic_cast<chip*>(c))
                    all.push_back(one);
        return all;
    }
    /// CPUs and NICs that send and receive; of the present hardware. nullptr: there are none, or the run does not use
    /// them.
    virtual host_devices* hosts() { return nullptr; }
    /// What the user should know of a run that has ended, beside failures of links: a sentence each, the key of the
    /// file first.
    virtual std::vector<std::string> warnings() const { return {}; }
    /// Whether users hear of the effect of this failure: not where it is part of another fault, or routing knew of it
    /// in time.
    virtual bool tells_failure(const fabric_engine& fabric, const link_failure& failure) const
    {
        static_cast<void>(fabric), static_cast<void>(failure);
        return true;
    }
    /// What a link that fails loses is sent again from end to end.
    virtual bool resends() const { return resend_timeout_ps() != 0; }
    /// Of packets of the fabric, until one that was lost is sent again; 0: none is.
    virtual std::uint64_t resend_timeout_ps() const { return 0; }
    /// How people know a group of groups_of().
    virtual std::string group_name(std::uint32_t group) const { return "group " + std::to_string(group); }
    /// What the whole tells of who waits, beside its components: "job 0 waits for worker 2"; "" for nothing.
    virtual std::string waits() const { return {}; }
    /// Which ranks stand together when groups of `ranks_per_group` exchange, and how their firmware is told. Asked only
    /// for numbers that the platform's configuration has let pass; a platform without groups lets none pass.
    virtual group_layout groups_of(std::uint32_t ranks_per_group) const
    {
        throw bug("machine", 0, "groups of " + std::to_string(ranks_per_group) + " ranks on a machine without groups");
    }
    /// platform_table::near_ranks of each of these process groups, which work at once; `tables`: of their first ranks.
    /// Empty: k_all_near for all.
    virtual std::vector<std::uint16_t> near_ranks(const std::vector<std::vector<std::uint32_t>>& groups,
                                                  const std::vector<abi::platform_table>& tables) const
    {
        static_cast<void>(groups), static_cast<void>(tables);
        return {};
    }
};

/// What a bench gives a chip instead of the shipped firmware on a core by itself.
struct core_fitting {
    firmware_entry entry = nullptr; ///< nullptr: the shipped firmware
    std::uint64_t argument = 0;
    core_gate* gate = nullptr; ///< outlives the machine
};
using core_fitter = std::function<core_fitting(std::uint32_t rank)>;

/// Sizes for which the maker of a machine names one of its algorithms; both ends belong to the range.
struct published_range {
    abi::algorithm algorithm;
    std::uint64_t from_bytes;
    std::uint64_t to_bytes;
    const char* source;
    std::uint32_t operations = ~0u;                ///< for which collectives, as bits of abi::operations
    std::optional<abi::algorithm> gathers_by = {}; ///< as collective_case::gathers_by

    bool covers(abi::collective_op op, std::uint64_t size_bytes) const
    {
        return (operations & abi::operations::of(op)) != 0 && from_bytes <= size_bytes && size_bytes <= to_bytes;
    }
};

/// Of the memory of one rank, for the buffers of collectives.
struct buffer_room {
    std::uint64_t bytes = ~std::uint64_t{0};
    std::string memory; ///< "HBM per chip"
    std::string text;   ///< "chip.hbm.capacity is 32 GiB, of which the descriptor rings take 32 KiB"
};

/// A platform that has been read from a file and found sound; nothing is built yet.
class platform {
public:
    virtual ~platform() = default;
    virtual const run_config& run() const = 0;
    virtual config_field resolved() const = 0;
    virtual std::uint32_t ranks() const = 0;
    /// Whose data a switch sums together: of several jobs those of one.
    virtual std::uint32_t ranks_of_sum() const { return ranks(); }
    /// What firmware of a rank is told of the machine; the part that chip and DMA engine know themselves is left out.
    virtual abi::platform_table rank_table(std::uint32_t rank) const = 0;
    /// Of one rank.
    virtual memory_supply memory() const = 0;
    /// Payload that one rank can send by all links that it has, with any routing, or by its ports to them where these
    /// are slower: 0 where nobody says. In a process group a rank may have more of shared links than its part, and idle
    /// links of others.
    virtual bandwidth links_rate() const
    {
        const abi::platform_table t = rank_table(0);
        std::uint64_t mbps = 0;
        for (std::uint32_t d = 0; d < t.dim_count; ++d)
            mbps += t.rate_mbps[d];
        return bandwidth(mbps * 1'000'000);
    }
    /// Payload that one rank can send by its local ports; 0: not known, or in links_rate().
    virtual bandwidth ports_rate() const { return bandwidth(0); }
    virtual buffer_room room() const { return {}; }
    /// By the links of this machine that work; nullptr: nobody says which they are.
    virtual const link_cuts* cuts() const { return nullptr; }
    /// Of `c` by cuts that only this platform knows.
    virtual std::optional<collective_bound> bound_by_cuts(const collective_case& c) const
    {
        static_cast<void>(c);
        return std::nullopt;
    }
    /// By what each link carries along the routes of packets (route_loads.h), us; 0 where nobody says.
    virtual double busiest_link_us(const collective_case& c) const
    {
        static_cast<void>(c);
        return 0;
    }
    /// What a message of one rank costs, for predictions (cost_model.h).
    virtual message_costs costs() const = 0;
    /// For `algorithms: [auto]`, where `tuning` does not decide: the first one is taken that covers a size and that
    /// every group can run.
    /// `group`: what a rank of the longest group is told, or of the machine.
    virtual std::vector<published_range> published_ranges(const abi::platform_table& group) const
    {
        static_cast<void>(group);
        return {};
    }
    /// Files that the configuration names and that are read; entries may be empty. No output may overwrite them.
    virtual std::vector<std::string> input_files() const = 0;
    /// Files that the machine itself writes when it runs. Its writers replace what is no regular file.
    virtual std::vector<std::string> output_files() const { return {}; }
    /// Cores that execute RISC-V binaries, 0 when they are native: each takes address space of the host.
    virtual std::uint64_t rv64_cores() const = 0;
    /// What `weft check` prints: shape, rates, buffers against round trips.
    virtual std::string description() const = 0;
    /// How packets are routed, and the proof that no route can deadlock; `weft check` prints it below the description.
    /// Seconds for ten thousand chips.
    virtual std::string routing_report() const = 0;
    /// The routing as lines of `routing: FILE` (hw/routing/route_tables.h), to begin with; "": it does not go by
    /// destination alone.
    virtual std::string route_tables() const = 0;
    /// How many packets are simulated as one transaction, and why (train_choice.h).
    virtual train_choice trains() const = 0;
    /// Elaborates. Call once, before the simulation starts. `fit` is asked once for each chip; none: the shipped
    /// firmware.
    virtual std::unique_ptr<machine> build(const core_fitter& fit) const = 0;
    std::unique_ptr<machine> build() const { return build(core_fitter()); }
};

/// The least time of `c` on this machine as it stands, by rates of dimensions (bounds.h), by cuts of the links that
/// work (link_cuts.h), by memory and by the platform's own cuts; nothing where no rates are known.
std::optional<collective_bound> bound_on(const platform& p, const collective_case& c);
/// What the ranks are told that run a case together: all of them, or those of one of the largest groups, by place.
std::vector<abi::platform_table> tables_told(const platform& p, const collective_case& c);
/// What the first rank of each of `groups` is told, in the order of the groups; of the whole machine where `groups` is
/// empty. Groups that find_groups() refuses are left out.
std::vector<abi::platform_table> group_tables(const platform& p, const std::vector<std::string>& groups);

/// A small machine for the bench of firmware (platforms/firmware_bench), of rows x cols ranks in the platform's own
/// sense.
struct firmware_bench_machine {
    struct link {
        std::string name;    ///< "chip(1,0).+X"
        std::string setting; ///< as for --set; takes the link down at the time in place of "{}"
    };
    std::string words; ///< "2x2 mesh of the TPU pod"
    std::string file;  ///< with the workload of the bench; the struck rank is the root of its broadcasts
    std::string core;  ///< key of its cores
    std::vector<link> links = {};
    /// What is posted is done though the core has given up waiting: a rank that is late finds it done.
    bool engines_go_on = false;
};
struct firmware_bench_source {
    std::uint32_t rows, cols; ///< unless the user says otherwise
    firmware_bench_machine (*make)(std::uint32_t rows, std::uint32_t cols, std::uint32_t rank);
};

/// A machine of the same kind with another number of replicas.
struct scaled_machine {
    /// An entry of a list of the file that names what this machine does not have.
    struct missing_entry {
        std::string list; ///< "faults.late"
        std::size_t entry = 0;
        std::string why; ///< "replica is 9, but there are replicas 0 to 7"
    };
    std::vector<std::string> settings; ///< as of --set; none: there is no such machine
    bool over_gateways = false;        ///< its replicas are not all joined by the faster network
    std::vector<missing_entry> missing = {}; ///< in the order of the lists, then of their entries
};

/// How the command line finds a platform.
struct platform_info {
    const char* name;    ///< value of the key `platform`
    const char* summary; ///< one line
    /// Reads the file; problems are added, and nullptr is returned when one of them is an error.
    std::unique_ptr<platform> (*read)(const yaml_document& document, std::vector<problem>& problems);
    config_field (*defaults)(); ///< for the schema and the docs
    const char* former_name = nullptr; ///< that files of older versions have
    /// What `weft firmware test` runs; nullptr: the platform has no such bench.
    const firmware_bench_source* firmware_bench = nullptr;
    /// The machine of `like` with so many replicas, for `weft scale`; nullptr: the platform has no such rule.
    scaled_machine (*scaled)(const platform& like, std::uint32_t replicas) = nullptr;
};

/// `all` of a platform's configuration, with the key that names the platform in front.
inline config_field with_platform_key(config_field all, const char* platform)
{
    config_field name;
    name.name = "platform";
    name.doc = "Which platform this is";
    name.type = field_type::text;
    name.value = std::string(platform);
    all.children.insert(all.children.begin(), std::move(name));
    return all;
}

} // namespace weft
