// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/results_file.h"

#include "platforms/workload/digest.h" // the class alone: that library uses this one
#include "tlm/check.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace weft {

namespace {

std::optional<double> number_of(const nlohmann::json& j, const char* key)
{
    const auto found = j.find(key);
    return found != j.end() && found->is_number() ? std::optional<double>(found->get<double>()) : std::nullopt;
}
std::optional<std::uint64_t> count_of(const nlohmann::json& j, const char* key)
{
    const auto found = j.find(key);
    return found != j.end() && found->is_number_unsigned() ? std::optional<std::uint64_t>(found->get<std::uint64_t>())
                                                           : std::nullopt;
}
std::string text_of(const nlohmann::json& j, const char* key)
{
    const auto found = j.find(key);
    return found != j.end() && found->is_string() ? found->get<std::string>() : "";
}

stored_row row_of(const nlohmann::json& j)
{
    stored_row row;
    row.op = j.at("op").get<std::string>();
    row.algorithm = j.at("algorithm").get<std::string>();
    row.group = text_of(j, "group");
    row.type = text_of(j, "type");
    row.redop = text_of(j, "redop");
    row.size_bytes = count_of(j, "size_bytes");
    row.token_bytes = count_of(j, "token_bytes");
    row.experts_per_token = count_of(j, "experts_per_token");
    row.expert_skew = number_of(j, "expert_skew");
    row.time_us = j.at("time_us").get<double>();
    row.algbw_GBps = number_of(j, "algbw_GBps");
    row.busbw_GBps = number_of(j, "busbw_GBps");
    row.answers = text_of(j, "answers");
    row.bound_us = number_of(j, "bound_us");
    row.bound_share = number_of(j, "bound_share");
    row.bound_by = text_of(j, "bound_by");
    row.wrong = count_of(j, "wrong");
    row.limited_by = text_of(j, "limited_by");
    row.chosen_by = text_of(j, "chosen_by");
    if (const auto repeats = j.find("repeats"); repeats != j.end() && repeats->is_object()) {
        row.repeats = count_of(*repeats, "count");
        row.least_us = number_of(*repeats, "min_us");
        row.most_us = number_of(*repeats, "max_us");
        row.deviation_us = number_of(*repeats, "standard_deviation_us");
    }
    return row;
}

void add_steps(const nlohmann::json& training, std::vector<stored_row>& rows)
{
    std::size_t n = 0;
    for (const nlohmann::json& step : training.at("steps")) {
        stored_row row;
        row.op = "training_step";
        row.algorithm = text_of(training, "algorithm");
        row.group = fmt::format("step {}", n++);
        row.time_us = step.at("time_us").get<double>();
        for (const char* parts : {"groups", "exchanges"})
            for (const nlohmann::json& part : step.at(parts))
                if (const auto wrong = count_of(part, "wrong"))
                    row.wrong = row.wrong.value_or(0) + *wrong;
        rows.push_back(std::move(row));
    }
}

/// Saves and loads as rows; of streams, which have no time, statistics; wrong bytes of all.
void add_hosts(const nlohmann::json& host, stored_results& r)
{
    for (const char* parts : {"checkpoints", "traffic"})
        for (const nlohmann::json& part : host.at(parts))
            if (const auto wrong = count_of(part, "wrong_bytes"))
                r.wrong_bytes = r.wrong_bytes.value_or(0) + *wrong;
    for (const nlohmann::json& checkpoint : host.at("checkpoints")) {
        stored_row row;
        row.op = "checkpoint";
        row.algorithm = checkpoint.at("load").get<bool>() ? "load" : "save";
        row.group = fmt::format("number {}", checkpoint.at("number").get<std::uint64_t>());
        row.size_bytes = count_of(checkpoint, "bytes");
        row.time_us = checkpoint.at("time_us").get<double>();
        row.algbw_GBps = number_of(checkpoint, "rate_GBps");
        row.bound_us = number_of(checkpoint, "bound_us");
        row.bound_share = number_of(checkpoint, "bound_share");
        row.bound_by = text_of(checkpoint, "bound_by");
        r.rows.push_back(std::move(row));
    }
    std::size_t n = 0;
    for (const nlohmann::json& stream : host.at("traffic")) {
        const std::string name = fmt::format("host.traffic.{}.{}.", n++, text_of(stream, "name"));
        const auto add = [&](const char* key, const char* figure, const char* unit) {
            if (const auto value = number_of(stream, key))
                r.stats.push_back({name + figure, *value, unit});
        };
        add("rate_GBps", "rate", "GB/s");
        add("messages", "messages", "1");
        add("late", "late", "1");
        add("lost", "lost", "1");
        add("mean_latency_us", "mean_latency", "us");
        add("longest_latency_us", "longest_latency", "us");
    }
}

} // namespace

