// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/cli.h"

#include <fmt/format.h>

namespace weft::cli {

void add_check(CLI::App& app, int& exit_code)
{
    auto source = std::make_shared<platform_source>();
    auto resolved = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("check", "Validate a platform file and describe it; builds and writes nothing");
    add_platform_options(*command, *source);
    command->add_flag("--resolved", *resolved, "Print the whole configuration with every default, its meaning and its source, as YAML");
    command->callback([source, resolved, &exit_code] {
        const loaded_platform loaded = load(*source);
        if (!loaded.platform) {
            exit_code = 2;
            return;
        }
        if (*resolved) {
            fmt::print("{}", to_yaml(loaded.platform->resolved()));
            return;
        }
        const run_config& run = loaded.platform->run();
        fmt::print("{}: sound\n\n{}\n", source->file, loaded.platform->description());
        fmt::print("data: {}, burst: {} packets, seed: {}\n", name_of(run.data), run.burst.value(), run.seed);
        std::size_t cases = 0;
        for (const collective_spec& spec : run.workload) {
            const std::vector<std::uint64_t> sizes = spec.all_sizes();
            std::string how;
            for (const abi::algorithm a : spec.all_algorithms())
                how += fmt::format("{}{}", how.empty() ? "" : ", ", name_of(a));
            cases += spec.cases().size();
            fmt::print("  {} by {}: {} sizes, {} to {}, {} cases\n", name_of(spec.op), how, sizes.size(),
                       to_string(data_size(*std::min_element(sizes.begin(), sizes.end()))),
                       to_string(data_size(*std::max_element(sizes.begin(), sizes.end()))), spec.cases().size());
        }
        fmt::print("{} cases in all\n", cases);
    });
}

} // namespace weft::cli
