// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of mesh_tree on machines of more than two dimensions that are no full mesh: one tree of least depth. From the
// root along the outermost dimension, from all these along the next one, and so on; along a ring, or the folded ring of
// a line, both ways from the root's coordinate. So a rank has a parent, and up to two children in each dimension.
#include "firmware/collectives/planners.h"
#include "firmware/collectives/tree_writer.h"

namespace weft::firmware {

namespace {

/// A dimension as this rank sees it, in the order of its ring.
struct grid_axis {
    std::uint32_t size = 1;
    std::uint32_t away = 0;  ///< positions from the root's coordinate upwards; 0: this rank has it
    std::uint32_t above = 0; ///< rank at the next position
    std::uint32_t below = 0;

    bool fed_upwards() const { return away <= size / 2; } ///< the tree comes by the shorter way
    bool feeds(bool upwards) const
    {
        if (away == 0)
            return size > (upwards ? 1u : 2u);
        return upwards ? away < size / 2 : away > size / 2 + 1;
    }
};

/// Ready semaphores of rings: this rank sends to its successor there, which is the only one that ever says so.
std::uint32_t ready_towards(std::uint32_t axis, bool upwards)
{
    ring_id ring{ring_kind::axis, false, !upwards};
    ring.axis = static_cast<std::uint8_t>(axis);
    return ready_semaphore(ring_number(ring));
}
/// What comes from the neighbour there in a reduce.
std::uint32_t sums_from(std::uint32_t axis, bool above) { return k_sem_data + 2 * axis + (above ? 0 : 1); }
static_assert(k_sem_data + 2 * abi::k_max_dims <= k_sem_ready, "semaphore ranges overlap");

class grid_tree_planner : public tree_writer {
public:
    using tree_writer::tree_writer;

    void plan_tree();
};

void grid_tree_planner::plan_tree()
{
    grid_axis axes[abi::k_max_dims];
    std::uint32_t came_by = table_.dim_count; // the innermost in which this rank is not where the root is
    std::uint32_t rest = command_.root;
    for (std::uint32_t i = 0; i < table_.dim_count; ++i) { // from the innermost
        const std::uint32_t size = table_.dims[table_.dim_count - 1 - i];
        const std::uint32_t root_at = rest % size;
        rest /= size;
        if (size < 2)
            continue;
        ring_id ring{ring_kind::axis, false, false};
        ring.axis = static_cast<std::uint8_t>(i);
        const ring_view& v = view(ring);
        const std::uint32_t root_position = axis_position(table_, ring, root_at);
        axes[i] = {size, v.position >= root_position ? v.position - root_position : v.position + size - root_position,
                   v.successor, v.predecessor};
        if (came_by == table_.dim_count && axes[i].away != 0)
            came_by = i;
        out_.steps += size / 2;
        charge(costs::k_grid_tree_axis);
    }
    const bool is_root = came_by == table_.dim_count;
    const bool reduces = abi::reduces(command_.op);
    const abi::element_range all{0, command_.count};
    for (std::uint32_t i = 0; i < table_.dim_count && i <= came_by; ++i)
        for (unsigned way = 0; way < 2; ++way) {
            const bool upwards = way == 0;
            const grid_axis& a = axes[i];
            if (!a.feeds(upwards) || (a.away != 0 && a.fed_upwards() != upwards))
                continue;
            const std::uint32_t child = upwards ? a.above : a.below;
            if (reduces) { // it sends to its successor the other way
                add_contributions(0, out_.chunks(command_.count), child, sums_from(i, upwards));
                notify(out_.channel_count - 1, child, ready_towards(i, !upwards));
            } else {
                add_child(static_cast<std::uint16_t>(2 * i + (upwards ? 0 : 1)), ready_towards(i, upwards), child, all,
                          is_root, k_sem_tree_data);
            }
        }
    if (is_root)
        return;
    const grid_axis& a = axes[came_by];
    const bool upwards = a.fed_upwards();
    const std::uint32_t parent = upwards ? a.below : a.above;
    if (!reduces) {
        add_arrivals(out_.chunks(command_.count), parent, ready_towards(came_by, upwards), k_sem_tree_data);
        return;
    }
    const std::uint32_t ready = ready_towards(came_by, !upwards);
    add_sums(0, all, parent, ready, sums_from(came_by, upwards));
    out_.channels[out_.channel_count - 1].queue = static_cast<std::uint16_t>(2 * came_by + (upwards ? 1 : 0));
    expect(ready, 1);
}

} // namespace

void plan_grid_tree(ring_map& rings, const abi::command& command, schedule& out)
{
    grid_tree_planner(rings, command, out).plan_tree();
}

} // namespace weft::firmware
