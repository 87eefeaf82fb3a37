// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// HBM of a chip.
//
// Models: capacity, one bandwidth server shared by reads and writes, a fixed latency, the contents (sparse).
// Does not model: banks, rows, refresh, read/write turn-around, channels; efficiency below the peak is part of `rate`.
//
// Timing of an access of n bytes that arrives at t, in the order of arrival:
//   start = max(t, busy until);  busy until = start + n / rate;  last byte at busy until + latency
// so a lone access takes latency + n / rate, and a stream of accesses runs at `rate`. A read-modify-write counts 2n.
// `load` is what compute units take of the rate: accesses of `load_block` at exponential intervals, the first one with
// the first charge, served in the same order. It makes no events.
// Fractions of a picosecond are carried while the server is busy; the answer is rounded up. A stream never beats
// `rate`.
//
// No RTL twin.
#pragma once

#include "hw/memory/chip_memory.h"
#include "hw/memory/sparse_store.h"
#include "tlm/cache_hints.h"
#include "tlm/config_fields.h"
#include "tlm/mem_socket.h"
#include "tlm/stats.h"
#include "tlm/units.h"

#include <systemc>
#include <tlm>
#include <vector>

namespace weft {

struct hbm_config {
    static constexpr config_part k_part = config_part::memory;
    data_size capacity{32ull << 30};
    bandwidth rate{7'200'000'000'000};
    duration latency{120'000};
    std::string name = "HBM"; ///< as users know it; no key of a file
    // Keys of platforms that have compute units beside:
    double load = 0;                        ///< share of `rate` that they take, below 1
    data_size load_block = data_size(4096); ///< in accesses of so much, at random intervals

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("capacity", self.capacity, "Bytes of one chip's memory, a multiple of 64 KiB",
              assumed("as TPU v3"),
              between(data_size(64 << 10), data_size(1ull << 40))
                  .multiple_of(64 << 10)
                  .because(": the page of the model, and the window of the address map"));
        visit("rate", self.rate, "Peak rate of the memory, reads and writes together", assumed("as TPU v3"),
              between(bandwidth(1'000'000), bandwidth(8'000'000'000'000'000))
                  .because("; write for example \"900 GB/s\""));
        visit("latency", self.latency, "From the request to its first byte, unloaded", assumed("nothing is published"),
              at_most(duration(1'000'000'000)));
    }
    std::vector<config_problem> validate() const;
};

class hbm : public chip_memory, public use_hints, private blocking_target {
    // What every access touches.
    std::uint64_t ps_per_byte_ = 0; // 32 fraction bits
    std::uint64_t latency_ps_;
    std::uint64_t busy_until_ps_ = 0; // start of the picosecond in which the last byte moves
    std::uint32_t busy_fraction_ = 0; // and how far into it, in 2^-32 ps
    std::uint64_t load_interval_ps_ = 0; // mean; 0: there is no load

public:
    counter bytes_read;
    counter bytes_written;
    accumulated_time busy_time;
    accumulated_time reduce_time; ///< of it, for accumulating

    shared_target_socket socket;
    sc_core::sc_export<memory_if> port; ///< the DMA's way in

    hbm(const sc_core::sc_module_name& name, const hbm_config& config);

    shared_target_socket& window() override { return socket; }
    void read_bytes(std::uint64_t offset, void* to, std::uint64_t bytes) const override;
    void write_bytes(std::uint64_t offset, const void* from, std::uint64_t bytes) override;
    void release_contents() override;

    // memory_if
    std::uint64_t charge(std::uint64_t at_ps, std::uint64_t offset, std::uint64_t bytes, access kind) override;
    std::uint8_t* span_for_write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) override
    {
        return store_.span_for_write(offset, bytes, got_bytes);
    }
    const std::uint8_t* span_for_read(std::uint64_t offset, std::uint64_t bytes,
                                      std::uint64_t& got_bytes) const override
    {
        return store_.span_for_read(offset, bytes, got_bytes);
    }
    std::uint64_t capacity_bytes() const override { return store_.capacity_bytes(); }
    std::uint64_t latency_ps() const override { return latency_ps_; }

    /// Moves `bytes` for a memory without a rate of its own (hbm_beside.h): when the last one has moved, without
    /// latency. They count there, but for the time that they take.
    std::uint64_t serve(std::uint64_t at_ps, std::uint64_t bytes);

    const hbm_config& config() const { return config_; }
    /// True when no charged traffic is still under way at `now_ps`.
    bool idle(std::uint64_t now_ps) const { return busy_until_ps_ + (busy_fraction_ != 0 ? 1 : 0) <= now_ps; }
    bool settled(std::uint64_t now_ps) override { return idle(now_ps); }
    std::string stat_prefix() const override; ///< the name in small letters
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    void reset(std::uint32_t draw) override
    {
        draw_ = draw;
        next_load_ps_ = k_not_begun;
        load_blocks_ = 0;
    }
    void bring_near(std::uint32_t) const override;
    std::optional<memory_load> memory_traffic() const override
    {
        return memory_load{config_.name, bytes_read.value(), bytes_written.value()};
    }
    /// Moving bytes; of it, accumulating. What compute units take by `load` is in the former, and named there.
    work_load spent_on(work_kind kind, std::uint64_t now_ps) const override;
    std::uint64_t resident_bytes() const { return store_.resident_bytes(); } ///< of the host, in whole pages

    stat_group stats;

private:
    void b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) override;
    unsigned int transport_dbg(::tlm::tlm_generic_payload& trans) override;
    bool get_direct_mem_ptr(::tlm::tlm_generic_payload& trans, ::tlm::tlm_dmi& dmi) override;
    bool move_bytes(::tlm::tlm_generic_payload& trans);
    void take(std::uint64_t at_ps, std::uint64_t bytes);
    void catch_up_with_load(std::uint64_t at_ps);

    static constexpr std::uint64_t k_not_begun = ~std::uint64_t{0};
    std::uint64_t next_load_ps_ = k_not_begun; // since a reset nothing has been charged
    std::uint64_t load_blocks_ = 0;            // taken since then
    std::uint64_t load_time_ps_ = 0;           // that they took, of busy_time
    std::uint64_t load_seed_ = 0;              // of the name
    std::uint32_t draw_ = 0;
    std::uint64_t interval_to_next_load();
    hbm_config config_;
    sparse_store store_;
    bool dmi_given_ = false;
};

} // namespace weft
