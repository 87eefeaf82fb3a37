// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Address decoder of a chip: one master (the core), any number of targets, each in a window of the address map.
//
// Models: decoding, translation to the target's own offsets, a fixed latency per access.
// Does not model: contention, width, bursts, ordering; traffic that matters does not go over this bus but through DMA.
// Timing: every access takes `latency` and then the target's own time; with `posted_writes` the master goes on after
// `latency` when it writes, and the target has the data when it would have it without. No RTL twin.
//
// Errors: an access that lies in no window, or only partly in one, is answered with TLM_ADDRESS_ERROR_RESPONSE.
#pragma once

#include "tlm/component.h"
#include "tlm/config_fields.h"
#include "tlm/mem_socket.h"
#include "tlm/stats.h"
#include "tlm/units.h"

#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace weft {

struct bus_config {
    static constexpr config_part k_part = config_part::core;
    duration latency{20'000};
    bool posted_writes = false;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("latency", self.latency, "Of one access through the decoder, there and back", assumed("nothing is published"),
              at_most(duration(1'000'000'000)));
        visit("posted_writes", self.posted_writes, "The core goes on when the bus has taken what it writes, and does not wait for the target", assumed("nothing is published"));
    }
    std::vector<config_problem> validate() const;
};

/// One window of the address map.
struct bus_window {
    std::uint64_t base = 0;
    std::uint64_t size_bytes = 0;
    std::string name;                ///< of the target, for messages
    std::uint64_t target_offset = 0; ///< what the target sees for an access to `base`
};

class bus : public sc_core::sc_module, public component, private blocking_target {
public:
    ::tlm::tlm_target_socket<> socket; ///< toward the master

    bus(const sc_core::sc_module_name& name, const bus_config& config);
    ~bus() override;

    /// Map `target` into the window. Before the simulation starts. Throws user_error, naming both targets, when the
    /// window overlaps another, is empty or runs over the end of the address space.
    void connect(::tlm::tlm_base_target_socket_b<>& target, const bus_window& window);

    /// The window that holds `address`, nullptr when there is none; for messages.
    const bus_window* window_of(std::uint64_t address) const;

    counter accesses;
    counter unmapped;
    stat_group stats;

    std::string stat_prefix() const override { return "bus"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }

private:
    class target_port;
    void b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) override;
    unsigned int transport_dbg(::tlm::tlm_generic_payload& trans) override;
    bool get_direct_mem_ptr(::tlm::tlm_generic_payload& trans, ::tlm::tlm_dmi& dmi) override;
    target_port* decode(std::uint64_t address, std::uint64_t bytes) const;

    /// What decoding needs, in one piece: the ports are spread over the heap.
    struct decoded_window {
        std::uint64_t base;
        std::uint64_t size_bytes;
        target_port* port;
    };
    sc_core::sc_time latency_;
    bool posted_writes_;
    std::vector<std::unique_ptr<target_port>> ports_; ///< in the order of their bases
    std::vector<decoded_window> windows_;             ///< the same order
};

} // namespace weft
