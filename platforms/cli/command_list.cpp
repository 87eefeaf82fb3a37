// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/main.h"
#include "platforms/cli/cli.h"

#include <fmt/format.h>

namespace weft::cli {

void add_list(CLI::App& app, int& exit_code)
{
    (void)exit_code;
    CLI::App* command = app.add_subcommand("list", "List platforms, collectives, algorithms, firmware and workloads");
    command->callback([] {
        const auto line = [](const char* name, const char* summary) { fmt::print("  {:<16}{}\n", name, summary); };
        fmt::print("platforms (key `platform`)\n");
        for (const platform_info* info : platforms())
            line(info->name, info->summary);
        fmt::print("\ncollectives (key `workload.N.op`)\n");
        for (const auto& entry : firmware::k_collective_catalog)
            line(entry.name, entry.summary);
        fmt::print("\nalgorithms (key `workload.N.algorithms`)\n");
        for (const auto& entry : firmware::k_algorithm_catalog)
            line(entry.name, entry.summary);
        fmt::print("\nfirmware\n");
        for (const auto& entry : firmware::k_firmware)
            line(entry.name, entry.summary);
        fmt::print("\nworkloads\n");
        line(
            "collectives",
            "a list of collectives with sizes, types and algorithms, run one after the other and checked (key `workload`)");
        line(
            "training step",
            "compute, gradient groups, overlap and small exchanges: step time and communication share (key `training_step`)");
    });
}

} // namespace weft::cli
