// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/explain/step_recorder.h"

#include "hw/abi/nic.h"
#include "hw/abi/registers.h"
#include "tlm/mem_socket.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <unordered_map>

namespace weft {

namespace {
/// Accesses by which a core starts devices or waits for them. All others are work of the core, which its busy time
/// tells.
bool tells_of_work(std::uint64_t address, bool is_write)
{
    if (address < abi::k_mailbox_base || address >= abi::k_hbm_base)
        return false;
    const std::uint64_t offset = address - abi::k_dma_base;
    if (address < abi::k_dma_base || offset >= abi::k_sync_base - abi::k_dma_base || address >= abi::k_nic_base)
        return is_write;
    if (is_write && offset == abi::dma::CONTROL)
        return true;
    if (offset < abi::dma::RING_BASE(0) || offset >= abi::dma::SEM_COUNT(0))
        return false;
    const std::uint64_t of_queue = (offset - abi::dma::RING_BASE(0)) % (abi::dma::TAIL(1) - abi::dma::TAIL(0));
    return of_queue == (is_write ? abi::dma::TAIL(0) : abi::dma::HEAD(0)) - abi::dma::RING_BASE(0);
}
} // namespace

/// Between a core and its chip: passes everything on, and notes accesses and interrupts.
class step_recorder::gate final : public sc_core::sc_module, public core_gate, private irq_if, private blocking_target {
public:
    gate(const sc_core::sc_module_name& name, step_recorder& owner, std::uint32_t rank)
        : sc_core::sc_module(name), from_core_("from_core"), to_bus_("to_bus"), owner_(owner), rank_(rank)
    {
        from_core_.bind(static_cast<::tlm::tlm_fw_transport_if<>&>(*this));
    }
    ::tlm::tlm_target_socket<>& from_core() override { return from_core_; }
    ::tlm::tlm_initiator_socket<>& to_bus() override { return to_bus_; }
    irq_if& from_devices() override { return *this; }
    void connect(irq_if& core, timeline& time) override
    {
        core_ = &core;
        time_ = &time;
    }
    void watch(const core_base& core) { watched_ = &core; }

private:
    void note(core_mark::kind what, std::uint64_t address, std::uint32_t value)
    {
        if (watched_ == nullptr || !owner_.has_room())
            return;
        const std::uint64_t now_ps = time_->now_ps();
        const work_load load = watched_->spent_on(work_kind::core, now_ps);
        owner_.run_.cores[rank_].push_back({now_ps, load.spent_ps, load.waited_ps, address, value, what});
    }
    void b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) override
    {
        std::uint32_t value = 0;
        if (trans.is_write() && trans.get_data_length() <= 8)
            std::memcpy(&value, trans.get_data_ptr(), std::min<std::size_t>(trans.get_data_length(), sizeof value));
        const std::uint64_t address = trans.get_address();
        if (tells_of_work(address, trans.is_write()))
            note(trans.is_write() ? core_mark::kind::write : core_mark::kind::read, address, value);
        to_bus_->b_transport(trans, delay);
    }
    unsigned int transport_dbg(::tlm::tlm_generic_payload& trans) override { return to_bus_->transport_dbg(trans); }
    void set_irq(std::uint32_t lines, bool level) override
    {
        if (level)
            note(core_mark::kind::interrupt, lines, 0);
        core_->set_irq(lines, level);
    }

    ::tlm::tlm_target_socket<> from_core_;
    memory_initiator_socket to_bus_;
    step_recorder& owner_;
    std::uint32_t rank_;
    irq_if* core_ = nullptr;
    timeline* time_ = nullptr;
    const core_base* watched_ = nullptr;
};

/// Takes the steps of one device.
class step_recorder::tap final : public step_sink {
public:
    tap(step_recorder& owner, std::uint32_t device) : owner_(owner), device_(device) {}

private:
    void posted(const work_posted& s) override
    {
        if (!owner_.has_room())
            return;
        latest_[s.work] = static_cast<std::uint32_t>(owner_.run_.posted.size());
        owner_.run_.posted.push_back({s, device_});
        owner_.run_.last_of_posted.emplace_back();
        owner_.run_.posted.back().step.fetch_ps =
            s.entries != 0 && s.queue < fetches_.size() ? fetches_[s.queue] : s.time_ps;
    }
    void fetches(std::uint64_t time_ps, std::uint32_t queue) override
    {
        if (queue >= fetches_.size())
            fetches_.resize(queue + 1);
        fetches_[queue] = time_ps;
    }
    void woken(const work_woken& s) override
    {
        if (owner_.has_room())
            owner_.run_.woken.push_back({s, device_});
    }
    void reads(std::uint64_t time_ps, std::uint32_t port) override
    {
        if (port >= reads_.size())
            reads_.resize(port + 1);
        reads_[port].push_back(time_ps);
    }
    void sent(const packet_sent& s) override
    {
        std::uint64_t read_ps = s.time_ps;
        if (s.port < reads_.size() && !reads_[s.port].empty()) {
            read_ps = reads_[s.port].front();
            reads_[s.port].pop_front();
        }
        if (!owner_.has_room_for_step(s.time_ps))
            return;
        if (const auto work = latest_.find(s.work); work != latest_.end())
            owner_.run_.last_of_posted[work->second] = {owner_.run_.sent.end(), read_ps};
        owner_.run_.sent.push_back({s, read_ps, device_});
        owner_.run_.devices[device_].sends = true;
    }
    void crosses(const link_crossing& s) override
    {
        if (owner_.has_room_for_step(s.time_ps))
            owner_.run_.crossings.push_back({s, device_});
    }
    void accepted(const packet_accepted& s) override
    {
        if (owner_.has_room_for_step(s.time_ps))
            owner_.run_.accepted.push_back({s, device_}), owner_.run_.devices[device_].accepts = true;
        accepted_ps_ = s.time_ps;
    }
    void completes(std::uint64_t at_ps, std::uint32_t semaphore) override
    {
        const std::uint32_t accepted = owner_.run_.accepted.end();
        if (accepted != 0 && owner_.has_room_for_step(accepted_ps_))
            owner_.run_.completions.push_back({at_ps, device_, semaphore, accepted - 1});
    }

