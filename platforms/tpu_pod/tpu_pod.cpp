// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/tpu_pod/tpu_pod.h"

#include "firmware/main.h"

namespace weft {

namespace {
dma_fabric_view view_of(const tpu_pod_config& config)
{
    dma_fabric_view view;
    view.ports = config.ici.local_ports;
    view.vl_count = config.ici.virtual_lanes;
    view.port_rate = config.ici.local_port_rate;
    view.format = config.ici.format();
    view.burst_packets = static_cast<std::uint32_t>(config.run.burst.value());
    view.carry_data = config.run.data == data_mode::checked;
    view.min_receive_cells = config.burst_cells();
    return view;
}
} // namespace

tpu_pod::tpu_pod(const tpu_pod_config& config) : time_("timeline")
{
    time_.set_run_ahead(true); // no foreign SystemC component is part of this platform
    ici_ = std::make_unique<ici_fabric>("ici", time_, pool_, config.mesh.shape(), config.ici, config.burst_cells());
    fabric_list_.push_back(&ici_->engine());
    const dma_fabric_view view = view_of(config);
    for (std::uint32_t rank = 0; rank < config.ranks(); ++rank) {
        const std::string name = "chip_" + std::to_string(rank / config.mesh.cols) + "_" + std::to_string(rank % config.mesh.cols);
        chips_.push_back(std::make_unique<chip>(name.c_str(), time_, pool_, config.chip, view, config.table(rank)));
        chip& c = *chips_.back();
        for (std::uint32_t port = 0; port < view.ports; ++port) {
            c.dma.to_fabric(port).bind(ici_->router(rank).local_port(port).in);
            ici_->router(rank).local_port(port).out.bind(c.dma.from_fabric(port));
        }
        c.core.load(firmware::collective_main, 0);
        chip_list_.push_back(&c);
    }
    for (const link_fault_config& f : config.faults.links_down)
        ici_->engine().set_link_up(ici_->link_at(f.row, f.col, static_cast<ici_port>(f.direction)), false);
}

} // namespace weft
