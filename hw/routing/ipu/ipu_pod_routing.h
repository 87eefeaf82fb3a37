// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Routing of IPU-Links and GW-Links: in the domain of the sender across the rung first, then along the ladder (test
// model of PopLibs, quoted), the shorter way round where cables close it; then by gateways the shorter way round the
// ring of domains, the longer one where a GW-Link of it is down, to the IPU of the same place. Of the links of a way, a
// lane of the exchange takes one.
// Deadlock freedom: rungs, ladder, gateways follow in this order. A ring, of a column or of domains, has VL 0 up to the
// link that closes it and VL 1 behind it (dateline).
#pragma once

#include "hw/routing/ipu/ipu_pod_plan.h"
#include "hw/routing/routing_policy.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class ipu_pod_routing final : public routing_policy {
public:
    /// `plan`: that of the shape, with the links that do not work.
    ipu_pod_routing(const ipu_shape& shape, const fabric_plan& plan);

    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override;
    /// "no IPU-Link works from ipu2 up to ipu4"; "" when every way that is taken works.
    const std::string& unreachable() const { return unreachable_; }
    std::uint32_t hops(std::uint32_t from, std::uint32_t to) const; ///< IPU-Links of the way inside a domain

private:
    route_decision from_ipu(std::uint32_t ipu, std::uint32_t in_port, const packet& p) const;
    route_decision from_gateway(std::uint32_t router, std::uint32_t in_port, const packet& p) const;
    bool goes_up(std::uint32_t here, std::uint32_t there) const;
    route_decision along(std::uint32_t ipu, ipu_way way, const packet& p, std::uint8_t vl) const;

    ipu_shape shape_;
    std::vector<std::vector<std::uint16_t>> ports_; ///< [ipu * 3 + way]: working controllers
    /// Ways round the ring of domains on which all GW-Links work, as bits; of a gateway, by domain.
    static constexpr std::uint8_t k_eastward = 1, k_westward = 2;
    void find_ways_round(const fabric_plan& plan);
    std::uint8_t ways_round(std::uint32_t gateway, std::uint32_t to) const
    {
        return round_[(gateway - shape_.ipus()) * shape_.domains + to];
    }

    std::string unreachable_;
    std::vector<std::uint8_t> round_;
};

} // namespace weft
