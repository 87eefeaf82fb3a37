// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/main.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/workload/algorithm_predictions.h"
#include "platforms/workload/bounds.h"
#include "platforms/workload/case_memory.h"
#include "tlm/standard_error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

namespace weft::cli {

namespace {

void print_bounds(const platform& p)
{
    const abi::platform_table table = p.rank_table(0);
    fmt::print("{} ranks. The least time of 64 MiB, and the speed that no algorithm exceeds in which ranks sum equal shares, by what links\n"
               "and memory carry; latencies and software come on top.\n\n  {:<15} {:>12} {:>16}  {}\n",
               table.ranks, "collective", "64 MiB (us)", "algbw (GB/s)", "set by");
    constexpr std::uint64_t size = 64 << 20;
    for (unsigned op = 0; op < abi::k_collective_ops; ++op) {
        const auto bound = bound_on(p, make_case(static_cast<abi::collective_op>(op), k_auto_algorithm,
                                                 abi::element_type::int32, abi::reduce_op::sum, size));
        if (bound)
            fmt::print("  {:<15} {:>12.3f} {:>16.3f}  {}\n", name_of(static_cast<abi::collective_op>(op)), bound->us,
                       static_cast<double>(size) / bound->us / 1e3, bound->resource);
        else
            fmt::print("  {:<15} {:>12} {:>16}  not known: nobody says what the links of a rank carry\n",
                       name_of(static_cast<abi::collective_op>(op)), "-", "-");
    }
}

/// What `auto` takes, from the smallest size to the largest.
void print_predictions(const platform& p)
{
    const abi::platform_table table = p.rank_table(0);
    const message_costs costs = p.costs();
    const std::uint64_t room = p.room().bytes;
    const std::vector<published_range> ranges = p.published_ranges(table);
    if (!ranges.empty())
        fmt::print("\nRanges in {}; `algorithms: [auto]` takes the first that covers the size and that can run.\n\n", ranges.front().source);
    std::string_view said = ranges.empty() ? "" : std::string_view(ranges.front().source);
    for (const published_range& r : ranges) {
        std::vector<std::string_view> of; // what it is for, unless it is for all
        for (unsigned op = 0; op < abi::k_collective_ops && r.operations != ~0u; ++op)
            if ((r.operations & abi::operations::of(static_cast<abi::collective_op>(op))) != 0)
                of.push_back(name_of(static_cast<abi::collective_op>(op)));
        fmt::print("  {:<20} from {}{}{}{}{}\n", name_of(r.algorithm), rounded_text(data_size(r.from_bytes)),
                   r.to_bytes == ~std::uint64_t{0} ? "" : " to " + rounded_text(data_size(r.to_bytes)),
                   of.empty() ? "" : fmt::format(", {}", fmt::join(of, ", ")),
                   r.gathers_by ? fmt::format(", its all-gather by {}", name_of(*r.gathers_by)) : "", r.source == said ? "" : fmt::format(" ({})", r.source));
        said = r.source;
    }
    fmt::print("\nPredicted, without queues at links (us); the first is what `algorithms: [auto]` takes{}{}.\n\n",
               ranges.empty() ? "" : " where no range is given", p.run().tuning.empty() ? "" : fmt::format(" where {} does not have the case", p.run().tuning));
    for (unsigned op = 0; op < abi::k_collective_ops; ++op)
        for (std::uint64_t size = 4; size <= 256ull << 20; size *= size == 4 ? 64 : 16) {
            collective_case c = make_case(static_cast<abi::collective_op>(op), k_auto_algorithm, abi::element_type::int32, abi::reduce_op::sum, size);
            c.chunk_bytes = k_default_chunk.value();
            std::string text;
            const std::uint64_t output_offset = output_offset_for(std::vector<std::uint64_t>{input_bytes_of(c)});
            for (const algorithm_prediction& one : predictions_on(p, table, costs, c)) {
                c.algo = one.algorithm;
                if (hbm_bytes_for(output_offset, c, table.ranks) > room)
                    continue; // auto passes it over
                text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", name_of(one.algorithm), one.us);
            }
            fmt::print("  {:<15} {:>8}  {}\n", name_of(c.op), to_string(data_size(size)), text.empty() ? "-" : text);
        }
}

std::vector<abi::collective_op> all_operations()
{
    std::vector<abi::collective_op> all;
    for (unsigned op = 0; op < abi::k_collective_ops; ++op)
        if (!abi::moves_tokens(static_cast<abi::collective_op>(op)))
            all.push_back(static_cast<abi::collective_op>(op));
    return all;
}

/// Small and large data by `auto`, as of --set.
std::string work_of_auto(const std::vector<abi::collective_op>& ops)
{
    std::string text;
    for (const abi::collective_op op : ops)
        text += fmt::format("{}{{op: {}, algorithms: [auto], sizes: [4 B, 64 KiB, 1 MiB, 16 MiB]}}", text.empty() ? "" : ", ", name_of(op));
    return "workload=[" + text + "]";
}

} // namespace

void add_list(CLI::App& app, int& exit_code)
{
    CLI::App* command = app.add_subcommand("list", "List platforms, collectives, algorithms, firmware and workloads");
    auto source = std::make_shared<platform_source>();
    CLI::Option* bounds = command->add_option("--bounds", source->file, "Print what the links and memories of this machine allow each collective")->type_name("FILE");
    command->add_option("--set", source->overrides, "With --bounds: change one value of the file; repeatable")
        ->type_name("KEY.PATH=VALUE")
        ->allow_extra_args(false)
        ->needs(bounds);
    command->callback([source, &exit_code] {
        if (!source->file.empty()) {
            const source_text file = source_text_of(*source);
            const loaded_platform loaded = read_platform_text(file.text, file.name, *source);
            print_to_stderr("{}", loaded.message());
            if (loaded.platform) {
                print_bounds(*loaded.platform);
                // Units that only some algorithms use are there when `auto` is asked for.
                loaded_platform with_auto;
                for (const std::vector<abi::collective_op>& ops : {all_operations(), {abi::collective_op::all_reduce}}) {
                    if (with_auto.platform)
                        break;
                    platform_source asked = *source;
                    asked.overrides.push_back(work_of_auto(ops));
                    asked.left_out.emplace_back("training_step");
                    with_auto = read_platform_text(file.text, file.name, asked);
                }
                print_predictions(with_auto.platform ? *with_auto.platform : *loaded.platform);
            } else {
                exit_code = 2;
            }
            return;
        }
        struct entry {
            const char* name;
            const char* summary;
        };
        const auto group = [](const char* title, const std::vector<entry>& entries) {
            std::size_t widest = 0;
            for (const entry& e : entries)
                widest = std::max(widest, std::string_view(e.name).size());
            fmt::print("{}\n", title);
            for (const entry& e : entries)
                fmt::print("  {:<{}}  {}\n", e.name, widest, e.summary);
        };
        const auto entries_of = [](const auto& catalog) {
            std::vector<entry> entries;
            for (const auto& e : catalog)
                entries.push_back({e.name, e.summary});
            return entries;
        };
        std::vector<entry> all;
        for (const platform_info* info : platforms())
            all.push_back({info->name, info->summary});
        group("platforms (key `platform`)", all);
        group("\ncollectives (key `workload.N.op`)", entries_of(firmware::k_collective_catalog));
        std::vector<std::string> texts;
        for (const abi::algorithm_row& a : abi::k_algorithm_rows)
            texts.push_back(fmt::format("{}; {}", a.summary, operations_of(a)));
        std::vector<entry> algorithms;
        for (std::size_t i = 0; i < texts.size(); ++i)
            algorithms.push_back({abi::k_algorithm_rows[i].name, texts[i].c_str()});
        group("\nalgorithms (key `workload.N.algorithms`)", algorithms);
        group("\nfirmware", entries_of(firmware::k_firmware));
        group(
            "\nworkloads",
            {{"collectives",
              "a list of collectives with sizes, types and algorithms, run one after the other and checked (key `workload`)"},
             {"training step",
              "compute, gradient groups, overlap and small exchanges: step time and communication share (key `training_step`)"}});
    });
}

} // namespace weft::cli
