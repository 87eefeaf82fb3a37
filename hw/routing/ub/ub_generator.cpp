// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_generator.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

std::int8_t i8(std::uint32_t v) { return static_cast<std::int8_t>(v); }

bool same(const std::vector<abi::ub::table_step>& a, const std::vector<abi::ub::table_step>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.what == y.what && x.always == y.always && x.first == y.first && x.count == y.count &&
               x.condition == y.condition;
    });
}

} // namespace

std::unique_ptr<ub_generator> ub_generator_for(const ub_shape& shape, const ub_cables& cables)
{
    switch (shape.rack) {
    case ub_rack_kind::full_mesh_2d:
        return shape.backplane ? ub_full_mesh_2d(shape, cables) : ub_bare_rack(shape, cables);
    case ub_rack_kind::full_mesh_1d_a: return ub_full_mesh_1d_a(shape, cables);
    case ub_rack_kind::full_mesh_1d_b: return ub_full_mesh_1d_b(shape, cables);
    case ub_rack_kind::clos: break;
    }
    return ub_clos_rack(shape, cables);
}

ub_generator::ub_generator(const ub_shape& shape, const ub_cables& cables)
    : shape_(shape), cables_(cables), numbers_(parts_.numbers)
{
}

ub_parts ub_generator::make()
{
    build();
    for (std::uint32_t r = 0; r < next_router(); ++r) {
        ub_table_maker t;
        make_table(r, parts_.places[r], t);
        parts_.plan.routers[r].table = add_table(std::move(t.steps));
        parts_.plan.routers[r].entries = std::move(t.entries);
    }
    return std::move(parts_);
}

std::uint16_t ub_generator::add_table(std::vector<abi::ub::table_step> steps)
{
    std::vector<ub_table_plan>& tables = parts_.plan.tables;
    for (std::size_t i = 0; i < tables.size(); ++i)
        if (same(tables[i].steps, steps))
            return static_cast<std::uint16_t>(i);
    tables.push_back({std::move(steps)});
    return static_cast<std::uint16_t>(tables.size() - 1);
}

std::string ub_generator::rack_name(std::uint32_t rack) const
{
    return fmt::format("p{},r{}", rack / shape_.racks_per_pod(), rack % shape_.racks_per_pod());
}

// --- Routers ---------------------------------------------------------------------------------------------------------

std::uint32_t ub_generator::add_router(ub_device device, ub_place place, std::string name, std::uint32_t ports)
{
    ub_router_plan r;
    r.device = device;
    r.name = std::move(name);
    r.ports = static_cast<std::uint16_t>(ports);
    if (place.rack >= 0) {
        const auto rack = static_cast<std::uint32_t>(place.rack);
        place.pod = i8(rack / shape_.racks_per_pod());
        place.row = i8(rack % shape_.racks_per_pod() / shape_.rack_cols);
        place.col = i8(rack % shape_.rack_cols);
    }
    const auto segment_of = [](std::int8_t v) { return static_cast<std::uint8_t>(v < 0 ? 0 : v); };
    r.place.pod = segment_of(place.pod);
    r.place.rack = static_cast<std::uint8_t>(segment_of(place.row) * 4 + segment_of(place.col));
    r.place.board = segment_of(place.board);
    r.place.unit = segment_of(place.unit);
    switch (place.is) {
    case role::spare: r.place.kind = kind::spare_npu; break;
    case role::cpu: r.place.kind = kind::cpu; break;
    case role::nic: r.place.kind = kind::nic; break;
    default: r.place.kind = kind::npu; break;
    }
    parts_.plan.routers.push_back(std::move(r));
    parts_.places.push_back(place);
    return next_router() - 1;
}

std::uint32_t ub_generator::add_switch(ub_device device, role is, std::uint32_t rack, std::uint32_t plane,
                                       std::string name, std::uint32_t ports)
{
    ub_place p;
    p.is = is;
    p.rack = static_cast<std::int32_t>(rack);
    p.plane = static_cast<std::int16_t>(plane);
    return add_router(device, p, std::move(name), ports);
}

std::uint32_t ub_generator::add_endpoint(ub_device device, ub_place place, std::string name, std::uint32_t ports,
                                         std::uint32_t first_die_ports)
{
    const std::uint32_t r = add_router(device, place, std::move(name), ports);
    ub_router_plan& plan = parts_.plan.routers[r];
    plan.local_ports = device == ub_device::npu ? 2 : 1;
    if (device == ub_device::npu)
        plan.second_die_from = static_cast<std::uint16_t>(first_die_ports);
    parts_.plan.endpoint_router.push_back(r);
    return r;
}

