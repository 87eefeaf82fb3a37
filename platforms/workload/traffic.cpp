// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/traffic.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unordered_map>

namespace weft {

namespace {
/// Payload of a message: 64-bit words that depend on source, message and position.
std::uint64_t word_of(std::uint32_t source, std::uint32_t message, std::uint64_t index)
{
    return ((std::uint64_t{source} << 32 | message) + index) * 0x9e3779b97f4a7c15ull;
}
void fill(std::uint8_t* to, std::uint64_t bytes, std::uint32_t source, std::uint32_t message)
{
    for (std::uint64_t i = 0; i * 8 < bytes; ++i) {
        const std::uint64_t word = word_of(source, message, i);
        std::memcpy(to + i * 8, &word, std::min<std::uint64_t>(8, bytes - i * 8));
    }
}
bool holds(const std::uint8_t* data, std::uint64_t bytes, std::uint32_t source, std::uint32_t message)
{
    std::uint64_t difference = 0;
    for (std::uint64_t i = 0; i * 8 < bytes; ++i) {
        std::uint64_t got = 0;
        const std::uint64_t n = std::min<std::uint64_t>(8, bytes - i * 8);
        std::memcpy(&got, data + i * 8, n);
        const std::uint64_t mask = n == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * n)) - 1;
        difference |= (got ^ word_of(source, message, i)) & mask;
    }
    return difference == 0;
}
} // namespace

struct traffic::endpoint final : link_fw_if, link_bw_if {
    endpoint(traffic& owner, std::uint32_t index)
        : in(fmt::format("from_fabric{}", index).c_str(), owner.config_.vl_count),
          out(fmt::format("to_fabric{}", index).c_str(), owner.config_.vl_count), t(owner), id(index),
          random(owner.config_.seed * 0x10001 + index), left(owner.config_.packets_each),
          credits(owner.config_.vl_count)
    {
        in.bind(static_cast<link_fw_if&>(*this));
        out.bind(static_cast<link_bw_if&>(*this));
    }
    void send(packet_ptr p, std::uint64_t delay_ps) override
    {
        if (p->destination != id)
            ++t.misdelivered_;
        const std::uint64_t tail = t.time_.now_ps() + delay_ps + p->serialisation_ps;
        const std::uint32_t index = p.release()->index;
        t.time_.schedule(tail, make_order(event_class::arrival, t.actor_base_ + id, sequence++), t, index, k_receive);
    }
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
    {
        credits[vl].give(under_way, t.time_.now_ps(), t.time_.now_ps() + delay_ps, cells);
        if (awaiting) {
            const std::uint64_t at = credits[0].when(under_way, t.cells_);
            if (at != k_never_ps) {
                awaiting = false;
                t.time_.schedule(std::max(at, t.time_.now_ps()), make_order(event_class::device, t.actor_base_ + id, 0),
                                 t, id, k_send);
            }
        }
    }
    link_target_socket in;
    link_initiator_socket out;
    traffic& t;
    std::uint32_t id;
    traffic_random random;
    std::uint64_t left;
    std::vector<credit_counter> credits;
    credit_pool under_way;
    std::uint64_t wire_busy_until_ps = 0;
    std::uint32_t sequence = 0;
    std::uint32_t message = 0;
    bool awaiting = false;
    std::unordered_map<std::uint32_t, std::uint32_t> last_from; ///< newest message per source
};

traffic::traffic(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const traffic_config& config)
    : sc_core::sc_module(name), time_(time), pool_(pool), config_(config), rate_(config.wire_rate),
      cells_(static_cast<std::uint32_t>(config.format.cells(config.payload_bytes))),
      actor_base_(time.register_actors(config.endpoints))
{
    for (std::uint32_t i = 0; i < config.endpoints; ++i)
        endpoints_.push_back(std::make_unique<endpoint>(*this, i));
}

traffic::~traffic() = default;

