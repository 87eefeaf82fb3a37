// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/size_options.h"

#include "platforms/cli/cli.h"
#include "tlm/units.h"

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

parsed_quantity size_of(const std::string& text) { return parse_quantity(quantity_kind::data_size, size_text(text)); }

CLI::Validator is_size()
{
    return {[](const std::string& text) { return size_of(text).error; }, "", "size"};
}

/// Behind it, so that both are known.
CLI::Validator is_no_less_than(const std::string& least)
{
    return {[&least](const std::string& text) {
                const parsed_quantity from = size_of(least), to = size_of(text);
                return !from.ok || !to.ok || to.value >= from.value
                           ? std::string()
                           : fmt::format("{} is less than --minbytes {}; give the larger one here", text, least);
            },
            "", "order"};
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

std::string size_options::option_of(const std::string& key_path) const
{
    if (key_path.rfind("workload.", 0) != 0)
        return "";
    const std::size_t dot = key_path.find('.', 9);
    const std::string key = dot == std::string::npos ? "" : key_path.substr(dot + 1);
    if (key == "repeats")
        return repeats ? "-n" : "";
    if (least.empty() || (key != "sizes" && key.rfind("range", 0) != 0))
        return "";
    return key == "range.to" && !most.empty() ? "-e" : key == "range.factor" ? "-f" : "-b";
}

void add_size_options(CLI::App& command, size_options& sizes)
{
    CLI::Option* const least = command
                                   .add_option("-b,--minbytes", sizes.least,
                                               "Size of every collective, in place of the file's sizes: 1M, \"1 MiB\"")
                                   ->type_name("SIZE")
                                   ->check(is_size());
    CLI::Option* const most = command.add_option("-e,--maxbytes", sizes.most, "Sizes from -b to this")
                                  ->type_name("SIZE")
                                  ->needs(least)
                                  ->check(is_size())
                                  ->check(is_no_less_than(sizes.least));
    add_number(command, "-f,--stepfactor", sizes.factor, "Each size is N times the one before", "factor", 2, 1 << 20)
        ->needs(most);
    add_number(command, "-n,--iters", sizes.repeats, "Run every case N times, and tell mean and spread",
               "number of runs", 1, 10'000);
}

} // namespace weft::cli