void ub_generator::add_npus(std::uint32_t ports, std::uint32_t first_die_ports)
{
    for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
        for (std::uint32_t y = 0; y < shape_.boards; ++y)
            for (std::uint32_t x = 0; x < shape_.npus; ++x) {
                ub_place p;
                p.rack = static_cast<std::int32_t>(rack);
                p.board = i8(y);
                p.unit = i8(x);
                add_endpoint(ub_device::npu, p, fmt::format("npu({},b{},{})", rack_name(rack), y, x), ports,
                             first_die_ports);
            }
    numbers_.first_spare = numbers_.first_cpu = numbers_.first_nic = numbers_.first_leaf = next_router();
}

void ub_generator::add_side_nodes(std::uint32_t spare_ports, std::uint32_t cpu_ports, std::uint32_t nic_ports)
{
    numbers_.cpus = numbers_.nics = shape_.boards;
    for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack) {
        ub_place p;
        p.is = role::spare;
        p.rack = static_cast<std::int32_t>(rack);
        add_endpoint(ub_device::npu, p, fmt::format("spare({})", rack_name(rack)), spare_ports, spare_ports / 2);
    }
    const auto add_many = [&](ub_device device, role is, const char* name, std::uint32_t ports) {
        const std::uint32_t first = next_router();
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
            for (std::uint32_t j = 0; j < numbers_.cpus; ++j) {
                ub_place p;
                p.is = is;
                p.rack = static_cast<std::int32_t>(rack);
                p.unit = i8(j);
                const std::uint32_t r =
                    add_endpoint(device, p, fmt::format("{}({},{})", name, rack_name(rack), j), ports, 0);
                // No board is theirs; the segment spreads what comes from other racks over the leaves.
                parts_.plan.routers[r].place.board = static_cast<std::uint8_t>(j);
            }
        return first;
    };
    numbers_.first_cpu = add_many(ub_device::cpu, role::cpu, "cpu", cpu_ports);
    numbers_.first_nic = add_many(ub_device::nic, role::nic, "nic", nic_ports);
    numbers_.first_leaf = next_router();
}

// --- Links -----------------------------------------------------------------------------------------------------------

void ub_generator::connect(std::uint32_t a, std::uint32_t a_port, std::uint32_t b, std::uint32_t b_port,
                           std::uint32_t lanes, ub_channel there, ub_channel back, duration propagation)
{
    ub_link_plan l;
    l.from = a;
    l.to = b;
    l.from_port = static_cast<std::uint16_t>(a_port);
    l.to_port = static_cast<std::uint16_t>(b_port);
    l.lanes = static_cast<std::uint8_t>(lanes);
    l.channel = there;
    l.propagation = propagation;
    parts_.plan.links.push_back(l);
    std::swap(l.from, l.to);
    std::swap(l.from_port, l.to_port);
    l.channel = back;
    parts_.plan.links.push_back(l);
}

void ub_generator::connect_up(std::uint32_t npu, std::uint32_t npu_port, std::uint32_t to, std::uint32_t to_port,
                              std::uint32_t lanes)
{
    connect(npu, npu_port, to, to_port, lanes, ub_channel::up, ub_channel::down, cables_.backplane);
}

void ub_generator::connect_spine(std::uint32_t leaf, std::uint32_t leaf_port, std::uint32_t spine,
                                 std::uint32_t spine_port, std::uint32_t lanes)
{
    connect(leaf, leaf_port, spine, spine_port, lanes, ub_channel::spine_up, ub_channel::spine_down, cables_.backplane);
}

void ub_generator::connect_side(std::uint32_t node, std::uint32_t node_port, std::uint32_t to, std::uint32_t to_port,
                                std::uint32_t lanes)
{
    connect(node, node_port, to, to_port, lanes, ub_channel::side_up, ub_channel::side_down, cables_.backplane);
}

/// With the NPUs of higher numbers on its board.
void ub_generator::connect_x(std::uint32_t rack, std::uint32_t board, std::uint32_t unit)
{
    for (std::uint32_t to = unit + 1; to < shape_.npus; ++to)
        connect(npu(rack, board, unit), ub_mesh_port(unit, to), npu(rack, board, to), ub_mesh_port(to, unit),
                shape_.x_lanes, ub_channel::x_plus, ub_channel::x_minus, cables_.x);
}

/// With the NPUs of its place on boards of higher numbers.
void ub_generator::connect_y(std::uint32_t rack, std::uint32_t board, std::uint32_t unit, std::uint32_t first_port)
{
    for (std::uint32_t to = board + 1; to < shape_.boards; ++to)
        connect(npu(rack, board, unit), first_port + ub_mesh_port(board, to), npu(rack, to, unit),
                first_port + ub_mesh_port(to, board), shape_.y_lanes, ub_channel::y_plus, ub_channel::y_minus,
                cables_.y);
}

void ub_generator::connect_boards(std::uint32_t rack)
{
    for (std::uint32_t board = 0; board < shape_.boards; ++board)
        for (std::uint32_t unit = 0; unit < shape_.npus; ++unit)
            connect_x(rack, board, unit);
}

