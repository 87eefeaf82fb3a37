// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/run_results.h"

#include "platforms/config/config_rows.h"
#include "platforms/report/activity_file.h"
#include "platforms/report/report_page.h"
#include "platforms/report/results_file.h"
#include "platforms/workload/bounds.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft::cli {

namespace {

/// The least T_AR of a step in ps, by the bounds of its groups as they ran; none: not known for one of them.
std::optional<double> least_t_ar_ps(const platform& p, const training_step_result& step)
{
    auto ps = static_cast<double>(step.update_ps);
    for (const step_part& part : step.parts) {
        if (part.is_exchange)
            continue;
        collective_case c = part.what;
        if (!part.ran_in.empty())
            c.groups = part.ran_in; // replicas of several ranks: one collective for each place in them
        if (!c.groups.empty() && tables_told(p, c).size() < 2)
            continue; // one replica sends nothing
        const auto bound = bound_on(p, c);
        if (!bound)
            return std::nullopt;
        ps += bound->us * 1e6;
    }
    return ps;
}

} // namespace

training_report training_report_of(const platform& p, const training_step_config& config, const std::vector<training_step_result>& steps)
{
    training_report t;
    t.algorithm = name_of(config.by());
    t.text = config.text();
    t.transposed = config.transposed;
    t.overlap = name_of(config.overlap);
    for (const training_step_result& s : steps) {
        training_step_row row{s.time_ps, s.compute_ps, s.communication_ps, s.exposed_ps(), s.share(), {}};
        row.input_ps = s.input_ps;
        row.update_ps = s.update_ps;
        row.beside_checkpoint = s.beside_checkpoint;
        row.samples = s.samples;
        if (s.samples != 0) {
            row.samples_per_second = s.throughput();
            row.law_per_second = s.law(static_cast<double>(s.t_ar_ps()));
            if (const auto least = least_t_ar_ps(p, s))
                row.links_per_second = s.law(*least);
        }
        for (const step_part& from : s.parts) {
            training_part_row part;
            part.name = from.name;
            part.is_exchange = from.is_exchange;
            part.type = name_of(from.what.type);
            part.size_bytes = from.what.size_bytes;
            part.count = from.what.count;
            if (from.what.ranks_per_group != 0)
                part.ranks_per_group = from.what.ranks_per_group;
            part.calls = from.calls;
            part.ready_ps = from.ready_ps;
            part.start_ps = from.start_ps;
            part.time_ps = from.time_ps;
            part.shares = from.shares;
            if (from.checked)
                part.wrong = from.wrong;
            row.parts.push_back(std::move(part));
        }
        t.steps.push_back(std::move(row));
    }
    return t;
}

std::optional<host_report> hosts_report_of(const run_outcome& outcome, bool used)
{
    if (!used)
        return std::nullopt;
    host_report h;
    h.step_alone_ps = outcome.step_alone_ps;
    for (const checkpoint_result& c : outcome.checkpoints) {
        checkpoint_row row;
        row.number = c.number;
        row.load = c.load;
        row.bytes = c.bytes;
        row.start_ps = c.start_ps;
        row.time_ps = c.time_ps;
        row.waited_ps = c.waited_ps;
        row.rate_GBps = c.rate_GBps();
        row.bound_us = c.bound_us;
        row.bound_by = c.bound_by;
        row.bound_share = c.share();
        row.busiest = c.busiest;
        row.busiest_share = c.busiest_share;
        row.resent = c.resent;
        row.checksum = c.checksum;
        if (c.checked)
            row.wrong_bytes = c.wrong_bytes;
        h.checkpoints.push_back(std::move(row));
    }
    for (const host_stream_result& s : outcome.host_streams) {
        stream_row row;
        row.name = s.name;
        row.direction = name_of(s.direction);
        row.asked_GBps = static_cast<double>(s.asked_bps) / 8e9;
        row.rate_GBps = s.rate_GBps();
        row.bytes = s.bytes;
        row.messages = s.messages;
        row.late = s.late;
        row.lost = s.lost;
        row.mean_latency_ps = s.messages == 0 ? 0 : s.latency_sum_ps / s.messages;
        row.longest_latency_ps = s.latency_max_ps;
        if (s.checked)
            row.wrong_bytes = s.wrong_bytes;
        h.streams.push_back(std::move(row));
    }
    return h;
}

std::string transport_of(const weft::platform& p, const run_outcome& outcome)
{
    const train_choice choice = p.trains();
    std::vector<collective_case> over_fabric;
    const auto add = [&](const collective_case& c) {
        if (!abi::by_switch(c.algo))
            over_fabric.push_back(c);
    };
    for (const case_result& c : outcome.cases)
        add(c.what);
    for (const training_step_result& s : outcome.training_steps)
        for (const step_part& part : s.parts)
            add(part.what);
    if (over_fabric.empty())
        return "";
    if (choice.packets == 1)
        return text_of(choice);
    const case_trains longest = longest_trains(choice, over_fabric);
    return fmt::format("{}; here {}", text_of(choice),
                       longest.packets == 1 ? fmt::format("single packets: {}", longest.reason)
                                            : fmt::format("up to {}", longest.packets));
}

nlohmann::ordered_json activity_json(activity_recorder& recorder, const loaded_platform& loaded, const nlohmann::ordered_json& results)
{
    nlohmann::ordered_json j = to_json(recorder.finish(), results["digest"].get<std::string>());
    j["title"] = loaded.platform->run().name;
    j["platform"] = loaded.info->name;
    j["summary"] = loaded.info->summary;
    j["configuration"] = nlohmann::ordered_json::array(); // [key, value, set at, source, meaning]
    for (const config_row& row : config_rows(loaded.platform->resolved(), loaded.document ? &*loaded.document : nullptr))
        j["configuration"].push_back({row.key, row.value, row.set_at, row.source, row.meaning});
    j[k_results_checksum] = results[k_checksum];
    j[k_checksum] = checksum_of(j);
    return j;
}

} // namespace weft::cli
