// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Faults as they stand in the file: which devices and links they mean, and what cannot be.
#include "platforms/config/suggest.h"
#include "platforms/ub_mesh/ub_mesh.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace weft {

namespace {

using name_map = std::map<std::string, std::uint32_t>;

name_map names_of(const ub_plan& plan)
{
    name_map names;
    for (std::uint32_t r = 0; r < plan.routers.size(); ++r)
        names.emplace(plan.routers[r].name, r);
    return names;
}

/// Some neighbours, for a sentence.
std::string neighbours_of(const ub_plan& plan, std::uint32_t router)
{
    constexpr std::size_t k_show = 6;
    std::vector<std::string> names;
    for (const ub_link_plan& l : plan.links)
        if (l.from == router)
            names.push_back(plan.routers[l.to].name);
    const std::size_t all = names.size();
    if (names.size() > k_show)
        names.resize(k_show);
    return fmt::format("{}{}", fmt::join(names, ", "), all > k_show ? fmt::format(" and {} more", all - k_show) : "");
}

/// "did you mean 'npu(p0,r0,b0,1)'? " or nothing.
std::string meant_among(const name_map& names, const std::string& word, const char* kind = "")
{
    std::vector<std::string> all;
    for (const auto& [name, router] : names)
        if (name.rfind(kind, 0) == 0)
            all.push_back(name);
    const std::string meant = closest(word, all);
    return meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant);
}

bool same_ends(const ub_link_fault_config& a, const ub_link_fault_config& b)
{
    return (a.from == b.from && a.to == b.to) || (a.from == b.to && a.to == b.from);
}

/// Both say that it is down, and when the one begins the other has not ended.
bool overlap(const ub_link_fault_config& a, const ub_link_fault_config& b)
{
    const auto end = [](const ub_link_fault_config& f) { return f.until ? f.until->value() : k_never_ps; };
    return a.goes_down() && b.goes_down() && a.at.value() <= end(b) && b.at.value() <= end(a);
}

/// What will not be as the user may expect.
void warn_of_times(const ub_mesh_config& config, std::vector<config_problem>& p)
{
    const ub_faults_config& faults = config.faults;
    const auto warn = [&](std::string key, std::string text) {
        p.push_back({severity::warning, "faults." + std::move(key), std::move(text)});
    };
    const auto behind_the_end = [&](const std::string& key, duration at, const char* what) {
        if (at.value() > config.run.time_limit.value())
            warn(key, fmt::format("is {}, behind time_limit = {}: {} in this run.", to_string(at),
                                  to_string(config.run.time_limit), what));
    };
    for (std::size_t i = 0; i < faults.links.size(); ++i) {
        const ub_link_fault_config& f = faults.links[i];
        const std::string at = fmt::format("links.{}.at", i);
        behind_the_end(at, f.at, "nothing will happen to the link");
        if (f.at.value() == 0 || !f.goes_down())
            continue;
        if (config.ub.transport == ub_transport::ctp)
            warn(at,
                 fmt::format(
                     "is {}, and with ub.transport: ctp what is on a link when it fails is lost, and nobody sends it "
                     "again: a collective that needs it ends as failed. Write ub.transport: rtp to survive it.",
                     to_string(f.at)));
        else if (faults.notification == ub_notification::none)
            warn("notification",
                 "is none: sources go on using a link that has failed, and send what is lost there again "
                 "after ub.rtp_timeout; write direct or hop_by_hop.");
    }
    for (std::size_t i = 0; i < faults.npus.size(); ++i)
        behind_the_end(fmt::format("npus.{}.at", i), faults.npus[i].at, "the NPU will not fail");
    for (std::size_t i = 0; i < faults.devices.size(); ++i) {
        const ub_device_fault_config& f = faults.devices[i];
        const std::string at = fmt::format("devices.{}.at", i);
        behind_the_end(at, f.at, "the device will not fail");
        if (f.at.value() == 0 || stands_in(config, f))
            continue;
        // No collective goes by it, and others take its part.
        const bool host = f.device.rfind("cpu(", 0) == 0 || f.device.rfind("nic(", 0) == 0;
        if (config.ub.transport == ub_transport::ctp && host)
            continue;
        if (config.ub.transport == ub_transport::ctp)
            warn(at, fmt::format("is {}, and with ub.transport: ctp what is on links of the device when it fails is lost, and nobody sends it "
                                 "again: a collective that needs it ends as failed. Write ub.transport: rtp to survive it.",
                                 to_string(f.at)));
        else if (faults.notification == ub_notification::none)
            warn("notification", "is none: sources go on using a device that has failed, and send what is lost there again after "
                                 "ub.rtp_timeout; write direct or hop_by_hop.");
    }
}

