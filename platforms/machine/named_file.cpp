// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/named_file.h"

#include "platforms/config/config_reader.h"

#include <fmt/format.h>

namespace weft {

void check_named_file(const std::string& file)
{
    if (const std::string why = why_unreadable(file); !why.empty())
        throw user_error(why);
}

void add_problems_of_file(const yaml_document& document, std::vector<problem>& problems, const std::string& key,
                          const user_error& found)
{
    for (const problem& p : found.problems())
        if (p.where.file.empty())
            add_problem(document, problems, key, p.message);
        else
            problems.push_back(p);
}

std::optional<tuning_table> find_tuning(const yaml_document& document, std::vector<problem>& problems,
                                        const run_config& run)
{
    if (run.tuning.empty())
        return std::nullopt;
    try {
        check_named_file(run.tuning);
        return read_tuning_table(run.tuning);
    } catch (const user_error& e) {
        add_problems_of_file(document, problems, "tuning", e);
        return std::nullopt;
    }
}

void compare_machines(const yaml_document& document, std::vector<problem>& problems, const tuning_table& table,
                      const platform& made)
{
    const std::string difference = difference_of(table.machine, machine_of(made));
    if (difference.empty())
        return;
    add_problem(
        document, problems, "tuning",
        fmt::format(
            "is a table for another machine: {}. What it chooses may be slow here; `weft tune` makes a table for this machine.",
            difference),
        severity::warning);
    sort_problems(document, problems);
}

} // namespace weft
