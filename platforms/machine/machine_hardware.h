// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a machine is made of between two restarts: timeline, packets, fabrics, and chips with their firmware. A platform
// adds its fabric, then its chips in the order of their ranks, and binds their local ports.
#pragma once

#include "platforms/workload/machine.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class machine_hardware {
public:
    /// SystemC modules are made where they stand: call in a constructor, or before the simulation starts. Names end in
    /// `suffix`.
    explicit machine_hardware(core_fitter fit = {}, const std::string& suffix = "");
    ~machine_hardware();

    timeline time;
    packet_pool pool;

    /// A fabric of the machine; the caller owns it.
    void add(fabric_engine& fabric) { fabrics_.push_back(&fabric); }
    /// The chip of the next rank, its firmware loaded on every core. Its local ports are not bound yet.
    chip& add_chip(const std::string& name, const chip_config& config, const dma_fabric_view& view,
                   const abi::platform_table& table, chip_options options = {});
    const std::vector<chip*>& chips() const { return chips_; } ///< by rank
    const std::vector<fabric_engine*>& fabrics() const { return fabrics_; }

private:
    core_fitter fit_;
    std::vector<std::unique_ptr<chip>> owned_;
    std::vector<chip*> chips_;
    std::vector<fabric_engine*> fabrics_;
};

/// What a chip sends and receives: packets of `format`, in trains of a machine that runs `run`, through one local port
/// of `port_rate` on one VL, in order. A platform changes what is otherwise.
dma_fabric_view dma_view(const run_config& run, const train_choice& trains, const packet_format& format, bandwidth port_rate);

/// Local port `port` of a chip at a port of the fabric, which has sockets `in` and `out`.
template <class Port> void bind_local_port(chip& c, std::uint32_t port, Port& at)
{
    c.dma.to_fabric(port).bind(at.in);
    at.out.bind(c.dma.from_fabric(port));
}

/// A machine whose hardware is the same from the first collective to the last: nothing restarts.
class standing_machine : public machine {
public:
    timeline& time() final { return hardware_.time; }
    packet_pool& pool() final { return hardware_.pool; }
    const std::vector<chip*>& chips() const final { return hardware_.chips(); }
    const std::vector<fabric_engine*>& fabrics() const final { return hardware_.fabrics(); }
    std::uint32_t train_of(const collective_case& c) const final { return weft::train_of(trains_, c); }

protected:
    explicit standing_machine(train_choice trains, core_fitter fit = {})
        : hardware_(std::move(fit)), trains_(std::move(trains))
    {
    }
    const train_choice& trains() const { return trains_; }
    machine_hardware hardware_; ///< first: it outlives what a platform adds

private:
    train_choice trains_;
};

} // namespace weft
