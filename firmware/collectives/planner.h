// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the schedule of a command for one rank. Pure: no access to any device, so it runs on cores and on the host
// alike.
#pragma once

#include "firmware/collectives/ring_map.h"
#include "firmware/collectives/schedule.h"

namespace weft::firmware {

class planner {
public:
    /// `tree` is of the machine, and is built when first needed.
    planner(ring_map& rings, block_tree& tree, const abi::command& command, schedule& out);

    /// Fills the schedule. The command has been checked and has elements; `unsupported` where failed regions split the
    /// mesh.
    abi::status plan();

private:
    channel_plan& add_channel(std::uint32_t lane);
    pass& add_pass(channel_plan& c, run_source source);
    pass& add_ring(channel_plan& c, ring_id ring, bool accumulate, std::uint32_t first_list = 0,
                   std::uint32_t lists = 1);
    lane_plan& make_lane(std::uint32_t index, abi::element_range range);
    void add_send(pass& p, abi::element_range range, std::uint32_t to);
    void expect(std::uint32_t semaphore, std::uint32_t messages);
    void notify(std::uint32_t queue, std::uint32_t rank, std::uint32_t semaphore);
    const ring_view& view(ring_id ring);

    void plan_all_reduce_2d(ring_id first, ring_id second, std::uint32_t colour, std::uint32_t colours, bool both_ways);
    abi::status plan_ring_1d();
    void plan_hierarchical();
    void plan_trees();
    void plan_one_tree(const mesh& o, place here, place root, bool transposed);
    void plan_fan_out();
    void plan_fan_in();

    // plan_line_trees.cpp
    bool in_line_trees() const;
    void plan_line_trees();
    pass& add_wait(channel_plan& c, std::uint32_t semaphore);
    pass& add_tree_pass(std::uint32_t colour, run_source source, std::uint32_t messages);
    void add_spread_of(std::uint32_t colour);
    void add_sums_of(std::uint32_t colour);

    void add_arrivals(std::uint32_t messages, std::uint32_t parent, std::uint32_t ready_semaphore,
                      std::uint32_t data_semaphore);
    std::uint16_t queue_towards(direction d) const;
    void add_child(direction d, std::uint32_t child, abi::element_range range, bool is_root,
                   std::uint32_t data_semaphore);
    void add_child(std::uint16_t queue, std::uint32_t ready_semaphore, std::uint32_t child, abi::element_range range,
                   bool is_root, std::uint32_t data_semaphore);
    pass& add_contributions(std::uint32_t colour, std::uint32_t messages, std::uint32_t from,
                            std::uint32_t data_semaphore);
    pass& add_sums(std::uint32_t colour, abi::element_range range, std::uint32_t to, std::uint32_t ready_semaphore,
                   std::uint32_t data_semaphore);
    void add_contributor(direction d, std::uint32_t child, std::uint32_t colour, abi::element_range range);
    void add_parent(direction d, std::uint32_t parent, std::uint32_t colour, abi::element_range range);
    void announce_rings();

    void plan_grid_tree(); // plan_grid_tree.cpp

    // plan_axes.cpp
    void plan_axes();
    axis_lane& make_axis_lane(const axis_places& places, std::uint32_t lane, std::uint32_t colour, bool reversed, bool by_place);
    void add_axis(channel_plan& c, std::uint32_t level, bool accumulate, std::uint32_t semaphore);
    void add_gather_to_root(channel_plan& c, std::uint32_t semaphore, bool any_ring);
    std::uint16_t queue_of_line(std::uint32_t axis) const;
    void announce_lines();

    // plan_failed_chips.cpp
    void plan_row_pair_around_failed_chips(bool transposed, bool forwards_columns);
    void plan_whole_pair(std::uint32_t lane, place here, bool transposed, bool forwards_columns);
    std::uint32_t adopt_columns(std::uint32_t lane, place here, bool transposed, std::uint32_t* from);
    void plan_tile(std::uint32_t lane, place here, bool transposed);
    void find_donors(place here, bool transposed);

    void charge(std::uint32_t instructions) { out_.cost += instructions; }

    ring_map& rings_;
    const abi::platform_table& table_;
    mesh& mesh_;
    block_tree& tree_;
    const abi::command& command_;
    schedule& out_;
    std::uint32_t direct_axes_ = 0; ///< of multi_axis: bits
    std::uint32_t seen_rings_ = 0; ///< bit per ring_number(): `views_` has it
    union {
        ring_view views_[k_ring_numbers];
    };
};

/// The Hamiltonian ring that ring_1d uses: the asked orientation if the mesh allows it, else the other.
ring_id hamiltonian_ring(const mesh& m, bool transposed, bool reversed);

} // namespace weft::firmware
