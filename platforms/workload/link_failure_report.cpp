// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/link_failure_report.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
/// A failure, and what it did; of a cable, both directions together.
struct told_failure : link_failure {
    bool both_ways = false;
};

/// `other` is the way back of `f`, which failed with it.
bool is_way_back(const fabric_engine& fabric, const link_failure& f, const link_failure& other)
{
    return f.at_ps == other.at_ps && f.restored_ps == other.restored_ps && fabric.is_router_link(f.link) &&
           fabric.is_router_link(other.link) && fabric.link_ends(f.link).first == fabric.link_ends(other.link).second &&
           fabric.link_ends(f.link).second == fabric.link_ends(other.link).first;
}

template <class F> void for_each_failure(const machine& m, F&& tell)
{
    for (const fabric_engine* fabric : m.fabrics()) {
        const std::vector<link_failure> all = fabric->link_failures();
        std::vector<bool> told(all.size(), false);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (told[i] || !m.tells_failure(*fabric, all[i]))
                continue;
            told_failure f{all[i], false};
            for (std::size_t k = i + 1; k < all.size() && !f.both_ways; ++k)
                if (!told[k] && is_way_back(*fabric, all[i], all[k])) {
                    told[k] = f.both_ways = true;
                    f.lost_packets += all[k].lost_packets;
                    f.waiting += all[k].waiting;
                    f.affected = f.affected || all[k].affected;
                    f.exhausted = f.exhausted || all[k].exhausted;
                    f.declared_ps = std::min(f.declared_ps, all[k].declared_ps);
                }
            tell(*fabric, f);
        }
    }
}

std::string name_of_link(const fabric_engine& fabric, const told_failure& f)
{
    return fmt::format("link {} to {}{}", fabric.link_name(f.link), fabric.far_end_name(f.link),
                       f.both_ways ? " and back" : "");
}

/// Times of the file are told as they stand there; those at which bit errors end a link are no round numbers.
std::string at_text(const told_failure& f) { return f.exhausted ? rounded_text(duration(f.at_ps)) : to_string(duration(f.at_ps)); }

std::string packets_text(std::uint64_t n) { return fmt::format("{} packet{}", n, n == 1 ? "" : "s"); }

/// "1 packet was cut on the wire and lost, 2 wait for it"
std::string consequence(const told_failure& f)
{
    std::string text;
    if (f.lost_packets > 0)
        text = fmt::format("{} {} {}", packets_text(f.lost_packets), f.lost_packets == 1 ? "was" : "were",
                           f.declared_ps == k_never_ps ? "cut on the wire and lost" : "lost on it or before it");
    if (f.waiting > 0)
        text +=
            fmt::format("{}{} wait{} for it", text.empty() ? "" : ", ",
                        text.empty() ? packets_text(f.waiting) : std::to_string(f.waiting), f.waiting == 1 ? "s" : "");
    return text;
}
} // namespace

std::string describe_link_failures(const machine& m, std::uint64_t start_ps, const char* what)
{
    std::string text;
    for_each_failure(m, [&](const fabric_engine& fabric, const told_failure& f) {
        if (!f.affected)
            return;
        std::string when;
        if (f.at_ps == 0)
            when = "is down from time zero, and routing does not know";
        else if (f.at_ps > start_ps)
            when = fmt::format("went down at {}, {} after the start of {}", at_text(f),
                               rounded_text(duration(f.at_ps - start_ps)), what);
        else
            when = fmt::format("went down at {}, before the start of {} at {}",
                               at_text(f), what, rounded_text(duration(start_ps)));
        text += fmt::format("{}{} {}: {}{}.", text.empty() ? "" : "\n", name_of_link(fabric, f), when, consequence(f),
                            m.resends() && f.lost_packets > 0 ? "; what is lost is sent again" : "");
    });
    return text;
}

std::vector<std::string> link_failure_warnings(const machine& m, std::uint64_t end_ps, bool completed)
{
    std::vector<std::string> all;
    for_each_failure(m, [&](const fabric_engine& fabric, const told_failure& f) {
        const std::string when = f.at_ps == 0 ? "is down from time zero"
                                              : fmt::format("{} at {}", f.at_ps > end_ps ? "goes down" : "went down",
                                                            at_text(f));
        std::string outcome;
        if (f.affected && completed && m.resends() && f.lost_packets > 0)
            outcome = fmt::format(": {} {} lost on it or before it; data among them was sent again.", packets_text(f.lost_packets),
                                  f.lost_packets == 1 ? "was" : "were");
        else if (f.affected && completed && f.restored_ps <= end_ps && f.lost_packets == 0)
            outcome = fmt::format(": what waited for it went on at {}.", to_string(duration(f.restored_ps)));
        else if (f.affected && completed)
            outcome = fmt::format(": {}, and no collective needed it.", consequence(f));
        else if (f.affected)
            return;
        else if (f.at_ps > end_ps)
            outcome = fmt::format(", after the end of the run at {}: the fault had no effect.",
                                  rounded_text(duration(end_ps)));
        else if (f.declared_ps <= end_ps)
            outcome = fmt::format(", and nothing was sent over it since: from {} {} packets went around it.", rounded_text(duration(f.declared_ps)),
                                  f.restored_ps <= end_ps ? "to " + to_string(duration(f.restored_ps)) : "on");
        else
            outcome = ", and nothing was sent over it since: the fault had no effect.";
        all.push_back(fmt::format("faults: {} {}{}", name_of_link(fabric, f), when, outcome));
    });
    return all;
}

std::vector<failed_wire> failed_wires(const machine& m, std::uint64_t from_ps, std::uint64_t to_ps)
{
    std::vector<failed_wire> all;
    for (const fabric_engine* fabric : m.fabrics())
        for (const link_failure& one : fabric->link_failures()) {
            if (!one.affected || one.at_ps > to_ps || one.restored_ps < from_ps || !m.tells_failure(*fabric, one))
                continue;
            const told_failure f{one, false};
            const std::string when = f.restored_ps > to_ps ? "down since " + at_text(f)
                                                           : fmt::format("down from {} to {}", at_text(f), to_string(duration(f.restored_ps)));
            const std::string consequence_text = consequence(f);
            all.push_back({fabric, fabric->link_name(f.link), when + (consequence_text.empty() ? "" : ": " + consequence_text)});
        }
    return all;
}

bool link_failure_holds_packets(const machine& m)
{
    bool holds = false;
    for_each_failure(m, [&](const fabric_engine&, const told_failure& f) { holds = holds || f.affected; });
    return holds;
}

} // namespace weft
