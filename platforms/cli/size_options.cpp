// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/size_options.h"

#include "platforms/cli/cli.h"

#include <fmt/format.h>

namespace weft::cli {

namespace {
/// nccl-tests writes "64M" for 64 MiB, and "64" for 64 B.
std::string size_text(const std::string& text)
{
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == std::string::npos && !text.empty())
        return text + " B";
    if (digits + 1 == text.size() && digits > 0)
        for (const char* unit : {"K", "M", "G"})
            if (text.back() == *unit || text.back() == *unit - 'A' + 'a')
                return fmt::format("{} {}iB", text.substr(0, digits), unit);
    return text;
}
} // namespace

std::vector<std::string> size_options::overrides() const
{
    std::vector<std::string> all;
    if (!least.empty()) {
        const std::string step = factor ? fmt::format(", factor: {}", *factor) : "";
        all = {"workload.*.sizes=[]", fmt::format("workload.*.range={{from: {}, to: {}{}}}", size_text(least),
                                                  size_text(most.empty() ? least : most), step)};
    }
    if (repeats)
        all.push_back(fmt::format("workload.*.repeats={}", *repeats));
    return all;
}

void add_size_options(CLI::App& command, size_options& sizes)
{
    CLI::Option* const least = command
                                   .add_option("-b,--minbytes", sizes.least,
                                               "Size of every collective, in place of the file's sizes: 1M, \"1 MiB\"")
                                   ->type_name("SIZE");
    CLI::Option* const most =
        command.add_option("-e,--maxbytes", sizes.most, "Sizes from -b to this")->type_name("SIZE")->needs(least);
    add_number(command, "-f,--stepfactor", sizes.factor, "Each size is N times the one before", "factor", 2, 1 << 20)
        ->needs(most);
    add_number(command, "-n,--iters", sizes.repeats, "Run every case N times, and tell mean and spread",
               "number of runs", 1, 10'000);
}

} // namespace weft::cli
