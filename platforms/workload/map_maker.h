// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The map of a machine: places are the ends of its wires, by their names; ranks stand at them with the coordinates
// that their firmware is told.
// Where there are more places or bundles than a person can look at, places are seen in groups: by the parts of their
// names that have a letter,
// "npu(p0,r3,b2,5)" is in p0, in p0,r3 and in p0,r3,b2; on a mesh, whose names have none, by square tiles.
#pragma once

#include "platforms/report/run_activity.h"
#include "platforms/workload/machine_loads.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// The parts of "npu(p0,r3,b2,5)": its kind, "npu", and the groups that it is in, {"p0", "r3", "b2"}.
struct place_name {
    std::string kind;
    std::vector<std::string> groups;
};
place_name parts_of(const std::string& name);

class map_maker {
public:
    static constexpr std::uint32_t k_no_bundle = 0xffff'ffff;
    static constexpr std::size_t k_most_places = 2048, k_most_bundles = 24'000;

    map_maker(machine& m, const machine_loads& loads);

    const machine_map& map() const { return map_; }
    /// By wire of the loads: its bundle in the level; k_no_bundle: wires whose ends nobody knows, and local ones.
    const std::vector<std::uint32_t>& bundles_of(std::size_t level) const { return bundle_of_.at(level); }
    /// Counts the wires that do not work now.
    void look_for_broken();

private:
    void add_nodes();
    void add_level(std::string what, const std::vector<std::uint32_t>& place_of_node, std::vector<map_node> places);
    void add_groups();
    void add_tiles();
    bool is_crowded() const;

    machine& machine_;
    const machine_loads& loads_;
    machine_map map_;
    std::vector<map_node> nodes_;
    struct wire_place {
        std::uint32_t from, to; ///< nodes
        std::uint32_t network;  ///< wires of different ones between the same places are not counted together
    };
    std::vector<wire_place> ends_; ///< by wire
    std::vector<std::vector<std::uint32_t>> bundle_of_;
};

} // namespace weft