std::uint32_t rack_of(const ub_shape& shape, std::uint32_t npu) { return npu / shape.npus_per_rack(); }

/// Positions of NPUs that have failed: those that a spare one stands in for, or the others. The first of a rack gets
/// the spare NPU.
std::vector<std::uint32_t> failed_npus(const ub_mesh_config& config, bool with_spare)
{
    std::vector<std::pair<std::uint64_t, std::uint32_t>> by_time;
    for (const ub_npu_fault_config& f : config.faults.npus)
        if (const auto npu = npu_by_name(config.mesh, f.npu))
            by_time.emplace_back(f.at.value(), *npu);
    std::sort(by_time.begin(), by_time.end());
    std::vector<bool> free(config.mesh.racks(), config.faults.recovery == ub_recovery::spare);
    for (const ub_device_fault_config& f : config.faults.devices)
        if (const auto rack = rack_of_spare(config.mesh, f.device))
            free[*rack] = false;
    std::vector<std::uint32_t> all;
    for (const auto& [at_ps, npu] : by_time) {
        const std::uint32_t rack = rack_of(config.mesh, npu);
        if (free[rack] == with_spare)
            all.push_back(npu);
        free[rack] = false;
    }
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

std::optional<std::uint32_t> rack_of_spare(const ub_shape& shape, const std::string& name)
{
    unsigned pod = 0, rack = 0;
    int end = 0;
    if (std::sscanf(name.c_str(), "spare(p%u,r%u)%n", &pod, &rack, &end) != 2 || end != static_cast<int>(name.size()) ||
        pod >= shape.pods || rack >= shape.racks_per_pod())
        return std::nullopt;
    return pod * shape.racks_per_pod() + rack;
}

bool stands_in(const ub_mesh_config& config, const ub_device_fault_config& f)
{
    const auto rack = rack_of_spare(config.mesh, f.device);
    return rack && config.faults.recovery == ub_recovery::spare &&
           std::any_of(config.faults.npus.begin(), config.faults.npus.end(), [&](const ub_npu_fault_config& n) {
               const auto npu = npu_by_name(config.mesh, n.npu);
               return npu && rack_of(config.mesh, *npu) == *rack && n.at.value() <= f.at.value();
           });
}

std::optional<std::uint32_t> npu_by_name(const ub_shape& shape, const std::string& name)
{
    unsigned pod = 0, rack = 0, board = 0, unit = 0;
    int end = 0;
    if (std::sscanf(name.c_str(), "npu(p%u,r%u,b%u,%u)%n", &pod, &rack, &board, &unit, &end) != 4 ||
        end != static_cast<int>(name.size()) || pod >= shape.pods || rack >= shape.racks_per_pod() ||
        board >= shape.boards || unit >= shape.npus)
        return std::nullopt;
    return ((pod * shape.racks_per_pod() + rack) * shape.boards + board) * shape.npus + unit;
}

std::vector<config_problem> ub_faults_config::validate() const
{
    std::vector<config_problem> p;
    for (std::size_t i = 0; i < links.size(); ++i) {
        const ub_link_fault_config& f = links[i];
        const auto refuse = [&](const char* key, std::string text) {
            p.push_back({severity::error, fmt::format("links.{}{}", i, key), std::move(text)});
        };
        if (f.until && f.until->value() <= f.at.value())
            refuse(".until", fmt::format("is {}, not after at = {}.", to_string(*f.until), to_string(f.at)));
        if (f.lanes && f.until)
            refuse(".until", "does not go with lanes: a narrowed link stays narrow.");
        for (config_problem& found : limit_problems(f))
            refuse(("." + found.key).c_str(), std::move(found.message));
        if (f.bit_error_rate && (f.at.value() != 0 || f.until || f.lanes))
            refuse(".bit_error_rate", "stands alone: write a second entry for what happens to the link later.");
    }
    return p;
}

bool ub_faults_config::only_from_the_start() const
{
    const auto now = [](const auto& f) { return f.at.value() == 0; };
    return std::all_of(npus.begin(), npus.end(), now) && std::all_of(devices.begin(), devices.end(), now);
}

bool ub_faults_config::links_fail_later() const
{
    return std::any_of(links.begin(), links.end(),
                       [](const ub_link_fault_config& f) {
                           return (f.goes_down() && (f.at.value() != 0 || f.until)) || f.bit_error_rate.value_or(0) > 0;
                       }) ||
           std::any_of(devices.begin(), devices.end(), [](const auto& f) { return f.at.value() != 0; });
}

std::vector<key_rule<ub_faults_config>> ub_faults_config::key_rules()
{
    using faults = ub_faults_config;
    const auto restarts = [](const faults& f) {
        return std::any_of(f.npus.begin(), f.npus.end(), [](const auto& n) { return n.at.value() != 0; }) ||
               (!f.npus.empty() && std::any_of(f.devices.begin(), f.devices.end(), [](const auto& d) { return d.at.value() != 0; }));
    };
    return {
        {"notice_software", "with notification: direct",
         [](const faults& f) { return f.notification == ub_notification::direct; }},
        {"flood_per_hop", "with notification: hop_by_hop",
         [](const faults& f) { return f.notification == ub_notification::hop_by_hop; }},
        {"notice_payload", "where sources are told",
         [](const faults& f) { return f.notification != ub_notification::none; }},
        {"notice_timeout", "with notification: direct",
         [](const faults& f) { return f.notification == ub_notification::direct; }},
        {"notice_tries", "with notification: direct",
         [](const faults& f) { return f.notification == ub_notification::direct; }},
        {"notice_payload", "for links that fail while the machine runs",
         [](const faults& f) { return f.links_fail_later(); }},
        {"notice_timeout", "for links that fail while the machine runs",
         [](const faults& f) { return f.links_fail_later(); }},
        {"notice_tries", "for links that fail while the machine runs",
         [](const faults& f) { return f.links_fail_later(); }},
        {"table_write", "where sources are told",
         [](const faults& f) { return f.notification != ub_notification::none; }},
        {"notification", "for links that fail while the machine runs",
         [](const faults& f) { return f.links_fail_later(); }},
        {"notice_software", "for links that fail while the machine runs",
         [](const faults& f) { return f.links_fail_later(); }},
        {"flood_per_hop", "for links that fail while the machine runs",
         [](const faults& f) { return f.links_fail_later(); }},
        {"table_write", "for links that fail while the machine runs",
         [](const faults& f) { return f.links_fail_later(); }},
        {"recovery", "for NPUs that fail", [](const faults& f) { return !f.npus.empty(); }},
        {"take_over", "for NPUs that fail while the machine runs", restarts},
        {"checkpoint_load", "for NPUs that fail while the machine runs", restarts},
    };
}

namespace {
/// Names, and devices that fail twice.
void check_device(const ub_faults_config& faults, std::size_t i, const ub_plan& plan, const name_map& names, std::vector<config_problem>& p)
{
    const std::string& name = faults.devices[i].device;
    const std::string key = fmt::format("faults.devices.{}.device", i);
    const auto refuse = [&](std::string text) { p.push_back({severity::error, key, std::move(text)}); };
    const auto at = names.find(name);
    if (name.empty())
        return refuse("is missing; write the name of the device that fails, for example \"leaf(p0,r0,1.1)\".");
    if (name.rfind("npu(", 0) == 0)
        return refuse(fmt::format("is {}, and NPUs that fail have a list of their own; write it in faults.npus.", in_quotes(name)));
    if (at == names.end()) {
        std::vector<std::string> kinds; // the first of each
        for (const ub_router_plan& r : plan.routers) {
            const std::string kind = r.name.substr(0, r.name.find('('));
            if (kind != "npu" && std::none_of(kinds.begin(), kinds.end(), [&](const std::string& k) { return k.rfind(kind + "(", 0) == 0; }))
                kinds.push_back(r.name);
        }
        return refuse(kinds.empty() ? fmt::format("is {}, and this machine has no devices beside NPUs.", in_quotes(name))
                                    : fmt::format("is {}, and no device of this machine has that name; {}there are, for example, {}.", in_quotes(name),
                                                  meant_among(names, name), fmt::join(kinds, ", ")));
    }
    for (std::size_t k = 0; k < i; ++k)
        if (faults.devices[k].device == name)
            return refuse(fmt::format("is {}, which fails once already.", name));
}
} // namespace

ub_mesh_config config_at(const ub_mesh_config& config, std::uint64_t at_ps)
{
    ub_mesh_config then = config;
    const auto drop_later = [&](auto& list, const auto& of_the_job) {
        list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& f) { return f.at.value() > at_ps && of_the_job(f); }), list.end());
    };
    drop_later(then.faults.npus, [](const auto&) { return true; });
    drop_later(then.faults.devices, [&](const auto& f) { return stands_in(config, f); });
    return then;
}

