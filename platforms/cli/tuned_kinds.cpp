// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/tuned_kinds.h"

#include "platforms/cli/point_runs.h"
#include "platforms/config/config_reader.h"
#include "platforms/config/suggest.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace weft::cli {

namespace {
/// A value of an enum by its name on the command line.
template <class E> E named(const char* option, const std::string& name)
{
    std::vector<std::string> names;
    for (const auto& [value, text] : enum_names<E>::values)
        if (std::string_view(text) != name_of(k_auto_algorithm))
            names.emplace_back(text);
    if (const auto value = value_of<E>(name); value && std::find(names.begin(), names.end(), name) != names.end())
        return *value;
    throw user_error(fmt::format("{}: {} cannot be measured; {}", option, in_quotes(name), suggestion(name, names)));
}
} // namespace

std::string tuned_kind::entry_keys() const
{
    std::string keys = fmt::format("types: [{}]", name_of(cases.type));
    if (reduces(cases.op))
        keys += fmt::format(", redops: [{}]", name_of(cases.redop));
    if (has_root(cases.op) && cases.root != 0)
        keys += fmt::format(", root: {}", cases.root);
    if (cases.transposed)
        keys += ", transposed: true";
    if (cases.chunk != tuned_cases().chunk)
        keys += fmt::format(", chunk: {}", to_string(cases.chunk));
    if (!cases.groups.empty())
        keys += ", groups: " +
                nlohmann::json(cases.groups).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (repeats > 1)
        keys += fmt::format(", repeats: {}, start_skew: {}", repeats, to_string(start_skew));
    if (asks_token)
        keys += fmt::format(", token: {}", to_string(cases.token));
    if (asks_experts)
        keys += fmt::format(", experts_per_token: {}", cases.experts_per_token);
    if (abi::moves_tokens(cases.op) && cases.expert_skew > 0)
        keys += fmt::format(", expert_skew: {}", cases.expert_skew);
    return keys;
}

std::string tuned_kind::how() const
{
    std::vector<std::string> all;
    if (has_root(cases.op) && cases.root != 0)
        all.push_back(fmt::format("root {}", cases.root));
    if (cases.transposed)
        all.emplace_back("transposed");
    if (cases.chunk != tuned_cases().chunk)
        all.push_back(fmt::format("chunks of {}", to_string(cases.chunk)));
    if (repeats > 1)
        all.push_back(fmt::format("means of {}", repeats));
    if (!cases.groups.empty())
        all.push_back(fmt::format("groups {}", fmt::join(cases.groups, "; ")));
    if (abi::moves_tokens(cases.op))
        all.push_back(fmt::format("tokens of {} to {} ranks{}", to_string(cases.token), cases.experts_per_token,
                                  cases.expert_skew > 0 ? fmt::format(", skew {}", cases.expert_skew) : ""));
    return fmt::format("{}", fmt::join(all, ", "));
}

collective_case tuned_kind::case_of(std::uint64_t bytes) const
{
    collective_case c = make_case(cases.op, k_auto_algorithm, cases.type, cases.redop, bytes, cases.token.value());
    c.experts_per_token = cases.experts_per_token;
    c.expert_skew = cases.expert_skew;
    c.root = cases.root;
    c.transposed = cases.transposed;
    c.chunk_bytes = cases.chunk.value();
    c.chunk_is_asked = cases.chunk != k_default_chunk;
    c.groups = cases.groups;
    return c;
}

std::string tuned_kind::workload(const std::vector<abi::algorithm>& by, std::uint64_t bytes) const
{
    std::vector<std::pair<std::string, std::string>> collectives;
    for (const abi::algorithm a : by)
        collectives.emplace_back(name_of(cases.op), name_of(a));
    return workload_text(collectives, {to_string(data_size(bytes))}, entry_keys());
}

std::vector<collective_spec> entries_of(const yaml_document& document)
{
    std::vector<collective_spec> entries;
    std::vector<problem> problems;
    config_reading in(document, problems);
    if (const yaml_node* node = document.find("workload"))
        config_detail::read_value(in, *node, "workload", entries);
    config_detail::validate_value(in, "workload", entries);
    throw_if_errors(problems);
    return entries;
}

