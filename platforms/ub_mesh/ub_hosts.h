// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// CPUs and NICs of a UB-Mesh machine as endpoints that send and receive: who is told what. What they exchange with NPUs
// are streams (ub_host_streams.h), checkpoints and loads (ub_checkpoints.h).
//
//   device fails  when the slowest notice has come, or a controller gives it up (rtp): nobody uses it any more
#pragma once

#include "platforms/ub_mesh/ub_checkpoints.h"
#include "platforms/ub_mesh/ub_host_devices.h"
#include "platforms/ub_mesh/ub_host_streams.h"
#include "tlm/slots.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class ub_hosts final : public host_devices, public component, private bulk_listener, private ub_unreachable_if, private timeline_client {
public:
    /// All outlive it. Names end in `suffix`.
    ub_hosts(timeline& time, packet_pool& pool, ub_fabric& fabric, const ub_topology& topology, const ub_mesh_config& config, ub_checkpoint_store& store,
             const std::string& suffix);
    ~ub_hosts();

    /// The mover of the NPU of the next rank, which stands at `position`; its ports are not bound yet.
    void add_npu(chip& c, std::uint32_t position, const std::string& name) { devices_.add_npu(c, position, name, *this); }
    bulk_mover& mover_beside(const chip& c) { return *devices_.npus.at(c.rank()).mover; }
    bool is_host(std::uint32_t router) const { return devices_.is_host(router); }
    /// A CPU or a NIC fails at `at_ps`. A rank uses it no more from hears() on, all others from `known_ps` (k_never_ps:
    /// never).
    void device_fails(std::uint32_t router, std::uint64_t at_ps, std::uint64_t known_ps);
    void hears(std::uint32_t rank, std::uint32_t failed_router) { unreachable(rank, failed_router); }
    bool idle() const { return devices_.idle(); }

    // host_devices
    void begin_traffic() override { streams_.begin(); }
    void end_traffic() override { streams_.end(); }
    void begin_checkpoint(std::uint32_t number, std::uint64_t after_ps) override { checkpoints_.begin(number, false, after_ps); }
    void begin_load(std::uint32_t number) override { checkpoints_.begin(number, true, 0); }
    std::optional<std::uint32_t> last_checkpoint() const override { return devices_.store.last; }
    bool busy() const override { return checkpoints_.busy(); }
    std::string failure() override { return checkpoints_.failure(); }
    bool expects_more() const override;
    std::uint64_t moved() const override { return checkpoints_.moved(); }
    std::uint64_t began_ps() const override { return checkpoints_.began_ps(); }
    sc_core::sc_event& done() override { return checkpoints_.done(); }
    checkpoint_result result() const override { return checkpoints_.result(); }
    std::string progress() const override { return checkpoints_.progress(); }
    std::vector<host_stream_result> streams() const override { return streams_.results(); }
    void give_up() override;

    // component
    void reset(std::uint32_t draw) override;
    std::string stat_prefix() const override { return "hosts"; }
    std::uint64_t work() const override { return moved(); }

private:
    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void bulk_arrived(std::uint32_t number) override;
    void unreachable(std::uint32_t source, std::uint32_t destination) override;
    void lose(std::uint32_t router);

    ub_host_devices devices_;
    ub_host_streams streams_;
    ub_checkpoints checkpoints_;
    struct failure_to_come {
        std::uint32_t router;
        std::uint64_t at_ps, known_ps;
    };
    std::vector<failure_to_come> failures_;
    slots<std::pair<std::uint32_t, std::uint32_t>> lost_pairs_;
};

} // namespace weft
