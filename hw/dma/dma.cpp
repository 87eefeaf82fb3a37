// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma.h"

#include "tlm/step_sink.h"

#include <fmt/format.h>

namespace weft {

/// What packets and credits touch when they come is here or near by: there are thousands of engines, each of them cold.
struct dma::local_port final : link_fw_if, link_bw_if {
    local_port(dma& engine, std::uint32_t port)
        : time(engine.shared_.time), owner(engine), state(engine.ports_[port]), arrivals(engine.receiver_.arrivals(port)), index(port),
          actor(engine.shared_.port_actor(port)), in(fmt::format("from_fabric{}", port).c_str(), engine.shared_.view.vl_count),
          out(fmt::format("to_fabric{}", port).c_str(), engine.shared_.view.vl_count)
    {
        in.bind(static_cast<link_fw_if&>(*this));
        out.bind(static_cast<link_bw_if&>(*this));
    }

    /// The first byte of a packet comes after `delay_ps`: it is received with its last one.
    void send(packet_ptr p, std::uint64_t delay_ps) override
    {
        ++arrivals.expected;
        const std::uint64_t tail_ps = time.now_ps() + delay_ps + p->serialisation_ps;
        const std::uint64_t order = make_order(event_class::arrival, actor, arrivals.sequence++);
        time.schedule(tail_ps, order, owner, p.release()->index, static_cast<std::uint8_t>(dma_event::receive));
    }
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
    {
        if (vl != 0)
            return;
        const std::uint64_t now_ps = time.now_ps();
        state.credits.give(state.credits_under_way, now_ps, now_ps + delay_ps, cells);
        if (state.awaiting_credit)
            owner.sender_.plan(index);
        if (state.awaiting_room)
            owner.reader_.fill(index);
    }

