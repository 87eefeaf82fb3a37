// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/neuronlink/neuronlink_routing.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace weft {

namespace {
constexpr std::uint16_t k_no_port = 0xffff;
}

neuronlink_routing::neuronlink_routing(const neuronlink_shape& shape, const fabric_plan& plan)
    : shape_(shape), halves_(2 * shape.chips()), ports_(plan.routers.front().ports)
{
    if (std::any_of(plan.links.begin(), plan.links.end(), [](const plan_link& l) { return !l.works; }))
        plan_detours(plan);
}

/// The shorter way round; to the opposite place, even coordinates go up and odd ones down.
bool neuronlink_routing::goes_up(std::uint32_t axis, std::uint32_t here, std::uint32_t there) const
{
    if (!shape_.is_ring(axis))
        return there > here;
    const std::uint32_t size = shape_.size[axis];
    const std::uint32_t above = (there + size - here) % size;
    return 2 * above != size ? 2 * above < size : here % 2 == 0;
}

std::uint32_t neuronlink_routing::hops(std::uint32_t from_chip, std::uint32_t to_chip) const
{
    std::uint32_t sum = 0;
    for (std::uint32_t axis = 0; axis < k_neuronlink_axes; ++axis) {
        const std::uint32_t a = shape_.coordinate(from_chip, axis), b = shape_.coordinate(to_chip, axis);
        const std::uint32_t apart = a > b ? a - b : b - a;
        sum += shape_.is_ring(axis) ? std::min(apart, shape_.size[axis] - apart) : apart;
    }
    return sum;
}

route_decision neuronlink_routing::by_order(std::uint32_t router, std::uint32_t in_port, const packet& p) const
{
    const std::uint32_t chip = router / 2, half = router % 2;
    const std::uint32_t to_chip = p.destination / shape_.ranks, on_chip = p.destination % shape_.ranks;
    const bool injected = in_port < shape_.local_ports();
    const auto other_half = static_cast<std::uint16_t>(shape_.other_half_port());
    for (std::uint32_t axis = 0; axis < shape_.axes(); ++axis) {
        const std::uint32_t here = shape_.coordinate(chip, axis), there = shape_.coordinate(to_chip, axis);
        if (here == there)
            continue;
        const bool up = goes_up(axis, here, there);
        const bool late = !injected && p.vl / 2 == axis && p.vl % 2 == 1;
        const auto lower = static_cast<std::uint8_t>(2 * axis);
        if (shape_.half_of_link(chip, axis, up) != half)
            return {other_half, static_cast<std::uint8_t>(lower + (late ? 1 : 0))};
        const bool closes = shape_.is_ring(axis) && here == (up ? shape_.size[axis] - 1 : 0);
        return {static_cast<std::uint16_t>(shape_.link_port(axis, up)), static_cast<std::uint8_t>(lower + (late || closes ? 1 : 0))};
    }
    if (shape_.half_of_rank(on_chip) != half)
        return {other_half, static_cast<std::uint8_t>(2 * shape_.axes() - 1)};
    return {static_cast<std::uint16_t>(shape_.first_port_of_rank(on_chip) + p.destination_port), 0};
}

route_decision neuronlink_routing::route(std::uint32_t router, std::uint32_t in_port, packet& p) const
{
    if (detour_vl_ == 0xff)
        return by_order(router, in_port, p);
    const bool injected = in_port < shape_.local_ports();
    const std::size_t ranks = std::size_t{shape_.chips()} * shape_.ranks;
    if (injected ? !detours_from_[router * ranks + p.destination] : p.vl != detour_vl_)
        return by_order(router, in_port, p);
    const std::uint32_t on_chip = p.destination % shape_.ranks;
    const std::uint32_t target = 2 * (p.destination / shape_.ranks) + shape_.half_of_rank(on_chip);
    if (target == router)
        return {static_cast<std::uint16_t>(shape_.first_port_of_rank(on_chip) + p.destination_port), 0};
    // A link down the tree comes in by the port whose own link leads up it.
    const std::size_t came_down = !injected && !goes_down_[router * ports_ + in_port] ? 1 : 0;
    return {tree_[(came_down * halves_ + router) * halves_ + target], detour_vl_};
}

