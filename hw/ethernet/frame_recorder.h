// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// frame_recorder: a tap in one direction between two sockets that writes down every frame. Takes no time and changes nothing;
// put in where a trace or a test wants it, so that it costs nothing elsewhere. Records come in the order in which frames are
// handed over, which is the order of `time_ps` only behind one transmitter.
#pragma once

#include "hw/ethernet/ethernet_frame.h"
#include "hw/ethernet/ethernet_socket.h"
#include "tlm/notifier.h"

#include <string>
#include <vector>

namespace weft {

struct frame_record {
    std::uint64_t time_ps = 0;   ///< last byte at the tap
    std::uint32_t direction = 0; ///< as the recorder was told
    frame_summary frame;
};
/// "12.345 us direction 0: SwitchML job ..."
std::string to_string(const frame_record& record);

/// Takes records; a vector_frame_sink keeps them.
class frame_sink {
public:
    virtual void record(const frame_record& r) = 0;

protected:
    ~frame_sink() = default;
};
class vector_frame_sink final : public frame_sink {
public:
    void record(const frame_record& r) override { records.push_back(r); }
    std::vector<frame_record> records;
};

class frame_recorder final : public sc_core::sc_module, private ethernet_device {
public:
    ethernet_receive_socket in;
    ethernet_transmit_socket out;

    /// Several recorders may share a sink; `direction` tells them apart.
    frame_recorder(const sc_core::sc_module_name& name, const notifier& time, frame_sink& sink,
                   std::uint32_t direction);

private:
    void on_frame(std::uint32_t port, packet_ptr frame, std::uint64_t delay_ps) override;

    const notifier& time_;
    frame_sink& sink_;
    std::uint32_t direction_;
};

} // namespace weft
