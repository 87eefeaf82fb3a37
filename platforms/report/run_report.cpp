// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/run_report.h"

#include "platforms/report/results_schema.h"

#include "platforms/report/columns.h"
#include "platforms/report/results_file.h"
#include "tlm/check.h"
#include "tlm/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string_view>

namespace weft {
namespace {

/// Bytes for people: three or four digits and a decimal prefix.
std::string short_bytes(std::uint64_t bytes)
{
    constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 999.95 && unit + 1 < std::size(units)) {
        value /= 1000;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

/// At most `width` columns, "..." in the place of what is cut away at the end.
std::string cut(const std::string& text, std::size_t width)
{
    if (display_width(text) <= width)
        return text;
    std::string result;
    std::size_t columns = 0;
    for (const char c : text) {
        const bool starts = (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;
        if (starts && ++columns + 3 > width)
            break;
        result += c;
    }
    return result + "...";
}

std::string padded(const std::string& text, std::size_t width)
{
    const std::size_t used = display_width(text);
    return text + std::string(width > used ? width - used : 0, ' ');
}

using cells = std::vector<std::string>;

/// Small messages have small bandwidths: at least three significant digits.
std::string bandwidth_text(double GBps)
{
    return GBps >= 0.1 || GBps <= 0 ? fmt::format("{:.3f}", GBps) : fmt::format("{:.3g}", GBps);
}

/// Columns that only some tables have.
struct more_columns {
    bool spread = false; ///< of repeated cases
    bool bound = false;
};

cells cells_of(const result_row& row, const more_columns& more)
{
    cells line{std::to_string(row.size_bytes), std::to_string(row.count), row.type, row.redop,
               row.group.empty() ? row.algorithm : row.algorithm + ", " + row.group,
               rounded_us(row.time_ps)};
    if (more.spread) {
        const time_spread s = spread_of(row.repeats_ps);
        for (const std::uint64_t ps : {s.deviation_ps, s.least_ps, s.most_ps})
            line.push_back(row.repeats_ps.empty() ? "-" : rounded_us(ps));
    }
    line.push_back(bandwidth_text(row.algbw_GBps));
    line.push_back(bandwidth_text(row.busbw_GBps));
    if (more.bound)
        line.push_back(row.bound_us > 0 && row.time_ps > 0
                           ? fmt::format("{:.1f}", 100 * row.bound_us / (static_cast<double>(row.time_ps) / 1e6))
                           : "-");
    line.push_back(row.wrong ? std::to_string(*row.wrong) : "n/a");
    return line;
}

/// Column widths, at least those of nccl-tests' usual output, wider where a number needs it: lines stay aligned.
using widths = std::vector<std::size_t>;

std::string line_of(const cells& line, const widths& width)
{
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i)
        text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", line[i], width[i]);
    return text;
}

/// What a part of the table is of: "dispatch of tokens of 24 KiB, each to 8 ranks".
std::string part_of(const result_row& row)
{
    if (row.token_bytes == 0)
        return row.op;
    const std::string skew = row.expert_skew > 0 ? fmt::format(", skew {}", row.expert_skew) : "";
    const std::string what = row.token_bytes == row.size_bytes
                                 ? std::string("one token")
                                 : fmt::format("tokens of {}, each", to_string(data_size(row.token_bytes)));
    return fmt::format("{} of {} to {} ranks{}", row.op, what, row.experts_per_token, skew);
}

void print_rows(std::ostream& out, const run_report& report, const table_style& style)
{
    const auto any = [&](auto&& has) { return std::any_of(report.rows.begin(), report.rows.end(), has); };
    const more_columns more{any([](const result_row& row) { return !row.repeats_ps.empty(); }),
                            any([](const result_row& row) { return row.bound_us > 0; })};
    cells heading = {"size(B)",  "count",       "type",        "redop", "algorithm",
                     "time(us)", "algbw(GB/s)", "busbw(GB/s)", "#wrong"};
    widths width = {12, 12, 8, 5, 9, 12, 11, 11, 6};
    if (more.bound) {
        heading.insert(heading.end() - 1, "bound(%)");
        width.insert(width.end() - 1, 8);
    }
    if (more.spread) {
        const char* const columns[] = {"+-", "min(us)", "max(us)"};
        heading.insert(heading.begin() + 6, std::begin(columns), std::end(columns));
        width.insert(width.begin() + 6, std::size(columns), 8);
    }
    for (const auto& row : report.rows) {
        const cells line = cells_of(row, more);
        for (std::size_t i = 0; i < line.size(); ++i)
            width[i] = std::max(width[i], line[i].size());
    }
    std::vector<std::string> ops; // in order of appearance
    for (const auto& row : report.rows)
        if (std::find(ops.begin(), ops.end(), part_of(row)) == ops.end())
            ops.push_back(part_of(row));
    for (const auto& op : ops) {
        out << "# " << (style.color ? k_bold : "") << op << (style.color ? k_plain : "") << '\n';
        out << "# " << line_of(heading, width) << '\n';
        for (const auto& row : report.rows) {
            if (part_of(row) != op)
                continue;
            const bool bad = style.color && row.wrong.value_or(0) > 0;
            out << "  " << (bad ? k_red : "") << line_of(cells_of(row, more), width) << (bad ? k_plain : "") << '\n';
        }
        out << '\n';
    }
}

std::string cost_text(std::uint64_t beside_ps, std::uint64_t alone_ps)
{
    return fmt::format("{} us, {} us alone: {:+.2f} %", rounded_us(beside_ps), rounded_us(alone_ps),
                       100.0 * (static_cast<double>(beside_ps) / static_cast<double>(alone_ps) - 1));
}

/// What hosts cost collectives and steps.
void print_slow_downs(std::ostream& out, const run_report& report)
{
    const char* label = "Beside hosts";
    const auto line = [&](const std::string& text) {
        out << fmt::format("{:<17}{}\n", label, text);
        label = "";
    };
    for (const auto& row : report.rows)
        if (row.alone_ps != 0)
            line(fmt::format("{} of {} B by {}: {}", row.op, row.size_bytes, row.algorithm, cost_text(row.time_ps, row.alone_ps)));
    if (!report.training || report.hosts->step_alone_ps == 0)
        return;
    for (const bool beside : {true, false}) {
        std::uint64_t sum_ps = 0, steps = 0;
        for (const training_step_row& s : report.training->steps)
            if (s.beside_checkpoint == beside) {
                sum_ps += s.time_ps;
                ++steps;
            }
        if (steps != 0)
            line(fmt::format("{} step{} {} a checkpoint: {}", steps, steps == 1 ? "" : "s", beside ? "beside" : "without",
                             cost_text(sum_ps / steps, report.hosts->step_alone_ps)));
    }
}

void print_hosts(std::ostream& out, const run_report& report, const table_style& style)
{
    if (!report.hosts)
        return;
    constexpr std::size_t k_shown = 8;
    const auto count = [](const std::optional<std::uint64_t>& n) { return n ? std::to_string(*n) : "n/a"; };
    const std::vector<checkpoint_row>& all = report.hosts->checkpoints;
    if (!all.empty()) {
        out << "# " << (style.color ? k_bold : "") << "checkpoints" << (style.color ? k_plain : "") << '\n';
        std::vector<std::vector<std::string>> lines{{"number", "what", "size(B)", "start(us)", "time(us)", "waited(us)", "rate(GB/s)", "bound(%)", "bound by",
                                                     "busiest", "busy(%)", "resent", "#wrong"}};
        for (std::size_t i = 0; i < all.size() && i < k_shown; ++i) {
            const checkpoint_row& c = all[i];
            lines.push_back({std::to_string(c.number), c.load ? "load" : "save", std::to_string(c.bytes), rounded_us(c.start_ps), rounded_us(c.time_ps),
                             rounded_us(c.waited_ps), bandwidth_text(c.rate_GBps), fmt::format("{:.1f}", 100 * c.bound_share), c.bound_by, c.busiest,
                             fmt::format("{:.1f}", 100 * c.busiest_share), std::to_string(c.resent), count(c.wrong_bytes)});
        }
        print_columns(out, lines, 2);
        if (all.size() > k_shown)
            out << "  ... and " << all.size() - k_shown << " more, in results.json\n";
        out << '\n';
    }
    if (!report.hosts->streams.empty()) {
        out << "# " << (style.color ? k_bold : "") << "host traffic" << (style.color ? k_plain : "") << '\n';
        std::vector<std::vector<std::string>> lines{
            {"name", "direction", "asked(GB/s)", "rate(GB/s)", "messages", "late", "lost", "mean latency(us)", "longest(us)", "#wrong"}};
        for (const stream_row& s : report.hosts->streams)
            lines.push_back({s.name, s.direction, bandwidth_text(s.asked_GBps), bandwidth_text(s.rate_GBps), std::to_string(s.messages), std::to_string(s.late),
                             std::to_string(s.lost), rounded_us(s.mean_latency_ps), rounded_us(s.longest_latency_ps), count(s.wrong_bytes)});
        print_columns(out, lines, 2);
        out << '\n';
    }
    print_slow_downs(out, report);
}

/// What `auto` has taken, and what would have been next.
void print_choices(std::ostream& out, const run_report& report)
{
    const char* label = "Chosen by auto";
    for (const auto& row : report.rows) {
        if (row.choice.empty())
            continue;
        out << fmt::format("{:<17}{} of {} B by {}: {}\n", label, row.op, row.size_bytes, row.algorithm, row.choice);
        label = "";
    }
}

std::optional<std::uint64_t> wrong_of(const training_step_row& step)
{
    std::optional<std::uint64_t> wrong;
    for (const training_part_row& part : step.parts)
        if (part.wrong)
            wrong = wrong.value_or(0) + *part.wrong;
    return wrong;
}

void print_training(std::ostream& out, const run_report& report, const table_style& style)
{
    if (!report.training)
        return;
    constexpr std::size_t k_steps_shown = 8;
    const training_report& t = *report.training;
    out << "# " << (style.color ? k_bold : "") << "training_step" << (style.color ? k_plain : "") << " by "
        << t.algorithm << (t.transposed ? " transposed" : "") << ", overlap " << t.overlap << '\n';
    const auto count = [](const std::optional<std::uint64_t>& n) { return n ? std::to_string(*n) : "n/a"; };
    std::vector<std::vector<std::string>> lines{
        {"step", "time(us)", "compute(us)", "comm(us)", "exposed(us)", "share(%)", "#wrong"}};
    for (std::size_t i = 0; i < t.steps.size() && i < k_steps_shown; ++i) {
        const training_step_row& s = t.steps[i];
        lines.push_back({std::to_string(i), rounded_us(s.time_ps), rounded_us(s.compute_ps),
                         rounded_us(s.communication_ps), rounded_us(s.exposed_ps), fmt::format("{:.3f}", 100 * s.share),
                         count(wrong_of(s))});
    }
    print_columns(out, lines, 0);
    if (t.steps.size() > k_steps_shown)
        out << "  ... and " << t.steps.size() - k_steps_shown << " more steps, in results.json\n";
    out << '\n';
    if (t.steps.empty())
        return;
    lines = {{"of step 0", "over", "type", "size(B)", "count", "calls", "ready(us)", "start(us)", "time(us)",
              "algbw(GB/s)", "#wrong"}};
    for (const training_part_row& p : t.steps.front().parts) {
        const double bytes = static_cast<double>(p.size_bytes) * p.calls;
        const std::string over = p.ranks_per_group ? fmt::format("{} ranks each", *p.ranks_per_group) : "all ranks";
        lines.push_back({p.name, over, p.type, std::to_string(p.size_bytes), std::to_string(p.count),
                         std::to_string(p.calls), rounded_us(p.ready_ps), rounded_us(p.start_ps), rounded_us(p.time_ps),
                         fmt::format("{:.3f}", p.time_ps == 0 ? 0 : bytes / static_cast<double>(p.time_ps) * 1e3),
                         count(p.wrong)});
    }
    print_columns(out, lines, 2);
    const training_step_row& first = t.steps.front();
    if (!t.text.empty())
        out << fmt::format("Step             {}{}\n", t.text,
                           first.update_ps == 0 ? ""
                                                : fmt::format("; it takes {} us here", rounded_us(first.update_ps)));
    if (first.samples != 0) {
        out << fmt::format("Throughput       {:.1f} samples/s; by the law R MBS GA / (GA T_MB + T_AR) {:.1f}", first.samples_per_second, first.law_per_second);
        if (first.links_per_second != 0)
            out << fmt::format(", with T_AR of the links alone {:.1f}", first.links_per_second);
        out << (first.input_ps == 0 ? std::string("\n") : fmt::format("; {} us of a step waits for samples\n", rounded_us(first.input_ps)));
    }
    out << '\n';
}

/// " (98 % busy)", " (62 to 98 % busy)"; of waits " (30 % of the time)", of latency nothing.
std::string busy_text(const std::string& limit, double least, double most)
{
    if (most == 0)
        return "";
    const std::string from = fmt::format("{:.0f}", 100 * least), to = fmt::format("{:.0f}", 100 * most);
    return fmt::format(" ({}{} % {})", from == to ? "" : from + " to ", to, limit == "credits" || limit == "arbitration" ? "of the time" : "busy");
}

/// What limited each case and how busy it was, sizes of one algorithm together: "all_reduce ring_1d: latency up to
/// 64 KiB, link (62 to 98 % busy)".
void print_limits(std::ostream& out, const run_report& report)
{
    struct stretch {
        std::string limit;
        std::uint64_t last_bytes;
        double least, most; // share of the time, 0 to 1
    };
    const auto share_of = [](const case_shares& shares, const std::string& limit) {
        for (const auto& [name, share] : shares.listed())
            if (name == limit)
                return share;
        return 0.0; // latency
    };
    std::vector<const result_row*> rows; // files give sizes in any order, and auto takes an algorithm of others
    for (const result_row& row : report.rows)
        rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), [](const result_row* a, const result_row* b) { return a->size_bytes < b->size_bytes; });
    std::vector<std::pair<std::string, std::vector<stretch>>> all; // in the order of the report
    const auto name_of_row = [](const result_row& row) {
        return fmt::format("{} {}{}{}", row.op, row.algorithm, row.type == "int32" ? "" : " " + row.type, row.group.empty() ? "" : " (" + row.group + ")");
    };
    const auto of_name = [&all](const std::string& name) {
        return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
    };
    for (const result_row& row : report.rows)
        if (!limited_by(row.shares).empty() && of_name(name_of_row(row)) == all.end())
            all.push_back({name_of_row(row), {}});
    for (const result_row* const r : rows) {
        const result_row& row = *r;
        const std::string limit = limited_by(row.shares);
        if (limit.empty())
            continue;
        std::vector<stretch>& stretches = of_name(name_of_row(row))->second;
        const double share = share_of(row.shares, limit);
        if (stretches.empty() || stretches.back().limit != limit)
            stretches.push_back({limit, row.size_bytes, share, share});
        stretch& now = stretches.back();
        now = {limit, row.size_bytes, std::min(now.least, share), std::max(now.most, share)};
    }
    const char* label = "Limited by";
    for (const auto& [name, stretches] : all) {
        std::string text;
        for (std::size_t i = 0; i < stretches.size(); ++i)
            text += fmt::format("{}{}{}{}", i == 0 ? "" : ", ", stretches[i].limit, busy_text(stretches[i].limit, stretches[i].least, stretches[i].most),
                                i + 1 == stretches.size() ? "" : " up to " + to_string(data_size(stretches[i].last_bytes)));
        out << fmt::format("{:<17}{}: {}\n", label, name, text);
        label = "";
    }
}

void print_links(std::ostream& out, const run_report& report, const table_style& style)
{
    if (report.counted_from_ps != 0)
        out << fmt::format("{:<17}links, {}, hops and ranks since the job was interrupted at {} us; what went before is not in them\n", "Counters", report.memory.memory,
                           exact_us(report.counted_from_ps));
    if (report.busiest_links.empty())
        return;
    std::size_t name_width = 0;
    for (const auto& link : report.busiest_links)
        name_width = std::max(name_width, display_width(link.name));
    constexpr std::size_t k_label_and_numbers = 17 + 22;
    if (style.width > 0)
        name_width = std::min<std::size_t>(name_width, std::max<std::size_t>(style.width, k_label_and_numbers + 12) -
                                                           k_label_and_numbers);
    const char* label = "Busiest links";
    for (const auto& link : report.busiest_links) {
        out << fmt::format("{:<17}{}  {:>10}  {:>6.2f} %\n", label, padded(cut(link.name, name_width), name_width),
                           short_bytes(link.bytes), link.utilisation_percent);
        label = "";
    }
}

/// Whether any result was compared with the right one.
bool carried_data(const run_report& r)
{
    const auto step_did = [](const training_step_row& step) {
        return std::any_of(step.parts.begin(), step.parts.end(),
                           [](const training_part_row& part) { return part.wrong.has_value(); });
    };
    return std::any_of(r.rows.begin(), r.rows.end(), [](const result_row& row) { return row.wrong.has_value(); }) ||
           (r.training && std::any_of(r.training->steps.begin(), r.training->steps.end(), step_did));
}

void print_summary(std::ostream& out, const run_report& r, const table_style& style)
{
    const auto line = [&](const char* label, const std::string& text) {
        out << fmt::format("{:<17}{}\n", label, text);
    };

    const memory_traffic& m = r.memory;
    std::string traffic = fmt::format("{} read, {} written", short_bytes(m.bytes_read), short_bytes(m.bytes_written));
    if (!m.busiest_chip.empty())
        traffic += fmt::format("; busiest {} with {}", m.busiest_chip, short_bytes(m.busiest_bytes));
    line((m.memory + " traffic").c_str(), traffic);
    if (!r.transport.empty())
        line("Transport", r.transport);
    if (r.microcode_ps != 0)
        line("Microcode", fmt::format("of CCUs written in up to {} us before a collective; not in its time", rounded_us(r.microcode_ps)));
    if (!r.failure.empty())
        line("Stopped", r.failure.substr(0, r.failure.find('\n')));
    line("Simulated time", exact_us(r.simulated_time_ps) + " us");
    line("Host time", fmt::format("{:.2f} s, of which {:.2f} s of CPU for the simulation{}", r.host_seconds,
                                  r.host_cpu_seconds, carried_data(r) ? ", the rest for data, checks and other programs" : ""));
    line("Packet hops",
         fmt::format("{}, {:.2f} million per CPU second; {} timeline events, {} kernel activations", r.packet_hops,
                     r.packet_hops_per_cpu_s / 1e6, r.timeline_events, r.kernel_activations));
    std::uint64_t wrong = 0;
    std::size_t checked = 0;
    std::size_t results = 0, bad = 0;
    const auto add = [&](const std::optional<std::uint64_t>& wrong_here) {
        wrong += wrong_here.value_or(0);
        checked += wrong_here ? 1 : 0;
        bad += wrong_here.value_or(0) != 0 ? 1 : 0;
        ++results;
    };
    for (const auto& row : r.rows)
        add(row.wrong);
    if (r.training)
        for (const training_step_row& step : r.training->steps)
            for (const training_part_row& part : step.parts)
                add(part.wrong);
    const std::string without = checked == results ? "" : fmt::format(", {} carried no data", results - checked);
    if (checked == 0)
        line("Wrong elements",
             r.failure.empty() ? "n/a: nothing was checked, the run carried no data" : "n/a: the run did not complete");
    else if (wrong == 0)
        line("Wrong elements", fmt::format("0 in {} of {} results{}", checked, results, without));
    else
        out << fmt::format("{}{:<17}{} in {} of {} checked results{}{}\n", style.color ? k_red : "", "Wrong elements", wrong,
                           bad, checked, without, style.color ? k_plain : "");
    line("Digest", fmt::format("{:016x}", r.digest));
}

double finite(double value, const std::string& what)
{
    if (!std::isfinite(value))
        throw bug("report", 0, fmt::format("{} is {}, which no file can hold", what, value));
    return value;
}

/// The nearest double prints back as the exact decimal up to 15 digits: 16 minutes of simulated time.
double json_us(std::uint64_t ps) { return static_cast<double>(ps) / 1e6; }

nlohmann::ordered_json repeats_json(const std::vector<std::uint64_t>& times_ps)
{
    const time_spread spread = spread_of(times_ps);
    nlohmann::ordered_json j;
    j["count"] = times_ps.size();
    j["min_us"] = json_us(spread.least_ps);
    j["max_us"] = json_us(spread.most_ps);
    j["standard_deviation_us"] = json_us(spread.deviation_ps);
    j["times_us"] = nlohmann::ordered_json::array();
    for (const std::uint64_t ps : times_ps)
        j["times_us"].push_back(json_us(ps));
    return j;
}

nlohmann::ordered_json training_json(const training_report& t)
{
    using json = nlohmann::ordered_json;
    json j;
    j["algorithm"] = t.algorithm;
    j["transposed"] = t.transposed;
    j["overlap"] = t.overlap;
    j["steps"] = json::array();
    for (const training_step_row& s : t.steps) {
        json step;
        step["time_us"] = json_us(s.time_ps);
        step["compute_us"] = json_us(s.compute_ps);
        step["communication_us"] = json_us(s.communication_ps);
        step["exposed_us"] = json_us(s.exposed_ps);
        step["share"] = finite(s.share, "share of a training step");
        if (s.update_ps != 0)
            step["update_us"] = json_us(s.update_ps);
        if (s.beside_checkpoint)
            step["beside_checkpoint"] = true;
        if (s.samples != 0) {
            step["input_us"] = json_us(s.input_ps);
            step["samples"] = s.samples;
            step["samples_per_second"] = finite(s.samples_per_second, "samples per second");
            step["law_samples_per_second"] = finite(s.law_per_second, "samples per second by the law");
            step["links_samples_per_second"] = s.links_per_second == 0 ? json() : json(finite(s.links_per_second, "samples per second by the links"));
        }
        step["groups"] = json::array();
        step["exchanges"] = json::array();
        for (const training_part_row& p : s.parts) {
            json part;
            part["name"] = p.name;
            part["type"] = p.type;
            part["size_bytes"] = p.size_bytes;
            part["count"] = p.count;
            part["ranks_per_group"] = p.ranks_per_group ? json(*p.ranks_per_group) : json();
            part["calls"] = p.calls;
            part["ready_us"] = json_us(p.ready_ps);
            part["start_us"] = json_us(p.start_ps);
            part["time_us"] = json_us(p.time_ps);
            part["wrong"] = p.wrong ? json(*p.wrong) : json();
            if (p.shares.known)
                part["limited_by"] = limited_by(p.shares);
            step[p.is_exchange ? "exchanges" : "groups"].push_back(std::move(part));
        }
        j["steps"].push_back(std::move(step));
    }
    return j;
}

nlohmann::ordered_json hosts_json(const host_report& hosts)
{
    using json = nlohmann::ordered_json;
    json j;
    j["checkpoints"] = json::array();
    for (const checkpoint_row& c : hosts.checkpoints) {
        json row;
        row["number"] = c.number;
        row["load"] = c.load;
        row["bytes"] = c.bytes;
        row["start_us"] = json_us(c.start_ps);
        row["time_us"] = json_us(c.time_ps);
        row["waited_us"] = json_us(c.waited_ps);
        row["rate_GBps"] = finite(c.rate_GBps, "rate of a checkpoint");
        row["bound_us"] = finite(c.bound_us, "bound of a checkpoint");
        row["bound_by"] = c.bound_by;
        row["bound_share"] = finite(c.bound_share, "share of a checkpoint's bound");
        row["busiest"] = c.busiest;
        row["busiest_share"] = finite(c.busiest_share, "use of the busiest resource");
        row["resent"] = c.resent;
        row["wrong_bytes"] = c.wrong_bytes ? json(*c.wrong_bytes) : json();
        row["checksum"] = c.wrong_bytes ? json(fmt::format("{:016x}", c.checksum)) : json();
        j["checkpoints"].push_back(std::move(row));
    }
    j["traffic"] = json::array();
    for (const stream_row& s : hosts.streams) {
        json row;
        row["name"] = s.name;
        row["direction"] = s.direction;
        row["asked_GBps"] = finite(s.asked_GBps, "rate of a stream");
        row["rate_GBps"] = finite(s.rate_GBps, "rate of a stream");
        row["bytes"] = s.bytes;
        row["messages"] = s.messages;
        row["late"] = s.late;
        row["lost"] = s.lost;
        row["mean_latency_us"] = json_us(s.mean_latency_ps);
        row["longest_latency_us"] = json_us(s.longest_latency_ps);
        row["wrong_bytes"] = s.wrong_bytes ? json(*s.wrong_bytes) : json();
        j["traffic"].push_back(std::move(row));
    }
    j["step_alone_us"] = hosts.step_alone_ps == 0 ? json() : json(json_us(hosts.step_alone_ps));
    return j;
}

nlohmann::ordered_json stat_json(const report_stat& stat)
{
    nlohmann::ordered_json j;
    j["name"] = stat.name;
    if (const auto* count = std::get_if<std::uint64_t>(&stat.value))
        j["value"] = *count;
    else
        j["value"] = finite(std::get<double>(stat.value), "statistic " + stat.name);
    j["unit"] = stat.unit;
    j["description"] = stat.description;
    return j;
}

} // namespace

