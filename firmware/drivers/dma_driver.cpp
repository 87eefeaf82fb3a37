// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/drivers/dma_driver.h"

#include "firmware/drivers/driver_common.h"
#include "hw/abi/registers.h"

namespace weft::firmware {

namespace {

constexpr std::uint32_t k_irq_semaphore = 1u << 0;
constexpr std::uint32_t k_irq_error = 1u << 1;
constexpr std::uint64_t k_hidden_ns = 2000; ///< longest wait for one descriptor where two may have finished
constexpr std::uint32_t k_look_again = 200; ///< instructions between two looks at HEAD

} // namespace

abi::status dma_driver::bus_error(const char* where) const
{
    return {abi::status_code::bus_error, where, hal_.fault().address};
}

abi::status dma_driver::probe(const abi::platform_table& table, std::uint32_t semaphores)
{
    base_ = table.dma_base;
    const std::uint32_t type = hal_.read32(reg(abi::dma::TYPE));
    if (abi::status s = bus_status("DMA.TYPE"); !s.ok())
        return s;
    if (type != abi::dma::TYPE_reset)
        return {abi::status_code::wrong_device, "DMA.TYPE", type};
    const std::uint32_t version = hal_.read32(reg(abi::dma::VERSION));
    if (abi::status s = bus_status("DMA.VERSION"); !s.ok())
        return s;
    if (version != abi::dma::VERSION_reset)
        return {abi::status_code::wrong_version, "DMA.VERSION", version};
    const std::uint32_t queues = hal_.read32(reg(abi::dma::QUEUES));
    const std::uint32_t counters = hal_.read32(reg(abi::dma::SEMAPHORES));
    if (abi::status s = bus_status("DMA.QUEUES"); !s.ok())
        return s;
    if (queues < table.dma_queues || table.dma_queues > k_max_dma_queues)
        return {abi::status_code::unsupported, "DMA.QUEUES", queues};
    if (counters < semaphores)
        return {abi::status_code::unsupported, "DMA.SEMAPHORES", counters};
    return {};
}

abi::status dma_driver::init(const abi::platform_table& table)
{
    base_ = table.dma_base;
    queues_ = table.dma_queues;
    entries_ = table.dma_ring_entries;
    ring_area_ = table.dma_ring_area;
    // The table has a bus address, for the copies of this core; the device wants an offset into its memory.
    const std::uint64_t area_offset = ring_area_ - table.hbm_base;
    for (std::uint32_t q = 0; q < queues_; ++q) {
        hal_.write64(reg(abi::dma::RING_BASE(q)), area_offset + std::uint64_t{q} * entries_ * abi::k_descriptor_bytes);
        hal_.write32(reg(abi::dma::RING_ENTRIES(q)), entries_);
    }
    hal_.write32(reg(abi::dma::IRQ_ENABLE), k_irq_semaphore | k_irq_error);
    hal_.write32(reg(abi::dma::CONTROL), k_control_enable);
    return bus_status("DMA.CONTROL");
}

abi::status dma_driver::join(const abi::platform_table& table)
{
    const std::uint32_t first = table.semaphore_bank * k_dma_semaphores;
    if (first != first_semaphore_) {
        const std::uint32_t banks = hal_.read32(reg(abi::dma::SEM_BANKS));
        if (table.semaphore_bank >= banks)
            return hal_.faulted() ? bus_error("DMA.SEM_BANKS")
                                  : abi::status{abi::status_code::unsupported, "DMA.SEM_BANKS", banks};
        hal_.write32(reg(abi::dma::SEM_BANK), table.semaphore_bank);
        armed_ = 0;
    }
    first_semaphore_ = first;
    members_ = table.members;
    in_group_ = first != 0 || members_ != 0;
    return bus_status("DMA.SEM_BANK");
}

inline bool dma_driver::looks_full(std::uint32_t queue) const { return enqueued_[queue] - head_[queue] >= entries_; }

bool dma_driver::has_space(std::uint32_t queue)
{
    if (!looks_full(queue))
        return true;
    head_[queue] = hal_.read32(reg(abi::dma::HEAD(queue)));
    return !looks_full(queue);
}

abi::status dma_driver::wait_space(std::uint32_t queue, std::uint64_t timeout_ns)
{
    doorbell(queue); // what the device does not know about it will never finish
    const bool space = has_space(queue);
    if (abi::status s = bus_status("DMA.HEAD"); !s.ok() || space)
        return s;
    // Wait for HEAD to cross the next multiple of the ring size, that is for one bit of it to flip. HEAD is at most one
    // ring ahead when the ring is full, so it cannot cross twice between two polls and the flip is never missed.
    const std::uint32_t crossing = (head_[queue] & ~(entries_ - 1)) + entries_;
    const bool crossed = hal_.poll_until(reg(abi::dma::HEAD(queue)), entries_, crossing & entries_, timeout_ns);
    if (abi::status s = bus_status("DMA.HEAD"); !s.ok())
        return s;
    if (!crossed)
        return error_or_timeout("DMA.HEAD", queue);
    head_[queue] = crossing;
    return {};
}

abi::status dma_driver::wait_entry(std::uint32_t queue, std::uint64_t timeout_ns)
{
    doorbell(queue);
    const std::uint64_t since_ns = hal_.now_ns();
    for (;;) {
        const bool room = has_room(queue, 1);
        if (abi::status s = bus_status("DMA.HEAD"); !s.ok() || room)
            return s;
        if (hal_.now_ns() - since_ns >= timeout_ns)
            return error_or_timeout("DMA.HEAD", queue);
        // HEAD is odd and even in turn. Two descriptors that finish between two looks hide: hence the short wait.
        hal_.poll_until(reg(abi::dma::HEAD(queue)), 1, (head_[queue] + 1) & 1,
                        timeout_ns < k_hidden_ns ? timeout_ns : k_hidden_ns);
    }
}

[[gnu::always_inline]] inline void dma_driver::has_news(std::uint32_t queue)
{
    if ((pending_mask_ >> queue & 1) == 0) {
        pending_mask_ |= 1u << queue;
        pending_[pending_count_++] = queue;
    }
}

[[gnu::always_inline]] inline abi::status dma_driver::put(std::uint32_t queue, abi::dma_descriptor& d,
                                                          std::uint64_t timeout_ns)
{
    if (looks_full(queue)) {
        if (abi::status s = wait_space(queue, timeout_ns); !s.ok())
            return s;
    }
    d.check = abi::check_of(d);
    const std::uint64_t slot = std::uint64_t{queue} * entries_ + (enqueued_[queue] & (entries_ - 1));
    hal_.copy_out(ring_area_ + slot * abi::k_descriptor_bytes, &d, abi::k_descriptor_bytes);
    // A descriptor that did not reach the ring must never be announced.
    if (hal_.faulted())
        return bus_error("DMA.RING");
    ++enqueued_[queue];
    has_news(queue);
    return {};
}

inline bool dma_driver::takes(std::uint32_t queue, std::uint32_t entries) const { return enqueued_[queue] - head_[queue] + entries <= entries_; }

bool dma_driver::has_room(std::uint32_t queue, std::uint32_t entries)
{
    if (takes(queue, entries))
        return true;
    head_[queue] = hal_.read32(reg(abi::dma::HEAD(queue)));
    return takes(queue, entries);
}

// Elements that are announced without the others stop the queue, so there must be room for all.
abi::status dma_driver::wait_room(std::uint32_t queue, std::uint32_t entries, std::uint64_t timeout_ns)
{
    if (entries > entries_)
        return {abi::status_code::unsupported, "DMA.RING_ENTRIES", entries_};
    if (takes(queue, entries))
        return {};
    doorbell(queue);
    std::uint64_t since_ns = hal_.now_ns();
    for (;;) {
        const std::uint32_t head = hal_.read32(reg(abi::dma::HEAD(queue)));
        if (abi::status s = bus_status("DMA.HEAD"); !s.ok())
            return s;
        const bool moved = head != head_[queue];
        head_[queue] = head;
        if (takes(queue, entries))
            return {};
        const std::uint64_t now_ns = hal_.now_ns();
        if (moved)
            since_ns = now_ns;
        else if (now_ns - since_ns >= timeout_ns)
            return error_or_timeout("DMA.HEAD", queue);
        hal_.spin(k_look_again);
    }
}

/// From entry `first` on, around the end of the ring.
void dma_driver::write_entries(std::uint32_t queue, std::uint32_t first, const void* entries, std::uint32_t count)
{
    first &= entries_ - 1;
    const std::uint32_t before_end = count < entries_ - first ? count : entries_ - first;
    const std::uint64_t ring = ring_area_ + std::uint64_t{queue} * entries_ * abi::k_descriptor_bytes;
    hal_.copy_out(ring + std::uint64_t{first} * abi::k_descriptor_bytes, entries, before_end * abi::k_descriptor_bytes);
    if (count > before_end)
        hal_.copy_out(ring, static_cast<const unsigned char*>(entries) + before_end * abi::k_descriptor_bytes, (count - before_end) * abi::k_descriptor_bytes);
}

abi::status dma_driver::enqueue(std::uint32_t queue, abi::dma_descriptor& d, const element_list& more, std::uint64_t timeout_ns)
{
    const std::uint32_t count = std::uint32_t{more.more_sources} + more.more_destinations;
    const std::uint32_t entries = abi::entries_of_elements(count);
    if (abi::status s = wait_room(queue, 1 + entries, timeout_ns); !s.ok())
        return s;
    // As they stand in the ring; only those that are written are made.
    unsigned char written[(1 + abi::k_most_element_entries) * abi::k_descriptor_bytes];
    for (std::uint32_t e = 0; e < entries; ++e) {
        abi::dma_element_entry entry;
        for (std::uint32_t i = e * abi::k_elements_of_entry; i < count && i < (e + 1) * abi::k_elements_of_entry; ++i) {
            abi::dma_element& to = entry.element[i % abi::k_elements_of_entry];
            to = more.elements[i];
            to.rank = rank_on_machine(to.rank);
            to.semaphore = semaphore_on_machine(to.semaphore);
        }
        if (e == 0) {
            entry.more_sources = more.more_sources;
            entry.more_destinations = more.more_destinations;
            if (more.wait_semaphore != abi::k_no_semaphore)
                entry.wait_semaphore = static_cast<std::uint16_t>(semaphore_on_machine(more.wait_semaphore));
            entry.wait_count = more.wait_count;
        }
        entry.check = abi::check_of(entry);
        __builtin_memcpy(written + (1 + e) * abi::k_descriptor_bytes, &entry, abi::k_descriptor_bytes);
    }
    abi::dma_descriptor told = d;
    told.element_entries = static_cast<std::uint8_t>(entries);
    told.destination_rank = rank_on_machine(d.destination_rank);
    told.remote_semaphore = semaphore_on_machine(d.remote_semaphore);
    told.check = abi::check_of(told);
    __builtin_memcpy(written, &told, abi::k_descriptor_bytes);
    write_entries(queue, enqueued_[queue], written, 1 + entries);
    // What did not reach the ring must never be announced.
    if (hal_.faulted())
        return bus_error("DMA.RING");
    enqueued_[queue] += 1 + entries;
    has_news(queue);
    return {};
}

abi::status dma_driver::stage(std::uint32_t queue, const abi::dma_descriptor& d, std::uint32_t wait_semaphore,
                              std::uint32_t wait_count, std::uint64_t timeout_ns)
{
    const std::uint32_t entries = wait_semaphore == abi::k_no_semaphore ? 1 : 2;
    if (abi::status s = wait_room(queue, entries, timeout_ns); !s.ok())
        return s;
    if (staged_count_ != 0 && (staged_queue_ != queue || staged_count_ + entries > k_most_staged))
        if (!write_staged())
            return bus_error("DMA.RING");
    unsigned char* const to = staged_ + staged_count_ * abi::k_descriptor_bytes;
    abi::dma_descriptor told = d;
    told.element_entries = static_cast<std::uint8_t>(entries - 1);
    told.destination_rank = rank_on_machine(d.destination_rank);
    told.remote_semaphore = semaphore_on_machine(d.remote_semaphore);
    told.check = abi::check_of(told);
    __builtin_memcpy(to, &told, abi::k_descriptor_bytes);
    if (entries == 2) {
        abi::dma_element_entry wait;
        wait.wait_semaphore = static_cast<std::uint16_t>(semaphore_on_machine(wait_semaphore));
        wait.wait_count = wait_count;
        wait.check = abi::check_of(wait);
        __builtin_memcpy(to + abi::k_descriptor_bytes, &wait, abi::k_descriptor_bytes);
    }
    staged_queue_ = queue;
    staged_count_ += entries;
    enqueued_[queue] += entries;
    has_news(queue);
    return hal_.faulted() ? bus_error("DMA.RING") : abi::status{};
}

/// False after a bus error: what did not reach the ring must never be announced.
[[gnu::noinline]] bool dma_driver::write_staged()
{
    const std::uint32_t first = enqueued_[staged_queue_] - staged_count_;
    write_entries(staged_queue_, first, staged_, staged_count_);
    staged_count_ = 0;
    return !hal_.faulted();
}

// What a process group calls rank and semaphore, as the device knows them.
[[gnu::noinline]] abi::status dma_driver::enqueue_in_group(std::uint32_t queue, const abi::dma_descriptor& d,
                                                           std::uint64_t timeout_ns)
{
    abi::dma_descriptor told = d;
    if (d.remote_semaphore != abi::k_no_semaphore)
        told.remote_semaphore = first_semaphore_ + d.remote_semaphore;
    if (members_ == 0)
        return put(queue, told, timeout_ns);
    // Members of a list may be anywhere: each gets a message by itself.
    const std::uint32_t more = d.rank_stride != 0 ? d.more_pieces : 0;
    if (d.rank_stride != 0)
        told.more_pieces = told.rank_stride = 0;
    for (std::uint32_t k = 0; k <= more; ++k) {
        told.source_offset = d.source_offset + k * d.stride;
        told.destination_rank = hal_.read32(members_ + sizeof(std::uint32_t) * (d.destination_rank + k * d.rank_stride));
        if (abi::status s = put(queue, told, timeout_ns); !s.ok())
            return s;
    }
    return {};
}

[[gnu::noinline]] abi::status dma_driver::enqueue_on_machine(std::uint32_t queue, abi::dma_descriptor& d,
                                                             std::uint64_t timeout_ns)
{
    return put(queue, d, timeout_ns);
}

abi::status dma_driver::enqueue(std::uint32_t queue, abi::dma_descriptor& d, std::uint64_t timeout_ns)
{
    return in_group_ ? enqueue_in_group(queue, d, timeout_ns) : put(queue, d, timeout_ns);
}

[[gnu::always_inline]] inline void dma_driver::announce(std::uint32_t queue)
{
    if (told_[queue] == enqueued_[queue])
        return;
    told_[queue] = enqueued_[queue];
    hal_.write32(reg(abi::dma::TAIL(queue)), told_[queue]);
}

void dma_driver::doorbells()
{
    if (staged_count_ != 0)
        return doorbells_behind_staged();
    for (std::uint32_t i = 0; i < pending_count_; ++i)
        announce(pending_[i]);
    pending_count_ = pending_mask_ = 0;
}

[[gnu::noinline]] void dma_driver::doorbells_behind_staged()
{
    if (write_staged())
        doorbells();
}

void dma_driver::doorbell(std::uint32_t queue)
{
    if (staged_count_ != 0 && !write_staged())
        return;
    announce(queue);
}

abi::status dma_driver::post(std::uint32_t queue, abi::dma_descriptor& d, std::uint64_t timeout_ns)
{
    if (abi::status s = in_group_ ? enqueue_in_group(queue, d, timeout_ns) : enqueue_on_machine(queue, d, timeout_ns); !s.ok())
        return s;
    doorbell(queue);
    return bus_status("DMA.TAIL");
}

void dma_driver::write_threshold(std::uint32_t semaphore, std::uint32_t threshold)
{
    armed_ |= 1ull << semaphore;
    thresholds_[semaphore] = threshold;
    hal_.write32(reg(abi::dma::SEM_THRESHOLD(semaphore)), threshold);
}

std::uint32_t dma_driver::semaphore_count(std::uint32_t semaphore)
{
    return hal_.read32(reg(abi::dma::SEM_COUNT(semaphore)));
}

// Armed semaphores that have fired; they are disarmed. None after a bus error.
inline std::uint64_t dma_driver::take_fired()
{
    const std::uint64_t pending = hal_.read64(reg(abi::dma::SEM_PENDING));
    const std::uint64_t fired = pending & armed_;
    armed_ &= ~fired;
    return fired;
}

abi::status dma_driver::wait(std::uint64_t timeout_ns, std::uint64_t& fired)
{
    fired = 0;
    if (hal_.wait_irq(abi::k_irq_dma, timeout_ns) == 0)
        return error_or_timeout("DMA.SEM_PENDING", armed_);
    fired = take_fired();
    return fired != 0 ? abi::status{} : wait_on(timeout_ns, fired);
}

// The rest of wait() after a first look that found nothing: a timeout, a bus error, or interrupts for others.
abi::status dma_driver::wait_on(std::uint64_t timeout_ns, std::uint64_t& fired)
{
    std::uint64_t left_ns = timeout_ns;
    std::uint64_t first_spurious_ns = 0; // reading the clock is not free; the usual wait does without
    for (unsigned spurious = 0;;) {
        if (abi::status s = bus_status("DMA.SEM_PENDING"); !s.ok())
            return s;
        // An error does not delay semaphores that fired, but it explains an interrupt without any.
        if (abi::status s = take_error(); !s.ok())
            return s;
        const std::uint64_t now_ns = hal_.now_ns();
        if (spurious == 0)
            first_spurious_ns = now_ns;
        const std::uint64_t waited_ns = now_ns - first_spurious_ns;
        left_ns = waited_ns < timeout_ns ? timeout_ns - waited_ns : 0;
        if (++spurious == k_max_spurious)
            return {abi::status_code::device_error, "DMA.IRQ_STATUS", hal_.read32(reg(abi::dma::IRQ_STATUS))};
        if (hal_.wait_irq(abi::k_irq_dma, left_ns) == 0)
            return error_or_timeout("DMA.SEM_PENDING", armed_);
        fired = take_fired();
        if (fired != 0)
            return bus_status("DMA.SEM_PENDING");
    }
}

abi::status dma_driver::drain(std::uint64_t timeout_ns)
{
    doorbells();
    for (std::uint32_t q = 0; q < queues_; ++q) {
        if (head_[q] == told_[q])
            continue;
        const bool idle = hal_.poll_until(reg(abi::dma::HEAD(q)), 0xffff'ffff, told_[q], timeout_ns);
        if (abi::status s = bus_status("DMA.HEAD"); !s.ok())
            return s;
        if (!idle)
            return error_or_timeout("DMA.HEAD", q);
        head_[q] = told_[q];
    }
    return bus_status("DMA.TAIL");
}

abi::status dma_driver::take_error()
{
    const std::uint32_t error = hal_.read32(reg(abi::dma::ERROR));
    if (abi::status s = bus_status("DMA.ERROR"); !s.ok())
        return s;
    if (error == 0)
        return {};
    const std::uint32_t queue = hal_.read32(reg(abi::dma::ERROR_QUEUE));
    hal_.write32(reg(abi::dma::ERROR), error);
    if (abi::status s = bus_status("DMA.ERROR"); !s.ok())
        return s;
    return {abi::status_code::device_error, "DMA.ERROR", error | std::uint64_t{queue} << 32};
}

abi::status dma_driver::error_or_timeout(const char* where, std::uint64_t detail)
{
    // A queue that stopped over an error also looks like a timeout; the error is the better answer.
    if (abi::status s = take_error(); !s.ok())
        return s;
    return {abi::status_code::timeout, where, detail};
}

} // namespace weft::firmware
