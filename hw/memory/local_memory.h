// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Core-local memory: tables, commands, responses. Contents in 4 KiB pages that are made when first written.
//
// Models: capacity and a fixed latency per access. Does not model: bandwidth, banks, ports, conflicts with the host.
// Timing: every access takes `latency`, whatever its length. No RTL twin.
#pragma once

#include "tlm/component.h"
#include "tlm/config_fields.h"
#include "tlm/mem_socket.h"
#include "tlm/stats.h"
#include "tlm/units.h"

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

namespace weft {

struct local_memory_config {
    static constexpr config_part k_part = config_part::core;
    data_size capacity{64 << 10};
    duration latency{5'000};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("capacity", self.capacity,
              "Bytes of core-local memory; the address map of the firmware fixes it at 64 KiB", assumed("nothing is published"),
              between(data_size(4 << 10), data_size(16 << 20)).multiple_of(4 << 10));
        visit("latency", self.latency, "Of one access of any length", assumed("nothing is published"), at_most(duration(1'000'000'000)));
    }
    std::vector<config_problem> validate() const;
};

class local_memory : public sc_core::sc_module, public component, private blocking_target {
public:
    ::tlm::tlm_target_socket<> socket;

    local_memory(const sc_core::sc_module_name& name, const local_memory_config& config);

    /// Backdoor of the host: no time, no statistics. Throws `bug` beyond the capacity.
    void read_bytes(std::uint64_t offset, void* to, std::uint64_t bytes) const;
    void write_bytes(std::uint64_t offset, const void* from, std::uint64_t bytes);

    void clear(); ///< all bytes to zero; no time, no statistics
    void reset(std::uint32_t) override { clear(); }

    std::string stat_prefix() const override { return "local_memory"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }

    std::uint64_t capacity_bytes() const { return capacity_bytes_; }
    std::uint64_t resident_bytes() const { return resident_pages_ * k_page_bytes; }

    counter bytes_read;
    counter bytes_written;
    stat_group stats;

private:
    static constexpr std::uint64_t k_page_bytes = 4096;
    void b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) override;
    unsigned int transport_dbg(::tlm::tlm_generic_payload& trans) override;
    bool move_bytes(::tlm::tlm_generic_payload& trans);
    void copy_out(std::uint64_t offset, std::uint8_t* to, std::uint64_t bytes) const;
    void copy_in(std::uint64_t offset, const std::uint8_t* from, std::uint64_t bytes);

    std::uint64_t capacity_bytes_;
    std::uint64_t latency_ps_;
    std::vector<std::unique_ptr<std::uint8_t[]>> pages_;
    std::uint64_t resident_pages_ = 0;
};

} // namespace weft
