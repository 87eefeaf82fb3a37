// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/host_costs.h"
#include "platforms/workload/algorithm_predictions.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/planned_schedule.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace weft::cli {

namespace {
/// Of the longest trains of these cases; "" where the machine has none at all.
std::string text_of_longest(const train_choice& choice, const std::vector<collective_case>& cases)
{
    if (choice.packets == 1 || cases.empty())
        return "";
    const case_trains longest = longest_trains(choice, cases);
    return longest.packets == 1 ? fmt::format(", single packets ({})", longest.reason)
                                : fmt::format(", trains of up to {} packets", longest.packets);
}

constexpr std::uint32_t k_most_ranks_shown = 64;
/// Time and memory of a plan of all ranks grow with the square of their number.
constexpr std::uint32_t k_most_ranks_matched = 1024;

/// The first size of every operation, algorithm and orientation of the workload.
std::vector<collective_case> cases_to_show(const run_config& run)
{
    std::vector<collective_case> shown;
    for (const collective_spec& spec : run.workload)
        for (const collective_case& c : spec.cases())
            if (std::none_of(shown.begin(), shown.end(), [&](const collective_case& s) {
                    return s.op == c.op && s.algo == c.algo && s.transposed == c.transposed && s.root == c.root && s.groups == c.groups;
                }))
                shown.push_back(c);
    return shown;
}

void print_schedules(const loaded_platform& loaded, std::optional<std::uint32_t> only)
{
    const platform& p = *loaded.platform;
    const std::vector<collective_case> cases = cases_to_show(p.run());
    if (cases.empty())
        throw user_error(fmt::format("{}: the workload is empty, so there is no schedule to print.", loaded.file));
    for (const collective_case& c : cases) {
        const std::vector<abi::platform_table> tables = tables_told(p, c);
        const auto ranks = static_cast<std::uint32_t>(tables.size());
        const char* const whose = c.groups.empty() ? "this machine" : "a group";
        if (only && *only >= ranks)
            throw user_error(fmt::format("--rank {}: {} has ranks 0 to {}.", *only, whose, ranks - 1));
        if (!only && ranks > k_most_ranks_shown)
            throw user_error(fmt::format("--schedule prints all ranks where there are up to {}; {} has {}. Name one: --rank 0.",
                                         k_most_ranks_shown, whose, ranks));
        const std::uint32_t element = abi::element_bytes(c.type);
        fmt::print("{} by {}{}{}, {}: {} elements of {}, messages of up to {} B\n", name_of(c.op), name_of(c.algo),
                   c.transposed ? " transposed" : "",
                   c.groups.empty() ? "" : fmt::format(" in groups, of which one of {} ranks is shown", ranks),
                   to_string(data_size(c.size_bytes)), c.count, name_of(c.type), c.chunk_bytes);
        if (has_rings_in_lockstep(c.algo))
            fmt::print("  all of a phase meet before each step, unless gcl.exchange says otherwise{}\n",
                       c.gathers_by ? fmt::format("; its all-gather goes by {}", name_of(*c.gathers_by)) : "");
        else if (!has_schedule(tables[0], c.op, c.algo)) {
            const abi::algorithm_row& row = abi::k_algorithm_rows[static_cast<unsigned>(c.algo)];
            fmt::print("  no schedule: {}. {}.\n\n", row.summary,
                       (row.traits & abi::traits::on_devices) != 0 ? "Its firmware posts all descriptors ahead, and they wait in the DMA engines; a trace shows them"
                                                                   : "Its firmware decides message by message");
            continue;
        }
        std::vector<planned_rank> all;
        if (!only || ranks <= k_most_ranks_matched)
            for (std::uint32_t r = 0; r < ranks; ++r)
                all.push_back(plan_of(tables[r], c));
        if (!all.empty()) {
            const std::string difference = unmatched(all);
            if (!difference.empty())
                throw bug("schedule", 0, difference);
            fmt::print("  every rank is sent exactly the messages that it waits for\n");
        }
        for (std::uint32_t r = only ? *only : 0; r < (only ? *only + 1 : ranks); ++r)
            fmt::print("{}", text_of(all.empty() ? plan_of(tables[r], c) : all[r], element));
        fmt::print("\n");
    }
}
} // namespace