    timeline& time;
    dma& owner;
    dma_port& state;
    dma_receiver::port& arrivals;
    std::uint32_t index;
    std::uint32_t actor;
    link_target_socket in;
    link_initiator_socket out;
};

dma::dma(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, irq_if& core, std::uint32_t rank,
         std::uint32_t ranks, const dma_config& config, const dma_fabric_view& view)
    : sc_core::sc_module(name), registers("registers", regs_, config.register_latency), memory("memory"),
      stats(std::string(this->name())), regs_("DMA", abi::k_dma_rows), ports_(view.ports),
      shared_(this->name(), time, pool, *this, rank, config, view),
      transfers_(rank, view.format, !view.in_order), receiver_(shared_, interrupt_),
      sender_(shared_, transfers_, ports_.data(), rings_, receiver_),
      reader_(shared_, transfers_, ports_.data(), rings_, sender_, semaphores_), rings_(shared_, regs_), interrupt_(regs_, core), semaphores_(regs_, interrupt_)
{
    limits_.ranks = ranks;
    limits_.rank = rank;
    limits_.ports = view.ports;
    limits_.semaphores = dma_semaphores::k_count;
    limits_.returns_to_sender = view.returns_to_sender;
    for (std::uint32_t p = 0; p < view.ports; ++p)
        sockets_.push_back(std::make_unique<local_port>(*this, p));
    set_up_registers();
    time.components().add(*this);
    time.take_hints(*this, *this);
    stats.add("descriptors", "1", "Descriptors completed", descriptors);
    stats.add("messages_received", "1", "Messages wholly received", messages_received);
    stats.add("bytes_sent", "B", "Payload sent, local copies included", bytes_sent);
    stats.add("bytes_received", "B", "Payload received, local copies included", bytes_received);
    stats.add("bad_descriptors", "1", "Descriptors refused", bad_descriptors);
}

dma::~dma() = default;

void dma::record_into(trace_sink& trace)
{
    if (step_sink* const steps = steps_for(trace, *this)) {
        set_event_sink(steps);
        return;
    }
    trace_ = std::make_unique<packet_trace>(trace);
    for (std::uint32_t q = 0; q < shared_.config.queues; ++q)
        trace_->add_track(*this, fmt::format("DMA sends, queue {}", q));
    trace_->add_track(*this, "DMA receives");
    set_event_sink(trace_.get());
}

work_load dma::spent_on(work_kind kind, std::uint64_t now_ps) const
{
    switch (kind) {
    case work_kind::send: return {sender_.wire_time_ps(now_ps), static_cast<std::uint32_t>(ports_.size())};
    case work_kind::start:
        return {shared_.starting.up_to(now_ps), shared_.config.engine.start.value() + shared_.config.engine.wake.value() != 0 ? 1u : 0u};
    default: return {};
    }
}

std::uint32_t dma::movers() const
{
    const dma_engine_timing& engine = shared_.config.engine;
    if (engine.queue_rate.value() == 0)
        return 0;
    return shared_.config.queues + (engine.rate.value() == 0 ? 0 : 1);
}

std::uint64_t dma::moved_ps(std::uint32_t mover, std::uint64_t now_ps) const { return reader_.moved_ps(mover, now_ps); }

link_initiator_socket& dma::to_fabric(std::uint32_t port) { return sockets_.at(port)->out; }

link_target_socket& dma::from_fabric(std::uint32_t port) { return sockets_.at(port)->in; }

void dma::start_of_simulation()
{
    shared_.memory = memory.operator->();
    shared_.memory_hints = hints_of(shared_.memory);
    shared_.memory_bytes = shared_.memory->capacity_bytes();
    limits_.memory_bytes = shared_.memory_bytes;
    for (std::uint32_t p = 0; p < sockets_.size(); ++p) {
        sender_.connect(p, sockets_[p]->out.operator->());
        receiver_.connect(p, sockets_[p]->in.operator->());
    }
}

/// Those of semaphores and interrupt are set up there.
void dma::set_up_registers()
{
    regs_.at(abi::dma::QUEUES) = shared_.config.queues;
    regs_.on_write(abi::dma::CONTROL, [this](std::uint32_t, std::uint64_t value) { rings_.enable((value & 1) != 0); });
    regs_.on_write(abi::dma::TAIL(0), [this](std::uint32_t q, std::uint64_t tail) {
        // The write takes effect when it has crossed the bus.
        if (!rings_.post(q, static_cast<std::uint32_t>(tail), registers.access_ps()))
            stop(q, {k_dma_error_doorbell, "its doorbell does not fit its ring"});
    });
    regs_.on_read(abi::dma::HEAD(0),
                  [this](std::uint32_t q, std::uint64_t) -> std::uint64_t { return rings_.head(q); });
}

void dma::on_event(std::uint32_t number, std::uint8_t kind)
{
    switch (static_cast<dma_event>(kind)) {
    case dma_event::doorbell: rings_.doorbell(number); break;
    case dma_event::fetched: fetched(number); break;
    case dma_event::send:
        sender_.send(number);
        reader_.fill(number);
        break;
    case dma_event::receive: receiver_.take(packet_ptr(&shared_.pool.at(number))); break;
    case dma_event::semaphore:
        semaphores_.count(number);
        reader_.counted(number);
        break;
    case dma_event::start: reader_.start(number); break;
    }
}

void dma::fetched(std::uint32_t q)
{
    if (rings_.stopped_by(q) != nullptr)
        return;
    const bool has_elements = rings_.awaits_elements(q);
    abi::dma_descriptor d;
    std::vector<abi::dma_element_entry> entries;
    if (!(has_elements ? rings_.fetched_elements(q, d, entries) : rings_.fetched(q, d))) {
        stop(q, {k_dma_error_memory, "its ring lies beyond the memory"});
        return;
    }
    if (const dma_fault fault = has_elements ? fault_of_elements(d, entries, limits_) : fault_of(d, limits_)) {
        refuse(q, fault);
        return;
    }
    if (!has_elements && d.element_entries != 0) {
        if (!rings_.fetch_elements(q, d))
            refuse(q, {k_dma_error_descriptor, "its elements are not posted"});
        return;
    }
    rings_.hold(q, static_cast<std::uint32_t>(1 + entries.size()));
    const std::uint32_t transfer =
        has_elements ? transfers_.load(d, entries, q, reader_.train()) : transfers_.load(d, q, reader_.train());
    if (step_sink* const steps = steps_of(shared_.sink))
        steps->posted({shared_.time.now_ps(), transfer, q, static_cast<std::uint32_t>(1 + entries.size()), false});
    reader_.add(q, transfer);
}

void dma::refuse(std::uint32_t q, const dma_fault& fault)
{
    ++bad_descriptors;
    stop(q, fault);
}

void dma::read_memory_of(std::uint32_t rank, memory_if& of_rank)
{
    shared_.neighbours.push_back({rank, &of_rank});
    limits_.neighbours.push_back({rank, of_rank.capacity_bytes()});
}

/// By an error; a queue that does not exist can have one as well.
void dma::stop(std::uint32_t q, const dma_fault& fault)
{
    if (q < shared_.config.queues) {
        rings_.stop(q, fault.reason);
        reader_.drop(q);
    }
    interrupt_.raise_error(q, fault.error_bits);
}

void dma::reset(std::uint32_t)
{
    regs_.reset();
    regs_.at(abi::dma::QUEUES) = shared_.config.queues;
    interrupt_.update();
    rings_.reset();
    reader_.reset();
    transfers_.reset();
    receiver_.reset();
    semaphores_.reset();
}

bool dma::idle() const { return receiver_.idle() && rings_.idle(); }

std::string dma::stop_reason(std::uint64_t q) const
{
    if (q == shared_.config.queues)
        return receiver_.refused();
    const char* const reason = q < shared_.config.queues ? rings_.stopped_by(static_cast<std::uint32_t>(q)) : nullptr;
    return reason == nullptr ? "" : reason;
}

std::string dma::blocked_on() const
{
    std::string text;
    const auto separator = [&] { return text.empty() ? "" : "; "; };
    for (std::uint32_t q = 0; q < shared_.config.queues; ++q) {
        const char* const stopped_by = rings_.stopped_by(q);
        if (rings_.left(q) == 0 && stopped_by == nullptr)
            continue;
        text += fmt::format("{}DMA queue {} has {} ring {} left", separator(), q, rings_.left(q), rings_.left(q) == 1 ? "entry" : "entries");
        if (rings_.left(q) != 0)
            text += fmt::format(" (the oldest descriptor at entry {})", rings_.oldest_slot(q));
        if (stopped_by != nullptr)
            text += fmt::format(" and is stopped by an error at entry {} of its ring: {}", rings_.next_slot(q), stopped_by);
        text += reader_.waits(q) + sender_.waits(q);
    }
    if (const std::string open = receiver_.waits(); !open.empty())
        text += separator() + open;
    return text;
}

} // namespace weft
