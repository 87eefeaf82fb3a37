// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_fabric.h"

#include "hw/fabric/plan_fabric.h"
#include "hw/ub/ub_fabric_plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
template <counter ub_endpoint::*Which> std::uint64_t sum_of(const void* fabric)
{
    return static_cast<const ub_fabric*>(fabric)->sum(Which);
}

/// What the ports of a class are called: P to the backplanes, N down to NPUs, H to and from HRS, S between leaf and
/// spine.
char port_letter(ub_channel c)
{
    switch (c) {
    case ub_channel::x_plus:
    case ub_channel::x_minus: return 'X';
    case ub_channel::y_plus:
    case ub_channel::y_minus: return 'Y';
    case ub_channel::up: return 'P';
    case ub_channel::down: return 'N';
    case ub_channel::z_plus:
    case ub_channel::z_minus: return 'Z';
    case ub_channel::alpha_plus:
    case ub_channel::alpha_minus: return 'A';
    case ub_channel::hrs_up: return 'H';
    case ub_channel::hrs_down: return 'R';
    case ub_channel::spine_up: return 'S';
    case ub_channel::spine_down: return 'L';
    case ub_channel::side_up: return 'S';
    case ub_channel::side_down: return 'D';
    default: return 'C';
    }
}
} // namespace

ub_fabric::ub_fabric(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const ub_plan& plan,
                     const ub_config& config, std::uint32_t npu_users, bool managed)
    : sc_core::sc_module(name), time_(time), plan_(plan), config_(config), routing_(plan, config.voq)
{
    fabric_config fabric;
    fabric.vl_count = managed ? k_ub_managed_vls : k_ub_vls;
    if (managed)
        fabric.urgent_from_vl = k_ub_management_vl;
    fabric.pipeline = config.npu_latency;
    fabric.voq = config.voq;
    fabric.zone_crossing = config.die_crossing;
    fabric.dead_link_detection = config.detection;
    fabric.control = config.control();
    fabric.table_lookup = config.table_lookup;
    engine_ = std::make_unique<fabric_engine>(time, pool, routing_, fabric);
    const fabric_plan wired = ub_fabric_plan(plan, config, managed);
    add_plan_routers(*engine_, wired);
    links_ = add_plan_links(*engine_, wired);
    const packet_format format = config.format();
    const std::uint64_t held = config.transport == ub_transport::rtp ? config.rtp_send_buffer : config.transmit_queue;
    const std::uint64_t packet_cells = format.cells_of_one(format.max_payload_bytes);
    const auto queue_cells = static_cast<std::uint32_t>(packet_cells * held);
    endpoint_at_.assign(plan.routers.size(), ub_routing::k_none);
    for (std::uint32_t e = 0; e < plan.endpoint_router.size(); ++e) {
        const std::uint32_t router = plan.endpoint_router[e];
        const ub_router_plan& r = plan.routers.at(router);
        if (endpoint_at_[router] != ub_routing::k_none || r.local_ports == 0)
            throw bug(this->name(), 0, fmt::format("endpoint {} stands at {}, which has no place for it", e, r.name));
        endpoint_at_[router] = e;
        endpoints_.push_back(
            std::make_unique<ub_endpoint>(time, pool, *engine_, routing_, turns_, plan, config, e, router));
        endpoints_.back()->set_listener(this);
        first_controller_.push_back(static_cast<std::uint32_t>(controllers_.size()));
        for (std::uint32_t die = 0; die < r.local_ports; ++die)
            controllers_.push_back(std::make_unique<ub_io_controller>(
                (module_name(r.name) + "_io" + std::to_string(die)).c_str(), *engine_, *endpoints_.back(),
                ub_ports{r.ports, r.local_ports, config.voq}, die, config, queue_cells, r.local_ports > 1 ? npu_users : 1));
    }
    first_controller_.push_back(static_cast<std::uint32_t>(controllers_.size()));
    if (managed)
        management_ = std::make_unique<ub_management>(time, pool, *engine_, plan, config);
    engine_->finish_build();
    if (managed)
        management_->open();
    engine_->set_port_namer(this);
    engine_->set_link_listener(this);
    actor_ = time.register_actors(1);
    set_up_statistics();
    time.components().add(*this);
}

