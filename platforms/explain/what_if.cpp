// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/explain/what_if.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>

namespace weft {

namespace {

/// Names of keys that are no speed of the machine: bounds of waits, times of faults.
constexpr const char* k_no_speed[] = {"timeout",   "limit", "skew",     "detection", "retry",
                                      "max_ahead", "until", "interval", "time_out"};
constexpr const char* k_rooms[] = {"buffer", "window", "queue", "room"};
constexpr const char* k_half_timeout = "half the timeout of resends";
constexpr const char* k_twice_timeout = "twice the timeout of resends";
/// Names of counts of packets under way.
constexpr const char* k_windows[] = {"slots"};
/// Names of counts of packets that devices keep or read ahead, doubled with the buffers.
constexpr const char* k_counts[] = {"transmit_queue", "rtp_window", "rtp_send_buffer", "read_ahead", "outstanding"};
/// A rate inside a switch that sums, and of no link.
constexpr const char* k_loop_back = "recirculation_rate";
/// Names of counts of wires that make a link, in whatever section.
constexpr const char* k_lanes[] = {"x_lanes", "y_lanes", "backplane_lanes", "rack_link_lanes"};

bool has_any(const std::string& text, const char* const* first, const char* const* last)
{
    return std::any_of(first, last, [&](const char* part) { return text.find(part) != std::string::npos; });
}

bool is_count(const config_field& field)
{
    return field.type == field_type::integer && std::find(std::begin(k_counts), std::end(k_counts), field.name) != std::end(k_counts);
}

struct found_key {
    std::string path;
    config_part of;
    const config_field* field;
};

void collect(const config_field& field, const std::string& path, config_part of, std::vector<found_key>& keys)
{
    if (field.unused || !field.present)
        return;
    if (field.type == field_type::section) // entries of lists are single things, such as faults
        for (const config_field& f : field.children)
            collect(f, path.empty() ? f.name : path + "." + f.name, field.part, keys);
    else if (of != config_part::none && (field.type == field_type::quantity || (field.type == field_type::integer && (has_any(field.name, std::begin(k_windows), std::end(k_windows)) || is_count(field)))))
        keys.push_back({path, of, &field});
}

void collect_lanes(const config_field& field, const std::string& path, std::vector<found_key>& keys)
{
    if (field.unused || !field.present)
        return;
    if (field.type == field_type::section) {
        for (const config_field& f : field.children)
            collect_lanes(f, path.empty() ? f.name : path + "." + f.name, keys);
    } else if (field.type == field_type::integer &&
               std::find(std::begin(k_lanes), std::end(k_lanes), field.name) != std::end(k_lanes)) {
        keys.push_back({path, config_part::links, &field});
    }
}

/// Factors of latency under load that are more than once.
void collect_congestion(const config_field& field, const std::string& path, std::vector<std::string>& settings)
{
    if (field.unused || !field.present)
        return;
    if (field.type == field_type::section)
        for (const config_field& f : field.children)
            collect_congestion(f, path.empty() ? f.name : path + "." + f.name, settings);
    else if (const auto* const times = std::get_if<double>(&field.value);
             times != nullptr && *times > 1 && field.name == "congestion")
        settings.push_back(path + "=1");
}

bool is_legal(const field_limits& l, std::uint64_t value)
{
    if (value < l.least || value > l.most || (l.multiple > 1 && value % l.multiple != 0) ||
        (l.power_of_two && (value & (value - 1)) != 0))
        return false;
    return l.choices == 0 || std::find(l.one_of, l.one_of + l.choices, value) != l.one_of + l.choices;
}

struct recipe {
    const char* words;
    std::vector<config_part> parts;
    bool rates, times, rooms; ///< twice, half, twice
    unsigned timeouts_percent; ///< of timeouts, and of no other durations; 0: they stay
    std::vector<path_cause> causes;
    const char* limit = ""; ///< what limited the run (case_limits.h) when this is what might help
    enum class keys : std::uint8_t { all_but_loop_back, loop_back, windows } of = keys::all_but_loop_back;
};

std::vector<recipe> recipes()
{
    using c = path_cause;
    return {
        {"links twice as fast",
         {config_part::links, config_part::nic, config_part::aggregation},
         true,
         false,
         false,
         0,
         {c::serialisation, c::port, c::arbitration, c::head_of_line, c::nic, c::credits}, // slow links hold buffers
         "link"},
        {"half the latency of links and routers",
         {config_part::links, config_part::sync},
         false,
         true,
         false,
         0,
         {c::propagation, c::router, c::controller, c::sync}},
        {"buffers twice as large",
         {config_part::links, config_part::dma, config_part::nic, config_part::ccu},
         false,
         false,
         true,
         0,
         {c::credits, c::head_of_line},
         "credits"},
        {"cores twice as fast", {config_part::core}, true, true, false, 0, {c::firmware}, "core"},
        {"DMA engines twice as fast", {config_part::dma}, true, true, false, 0, {c::dma}, "dma"},
        {"memory twice as fast", {config_part::memory}, true, true, false, 0, {c::memory}, "memory"},
        {"loop-back ports of switches twice as fast", {config_part::aggregation}, true, false, false, 0, {c::aggregation}, "offload", recipe::keys::loop_back},
        {"twice as many slots", {config_part::job}, false, false, false, 0, {c::aggregation, c::nic, c::propagation}, "", recipe::keys::windows},
        {"coprocessors twice as fast", {config_part::ccu}, true, true, false, 0, {c::ccu}, "offload"},
        {"network cards with half the delays", {config_part::nic}, false, true, false, 0, {c::nic}},
        {k_half_timeout, {config_part::job, config_part::links}, false, false, false, 50, {c::time_out}, "timeout"},
        {k_twice_timeout, {config_part::job, config_part::links}, false, false, false, 200, {c::time_out}},
        {"a switch with half the delays", {config_part::aggregation}, false, true, false, 0, {c::aggregation}},
    };
}

/// "" where the recipe does not change the key; `left_out` gets it where the value would be beyond its limits.
std::string changed(const recipe& r, const found_key& k, std::vector<std::string>& left_out)
{
    const bool counts = is_count(*k.field), is_window = k.field->type == field_type::integer && !counts;
    if (is_window != (r.of == recipe::keys::windows) || (k.field->name == k_loop_back) != (r.of == recipe::keys::loop_back))
        return "";
    if (std::find(r.parts.begin(), r.parts.end(), k.of) == r.parts.end())
        return "";
    if (counts && !r.rooms)
        return "";
    if (is_window || counts) {
        const std::uint64_t twice = 2 * std::get<std::uint64_t>(k.field->value);
        if (is_legal(k.field->limits, twice))
            return k.path + "=" + std::to_string(twice);
        left_out.push_back(k.path);
        return "";
    }
    const auto* const text = std::get_if<std::string>(&k.field->value);
    if (text == nullptr)
        return "";
    const parsed_quantity now = parse_quantity(k.field->kind, *text);
    if (!now.ok || now.value == 0)
        return "";
    if (r.timeouts_percent != 0) {
        if (k.field->kind != quantity_kind::duration || k.field->name.find("timeout") == std::string::npos)
            return "";
    } else if (has_any(k.field->name, std::begin(k_no_speed), std::end(k_no_speed))) {
        return "";
    }
    std::uint64_t value = now.value;
    switch (k.field->kind) {
    case quantity_kind::bandwidth:
    case quantity_kind::frequency:
        if (!r.rates)
            return "";
        value = now.value * 2;
        break;
    case quantity_kind::duration:
        if (!r.times && r.timeouts_percent == 0)
            return "";
        value = r.timeouts_percent != 0 ? now.value * r.timeouts_percent / 100 : now.value / 2;
        break;
    case quantity_kind::data_size:
        if (!r.rooms || !has_any(k.field->name, std::begin(k_rooms), std::end(k_rooms)))
            return "";
        value = now.value * 2;
        break;
    default: return "";
    }
    if (!is_legal(k.field->limits, value)) {
        left_out.push_back(k.path);
        return "";
    }
    return k.path + "=" + format_quantity(k.field->kind, value);
}

/// Rates of links that cannot be doubled: twice the lanes are the same, where links have them.
void take_lanes(what_if& w, const std::vector<found_key>& keys, const std::vector<found_key>& lanes)
{
    const auto is_rate = [&](const std::string& path) {
        return std::any_of(keys.begin(), keys.end(), [&](const found_key& k) {
            return k.path == path && k.of == config_part::links && k.field->kind == quantity_kind::bandwidth;
        });
    };
    const auto first = std::stable_partition(w.left_out.begin(), w.left_out.end(),
                                             [&](const std::string& path) { return !is_rate(path); });
    if (first == w.left_out.end() || lanes.empty())
        return;
    w.by_lanes.assign(first, w.left_out.end());
    w.left_out.erase(first, w.left_out.end());
    for (const found_key& k : lanes) {
        const std::uint64_t twice = 2 * std::get<std::uint64_t>(k.field->value);
        if (is_legal(k.field->limits, twice))
            w.settings.push_back(k.path + "=" + std::to_string(twice));
        else
            w.left_out.push_back(k.path);
    }
}

} // namespace

std::vector<what_if> promising_changes(const config_field& config,
                                       const std::array<std::uint64_t, k_path_causes>& by_cause, const std::string& limit,
                                       std::size_t most)
{
    constexpr double k_least_share = 0.02;
    std::vector<found_key> keys;
    collect(config, "", config_part::none, keys);
    std::vector<found_key> lanes;
    collect_lanes(config, "", lanes);
    double all_ps = 0;
    for (const std::uint64_t ps : by_cause)
        all_ps += static_cast<double>(ps);
    const auto share_of = [&](path_cause c) { return all_ps > 0 ? static_cast<double>(by_cause[static_cast<std::size_t>(c)]) / all_ps : 0; };
    std::vector<what_if> changes;
    for (const recipe& r : recipes()) {
        what_if w;
        w.words = r.words;
        for (const path_cause c : r.causes)
            w.share += share_of(c);
        w.busiest = !limit.empty() && limit == r.limit; // it need not be on the path by its own name
        for (const found_key& k : keys)
            if (std::string setting = changed(r, k, w.left_out); !setting.empty())
                w.settings.push_back(std::move(setting));
        if (r.rates)
            take_lanes(w, keys, lanes);
        if ((w.busiest || w.share >= k_least_share) && !w.settings.empty())
            changes.push_back(std::move(w));
    }
    what_if quiet;
    quiet.words = "links without congestion";
    quiet.share = share_of(path_cause::propagation);
    collect_congestion(config, "", quiet.settings);
    if (quiet.share >= k_least_share && !quiet.settings.empty())
        changes.push_back(std::move(quiet));
    std::stable_sort(changes.begin(), changes.end(),
                     [](const what_if& a, const what_if& b) { return a.busiest != b.busiest ? a.busiest : a.share > b.share; });
    // Of half and twice a timeout one helps and the other harms: never one of them alone.
    const bool parts_pair = changes.size() > most && most > 0 && changes[most - 1].words == k_half_timeout && changes[most].words == k_twice_timeout;
    if (changes.size() > most)
        changes.resize(parts_pair ? most + 1 : most);
    return changes;
}

} // namespace weft
