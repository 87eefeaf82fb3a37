// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/tuning_table.h"

#include "platforms/config/config_reader.h"
#include "platforms/workload/digest.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace weft {

namespace {

constexpr std::size_t k_differences_told = 3;

/// Keys at the top of a file that change no time of a case.
const std::set<std::string> k_not_of_a_run = {"name", "workload", "training_step", "tuning"};
/// Keys that say how a run is made, not what it runs on.
const std::set<std::string> k_not_of_a_machine = {"seed", "data", "burst", "firmware_timeout", "time_limit", "cases"};

/// Of files by name: where they lie is no part of a machine.
using file_contents = std::map<std::string, std::string>;

/// Values without a word on whether anything uses them: that depends on the workload.
void collect(const config_field& f, const std::string& path, const file_contents& files,
             std::vector<std::string>& values)
{
    if (f.optional && !f.present)
        return;
    if (f.type != field_type::section && f.type != field_type::list) {
        const std::string text = value_text(f);
        const auto file = files.find(text);
        values.push_back(path + "=" + (f.type == field_type::text && file != files.end() ? file->second : text));
        return;
    }
    for (std::size_t i = 0; i < f.children.size(); ++i) {
        const config_field& child = f.children[i];
        collect(child, join_path(path, f.type == field_type::list ? std::to_string(i) : child.name), files, values);
    }
}

std::vector<std::string> values_of(const platform& p, const std::vector<const std::set<std::string>*>& without)
{
    file_contents files;
    for (const std::string& file : p.input_files())
        if (!file.empty() && file != p.run().tuning)
            files[file] = "content " + digest_of_file(file);
    std::vector<std::string> values;
    const config_field all = p.resolved();
    for (const config_field& child : all.children)
        if (std::none_of(without.begin(), without.end(),
                         [&](const auto* names) { return names->count(child.name) != 0; }))
            collect(child, child.name, files, values);
    return values;
}

std::string digest_of(const std::vector<std::string>& values)
{
    digest64 digest;
    for (const std::string& value : values) {
        digest.update_u64(value.size());
        digest.update(value.data(), value.size());
    }
    return fmt::format("{:016x}", digest.value());
}

std::string quoted(const std::string& text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool runs(const abi::algorithm algorithm, const abi::collective_op op)
{
    return algorithm != k_auto_algorithm &&
           (abi::k_algorithm_rows[static_cast<unsigned>(algorithm)].operations & abi::operations::of(op)) != 0;
}

std::string names_of_algorithms(abi::collective_op op)
{
    std::string text;
    for (unsigned a = 0; a < abi::k_algorithms; ++a)
        if (runs(static_cast<abi::algorithm>(a), op))
            text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(static_cast<abi::algorithm>(a)));
    return text;
}

} // namespace

bool same_cases(const tuned_cases& a, const tuned_cases& b)
{
    return a.op == b.op && a.type == b.type && (!reduces(a.op) || a.redop == b.redop) &&
           (!has_root(a.op) || a.root == b.root) && a.transposed == b.transposed && a.chunk == b.chunk &&
           a.groups == b.groups &&
           (!abi::moves_tokens(a.op) || (a.token == b.token && a.experts_per_token == b.experts_per_token && a.expert_skew == b.expert_skew));
}

std::vector<config_problem> tuned_range::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    if (from.value() != 0 && to.value() != 0 && to < from)
        p.push_back({severity::error, "to", fmt::format("is {}, below from ({}).", to_string(to), to_string(from))});
    return p;
}

std::vector<config_problem> tuned_cases::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    if (ranges.empty())
        p.push_back(
            {severity::error, "ranges",
             "is missing or empty, so the table chooses nothing; write for example \"ranges: [{from: 4 B, to: 64 MiB, algorithm: ring_1d}]\"."});
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::string key = fmt::format("ranges.{}", i);
        if (!runs(ranges[i].algorithm, op))
            p.push_back({severity::error, key + ".algorithm",
                         ranges[i].algorithm == k_auto_algorithm
                             ? fmt::format("is missing or auto; a table names what it chooses for {}: {}.", name_of(op),
                                           names_of_algorithms(op))
                             : fmt::format("is {}, which does not run {}; write one of: {}.",
                                           name_of(ranges[i].algorithm), name_of(op), names_of_algorithms(op))});
        if (i > 0 && ranges[i].from <= ranges[i - 1].to)
            p.push_back(
                {severity::error, key + ".from",
                 fmt::format(
                     "is {}, but the range before it goes to {}; ranges go from small to large and have no size in common.",
                     to_string(ranges[i].from), to_string(ranges[i - 1].to))});
    }
    return p;
}

bool tuned_cases::has(const collective_case& c) const
{
    // What is written without a chunk was measured with that of each algorithm.
    if (c.chunk_is_asked && chunk == k_default_chunk)
        return false;
    // A size below that of a token is one token.
    if (make_case(c.op, c.algo, c.type, c.redop, c.size_bytes, token.value()).token_bytes != c.token_bytes)
        return false;
    return c.ranks_per_group == 0 && same_cases(*this, {c.op, c.type, c.redop, c.root, c.transposed, data_size(c.chunk_bytes), c.groups, token,
                                                        c.experts_per_token, c.expert_skew, {}});
}

