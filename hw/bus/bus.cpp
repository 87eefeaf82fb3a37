// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/bus.h"

#include "tlm/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft {

/// The initiator socket of one window.
class bus::target_port : public ::tlm::tlm_initiator_socket<>, private ::tlm::tlm_bw_transport_if<> {
public:
    target_port(const char* name, bus& owner, bus_window window)
        : ::tlm::tlm_initiator_socket<>(name), owner_(owner), window_(std::move(window))
    {
        bind(static_cast<::tlm::tlm_bw_transport_if<>&>(*this));
    }
    using ::tlm::tlm_initiator_socket<>::bind;

    const bus_window& window() const { return window_; }
    std::uint64_t to_target(std::uint64_t address) const { return address - window_.base + window_.target_offset; }

    /// Clip a range of the target's addresses to the window and translate it back; false when nothing is left of it.
    bool to_master(sc_dt::uint64& first, sc_dt::uint64& last) const
    {
        const std::uint64_t low = window_.target_offset;
        const std::uint64_t high = low + (window_.size_bytes - 1);
        if (last < low || first > high)
            return false;
        first = std::max<std::uint64_t>(first, low) - low + window_.base;
        last = std::min<std::uint64_t>(last, high) - low + window_.base;
        return true;
    }

private:
    ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload&, ::tlm::tlm_phase&, sc_core::sc_time&) override
    {
        return ::tlm::TLM_COMPLETED; // never called: all calls forward are blocking
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override
    {
        if (to_master(first, last))
            owner_.socket->invalidate_direct_mem_ptr(first, last);
    }

    bus& owner_;
    bus_window window_;
};

std::vector<config_problem> bus_config::validate() const { return limit_problems(*this); }

bus::bus(const sc_core::sc_module_name& name, const bus_config& config)
    : sc_core::sc_module(name), socket("socket"), stats(this->name()), latency_(sc_time_from_ps(config.latency.value())),
      posted_writes_(config.posted_writes)
{
    require_picoseconds(this->name());
    socket.bind(static_cast<::tlm::tlm_fw_transport_if<>&>(*this));
    stats.add("accesses", "1", "Accesses that were decoded", accesses);
    stats.add("unmapped", "1", "Accesses to no target", unmapped);
}

bus::~bus() = default;

void bus::connect(::tlm::tlm_base_target_socket_b<>& target, const bus_window& window)
{
    if (window.size_bytes == 0 || window.base + (window.size_bytes - 1) < window.base)
        throw user_error(
            fmt::format("{}: the window of {} at {:#x} of {} bytes is empty or runs over the end of the address "
                        "space",
                        name(), window.name, window.base, window.size_bytes));
    const std::uint64_t last = window.base + (window.size_bytes - 1);
    for (const auto& port : ports_) {
        const auto& other = port->window();
        const std::uint64_t other_last = other.base + (other.size_bytes - 1);
        if (window.base <= other_last && other.base <= last)
            throw user_error(
                fmt::format("{}: the windows of {} ({:#x}..{:#x}) and {} ({:#x}..{:#x}) overlap; an address must "
                            "belong to one target",
                            name(), other.name, other.base, other_last, window.name, window.base, last));
    }
    std::string port_name = "to_" + window.name; // the kernel takes no blanks and dots in names
    std::replace_if(
        port_name.begin(), port_name.end(), [](char c) { return c == ' ' || c == '.'; }, '_');
    // This runs in the constructor of whoever owns the bus: give the port its place in the hierarchy by hand.
    simcontext()->hierarchy_push(this);
    auto port = std::make_unique<target_port>(port_name.c_str(), *this, window);
    simcontext()->hierarchy_pop();
    port->bind(target);
    const auto where =
        std::find_if(ports_.begin(), ports_.end(), [&](const auto& p) { return p->window().base > window.base; });
    windows_.insert(windows_.begin() + (where - ports_.begin()), {window.base, window.size_bytes, port.get()});
    ports_.insert(where, std::move(port));
}

bus::target_port* bus::decode(std::uint64_t address, std::uint64_t bytes) const
{
    for (const decoded_window& w : windows_)
        if (address >= w.base && in_capacity(address - w.base, bytes, w.size_bytes))
            return w.port;
    return nullptr;
}

const bus_window* bus::window_of(std::uint64_t address) const
{
    const auto* port = decode(address, 1);
    return port ? &port->window() : nullptr;
}

void bus::b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay)
{
    delay += latency_;
    const std::uint64_t address = trans.get_address();
    auto* port = decode(address, trans.get_data_length());
    if (!port) {
        ++unmapped;
        trans.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    ++accesses;
    trans.set_address(port->to_target(address));
    const sc_core::sc_time taken = delay;
    (*port)->b_transport(trans, delay);
    if (posted_writes_ && trans.is_write())
        delay = taken;
    trans.set_address(address);
}

unsigned int bus::transport_dbg(::tlm::tlm_generic_payload& trans)
{
    const std::uint64_t address = trans.get_address();
    auto* port = decode(address, trans.get_data_length());
    if (!port)
        return 0;
    trans.set_address(port->to_target(address));
    const unsigned int moved = (*port)->transport_dbg(trans);
    trans.set_address(address);
    return moved;
}

bool bus::get_direct_mem_ptr(::tlm::tlm_generic_payload& trans, ::tlm::tlm_dmi& dmi)
{
    dmi.init();
    const std::uint64_t address = trans.get_address();
    auto* port = decode(address, 1);
    if (!port)
        return false;
    trans.set_address(port->to_target(address));
    const bool given = (*port)->get_direct_mem_ptr(trans, dmi);
    trans.set_address(address);
    sc_dt::uint64 first = dmi.get_start_address();
    sc_dt::uint64 last = dmi.get_end_address();
    const sc_dt::uint64 unclipped = first;
    if (!port->to_master(first, last)) {
        dmi.init();
        return false;
    }
    const std::uint64_t skipped = port->to_target(first) - unclipped; // bytes of the target's range before the window
    if (given)
        dmi.set_dmi_ptr(dmi.get_dmi_ptr() + skipped);
    dmi.set_start_address(first);
    dmi.set_end_address(last);
    if (posted_writes_)
        dmi.set_write_latency(sc_core::SC_ZERO_TIME);
    return given;
}

} // namespace weft
