// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/run_config.h"

#include <fmt/format.h>

namespace weft {

namespace {
void need(std::vector<config_problem>& p, bool ok, const char* key, std::string text)
{
    if (!ok)
        p.push_back({severity::error, key, std::move(text)});
}
constexpr std::uint64_t k_largest_size = 1ull << 40;
} // namespace

std::vector<config_problem> size_range::validate() const
{
    std::vector<config_problem> p;
    need(p, from.value() > 0, "from", "is zero; write the smallest size to run, for example \"4 B\".");
    need(p, to >= from, "to", fmt::format("is {}, below from ({}).", to_string(to), to_string(from)));
    need(p, factor >= 2, "factor", fmt::format("is {}, must be at least 2, or the row would never end.", factor));
    return p;
}

std::vector<config_problem> collective_spec::validate() const
{
    std::vector<config_problem> p;
    need(p, !sizes.empty() || range.has_value(), sizes.empty() ? "" : "sizes",
         "says no size; add \"sizes: [4 B, 1 MiB]\" or \"range: {from: 4 B, to: 64 MiB, factor: 4}\".");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::string key = fmt::format("sizes.{}", i);
        if (sizes[i].value() == 0)
            p.push_back({severity::error, key, "is zero; a collective needs at least one element."});
        else if (sizes[i].value() > k_largest_size)
            p.push_back({severity::error, key, fmt::format("is {}, beyond 1 TiB.", to_string(sizes[i]))});
    }
    if (range && range->to.value() > k_largest_size)
        p.push_back({severity::error, "range.to", fmt::format("is {}, beyond 1 TiB.", to_string(range->to))});
    need(p, !types.empty(), "types", "is empty; write for example \"types: [int32]\".");
    need(p, !redops.empty() || !reduces(op), "redops", "is empty; write for example \"redops: [sum]\".");
    for (std::size_t i = 0; i < redops.size(); ++i)
        need(p, redops[i] != abi::reduce_op::none, fmt::format("redops.{}", i).c_str(), "is none; a reduction is sum, max or min.");
    need(p, chunk.value() >= 4 && chunk.value() <= 1ull << 32, "chunk",
         fmt::format("is {}, must be 4 B to 4 GiB.", to_string(chunk)));
    std::uint64_t smallest = ~std::uint64_t{0};
    for (const std::uint64_t s : all_sizes())
        smallest = std::min(smallest, s);
    for (const abi::element_type t : types)
        if (smallest != 0 && smallest < abi::element_bytes(t))
            p.push_back({severity::error, sizes.empty() ? "range.from" : "sizes",
                         fmt::format("has {} B, less than one {} ({} B).", smallest, name_of(t), abi::element_bytes(t))});
    return p;
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
            if (s > k_largest_size)
                return all;
        }
        if (range->to >= range->from)
            all.push_back(range->to.value());
    }
    return all;
}

std::vector<abi::algorithm> collective_spec::all_algorithms() const
{
    if (!algorithms.empty())
        return algorithms;
    if (op == abi::collective_op::broadcast)
        return {abi::algorithm::mesh_tree};
    if (op == abi::collective_op::all_to_all)
        return {abi::algorithm::direct};
    return {abi::algorithm::ring_1d};
}

std::vector<collective_case> collective_spec::cases() const
{
    std::vector<collective_case> all;
    const std::vector<abi::reduce_op> reductions = reduces(op) ? redops : std::vector<abi::reduce_op>{abi::reduce_op::none};
    for (const abi::algorithm algo : all_algorithms())
        for (const abi::element_type type : types)
            for (const abi::reduce_op redop : reductions)
                for (const std::uint64_t bytes : all_sizes()) {
                    collective_case c = make_case(op, algo, type, redop, bytes);
                    c.root = root;
                    c.transposed = transposed;
                    c.style = inputs;
                    all.push_back(c);
                }
    return all;
}

std::vector<config_problem> run_config::validate() const
{
    std::vector<config_problem> p;
    need(p, !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..", "name",
         "must be a plain folder name: results go to out/<name>.");
    need(p, burst.value() >= 1 && burst.value() <= 65536, "burst",
         fmt::format("is {}, must be 1 to 65536 packets.", burst.value()));
    need(p, firmware_timeout.value() >= 1'000'000, "firmware_timeout", "must be at least 1 us, or no wait could ever succeed.");
    need(p, time_limit.value() >= 1'000'000, "time_limit", "must be at least 1 us.");
    need(p, time_limit.value() <= 1'000'000'000'000'000'000, "time_limit", "must be at most 1000000 s.");
    need(p, !workload.empty(), "workload", "is empty; add at least one entry, for example \"- {op: all_reduce, sizes: [1 MiB]}\".");
    return p;
}

} // namespace weft
