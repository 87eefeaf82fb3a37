// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_bill_prices.h"

#include "platforms/config/config_reader.h"

#include <fmt/format.h>

namespace weft {

namespace {

void need(std::vector<config_problem>& p, bool ok, std::string key, std::string text)
{
    if (!ok)
        p.push_back({severity::error, std::move(key), std::move(text)});
}

void need_origin(std::vector<config_problem>& p, const std::string& source, bool has_confidence)
{
    need(p, !source.empty(), "source", "is missing; write where the figure is from, or why it was assumed.");
    need(p, has_confidence, "confidence", "is missing; write quoted, read_off, derived or assumed.");
}

void need_figure(std::vector<config_problem>& p, double value, const char* key)
{
    need(p, value >= 0, key, value == -1 ? "is missing." : fmt::format("is {}, must not be below zero.", value));
}

const char* name_of_architecture(ub_architecture a)
{
    return enum_names<ub_architecture>::values[static_cast<unsigned>(a)].second;
}

template <class Entry>
void need_each_once(std::vector<config_problem>& p, const std::vector<Entry>& entries, const char* key)
{
    for (unsigned a = 0; a < k_ub_architectures; ++a) {
        unsigned found = 0;
        for (const Entry& e : entries)
            found += e.architecture && static_cast<unsigned>(*e.architecture) == a ? 1 : 0;
        need(p, found == 1, key,
             fmt::format("has {} {} times, must have it once.", name_of_architecture(static_cast<ub_architecture>(a)),
                         found));
    }
}

} // namespace

std::vector<config_problem> ub_price::validate() const
{
    std::vector<config_problem> p;
    need_figure(p, value, "value");
    need_origin(p, source, confidence.has_value());
    return p;
}

std::vector<config_problem> ub_published_capex::validate() const
{
    std::vector<config_problem> p;
    need(p, architecture.has_value(), "architecture", "is missing.");
    need_figure(p, network, "network");
    need_figure(p, total, "total");
    need_origin(p, source, confidence.has_value());
    return p;
}

std::vector<config_problem> ub_performance::validate() const
{
    std::vector<config_problem> p;
    need(p, architecture.has_value(), "architecture", "is missing.");
    need(p, value > 0, "value", value == -1 ? "is missing." : fmt::format("is {}, must be above zero.", value));
    need_origin(p, source, confidence.has_value());
    return p;
}

std::vector<config_problem> ub_prices::validate() const
{
    std::vector<config_problem> p;
    need_each_once(p, published_capex, "published_capex");
    need_each_once(p, performance, "performance");
    const auto whole = [&](const ub_price& price, const char* key) {
        const bool ok = price.value < 0 || (price.value >= 1 && price.value <= 1000 &&
                                            price.value == static_cast<double>(static_cast<unsigned>(price.value)));
        need(p, ok, key, fmt::format("is {}, must be a whole number from 1 to 1000.", price.value));
    };
    whole(lanes_per_module, "lanes_per_module.value");
    whole(table_6_lrs_per_rack, "table_6_lrs_per_rack.value");
    need(p, opex_share.value < 1, "opex_share.value",
         fmt::format("is {}, must be below 1: the rest of the TCO is CapEx.", opex_share.value));
    need(p, opex_saving.value <= 1, "opex_saving.value", fmt::format("is {}, must be at most 1.", opex_saving.value));
    return p;
}

const ub_published_capex& ub_prices::published(ub_architecture a) const
{
    for (const ub_published_capex& c : published_capex)
        if (c.architecture == a)
            return c;
    throw bug("ub_prices", 0, "no published CapEx");
}

double ub_prices::performance_of(ub_architecture a) const
{
    for (const ub_performance& e : performance)
        if (e.architecture == a)
            return e.value;
    throw bug("ub_prices", 0, "no performance");
}

ub_prices read_prices(const std::string& path, std::vector<problem>& problems)
{
    return read_config<ub_prices>(yaml_document::load(path), problems);
}

} // namespace weft
