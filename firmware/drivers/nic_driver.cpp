// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/drivers/nic_driver.h"

#include "firmware/drivers/driver_common.h"
#include "hw/abi/registers.h"

namespace weft::firmware {

abi::status nic_driver::bus_error(const char* where) const
{
    return {abi::status_code::bus_error, where, hal_.fault().address};
}

abi::status nic_driver::probe(const abi::switchml::table& job, std::uint32_t queue_pairs)
{
    base_ = job.nic_base;
    const std::uint32_t type = hal_.read32(reg(abi::nic::TYPE));
    if (abi::status s = bus_status("NIC.TYPE"); !s.ok())
        return s;
    if (type != abi::nic::TYPE_reset)
        return {abi::status_code::wrong_device, "NIC.TYPE", type};
    const std::uint32_t version = hal_.read32(reg(abi::nic::VERSION));
    if (abi::status s = bus_status("NIC.VERSION"); !s.ok())
        return s;
    if (version != abi::nic::VERSION_reset)
        return {abi::status_code::wrong_version, "NIC.VERSION", version};
    const std::uint32_t queues = hal_.read32(reg(abi::nic::QUEUES));
    const std::uint32_t pairs = hal_.read32(reg(abi::nic::QUEUE_PAIRS));
    if (abi::status s = bus_status("NIC.QUEUES"); !s.ok())
        return s;
    if (queues < job.nic_queues || job.core >= queues)
        return {abi::status_code::unsupported, "NIC.QUEUES", queues};
    if (pairs < queue_pairs)
        return {abi::status_code::unsupported, "NIC.QUEUE_PAIRS", pairs};
    return {};
}

abi::status nic_driver::init(const abi::platform_table& table, const abi::switchml::table& job)
{
    base_ = job.nic_base;
    queue_ = job.core;
    entries_ = job.nic_ring_entries;
    send_ring_ = job.nic_area +
                 std::uint64_t{queue_} * entries_ * (abi::k_nic_send_entry_bytes + abi::k_nic_receive_entry_bytes);
    receive_ring_ = send_ring_ + std::uint64_t{entries_} * abi::k_nic_send_entry_bytes;
    // The table has bus addresses, for the copies of this core; the device wants offsets into its memory.
    hal_.write64(reg(abi::nic::TX_BASE(queue_)), send_ring_ - table.hbm_base);
    hal_.write32(reg(abi::nic::TX_ENTRIES(queue_)), entries_);
    hal_.write64(reg(abi::nic::RX_BASE(queue_)), receive_ring_ - table.hbm_base);
    hal_.write32(reg(abi::nic::RX_ENTRIES(queue_)), entries_);
    hal_.write32(reg(abi::nic::ACTIVE_QUEUES), job.cores); // the same from every core
    hal_.write32(reg(abi::nic::CONTROL), k_control_enable);
    const abi::status s = bus_status("NIC.CONTROL");
    ready_ = s.ok();
    return s;
}

abi::status nic_driver::wait_space(std::uint64_t timeout_ns)
{
    if (abi::status s = doorbell(); !s.ok()) // what the device does not know about it will never finish
        return s;
    sent_ = hal_.read32(reg(abi::nic::TX_HEAD(queue_)));
    if (abi::status s = bus_status("NIC.TX_HEAD"); !s.ok() || posted_ - sent_ < entries_)
        return s;
    // As in the driver of the DMA: wait for one bit of TX_HEAD to flip, which cannot happen twice between two looks.
    const std::uint32_t crossing = (sent_ & ~(entries_ - 1)) + entries_;
    const bool crossed = hal_.poll_until(reg(abi::nic::TX_HEAD(queue_)), entries_, crossing & entries_, timeout_ns);
    if (abi::status s = bus_status("NIC.TX_HEAD"); !s.ok())
        return s;
    if (!crossed) {
        if (abi::status s = take_error(); !s.ok())
            return s;
        return {abi::status_code::timeout, "NIC.TX_HEAD", queue_};
    }
    sent_ = crossing;
    return {};
}

abi::status nic_driver::post(abi::nic_send_entry& e, std::uint64_t timeout_ns)
{
    if (posted_ - sent_ >= entries_) {
        if (abi::status s = wait_space(timeout_ns); !s.ok())
            return s;
    }
    e.check = abi::check_of(e);
    const std::uint64_t slot = posted_ & (entries_ - 1);
    hal_.copy_out(send_ring_ + slot * abi::k_nic_send_entry_bytes, &e, abi::k_nic_send_entry_bytes);
    // An entry that did not reach the ring must never be announced.
    if (hal_.faulted())
        return bus_error("NIC.TX_RING");
    ++posted_;
    return {};
}

abi::status nic_driver::doorbell()
{
    if (told_ == posted_)
        return {};
    told_ = posted_;
    hal_.write32(reg(abi::nic::TX_TAIL(queue_)), told_);
    return bus_status("NIC.TX_TAIL");
}

abi::status nic_driver::look(std::uint32_t& news)
{
    news = filled_ - taken_;
    if (news != 0)
        return {};
    const std::uint32_t filled = hal_.read32(reg(abi::nic::RX_HEAD(queue_)));
    if (abi::status s = bus_status("NIC.RX_HEAD"); !s.ok())
        return s;
    if (filled - released_ > entries_) // the ring would have been overrun
        return {abi::status_code::device_error, "NIC.RX_HEAD", filled};
    filled_ = filled;
    news = filled_ - taken_;
    return {};
}

void nic_driver::take(void* to, std::uint32_t bytes) { hal_.copy_in(to, next_entry(), bytes); }

void nic_driver::take_frame(void* to, std::uint32_t bytes) { hal_.stream_in(to, next_entry(), bytes); }

std::uint64_t nic_driver::next_entry()
{
    return receive_ring_ + std::uint64_t{taken_++ & (entries_ - 1)} * abi::k_nic_receive_entry_bytes;
}

abi::status nic_driver::release()
{
    if (released_ == taken_)
        return {};
    released_ = taken_;
    hal_.write32(reg(abi::nic::RX_TAIL(queue_)), released_);
    return bus_status("NIC.RX_TAIL");
}

abi::status nic_driver::wait(std::uint64_t timeout_ns)
{
    hal_.write32(reg(abi::nic::RX_ARM(queue_)), taken_ + 1);
    if (abi::status s = bus_status("NIC.RX_ARM"); !s.ok())
        return s;
    if (hal_.wait_irq(abi::k_irq_nic, timeout_ns) == 0) {
        causeless_ = 0;
        return {};
    }
    std::uint32_t news = 0;
    if (abi::status s = look(news); !s.ok())
        return s;
    if (news != 0) {
        causeless_ = 0;
        return {};
    }
    // Not for this queue, or arming does not take the line down: a look does.
    const std::uint32_t pending = hal_.read32(reg(abi::nic::IRQ_PENDING));
    if (abi::status s = bus_status("NIC.IRQ_PENDING"); !s.ok())
        return s;
    if (++causeless_ == k_max_spurious)
        return {abi::status_code::device_error, "NIC.IRQ_PENDING", pending};
    return {};
}

abi::status nic_driver::take_error()
{
    const std::uint32_t error = hal_.read32(reg(abi::nic::ERROR));
    if (abi::status s = bus_status("NIC.ERROR"); !s.ok() || error == 0)
        return s;
    const std::uint32_t queue = hal_.read32(reg(abi::nic::ERROR_QUEUE));
    if (abi::status s = bus_status("NIC.ERROR"); !s.ok() || queue != queue_)
        return s; // the core that owns it will find it
    hal_.write32(reg(abi::nic::ERROR), error);
    if (abi::status s = bus_status("NIC.ERROR"); !s.ok())
        return s;
    return {abi::status_code::device_error, "NIC.ERROR", error | std::uint64_t{queue} << 32};
}

} // namespace weft::firmware
