// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/main.h"
#include "platforms/cli/cli.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace weft::cli {

void add_list(CLI::App& app, int& exit_code)
{
    (void)exit_code;
    CLI::App* command = app.add_subcommand("list", "List platforms, collectives, algorithms, firmware and workloads");
    command->callback([] {
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