std::string checksum_of(const nlohmann::json& j)
{
    digest64 digest;
    const auto add = [&](const std::string& name, const nlohmann::json& value) {
        const std::string text = name + "\n" + value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
        digest.update(text.data(), text.size());
    };
    const auto is_of_host = [](const std::string& name) {
        return name == "host_seconds" || name == "packet_hops_per_cpu_s" || name.rfind("run.host_", 0) == 0;
    };
    for (const auto& [key, value] : j.items()) {
        if (key == k_checksum || is_of_host(key))
            continue;
        if (key != "stats" || !value.is_array()) {
            add(key, value);
            continue;
        }
        for (const nlohmann::json& stat : value)
            if (!stat.is_object() || !is_of_host(text_of(stat, "name")))
                add(key, stat);
    }
    return fmt::format("{:016x}", digest.value());
}

bool is_changed(const nlohmann::json& j) { return text_of(j, k_checksum) != checksum_of(j); }

std::uint64_t stored_results::wrong() const
{
    std::uint64_t all = 0;
    for (const stored_row& row : rows)
        all += row.wrong.value_or(0);
    return all;
}

std::string stored_results::wrong_text() const
{
    std::string text;
    if (wrong() > 0)
        text = fmt::format("{} wrong elements", wrong());
    if (wrong_bytes.value_or(0) > 0)
        text += fmt::format("{}{} wrong bytes of checkpoints and host traffic", text.empty() ? "" : ", ", *wrong_bytes);
    return text;
}

stored_results read_results(const std::string& file)
{
    std::error_code error;
    const auto kind = std::filesystem::status(file, error).type();
    if (kind != std::filesystem::file_type::regular &&
        kind != std::filesystem::file_type::not_found) // a device may never end
        throw user_error(fmt::format("{}: is no regular file, as the results.json of a run is.", file));
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw user_error(fmt::format("{}: cannot be read: {}; `weft run` writes it.", file, std::strerror(errno)));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return results_of(nlohmann::json::parse(text, nullptr, false), file);
}

stored_results results_of(const nlohmann::json& j, const std::string& file)
{
    if (!j.is_object() || !j.contains("results") || !j.contains("config"))
        throw user_error(fmt::format("{}: is no results.json of `weft run`: {}.", file,
                                     j.is_discarded() ? "it is not JSON" : "it has no results or no config"));
    stored_results r;
    r.file = file;
    try {
        r.version = text_of(j, "version");
        r.digest = text_of(j, "digest");
        r.failure = text_of(j, "failure");
        r.checksum = text_of(j, k_checksum);
        r.changed = is_changed(j);
        r.host_seconds = number_of(j, "host_seconds").value_or(0);
        for (const nlohmann::json& row : j.at("results"))
            r.rows.push_back(row_of(row));
        if (j.contains("training_step"))
            add_steps(j.at("training_step"), r.rows);
        if (j.contains("host"))
            add_hosts(j.at("host"), r);
        if (const auto failed = j.find("failed_case"); failed != j.end() && failed->is_object()) {
            r.failed.emplace();
            r.failed->op = text_of(*failed, "op");
            r.failed->algorithm = text_of(*failed, "algorithm");
            r.failed->type = text_of(*failed, "type");
            r.failed->redop = text_of(*failed, "redop");
            r.failed->size_bytes = count_of(*failed, "size_bytes");
        }
        r.config = j.at("config");
        if (j.contains("stats"))
            for (const nlohmann::json& stat : j.at("stats"))
                r.stats.push_back(
                    {stat.at("name").get<std::string>(), stat.at("value").get<double>(), text_of(stat, "unit")});
    } catch (const nlohmann::json::exception& e) {
        throw user_error(fmt::format("{}: is no results.json of this `weft`: {}.", file, e.what()));
    }
    return r;
}

} // namespace weft