    step_recorder& owner_;
    std::uint32_t device_;
    std::vector<std::deque<std::uint64_t>> reads_; ///< by port: read, and not sent
    std::vector<std::uint64_t> fetches_;           ///< by queue: the last one
    std::unordered_map<std::uint64_t, std::uint32_t> latest_; ///< by work, whose numbers are used again: of `posted`
    std::uint64_t accepted_ps_ = 0;                ///< when the last one was
};

step_recorder::step_recorder(std::size_t steps_in_memory) : store_(steps_in_memory) {}

step_recorder::~step_recorder() = default;

core_fitting step_recorder::fit(std::uint32_t rank)
{
    gates_.push_back(std::make_unique<gate>(fmt::format("step_gate_{}", gates_.size()).c_str(), *this, rank));
    if (rank >= gate_of_rank_.size())
        gate_of_rank_.resize(rank + 1, nullptr);
    if (gate_of_rank_[rank] == nullptr) // hardware for a restart comes later
        gate_of_rank_[rank] = gates_.back().get();
    core_fitting fitting;
    fitting.gate = gates_.back().get();
    return fitting;
}

void step_recorder::attach(machine& m)
{
    run_.resend_timeout_ps = m.resend_timeout_ps();
    run_.cores.resize(std::max(m.chips().size(), gate_of_rank_.size()));
    for (std::uint32_t rank = 0; rank < m.chips().size() && rank < gate_of_rank_.size(); ++rank)
        if (gate_of_rank_[rank] != nullptr)
            gate_of_rank_[rank]->watch(m.chips()[rank]->core);
    for (component* c : m.time().components())
        c->record_into(*this);
}

void step_recorder::begin(std::uint64_t now_ps)
{
    run_.begin_ps = now_ps;
    ended_ = !problem_.empty(); // with host.compare the case runs once more, and that one counts
    records_ = 0;
    store_.clear(run_);
    std::fill(run_.last_of_posted.begin(), run_.last_of_posted.end(), last_packet{});
    for (recorded_device& d : run_.devices)
        d.accepts = d.sends = false;
    run_.slices.clear();
}

void step_recorder::end()
{
    if (!ended_ && !store_.finish(run_))
        problem_ = store_.problem();
    ended_ = true;
}

bool step_recorder::has_room()
{
    if (ended_)
        return false;
    if (++records_ <= k_in_memory)
        return true;
    problem_ = fmt::format("it has more than {} messages, frames and accesses of cores, which do not fit into memory; choose a smaller case with "
                           "--case, or larger messages",
                           k_in_memory);
    ended_ = true;
    return false;
}

bool step_recorder::has_room_for_step(std::uint64_t now_ps)
{
    if (ended_ || store_.make_room(run_, now_ps))
        return !ended_;
    problem_ = store_.problem();
    ended_ = true;
    return false;
}

std::uint32_t step_recorder::device_of(const component& owner)
{
    const auto known = std::find(owners_.begin(), owners_.end(), &owner);
    if (known != owners_.end())
        return static_cast<std::uint32_t>(known - owners_.begin());
    owners_.push_back(&owner);
    recorded_device d;
    const auto* const object = dynamic_cast<const sc_core::sc_object*>(&owner);
    d.name = object != nullptr ? object->name() : owner.stat_prefix();
    if (const chip* const c = chip_of(owner); c != nullptr) {
        d.rank = c->rank();
        d.has_rings = static_cast<const component*>(&c->dma) == &owner;
    }
    run_.devices.push_back(std::move(d));
    taps_.push_back(std::make_unique<tap>(*this, static_cast<std::uint32_t>(taps_.size())));
    return static_cast<std::uint32_t>(owners_.size() - 1);
}

step_sink& step_recorder::steps_of(const component& owner) { return *taps_[device_of(owner)]; }

std::uint32_t step_recorder::add_track(const component& owner, const std::string& name)
{
    if (std::find(owners_.begin(), owners_.end(), &owner) != owners_.end()) { // a fabric names its links
        run_.devices[device_of(owner)].links.push_back(name);
        return 0;
    }
    recorded_track t;
    t.owner = owner.stat_prefix();
    t.name = name;
    if (const chip* const c = chip_of(owner); c != nullptr)
        t.rank = c->rank();
    run_.tracks.push_back(std::move(t));
    return static_cast<std::uint32_t>(run_.tracks.size() - 1);
}

void step_recorder::slice(const trace_slice& s)
{
    if (has_room())
        run_.slices.push_back(s);
}

} // namespace weft
