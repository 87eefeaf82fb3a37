// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Routing of writes straight to the memory of any chip: along X to the right column, along Y to the right row, along Z
// to the right node, through the halves of every chip on the way, then to the half of the rank.
// Deadlock freedom: axis k has VLs 2k and 2k + 1, which also the ways through the chips take that lead along it; 2k up
// to the link that closes a ring, 2k + 1 behind it (dateline). The last way to the other half takes the upper VL of the
// last axis. Around failed links: pairs whose way by this order works keep it. All others go up and then down a tree of
// halves (up*/down*), from end to end on a VL of their own.
#pragma once

#include "hw/routing/neuronlink/neuronlink_plan.h"
#include "hw/routing/routing_policy.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class neuronlink_routing final : public routing_policy {
public:
    /// `plan`: that of the shape, with the links that do not work.
    neuronlink_routing(const neuronlink_shape& shape, const fabric_plan& plan);

    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override;
    /// "rank(0,0,0) cannot reach rank(1,0,0)"; "" when every pair has a way.
    const std::string& unreachable() const { return unreachable_; }
    std::uint64_t detours() const { return detours_; } ///< pairs of a half and a rank that do not go by order
    std::uint32_t hops(std::uint32_t from_chip, std::uint32_t to_chip) const; ///< links between chips, by order

private:
    route_decision by_order(std::uint32_t router, std::uint32_t in_port, const packet& p) const;
    bool goes_up(std::uint32_t axis, std::uint32_t here, std::uint32_t there) const;
    void plan_detours(const fabric_plan& plan);
    bool works_by_order(const fabric_plan& plan, const std::vector<std::uint32_t>& out, std::uint32_t router, std::uint32_t endpoint) const;

    neuronlink_shape shape_;
    std::uint32_t halves_;
    std::uint8_t detour_vl_ = 0xff; ///< none: nothing has failed
    std::vector<bool> detours_from_; ///< [router * ranks + rank]: what is sent there from here goes by the tree
    std::vector<std::uint16_t> tree_; ///< [(came down * routers + router) * routers + router of the destination]: port
    std::vector<bool> goes_down_;     ///< [router * ports + port]: that link leads down the tree
    std::uint32_t ports_ = 0;
    std::string unreachable_;
    std::uint64_t detours_ = 0;
};

} // namespace weft