void ub_fabric::set_up_statistics()
{
    const auto add = [this](const char* name, const char* unit, const char* what, std::uint64_t (*value)(const void*)) {
        stats.add_row({name, unit, what, this, value});
    };
    add("sent", "packets", "Packets of the chips, once each", sum_of<&ub_endpoint::sent>);
    add("delivered", "packets", "Packets to the chips", sum_of<&ub_endpoint::delivered>);
    add("resent", "packets", "Packets sent again, end to end", sum_of<&ub_endpoint::resent>);
    add("duplicates_dropped", "packets", "Packets that came a second time", sum_of<&ub_endpoint::duplicates_dropped>);
    add("acknowledgements", "packets", "Acknowledgements, end to end", sum_of<&ub_endpoint::acknowledgements>);
    add("given_up", "packets", "Packets that were never acknowledged", sum_of<&ub_endpoint::given_up>);
    add("not_sent", "packets", "Packets without a path", sum_of<&ub_endpoint::not_sent>);
    add("lost", "packets", "Packets cut on a wire or dropped before a link that is down",
        [](const void* o) { return static_cast<const ub_fabric*>(o)->engine_->dropped(); });
    add("table_hops", "1", "Hops that routers looked up in their tables, where headers leave it to them; a burst counts once",
        [](const void* o) { return static_cast<const ub_fabric*>(o)->engine_->table_hops(); });
    add("retries", "1", "Transmissions that a link repeated", [](const void* o) {
        const fabric_engine& e = *static_cast<const ub_fabric*>(o)->engine_;
        std::uint64_t n = 0;
        for (std::uint32_t l = 0; l < e.link_count(); ++l)
            n += e.link_retries(l);
        return n;
    });
}

ub_fabric::~ub_fabric() = default;

ub_io_controller& ub_fabric::controller(std::uint32_t endpoint, std::uint32_t die)
{
    if (die >= dies(endpoint))
        throw bug(name(), 0, fmt::format("endpoint {} has no IO die {}", endpoint, die));
    return *controllers_[first_controller_[endpoint] + die];
}

std::uint32_t ub_fabric::dies(std::uint32_t endpoint) const
{
    return first_controller_.at(endpoint + 1) - first_controller_[endpoint];
}

std::uint32_t ub_fabric::plan_link_of(std::uint32_t engine_link) const
{
    // Links were added in the order of the plan.
    const auto at = std::lower_bound(links_.begin(), links_.end(), engine_link);
    return at != links_.end() && *at == engine_link ? static_cast<std::uint32_t>(at - links_.begin())
                                                    : fabric_engine::k_none;
}

/// "X3", "Y5": to coordinate 3 or 5; "P0", "Z1", "S2" ...: counted. Rarely asked: for messages.
std::string ub_fabric::port_name(std::uint32_t router, std::uint32_t port) const
{
    if (router >= plan_.routers.size())
        return "chip";
    if (port >= plan_.routers[router].ports)
        return management_ != nullptr && port + 1 == engine_->port_count(router) ? "control" : "chip";
    const auto link_at = [&](std::uint32_t p) {
        const std::uint32_t out = engine_->out_link(router, p);
        return out == fabric_engine::k_none ? nullptr : &plan_.links[plan_link_of(out)];
    };
    const ub_link_plan* link = link_at(port);
    if (link == nullptr)
        return "";
    const char letter = port_letter(link->channel);
    if (letter == 'X')
        return fmt::format("X{}", plan_.routers[link->to].place.unit);
    if (letter == 'Y')
        return fmt::format("Y{}", plan_.routers[link->to].place.board);
    std::uint32_t number = 0;
    for (std::uint32_t p = 0; p < port; ++p)
        if (const ub_link_plan* other = link_at(p); other != nullptr && port_letter(other->channel) == letter)
            ++number;
    return fmt::format("{}{}", letter, number);
}