std::vector<config_problem> tuning_table::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    if (format != k_format)
        p.push_back({severity::error, "format",
                     format == 0
                         ? fmt::format("is missing, so this is no table of `weft tune`; begin it with \"format: {}\".",
                                       k_format)
                         : fmt::format("is {}, and this weft reads format {}; make the table anew with `weft tune`.",
                                       format, k_format)});
    if (tables.empty())
        p.push_back({severity::error, "tables",
                     "is missing or empty, so there is nothing to choose from; make the table with `weft tune`."});
    for (std::size_t i = 0; i < tables.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (same_cases(tables[i], tables[k])) {
                p.push_back(
                    {severity::error, fmt::format("tables.{}", i),
                     fmt::format(
                         "has the same cases as tables.{}: {} of {}; one of them would never be asked. Remove one.", k,
                         name_of(tables[i].op), name_of(tables[i].type))});
                break;
            }
    return p;
}

std::optional<abi::algorithm> tuning_table::fastest(const collective_case& c) const
{
    for (const tuned_cases& t : tables)
        if (t.has(c))
            for (const tuned_range& r : t.ranges)
                if (c.size_bytes >= r.from.value() && c.size_bytes <= r.to.value())
                    return r.algorithm;
    return std::nullopt;
}

tuning_table read_tuning_table(const std::string& file)
{
    return read_config_or_throw<tuning_table>(yaml_document::load(file));
}

std::string to_text(const tuning_table& table, const std::string& made_by)
{
    std::string text = "# " + made_by + "\n";
    // One line of a comment.
    std::replace_if(text.begin(), text.end() - 1, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    text +=
        "# A platform file loads it with the key `tuning`; entries of the workload with `algorithms: [auto]` follow it. Sizes between\n"
        "# measured ones are divided where the lines between measured times cross, on logarithmic scales.\n";
    text += fmt::format("format: {}\nmachine:\n  digest: {}\n  values:\n", table.format, quoted(table.machine.digest));
    for (const std::string& value : table.machine.values)
        text += fmt::format("    - {}\n", quoted(value));
    text += "tables:\n";
    for (const tuned_cases& t : table.tables) {
        text += fmt::format("  - op: {}\n    type: {}\n", name_of(t.op), name_of(t.type));
        if (reduces(t.op))
            text += fmt::format("    redop: {}\n", name_of(t.redop));
        if (has_root(t.op))
            text += fmt::format("    root: {}\n", t.root);
        if (t.transposed)
            text += "    transposed: true\n";
        if (t.chunk != tuned_cases().chunk)
            text += fmt::format("    chunk: {}\n", to_string(t.chunk));
        if (!t.groups.empty()) {
            text += "    groups:\n";
            for (const std::string& group : t.groups)
                text += fmt::format("      - {}\n", quoted(group));
        }
        if (abi::moves_tokens(t.op))
            text += fmt::format("    token: {}\n    experts_per_token: {}\n    expert_skew: {}\n", to_string(t.token), t.experts_per_token,
                                t.expert_skew);
        text += "    ranges:\n";
        for (const tuned_range& r : t.ranges)
            text += fmt::format("      - {{from: {}, to: {}, algorithm: {}}}\n", to_string(r.from), to_string(r.to),
                                name_of(r.algorithm));
    }
    return text;
}

tuned_machine machine_of(const platform& p)
{
    tuned_machine machine;
    machine.values = values_of(p, {&k_not_of_a_run, &k_not_of_a_machine});
    machine.digest = digest_of(machine.values);
    return machine;
}

std::string digest_of_run(const platform& p) { return digest_of(values_of(p, {&k_not_of_a_run})); }

std::string difference_of(const tuned_machine& there, const tuned_machine& here)
{
    if (there.digest == here.digest)
        return "";
    const auto split = [](const std::vector<std::string>& values) {
        std::map<std::string, std::string> all;
        for (const std::string& v : values)
            all[v.substr(0, v.find('='))] = v.find('=') == std::string::npos ? "" : v.substr(v.find('=') + 1);
        return all;
    };
    const auto of_there = split(there.values);
    const auto of_here = split(here.values);
    std::vector<std::string> different;
    const auto text = [](const std::map<std::string, std::string>& all, const std::string& key) {
        const auto found = all.find(key);
        return found == all.end() ? "not there" : found->second.empty() ? "empty" : found->second;
    };
    const auto compare = [&](const std::vector<std::string>& values, bool only_new) {
        for (const std::string& v : values) {
            const std::string key = v.substr(0, v.find('='));
            const auto a = of_there.find(key), b = of_here.find(key);
            if (only_new ? a == of_there.end() : b == of_here.end() || a->second != b->second)
                different.push_back(
                    fmt::format("{} is {} here and was {} there", key, text(of_here, key), text(of_there, key)));
        }
    };
    compare(there.values, false);
    compare(here.values, true);
    if (different.empty() || there.values.empty())
        return fmt::format("its digest is {}, that of this machine {}", there.digest.empty() ? "missing" : there.digest,
                           here.digest);
    std::string all;
    for (std::size_t i = 0; i < different.size() && i < k_differences_told; ++i)
        all += (i == 0 ? "" : ", ") + different[i];
    const std::size_t more = different.size() - std::min(different.size(), k_differences_told);
    return more == 0
               ? all
               : all + fmt::format(", and {} more value{} differ{}", more, more == 1 ? "" : "s", more == 1 ? "s" : "");
}

} // namespace weft
