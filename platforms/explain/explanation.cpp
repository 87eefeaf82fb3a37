// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/explain/explanation.h"

#include "platforms/report/columns.h"
#include "platforms/report/run_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <sstream>

namespace weft {

using json = nlohmann::ordered_json;

namespace {

constexpr std::size_t k_places = 3; ///< that are named for a cause
constexpr double k_no_gain = 0.005; ///< less is none
/// Two more draws say little of how far others lie apart. Assumed, after one case: switchml of four workers with 1 % of
/// loss, where they were up to 10.6 % off the first one, and 12 draws took 2.5 to 4.3 ms.
constexpr double k_draws_apart = 3;

double us_of(std::uint64_t ps) { return static_cast<double>(ps) / 1e6; }

std::string place_of(const path_part& p)
{
    if (!p.where.empty())
        return p.where;
    return p.rank == recorded_device::k_nobody ? "" : fmt::format("rank {}", p.rank);
}

/// "42.1 us at chip(0,1).+X, 3 us at chip(0,0).+X"
std::string places_text(const json& cause)
{
    std::string text;
    for (const json& w : cause.at("where"))
        text += fmt::format("{}{} {:.3f}", text.empty() ? "" : ", ", w.at("name").get<std::string>(),
                            w.at("time_us").get<double>());
    return text;
}

/// "30 messages", "4 messages and 12 frames"
std::string steps_text(const json& path)
{
    const auto counted = [](std::uint32_t n, const char* what) {
        return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
    };
    const std::string messages = counted(path.at("messages").get<std::uint32_t>(), "message");
    const auto frames = path.at("frames").get<std::uint32_t>();
    if (frames == 0)
        return messages;
    return path.at("messages") == 0 ? counted(frames, "frame") : messages + " and " + counted(frames, "frame");
}

/// Whether the share `limit` of case_limits.h measures what this cause is. A link that carries packets of others is
/// busy, and contended.
bool is_measured_by(const std::string& cause, const std::string& limit)
{
    static constexpr std::pair<path_cause, const char*> k_limits[] = {
        {path_cause::firmware, "core"},         {path_cause::dma, "dma"},
        {path_cause::port, "dma"},              {path_cause::nic, "dma"},
        {path_cause::memory, "memory"},         {path_cause::serialisation, "link"},
        {path_cause::arbitration, "link"},      {path_cause::credits, "credits"},
        {path_cause::arbitration, "arbitration"}, {path_cause::ccu, "offload"},
        {path_cause::aggregation, "offload"},   {path_cause::time_out, "timeout"},
    };
    return std::any_of(std::begin(k_limits), std::end(k_limits),
                       [&](const auto& row) { return cause == row_of(row.first).name && limit == row.second; });
}

std::string bound_sentence(const json& all)
{
    std::string text;
    if (all.contains("bound_by"))
        text = fmt::format("The closest bound is {}: it allows {:.3f} us, {:.1f} % of the time.\n",
                           all.at("bound_by").get<std::string>(), all.at("bound_us").get<double>(),
                           100 * all.at("bound_share").get<double>());
    else
        text = "No bound of links and memory is known for this collective here.\n";
    if (!all.contains("busy_shares"))
        return text;
    const std::string limit = all.value("limited_by", std::string());
    double of_path = 0;
    for (const json& cause : all.at("critical_path").at("causes"))
        if (is_measured_by(cause.at("cause").get<std::string>(), limit))
            of_path += cause.at("share").get<double>();
    std::string busiest;
    double share = -1;
    for (const auto& [name, value] : all.at("busy_shares").items())
        if (value.is_number() && value.get<double>() > share) {
            share = value.get<double>();
            busiest = name;
        }
    constexpr double k_little = 0.1, k_part = 0.25, k_much = 0.4, k_busy = 0.8;
    double sends = 0, most = 0;
    std::string mostly; // what takes most of the path
    for (const json& cause : all.at("critical_path").at("causes")) {
        const double of_cause = cause.at("share").get<double>();
        if (cause.at("cause") == row_of(path_cause::serialisation).name)
            sends = of_cause;
        if (of_cause > most && cause.at("cause") != row_of(path_cause::unknown).name) {
            most = of_cause;
            mostly = cause.at("cause").get<std::string>();
        }
    }
    const std::string verdict =
        limit.empty() ? ""
        : limit == "latency" && sends > k_part && sends == most
            ? fmt::format("; no part is busy for long: messages wait for each other, and links send one after the other for {:.1f} % of this path", 100 * sends)
        : limit == "latency" && most > k_much ? fmt::format("; no part is busy for long, and {:.1f} % of this path is {}", 100 * most, mostly)
        : limit == "latency" ? "; nothing is short, steps wait for each other"
        : limit == "link" && busiest == limit && share > k_busy && of_path < k_part ? "; queues of this path wait for links that are busy"
        : of_path < k_little ? fmt::format("; results say \"limited by {}\", of which this path has {:.1f} %: the path counts", limit, 100 * of_path)
                             : fmt::format("; the collective was limited by {}, {:.1f} % of this path", limit, 100 * of_path);
    if (share >= 0)
        text += fmt::format("The part of the machine with most to do or to wait for is {}, {:.1f} % of the time{}.\n",
                            busiest, 100 * share,
                            verdict);
    return text;
}

} // namespace

json to_json(const critical_path& path)
{
    json j;
    j["rank"] = path.rank;
    j["time_us"] = us_of(path.time_ps());
    j["time_ps"] = path.time_ps();
    j["messages"] = path.messages;
    j["frames"] = path.frames;
    const auto by_cause = path.by_cause();
    std::vector<std::size_t> order;
    for (std::size_t c = 0; c < k_path_causes; ++c)
        if (by_cause[c] != 0)
            order.push_back(c);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return by_cause[a] > by_cause[b]; });
    j["causes"] = json::array();
    for (const std::size_t c : order) {
        const path_cause_row& row = row_of(static_cast<path_cause>(c));
        std::map<std::string, std::uint64_t> places;
        for (const path_part& p : path.parts)
            if (static_cast<std::size_t>(p.cause) == c)
                places[place_of(p)] += p.until_ps - p.from_ps;
        places.erase("");
        std::vector<std::pair<std::string, std::uint64_t>> named(places.begin(), places.end());
        std::stable_sort(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
        json where = json::array();
        for (std::size_t i = 0; i < named.size() && i < k_places; ++i)
            where.push_back({{"name", named[i].first}, {"time_us", us_of(named[i].second)}});
        j["causes"].push_back(
            {{"cause", row.name},
             {"group", row.group},
             {"meaning", row.meaning},
             {"time_ps", by_cause[c]},
             {"time_us", us_of(by_cause[c])},
             {"share",
              path.time_ps() == 0 ? 0 : static_cast<double>(by_cause[c]) / static_cast<double>(path.time_ps())},
             {"where", std::move(where)}});
        if (*row.approximate != '\0')
            j["causes"].back()["approximate"] = row.approximate;
    }
    j["path"] = json::array();
    for (const path_part& p : path.parts)
        j["path"].push_back({{"from_us", us_of(p.from_ps - path.begin_ps)},
                             {"until_us", us_of(p.until_ps - path.begin_ps)},
                             {"cause", row_of(p.cause).name},
                             {"where", place_of(p)}});
    return j;
}

