// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/drivers/sync_driver.h"

#include "firmware/costs.h"
#include "firmware/drivers/driver_common.h"
#include "hw/abi/registers.h"

namespace weft::firmware {

namespace {
constexpr std::uint32_t k_released = 1u << 0, k_failed = 1u << 1; // IRQ_PENDING
} // namespace

abi::status sync_driver::bus_status(const char* where) const
{
    return hal_.faulted() ? abi::status{abi::status_code::bus_error, where, hal_.fault().address} : abi::status{};
}

abi::status sync_driver::probe() const
{
    const std::uint32_t type = hal_.read32(base_ + abi::sync::TYPE);
    if (abi::status s = bus_status("SYNC.TYPE"); !s.ok())
        return s;
    if (type != abi::sync::TYPE_reset)
        return {abi::status_code::wrong_device, "SYNC.TYPE", type};
    const std::uint32_t version = hal_.read32(base_ + abi::sync::VERSION);
    if (abi::status s = bus_status("SYNC.VERSION"); !s.ok())
        return s;
    if (version != abi::sync::VERSION_reset)
        return {abi::status_code::wrong_version, "SYNC.VERSION", version};
    return {};
}

abi::status sync_driver::join(const zone& z)
{
    zone_ = z;
    hal_.write32(base_ + abi::sync::ZONE_FIRST, z.first);
    hal_.write32(base_ + abi::sync::ZONE_STRIDE, z.stride);
    hal_.write32(base_ + abi::sync::ZONE_MEMBERS, z.members);
    return bus_status("SYNC.ZONE_MEMBERS");
}

abi::status sync_driver::meet(std::uint64_t timeout_ns)
{
    hal_.compute(costs::k_sync);
    hal_.write32(base_ + abi::sync::ARRIVE, 1);
    if (abi::status s = bus_status("SYNC.ARRIVE"); !s.ok())
        return s;
    for (unsigned causeless = 0; causeless < k_max_spurious; ++causeless) {
        if (hal_.wait_irq(abi::k_irq_sync, timeout_ns) == 0)
            return {abi::status_code::timeout, "SYNC.RELEASES", zone_.members};
        const std::uint32_t pending = hal_.read32(base_ + abi::sync::IRQ_PENDING);
        if (abi::status s = bus_status("SYNC.IRQ_PENDING"); !s.ok())
            return s;
        if ((pending & k_failed) != 0) {
            const std::uint32_t error = hal_.read32(base_ + abi::sync::ERROR);
            if (abi::status s = bus_status("SYNC.ERROR"); !s.ok())
                return s;
            hal_.write32(base_ + abi::sync::ERROR, error);
            return {abi::status_code::device_error, "SYNC.ERROR", error};
        }
        if ((pending & k_released) != 0) {
            hal_.write32(base_ + abi::sync::IRQ_PENDING, k_released);
            return bus_status("SYNC.IRQ_PENDING");
        }
    }
    return {abi::status_code::device_error, "SYNC.IRQ_PENDING", 0};
}

} // namespace weft::firmware