// --- Faults ----------------------------------------------------------------------------------------------------------

void ub_fabric::fail_link_at(std::uint32_t plan_link, std::uint64_t at_ps)
{
    engine_->fail_link_at(link_of(plan_link), at_ps);
}

void ub_fabric::restore_link_at(std::uint32_t plan_link, std::uint64_t at_ps)
{
    engine_->restore_link_at(link_of(plan_link), at_ps);
}

void ub_fabric::narrow_link_at(std::uint32_t plan_link, std::uint32_t lanes, std::uint64_t at_ps)
{
    engine_->degrade_link_at(link_of(plan_link), at_ps, config_.link_rate(lanes));
}

void ub_fabric::schedule(const change& c, std::uint64_t at_ps)
{
    const auto i = static_cast<std::uint32_t>(changes_.size());
    changes_.push_back(c);
    time_.schedule(at_ps, make_order(event_class::memory, actor_, i), *this, i, 0);
}

void ub_fabric::exclude_at(std::uint32_t source, std::uint32_t plan_link, std::uint64_t at_ps)
{
    schedule({source, plan_link, true}, at_ps);
}

void ub_fabric::readmit_at(std::uint32_t source, std::uint32_t plan_link, std::uint64_t at_ps)
{
    schedule({source, plan_link, false}, at_ps);
}

void ub_fabric::on_event(std::uint32_t a, std::uint8_t)
{
    const change c = changes_[a];
    if (c.exclude)
        exclude(c.source, c.link);
    else
        readmit(c.source, c.link);
}

void ub_fabric::exclude(std::uint32_t source, std::uint32_t plan_link)
{
    endpoints_.at(source)->paths().exclude(plan_link);
}

void ub_fabric::readmit(std::uint32_t source, std::uint32_t plan_link)
{
    ub_endpoint& e = *endpoints_.at(source);
    e.paths().readmit(plan_link);
    for (const std::uint32_t peer : e.unreachable()) // they may have come back
        restart_channels(source, peer);
}

void ub_fabric::set_patience(std::uint64_t at_least_ps)
{
    patience_ps_ = std::max(patience_ps_, at_least_ps);
    for (auto& e : endpoints_)
        e->set_patience(patience_ps_);
}

void ub_fabric::set_fall_back_listener(ub_fall_back_if* listener)
{
    for (std::uint32_t e = 0; e < endpoints_.size(); ++e)
        endpoints_[e]->paths().set_listener(listener, e);
}

/// Both ends agree on new numbers, of which no packet of the past has one.
void ub_fabric::restart_channels(std::uint32_t a, std::uint32_t b)
{
    const auto one_way = [&](ub_endpoint& from, std::uint32_t from_number, std::uint32_t to_number) {
        from.reset_channel(to_number);
        ub_endpoint& to = *endpoints_.at(endpoint_at_[routing_.router_of(to_number)]);
        to.expect_number(from_number, from.next_number(to_number));
    };
    one_way(*endpoints_.at(endpoint_at_[routing_.router_of(a)]), a, b);
}

void ub_fabric::take_over(std::uint32_t endpoint, std::uint32_t router)
{
    const std::uint32_t object = endpoint_at_.at(router);
    if (object == ub_routing::k_none)
        throw bug(name(), time_.now_ps(), fmt::format("{} cannot stand for an endpoint", plan_.routers[router].name));
    routing_.move_endpoint(endpoint, router);
    endpoints_[object]->rename(endpoint);
    for (auto& e : endpoints_)
        e->paths().forget();
    if (config_.transport != ub_transport::rtp)
        return;
    for (std::uint32_t other = 0; other < endpoints_.size(); ++other)
        if (other != endpoint && other != object) {
            restart_channels(other, endpoint);
            restart_channels(endpoint, other);
        }
}

