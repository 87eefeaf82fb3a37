// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/seeds.h"

#include <string_view>
#include <variant>

namespace weft::cli {

namespace {

bool is_seed(std::string_view name)
{
    constexpr std::string_view k_end = "_seed";
    return name == "seed" || (name.size() > k_end.size() && name.substr(name.size() - k_end.size()) == k_end);
}

void add_seeds(const config_field& section, const std::string& path, std::vector<std::pair<std::string, std::uint64_t>>& all)
{
    for (const config_field& f : section.children) {
        const std::string key = path.empty() ? f.name : path + "." + f.name;
        if (f.type == field_type::section)
            add_seeds(f, key, all);
        else if (const auto* const value = std::get_if<std::uint64_t>(&f.value); is_seed(f.name) && !f.unused && value != nullptr)
            all.emplace_back(key, *value);
    }
}

} // namespace

std::vector<std::pair<std::string, std::uint64_t>> seeds_in_use(const config_field& resolved)
{
    std::vector<std::pair<std::string, std::uint64_t>> all;
    add_seeds(resolved, "", all);
    return all;
}

} // namespace weft::cli
