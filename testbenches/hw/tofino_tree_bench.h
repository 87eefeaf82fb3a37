// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees of switches with cables that lose frames, and workers that follow Algorithm 4: slots, sets, a timer a packet.
#pragma once

#include "hw/ethernet/ethernet_link.h"
#include "testbenches/hw/tofino_bench.h"

namespace weft::testing {

inline std::uint32_t value_of(std::uint32_t worker, std::uint32_t piece, std::uint32_t word)
{
    const std::uint32_t x = (worker + 1) * 0x9e3779b9u ^ (piece + 1) * 0x85ebca6bu ^ word * 0xc2b2ae35u;
    return x ^ x >> 15;
}

/// One worker. Answers that it has had already are ignored by their id.
class lossy_worker {
public:
    struct settings {
        std::uint32_t pieces = 8, slots = 4, first_slot = 0, words = 256, workers = 2;
        std::uint8_t job = 1;
        std::uint64_t timeout_ps = 100 * k_us;
        std::uint64_t start_ps = k_us;
    };
    lossy_worker(station& at, frame_script& script, timeline& time, const tofino_config& to, std::uint32_t number,
                 const settings& s)
        : station_(at), script_(script), time_(time), to_(to), number_(number), s_(s), done_(s.pieces, false)
    {
        at.keep = false;
        at.on_receive = [this](received_frame& r) { take(r); };
        script.at(s.start_ps, [this] {
            for (std::uint32_t piece = 0; piece < std::min(s_.slots, s_.pieces); ++piece)
                send(piece);
        });
    }
    std::uint32_t finished = 0;
    std::uint32_t wrong = 0;
    std::uint32_t timeouts = 0;
    std::uint64_t last_ps = 0;

private:
    void send(std::uint32_t piece)
    {
        udp_message m;
        m.job = s_.job;
        m.id = piece;
        m.slot = static_cast<std::uint16_t>(s_.first_slot + piece % s_.slots);
        m.version = piece / s_.slots % 2 != 0;
        m.exponent0 = static_cast<std::int8_t>(number_ + piece);
        m.words.resize(s_.words);
        for (std::uint32_t i = 0; i < s_.words; ++i)
            m.words[i] = value_of(number_, piece, i);
        station_.put(station_.udp(to_, m));
        script_.at(time_.now_ps() + s_.timeout_ps, [this, piece] {
            if (!done_[piece] && timeouts < 1000) {
                ++timeouts;
                send(piece);
            }
        });
    }
    void take(received_frame& r)
    {
        if (r.fields.corrupted)
            return;
        const std::uint32_t piece = r.fields.switchml.id;
        if (r.fields.kind != frame_kind::switchml || r.fields.switchml.job != s_.job || piece >= s_.pieces) {
            ++wrong;
            return;
        }
        if (done_[piece])
            return;
        done_[piece] = true;
        ++finished;
        bool ok = r.words.size() == s_.words && r.checksum_ok &&
                  r.fields.switchml.exponent0 == static_cast<std::int8_t>(s_.workers - 1 + piece);
        for (std::uint32_t i = 0; ok && i < s_.words; ++i) {
            std::uint32_t sum = 0;
            for (std::uint32_t w = 0; w < s_.workers; ++w)
                sum += value_of(w, piece, i);
            ok = r.words[i] == sum;
        }
        wrong += ok ? 0 : 1;
        last_ps = r.time_ps;
        // The receiving socket is called ahead of the frame: act when it is here.
        if (piece + s_.slots < s_.pieces)
            script_.at(r.time_ps, [this, piece] { send(piece + s_.slots); });
    }
    station& station_;
    frame_script& script_;
    timeline& time_;
    tofino_config to_;
    std::uint32_t number_;
    settings s_;
    std::vector<bool> done_;
};

/// Loses the n-th frame of one direction.
struct lose_one final : ethernet_fault_if {
    std::uint32_t end = 0;
    std::uint64_t number = 0;
    bool happened = false;
    ethernet_verdict on_frame(std::uint32_t from, std::uint64_t n, std::uint64_t, const packet&) override
    {
        ethernet_verdict v;
        v.drop = from == end && n == number;
        happened = happened || v.drop;
        return v;
    }
};

/// Levels of switches, `fan` children each; the lowest has `fan` workers each. One level is a rack.
class switch_tree {
public:
    switch_tree(std::uint32_t levels, std::uint32_t fan, lossy_worker::settings s, const ethernet_link_config& cable,
                bool stale_filter = false)
        : fan_(fan), stale_filter_(stale_filter)
    {
        s.workers = 1;
        for (std::uint32_t l = 0; l < levels; ++l)
            s.workers *= fan;
        std::uint32_t switches = 1, first_of_level = 0;
        for (std::uint32_t l = 0; l < levels; ++l) {
            for (std::uint32_t k = 0; k < switches; ++k)
                add_switch(first_of_level + k, l == 0, l + 1 == levels, k, s, cable);
            first_of_level += switches;
            switches *= fan;
        }
    }
    void check(const char* what, std::uint32_t pieces)
    {
        INFO(what);
        CHECK(pool.leak_report() == "");
        for (std::size_t w = 0; w < workers.size(); ++w) {
            INFO("worker " << w << "\n" << chips[0]->blocked_on());
            CHECK(workers[w]->finished == pieces);
            CHECK(workers[w]->wrong == 0);
        }
        for (const auto& chip : chips)
            CHECK(chip->idle());
    }
    std::uint64_t timeouts() const
    {
        std::uint64_t sum = 0;
        for (const auto& w : workers)
            sum += w->timeouts;
        return sum;
    }