std::vector<tuned_kind> kinds_of(const tuned_names& asked, const std::vector<collective_spec>& entries)
{
    std::vector<abi::collective_op> ops;
    const auto add_op = [&](abi::collective_op op) {
        if (std::find(ops.begin(), ops.end(), op) == ops.end())
            ops.push_back(op);
    };
    for (const std::string& name : asked.ops)
        add_op(named<abi::collective_op>("--op", name));
    if (ops.empty())
        for (const collective_spec& entry : entries)
            add_op(entry.op);
    if (ops.empty())
        add_op(abi::collective_op::all_reduce);
    std::vector<tuned_kind> kinds;
    for (const abi::collective_op op : ops) {
        std::vector<collective_spec> of_op;
        for (const collective_spec& entry : entries)
            if (entry.op == op)
                of_op.push_back(entry);
        if (of_op.empty()) {
            of_op.emplace_back();
            of_op.back().op = op;
        }
        for (const collective_spec& entry : of_op)
            for (const abi::element_type type : entry.types)
                for (const abi::reduce_op redop :
                     reduces(op) ? entry.redops : std::vector<abi::reduce_op>{abi::reduce_op::none}) {
                    tuned_kind kind;
                    kind.cases = {op,
                                  type,
                                  redop,
                                  has_root(op) ? entry.root : 0,
                                  entry.transposed,
                                  entry.chunk.value_or(k_default_chunk),
                                  entry.groups,
                                  entry.token.value_or(k_default_token),
                                  entry.experts_per_token.value_or(k_default_experts),
                                  entry.expert_skew,
                                  {}};
                    kind.asks_token = abi::moves_tokens(op) && entry.token.has_value();
                    kind.repeats = asked.repeats.value_or(entry.repeats);
                    kind.start_skew = entry.start_skew;
                    kind.asks_experts = abi::moves_tokens(op) && entry.experts_per_token.has_value();
                    if (std::none_of(kinds.begin(), kinds.end(),
                                     [&](const tuned_kind& k) { return same_cases(k.cases, kind.cases); }))
                        kinds.push_back(std::move(kind));
                }
    }
    return kinds;
}

void find_algorithms(const tuned_names& names, const tuned_source& source, std::uint64_t smallest, std::vector<tuned_kind>& kinds)
{
    std::vector<abi::algorithm> asked;
    for (const std::string& name : names.algorithms)
        if (const abi::algorithm a = named<abi::algorithm>("--algorithms", name);
            std::find(asked.begin(), asked.end(), a) == asked.end())
            asked.push_back(a);
    std::sort(asked.begin(), asked.end()); // columns and ties go by the catalogue
    std::set<abi::algorithm> used;
    std::vector<std::string> reasons;
    for (tuned_kind& kind : kinds) {
        const std::uint64_t least = kind.least_bytes();
        if (smallest < least)
            throw user_error(fmt::format("--sizes: {} B is less than one {} ({} B); begin with {} B.", smallest,
                                         kind.asks_token ? "token" : name_of(kind.cases.type), least, least));
        std::vector<std::pair<std::string, std::string>> candidates;
        std::vector<abi::algorithm> algorithms;
        for (const auto& [algorithm, name] : enum_names<abi::algorithm>::values)
            if (algorithm != k_auto_algorithm &&
                (asked.empty() || std::find(asked.begin(), asked.end(), algorithm) != asked.end())) {
                candidates.emplace_back(name_of(kind.cases.op), name);
                algorithms.push_back(algorithm);
            }
        const std::vector<std::string> refusals =
            refusals_of([&](const std::string& workload) { return source.read(workload); }, candidates,
                        to_string(data_size(kind.least_bytes())), kind.entry_keys(), source.name);
        std::string why;
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (refusals[i].empty()) {
                kind.algorithms.push_back(algorithms[i]);
                used.insert(algorithms[i]);
            } else {
                why += fmt::format("\n  {}: {}", candidates[i].second, refusals[i]);
            }
        reasons.push_back(why);
        if (kind.algorithms.empty())
            throw user_error(fmt::format("{}: no algorithm runs {} here, so there is nothing to compare:{}",
                                         source.name, name_of(kind.cases.op), why));
    }
    for (const abi::algorithm a : asked)
        if (used.count(a) == 0)
            throw user_error(fmt::format("--algorithms: {} runs nothing of what is asked for here:{}", name_of(a),
                                         fmt::join(reasons, "")));
}

loaded_platform machine_for(const tuned_source& source, const std::vector<tuned_kind>& kinds)
{
    std::string all;
    for (const tuned_kind& kind : kinds) {
        const std::string entry = kind.workload(kind.algorithms, kind.least_bytes());
        all += (all.empty() ? "" : ", ") + entry.substr(1, entry.size() - 2);
    }
    loaded_platform loaded = source.read("[" + all + "]");
    if (loaded.platform)
        return loaded;
    std::optional<loaded_platform> first; // some algorithms exclude each other
    for (const tuned_kind& kind : kinds)
        for (const abi::algorithm a : kind.algorithms) {
            loaded_platform one = source.read(kind.workload({a}, kind.least_bytes()));
            if (!first) {
                first.emplace(std::move(one));
                continue;
            }
            std::vector<problem>& kept = first->problems;
            const auto is_not_told = [&](const problem& p) {
                return p.level != severity::error &&
                       std::none_of(one.problems.begin(), one.problems.end(),
                                    [&](const problem& o) { return to_string(o) == to_string(p); });
            };
            kept.erase(std::remove_if(kept.begin(), kept.end(), is_not_told), kept.end());
        }
    return std::move(*first);
}

} // namespace weft::cli
