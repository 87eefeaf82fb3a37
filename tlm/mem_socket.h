// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// MMIO and memory over the TLM-2.0 base protocol, loosely timed: targets never wait(), they add their latency to the
// annotated delay of b_transport. An access is meant to happen at kernel time + delay as it arrives at the target.
//
//   blocking_target        fw interface of a target that has only b_transport (nb_transport completes early over it)
//   mmio_target_socket     a target socket with a reg_file behind it
//   memory_initiator_socket  an initiator socket with typed reads and writes
//   memory_if              what the DMA uses: traffic is charged, bytes move through host pointers
//
// The plain TLM sockets are used instead of the convenience ones, whose queues cost several KiB each.
#pragma once

#include "tlm/notifier.h"
#include "tlm/reg_file.h"
#include "tlm/stats.h"
#include "tlm/units.h"

#include <cstdint>
#include <cstring>
#include <systemc>
#include <tlm>

namespace weft {

/// Largest block of one copy, in bytes: more than any table or descriptor, and bounded so that a wrong length is
/// noticed.
inline constexpr std::uint32_t k_max_block_bytes = 1u << 20;

/// Target side of the base protocol for blocking models. A derived class implements b_transport and, if it can,
/// transport_dbg and get_direct_mem_ptr.
class blocking_target : public ::tlm::tlm_fw_transport_if<> {
public:
    /// Base-protocol initiators may ask non-blocking: BEGIN_REQ is answered at once with TLM_COMPLETED.
    ::tlm::tlm_sync_enum nb_transport_fw(::tlm::tlm_generic_payload& trans, ::tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) override
    {
        if (phase == ::tlm::BEGIN_REQ)
            b_transport(trans, delay);
        return ::tlm::TLM_COMPLETED;
    }
    unsigned int transport_dbg(::tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(::tlm::tlm_generic_payload&, ::tlm::tlm_dmi& dmi) override
    {
        dmi.init();
        return false;
    }
};

/// Checks common to all our targets: a read or write without byte enables and without streaming.
/// Returns true, or sets the error response and returns false.
inline bool plain_access(::tlm::tlm_generic_payload& trans)
{
    if (trans.get_byte_enable_ptr() != nullptr) {
        trans.set_response_status(::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return false;
    }
    if (trans.get_data_length() == 0 || trans.get_streaming_width() < trans.get_data_length()) {
        trans.set_response_status(::tlm::TLM_BURST_ERROR_RESPONSE);
        return false;
    }
    if (trans.get_command() == ::tlm::TLM_IGNORE_COMMAND) {
        trans.set_response_status(::tlm::TLM_COMMAND_ERROR_RESPONSE);
        return false;
    }
    return true;
}

/// True when [address, address + bytes) lies in a memory of `capacity_bytes`; safe against wrap-around.
constexpr bool in_capacity(std::uint64_t address, std::uint64_t bytes, std::uint64_t capacity_bytes)
{
    return bytes <= capacity_bytes && address <= capacity_bytes - bytes;
}

/// A target socket that several initiators may bind to: a device on the buses of several cores.
using shared_target_socket = ::tlm::tlm_target_socket<32, ::tlm::tlm_base_protocol_types, 0>;

/// Target socket of a device: one access is one register.
///
/// Timing: every access takes `latency`. Hooks run inside b_transport; access_ps() tells them when the access takes
/// effect. Errors: no such register -> ADDRESS_ERROR; read-only -> COMMAND_ERROR; wrong width, length or alignment ->
/// BURST_ERROR; byte enables -> BYTE_ENABLE_ERROR. transport_dbg reads and writes stored values without side effects.
class mmio_target_socket : public shared_target_socket, private blocking_target {
public:
    /// `regs` belongs to the module that owns the socket.
    mmio_target_socket(const char* name, reg_file& regs, duration latency)
        : shared_target_socket(name), regs_(regs), latency_ps_(latency.value())
    {
        bind(static_cast<::tlm::tlm_fw_transport_if<>&>(*this));
    }
    using shared_target_socket::bind;

    /// In a hook: simulated time at which this access takes effect, latency included.
    std::uint64_t access_ps() const { return access_ps_; }
    std::uint64_t reads() const { return reads_.value(); }
    std::uint64_t writes() const { return writes_.value(); }
    std::uint64_t errors() const { return errors_.value(); }

private:
    void b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) override
    {
        const std::uint64_t delay_ps = ps_from_sc_time(delay) + latency_ps_;
        access_ps_ = kernel_now_ps() + delay_ps;
        delay = sc_time_from_ps(delay_ps);
        if (!plain_access(trans)) {
            ++errors_;
            return;
        }
        const auto response = access(trans);
        trans.set_response_status(response);
        if (response != ::tlm::TLM_OK_RESPONSE)
            ++errors_;
    }
    unsigned int transport_dbg(::tlm::tlm_generic_payload& trans) override
    {
        const auto bytes = trans.get_data_length();
        if (bytes != 4 && bytes != 8)
            return 0;
        std::uint64_t value = 0;
        if (trans.is_write()) {
            std::memcpy(&value, trans.get_data_ptr(), bytes);
            return regs_.poke(trans.get_address(), bytes, value) == reg_status::ok ? bytes : 0;
        }
        if (regs_.peek(trans.get_address(), bytes, value) != reg_status::ok)
            return 0;
        std::memcpy(trans.get_data_ptr(), &value, bytes);
        return bytes;
    }
    ::tlm::tlm_response_status access(::tlm::tlm_generic_payload& trans)
    {
        const auto bytes = trans.get_data_length();
        if (bytes != 4 && bytes != 8)
            return ::tlm::TLM_BURST_ERROR_RESPONSE;
        std::uint64_t value = 0; // registers and hosts are little-endian
        reg_status status = reg_status::ok;
        if (trans.is_write()) {
            std::memcpy(&value, trans.get_data_ptr(), bytes);
            status = regs_.write(trans.get_address(), bytes, value);
            ++writes_;
        } else {
            status = regs_.read(trans.get_address(), bytes, value);
            std::memcpy(trans.get_data_ptr(), &value, bytes);
            ++reads_;
        }
        switch (status) {
        case reg_status::ok: return ::tlm::TLM_OK_RESPONSE;
        case reg_status::unknown_offset: return ::tlm::TLM_ADDRESS_ERROR_RESPONSE;
        case reg_status::bad_width: return ::tlm::TLM_BURST_ERROR_RESPONSE;
        case reg_status::read_only: return ::tlm::TLM_COMMAND_ERROR_RESPONSE;
        }
        return ::tlm::TLM_GENERIC_ERROR_RESPONSE;
    }

    reg_file& regs_;
    std::uint64_t latency_ps_;
    std::uint64_t access_ps_ = 0;
    counter reads_;
    counter writes_;
    counter errors_;
};

/// Initiator socket with blocking accesses. One access at a time; the payload is a member, nothing is allocated per
/// call. Every call adds the target's latency to `delay_ps` (the caller waits for it, or lets it add up) and returns
/// the response; on an error the data of a read are zero.
class memory_initiator_socket : public ::tlm::tlm_initiator_socket<>, private ::tlm::tlm_bw_transport_if<> {
public:
    explicit memory_initiator_socket(const char* name) : ::tlm::tlm_initiator_socket<>(name)
    {
        bind(static_cast<::tlm::tlm_bw_transport_if<>&>(*this));
    }
    using ::tlm::tlm_initiator_socket<>::bind;

