// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/frame_recorder.h"

#include <fmt/format.h>

namespace weft {

std::string to_string(const frame_record& r)
{
    return fmt::format("{} direction {}: {}", to_string(duration(r.time_ps)), r.direction, to_string(r.frame));
}

frame_recorder::frame_recorder(const sc_core::sc_module_name& name, const notifier& time, frame_sink& sink,
                               std::uint32_t direction)
    : sc_core::sc_module(name), in("in", *this, 0), out("out"), time_(time), sink_(sink), direction_(direction)
{
}

void frame_recorder::on_frame(std::uint32_t, packet_ptr frame, std::uint64_t delay_ps)
{
    sink_.record({time_.now_ps() + delay_ps, direction_, decode_frame(*frame), 0, false});
    out->receive(std::move(frame), delay_ps);
}

} // namespace weft