std::string exact_us(std::uint64_t ps)
{
    std::string text = fmt::format("{}.{:06}", ps / 1'000'000, ps % 1'000'000);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
        text.pop_back();
    return text;
}

time_spread spread_of(const std::vector<std::uint64_t>& times_ps)
{
    if (times_ps.empty())
        return {};
    const auto [least, most] = std::minmax_element(times_ps.begin(), times_ps.end());
    double mean = 0; // of the distances from the least: small numbers lose nothing
    for (const std::uint64_t t : times_ps)
        mean += static_cast<double>(t - *least) / static_cast<double>(times_ps.size());
    double squares = 0;
    for (const std::uint64_t t : times_ps)
        squares += (static_cast<double>(t - *least) - mean) * (static_cast<double>(t - *least) - mean);
    const double variance = times_ps.size() < 2 ? 0 : squares / static_cast<double>(times_ps.size() - 1);
    return {*least, *most, static_cast<std::uint64_t>(std::llround(std::sqrt(variance)))};
}

void print_table(std::ostream& out, const run_report& report, const table_style& style)
{
    out << "# weft" << (report.version.empty() ? "" : " ") << report.version << (report.title.empty() ? "" : ", ")
        << report.title << "\n#\n";
    for (const auto& warning : report.warnings) {
        if (!style.warnings)
            break;
        // Those of the file have it.
        const char* const label = warning.find("warning: ") == std::string::npos ? "warning: " : "";
        out << (style.color ? k_yellow : "") << "# " << label << warning << (style.color ? k_plain : "") << '\n';
    }
    print_rows(out, report, style);
    print_training(out, report, style);
    print_hosts(out, report, style);
    print_choices(out, report);
    print_limits(out, report);
    print_links(out, report, style);
    print_summary(out, report, style);
    out.flush();
}