std::array<std::uint64_t, k_path_causes> causes_of(const json& path)
{
    std::array<std::uint64_t, k_path_causes> all{};
    for (const json& c : path.at("causes"))
        for (std::size_t i = 0; i < k_path_causes; ++i)
            if (c.at("cause").get<std::string>() == row_of(static_cast<path_cause>(i)).name)
                all[i] = c.at("time_ps").get<std::uint64_t>();
    return all;
}

std::string path_text(const json& all)
{
    const json& path = all.at("critical_path");
    const json& causes = path.at("causes");
    const std::uint32_t rank = path.at("rank").get<std::uint32_t>();
    std::ostringstream out;
    out << fmt::format(
        "{}: {} takes {:.3f} us on {} ranks; rank {} answers {}.\n", all.at("title").get<std::string>(),
        all.at("case").get<std::string>(), all.at("time_us").get<double>(), all.at("ranks").get<std::uint32_t>(), rank,
        all.at("slowest").get<bool>() ? "last" : fmt::format("after {:.3f} us", path.at("time_us").get<double>()));
    out << fmt::format("Its critical path goes through {}.", steps_text(path));
    std::size_t told = 0;
    for (const json& c : causes) {
        if (told++ == 2)
            break;
        out << fmt::format(" {:.1f} % is {} ({}).", 100 * c.at("share").get<double>(), c.at("cause").get<std::string>(),
                           c.at("meaning").get<std::string>());
    }
    out << "\n";
    if (const auto trains = all.value("train_packets", std::uint32_t{1}); trains > 1)
        out << fmt::format(
            "A step of the path is a train of up to {} packets, not a packet: burst: 1 packet gives the finer picture.\n",
            trains);
    if (all.contains("note"))
        out << "Note: " << all.at("note").get<std::string>() << ".\n";
    for (const json& c : causes)
        if (c.contains("approximate"))
            out << fmt::format("Approximate: {} {:.1f} %: {}. Its time is exact.\n", c.at("cause").get<std::string>(),
                               100 * c.at("share").get<double>(), c.at("approximate").get<std::string>());
    out << bound_sentence(all) << "\n";
    std::vector<std::vector<std::string>> lines{{"cause", "time(us)", "share(%)", "most of it(us)"}};
    std::uint64_t sum_ps = 0;
    for (const json& c : causes) {
        sum_ps += c.at("time_ps").get<std::uint64_t>();
        lines.push_back({c.at("cause").get<std::string>(), exact_us(c.at("time_ps").get<std::uint64_t>()),
                         fmt::format("{:.1f}", 100 * c.at("share").get<double>()), places_text(c)});
    }
    lines.push_back({"all", exact_us(sum_ps), "100.0", ""});
    print_columns(out, lines, 1);
    return out.str();
}

