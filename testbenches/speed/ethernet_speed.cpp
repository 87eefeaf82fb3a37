// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Host time of one Ethernet frame, sent by one NIC and received by another over a cable, doorbells and RX_TAIL included.
#include "hw/abi/switchml.h"
#include "hw/ethernet/ethernet_link.h"
#include "hw/ethernet/ethernet_nic.h"
#include "hw/memory/hbm.h"
#include "platforms/cli/bench_cases.h"
#include "tlm/timeline.h"

#include <benchmark/benchmark.h>
#include <cstring>
#include <ctime>

using namespace weft;
namespace regs = weft::abi::nic;

namespace {

constexpr std::uint32_t k_ring = 256;
constexpr std::uint64_t k_buffers = 8 << 20;

struct silent_irq final : irq_if {
    void set_irq(std::uint32_t, bool) override {}
};

struct host final : sc_core::sc_module {
    host(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, std::uint64_t mac, bool data)
        : sc_core::sc_module(name), cpu("cpu"), window("window"), memory("memory", hbm_config{}),
          nic("nic", time, pool, nic_config{}, mac, {&irq}, data)
    {
        cpu.bind(nic.registers);
        window.bind(memory.socket);
        nic.memory.bind(memory.port);
    }
    void write(std::uint64_t reg, std::uint64_t value, std::uint32_t bytes = 4)
    {
        std::uint64_t delay = 0;
        cpu.write(reg, &value, bytes, delay);
    }
    void set_up()
    {
        write(regs::TX_BASE(0), 1 << 20, 8);
        write(regs::TX_ENTRIES(0), k_ring);
        write(regs::RX_BASE(0), 2 << 20, 8);
        write(regs::RX_ENTRIES(0), k_ring);
        write(regs::CONTROL, 1);
    }
    silent_irq irq;
    memory_initiator_socket cpu, window;
    hbm memory;
    ethernet_nic nic;
};

/// Rings the doorbell for `batch` more entries, every 92 ns a frame: a little more than they take on the wire.
struct feeder final : timeline_client {
    timeline& time;
    host &a, &b;
    std::uint32_t batch, left, actor, posted = 0, calls = 0;
    std::uint64_t period_ps;
    feeder(timeline& t, host& from, host& to, std::uint32_t n, std::uint32_t entries, std::uint32_t frames_each)
        : time(t), a(from), b(to), batch(n), left(entries / n), actor(t.register_actors(1)),
          period_ps(std::uint64_t{n} * frames_each * 92'000)
    {
    }
    void on_event(std::uint32_t, std::uint8_t) override
    {
        posted += batch;
        a.write(regs::TX_TAIL(0), posted);
        b.write(regs::RX_TAIL(0), posted > 64 ? posted - 64 : 0);
        if (--left > 0)
            time.schedule(time.now_ps() + period_ps, make_order(event_class::device, actor, calls++), *this, 0, 0);
    }
};

/// A write is a message of 16 packets.
run_figures run(std::uint32_t batch, abi::nic_send what, abi::nic_format format, bool data)
{
    constexpr std::uint32_t k_frames = 400'000;
    const std::uint32_t frames_each = what == abi::nic_send::write ? 16 : 1;
    timeline time("timeline");
    time.set_run_ahead(true);
    packet_pool pool;
    ethernet_link link("link", time, pool, {}, 0);
    host a("a", time, pool, 10, data), b("b", time, pool, 11, data);
    a.nic.to_network.bind(link.in(0));
    link.out(0).bind(a.nic.from_network);
    b.nic.to_network.bind(link.in(1));
    link.out(1).bind(b.nic.from_network);
    a.set_up();
    b.set_up();
    for (std::uint32_t i = 0; i < k_ring; ++i) {
        abi::nic_send_entry e;
        e.what = what;
        e.send_format = format;
        e.receive_format = format;
        e.header_bytes = 42;
        e.payload_bytes = 1024 * frames_each;
        e.payload_offset = k_buffers + i * e.payload_bytes;
        e.packet_payload_bytes = 1024;
        e.remote_address = e.payload_offset;
        e.queue_pair = e.remote_queue_pair = i;
        abi::switchml::addresses to;
        to.destination_mac = 11;
        to.destination_port = what == abi::nic_send::write ? 4791 : 0xbee0;
        abi::switchml::encode(to, 1024, e.header);
        std::uint32_t words[offsetof(abi::nic_send_entry, check) / 4];
        std::memcpy(words, &e, sizeof words);
        e.check = abi::check_word(words, sizeof words / 4);
        a.memory.write_bytes((1 << 20) + i * sizeof e, &e, sizeof e);
        for (std::uint32_t k = 0; k < e.payload_bytes / 4; ++k) {
            const float x = (k % 2 == 0 ? 0.5f : -0.5f) * static_cast<float>(k);
            a.memory.write_bytes(e.payload_offset + k * 4, &x, 4);
        }
    }
    feeder f(time, a, b, batch, k_frames / frames_each, frames_each);
    time.schedule(1000, make_order(event_class::device, f.actor, ~0u), f, 0, 0);
    const std::clock_t start = std::clock();
    sc_core::sc_start();
    const double cpu_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const double received = static_cast<double>(b.nic.receiver().frames_received.value());
    return {{"ns_per_frame", cpu_s * 1e9 / received},
            {"events_per_frame", static_cast<double>(time.events()) / received},
            {"frames", received},
            {"no_room", static_cast<double>(b.nic.receiver().no_room.value())}};
}

/// Arguments: frames a doorbell, nic_send, nic_format, data.
void ethernet_frame(benchmark::State& state)
{
    run_figures f;
    for (auto _ : state) {
        f = cli::in_child([&] {
            return run(static_cast<std::uint32_t>(state.range(0)), static_cast<abi::nic_send>(state.range(1)),
                       static_cast<abi::nic_format>(state.range(2)), state.range(3) != 0);
        });
        state.SetIterationTime(f.at("ns_per_frame") * 1e-9);
    }
    for (const char* name : {"events_per_frame", "frames", "no_room"})
        state.counters[name] = f.at(name);
}
BENCHMARK(ethernet_frame)
    ->Args({1, 0, 0, 1})
    ->Args({8, 0, 0, 1})
    ->Args({1, 0, 1, 1})
    ->Args({1, 0, 2, 1})
    ->Args({1, 0, 0, 0})
    ->Args({1, 1, 1, 1})
    ->Args({1, 1, 2, 1})
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(3)
    ->ReportAggregatesOnly(true)
    ->Unit(benchmark::kNanosecond);

} // namespace
