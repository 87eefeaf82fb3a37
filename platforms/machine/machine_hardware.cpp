// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/machine_hardware.h"

#include "platforms/workload/shipped_firmware.h"

namespace weft {

machine_hardware::machine_hardware(core_fitter fit, const std::string& suffix)
    : time(("timeline" + suffix).c_str()), fit_(std::move(fit))
{
    time.set_run_ahead(true); // no foreign SystemC component is part of a platform
}

machine_hardware::~machine_hardware() = default;

chip& machine_hardware::add_chip(const std::string& name, const chip_config& config, const dma_fabric_view& view,
                                 const abi::platform_table& table, chip_options options)
{
    const core_fitting fitting = fit_ ? fit_(static_cast<std::uint32_t>(chips_.size())) : core_fitting{};
    if (fitting.gate != nullptr)
        options.gate = fitting.gate;
    owned_.push_back(std::make_unique<chip>(name.c_str(), time, pool, config, view, table, options));
    chip& c = *owned_.back();
    for (core_base* const core : c.cores()) {
        if (fitting.entry != nullptr)
            core->load(fitting.entry, fitting.argument);
        else
            core->load(shipped_firmware(), 0);
    }
    chips_.push_back(&c);
    return c;
}

dma_fabric_view dma_view(const run_config& run, const train_choice& trains, const packet_format& format, bandwidth port_rate)
{
    dma_fabric_view view;
    view.port_rate = port_rate;
    view.format = format;
    view.train = trains.packets;
    view.carry_data = run.data == data_mode::checked;
    return view;
}

} // namespace weft