    /// Read or write `bytes` (4 or 8 for a register, up to k_max_block_bytes for memory) at `address`.
    ::tlm::tlm_response_status read(std::uint64_t address, void* to, std::uint32_t bytes, std::uint64_t& delay_ps)
    {
        const auto response =
            access(::tlm::TLM_READ_COMMAND, address, static_cast<unsigned char*>(to), bytes, delay_ps);
        if (response != ::tlm::TLM_OK_RESPONSE && bytes <= k_max_block_bytes)
            std::memset(to, 0, bytes);
        return response;
    }
    ::tlm::tlm_response_status write(std::uint64_t address, const void* from, std::uint32_t bytes,
                                     std::uint64_t& delay_ps)
    {
        // The base protocol has one data pointer for both directions; no target of ours writes through it on a write.
        auto* data = static_cast<unsigned char*>(const_cast<void*>(from));
        return access(::tlm::TLM_WRITE_COMMAND, address, data, bytes, delay_ps);
    }
    /// Debug access: no time, no side effect. Returns the number of bytes moved.
    std::uint32_t read_debug(std::uint64_t address, void* to, std::uint32_t bytes)
    {
        set_up(::tlm::TLM_READ_COMMAND, address, static_cast<unsigned char*>(to), bytes);
        return (*this)->transport_dbg(trans_);
    }
    std::uint32_t write_debug(std::uint64_t address, const void* from, std::uint32_t bytes)
    {
        set_up(::tlm::TLM_WRITE_COMMAND, address, static_cast<unsigned char*>(const_cast<void*>(from)), bytes);
        return (*this)->transport_dbg(trans_);
    }

private:
    void set_up(::tlm::tlm_command command, std::uint64_t address, unsigned char* data, std::uint32_t bytes)
    {
        trans_.set_command(command);
        trans_.set_address(address);
        trans_.set_data_ptr(data);
        trans_.set_data_length(bytes);
        trans_.set_streaming_width(bytes);
        trans_.set_byte_enable_ptr(nullptr);
        trans_.set_dmi_allowed(false);
        trans_.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    }
    ::tlm::tlm_response_status access(::tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                      std::uint32_t bytes, std::uint64_t& delay_ps)
    {
        if (bytes > k_max_block_bytes)
            return ::tlm::TLM_BURST_ERROR_RESPONSE;
        set_up(command, address, data, bytes);
        sc_core::sc_time delay;
        if (delay_ps != 0)
            delay = sc_time_from_ps(delay_ps);
        (*this)->b_transport(trans_, delay);
        delay_ps = ps_from_sc_time(delay);
        return trans_.get_response_status();
    }
    ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload&, ::tlm::tlm_phase&, sc_core::sc_time&) override
    {
        return ::tlm::TLM_COMPLETED; // never called: we only make blocking calls
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {} // we hold no DMI pointer

    ::tlm::tlm_generic_payload trans_;
};

/// A memory as the DMA sees it. Time and bytes are apart: charge() moves the bandwidth server, the spans move bytes.
/// Safe to call from timeline handlers: no wait(), no kernel call.
class memory_if : public virtual sc_core::sc_interface {
public:
    enum class access : std::uint8_t {
        read,
        write,
        read_modify_write ///< reads and writes every byte: charged twice
    };
    /// Charge `bytes` of traffic from `offset` on that is requested at `at_ps`; returns the time at which the last byte
    /// is read or written. Requests are served in the order of the calls, so call in the order of `at_ps`. What lies
    /// beyond the capacity is charged, too: the spans refuse it.
    virtual std::uint64_t charge(std::uint64_t at_ps, std::uint64_t offset, std::uint64_t bytes, access kind) = 0;
    /// Longest contiguous host memory at `offset`, at most `bytes`; its length goes to `got_bytes`. Never null for an
    /// offset below the capacity and bytes > 0; beyond the capacity null and 0. Pages that were never written read as
    /// zero.
    virtual std::uint8_t* span_for_write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) = 0;
    virtual const std::uint8_t* span_for_read(std::uint64_t offset, std::uint64_t bytes,
                                              std::uint64_t& got_bytes) const = 0;
    virtual std::uint64_t capacity_bytes() const = 0;
    /// Part of charge() that is no queueing: a posted write leaves its sender's buffer this much before it is done.
    virtual std::uint64_t latency_ps() const = 0;
};

} // namespace weft
