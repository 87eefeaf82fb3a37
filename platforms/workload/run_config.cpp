// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/run_config.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

std::string operations_of(const abi::algorithm_row& algorithm)
{
    std::string text;
    for (const auto& [op, name] : enum_names<abi::collective_op>::values)
        if ((algorithm.operations & abi::operations::of(op)) != 0)
            text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
    return text;
}

namespace {
void need(std::vector<config_problem>& p, bool ok, std::string key, std::string text)
{
    if (!ok)
        p.push_back({severity::error, std::move(key), std::move(text)});
}
bool has_any(const collective_spec& spec, bool (*is)(abi::algorithm))
{
    const std::vector<abi::algorithm> all = spec.taken_algorithms();
    return std::any_of(all.begin(), all.end(), is);
}
/// Each once.
void add_taken(std::vector<abi::algorithm>& all, const algorithm_choices& choices)
{
    for (const collective_case& c : choices.found())
        if (std::find(all.begin(), all.end(), c.algo) == all.end())
            all.push_back(c.algo);
}
} // namespace

std::vector<config_problem> size_range::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    need(p, to >= from, "to", fmt::format("is {}, below from ({}).", to_string(to), to_string(from)));
    return p;
}

std::vector<config_problem> collective_spec::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    need(
        p, !sizes.empty() || range.has_value(), "sizes",
        "is missing or empty, so there is nothing to run; write \"sizes: [4 B, 1 MiB]\" or \"range: {from: 4 B, to: 64 MiB, factor: 4}\".");
    need(p, !types.empty(), "types", "is empty; write for example \"types: [int32]\".");
    need(p, !redops.empty() || !reduces(op), "redops", "is empty; write for example \"redops: [sum]\".");
    for (std::size_t i = 0; i < redops.size(); ++i)
        need(p, redops[i] != abi::reduce_op::none, fmt::format("redops.{}", i),
             "is none, which reduces nothing; write sum, max or min.");
    const auto largest_type =
        std::max_element(types.begin(), types.end(), [](abi::element_type a, abi::element_type b) {
            return abi::element_bytes(a) < abi::element_bytes(b);
        });
    if (largest_type == types.end())
        return p;
    const std::uint64_t element = abi::element_bytes(*largest_type);
    need(p, chunk_bytes() == 0 || chunk_bytes() >= element, "chunk",
         fmt::format("is {}, less than one {} ({} B); the firmware moves whole elements.",
                     to_string(data_size(chunk_bytes())), name_of(*largest_type), element));
    const auto too_small = [&](data_size s, const std::string& key) {
        need(p, s.value() == 0 || s.value() >= element, key,
             fmt::format("is {}, less than one {} ({} B).", to_string(s), name_of(*largest_type), element));
    };
    for (std::size_t i = 0; i < sizes.size(); ++i)
        too_small(sizes[i], fmt::format("sizes.{}", i));
    if (range)
        too_small(range->from, "range.from");
    for (const std::uint64_t bytes : abi::moves_tokens(op) ? all_sizes() : std::vector<std::uint64_t>())
        if (bytes / std::max<std::uint64_t>(1, token.value_or(k_default_token).value()) > k_most_tokens) {
            need(p, false, sizes.empty() ? "range.to" : "sizes",
                 fmt::format("has {}, which are more than {} tokens of {}.", to_string(data_size(bytes)), k_most_tokens,
                             to_string(token.value_or(k_default_token))));
            break;
        }
    if (abi::moves_tokens(op) && token && token->value() != 0) {
        too_small(*token, "token");
        need(p, token->value() < element || token->value() % element == 0, "token",
             fmt::format("is {}, no whole number of elements of {} ({} B).", to_string(*token), name_of(*largest_type), element));
        for (const std::uint64_t bytes : all_sizes())
            if (bytes < token->value() && bytes >= element) {
                need(p, false, "token", fmt::format("is {}, more than the size of {}, which holds no token then; write larger sizes or a smaller token.", to_string(*token),
                                            to_string(data_size(bytes))));
                break;
            }
    }
    return p;
}

std::vector<key_rule<collective_spec>> collective_spec::key_rules()
{
    using spec = collective_spec;
    return {
        {"root", "for broadcast and reduce", [](const spec& s) { return has_root(s.op); }},
        {"redops", "where something is reduced", [](const spec& s) { return reduces(s.op); }},
        {"chunk",
         "for algorithms in chunks: not all_to_all, dispatch and combine, which send each block whole, and not switchml or those of CCUs",
         [](const spec& s) {
             return s.op != abi::collective_op::all_to_all && !abi::moves_tokens(s.op) &&
                    has_any(s, abi::by_dma);
         }},
        {"transposed", "with ring_1d, row_pair, row_pair_forward and mesh_tree",
         [](const spec& s) { return has_any(s, abi::follows_rows); }},
        {"token", "for dispatch and combine", [](const spec& s) { return abi::moves_tokens(s.op); }},
        {"experts_per_token", "for dispatch and combine", [](const spec& s) { return abi::moves_tokens(s.op); }},
        {"expert_skew", "for dispatch and combine", [](const spec& s) { return abi::moves_tokens(s.op); }},
        {"start_skew", "with repeats above 1", [](const spec& s) { return s.repeats > 1; }},
    };
}

bool runs_any(const run_config& run, bool (*is)(abi::algorithm))
{
    for (const collective_spec& spec : run.workload)
        if (has_any(spec, is))
            return true;
    if (!run.training_step)
        return false;
    std::vector<abi::algorithm> of_step;
    add_taken(of_step, run.training_step->choices);
    if (of_step.empty())
        of_step.push_back(run.training_step->by());
    for (const step_exchange& e : run.training_step->exchanges)
        if (e.ranks_per_group)
            of_step.push_back(abi::algorithm::ring_1d); // the only one for groups
    return std::any_of(of_step.begin(), of_step.end(), is);
}

