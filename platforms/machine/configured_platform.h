// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// From a file to a platform: what every platform says of its configuration in the same way, and how its file is read.
#pragma once

#include "platforms/config/config_dump.h"
#include "platforms/config/config_reader.h"
#include "platforms/config/yaml_layers.h"
#include "platforms/machine/algorithm_choice.h"
#include "platforms/machine/machine_checks.h"
#include "platforms/machine/named_file.h"
#include "platforms/machine/planned_routing.h"
#include "platforms/machine/predicted_times.h"
#include "platforms/machine/workload_checks.h"
#include "platforms/workload/machine.h"
#include "platforms/workload/route_loads.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// Payload of what wires of `Config` carry, at most: `payload_share()`, which may be left out.
template <class Config, class = void> struct has_payload_share : std::false_type {
};
template <class Config>
struct has_payload_share<Config, std::void_t<decltype(std::declval<const Config&>().payload_share())>> : std::true_type {
};
template <class Config> double payload_share_of(const Config& config)
{
    if constexpr (has_payload_share<Config>::value)
        return config.payload_share();
    else
        return 1;
}

/// A platform with configuration `Config`, which has: `k_platform`, the value of the key `platform`; `run`; fields()
/// and validate(); ranks(); rank_table(), what firmware of a rank is told; trains(); control_chip(), the chip of a
/// rank; control_cores(), how many cores run firmware; hop_latency(), a head's way from a rank to the next one of a
/// dimension of rank_table(); limits(), on which check_workload() judges. `Routing` is made from it when first asked
/// for: report() and route_tables() are what `weft check` prints, problem() why it cannot be used, or ""
/// (planned_routing.h has all three). Its constructor throws user_error where the tables of `routing: FILE` cannot be
/// read.
template <class Config, class Routing> class configured_platform : public platform {
public:
    using config_type = Config;
    explicit configured_platform(Config config) : config_(std::move(config)) {}

    const run_config& run() const final { return config_.run; }
    std::uint32_t ranks() const final { return config_.ranks(); }
    abi::platform_table rank_table(std::uint32_t rank) const final { return config_.rank_table(rank); }
    train_choice trains() const final { return config_.trains(); }
    std::vector<std::string> input_files() const override { return {config_.control_chip().core.elf, config_.run.routing, config_.run.tuning}; }
    memory_supply memory() const override
    {
        const hbm_config hbm = config_.control_chip().hbm;
        return {hbm.rate.value(), hbm.load, hbm.load_block.value()};
    }
    buffer_room room() const override
    {
        const workload_limits limits = config_.limits();
        return {limits.room_bytes, limits.memory, limits.room_text};
    }
    const link_cuts* cuts() const final
    {
        if (cuts_ == nullptr)
            if (const machine_links links = working_links(); !links.ranks.empty()) {
                std::vector<abi::platform_table> tables;
                for (std::uint32_t rank = 0; rank < ranks(); ++rank)
                    tables.push_back(rank_table(rank));
                cuts_ = std::make_unique<link_cuts>(links, [&](std::uint32_t rank) -> const abi::platform_table& { return tables[rank]; });
            }
        return cuts_.get();
    }
    message_costs costs() const override
    {
        message_costs c = costs_of(config_.control_chip());
        c.links_bps = links_rate().value();
        const std::uint32_t dimensions = rank_table(0).dim_count;
        for (std::uint32_t d = 0; d < dimensions; ++d)
            c.hop_us[d] = static_cast<double>(config_.hop_latency(d).value()) / 1e6;
        add_costs(c);
        return c;
    }
    double busiest_link_us(const collective_case& c) const final
    {
        if constexpr (std::is_base_of_v<planned_routing, Routing>)
            return weft::busiest_link_us(*this, {routing().plan(), *routing().policy(), payload_share_of(config_)}, c);
        else
            return platform::busiest_link_us(c);
    }
    /// What only some platforms have.
    virtual void add_costs(message_costs& costs) const { static_cast<void>(costs); }
    std::uint64_t rv64_cores() const final
    {
        return config_.control_chip().core.model == core_model::rv64 ? config_.control_cores() : 0;
    }
    config_field resolved() const override { return with_platform_key(describe(config_), Config::k_platform); }
    std::string routing_report() const override { return routing().report(); }
    std::string route_tables() const final { return routing().route_tables(); }

    /// What is wrong with files that the configuration names, beside routing, tuning and firmware.
    virtual void read_files(const yaml_document& document, std::vector<problem>& problems)
    {
        static_cast<void>(document), static_cast<void>(problems);
    }
    /// What only routes and proofs tell; called once, of a configuration without errors whose tables, if
    /// any, are good.
    virtual void find_problems(const yaml_document& document, std::vector<problem>& problems)
    {
        static_cast<void>(document), static_cast<void>(problems);
    }
    const Routing& routing() const { return *shared_routing(); }
    Config& config() { return config_; }

protected:
    /// For find_problems(): `key`, faults of the file, leaves no routing that can be used.
    void refuse_faults(const yaml_document& document, std::vector<problem>& problems, const std::string& key) const
    {
        if (const std::string why = routing().problem(); !why.empty())
            add_problem(document, problems, key, why);
    }
    const std::shared_ptr<const Routing>& shared_routing() const
    {
        if (routing_ == nullptr)
            routing_ = std::make_shared<const Routing>(config_);
        return routing_;
    }
    /// What works from the start; without ranks where nobody says.
    virtual machine_links working_links() const
    {
        if constexpr (std::is_base_of_v<planned_routing, Routing>)
            return links_of(routing().plan(), ranks(), payload_share_of(config_));
        else
            return {};
    }
    Config config_;

private:
    mutable std::shared_ptr<const Routing> routing_;
    mutable std::unique_ptr<link_cuts> cuts_; ///< made when first asked for
};

