// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams between CPUs and NPUs of a UB-Mesh machine, at a rate. NPU n of a rack streams with CPU n modulo CPUs, by its
// two IO dies in turn; of a CPU that fails its streams go on with another.
#pragma once

#include "platforms/ub_mesh/ub_host_devices.h"

#include <cstdint>
#include <map>
#include <vector>

namespace weft {

class ub_host_streams {
public:
    explicit ub_host_streams(ub_host_devices& devices);

    void begin();
    void end();
    /// A message of the flow is due, ub_host_devices::k_due.
    void due(std::uint32_t flow);
    /// False: the message is of something else.
    bool arrived(std::uint32_t number);
    /// The CPU `lost` is not used any more.
    void leave(std::uint32_t lost);
    std::vector<host_stream_result> results() const;

private:
    /// A stream of one NPU.
    struct flow {
        std::uint32_t stream;
        std::uint32_t rank;
        std::uint32_t cpu; ///< of all; ub_host_devices::k_none: none is left
        std::uint64_t due_ps = k_never_ps;
        bool waits = false; ///< its message is due, and four are under way
        std::uint32_t outstanding = 0;
        std::uint32_t next_slot = 0;    ///< where it is free
        std::uint32_t slots_in_use = 0; ///< bits: messages overtake each other
    };
    struct message {
        std::uint32_t flow;
        std::uint32_t slot;
        std::uint64_t due_ps;
    };
    struct window {
        std::uint64_t offset = 0, bytes = 0;
    };

    void make_flows();
    void post(std::uint32_t f);
    void take(std::uint32_t number, const message& m);
    window slot_of(const flow& f, std::uint32_t slot, bool at_npu) const;
    std::uint32_t cpu_for(const ub_host_devices::npu& n) const;
    template <class Which> void forget_messages(Which&& which);

    ub_host_devices& devices_;
    bool on_ = false;
    std::uint64_t on_since_ps_ = 0;
    std::vector<flow> flows_;
    std::map<std::uint32_t, message> messages_; ///< under way, by number
};

} // namespace weft
