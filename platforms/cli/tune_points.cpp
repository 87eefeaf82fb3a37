// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/tune_points.h"

#include "platforms/cli/point_runs.h"
#include "platforms/cli/program_identity.h"
#include "platforms/firmware_bench/isolated.h"
#include "platforms/workload/collective_host.h"
#include "platforms/workload/digest.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace weft::cli {

namespace {

constexpr const char* k_data_key = "data=";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// What failed, and what helps where a wait was only too short.
std::string reason_of(const std::string& failure)
{
    const auto remedy = failure.find(collective_host::k_waits_too_short);
    return first_line(failure) + (remedy == std::string::npos ? "" : " " + first_line(failure.substr(remedy)));
}

std::string content_of(const std::string& file)
{
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/// In the child: the result as text.
std::string simulated(const tuned_source& source, const tune_point& point)
{
    const loaded_platform loaded = source.read(point.workload);
    nlohmann::json result;
    if (!loaded.platform) {
        const problem* const error = loaded.first_error();
        result["refused"] = error == nullptr ? loaded.message() : error->message;
        return result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    const auto [m, outcome] = run_here(loaded);
    const case_result& c = outcome.cases.at(0);
    if (c.checked && c.check.wrong > 0)
        result["failed"] = fmt::format("{} wrong elements", c.check.wrong);
    else
        result["time_ps"] = c.time_ps;
    return result.dump();
}

} // namespace

loaded_platform tuned_source::read(const std::string& workload) const
{
    platform_source replaced = source;
    auto& all = replaced.overrides; // an entry of the workload that they change is gone
    all.erase(std::remove_if(all.begin(), all.end(), [](const std::string& o) { return o.rfind("workload.", 0) == 0; }),
              all.end());
    return read_platform_text(text, name, with_workload(std::move(replaced), workload));
}

tuned_source read_source(platform_source source)
{
    source_text file = source_text_of(source);
    tuned_source all;
    all.name = std::move(file.name);
    all.text = std::move(file.text);
    const bool asks_for_data = std::any_of(source.overrides.begin(), source.overrides.end(),
                                           [](const std::string& o) { return o.rfind(k_data_key, 0) == 0; });
    if (!asks_for_data)
        source.overrides.push_back(std::string(k_data_key) + "off");
    source.left_out = {"training_step", "tuning"};
    all.source = std::move(source);
    return all;
}

tuning_time simulate(const tuned_source& source, const tune_point& point, unsigned seconds)
{
    const isolated_result r = run_isolated([&] { return simulated(source, point); }, seconds);
    if (!r.failure.empty())
        return {std::nullopt, "failed", reason_of(r.failure)};
    const nlohmann::json result = nlohmann::json::parse(r.text);
    for (const char* what : {"refused", "failed"})
        if (result.contains(what))
            return {std::nullopt, what, first_line(result.at(what).get<std::string>())};
    return {result.at("time_ps").get<std::uint64_t>(), "", ""};
}

kept_points::kept_points(std::string folder, const std::string& run_digest)
    : folder_(std::move(folder)), of_run_(program_identity() + "\n" + run_digest)
{
}

std::string kept_points::key_of(const tune_point& point) const
{
    return digest_of_text(of_run_ + "\n" + point.workload);
}

std::string kept_points::file_of(const tune_point& point, const std::string& stem) const
{
    return fmt::format("{}_{}.json", stem, key_of(point));
}

std::optional<std::uint64_t> kept_points::time_ps(const tune_point& point) const
{
    const nlohmann::json kept = nlohmann::json::parse(content_of(folder_ + "/" + point.file), nullptr, false);
    if (!kept.is_object() || kept.value("key", nlohmann::json()) != key_of(point) || !kept.contains("time_ps") ||
        !kept["time_ps"].is_number_unsigned())
        return std::nullopt;
    return kept["time_ps"].get<std::uint64_t>();
}

void kept_points::keep(const tune_point& point, std::uint64_t time_ps) const
{
    nlohmann::ordered_json kept;
    kept["key"] = key_of(point);
    kept["workload"] = point.workload;
    kept["time_ps"] = time_ps;
    write_file_atomically(folder_ + "/" + point.file,
                          kept.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

} // namespace weft::cli