/// What machines of `Config` have beside algorithms of any machine: `k_algorithm_traits`, which may be left out.
template <class Config, class = void> struct algorithm_traits_of : std::integral_constant<std::uint32_t, 0> {
};
template <class Config>
struct algorithm_traits_of<Config, std::void_t<decltype(Config::k_algorithm_traits)>>
    : std::integral_constant<std::uint32_t, Config::k_algorithm_traits> {
};

/// platform_info::read of a platform that is made from its configuration.
template <class Configured>
std::unique_ptr<platform> read_platform(const yaml_document& document, std::vector<problem>& problems)
{
    using config_type = typename Configured::config_type;
    const auto has_errors = [&] {
        return std::any_of(problems.begin(), problems.end(),
                           [](const problem& p) { return p.level == severity::error; });
    };
    const std::size_t before_reading = problems.size();
    config_type config = read_config<config_type>(document, problems, k_platform_file_keys,
                                                   algorithms_for_others(algorithm_traits_of<config_type>::value));
    const std::size_t after_reading = problems.size();
    if (has_errors())
        return nullptr;
    auto made = std::make_unique<Configured>(std::move(config));
    if (!made->run().routing.empty()) {
        try {
            if (const std::string refusal = made->routing().problem(); !refusal.empty())
                add_problem(document, problems, "routing", refusal);
        } catch (const user_error& e) {
            add_problems_of_file(document, problems, "routing", e);
        }
    }
    made->read_files(document, problems);
    const std::optional<tuning_table> tuned = find_tuning(document, problems, made->config().run);
    if (has_errors()) {
        sort_problems(document, problems);
        return nullptr;
    }
    if (uses_auto(made->run())) {
        std::vector<problem> leaves_out;
        for (const config_problem& p : choose_algorithms(made->config().run, *made, tuned ? &*tuned : nullptr, made->config().limits()))
            if (p.level == severity::error)
                add_problem(document, problems, p.key, p.message);
            else
                leaves_out.push_back({p.level, document.position_of(p.key), p.key, p.message});
        if (has_errors())
            return nullptr;
        // What has been chosen may want more memory, say, and use other keys than what was judged in its place.
        std::vector<problem> judged;
        validate_config(document, judged, made->config());
        problems.erase(problems.begin() + static_cast<std::ptrdiff_t>(before_reading), problems.begin() + static_cast<std::ptrdiff_t>(after_reading));
        problems.insert(problems.end(), judged.begin(), judged.end());
        problems.insert(problems.end(), leaves_out.begin(), leaves_out.end());
        sort_problems(document, problems);
        if (has_errors())
            return nullptr;
    }
    made->find_problems(document, problems);
    if (has_errors())
        return nullptr;
    check_predicted_times(*made, document, problems);
    if (tuned)
        compare_machines(document, problems, *tuned, *made);
    return made;
}

/// The line of a platform in the list of all.
template <class Configured> platform_info info_of(const char* summary)
{
    using config_type = typename Configured::config_type;
    platform_info info;
    info.name = config_type::k_platform;
    info.summary = summary;
    info.read = read_platform<Configured>;
    info.defaults = [] { return describe(config_type{}); };
    return info;
}

} // namespace weft