bool starts_at_random(const run_config& run)
{
    return std::any_of(run.workload.begin(), run.workload.end(),
                       [](const collective_spec& s) { return s.repeats > 1 && s.start_skew.value() > 0; });
}

bool draws_tokens(const run_config& run)
{
    return std::any_of(run.workload.begin(), run.workload.end(), [](const collective_spec& s) { return abi::moves_tokens(s.op); });
}

bool uses_auto(const run_config& run)
{
    const auto has_auto = [](const collective_spec& spec) {
        return std::find(spec.algorithms.begin(), spec.algorithms.end(), k_auto_algorithm) != spec.algorithms.end();
    };
    return std::any_of(run.workload.begin(), run.workload.end(), has_auto) ||
           (run.training_step && run.training_step->algorithm == k_auto_algorithm);
}

bool may_run(const run_config& run, bool (*is)(abi::algorithm)) { return uses_auto(run) || runs_any(run, is); }

bool is_sound(const collective_spec& spec)
{
    return no_errors(spec.validate()) && (!spec.range || no_errors(spec.range->validate()));
}

std::vector<std::uint64_t> collective_spec::all_sizes() const
{
    std::vector<std::uint64_t> all;
    for (const data_size s : sizes)
        all.push_back(s.value());
    if (range && range->from.value() > 0 && range->factor >= 2) {
        std::uint64_t s = range->from.value();
        for (; s < range->to.value(); s *= range->factor) {
            all.push_back(s);
            if (s > k_largest_size.value())
                return all;
        }
        if (range->to >= range->from)
            all.push_back(range->to.value());
    }
    return all;
}

std::vector<abi::algorithm> collective_spec::all_algorithms() const
{
    return !algorithms.empty() ? algorithms : std::vector{default_algorithm()};
}

std::vector<abi::algorithm> collective_spec::taken_algorithms() const
{
    std::vector<abi::algorithm> all = all_algorithms();
    const auto at = std::find(all.begin(), all.end(), k_auto_algorithm);
    if (at == all.end() || choices.found().empty())
        return all;
    all.erase(at);
    add_taken(all, choices);
    return all;
}

abi::algorithm collective_spec::default_algorithm() const
{
    switch (op) {
    case abi::collective_op::broadcast:
    case abi::collective_op::reduce: return abi::algorithm::mesh_tree;
    case abi::collective_op::all_to_all:
    case abi::collective_op::dispatch:
    case abi::collective_op::combine: return abi::algorithm::direct;
    default: return abi::algorithm::ring_1d;
    }
}

std::vector<collective_case> collective_spec::cases() const
{
    std::vector<collective_case> all;
    const std::vector<abi::reduce_op> reductions =
        reduces(op) ? redops : std::vector<abi::reduce_op>{abi::reduce_op::none};
    for (const abi::algorithm algo : all_algorithms())
        for (const abi::element_type type : types)
            for (const abi::reduce_op redop : reductions)
                for (const std::uint64_t bytes : all_sizes()) {
                    collective_case c = make_case(op, algo, type, redop, bytes, token.value_or(k_default_token).value());
                    c.root = root;
                    c.transposed = transposed;
                    c.style = inputs;
                    c.chunk_bytes = chunk_bytes();
                    c.chunk_is_asked = chunk.has_value();
                    c.groups = groups;
                    c.experts_per_token = experts_per_token.value_or(k_default_experts);
                    c.expert_skew = expert_skew;
                    choices.take(c, default_algorithm());
                    all.push_back(c);
                }
    return all;
}

std::uint64_t collective_spec::case_count() const
{
    const std::size_t reductions = reduces(op) ? redops.size() : 1;
    return std::uint64_t{all_algorithms().size()} * types.size() * reductions * all_sizes().size() * repeats;
}

std::vector<collective_case> run_config::all_cases() const
{
    std::vector<collective_case> all;
    for (const collective_spec& spec : workload)
        if (is_sound(spec)) {
            const std::vector<collective_case> of_spec = spec.cases();
            all.insert(all.end(), of_spec.begin(), of_spec.end());
        }
    if (training_step && is_sound(*training_step)) {
        const std::vector<collective_case> of_step = training_step->cases();
        all.insert(all.end(), of_step.begin(), of_step.end());
    }
    return all;
}

std::uint64_t run_config::case_count() const
{
    std::uint64_t count = 0;
    for (const collective_spec& spec : workload)
        count += spec.case_count();
    return count;
}

std::vector<config_problem> run_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    const bool printable = std::all_of(name.begin(), name.end(),
                                       [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
    need(p,
         !name.empty() && name.size() <= 100 && printable && name.find('/') == std::string::npos && name != "." &&
             name != "..",
         "name", "cannot name a folder, but results go to out/<name>; write 1 to 100 characters without '/'.");
    need(p, !workload.empty() || training_step, "workload",
         "is missing or empty, and there is no training_step; add at least one entry, for example \"- {op: all_reduce, "
         "sizes: [1 MiB]}\".");
    need(p, case_count() <= k_most_cases, "workload",
         fmt::format("makes {} cases (every entry runs all combinations of its lists), must be at most {}.",
                     case_count(), k_most_cases));
    return p;
}

std::size_t collective_count(const run_config& config)
{
    std::size_t cases = config.case_count();
    if (config.training_step)
        cases += config.training_step->collectives();
    return cases;
}

} // namespace weft