void add_check(CLI::App& app, int& exit_code)
{
    auto source = std::make_shared<platform_source>();
    auto resolved = std::make_shared<bool>(false);
    CLI::App* command =
        app.add_subcommand("check", "Check a platform file and describe what it means; builds and writes nothing");
    add_platform_options(*command, *source);
    add_size_options(*command, source->sizes);
    command->add_flag("--resolved", *resolved,
                      "Print the whole configuration as YAML: every value, its meaning, and where it comes from");
    auto routes = std::make_shared<bool>(false);
    command->add_flag("--routes", *routes, "Print routing tables to begin with, for the key `routing`: router, destination, port, VL");
    auto schedule = std::make_shared<bool>(false);
    auto rank = std::make_shared<std::optional<std::uint32_t>>();
    CLI::Option* schedule_option = command->add_flag("--schedule", *schedule,
                                                     "Print what every rank sends, step by step, in the first size of each collective");
    command->add_option("--rank", *rank, "With --schedule: of this rank only")->needs(schedule_option);
    command->callback([source, resolved, routes, schedule, rank, &exit_code] {
        const loaded_platform loaded = load(*source);
        if (!loaded.platform) {
            exit_code = 2;
            return;
        }
        if (*resolved) {
            fmt::print("{}", to_yaml(loaded.platform->resolved(), &*loaded.document));
            return;
        }
        if (*routes) {
            const std::string tables = loaded.platform->route_tables();
            if (tables.empty())
                throw user_error(fmt::format("{}: the routing of this machine goes by where a packet comes from, not by its destination alone "
                                             "(wrap links, detours, ways around links that are down), so there are no tables to begin with.",
                                             loaded.file));
            fmt::print("{}", tables);
            return;
        }
        if (*schedule) {
            print_schedules(loaded, *rank);
            return;
        }
        const run_config& run = loaded.platform->run();
        const auto plural = [](std::size_t n, const char* what) {
            return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
        };
        fmt::print("{}: no errors{}\n\n{}{}", loaded.file,
                   loaded.problems.empty() ? "" : ", " + plural(loaded.problems.size(), "warning"),
                   loaded.platform->description(), loaded.platform->routing_report());
        const train_choice trains = loaded.platform->trains();
        const bool any_trains = runs_any(run, abi::by_dma);
        const std::uint64_t host = host_data_bytes_for(run, loaded.platform->ranks());
        fmt::print("Run       data: {}{}{}; seed {}\n", name_of(run.data),
                   host == 0 ? "" : fmt::format(" (up to {} of host memory)", rounded_text(data_size(host))),
                   any_trains ? fmt::format("; transport by {}", text_of(trains)) : "", run.seed);
        fmt::print("Host      about {}, more with small messages or many paths; about {} of memory, as predicted\n\n", about_seconds(host_seconds(*loaded.platform)),
                   rounded_text(data_size(host_memory_bytes(*loaded.platform))));
        std::size_t cases = 0;
        for (const collective_spec& spec : run.workload) {
            const std::vector<std::uint64_t> sizes = spec.all_sizes();
            const auto [smallest, largest] = std::minmax_element(sizes.begin(), sizes.end());
            std::string how;
            for (const abi::algorithm a : spec.all_algorithms())
                how += fmt::format("{}{}", how.empty() ? "" : ", ", name_of(a));
            const std::size_t once = spec.case_count() / spec.repeats;
            cases += once;
            fmt::print("  {:<15} {:<26} {}, {}{}{}{}\n", name_of(spec.op), how, plural(once, "case"),
                       to_string(data_size(*smallest)),
                       *smallest == *largest ? "" : " to " + to_string(data_size(*largest)),
                       spec.repeats == 1 ? "" : fmt::format(", {} times each", spec.repeats),
                       text_of_longest(trains, spec.cases()));
            for (const collective_case& c : spec.cases())
                if (const std::string choice = choice_of(c); !choice.empty())
                    fmt::print("  {:<15}   {} of {}: {}, {}\n", "", name_of(c.type), to_string(data_size(c.size_bytes)), name_of(c.algo), choice);
        }
        if (!run.workload.empty())
            fmt::print("  {} in all\n", plural(cases, "case"));
        if (run.training_step) {
            const training_step_config& step = *run.training_step;
            std::uint64_t bytes = 0;
            for (const gradient_group& g : step.groups)
                bytes += g.size_bytes();
            std::size_t exchanges = 0;
            for (const step_exchange& e : step.exchanges)
                exchanges += std::size_t{e.count} * step.accumulation;
            fmt::print("  {} of {} of compute, overlap {}: {} of {} in all, {}, by {}{}{}\n",
                       plural(step.steps, "training step"),
                       step.accumulation == 1 ? to_string(step.compute)
                                              : fmt::format("{} x {}", step.accumulation, to_string(step.compute)),
                       name_of(step.overlap), plural(step.summed().size(), "gradient group"),
                       to_string(data_size(bytes)), plural(exchanges, "exchange"), name_of(step.by()),
                       step.transposed ? " transposed" : "", text_of_longest(trains, step.cases()));
            if (const std::string more = step.text(); !more.empty())
                fmt::print("  {}\n", more);
        }
    });
}

} // namespace weft::cli