    timeline time{sc_core::sc_gen_unique_name("timeline")};
    packet_pool pool;
    frame_script events{time};
    std::vector<std::unique_ptr<tofino_switch>> chips;
    std::vector<std::unique_ptr<station>> stations;
    std::vector<std::unique_ptr<lossy_worker>> workers;
    std::vector<std::unique_ptr<ethernet_link>> links; ///< end 0 below, end 1 above

private:
    tofino_config config(std::uint32_t n) const
    {
        tofino_config c;
        c.ports = fan_ + 1; // the last one goes up
        c.register_depth = 64;
        c.stale_filter = stale_filter_;
        c.mac = 0x02'00'00'00'f0'00 + n;
        c.ip = 0x0a00'f000 + n;
        return c;
    }
    void add_switch(std::uint32_t n, bool root, bool leaf, std::uint32_t in_level, const lossy_worker::settings& s,
                    const ethernet_link_config& cable)
    {
        const tofino_config c = config(n);
        chips.push_back(
            std::make_unique<tofino_switch>(sc_core::sc_gen_unique_name("switch"), time, pool, c, models(c)));
        tofino_switch& chip = *chips.back();
        tofino_job j;
        j.number = s.job;
        j.words = s.words;
        j.first_slot = s.first_slot;
        j.slots = s.slots;
        for (std::uint32_t p = 0; p < fan_; ++p) {
            const std::uint32_t child = n * fan_ + 1 + p;
            if (leaf)
                j.workers.push_back({station_mac(in_level * fan_ + p), station_ip(in_level * fan_ + p), p});
            else
                j.workers.push_back({config(child).mac, config(child).ip, p});
        }
        if (!root) {
            const std::uint32_t up = (n - 1) / fan_;
            j.parent.kind = parent_kind::port;
            j.parent.worker = (n - 1) % fan_;
            j.parent.port = fan_;
            j.parent.mac = config(up).mac;
            j.parent.ip = config(up).ip;
            j.parent.own_mac = c.mac;
            j.parent.own_ip = c.ip;
            ethernet_link& link = new_link(cable);
            chip.to_network(fan_).bind(link.in(0));
            link.out(0).bind(chip.from_network(fan_));
            chips[up]->to_network(j.parent.worker).bind(link.in(1));
            link.out(1).bind(chips[up]->from_network(j.parent.worker));
        } else { // nothing above
            stations.push_back(std::make_unique<station>(sc_core::sc_gen_unique_name("nobody"), time, pool, 9999));
            stations.back()->out.bind(chip.from_network(fan_));
            chip.to_network(fan_).bind(stations.back()->in);
        }
        chip.add_job(j);
        for (std::uint32_t p = 0; leaf && p < fan_; ++p) {
            const std::uint32_t w = in_level * fan_ + p;
            stations.push_back(std::make_unique<station>(sc_core::sc_gen_unique_name("station"), time, pool, w));
            station& at = *stations.back();
            ethernet_link& link = new_link(cable);
            at.out.bind(link.in(0));
            link.out(0).bind(at.in);
            chip.to_network(p).bind(link.in(1));
            link.out(1).bind(chip.from_network(p));
            workers.push_back(std::make_unique<lossy_worker>(at, events, time, c, w, s));
        }
    }
    ethernet_link& new_link(const ethernet_link_config& cable)
    {
        links.push_back(std::make_unique<ethernet_link>(sc_core::sc_gen_unique_name("cable"), time, pool, cable,
                                                        static_cast<std::uint32_t>(links.size())));
        return *links.back();
    }
    std::uint32_t fan_;
    bool stale_filter_;
};

} // namespace weft::testing
