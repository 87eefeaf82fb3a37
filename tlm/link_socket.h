// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The link protocol: two calls, and TLM-2.0 sockets that carry them.
//
//   forward   send(packet, delay)        the sender's wire starts now; the first byte is at the receiver after
//                                        `delay_ps`, the last one packet.serialisation_ps later. It never blocks and
//                                        never fails: the credit has paid.
//   backward  credit(vl, cells, delay)   `cells` buffer cells of `vl` are free; the sender may count them after
//                                        `delay_ps`.
//
// Delays count from the caller's present time (notifier::now_ps, which is sc_time_stamp() for whoever is not a timeline
// handler). The receiver advertises its buffer depth by one credit() per VL at start_of_simulation; the depth is
// written down nowhere else. `credits at sender + in flight + buffered + credits returning = depth`.
//
// Sockets derive from the TLM-2.0 base sockets; binding a socket of another protocol or VL count is refused.
#pragma once

#include "tlm/check.h"
#include "tlm/packet.h"

#include <fmt/format.h>
#include <systemc>
#include <tlm>

namespace weft {

struct link_protocol_types {}; ///< makes our sockets differ from those of every other protocol

class link_fw_if : public virtual sc_core::sc_interface {
public:
    using protocol_types = link_protocol_types;
    virtual void send(packet_ptr p, std::uint64_t delay_ps) = 0;
    /// Whether a packet to `destination` would find room behind the buffer that credits count, now. Where it would not,
    /// the sender may take others first, and asks again when credits come.
    virtual bool has_room(std::uint32_t /*destination*/, bool /*shortest_paths*/) { return true; }
};

class link_bw_if : public virtual sc_core::sc_interface {
public:
    using protocol_types = link_protocol_types;
    virtual void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) = 0;
};

namespace detail {
using link_initiator_base =
    ::tlm::tlm_base_initiator_socket<32, link_fw_if, link_bw_if, 1, sc_core::SC_ONE_OR_MORE_BOUND>;
using link_target_base = ::tlm::tlm_base_target_socket<32, link_fw_if, link_bw_if, 1, sc_core::SC_ONE_OR_MORE_BOUND>;
} // namespace detail

/// What sockets of both directions know, and the refusal of a partner with another number of VLs.
class link_socket_vls {
public:
    explicit link_socket_vls(std::uint32_t vl_count) : vl_count_(vl_count) {}
    std::uint32_t vl_count() const { return vl_count_; }

protected:
    virtual ~link_socket_vls() = default;
    void check_partner(const sc_core::sc_object& self, const sc_core::sc_object* partner) const
    {
        if (const auto* other = dynamic_cast<const link_socket_vls*>(partner); other && other->vl_count_ != vl_count_)
            throw bug(self.name(), 0,
                      fmt::format("has {} VLs but {} has {}", vl_count_, partner->name(), other->vl_count_));
    }

private:
    std::uint32_t vl_count_;
};

class link_target_socket : public detail::link_target_base, public link_socket_vls {
public:
    link_target_socket(const char* name, std::uint32_t vl_count)
        : detail::link_target_base(name), link_socket_vls(vl_count)
    {
    }
    std::type_index get_protocol_types() const override { return typeid(link_protocol_types); }
    const char* kind() const override { return "weft::link_target_socket"; }

    using detail::link_target_base::bind;
    void bind(base_initiator_socket_type& initiator) override
    {
        check_partner(*this, dynamic_cast<const sc_core::sc_object*>(&initiator));
        detail::link_target_base::bind(initiator);
    }
    void bind(detail::link_target_base::base_type& inner) override
    {
        check_partner(*this, dynamic_cast<const sc_core::sc_object*>(&inner));
        detail::link_target_base::bind(inner);
    }
};

class link_initiator_socket : public detail::link_initiator_base, public link_socket_vls {
public:
    link_initiator_socket(const char* name, std::uint32_t vl_count)
        : detail::link_initiator_base(name), link_socket_vls(vl_count)
    {
    }
    std::type_index get_protocol_types() const override { return typeid(link_protocol_types); }
    const char* kind() const override { return "weft::link_initiator_socket"; }

    using detail::link_initiator_base::bind;
    void bind(base_target_socket_type& target) override
    {
        check_partner(*this, dynamic_cast<const sc_core::sc_object*>(&target));
        detail::link_initiator_base::bind(target);
    }
    void bind(detail::link_initiator_base::base_type& inner) override
    {
        check_partner(*this, dynamic_cast<const sc_core::sc_object*>(&inner));
        detail::link_initiator_base::bind(inner);
    }
};

} // namespace weft
