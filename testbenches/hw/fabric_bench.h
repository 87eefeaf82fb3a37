// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A bench for fabrics: endpoints that send what a test orders and write down what arrives, over link sockets.
#pragma once

#include "hw/fabric/fabric_socket.h"
#include "platforms/workload/traffic.h"
#include "tlm/credit.h"
#include "tlm/link.h"
#include "tlm/timeline.h"

#include <fmt/format.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::testing {

/// Routing by a function of the test.
struct function_routing final : routing_policy {
    std::function<route_decision(std::uint32_t router, std::uint32_t in_port, packet& p)> decide;
    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override
    {
        return decide(router, in_port, p);
    }
};

/// Runs functions at given times, as timeline events after all others of the same time.
class script final : private timeline_client {
public:
    explicit script(timeline& time) : time_(time), actor_(time.register_actors(1)) {}
    void at(std::uint64_t time_ps, std::function<void()> f)
    {
        actions_.push_back(std::move(f));
        const auto i = static_cast<std::uint32_t>(actions_.size() - 1);
        time_.schedule(time_ps, make_order(event_class::device, actor_, i), *this, i, 0);
    }

private:
    void on_event(std::uint32_t a, std::uint8_t) override { actions_[a](); }
    timeline& time_;
    std::uint32_t actor_;
    std::vector<std::function<void()>> actions_;
};

struct arrived {
    std::uint32_t source, message;
    std::uint64_t born_ps, tail_ps, payload_bytes;
    std::uint8_t vl, flags;
    std::uint16_t hops;
};
inline bool operator==(const arrived& a, const arrived& b)
{
    return a.source == b.source && a.message == b.message && a.born_ps == b.born_ps && a.tail_ps == b.tail_ps &&
           a.payload_bytes == b.payload_bytes && a.vl == b.vl && a.flags == b.flags;
}

struct send_order {
    std::uint64_t at_ps; ///< not before
    std::uint32_t destination;
    std::uint64_t payload_bytes;
    std::uint8_t destination_port = 0;
    std::uint8_t vl = 0;
};

/// One endpoint: sends its orders one after the other as fast as wire and credits allow, takes what arrives.
class endpoint final : public link_fw_if, public link_bw_if, private timeline_client {
public:
    link_target_socket in;
    link_initiator_socket out;
    std::vector<send_order> orders;
    std::vector<arrived> log;
    std::uint32_t receive_cells = 4096;
    std::uint32_t stall_below_ps = 0;    ///< one packet in four holds its credit for a random time below this
    std::uint64_t wrong = 0;             ///< arrived for somebody else
    std::uint32_t hold_vl = 0xffff'ffff; ///< credits of this VL never come back
    std::function<void()> on_step;       ///< after each of this endpoint's events

    endpoint(timeline& time, packet_pool& pool, std::uint32_t id, std::uint32_t vl_count, bandwidth rate,
             const packet_format& format, std::uint8_t port = 0)
        : in(sc_core::sc_gen_unique_name("from_fabric"), vl_count),
          out(sc_core::sc_gen_unique_name("to_fabric"), vl_count), time_(time), pool_(pool), id_(id), port_(port),
          rate_(rate), format_(format), credits_(vl_count), actor_(time.register_actors(1)), random_(id)
    {
        in.bind(static_cast<link_fw_if&>(*this));
        out.bind(static_cast<link_bw_if&>(*this));
    }
    void connect(fabric_socket& port)
    {
        out.bind(port.in);
        port.out.bind(in);
    }
    void seed(std::uint64_t s) { random_ = traffic_random(s * 1000003 + id_); }

    /// At start of simulation.
    void start()
    {
        for (std::uint32_t vl = 0; vl < credits_.size(); ++vl)
            in->credit(vl, receive_cells, 0);
        if (!orders.empty())
            wake(orders.front().at_ps);
    }
    std::size_t sent() const { return next_; }

    void send(packet_ptr p, std::uint64_t delay_ps) override
    {
        const std::uint64_t tail = time_.now_ps() + delay_ps + p->serialisation_ps;
        const std::uint32_t index = p.release()->index;
        time_.schedule(tail, make_order(event_class::arrival, actor_, sequence_++), *this, index, 1);
    }
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
    {
        credits_[vl].give(under_way_, time_.now_ps(), time_.now_ps() + delay_ps, cells);
        if (waiting_) {
            waiting_ = false;
            wake(time_.now_ps());
        }
    }

private:
    void wake(std::uint64_t at_ps)
    {
        time_.schedule(std::max(at_ps, time_.now_ps()), make_order(event_class::device, actor_, wakes_++), *this, 0, 0);
    }
    void on_event(std::uint32_t a, std::uint8_t kind) override
    {
        if (kind == 1)
            receive(packet_ptr(&pool_.at(a)));
        else
            try_send();
        if (on_step)
            on_step();
    }
    void try_send()
    {
        const std::uint64_t now = time_.now_ps();
        if (next_ == orders.size())
            return;
        const send_order& o = orders[next_];
        if (std::max(o.at_ps, busy_until_ps_) > now)
            return wake(std::max(o.at_ps, busy_until_ps_));
        const auto cells = static_cast<std::uint32_t>(format_.cells(o.payload_bytes));
        if (!credits_[o.vl].has(under_way_, now, cells)) {
            const std::uint64_t at = credits_[o.vl].when(under_way_, cells);
            waiting_ = at == k_never_ps;
            return waiting_ ? void() : wake(at);
        }
        credits_[o.vl].take(cells);
        packet_ptr p = pool_.make();
        p->source = id_;
        p->destination = o.destination;
        p->destination_port = o.destination_port;
        p->vl = o.vl;
        p->payload_bytes = static_cast<std::uint32_t>(o.payload_bytes);
        p->packet_count = format_.packets_for(o.payload_bytes);
        p->wire_bytes = static_cast<std::uint32_t>(format_.wire_bytes(o.payload_bytes));
        p->cells = cells;
        p->message = static_cast<std::uint32_t>(next_++);
        p->born_ps = now;
        p->serialisation_ps = static_cast<std::uint32_t>(rate_.time_ps(p->wire_bytes));
        busy_until_ps_ = now + p->serialisation_ps;
        out->send(std::move(p), 0);
        if (next_ < orders.size())
            wake(std::max(orders[next_].at_ps, busy_until_ps_));
    }
    void receive(packet_ptr p)
    {
        if (p->destination != id_ || p->destination_port != port_)
            ++wrong;
        log.push_back({p->source, p->message, p->born_ps, time_.now_ps(), p->payload_bytes, p->vl, p->flags, p->hops});
        if (p->vl == hold_vl)
            return;
        const bool stalls = stall_below_ps > 0 && random_.below(4) == 0;
        in->credit(p->vl, p->cells, stalls ? random_.below(stall_below_ps) : 0);
    }

