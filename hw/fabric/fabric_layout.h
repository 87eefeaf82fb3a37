// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// fabric_layout: which routers a fabric has, how their ports are wired, and where the state of each part lies. Made
// before time zero; later only looked at. fabric_engine.h moves packets over it.
#pragma once

#include "hw/fabric/fabric_state.h"

#include <optional>
#include <utility>
#include <vector>

namespace weft {

class fabric_layout {
public:
    static constexpr std::uint32_t k_none = k_no_part;

    explicit fabric_layout(const fabric_config& config);

    // --- Build -------------------------------------------------------------------------------------------------------
    /// `pipeline`: where it is not that of the config.
    std::uint32_t add_router(std::uint32_t ports, std::string name, std::optional<duration> pipeline = std::nullopt);
    /// Ports first..last of the router, in both directions, lie on its second die; all others on the first. May be
    /// called for several ranges of a router.
    void set_second_zone(std::uint32_t router, std::uint32_t first_port, std::uint32_t last_port);
    /// What comes in through the port enters the fabric there: it goes when nothing that is already on its way can, or
    /// when it is older than that by 512 transmissions. With one round robin over all inputs, a router's own traffic
    /// takes more than its share, until what is to be relayed fills the buffers and stops the links; with relays first
    /// for ever, it may never go. (By age: Abts and Weisser, "Age-based packet arbitration in large-radix k-ary
    /// n-cubes", SC 2007.)
    void set_entry_port(std::uint32_t router, std::uint32_t port);
    /// A directed link between two routers; returns its number.
    std::uint32_t add_link(std::uint32_t from_router, std::uint32_t from_port, std::uint32_t to_router, std::uint32_t to_port,
                           const fabric_link_params& params);
    /// The fabric ends here: packets for `port` leave through `edge`. Credits arrive by edge_credit().
    std::uint32_t add_edge_output(std::uint32_t router, std::uint32_t port, const fabric_link_params& params, fabric_edge_if& edge);
    /// Packets enter here by inject(); credits leave through `edge`. `depth_cells` of params is the buffer.
    std::uint32_t add_edge_input(std::uint32_t router, std::uint32_t port, const fabric_link_params& params, fabric_edge_if& edge);
    void set_port_names(std::vector<std::string> names) { port_names_ = std::move(names); }
    /// Where ports of routers differ in name; "" for a port that has none. Must outlive the layout.
    void set_port_namer(const port_namer_if* namer) { port_namer_ = namer; }

    // --- Look --------------------------------------------------------------------------------------------------------
    std::uint32_t vl_count() const { return config_.vl_count; }
    bool voq() const { return voq_; } ///< a FIFO per output in every input buffer
    std::uint32_t port_count(std::uint32_t router) const { return routers_.at(router).ports; }
    std::uint32_t router_count() const { return static_cast<std::uint32_t>(routers_.size()); }
    std::uint32_t link_count() const { return static_cast<std::uint32_t>(links_.size()); }
    std::uint32_t out_link(std::uint32_t router, std::uint32_t port) const;
    std::uint32_t depth_cells(std::uint32_t link) const { return cold_[link].depth_cells; }
    std::uint32_t sending_port(std::uint32_t link) const { return links_[link].from_port; } ///< of its sender
    bool is_router_link(std::uint32_t link) const { return !links_[link].to_edge && !links_[link].from_edge; }
    /// Routers at both ends; k_none where the fabric ends.
    std::pair<std::uint32_t, std::uint32_t> link_ends(std::uint32_t link) const
    {
        return {links_.at(link).router, links_.at(link).to_router};
    }
    std::string link_name(std::uint32_t link) const;    ///< "router(0,1).+X"
    std::string far_end_name(std::uint32_t link) const; ///< "router(0,2)"; "" where the fabric ends
    const std::string& router_name(std::uint32_t router) const { return routers_[router].name; }
    std::string port_name(std::uint32_t router, std::uint32_t port) const;
    /// Where packets of a VL wait that came in through a port.
    std::uint32_t queue_behind(std::uint32_t router, std::uint32_t in_port, std::uint32_t vl) const
    {
        return queue_of(in_links_[routers_[router].first_port + in_port], vl);
    }
    std::uint32_t queue_of(std::uint32_t link, std::uint32_t vl) const { return link * config_.vl_count + vl; }

protected:
    ~fabric_layout() = default;

    /// Where everything lies; nothing can be added afterwards.
    void lay_out();
    /// `available + under way + held = depth` on every link and VL, `held` in cells by queue. "" when it holds.
    std::string audit_credits(const std::vector<std::uint64_t>& held) const;
    std::uint64_t layout_bytes() const; ///< host memory

    // Waiters of an output are numbered by input port, then VL.
    std::uint32_t port_of_bit(std::uint32_t bit) const { return bit >> vl_shift_; }
    std::uint32_t vl_of_bit(std::uint32_t bit) const { return bit & ((1u << vl_shift_) - 1); }
    std::uint32_t queue_of_bit(std::uint32_t router, std::uint32_t bit) const
    {
        return queue_behind(router, port_of_bit(bit), vl_of_bit(bit));
    }
    /// Its FIFO. By VL, then input port: many fabrics use few VLs most of the time, and then few cache lines.
    std::uint32_t voq_of(const link_state& out, std::uint32_t bit) const
    {
        return out.voq_base + vl_of_bit(bit) * out.ports + port_of_bit(bit);
    }
    bool is_entry_port(const router_state& r, std::uint32_t port) const
    {
        return !entry_ports_.empty() && entry_ports_[r.first_port + port] != 0;
    }

    fabric_config config_;
    bool voq_;
    std::uint32_t vl_shift_ = 0; ///< 2^vl_shift_ >= vl_count

    std::vector<link_state> links_;
    std::vector<queue_state> queues_;     ///< by queue_of()
    std::vector<buffer_state> buffers_;   ///< likewise; empty in VOQ mode
    std::vector<vl_buffer> voqs_;         ///< VOQ mode, by voq_of()
    std::vector<std::uint32_t> in_links_; ///< per router and port
    std::vector<std::uint32_t> out_links_;
    std::vector<out_port> out_ports_; ///< as out_links_: asked for a hop before the link's state is near
    std::vector<router_state> routers_;
    std::vector<link_cold> cold_;
    std::vector<std::uint32_t> router_links_; ///< links between routers
    std::vector<std::uint32_t> edge_links_;   ///< links that enter or leave the fabric
    /// Per queue, of the last head on its way into it; only where heads may take unlike times, and without VOQ.
    std::vector<std::uint64_t> last_head_ps_;
    credit_pool credits_under_way_;

private:
    std::uint32_t new_link(std::uint32_t port, const fabric_link_params& params);
    void lay_out_output(std::uint32_t link);
    void lay_out_input(std::uint32_t link);

    std::vector<std::uint8_t> second_zone_; ///< per router and port
    std::vector<std::uint8_t> entry_ports_; ///< per router and port; empty when there are none
    std::vector<std::string> port_names_;
    const port_namer_if* port_namer_ = nullptr;
};

} // namespace weft
