// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// SwitchML as a platform: what `weft check` prints of a file, its bounds and costs, and its bench of firmware.
#include "platforms/machine/configured_platform.h"
#include "platforms/switchml/aggregators.h"
#include "platforms/switchml/sum_costs.h"
#include "platforms/workload/records_waves.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft {

namespace {

/// Where the value of a key comes from that the file does not set.
void tell_source(config_field& section, std::initializer_list<const char*> path, const char* source)
{
    config_field* at = &section;
    for (const char* name : path)
        for (config_field& member : at->children)
            if (member.name == name) {
                at = &member;
                break;
            }
    at->source = source;
}

class configured_switchml final : public configured_platform<switchml_config, switchml_routing>, public records_waves {
public:
    void record_waves(const std::string& file) override { waves_ = file; }
    std::string no_waves() const override
    {
        return runs_any(config_.run, abi::by_switch)
                   ? ""
                   : "no algorithm of this workload uses the aggregation pipes of a switch, so that no signal moves; switchml and "
                     "switchml_lossless do. Leave --waves out, or set workload.0.algorithms.";
    }
    using configured_platform::configured_platform;
    std::uint32_t ranks_of_sum() const override { return config_.workers_per_job(); }
    config_field resolved() const override
    {
        config_field all = describe(config_.in_force());
        tell_source(all, {"worker", "nic", "rate"}, "network.rate");
        tell_source(all, {"switch", "port_rate"}, "network.rate");
        return with_platform_key(std::move(all), switchml_config::k_platform);
    }
    std::vector<std::string> output_files() const override
    {
        const switchml_switch_config used = config_.switch_in_use();
        if (used.waves.empty())
            return {};
        std::vector<std::string> all;
        std::uint32_t switches = 1; // a tree has one a level, each below one of the level above
        std::uint32_t of_level = 1;
        for (std::size_t level = 0; level + 1 < config_.tree.size(); ++level)
            switches += of_level *= config_.tree[level];
        for (std::uint32_t number = 0; number < switches; ++number)
            for (std::uint32_t pipe = 0; pipe < k_tofino_pipes; ++pipe)
                all.push_back(waves_file(used, number, pipe));
        return all;
    }
    std::unique_ptr<machine> build(const core_fitter& fit) const override
    {
        return std::make_unique<switchml_machine>(config_, routing(), fit, waves_);
    }

    /// A worker sends its input and gets the sum, whatever the switch does; frames as full as they get.
    std::optional<collective_bound> bound_by_cuts(const collective_case& c) const override
    {
        if (!abi::by_switch(c.algo))
            return std::nullopt;
        const double payload = config_.job.elements_per_packet * 4.0;
        const double bytes = static_cast<double>(c.size_bytes) * least_wire_bytes(config_.job) / payload;
        const double links_us = bytes * 8e6 / static_cast<double>(config_.network.rate.value());
        // Its memory reads the input and takes the sum.
        const double memory_us = memory().least_us(2 * static_cast<double>(c.size_bytes));
        return memory_us > links_us ? collective_bound{memory_us, "memory"} : collective_bound{links_us, "links of a worker to a switch that sums"};
    }
    void add_costs(message_costs& costs) const override
    {
        if (!resends_for_nothing(config_))
            costs.sums = sum_costs_of(config_);
    }
    std::string description() const override
    {
        const switchml_config& c = config_;
        const std::uint32_t payload = c.job.elements_per_packet * 4;
        const std::uint32_t wire = packet_wire_bytes(c.job);
        std::string text =
            fmt::format("SwitchML  {} workers of {} core{}{}, {}\n", c.workers, c.worker.cores,
                        c.worker.cores == 1 ? "" : "s", c.job.jobs > 1 ? fmt::format(" in {} jobs", c.job.jobs) : "",
                        c.tree.empty() ? std::string("below one switch")
                                       : fmt::format("below a tree of switches {}", fmt::join(c.tree, " x ")));
        text += fmt::format("Network   {} per port and direction, cables of {}, loss {:g} % of frames per direction\n",
                            to_string(c.network.rate), rounded_text(c.network.cable.propagation),
                            100 * c.network.cable.impairments.loss);
        text += fmt::format("Packets   {} over {}: {} of payload in {} on the wire, {:.1f} % of the line rate or {}\n",
                            c.job.elements_per_packet == 256 ? "256 elements" : "64 elements", name_of(c.job.transport),
                            to_string(data_size(payload)), to_string(data_size(wire)), 100.0 * payload / wire,
                            to_string(bandwidth(static_cast<std::uint64_t>(static_cast<double>(c.network.rate.value()) *
                                                                           payload / wire))));
        text += fmt::format(
            "Pool      {} slots a job, {} of registers with both versions; {} in flight per worker; timeout {}\n",
            c.job.slots, to_string(data_size(std::uint64_t{c.job.slots} * payload * 2)),
            rounded_text(data_size(std::uint64_t{c.job.slots} * wire)), to_string(c.job.timeout));
        const std::uint64_t further = c.job.elements_per_packet == 256 ? 10 : 1;
        text += fmt::format(
            "Switch    aggregator {}; {} for a packet that is not the last, {} for the one that completes a slot\n",
            name_of(c.tofino.aggregator), rounded_text(c.tofino.chip.first_pass_latency),
            rounded_text(
                duration(c.tofino.chip.first_pass_latency.value() + further * c.tofino.chip.pass_latency.value())));
        return text;
    }

private:
    std::string waves_; ///< file in which the pins of all pipes are drawn
};

/// rows below a root switch of one port each where rows > 1, with cols workers each. Few slots, so that they go round
/// and the pool is full; a timeout of the job far below that of the bench, so that what is lost can be sent again.
firmware_bench_machine bench_rack(std::uint32_t rows, std::uint32_t cols, std::uint32_t)
{
    const std::string tree = rows > 1 ? fmt::format("tree: [{}, {}]\n", rows, cols) : "";
    return {fmt::format("{}x{} workers below SwitchML switches", rows, cols),
            fmt::format("platform: switchml\nname: firmware_test\nworkers: {}\n{}"
                        "worker: {{cores: 1, nic: {{queues: 1}}, dma: {{ring_entries: 4}}, memory: {{capacity: 64 MiB}}, "
                        "transmit_hold: 1 us}}\njob: {{slots: 4, timeout: 20 us}}\nworkload:\n"
                        "- {{op: all_reduce, algorithms: [switchml], types: [int32, float32], sizes: [8 KiB]}}\n"
                        "- {{op: all_reduce, algorithms: [ring_1d], sizes: [512 B], chunk: 256 B}}\n",
                        rows * cols, tree),
            "worker.core",
            {{"cable of worker 1", "faults.outages=[{worker: 1, from: {}}]"}}};
}
constexpr firmware_bench_source k_firmware_bench = {1, 3, bench_rack};

platform_info make_info()
{
    platform_info info = info_of<configured_switchml>(
        "SwitchML: workers below a programmable switch that adds gradients, over lossy Ethernet, UDP or RDMA");
    info.firmware_bench = &k_firmware_bench;
    return info;
}

} // namespace

const platform_info k_switchml_info = make_info();

} // namespace weft