/// The endpoint at the sending end of a link; k_none behind a switch.
std::uint32_t ub_fabric::endpoint_that_sends(std::uint32_t engine_link) const
{
    const std::uint32_t link = plan_link_of(engine_link);
    return link == fabric_engine::k_none ? ub_routing::k_none : endpoint_at_[plan_.links[link].from];
}

/// A controller knows its own ports without any notice: it stops to use one that is down.
void ub_fabric::link_down(std::uint32_t link, std::uint64_t now_ps)
{
    if (const std::uint32_t e = endpoint_that_sends(link); e != ub_routing::k_none)
        exclude(e, plan_link_of(link));
    if (link_listener_ != nullptr)
        link_listener_->link_down(link, now_ps);
}

void ub_fabric::link_up(std::uint32_t link, std::uint64_t now_ps)
{
    if (const std::uint32_t e = endpoint_that_sends(link); e != ub_routing::k_none)
        readmit(e, plan_link_of(link));
    if (link_listener_ != nullptr)
        link_listener_->link_up(link, now_ps);
}

// --- Look ------------------------------------------------------------------------------------------------------------

void ub_fabric::unreachable(std::uint32_t source, std::uint32_t destination)
{
    if (listener_ != nullptr)
        listener_->unreachable(source, destination);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> ub_fabric::unreachable() const
{
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const auto& e : endpoints_)
        for (const std::uint32_t d : e->unreachable())
            pairs.emplace_back(e->number(), d);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

std::string ub_fabric::unreachable_text(std::size_t at_most) const
{
    const auto pairs = unreachable();
    std::string text;
    for (std::size_t i = 0; i < pairs.size() && i < at_most; ++i)
        text += fmt::format("{}{} cannot reach {}", i == 0 ? "" : "\n", endpoint_name(pairs[i].first),
                            endpoint_name(pairs[i].second));
    if (pairs.size() > at_most)
        text += fmt::format("\n... and {} more pairs", pairs.size() - at_most);
    return text;
}

bool ub_fabric::idle() const
{
    return engine_->packets_inside() == 0 &&
           std::all_of(endpoints_.begin(), endpoints_.end(), [](const auto& e) { return e->idle(); });
}

std::string ub_fabric::blocked_on(std::size_t at_most) const
{
    std::string text;
    std::size_t lines = 0;
    for (const auto& e : endpoints_) {
        const std::string one = e->blocked_on();
        if (!one.empty() && lines++ < at_most)
            text += fmt::format("{}{}: {}", lines == 1 ? "" : "\n", endpoint_name(e->number()), one);
    }
    if (lines > at_most)
        text += fmt::format("\n... and {} more", lines - at_most);
    return text;
}

std::string ub_fabric::waits() const
{
    std::string text = unreachable_text();
    const std::string blocked = blocked_on();
    return text + (text.empty() || blocked.empty() ? "" : "\n") + blocked;
}

ub_router_stats ub_fabric::router_stats(std::uint32_t router) const
{
    ub_router_stats s;
    for (std::uint32_t p = 0; p < plan_.routers.at(router).ports; ++p) {
        const std::uint32_t link = engine_->out_link(router, p);
        if (link == fabric_engine::k_none)
            continue;
        s.packets_out += engine_->link_packets(link);
        s.wire_bytes_out += engine_->link_wire_bytes(link);
        s.busy_ps += engine_->link_busy_ps(link);
    }
    return s;
}

const std::string& ub_fabric::endpoint_name(std::uint32_t endpoint) const
{
    return plan_.routers.at(routing_.router_of(endpoint)).name;
}

std::uint64_t ub_fabric::sum(counter ub_endpoint::*which) const
{
    std::uint64_t n = 0;
    for (const auto& e : endpoints_)
        n += ((*e).*which).value();
    return n;
}

std::uint64_t ub_fabric::state_bytes() const
{
    std::uint64_t n = engine_->state_bytes() + links_.capacity() * sizeof(std::uint32_t) +
                      controllers_.size() * sizeof(ub_io_controller);
    for (const auto& e : endpoints_)
        n += e->state_bytes();
    return n;
}

} // namespace weft