    timeline& time_;
    packet_pool& pool_;
    std::uint32_t id_;
    std::uint8_t port_;
    wire_rate rate_;
    packet_format format_;
    std::vector<credit_counter> credits_;
    credit_pool under_way_;
    std::uint32_t actor_;
    traffic_random random_;
    std::size_t next_ = 0;
    std::uint64_t busy_until_ps_ = 0;
    std::uint32_t sequence_ = 0, wakes_ = 0;
    bool waiting_ = false;
};

/// A timeline, a pool, engines, endpoints, and the credit audit of every engine at every `audit_every`-th endpoint event.
class fabric_bench final : public sc_core::sc_module {
public:
    timeline time{"timeline"};
    packet_pool pool;
    script events{time};
    packet_format format;
    std::uint32_t audit_every = 97;
    std::vector<std::unique_ptr<function_routing>> policies;
    std::vector<std::unique_ptr<fabric_engine>> engines;
    std::vector<std::unique_ptr<fabric_socket>> sockets;
    std::vector<std::unique_ptr<endpoint>> endpoints;
    std::vector<const fabric_engine*> audited;
    std::string first_audit; ///< first complaint, "" when there is none

    fabric_bench() : sc_core::sc_module(sc_core::sc_module_name("bench")) {}

    fabric_engine& add_engine(const fabric_config& config,
                              std::function<route_decision(std::uint32_t, std::uint32_t, packet&)> decide)
    {
        policies.push_back(std::make_unique<function_routing>());
        policies.back()->decide = std::move(decide);
        engines.push_back(std::make_unique<fabric_engine>(time, pool, *policies.back(), config));
        audited.push_back(engines.back().get());
        return *engines.back();
    }
    fabric_socket& add_socket(fabric_engine& e, std::uint32_t router, std::uint32_t port, const fabric_link_params& in,
                              const fabric_link_params& out)
    {
        simcontext()->hierarchy_push(this); // sockets belong to a module
        sockets.push_back(
            std::make_unique<fabric_socket>(fmt::format("s{}", sockets.size()), e, router, port, in, out));
        simcontext()->hierarchy_pop();
        return *sockets.back();
    }
    /// A new endpoint (its id counts up from 0 in the whole bench unless given) at a port.
    endpoint& add_endpoint(fabric_engine& e, std::uint32_t router, std::uint32_t port, const fabric_link_params& wire,
                           std::uint32_t id = 0xffff'ffff)
    {
        endpoint& point = new_endpoint(id, e.vl_count(), wire.rate, 0);
        point.connect(add_socket(e, router, port, wire, wire));
        return point;
    }
    endpoint& new_endpoint(std::uint32_t id, std::uint32_t vl_count, bandwidth rate, std::uint8_t port)
    {
        simcontext()->hierarchy_push(this);
        endpoints.push_back(std::make_unique<endpoint>(
            time, pool, id == 0xffff'ffff ? static_cast<std::uint32_t>(endpoints.size()) : id, vl_count, rate, format,
            port));
        simcontext()->hierarchy_pop();
        endpoints.back()->on_step = [this] {
            if (++steps_ % audit_every == 0)
                audit();
        };
        return *endpoints.back();
    }
    void audit()
    {
        for (const fabric_engine* e : audited)
            if (first_audit.empty())
                first_audit = e->audit();
    }
    void run()
    {
        sc_core::sc_start();
        audit();
    }
    std::size_t received() const
    {
        std::size_t n = 0;
        for (const auto& e : endpoints)
            n += e->log.size();
        return n;
    }
    std::size_t ordered() const
    {
        std::size_t n = 0;
        for (const auto& e : endpoints)
            n += e->orders.size();
        return n;
    }
    /// Packets that arrived after a later one of the same pair.
    std::size_t overtaken() const
    {
        std::size_t n = 0;
        for (const auto& e : endpoints) {
            std::vector<std::int64_t> last(endpoints.size() + 64, -1);
            for (const arrived& a : e->log) {
                n += static_cast<std::int64_t>(a.message) <= last.at(a.source) ? 1 : 0;
                last[a.source] = a.message;
            }
        }
        return n;
    }
    std::uint64_t wrong() const
    {
        std::uint64_t n = 0;
        for (const auto& e : endpoints)
            n += e->wrong;
        return n;
    }

private:
    void start_of_simulation() override
    {
        for (auto& s : sockets)
            s->advertise();
        for (auto& e : endpoints)
            e->start();
    }
    std::uint64_t steps_ = 0;
};

} // namespace weft::testing
