// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the components of a machine tell the report of a run. Knows no component and no platform.
#pragma once

#include "platforms/report/run_report.h"
#include "platforms/workload/machine.h"

#include <cstdint>
#include <vector>

namespace weft::cli {

/// The five wires that carried most in `measured_ps`, the time in which the machine was there.
std::vector<link_load> busiest_links(machine& m, std::uint64_t measured_ps);
/// All wires that carried anything, in the order of the machine.
std::vector<link_load> links_of(machine& m, std::uint64_t measured_ps);
/// A row for each rank that has a chip, by rank.
std::vector<rank_row> ranks_of(machine& m);
/// Of the memories in which buffers lie. Memories of one machine have one name.
memory_traffic memory_traffic_of(machine& m);
std::uint64_t packet_hops_of(machine& m);
/// Statistics of components of one prefix, summed.
std::vector<report_stat> statistics_of(machine& m);

} // namespace weft::cli
