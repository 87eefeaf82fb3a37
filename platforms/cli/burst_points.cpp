// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/burst_points.h"

#include "platforms/cli/platforms.h"
#include "platforms/cli/point_runs.h"
#include "platforms/workload/collective_case.h"
#include "platforms/workload/platform_studies.h"
#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <random>

namespace weft::cli {

namespace {

constexpr const char* k_largest_size = "16 MiB";

/// Not std::uniform_int_distribution, whose numbers depend on the library.
std::size_t below(std::mt19937_64& random, std::size_t bound) { return random() % bound; }

template <class T> void shuffle(std::vector<T>& all, std::mt19937_64& random)
{
    for (std::size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[below(random, i)]);
}

/// `count` different points of a family. Each axis goes through all its values before one comes again (Latin
/// hypercube), as far as points stay different.
std::vector<std::uint64_t> drawn_points(const sweep_family& family, std::uint64_t count, std::mt19937_64& random)
{
    count = std::min(count, family.count());
    std::vector<std::vector<std::size_t>> choices(family.axes.size());
    for (std::size_t a = 0; a < family.axes.size(); ++a)
        while (choices[a].size() < count) {
            std::vector<std::size_t> round(family.axes[a].values.size());
            std::iota(round.begin(), round.end(), std::size_t{0});
            shuffle(round, random);
            choices[a].insert(choices[a].end(), round.begin(), round.end());
        }
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t index = 0;
        for (std::size_t a = 0; a < family.axes.size(); ++a)
            index = index * family.axes[a].values.size() + choices[a][i];
        while (std::find(all.begin(), all.end(), index) != all.end())
            index = (index + 1) % family.count();
        all.push_back(index);
    }
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

const std::vector<sweep_family>& sweep_families()
{
    static const std::vector<sweep_family> all = [] {
        std::vector<sweep_family> found;
        for (const platform_studies* s : studies())
            if (s->bursts != nullptr)
                for (sweep_family& family : s->bursts())
                    found.push_back(std::move(family));
        return found;
    }();
    return all;
}

std::string sweep_point::name() const { return fmt::format("{} {}", family->name, index); }

std::vector<const sweep_value*> sweep_point::values() const
{
    std::vector<const sweep_value*> all(family->axes.size());
    std::uint64_t rest = index;
    for (std::size_t a = all.size(); a-- > 0;) {
        const std::vector<sweep_value>& values = family->axes[a].values;
        all[a] = &values.at(rest % values.size());
        rest /= values.size();
    }
    return all;
}

std::string sweep_point::where() const
{
    std::string text;
    const std::vector<const sweep_value*> chosen = values();
    for (std::size_t a = 0; a < chosen.size(); ++a)
        text += fmt::format("{}{}: {}", a == 0 ? "" : ", ", family->axes[a].name, chosen[a]->name);
    return text;
}

std::vector<std::string> sweep_point::sizes() const
{
    const std::vector<std::string> own = work().sizes;
    return own.empty() ? family->sizes : own;
}

std::uint32_t sweep_point::large_cases() const { return work().collectives.empty() ? family->large_cases : 0; }

sweep_work sweep_point::work() const
{
    sweep_work all;
    for (const sweep_value* v : values()) {
        if (!v->work.collectives.empty())
            all.collectives = v->work.collectives;
        if (!v->work.sizes.empty())
            all.sizes = v->work.sizes;
        if (!v->work.entry_keys.empty())
            all.entry_keys = v->work.entry_keys;
    }
    return all;
}

std::vector<sweep_point> sweep_points(sweep_subset subset, std::uint64_t count, std::uint64_t seed,
                                      const std::vector<sweep_family>& families)
{
    std::vector<sweep_point> all;
    std::uint64_t shares = 0;
    for (const sweep_family& family : families)
        shares += family.share;
    for (std::size_t f = 0; f < families.size(); ++f) {
        const sweep_family& family = families[f];
        if (subset == sweep_subset::sample && family.share > 0) {
            std::mt19937_64 random(seed * families.size() + f);
            const std::uint64_t points = count * family.share / shares;
            for (const std::uint64_t index : drawn_points(family, points, random))
                all.push_back({&family, index});
        }
        if (subset == sweep_subset::all || (subset == sweep_subset::corner && family.corner))
            for (std::uint64_t index = 0; index < family.count(); ++index)
                all.push_back({&family, index});
    }
    return all;
}

std::string run_command(const platform_source& source, const std::string& burst)
{
    std::string text = "weft run " + quoted_for_shell(source.file);
    for (const std::string& o : source.overrides)
        text += " --set " + quoted_for_shell(o);
    return text + " --set " + quoted_for_shell("burst=" + burst);
}

platform_source sweep_workloads::source_of(const sweep_point& point)
{
    platform_source source;
    source.file = config_dir_ + "/" + point.family->file;
    source.overrides = point.family->overrides;
    for (const sweep_value* v : point.values())
        source.overrides.insert(source.overrides.end(), v->overrides.begin(), v->overrides.end());
    const sweep_work work = point.work();
    const auto collectives = work.collectives.empty() ? collectives_of(point) : work.collectives;
    std::string workload = workload_text(collectives, point.sizes(), work.entry_keys);
    const std::uint32_t large = std::min<std::uint32_t>(point.large_cases(), static_cast<std::uint32_t>(collectives.size()));
    for (std::uint32_t i = 0; i < large; ++i) { // of all collectives it would take minutes
        const auto& one = collectives[(point.index + i * collectives.size() / large) % collectives.size()];
        workload.pop_back(); // its "]"
        workload += ", " + workload_text({one}, {k_largest_size}, work.entry_keys).substr(1);
    }
    return with_workload(std::move(source), workload);
}

std::vector<std::pair<std::string, std::string>> sweep_workloads::collectives_of(const sweep_point& point)
{
    platform_source source;
    source.file = config_dir_ + "/" + point.family->file;
    source.overrides = point.family->overrides;
    const std::vector<const sweep_value*> values = point.values();
    for (std::size_t a = 0; a < values.size(); ++a)
        if (point.family->axes[a].decides_collectives)
            source.overrides.insert(source.overrides.end(), values[a]->overrides.begin(), values[a]->overrides.end());
    const std::string key = fmt::format("{}\n{}", source.file, fmt::join(source.overrides, "\n"));
    const auto found = known_.find(key);
    if (found != known_.end())
        return found->second;
    std::vector<std::pair<std::string, std::string>> candidates;
    for (const auto& [op, op_name] : enum_names<abi::collective_op>::values)
        for (const auto& [algorithm, algorithm_name] : enum_names<abi::algorithm>::values)
            // Units send single packets, and so do tokens for experts, whatever the parameters.
            if (!abi::moves_tokens(op) && abi::by_dma(algorithm) && algorithm != k_auto_algorithm)
                candidates.emplace_back(op_name, algorithm_name);
    const std::string what = fmt::format("{} ({})", point.name(), point.where());
    const std::vector<std::string> refusals =
        refusals_of([&](const std::string& workload) { return read_platform(with_workload(source, workload)); }, candidates, "1 MiB", "", what);
    std::vector<std::pair<std::string, std::string>> all;
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (refusals[i].empty())
            all.push_back(candidates[i]);
    if (all.empty())
        throw user_error(fmt::format("{} can run no collective:\n{}", what, fmt::join(refusals, "\n")));
    return known_.emplace(key, std::move(all)).first->second;
}

} // namespace weft::cli