std::string changes_text(const json& all)
{
    if (!all.contains("changes"))
        return "";
    const json& changes = all.at("changes");
    if (changes.empty())
        return "\nNo key of the configuration is a rate, a delay or a buffer that the path depends on: nothing was tried.\n";
    std::vector<std::vector<std::string>> lines{{"change", "time(us)", "gain(%)", "of path(%)"}};
    std::string notes, parts;
    double best = 0, chance = 0;
    std::string best_words;
    bool whole = true;
    for (const json& c : changes) {
        const auto left_out = c.value("left_out", std::vector<std::string>());
        const auto by_lanes = c.value("by_lanes", std::vector<std::string>());
        const std::string words = c.at("change").get<std::string>() + (left_out.empty() ? "" : " (in part)");
        const std::string share = c.contains("share") ? fmt::format("{:.1f}", 100 * c.at("share").get<double>()) : "";
        if (!c.contains("time_us")) {
            whole = false;
            lines.push_back({words, c.contains("problem") ? "none" : "not run", "", share});
            if (c.contains("problem"))
                notes += fmt::format("{}: {}\n", words, c.at("problem").get<std::string>());
        } else {
            const double gain = c.at("gain").get<double>();
            if (c.value("chance", false)) {
                chance = std::max(chance, std::abs(gain));
            } else if (gain > best) {
                best = gain;
                best_words = words;
            }
            lines.push_back({words, fmt::format("{:.3f}", c.at("time_us").get<double>()),
                             fmt::format("{:.1f}", 100 * gain), share});
        }
        if (const auto settings = c.at("settings").get<std::vector<std::string>>();
            !settings.empty() && !c.contains("problem"))
            notes += fmt::format(
                "  {}: {}{}{}{}\n", words, fmt::join(settings, ", "),
                by_lanes.empty() ? "" : fmt::format("; lanes in place of {}, which ends there", fmt::join(by_lanes, ", ")),
                left_out.empty() ? "" : "; beyond what is legal, so unchanged: ", fmt::join(left_out, ", "));
        if (!left_out.empty() && !c.contains("problem"))
            parts += fmt::format("{}{}", parts.empty() ? "" : ", ", c.at("change").get<std::string>());
    }
    std::ostringstream out;
    out << "\nWhat would help, each change run again by itself:\n\n";
    print_columns(out, lines, 1);
    out << "\n" << notes;
    if (!parts.empty())
        out << fmt::format("\nNot to be applied whole: {}. The whole change may bring more than its line says.\n", parts);
    if (chance > 0)
        out << fmt::format("\nChance alone moves this time by {:.1f} % from one draw to the next: a gain or loss of less than {:g} times that, "
                           "{:.1f} %, tells nothing. `weft run -n 12` gives the mean and spread of a machine.\n",
                           100 * chance, k_draws_apart, 100 * k_draws_apart * chance);
    if (best >= std::max(k_no_gain, k_draws_apart * chance))
        out << fmt::format("\nWhat helps most of these: {}, {:.1f} % less time.\n", best_words, 100 * best);
    else if (whole && parts.empty() && chance == 0)
        out << "\nNothing of this helps: no change shortens the collective by half a percent.\n";
    return out.str();
}

} // namespace weft
