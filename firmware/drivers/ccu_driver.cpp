// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/drivers/ccu_driver.h"

#include "firmware/costs.h"
#include "firmware/drivers/driver_common.h"
#include "hw/abi/registers.h"

namespace weft::firmware {

namespace {
constexpr std::uint32_t k_pending_error = 1u << 31; // IRQ_PENDING
constexpr unsigned k_detail_where = 8, k_detail_die = 40;
} // namespace

abi::status ccu_driver::probe() const
{
    const std::uint32_t type = hal_.read32(reg(abi::ccu::TYPE));
    if (abi::status s = bus_status("CCU.TYPE"); !s.ok())
        return s;
    if (type != abi::ccu::TYPE_reset)
        return {abi::status_code::wrong_device, "CCU.TYPE", type};
    const std::uint32_t version = hal_.read32(reg(abi::ccu::VERSION));
    if (abi::status s = bus_status("CCU.VERSION"); !s.ok())
        return s;
    if (version != abi::ccu::VERSION_reset)
        return {abi::status_code::wrong_version, "CCU.VERSION", version};
    return {};
}

abi::status ccu_driver::read(ccu_capacities& capacities) const
{
    capacities.instructions = hal_.read32(reg(abi::ccu::INSTRUCTIONS));
    capacities.missions = hal_.read32(reg(abi::ccu::MISSIONS));
    capacities.loop_engines = hal_.read32(reg(abi::ccu::LOOP_ENGINES));
    capacities.address_registers = hal_.read32(reg(abi::ccu::ADDRESS_REGISTERS));
    capacities.general_registers = hal_.read32(reg(abi::ccu::GENERAL_REGISTERS));
    capacities.check_entries = hal_.read32(reg(abi::ccu::CHECK_ENTRIES));
    capacities.slices = hal_.read32(reg(abi::ccu::SLICES));
    capacities.channels = hal_.read32(reg(abi::ccu::CHANNELS));
    capacities.outstanding = hal_.read32(reg(abi::ccu::OUTSTANDING));
    return bus_status("CCU.INSTRUCTIONS");
}

abi::status ccu_driver::init(std::uint32_t key, std::uint32_t token) const
{
    hal_.write32(reg(abi::ccu::KEY), key);
    hal_.write32(reg(abi::ccu::TOKEN), token);
    return bus_status("CCU.TOKEN");
}

abi::status ccu_driver::clear_entries(std::uint32_t first, std::uint32_t count) const
{
    hal_.write32(reg(abi::ccu::CLEAR_ENTRIES), first | count << 16);
    return bus_status("CCU.CLEAR_ENTRIES");
}

abi::status ccu_driver::set_channel(std::uint32_t channel, std::uint32_t peer) const
{
    hal_.write32(reg(abi::ccu::CHANNEL_INDEX), channel);
    hal_.write32(reg(abi::ccu::CHANNEL_PEER), peer);
    return bus_status("CCU.CHANNEL_PEER");
}

void ccu_driver::seek(std::uint32_t index) const { hal_.write32(reg(abi::ccu::CODE_INDEX), index); }

void ccu_driver::write(const abi::ccu::instruction& i) const
{
    std::uint64_t words[abi::ccu::k_words_of_instruction];
    __builtin_memcpy(words, &i, sizeof words);
    hal_.compute(costs::k_ccu_instruction);
    for (const std::uint64_t word : words)
        hal_.write64(reg(abi::ccu::CODE_DATA), word);
}

abi::status ccu_driver::launch(const ccu_task& task) const
{
    hal_.compute(costs::k_ccu_launch);
    hal_.write32(reg(abi::ccu::TASK_MISSION), task.mission);
    hal_.write32(reg(abi::ccu::TASK_START), task.start);
    hal_.write32(reg(abi::ccu::TASK_COUNT), task.count);
    hal_.write32(reg(abi::ccu::TASK_TIMEOUT), task.timeout_us);
    hal_.write32(reg(abi::ccu::TASK_KEY), task.key);
    hal_.write32(reg(abi::ccu::TASK_FLAGS), task.flags);
    for (std::uint32_t i = 0; i < task.arguments; ++i)
        hal_.write64(reg(abi::ccu::TASK_ARGUMENT(i)), task.argument[i]);
    // A task whose description did not arrive whole must never begin.
    if (abi::status s = bus_status("CCU.TASK_ARGUMENT"); !s.ok())
        return s;
    hal_.write32(reg(abi::ccu::TASK_LAUNCH), 1);
    return bus_status("CCU.TASK_LAUNCH");
}

ccu_outcome ccu_driver::outcome(std::uint32_t mission) const
{
    ccu_outcome found;
    const std::uint32_t code = hal_.read32(reg(abi::ccu::MISSION_STATUS(mission)));
    found.status = bus_status("CCU.MISSION_STATUS");
    if (!found.status.ok() || code == 0)
        return found;
    const std::uint64_t where = hal_.read32(reg(abi::ccu::MISSION_WHERE(mission)));
    found.code = static_cast<abi::ccu::status>(code);
    found.detail = hal_.read32(reg(abi::ccu::MISSION_DETAIL(mission)));
    found.status = bus_status("CCU.MISSION_WHERE");
    if (!found.status.ok())
        return found;
    const std::uint64_t detail = code | where << k_detail_where | std::uint64_t{die_} << k_detail_die;
    found.status = found.code == abi::ccu::status::time_out ? abi::status{abi::status_code::timeout, "CCU.MISSION_STATE", detail}
                                                            : abi::status{abi::status_code::device_error, "CCU.MISSION_STATUS", detail};
    return found;
}

void ccu_driver::kill(std::uint32_t mission) const { hal_.write32(reg(abi::ccu::MISSION_KILL), mission); }

// Why this unit interrupts, and no longer.
abi::status ccu_driver::take(std::uint32_t running, std::uint32_t& ended) const
{
    const std::uint32_t pending = hal_.read32(reg(abi::ccu::IRQ_PENDING));
    if (abi::status s = bus_status("CCU.IRQ_PENDING"); !s.ok())
        return s;
    if ((pending & k_pending_error) != 0) {
        const std::uint32_t error = hal_.read32(reg(abi::ccu::ERROR));
        if (abi::status s = bus_status("CCU.ERROR"); !s.ok())
            return s;
        hal_.write32(reg(abi::ccu::ERROR), error);
        return {abi::status_code::device_error, "CCU.ERROR", error | std::uint64_t{die_} << k_detail_die};
    }
    ended = pending & running;
    if (ended != 0)
        hal_.write32(reg(abi::ccu::IRQ_PENDING), ended);
    return bus_status("CCU.IRQ_PENDING");
}

abi::status ccu_driver::wait(abi::hal& hal, const std::uint32_t (&running)[abi::ccu::k_dies], std::uint64_t timeout_ns,
                             std::uint32_t (&ended)[abi::ccu::k_dies])
{
    std::uint32_t wanted = 0;
    for (std::uint32_t die = 0; die < abi::ccu::k_dies; ++die) {
        ended[die] = 0;
        wanted |= running[die] != 0 ? abi::k_irq_ccu << die : 0u;
    }
    hal.compute(costs::k_ccu_wait);
    for (unsigned causeless = 0; causeless < k_max_spurious; ++causeless) {
        const std::uint32_t lines = hal.wait_irq(wanted, timeout_ns);
        if (lines == 0) {
            for (std::uint32_t die = 0; die < abi::ccu::k_dies; ++die)
                for (std::uint32_t m = 0; running[die] >> m != 0; ++m)
                    if ((running[die] >> m & 1) != 0)
                        ccu_driver(hal, die).kill(m);
            return {abi::status_code::timeout, "CCU.MISSION_STATE", std::uint64_t{running[0] != 0 ? 0u : 1u} << k_detail_die};
        }
        bool any = false;
        for (std::uint32_t die = 0; die < abi::ccu::k_dies; ++die) {
            if ((lines & abi::k_irq_ccu << die) == 0)
                continue;
            if (abi::status s = ccu_driver(hal, die).take(running[die], ended[die]); !s.ok())
                return s;
            any = any || ended[die] != 0;
        }
        if (any)
            return {};
    }
    return {abi::status_code::device_error, "CCU.IRQ_PENDING", 0};
}

} // namespace weft::firmware
