// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/switch_sum_costs.h"

#include "platforms/workload/cost_parts.h"

namespace weft {

namespace {

class switch_sum_costs_of_case : cost_parts {
public:
    using cost_parts::cost_parts;

    std::optional<double> us() const
    {
        const bool integers = c_.type == abi::element_type::int32;
        if (!m_.sums || c_.op != abi::collective_op::all_reduce || c_.redop != abi::reduce_op::sum || !c_.groups.empty() ||
            (!integers && c_.type != abi::element_type::float32))
            return std::nullopt;
        const switch_sum_costs& s = *m_.sums;
        const double blocks = std::ceil(bytes_ / s.use_bytes);
        const double of_core = std::ceil(blocks / s.cores);
        // Of float32 the first uses of slots carry exponents alone, and come back before any data goes.
        const double first = std::min<double>(of_core, s.window);
        const double turns = integers ? 1 : 2;
        const double uses = of_core + (turns - 1) * first;
        const switch_sum_costs::core_times& core = integers ? s.int32 : s.float32;
        // Of the first uses a core announces a batch at a time.
        const double batch_us = std::min<double>(first, s.batch) * core.first_us;
        const double alone_us = s.round_trip_us + core.answer_us;
        const double links_us = (std::ceil(blocks) + (turns - 1) * std::min(blocks, first * s.cores) - turns) * s.use_pace_us;
        const double cores_us = (uses - turns) * core.answer_us;
        const double slots_us = (std::ceil(uses / s.window) - turns) * alone_us;
        const double held_us = uses > s.window ? s.hold_us : 0; // a part of a batch
        return start() + s.start_us + copies_us(s, integers) + batch_us + turns * alone_us + held_us + std::max({links_us, cores_us, slots_us, 0.0});
    }

private:
    /// firmware/switchml/rdma_worker.cpp: out of the tensor and back.
    double copies_us(const switch_sum_costs& s, bool integers) const
    {
        if (s.piece_bytes == 0)
            return 0;
        const double of_use = std::ceil(static_cast<double>(s.use_bytes) / s.piece_bytes);
        const double zeros_us = integers ? 0 : of_use * s.piece_us;
        const double pieces = std::ceil(std::fmod(bytes_, s.use_bytes) / s.piece_bytes);
        if (pieces == 0)
            return zeros_us;
        return zeros_us + (3 * pieces + (integers ? pieces : of_use)) * s.piece_us;
    }
};

} // namespace

std::optional<double> by_switch_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c)
{
    return switch_sum_costs_of_case(table, costs, c).us();
}

} // namespace weft