link_initiator_socket& traffic::to_fabric(std::uint32_t e) { return endpoints_.at(e)->out; }

link_target_socket& traffic::from_fabric(std::uint32_t e) { return endpoints_.at(e)->in; }

void traffic::start_of_simulation()
{
    for (auto& e : endpoints_) {
        for (std::uint32_t vl = 0; vl < config_.vl_count; ++vl)
            e->in->credit(vl, config_.receive_cells, 0);
        if (config_.packets_each > 0)
            time_.schedule(1, make_order(event_class::device, actor_base_ + e->id, 0), *this, e->id, k_send);
    }
}

void traffic::on_event(std::uint32_t a, std::uint8_t kind)
{
    if (kind == k_send)
        try_send(a);
    else
        receive(packet_ptr(&pool_.at(a)));
}

void traffic::try_send(std::uint32_t index)
{
    endpoint& e = *endpoints_[index];
    const std::uint64_t now = time_.now_ps();
    if (!e.credits[0].has(e.under_way, now, cells_)) {
        const std::uint64_t at = e.credits[0].when(e.under_way, cells_);
        if (at == k_never_ps)
            e.awaiting = true;
        else
            time_.schedule(at, make_order(event_class::device, actor_base_ + index, 0), *this, index, k_send);
        return;
    }
    packet_ptr p = pool_.make();
    p->source = index;
    if (config_.destinations.empty()) {
        p->destination = e.random.below(config_.endpoints - 1);
        p->destination += p->destination >= index ? 1 : 0;
    } else {
        p->destination = config_.destinations[index];
    }
    p->payload_bytes = static_cast<std::uint32_t>(config_.payload_bytes);
    p->packet_count = config_.format.packets_for(config_.payload_bytes);
    p->wire_bytes = static_cast<std::uint32_t>(config_.format.wire_bytes(config_.payload_bytes));
    p->cells = cells_;
    p->message = ++e.message;
    p->born_ps = now;
    if (config_.carry_data) {
        pool_.add_payload(*p, p->payload_bytes);
        fill(p->payload, p->payload_bytes, index, p->message);
    }
    const std::uint64_t serialisation = rate_.time_ps(p->wire_bytes);
    p->serialisation_ps = static_cast<std::uint32_t>(serialisation);
    e.credits[0].take(cells_);
    e.out->send(std::move(p), 0);
    ++sent_;
    if (--e.left == 0)
        return;
    // Offered load: mean gap such that the wire is busy `load` of the time, uniform between zero and twice the mean.
    std::uint64_t gap = serialisation;
    if (config_.load < 1.0) {
        const auto mean = static_cast<std::uint64_t>(static_cast<double>(serialisation) * (1.0 / config_.load - 1.0));
        gap += e.random.below(static_cast<std::uint32_t>(std::min<std::uint64_t>(2 * mean + 1, 0xffff'ffff)));
    }
    time_.schedule(now + gap, make_order(event_class::device, actor_base_ + index, 0), *this, index, k_send);
}

void traffic::receive(packet_ptr p)
{
    const std::uint64_t now = time_.now_ps();
    endpoint& e = *endpoints_[p->destination];
    received_ += 1;
    bytes_received_ += p->payload_bytes;
    if (config_.carry_data && !holds(p->payload, p->payload_bytes, p->source, p->message))
        ++damaged_;
    if (config_.check_order) {
        std::uint32_t& last = e.last_from[p->source];
        if (p->message <= last)
            ++out_of_order_;
        last = p->message;
    }
    last_arrival_ps_ = now;
    latency_sum_ps_ += now - p->born_ps;
    latency_max_ps_ = std::max(latency_max_ps_, now - p->born_ps);
    const std::uint64_t hold = config_.random_stalls && e.random.below(4) == 0 ? e.random.below(200'000) : 0;
    e.in->credit(p->vl, p->cells, hold);
}

} // namespace weft
