// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver of the DMA (hw/abi/dma_regs.def, version 1): descriptor rings in HBM, doorbells, semaphores.
//
// Every wait is bounded; a status names the register that was waited on or refused:
//   wrong_device / wrong_version   where "DMA.TYPE" / "DMA.VERSION", detail = found
//   unsupported                    where "DMA.QUEUES" / "DMA.SEMAPHORES" / "DMA.SEM_BANKS", detail = found
//   timeout                        where "DMA.HEAD", detail = queue; or "DMA.SEM_PENDING", detail = armed semaphores
//   device_error                   where "DMA.ERROR", detail = ERROR | ERROR_QUEUE << 32; or "DMA.IRQ_STATUS":
//                                  interrupts without a cause that do not stop
//   bus_error                      where the register group being used, detail = address
//
// The device must come out of reset: rings empty, semaphore counters 0. Counters are never reset by this driver.
#pragma once

#include "hw/abi/descriptor.h"
#include "hw/abi/hal.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_max_dma_queues = 16;
inline constexpr std::uint32_t k_dma_semaphores = 64;

/// What a descriptor reads, writes and waits for besides: first all sources, then all destinations.
struct element_list {
    const abi::dma_element* elements = nullptr;
    std::uint8_t more_sources = 0;
    std::uint8_t more_destinations = 0;
    std::uint32_t wait_semaphore = abi::k_no_semaphore;
    std::uint32_t wait_count = 0;
};

class dma_driver {
public:
    explicit dma_driver(abi::hal& hal) : hal_(hal) {}

    /// Is it a DMA, of the version this driver knows, with the queues of the table and `semaphores` semaphores?
    abi::status probe(const abi::platform_table& table, std::uint32_t semaphores);

    /// Sets up all rings of the table, interrupts, and enables the device.
    abi::status init(const abi::platform_table& table);

    /// Destinations and semaphores are from now on those of the table's process group, and nothing is armed.
    abi::status join(const abi::platform_table& table);

    /// True when the ring of `queue` takes another descriptor. Reads HEAD only when the remembered value says "full".
    bool has_space(std::uint32_t queue);
    /// The same for so many ring entries.
    bool has_room(std::uint32_t queue, std::uint32_t entries);
    /// Waits until it does; the wait may last until the ring is half empty on average.
    abi::status wait_space(std::uint32_t queue, std::uint64_t timeout_ns);
    /// Waits until it does, looking more often: for cores that others wait for.
    abi::status wait_entry(std::uint32_t queue, std::uint64_t timeout_ns);

    /// Completes the check word of `d` and copies it into the ring, waiting for a free entry if there is none. The
    /// device does not see it before doorbell().
    abi::status enqueue(std::uint32_t queue, abi::dma_descriptor& d, std::uint64_t timeout_ns);
    /// The same for a descriptor with elements. It comes into the ring whole or not at all.
    abi::status enqueue(std::uint32_t queue, abi::dma_descriptor& d, const element_list& more, std::uint64_t timeout_ns);
    /// The same, kept back until a doorbell or another queue: entries that follow each other go into the ring in one
    /// copy, of which the memory's latency is the longest part. It waits for `wait_semaphore`, if it is one, to count
    /// to `wait_count`.
    abi::status stage(std::uint32_t queue, const abi::dma_descriptor& d, std::uint32_t wait_semaphore,
                      std::uint32_t wait_count, std::uint64_t timeout_ns);
    /// Tells the device about everything enqueued; no access when there is nothing new.
    void doorbell(std::uint32_t queue);
    /// The same for all queues.
    void doorbells();
    /// Queues of which doorbells() has to look.
    std::uint32_t pending_doorbells() const { return pending_count_; }
    /// enqueue() and doorbell().
    abi::status post(std::uint32_t queue, abi::dma_descriptor& d, std::uint64_t timeout_ns);

    /// Asks for an interrupt when COUNT of `semaphore` reaches `threshold`. No access when it is armed for an earlier
    /// or equal count already: false then.
    bool arm(std::uint32_t semaphore, std::uint32_t threshold)
    {
        const bool armed = (armed_ >> semaphore & 1) != 0;
        if (armed && static_cast<std::int32_t>(threshold - thresholds_[semaphore]) >= 0)
            return false;
        write_threshold(semaphore, threshold);
        return true;
    }
    /// Count for which `semaphore` was armed last; after it fired COUNT is at least this.
    std::uint32_t armed_threshold(std::uint32_t semaphore) const { return thresholds_[semaphore]; }
    /// COUNT of `semaphore` now.
    std::uint32_t semaphore_count(std::uint32_t semaphore);

