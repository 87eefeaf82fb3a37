// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Host cost of a switch packet: frames straight into the sockets, every answer compared with the sum, registers in C++.
#include "hw/ethernet/ethernet_frame.h"
#include "hw/tofino/aggregation_model.h"
#include "hw/tofino/tofino_switch.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

using namespace weft;
namespace sml = weft::abi::switchml;

namespace {

std::uint64_t station_mac(std::uint32_t n) { return 0x02'00'00'00'01'00 + n; }
std::uint32_t station_ip(std::uint32_t n) { return 0x0a00'0100 + n; }
aggregation_factory models(const tofino_config& c)
{
    return [depth = c.register_depth](std::uint32_t) { return std::make_unique<aggregation_model>(depth); };
}

/// `n` workers send packets of one size to all slots in turn, sets alternating; counts the answers whose words are
/// right.
class load final : public sc_core::sc_module, private timeline_client {
public:
    load(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, std::uint32_t n, std::uint32_t words,
         bool data)
        : sc_core::sc_module(name), time_(time), pool_(pool), words_(words), data_(data), config_(config(n)),
          chip_(sc_core::sc_gen_unique_name("switch"), time, pool, config_, models(config_)),
          actor_(time.register_actors(n))
    {
        tofino_job j;
        j.number = 1;
        j.words = words;
        j.slots = k_slots;
        for (std::uint32_t w = 0; w < n; ++w) {
            j.workers.push_back({station_mac(w), station_ip(w), w});
            ends_.push_back(std::make_unique<end>(*this, w));
            ends_[w]->out.bind(chip_.from_network(w));
            chip_.to_network(w).bind(ends_[w]->in);
        }
        chip_.add_job(j);
    }
    void start(std::uint32_t packets_each)
    {
        left_ = packets_each;
        // The kernel's clock may be behind a timeline that has run ahead.
        time_.schedule(resume_ps_, make_order(event_class::device, actor_, sequence_++), *this, 0, 0);
    }
    std::uint64_t wrong = 0, right = 0;
    tofino_switch& chip() { return chip_; }

private:
    static constexpr std::uint32_t k_slots = 512;
    struct end final : ethernet_device {
        end(load& o, std::uint32_t n)
            : owner(o), in(fmt::format("in{}", n).c_str(), *this, n), out(fmt::format("out{}", n).c_str())
        {
        }
        void on_frame(std::uint32_t, packet_ptr f, std::uint64_t) override { owner.check(*f); }
        load& owner;
        ethernet_receive_socket in;
        ethernet_transmit_socket out;
    };
    static tofino_config config(std::uint32_t n)
    {
        tofino_config c;
        c.ports = n;
        c.ports_per_pipe = n > 16 ? 32 : 16;
        return c;
    }
    void on_event(std::uint32_t, std::uint8_t) override
    {
        // One packet of every worker a time step: 100 Gb/s.
        const std::uint32_t bytes = sml::k_udp_headers + 4 * words_;
        for (std::uint32_t w = 0; w < ends_.size(); ++w) {
            packet_ptr f = make_frame(pool_, bytes, data_ ? bytes : sml::k_udp_headers);
            sml::addresses a;
            a.destination_mac = config_.mac;
            a.source_mac = station_mac(w);
            a.destination_ip = config_.ip;
            a.source_ip = station_ip(w);
            a.destination_port = a.source_port = sml::k_udp_port_base;
            sml::encode(a, bytes - sml::k_header, f->payload);
            sml::header h;
            h.job = 1;
            h.id = next_;
            h.slot = static_cast<std::uint16_t>(next_ % k_slots);
            h.version = next_ / k_slots % 2 != 0;
            h.size_code = words_ == 64 ? 1 : 3;
            sml::encode(h, f->payload + sml::k_header);
            if (data_)
                for (std::uint32_t i = 0; i < words_; ++i)
                    reinterpret_cast<std::uint32_t*>(f->payload + sml::k_udp_headers)[i] = sml::swap32(next_ + i + w);
            ends_[w]->out->receive(std::move(f), 10 * w);
        }
        ++next_;
        resume_ps_ = time_.now_ps() + 1'000'000'000;
        if (--left_ > 0)
            time_.schedule(time_.now_ps() + 88'000, make_order(event_class::device, actor_, sequence_++), *this, 0, 0);
    }
    void check(const packet& f)
    {
        const auto n = static_cast<std::uint32_t>(ends_.size());
        const sml::header h = sml::decode(f.payload + sml::k_header);
        bool ok = true;
        const auto* got = reinterpret_cast<const std::uint32_t*>(f.payload + sml::k_udp_headers);
        std::uint32_t different = 0;
        for (std::uint32_t i = 0; data_ && i < words_; ++i)
            different |= sml::swap32(got[i]) ^ (n * (h.id + i) + n * (n - 1) / 2);
        ok = different == 0;
        ++(ok ? right : wrong);
    }
    timeline& time_;
    packet_pool& pool_;
    std::uint32_t words_;
    bool data_;
    tofino_config config_;
    tofino_switch chip_;
    std::uint32_t actor_;
    std::uint32_t sequence_ = 0;
    std::uint32_t next_ = 0;
    std::uint32_t left_ = 0;
    std::uint64_t resume_ps_ = 1000;
    std::vector<std::unique_ptr<end>> ends_;
};

struct bench_world {
    bench_world(std::uint32_t n, std::uint32_t words, bool data)
        : traffic(sc_core::sc_gen_unique_name("load"), time, pool, n, words, data)
    {
        time.set_run_ahead(true);
    }
    timeline time{sc_core::sc_gen_unique_name("timeline")};
    packet_pool pool;
    load traffic;
};

/// Elaborated together: a process has one kernel.
bench_world& world(std::size_t i)
{
    static std::vector<std::unique_ptr<bench_world>> worlds;
    if (worlds.empty())
        for (const bool data : {true, false})
            for (const std::uint32_t words : {256u, 64u})
                worlds.push_back(std::make_unique<bench_world>(8, words, data));
    return *worlds[i];
}

/// Items are packets that reach the switch; 1 of 8 completes its slot and leaves as 8 copies.
void tofino_packets(benchmark::State& state)
{
    bench_world& w = world(static_cast<std::size_t>(state.range(0)));
    state.SetLabel(state.range(0) == 0   ? "256 words"
                   : state.range(0) == 1 ? "64 words"
                   : state.range(0) == 2 ? "256 words, data off"
                                         : "64 words, data off");
    constexpr std::uint32_t k_each = 4096;
    const std::uint64_t before = w.traffic.chip().packets.value();
    for (auto _ : state) {
        w.traffic.start(k_each);
        sc_core::sc_start();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(w.traffic.chip().packets.value() - before));
    if (w.traffic.wrong != 0 || w.traffic.right != w.traffic.chip().packets.value() || w.traffic.chip().dropped() != 0)
        state.SkipWithError(fmt::format("{} sums of {} are wrong, {} frames dropped", w.traffic.wrong,
                                        w.traffic.right + w.traffic.wrong, w.traffic.chip().dropped())
                                .c_str());
}
BENCHMARK(tofino_packets)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

} // namespace