std::vector<ub_faulty_device> faulty_devices(const ub_mesh_config& config, const ub_topology& topology)
{
    std::vector<ub_faulty_device> all;
    if (config.faults.devices.empty())
        return all;
    const name_map names = names_of(topology.plan());
    for (const ub_device_fault_config& f : config.faults.devices)
        all.push_back({&f, names.at(f.device), links_of(topology, names.at(f.device)), f.at.value() != 0 && stands_in(config, f)});
    return all;
}

std::vector<std::uint32_t> links_of(const ub_topology& topology, std::uint32_t router)
{
    std::vector<std::uint32_t> all;
    for (std::uint32_t port = 0; port < topology.ports(router); ++port)
        if (const std::uint32_t l = topology.out_link(router, port); l != ub_topology::k_none)
            all.insert(all.end(), {l, topology.reverse_of(l)});
    return all;
}

void check_faults(const ub_mesh_config& config, std::vector<config_problem>& p)
{
    const ub_faults_config& faults = config.faults;
    if (faults.links.empty() && faults.npus.empty() && faults.devices.empty())
        return;
    const ub_topology topology(config.mesh, config.cables);
    const ub_plan& plan = topology.plan();
    const name_map names = names_of(plan);
    const std::string example = plan.routers[topology.npu_router(0)].name;
    for (std::size_t i = 0; i < faults.links.size(); ++i) {
        const ub_link_fault_config& f = faults.links[i];
        const auto find = [&](const char* key, const std::string& name) -> std::optional<std::uint32_t> {
            if (const auto at = names.find(name); at != names.end())
                return at->second;
            if (name.empty()) {
                p.push_back({severity::error, fmt::format("faults.links.{}.{}", i, key),
                             fmt::format("is missing; write the name of the device at this end, for example \"{}\".",
                                         example)});
                return std::nullopt;
            }
            p.push_back(
                {severity::error, fmt::format("faults.links.{}.{}", i, key),
                 fmt::format(
                     "is {}, and no device of this machine has that name; {}the first NPU is {}, which has links "
                     "to {}.",
                     in_quotes(name), meant_among(names, name), example, neighbours_of(plan, topology.npu_router(0)))});
            return std::nullopt;
        };
        const auto from = find("from", f.from);
        const auto to = find("to", f.to);
        if (!from || !to)
            continue;
        const std::uint32_t link = topology.link_between(*from, *to);
        if (link == ub_topology::k_none) {
            p.push_back({severity::error, fmt::format("faults.links.{}.to", i),
                         fmt::format("is {}, but no link joins it and {}, whose neighbours are {}.", f.to, f.from,
                                     neighbours_of(plan, *from))});
            continue;
        }
        if (f.lanes && *f.lanes >= plan.links[link].lanes)
            p.push_back(
                {severity::error, fmt::format("faults.links.{}.lanes", i),
                 fmt::format("is {}, but the link has {}; write fewer, or leave it out for a link that goes down.",
                             *f.lanes, plan.links[link].lanes)});
        for (std::size_t k = 0; k < i; ++k)
            if (same_ends(f, faults.links[k]) && overlap(f, faults.links[k]))
                p.push_back(
                    {severity::error, fmt::format("faults.links.{}", i),
                     fmt::format(
                         "is the link of faults.links.{}, which is down at the same time; leave one of the two out, "
                         "or write until where the first ends.",
                         k)});
    }
    for (std::size_t i = 0; i < faults.devices.size(); ++i)
        check_device(faults, i, plan, names, p);
    for (std::size_t i = 0; i < faults.links.size(); ++i)
        for (const ub_device_fault_config& d : faults.devices)
            if (faults.links[i].goes_down() && (faults.links[i].from == d.device || faults.links[i].to == d.device))
                p.push_back({severity::error, fmt::format("faults.links.{}", i),
                             fmt::format("ends at {}, which fails and takes its links with it; leave one of the two out.", d.device)});
    if (config.sends_notices() && faults.notice_payload.value() > config.ub.max_payload.value())
        p.push_back({severity::error, "faults.notice_payload",
                     fmt::format("is {}, but a notice is one packet, whose payload is ub.max_payload = {} at most.", to_string(faults.notice_payload),
                                 to_string(config.ub.max_payload))});
    warn_of_times(config, p);
    std::vector<std::uint32_t> failed;
    for (std::size_t i = 0; i < faults.npus.size(); ++i) {
        const std::string key = fmt::format("faults.npus.{}.npu", i);
        const auto npu = npu_by_name(config.mesh, faults.npus[i].npu);
        if (!npu) {
            p.push_back({severity::error, key,
                         fmt::format("is {}, and no NPU of this machine has that name; {}the first is {}, the last {}.",
                                     in_quotes(faults.npus[i].npu), meant_among(names, faults.npus[i].npu, "npu("),
                                     example, plan.routers[topology.npu_router(config.mesh.ranks() - 1)].name)});
            continue;
        }
        if (std::find(failed.begin(), failed.end(), *npu) != failed.end())
            p.push_back({severity::error, key, fmt::format("is {}, which fails once already.", faults.npus[i].npu)});
        else if (faults.recovery == ub_recovery::spare) {
            const std::uint32_t rack = rack_of(config.mesh, *npu);
            if (topology.spare_router(rack) == ub_topology::k_none)
                p.push_back({severity::error, key,
                             fmt::format("fails, but this rack has no spare NPU; write recovery: mask{}.",
                                         config.mesh.backplane ? "" : ", or backplane: true")});
        }
        failed.push_back(*npu);
    }
    if (config.mesh.ranks() < masked_npus(config).size() + 2)
        p.push_back({severity::error, "faults.npus", "leave fewer than two NPUs; a job needs at least two."});
}