    /// Sleeps until at least one armed semaphore has fired; those are returned in `fired` and disarmed. Interrupts for
    /// semaphores that nobody armed are tolerated; the timeout starts anew with the first of them, and only then.
    abi::status wait(std::uint64_t timeout_ns, std::uint64_t& fired);

    /// Waits until every byte of everything posted has left memory (HEAD == TAIL on all queues).
    abi::status drain(std::uint64_t timeout_ns);

    /// bus_error with the address when an access has failed since the fault was cleared.
    abi::status bus_status(const char* where) const { return hal_.faulted() ? bus_error(where) : abi::status{}; }

    /// What a wait that has run out means: the error of the device where it has one, else a timeout.
    abi::status error_or_timeout(const char* where, std::uint64_t detail);

    std::uint32_t queues() const { return queues_; }
    std::uint32_t ring_entries() const { return entries_; }

private:
    bool looks_full(std::uint32_t queue) const;
    bool takes(std::uint32_t queue, std::uint32_t entries) const; ///< by what is known of HEAD
    abi::status wait_room(std::uint32_t queue, std::uint32_t entries, std::uint64_t timeout_ns);
    void write_entries(std::uint32_t queue, std::uint32_t first, const void* entries, std::uint32_t count);
    bool write_staged();
    void doorbells_behind_staged();
    void announce(std::uint32_t queue);
    void has_news(std::uint32_t queue);
    std::uint32_t rank_on_machine(std::uint32_t rank) { return members_ == 0 ? rank : hal_.read32(members_ + sizeof(std::uint32_t) * rank); }
    std::uint32_t semaphore_on_machine(std::uint32_t s) const { return s == abi::k_no_semaphore ? s : first_semaphore_ + s; }
    abi::status put(std::uint32_t queue, abi::dma_descriptor& d, std::uint64_t timeout_ns);
    abi::status enqueue_on_machine(std::uint32_t queue, abi::dma_descriptor& d, std::uint64_t timeout_ns);
    abi::status enqueue_in_group(std::uint32_t queue, const abi::dma_descriptor& d, std::uint64_t timeout_ns);
    std::uint64_t take_fired();
    void write_threshold(std::uint32_t semaphore, std::uint32_t threshold);
    abi::status wait_on(std::uint64_t timeout_ns, std::uint64_t& fired);
    abi::status bus_error(const char* where) const;
    abi::status take_error();
    std::uint64_t reg(std::uint64_t offset) const { return base_ + offset; }

    abi::hal& hal_;
    std::uint64_t base_ = 0;
    std::uint64_t ring_area_ = 0;
    std::uint32_t queues_ = 0;
    std::uint32_t entries_ = 0;
    std::uint32_t enqueued_[k_max_dma_queues] = {}; ///< descriptors in the ring, told or not
    std::uint32_t told_[k_max_dma_queues] = {};     ///< last value written to TAIL
    std::uint32_t head_[k_max_dma_queues] = {};     ///< last value learnt of HEAD
    std::uint32_t pending_[k_max_dma_queues] = {};   ///< queues with news since doorbells(), each once
    std::uint32_t pending_count_ = 0;
    std::uint32_t pending_mask_ = 0; ///< the same as bits
    bool in_group_ = false;             ///< descriptors name ranks and semaphores of a process group
    std::uint32_t first_semaphore_ = 0; ///< of its bank
    std::uint64_t members_ = 0;         ///< platform_table::members
    std::uint64_t armed_ = 0;
    std::uint32_t thresholds_[k_dma_semaphores] = {};
    // The last entries of one ring, which are not written yet.
    static constexpr std::uint32_t k_most_staged = 16;
    std::uint32_t staged_queue_ = 0;
    std::uint32_t staged_count_ = 0;
    unsigned char staged_[k_most_staged * abi::k_descriptor_bytes];
};

} // namespace weft::firmware
