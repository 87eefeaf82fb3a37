// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/results_csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft {

std::string csv_field(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string csv_number(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; }

const std::vector<std::string>& csv_result_headings()
{
    static const std::vector<std::string> headings{"op",           "algorithm",   "group",     "type",
                                                   "redop",        "size (B)",    "time (us)", "algbw (GB/s)",
                                                   "busbw (GB/s)", "bound share", "bound by",  "wrong",
                                                   "limited by",   "repeats",     "min (us)",  "max (us)",
                                                   "deviation (us)", "token (B)", "experts per token", "expert skew",
                                                   "chosen by"};
    return headings;
}

std::vector<std::string> csv_result(const stored_row& row)
{
    std::vector<std::string> fields;
    for (const std::string& text : {row.op, row.algorithm, row.group, row.type, row.redop})
        fields.push_back(csv_field(text));
    fields.push_back(row.size_bytes ? std::to_string(*row.size_bytes) : "");
    fields.push_back(fmt::format("{}", row.time_us));
    for (const std::optional<double>& figure : {row.algbw_GBps, row.busbw_GBps, row.bound_share})
        fields.push_back(csv_number(figure));
    fields.push_back(csv_field(row.bound_by));
    fields.push_back(row.wrong ? std::to_string(*row.wrong) : "");
    fields.push_back(csv_field(row.limited_by));
    fields.push_back(row.repeats ? std::to_string(*row.repeats) : "");
    for (const std::optional<double>& figure : {row.least_us, row.most_us, row.deviation_us})
        fields.push_back(csv_number(figure));
    for (const std::optional<std::uint64_t>& count : {row.token_bytes, row.experts_per_token})
        fields.push_back(count ? std::to_string(*count) : "");
    fields.push_back(csv_number(row.expert_skew));
    fields.push_back(csv_field(row.chosen_by));
    return fields;
}

std::string to_csv(const stored_results& results)
{
    std::string out = fmt::format("{}\n", fmt::join(csv_result_headings(), ","));
    for (const stored_row& row : results.rows)
        out += fmt::format("{}\n", fmt::join(csv_result(row), ","));
    return out;
}

} // namespace weft
