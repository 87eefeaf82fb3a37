// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/route_tables.h"

#include "tlm/check.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string_view>

namespace weft {

namespace {

constexpr std::size_t k_columns = 4;

struct word {
    std::string_view text;
    std::size_t column = 0; ///< from 1
};

std::vector<word> words_of(std::string_view line)
{
    line = line.substr(0, line.find('#'));
    std::vector<word> words;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t begin = line.find_first_not_of(" \t", at);
        if (begin == std::string_view::npos)
            break;
        const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
        words.push_back({line.substr(begin, end - begin), begin + 1});
        at = end;
    }
    return words;
}

/// As it may stand in a message.
std::string shown(const word& w)
{
    constexpr std::size_t k_most = 40;
    std::string text;
    for (const char c : w.text.substr(0, k_most))
        text += c >= ' ' && c <= '~' ? c : '?';
    return text + (w.text.size() > k_most ? "..." : "");
}

std::optional<std::uint32_t> number(std::string_view text)
{
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

class reader {
public:
    reader(const fabric_plan& plan, std::vector<route_tables_problem>& problems)
        : plan_(plan), problems_(problems), port_base_(plan.port_base()), out_links_(plan.out_links()),
          tables_(plan.routers.size(), plan.endpoints.size()), rest_(plan.routers.size())
    {
        for (std::uint32_t r = 0; r < plan.routers.size(); ++r)
            routers_.emplace(plan.routers[r].name, r);
        for (std::uint32_t e = 0; e < plan.endpoints.size(); ++e)
            if (!endpoints_.emplace(plan.endpoint_name(e), e).second)
                throw bug("route_tables", 0, "two endpoints are called " + plan.endpoint_name(e));
        for (std::uint32_t p = 0; p < plan.port_names.size(); ++p)
            ports_.emplace(plan.port_names[p], p);
    }

    route_tables read(std::string_view text)
    {
        if (text.substr(0, 3) == "\xef\xbb\xbf")
            text.remove_prefix(3); // byte-order mark
        for (std::size_t at = 0; at < text.size(); ++line_) {
            const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
            read_line(words_of(text.substr(at, end - at)));
            at = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
        }
        for (std::uint32_t r = 0; r < rest_.size(); ++r)
            for (std::uint32_t e = 0; rest_[r].port != route_tables::k_no_port && e < plan_.endpoints.size(); ++e)
                if (tables_.at(r, e).port == route_tables::k_no_port && plan_.endpoints[e].router != r)
                    tables_.at(r, e) = rest_[r];
        return std::move(tables_);
    }

private:
    void complain(const word& w, std::string message) { problems_.push_back({line_, w.column, std::move(message)}); }

    void read_line(const std::vector<word>& words)
    {
        if (words.empty())
            return;
        if (words.size() != k_columns)
            return complain(words.front(),
                            fmt::format("has {} words, must have four: router, destination, port, VL.", words.size()));
        const auto router = routers_.find(std::string(words[0].text));
        if (router == routers_.end())
            complain(words[0], fmt::format("'{}' is no router here; a name is for example {}.", shown(words[0]),
                                           plan_.routers.front().name));
        const bool all = words[1].text == "*";
        const auto destination = all ? std::optional<std::uint32_t>(0) : endpoint_of(words[1]);
        if (router == routers_.end() || !destination)
            return;
        const auto port = port_of(words[2], router->second);
        if (!port)
            return;
        const plan_link& link = plan_.links[out_links_[port_base_[router->second] + *port]];
        const auto vl = number(words[3].text);
        if (!vl || *vl >= link.vls)
            return complain(words[3], fmt::format("'{}' is no VL of this link, which has {}: 0 to {}.", shown(words[3]),
                                                  link.vls, link.vls - 1));
        route_tables::entry& e = all ? rest_[router->second] : tables_.at(router->second, *destination);
        if (e.port != route_tables::k_no_port)
            return complain(words[1],
                            fmt::format("{} at {} has had a line before.",
                                        all ? std::string("*") : plan_.endpoint_name(*destination), router->first));
        e = {static_cast<std::uint16_t>(*port), static_cast<std::uint8_t>(*vl)};
    }

    std::optional<std::uint32_t> endpoint_of(const word& w)
    {
        if (const auto found = endpoints_.find(std::string(w.text)); found != endpoints_.end())
            return found->second;
        if (const auto n = number(w.text); n && *n < plan_.endpoints.size())
            return n;
        complain(w, fmt::format("'{}' is no destination here; write a name such as {}, a number from 0 to {}, or *.",
                                shown(w), plan_.endpoint_name(0), plan_.endpoints.size() - 1));
        return std::nullopt;
    }

    /// One that a working link leaves by.
    std::optional<std::uint32_t> port_of(const word& w, std::uint32_t router)
    {
        auto port = number(w.text);
        if (const auto found = ports_.find(std::string(w.text)); found != ports_.end())
            port = found->second;
        else if (w.text.substr(0, 4) == "port")
            port = number(w.text.substr(4));
        const std::uint32_t ports = plan_.routers[router].ports;
        if (port && *port < ports && out_links_[port_base_[router] + *port] != fabric_plan::k_none)
            return port;
        std::string there;
        for (std::uint32_t p = 0; p < ports; ++p)
            if (out_links_[port_base_[router] + p] != fabric_plan::k_none)
                there += fmt::format("{}{}", there.empty() ? "" : ", ", plan_.port_name(p));
        complain(w, fmt::format("no link that works leaves {} by '{}'; there are: {}.", plan_.routers[router].name, shown(w),
                                there));
        return std::nullopt;
    }

    const fabric_plan& plan_;
    std::vector<route_tables_problem>& problems_;
    std::vector<std::uint32_t> port_base_, out_links_;
    std::map<std::string, std::uint32_t> routers_, endpoints_, ports_;
    route_tables tables_;
    std::vector<route_tables::entry> rest_; ///< of each router: its line with *
    std::size_t line_ = 1;
};

/// What `route` says at a router for a destination, and whether it says the same wherever the packet comes from.
class asked_routes {
public:
    asked_routes(const fabric_plan& plan, const route_function& route)
        : plan_(plan), route_(route), port_base_(plan.port_base()), out_links_(plan.out_links())
    {
    }

    std::string text()
    {
        std::string text = "# router  destination  port  VL\n";
        for (std::uint32_t d = 0; d < plan_.endpoints.size(); ++d) {
            said_.assign(plan_.routers.size(), {});
            for (std::uint32_t s = 0; s < plan_.endpoints.size(); ++s)
                for (std::uint32_t port = 0; port < plan_.endpoints[s].ports; ++port)
                    if (!walk(plan_.endpoints[s].router, plan_.endpoints[s].first_port + port, d))
                        return {};
            for (std::uint32_t r = 0; r < said_.size(); ++r)
                if (said_[r].port != route_tables::k_no_port)
                    text += fmt::format("{} {} {} {}\n", plan_.routers[r].name, plan_.endpoint_name(d),
                                        plan_.port_name(said_[r].port), said_[r].vl);
        }
        return text;
    }

private:
    bool walk(std::uint32_t router, std::uint32_t in_port, std::uint32_t destination)
    {
        const plan_endpoint& end = plan_.endpoints[destination];
        std::uint32_t vl = 0;
        for (;;) {
            const route_step step = route_({router, in_port, vl, destination, 0});
            if (router == end.router && step.out_port == end.first_port)
                return true;
            route_tables::entry& said = said_[router];
            if (said.port == route_tables::k_no_port)
                said = {static_cast<std::uint16_t>(step.out_port), static_cast<std::uint8_t>(step.vl)};
            else if (said.port != step.out_port || said.vl != step.vl)
                return false;
            const std::uint32_t link =
                step.out_port < plan_.routers[router].ports ? out_links_[port_base_[router] + step.out_port] : fabric_plan::k_none;
            if (link == fabric_plan::k_none)
                return false;
            router = plan_.links[link].to;
            in_port = plan_.links[link].to_port;
            vl = step.vl;
        }
    }

    const fabric_plan& plan_;
    const route_function& route_;
    std::vector<std::uint32_t> port_base_, out_links_;
    std::vector<route_tables::entry> said_; ///< by router
};

} // namespace

route_tables read_route_tables(const std::string& text, const fabric_plan& plan,
                               std::vector<route_tables_problem>& problems)
{
    return reader(plan, problems).read(text);
}

std::string text_of_route_tables(const fabric_plan& plan, const route_function& route)
{
    return asked_routes(plan, route).text();
}

table_routing::table_routing(const fabric_plan& plan, route_tables tables) : tables_(std::move(tables))
{
    for (const plan_endpoint& e : plan.endpoints)
        ends_.push_back({e.router, e.first_port, e.ports});
}

} // namespace weft
