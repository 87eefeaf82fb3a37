// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of broadcasts and mesh_tree on full meshes, whole lines in turn: fan-out from the root, fan-in to it.
#include "firmware/collectives/planners.h"
#include "firmware/collectives/tree_writer.h"

#include <new>

namespace weft::firmware {

namespace {

class fan_planner : public tree_writer {
public:
    using tree_writer::tree_writer;

    void plan_fan_out();
    void plan_fan_in();
};

// Dimension by dimension, the outermost first: who has a chunk sends it to all others of its line in every dimension
// further in than the one it came by. All of a line are told at once, so a rank waits for `ready` of them all: none of
// them can be ahead, because it needs what this rank has not sent yet (firmware/context.h).
void fan_planner::plan_fan_out()
{
    const abi::platform_table& t = table_;
    out_.cost += costs::k_fan_engine - costs::k_engine; // unsigned: wraps back
    std::uint32_t stride = 1;
    std::uint32_t rest = command_.root;
    std::uint32_t from = t.rank; // the parent: the root's coordinate in the innermost dimension that differs
    std::uint32_t came_by = t.dim_count;
    const std::uint32_t total = out_.chunks(command_.count);
    for (std::uint32_t i = 0; i < t.dim_count; ++i) { // from the innermost
        charge(costs::k_fan_axis);
        const std::uint32_t d = t.dim_count - 1 - i;
        const std::uint32_t side = t.dims[d];
        const std::uint32_t root_at = rest % side;
        rest /= side;
        out_.steps += side > 1 ? 1 : 0;
        if (came_by != t.dim_count || side < 2) {
            stride *= side;
            continue;
        }
        if (t.coord[d] != root_at) {
            came_by = i;
            from = t.rank + (root_at - t.coord[d]) * stride; // unsigned: wraps back
        } else {
            pass& p = add_pass(add_channel(0), run_source::fan_out);
            p.entry_cost = 0;
            p.guarded = p.needs_ready = true;
            p.view.size = side;
            p.view.position = t.coord[d];
            p.view.predecessor = t.rank;
            p.stride = stride;
            p.ready_semaphore = static_cast<std::uint8_t>(line_ready_semaphore(i));
            p.receive_semaphore = p.remote_semaphore = k_sem_tree_data;
            p.total_sends = total * (side - 1);
            p.free_sends = t.rank == command_.root ? p.total_sends : 0;
            expect(p.ready_semaphore, side - 1);
        }
        stride *= side;
    }
    if (came_by != t.dim_count)
        add_arrivals(total, from, line_ready_semaphore(came_by), k_sem_tree_data);
}

// The way back: dimension by dimension, the innermost first, all of a line send what they have to the one with the
// root's coordinate, whole, since nobody could send on what is not summed from all. Lines tell each other that they
// have entered as in plan_axes(): all wait for all before they send. So whoever is ahead, even the one that only gets,
// knows by then that all have entered, and none is taken for another.
void fan_planner::plan_fan_in()
{
    const abi::platform_table& t = table_;
    out_.cost += costs::k_fan_engine - costs::k_engine; // unsigned: wraps back
    out_.chunk_elements = command_.count;
    std::uint32_t stride = 1;
    std::uint32_t rest = command_.root;
    bool sent = false;
    channel_plan* entries = nullptr;                  ///< of the lines of which this rank gets sums
    for (std::uint32_t i = 0; i < t.dim_count; ++i) { // from the innermost
        charge(costs::k_fan_axis);
        const std::uint32_t d = t.dim_count - 1 - i;
        const std::uint32_t side = t.dims[d];
        const std::uint32_t root_at = rest % side;
        rest /= side;
        out_.steps += side > 1 ? 1 : 0;
        if (!sent && side > 1) {
            const std::uint32_t ready = line_ready_semaphore(i), data = k_sem_data + i;
            sent = t.coord[d] != root_at;
            if (sent) {
                pass& p = add_sums(0, {0, command_.count}, t.rank + (root_at - t.coord[d]) * stride, ready,
                                   data); // unsigned: wraps back
                p.has_queue = true;       // of each child another one, so that the parent gets by all its ports
                p.first_queue = static_cast<std::uint16_t>((root_at + side - t.coord[d]) % side - 1);
                expect(ready, side);
            } else {
                add_contributions(0, side - 1, t.rank, data).view.size = side;
                if (entries == nullptr)
                    entries = &add_channel(1);
                pass& p = add_pass(*entries, run_source::list); // it waits for them at its end, too: none may be lost
                p.entry_cost = p.run_cost = 0;
                p.receive_semaphore = static_cast<std::uint8_t>(ready);
                p.total_receives = side;
                p.view.predecessor = t.rank;
            }
            new (&out_.lines[out_.line_count++])
                told_line{static_cast<std::uint8_t>(ready), 0, side, t.coord[d], stride};
        }
        stride *= side;
    }
}

} // namespace

void plan_fan_out(ring_map& rings, const abi::command& command, schedule& out)
{
    fan_planner(rings, command, out).plan_fan_out();
}

void plan_fan_in(ring_map& rings, const abi::command& command, schedule& out)
{
    fan_planner(rings, command, out).plan_fan_in();
}

} // namespace weft::firmware