void ub_generator::connect_boards_and_columns(std::uint32_t rack, std::uint32_t first_y)
{
    for (std::uint32_t board = 0; board < shape_.boards; ++board)
        for (std::uint32_t unit = 0; unit < shape_.npus; ++unit) {
            connect_x(rack, board, unit);
            connect_y(rack, board, unit, first_y);
        }
}

void ub_generator::connect_racks(std::uint32_t first, std::uint32_t per_rack, std::uint32_t first_port,
                                 std::uint32_t lanes)
{
    const std::uint32_t cols = shape_.rack_cols, rows = shape_.rack_rows;
    const auto at = [&](std::uint32_t rack, std::uint32_t i) { return first + rack * per_rack + i; };
    for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack) {
        const std::uint32_t in_pod = rack % shape_.racks_per_pod(), row = in_pod / cols, col = in_pod % cols;
        for (std::uint32_t i = 0; i < per_rack; ++i) {
            for (std::uint32_t to = col + 1; to < cols; ++to)
                connect(at(rack, i), first_port + ub_mesh_port(col, to), at(rack - col + to, i),
                        first_port + ub_mesh_port(to, col), lanes, ub_channel::z_plus, ub_channel::z_minus, cables_.z);
            for (std::uint32_t to = row + 1; to < rows; ++to)
                connect(at(rack, i), first_port + cols - 1 + ub_mesh_port(row, to), at(rack + (to - row) * cols, i),
                        first_port + cols - 1 + ub_mesh_port(to, row), lanes, ub_channel::alpha_plus,
                        ub_channel::alpha_minus, cables_.alpha);
        }
    }
}

// --- Tables ----------------------------------------------------------------------------------------------------------

void ub_generator::connect_side_nodes(std::uint32_t rack, std::uint32_t s, std::uint32_t cpu_port, std::uint32_t cpu_lanes)
{
    const std::uint32_t spare_port = cpu_port + numbers_.cpus;
    for (std::uint32_t j = 0; j < numbers_.cpus; ++j)
        connect_side(cpu(rack, j), s, spine(rack, s), cpu_port + j, cpu_lanes);
    connect_side(spare(rack), s, spine(rack, s), spare_port, k_port_lanes);
    if (has_nic(s))
        connect_side(nic(rack, s / 2), s % 2, spine(rack, s), spare_port + 1, k_port_lanes);
}

ub_entries ub_generator::racks_from(const ub_place& at, std::uint32_t first) const
{
    ub_entries e(16);
    const ub_entries cols = ub_mesh_entries(first, static_cast<std::uint32_t>(at.col), shape_.rack_cols);
    const ub_entries rows =
        ub_mesh_entries(first + shape_.rack_cols - 1, static_cast<std::uint32_t>(at.row), shape_.rack_rows);
    for (std::uint32_t row = 0; row < shape_.rack_rows; ++row)
        for (std::uint32_t col = 0; col < shape_.rack_cols; ++col)
            e[row * 4 + col] = i8(col) != at.col ? cols[col] : rows[row];
    return e;
}

ub_entries ub_generator::npus_by_place(std::uint32_t first) const
{
    ub_entries e(64);
    for (std::uint32_t y = 0; y < shape_.boards; ++y)
        for (std::uint32_t x = 0; x < shape_.npus; ++x)
            e[y * 8 + x] = ub_to_port(first + y * shape_.npus + x);
    return e;
}

ub_by_kind ub_generator::over_all_ports(std::uint32_t router) const
{
    const abi::ub::table_entry any = ub_to_port(0, parts_.plan.routers[router].ports);
    ub_by_kind by_kind;
    by_kind.set_all(kind::npu, 8, any).set_all(kind::spare_npu, 1, any);
    by_kind.set_all(kind::cpu, 8, any).set_all(kind::nic, 8, any);
    return by_kind;
}

void ub_generator::side_node_table(const ub_by_kind& by_kind, ub_table_maker& t)
{
    t.step(segment::kind_and_unit, by_kind.entries).again(segment::pod_and_rack);
}

void ub_generator::side_node_table(std::uint32_t router, const ub_place& at, ub_table_maker& t) const
{
    ub_by_kind by_kind = over_all_ports(router);
    if (at.is != role::nic)
        by_kind.set(kind::nic, numbers_.nics, [](std::uint32_t j) { return ub_to_port(2 * j, 2); });
    side_node_table(by_kind, t);
}

void ub_generator::rack_hrs_table(const ub_place& at, std::uint32_t racks, const ub_by_kind& by_kind, ub_table_maker& t) const
{
    t.step(segment::rack, racks_from(at, racks)).step(segment::kind_and_unit, by_kind.entries, true);
    t.step(segment::board_and_unit, npus_by_place(0), true);
}

} // namespace weft
