// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver of the Ethernet NIC (hw/abi/nic_regs.def, nic.h, version 1) for one core, which has one queue of it. The rings
// of queue q lie in the area that the SwitchML table names, at q * entries * (128 + 2048): first the send ring, then
// the receive ring.
//
// Every wait is bounded; a status names the register that was waited on or refused:
//   wrong_device / wrong_version   where "NIC.TYPE" / "NIC.VERSION", detail = found
//   unsupported                    where "NIC.QUEUES" / "NIC.QUEUE_PAIRS", detail = found
//   timeout                        where "NIC.TX_HEAD", detail = queue
//   device_error                   where "NIC.ERROR", detail = ERROR | ERROR_QUEUE << 32; or "NIC.RX_HEAD", detail =
//                                  found: more entries than the ring has; or "NIC.IRQ_PENDING": interrupts without a
//                                  cause that do not stop
//   bus_error                      where the register group being used, detail = address
//
// Interrupts. Arming clears what is pending on the own queue, so the usual wait never reads IRQ_PENDING, which the
// cores share.
#pragma once

#include "hw/abi/hal.h"
#include "hw/abi/nic.h"
#include "hw/abi/switchml.h"

namespace weft::firmware {

class nic_driver {
public:
    explicit nic_driver(abi::hal& hal) : hal_(hal) {}

    /// Is it a NIC, of the version this driver knows, with the queues of the table and `queue_pairs` queue pairs?
    abi::status probe(const abi::switchml::table& job, std::uint32_t queue_pairs);

    /// Sets up the rings of this core's queue and enables the device. Other cores do the same for theirs, in any order.
    abi::status init(const abi::platform_table& table, const abi::switchml::table& job);

    /// Completes the check word of `e` and copies it into the send ring, waiting for a free entry if there is none. The
    /// device does not see it before doorbell().
    abi::status post(abi::nic_send_entry& e, std::uint64_t timeout_ns);
    /// Entries that were posted and not yet announced.
    std::uint32_t held() const { return posted_ - told_; }
    /// Tells the device about everything posted; no access when there is nothing new.
    abi::status doorbell();

    /// Reads RX_HEAD when nothing is known to be left; `news` is the number of entries that can be taken.
    abi::status look(std::uint32_t& news);
    /// Copies the first `bytes` bytes of the next receive entry and takes it. Only after look() said that there is one.
    void take(void* to, std::uint32_t bytes);
    /// The same of a frame whose payload the caller converts where it lies.
    void take_frame(void* to, std::uint32_t bytes);
    /// Gives the entries taken so far back to the device.
    abi::status release();

    /// Sleeps until look() has news or `timeout_ns` have passed; nothing may be left to take. It may also return early.
    abi::status wait(std::uint64_t timeout_ns);

    /// device_error when ERROR says that this core's queue has stopped.
    abi::status take_error();

    /// bus_error with the address when an access has failed since the fault was cleared.
    abi::status bus_status(const char* where) const { return hal_.faulted() ? bus_error(where) : abi::status{}; }

    bool ready() const { return ready_; }

private:
    abi::status bus_error(const char* where) const;
    abi::status wait_space(std::uint64_t timeout_ns);
    std::uint64_t next_entry(); ///< bus address; taken
    std::uint64_t reg(std::uint64_t offset) const { return base_ + offset; }

    abi::hal& hal_;
    std::uint64_t base_ = 0;
    std::uint64_t send_ring_ = 0; ///< bus addresses
    std::uint64_t receive_ring_ = 0;
    std::uint32_t queue_ = 0;
    std::uint32_t entries_ = 0;
    std::uint32_t posted_ = 0;    ///< send entries in the ring, told or not
    std::uint32_t told_ = 0;      ///< last value written to TX_TAIL
    std::uint32_t sent_ = 0;      ///< last value learnt of TX_HEAD
    std::uint32_t filled_ = 0;    ///< last value learnt of RX_HEAD
    std::uint32_t taken_ = 0;     ///< receive entries done with
    std::uint32_t released_ = 0;  ///< last value written to RX_TAIL
    std::uint32_t causeless_ = 0; ///< interrupts in a row without news
    bool ready_ = false;
};

} // namespace weft::firmware
