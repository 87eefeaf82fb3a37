// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// frame_recorder: a tap in one direction between two sockets that writes down every frame. Takes no time and changes
// nothing; put in where a trace or a test wants it, so that it costs nothing elsewhere. Records come in the order in
// which frames are handed over, which is the order of `time_ps` only behind one transmitter.
#pragma once

#include "hw/ethernet/frame_record.h"
#include "hw/ethernet/ethernet_socket.h"
#include "tlm/notifier.h"

namespace weft {

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
