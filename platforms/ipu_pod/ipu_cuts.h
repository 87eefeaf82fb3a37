// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts of an IPU-Pod: parts of it, and what the links carry that join them to the rest. A collective cannot be faster
// than the bytes that have to cross a cut take. Parts are one IPU, rungs that follow each other, the IPUs of a domain
// (by Host-Links), and domains that follow each other with their gateways (by GW-Links). Links that are down from the
// start carry nothing.
//
//   into a part with m of n ranks   all_reduce S, reduce_scatter S m/n, all_gather S (n-m)/n, all_to_all S m (n-m)/n,
//                                   broadcast S if the root is outside; out of it, what the others get
#pragma once

#include "hw/routing/ipu/ipu_pod_plan.h"
#include "platforms/workload/bounds.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

class ipu_cuts {
public:
    ipu_cuts(const ipu_shape& shape, const fabric_plan& plan);
    /// Of a case of all ranks, or of `places` process groups at once, each with one IPU of every replica of that many.
    std::optional<collective_bound> bound(const collective_case& c, std::uint32_t places) const;

private:
    struct cut {
        std::string name; ///< "GW-Links of d0"
        std::uint32_t first = 0, ipus = 0;
        double in_rate = 0, out_rate = 0; ///< bytes per us
    };
    void add(const fabric_plan& plan, std::string name, std::uint32_t first, std::uint32_t ipus, bool with_gateways);

    ipu_shape shape_;
    std::vector<cut> cuts_;
};

} // namespace weft
