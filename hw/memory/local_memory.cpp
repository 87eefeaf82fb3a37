// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/memory/local_memory.h"

#include "tlm/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace weft {

std::vector<config_problem> local_memory_config::validate() const { return limit_problems(*this); }

local_memory::local_memory(const sc_core::sc_module_name& name, const local_memory_config& config)
    : sc_core::sc_module(name), socket("socket"), stats(this->name()), capacity_bytes_(config.capacity.value()),
      latency_ps_(config.latency.value()), pages_((capacity_bytes_ + k_page_bytes - 1) / k_page_bytes)
{
    require_picoseconds(this->name());
    socket.bind(static_cast<::tlm::tlm_fw_transport_if<>&>(*this));
    stats.add("bytes_read", "B", "Bytes read by the core", bytes_read);
    stats.add("bytes_written", "B", "Bytes written by the core", bytes_written);
}

void local_memory::copy_out(std::uint64_t offset, std::uint8_t* to, std::uint64_t bytes) const
{
    while (bytes != 0) {
        const std::uint64_t within = offset % k_page_bytes;
        const std::uint64_t part = std::min(bytes, k_page_bytes - within);
        if (const auto& page = pages_[offset / k_page_bytes])
            std::memcpy(to, page.get() + within, part);
        else
            std::memset(to, 0, part);
        to += part;
        offset += part;
        bytes -= part;
    }
}

void local_memory::copy_in(std::uint64_t offset, const std::uint8_t* from, std::uint64_t bytes)
{
    while (bytes != 0) {
        const std::uint64_t within = offset % k_page_bytes;
        const std::uint64_t part = std::min(bytes, k_page_bytes - within);
        auto& page = pages_[offset / k_page_bytes];
        if (!page) {
            page = std::make_unique<std::uint8_t[]>(k_page_bytes);
            ++resident_pages_;
        }
        std::memcpy(page.get() + within, from, part);
        from += part;
        offset += part;
        bytes -= part;
    }
}

void local_memory::read_bytes(std::uint64_t offset, void* to, std::uint64_t bytes) const
{
    if (!in_capacity(offset, bytes, capacity_bytes_))
        throw bug(name(), kernel_now_ps(),
                  fmt::format("host reads {} bytes at {:#x} of {} bytes", bytes, offset, capacity_bytes_));
    copy_out(offset, static_cast<std::uint8_t*>(to), bytes);
}

void local_memory::write_bytes(std::uint64_t offset, const void* from, std::uint64_t bytes)
{
    if (!in_capacity(offset, bytes, capacity_bytes_))
        throw bug(name(), kernel_now_ps(),
                  fmt::format("host writes {} bytes at {:#x} of {} bytes", bytes, offset, capacity_bytes_));
    copy_in(offset, static_cast<const std::uint8_t*>(from), bytes);
}

void local_memory::clear()
{
    for (auto& page : pages_)
        if (page)
            std::memset(page.get(), 0, k_page_bytes);
}

bool local_memory::move_bytes(::tlm::tlm_generic_payload& trans)
{
    if (!in_capacity(trans.get_address(), trans.get_data_length(), capacity_bytes_))
        return false;
    if (trans.is_read())
        copy_out(trans.get_address(), trans.get_data_ptr(), trans.get_data_length());
    else
        copy_in(trans.get_address(), trans.get_data_ptr(), trans.get_data_length());
    return true;
}

void local_memory::b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay)
{
    if (!plain_access(trans))
        return;
    delay += sc_time_from_ps(latency_ps_);
    if (!move_bytes(trans)) {
        trans.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    (trans.is_read() ? bytes_read : bytes_written).add(trans.get_data_length());
    trans.set_response_status(::tlm::TLM_OK_RESPONSE);
}

unsigned int local_memory::transport_dbg(::tlm::tlm_generic_payload& trans)
{
    return move_bytes(trans) ? trans.get_data_length() : 0;
}

} // namespace weft