std::vector<ub_faulty_link> faulty_links(const ub_mesh_config& config, const ub_topology& topology)
{
    std::vector<ub_faulty_link> all;
    if (config.faults.links.empty())
        return all;
    const name_map names = names_of(topology.plan());
    for (const ub_link_fault_config& f : config.faults.links) {
        const std::uint32_t link = topology.link_between(names.at(f.from), names.at(f.to));
        all.push_back({&f, link, topology.reverse_of(link)});
    }
    return all;
}

std::vector<std::uint32_t> masked_npus(const ub_mesh_config& config)
{
    return failed_npus(config, false);
}

std::vector<std::uint32_t> replaced_npus(const ub_mesh_config& config)
{
    return failed_npus(config, true);
}

std::vector<std::uint32_t> routers_of_ranks(const ub_mesh_config& config, const ub_topology& topology)
{
    const std::vector<std::uint32_t> replaced = replaced_npus(config);
    std::vector<std::uint32_t> routers;
    for (const std::uint32_t npu : config.positions()) {
        const bool spare = std::binary_search(replaced.begin(), replaced.end(), npu);
        routers.push_back(spare ? topology.spare_router(npu / config.mesh.npus_per_rack()) : npu);
    }
    return routers;
}

std::string describe_faults(const ub_mesh_config& config)
{
    const ub_faults_config& faults = config.faults;
    std::string text;
    const auto when = [](duration at) {
        return at.value() == 0 ? std::string("from the start") : "at " + to_string(at);
    };
    for (const ub_link_fault_config& f : faults.links) {
        const std::string what = f.bit_error_rate ? fmt::format("has a bit error rate of {}", *f.bit_error_rate)
                                 : f.lanes ? fmt::format("goes on with {} lane{}", *f.lanes, *f.lanes == 1 ? "" : "s")
                                           : "is down";
        text += fmt::format("Fault     {} - {} {} {}{}\n", f.from, f.to, what, when(f.at),
                            f.until ? ", until " + to_string(*f.until) : "");
    }
    for (const ub_device_fault_config& f : faults.devices)
        text += fmt::format("Fault     {} fails {}, and its links with it{}\n", f.device, when(f.at),
                            stands_in(config, f) ? "; the job runs without the NPU that it stands in for" : "");
    for (const ub_npu_fault_config& f : faults.npus) {
        const ub_mesh_config then = config_at(config, f.at.value());
        const std::vector<std::uint32_t> replaced = replaced_npus(then);
        text += fmt::format("Fault     {} fails {}; {}\n", f.npu, when(f.at),
                            std::binary_search(replaced.begin(), replaced.end(), *npu_by_name(config.mesh, f.npu))
                                ? "the spare NPU of its rack takes over"
                            : faults.recovery == ub_recovery::mask ? "the job runs without it"
                                                                   : "the spare NPU of its rack is in use or has failed, and the job runs without it");
    }
    return text;
}

} // namespace weft