nlohmann::ordered_json to_json(const run_report& r)
{
    using json = nlohmann::ordered_json;
    json j;
    j["schema"] = k_results_schema;
    j["version"] = r.version;
    j["results"] = json::array();
    for (const auto& row : r.rows) {
        const std::string where = fmt::format(" of {} {} {} B", row.op, row.algorithm, row.size_bytes);
        json line;
        line["op"] = row.op;
        line["algorithm"] = row.algorithm;
        if (!row.group.empty())
            line["group"] = row.group;
        line["type"] = row.type;
        line["redop"] = row.redop;
        line["size_bytes"] = row.size_bytes;
        line["count"] = row.count;
        line["time_us"] = json_us(row.time_ps);
        if (row.token_bytes != 0) {
            line["token_bytes"] = row.token_bytes;
            line["experts_per_token"] = row.experts_per_token;
            line["expert_skew"] = row.expert_skew;
        }
        if (row.transposed)
            line["transposed"] = true;
        line["algbw_GBps"] = finite(row.algbw_GBps, "algbw" + where);
        line["busbw_GBps"] = finite(row.busbw_GBps, "busbw" + where);
        line["wrong"] = row.wrong ? json(*row.wrong) : json();
        line["answers"] = row.answers ? json(fmt::format("{:016x}", *row.answers)) : json();
        line["steps"] = row.steps;
        line["train_packets"] = row.train_packets;
        if (row.bound_us > 0) {
            line["bound_us"] = finite(row.bound_us, "bound" + where);
            line["bound_share"] = finite(row.bound_us / (static_cast<double>(row.time_ps) / 1e6), "share" + where);
            line["bound_by"] = row.bound_by;
        }
        if (row.shares.known) {
            line["limited_by"] = limited_by(row.shares);
            for (const auto& [part, share] : row.shares.listed())
                line["busy_shares"][part] = finite(share, std::string("busy share") + where);
        }
        if (!row.chosen_by.empty())
            line["chosen_by"] = row.chosen_by;
        for (const auto& [algorithm, us] : row.predicted)
            line["predicted_us"][algorithm] = finite(us, "prediction" + where);
        if (row.alone_ps != 0)
            line["alone_us"] = json_us(row.alone_ps);
        if (!row.repeats_ps.empty())
            line["repeats"] = repeats_json(row.repeats_ps);
        j["results"].push_back(std::move(line));
    }
    if (r.training)
        j["training_step"] = training_json(*r.training);
    if (r.hosts)
        j["host"] = hosts_json(*r.hosts);
    j["links"] = json::array();
    for (const link_load& l : r.links)
        j["links"].push_back({{"name", l.name}, {"wire_bytes", l.bytes}, {"busy_share", finite(l.utilisation_percent / 100, "use of " + l.name)}});
    j["ranks"] = json::array();
    for (const rank_row& one : r.ranks) {
        json row{{"rank", one.rank}, {"stats", json::object()}};
        for (const auto& [name, value] : one.stats)
            row["stats"][name] = value;
        j["ranks"].push_back(std::move(row));
    }
    j["digest"] = fmt::format("{:016x}", r.digest); // a string: many readers of JSON keep 53 bits of a number
    j["simulated_time_ps"] = r.simulated_time_ps;
    if (r.microcode_ps != 0)
        j["microcode_ps"] = r.microcode_ps;
    if (r.counted_from_ps != 0)
        j["counted_from_ps"] = r.counted_from_ps;
    j["host_seconds"] = finite(r.host_seconds, "host_seconds");
    j["packet_hops"] = r.packet_hops;
    j["packet_hops_per_cpu_s"] = finite(r.packet_hops_per_cpu_s, "packet_hops_per_cpu_s");
    j["timeline_events"] = r.timeline_events;
    j["config"] = r.config;
    j["failure"] = r.failure;
    j["failed_case"] = json();
    if (r.failed)
        j["failed_case"] = json{{"op", r.failed->op},
                                {"algorithm", r.failed->algorithm},
                                {"type", r.failed->type},
                                {"redop", r.failed->redop},
                                {"size_bytes", r.failed->size_bytes},
                                {"count", r.failed->count},
                                {"start_us", json_us(r.failed->start_ps)}};
    j["warnings"] = r.warnings;
    j["stats"] = json::array();
    const auto add = [&](const report_stat& stat) { j["stats"].push_back(stat_json(stat)); };
    add({"run.host_cpu_seconds", r.host_cpu_seconds, "s",
         "CPU time of the simulation on the host, without making and checking data"});
    add({"run.kernel_activations", r.kernel_activations, "1", "times the SystemC kernel called the timeline"});
    for (const auto& link : r.busiest_links) {
        add({"busiest_link." + link.name + ".bytes", link.bytes, "B", "sent over this link"});
        add({"busiest_link." + link.name + ".utilisation", link.utilisation_percent, "%",
             "busy time / simulated time, of a restarted job since its last restart"});
    }
    for (const auto& stat : r.stats)
        add(stat);
    j[k_checksum] = checksum_of(j);
    return j;
}

void write_results(const std::string& dir, const run_report& report)
{
    // Names that are not UTF-8 (a file name in the config) must not cost the user the results of a long run.
    const std::string text = to_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    write_file_atomically(dir + "/results.json", text + "\n");
}

} // namespace weft
