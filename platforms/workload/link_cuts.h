// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The least time of a collective by cuts of the machine as it stands: parts of it, and what the links carry that join
// them to the rest. Links that are down from the start carry nothing; those of ranks outside a process group may carry
// for it. All groups that run at once share what crosses a cut.
//
//   a device     a rank, or the ranks that share memories, with the routers that serve nobody else
//   a dimension  a coordinate where all are joined; the first ones of a line; ranks of a ring that follow each other.
//                Switches stand on the side to which they have more links
//   all ranks    an all_reduce among D devices sends 2 S (D-1) in all, however it is parted
//
//   into a part with m of n ranks   all_reduce S, reduce_scatter S m/n, all_gather S (n-m)/n, all_to_all S m (n-m)/n,
//                                   broadcast S if the root is outside; out of it, what the others get
#pragma once

#include "hw/abi/platform_table.h"
#include "platforms/workload/bounds.h"
#include "platforms/workload/process_groups.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

struct fabric_plan;

/// What works of a machine's links from the start.
struct machine_links {
    struct link { ///< one direction
        std::uint32_t from = 0, to = 0; ///< routers
        double bytes_per_us = 0;        ///< of payload
    };
    struct place {
        std::uint32_t router = 0;
        double bytes_per_us = 0; ///< of its ports there, each way
    };
    std::uint32_t routers = 0;
    std::vector<link> links;
    std::vector<place> ranks;
    std::function<std::string(std::uint32_t router)> router_name;
};

/// Of a fabric whose first endpoints are the ranks. `payload_share`: of what its wires carry, at most.
machine_links links_of(const fabric_plan& plan, std::uint32_t ranks, double payload_share);

class link_cuts {
public:
    /// `table_of`: what each rank of `links` is told of the machine.
    link_cuts(const machine_links& links, const table_of_rank& table_of);
    /// Of groups that run at once; nothing where no bytes cross any cut, or a cut has no links left.
    std::optional<collective_bound> bound(const collective_case& c, const std::vector<rank_list>& groups) const;
    /// How many devices the ranks of a group are on.
    std::uint32_t devices_of(const rank_list& group) const;

private:
    struct cut {
        std::string name;
        /// Inside are the ranks whose coordinate along `dimension` (k_device: their device) is in the `count` ones from
        /// `first` on, which go round.
        std::uint32_t dimension = 0, first = 0, count = 1;
        double in_rate = 0, out_rate = 0; ///< bytes per us
    };
    static constexpr std::uint32_t k_device = ~0u;

    void own_routers(const machine_links& links);
    void cut_devices(const machine_links& links);
    void cut_dimension(const machine_links& links, std::uint32_t d, const abi::platform_table& table);
    std::uint32_t place_along(std::uint32_t dimension, std::uint32_t rank) const
    {
        return dimension == k_device ? device_of_[rank] : coordinates_[dimension][rank];
    }
    std::optional<collective_bound> bound_of_sums(double bytes, const std::vector<rank_list>& groups) const;

    std::vector<std::uint32_t> device_of_;                ///< of ranks
    std::vector<std::uint32_t> owner_;                    ///< device of a router, or k_nobody
    std::vector<std::vector<std::uint32_t>> coordinates_; ///< [dimension][rank]
    std::vector<std::uint32_t> sizes_;                    ///< of dimensions
    std::vector<double> device_out_;                      ///< bytes per us
    std::uint32_t devices_ = 0;
    std::vector<cut> cuts_;
};

} // namespace weft
