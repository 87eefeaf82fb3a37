// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A driver of one's own, without firmware/boot and without the HAL: it serves broadcasts by handing the data from chip
// to chip in order of rank, piece by piece, and refuses all else. What it needs of weft is hw/abi, headers alone.
#include "hw/abi/descriptor.h"
#include "hw/abi/hal.h"
#include "hw/abi/registers.h"

using namespace weft;

extern "C" [[noreturn]] void chain_main(std::uint64_t rank);

namespace {

constexpr std::uint32_t k_semaphore = 0; // pieces that have come, of all commands so far
constexpr std::uint64_t k_smallest_piece = 4096;
constexpr char k_refusal[] = "chain_broadcast can only broadcast";

template <class Word> volatile Word& at(std::uint64_t address) { return *reinterpret_cast<volatile Word*>(address); }

// Device registers, tables and HBM are words on the bus; objects in program memory are read and written as they are.
template <class Object> Object read_object(std::uint64_t address)
{
    static_assert(sizeof(Object) % 8 == 0, "copied in words");
    Object object;
    std::uint64_t words[sizeof(Object) / 8];
    for (std::uint64_t i = 0; i < sizeof(Object) / 8; ++i)
        words[i] = at<std::uint64_t>(address + 8 * i);
    __builtin_memcpy(&object, words, sizeof object);
    return object;
}

template <class Object> void write_object(std::uint64_t address, const Object& object)
{
    static_assert(sizeof(Object) % 8 == 0, "copied in words");
    std::uint64_t words[sizeof(Object) / 8];
    __builtin_memcpy(words, &object, sizeof object);
    for (std::uint64_t i = 0; i < sizeof(Object) / 8; ++i)
        at<std::uint64_t>(address + 8 * i) = words[i];
}

// Until the line is up. Nothing else ends a wfi: the timer of the control block is off.
void sleep_until(std::uint32_t line)
{
    at<std::uint32_t>(abi::k_core_base + abi::core::IRQ_ENABLE) = line;
    while ((at<std::uint32_t>(abi::k_core_base + abi::core::IRQ_PENDING) & line) == 0)
        asm volatile("wfi");
}

class chain {
public:
    explicit chain(const abi::platform_table& table) : table_(table), dma_(table.dma_base)
    {
        at<std::uint64_t>(dma_ + abi::dma::RING_BASE(0)) = table.dma_ring_area - table.hbm_base;
        at<std::uint32_t>(dma_ + abi::dma::RING_ENTRIES(0)) = table.dma_ring_entries;
        at<std::uint32_t>(dma_ + abi::dma::IRQ_ENABLE) = 1; // semaphores
        at<std::uint32_t>(dma_ + abi::dma::CONTROL) = 1;
    }

    abi::status_code broadcast(const abi::command& c, std::uint32_t& messages)
    {
        const std::uint64_t bytes = c.count * abi::element_bytes(c.type);
        const std::uint64_t piece = c.chunk_bytes > k_smallest_piece ? c.chunk_bytes : k_smallest_piece;
        const std::uint32_t next = table_.rank + 1 == table_.ranks ? 0 : table_.rank + 1;
        for (std::uint64_t done = 0; done < bytes; done += piece) {
            if (table_.rank != c.root)
                wait_for_piece();
            if (next == c.root)
                continue;
            abi::dma_descriptor d;
            d.source_offset = d.destination_offset = c.buffer_offset + done;
            d.bytes = bytes - done < piece ? bytes - done : piece;
            d.destination_rank = next;
            d.remote_semaphore = k_semaphore;
            d.type = c.type;
            post(d);
            ++messages;
        }
        // A rank is done when its buffer may change: every byte has left.
        while (at<std::uint32_t>(dma_ + abi::dma::HEAD(0)) != posted_)
            ;
        return at<std::uint32_t>(dma_ + abi::dma::ERROR) == 0 ? abi::status_code::ok : abi::status_code::device_error;
    }

private:
    void wait_for_piece()
    {
        at<std::uint32_t>(dma_ + abi::dma::SEM_THRESHOLD(k_semaphore)) = ++received_;
        sleep_until(abi::k_irq_dma);
        [[maybe_unused]] const std::uint64_t cleared = at<std::uint64_t>(dma_ + abi::dma::SEM_PENDING); // by reading
    }

    void post(abi::dma_descriptor& d)
    {
        while (posted_ - at<std::uint32_t>(dma_ + abi::dma::HEAD(0)) >= table_.dma_ring_entries)
            ; // until an entry of the ring is free
        d.check = abi::check_of(d);
        write_object(table_.dma_ring_area + posted_ % table_.dma_ring_entries * abi::k_descriptor_bytes, d);
        at<std::uint32_t>(dma_ + abi::dma::TAIL(0)) = ++posted_;
    }

    const abi::platform_table& table_;
    std::uint64_t dma_;
    std::uint32_t posted_ = 0;
    std::uint32_t received_ = 0;
};

} // namespace

// The compiler may call these; a freestanding program brings its own.
extern "C" void* memcpy(void* to, const void* from, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; ++i)
        static_cast<volatile unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i];
    return to;
}
extern "C" void* memset(void* to, int value, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; ++i)
        static_cast<volatile unsigned char*>(to)[i] = static_cast<unsigned char>(value);
    return to;
}

void chain_main(std::uint64_t)
{
    const auto table = read_object<abi::platform_table>(abi::k_platform_table_address);
    if (table.magic != abi::k_platform_table_magic || table.version != abi::k_platform_table_version)
        at<std::uint32_t>(abi::k_core_base + abi::core::HALT) = 100; // this program was built for another hw/abi
    chain ring(table);
    for (;;) {
        sleep_until(abi::k_irq_mailbox);
        const std::uint32_t sequence = at<std::uint32_t>(table.mailbox_base + abi::mailbox::COMMAND_SEQUENCE);
        const auto command = read_object<abi::command>(abi::k_command_address);
        at<std::uint32_t>(table.mailbox_base + abi::mailbox::COMMAND_ACK) = sequence;
        abi::response r;
        r.sequence = sequence;
        r.failed_peer = table.ranks;
        if (command.op == abi::collective_op::broadcast) {
            r.code = ring.broadcast(command, r.messages);
        } else {
            r.code = abi::status_code::unsupported;
            __builtin_memcpy(r.where, k_refusal, sizeof k_refusal);
        }
        r.steps = table.ranks - 1;
        write_object(abi::k_response_address, r);
        at<std::uint32_t>(table.mailbox_base + abi::mailbox::DONE) = sequence;
    }
}

// Entry: a0 rank, a1 address of the platform table, a2 a word of the builder. The program sets its own stack.
asm(R"(
    .section .text.start, "ax"
    .globl _start
_start:
    lla     sp, stack_top
    lla     t0, failed
    csrw    mtvec, t0
    call    chain_main
    .balign 4
failed:                             # an exception: stop with its cause, which the run reports
    csrr    a0, mcause
    addi    a0, a0, 1
    li      t0, 0x02000000
    sw      a0, 0x3c(t0)
1:  wfi
    j       1b
)");