bool neuronlink_routing::works_by_order(const fabric_plan& plan, const std::vector<std::uint32_t>& out, std::uint32_t router,
                                        std::uint32_t endpoint) const
{
    const std::vector<std::uint32_t> base = plan.port_base();
    packet p;
    p.destination = endpoint;
    std::uint32_t in_port = 0;
    for (;;) {
        const route_decision d = by_order(router, in_port, p);
        if (d.out_port < shape_.local_ports())
            return true;
        const std::uint32_t l = out[base[router] + d.out_port];
        if (l == fabric_plan::k_none)
            return false;
        p.vl = d.vl;
        router = plan.links[l].to;
        in_port = plan.links[l].to_port;
    }
}

/// Only links that work both ways make the tree, so that a port tells the direction of what comes in by it.
void neuronlink_routing::plan_detours(const fabric_plan& plan)
{
    const std::vector<std::uint32_t> base = plan.port_base(), out = plan.out_links();
    detour_vl_ = static_cast<std::uint8_t>(neuronlink_vls(shape_, true) - 1);
    const auto both_ways = [&](const plan_link& l) { return l.works && out[base[l.to] + l.to_port] != fabric_plan::k_none; };

    // Levels from the first half on; up is to a lower level, or to a lower number on the same one.
    constexpr std::uint32_t k_far = 0xffff'ffff;
    std::vector<std::uint32_t> level(halves_, k_far), order{0};
    level[0] = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
        for (const plan_link& l : plan.links)
            if (l.from == order[i] && both_ways(l) && level[l.to] == k_far) {
                level[l.to] = level[l.from] + 1;
                order.push_back(l.to);
            }
    goes_down_.assign(std::size_t{halves_} * ports_, false);
    for (const plan_link& l : plan.links)
        goes_down_[l.from * ports_ + l.from_port] = std::pair(level[l.to], l.to) > std::pair(level[l.from], l.from);

    // From each destination backwards, by distance: down links in both states, up links only in the state that has not
    // come down.
    tree_.assign(2 * std::size_t{halves_} * halves_, k_no_port);
    std::vector<std::uint32_t> distance(2 * std::size_t{halves_});
    for (std::uint32_t target = 0; target < halves_; ++target) {
        std::fill(distance.begin(), distance.end(), k_far);
        std::vector<std::uint32_t> reached{target, halves_ + target}; // state * halves + router
        distance[target] = distance[halves_ + target] = 0;
        for (std::size_t i = 0; i < reached.size(); ++i) {
            const std::uint32_t state = reached[i] / halves_, router = reached[i] % halves_;
            for (const plan_link& l : plan.links) {
                if (l.to != router || !both_ways(l))
                    continue;
                const bool down = goes_down_[l.from * ports_ + l.from_port];
                if (down != (state == 1))
                    continue; // a packet that takes this link is in the other state behind it
                for (std::uint32_t before = 0; before < (down ? 2u : 1u); ++before) {
                    const std::uint32_t node = before * halves_ + l.from;
                    if (distance[node] != k_far)
                        continue;
                    distance[node] = distance[reached[i]] + 1;
                    tree_[(std::size_t{before} * halves_ + l.from) * halves_ + target] = static_cast<std::uint16_t>(l.from_port);
                    reached.push_back(node);
                }
            }
        }
    }

    const auto ranks = static_cast<std::uint32_t>(plan.endpoints.size());
    detours_from_.assign(std::size_t{halves_} * ranks, false);
    for (std::uint32_t router = 0; router < halves_; ++router)
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            if (works_by_order(plan, out, router, rank))
                continue;
            detours_from_[std::size_t{router} * ranks + rank] = true;
            ++detours_;
            const std::uint32_t target = plan.endpoints[rank].router;
            if (target != router && tree_[std::size_t{router} * halves_ + target] == k_no_port && unreachable_.empty())
                unreachable_ = fmt::format("{} cannot reach {}", plan.routers[router].name, plan.endpoints[rank].name);
        }
}

} // namespace weft
