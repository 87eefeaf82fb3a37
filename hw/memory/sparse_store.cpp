// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/memory/sparse_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace weft {

namespace {
// What a page that was never written reads as; shared and never written.
alignas(64) const std::uint8_t k_zero_page[sparse_store::k_page_bytes] = {};

bool inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t capacity_bytes)
{
    return bytes <= capacity_bytes && offset <= capacity_bytes - bytes;
}
} // namespace

std::uint8_t* sparse_store::page(std::uint64_t number) const
{
    if (tables_.empty())
        return nullptr;
    const auto* table = tables_[number / k_pages_per_table];
    return table ? table[number % k_pages_per_table] : nullptr;
}

void sparse_store::new_arena()
{
    const std::uint64_t wanted = arenas_.size() < 4 ? k_first_arena_bytes << arenas_.size() : k_last_arena_bytes;
    const std::uint64_t slack = wanted >= k_huge_page_bytes ? k_huge_page_bytes : 0;
    void* mapped =
        ::mmap(nullptr, wanted + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        throw std::bad_alloc();
    auto* base = static_cast<std::uint8_t*>(mapped);
    if (slack != 0) {
        // Give back what lies outside the aligned part: an aligned 2 MiB is what a huge page needs.
        const auto misaligned = reinterpret_cast<std::uintptr_t>(base) % k_huge_page_bytes;
        const std::uint64_t before = misaligned == 0 ? 0 : k_huge_page_bytes - misaligned;
        if (before != 0)
            ::munmap(base, before);
        base += before;
        if (slack != before)
            ::munmap(base + wanted, slack - before);
        ::madvise(base, wanted, MADV_HUGEPAGE); // a hint: without it the pages are only slower to touch
    }
    arenas_.push_back({base, wanted});
    free_ = base;
    free_end_ = base + wanted;
}

std::uint8_t* sparse_store::make_page(std::uint64_t number)
{
    if (tables_.empty()) {
        const std::uint64_t page_count = (capacity_bytes_ + k_page_bytes - 1) / k_page_bytes;
        tables_.resize((page_count + k_pages_per_table - 1) / k_pages_per_table, nullptr);
    }
    auto*& table = tables_[number / k_pages_per_table];
    if (!table)
        table = new std::uint8_t* [k_pages_per_table] {};
    auto*& entry = table[number % k_pages_per_table];
    if (!entry) {
        if (free_ == free_end_)
            new_arena();
        entry = free_;
        free_ += k_page_bytes;
        peak_pages_ = std::max(peak_pages_, ++pages_);
    }
    return entry;
}

std::uint8_t* sparse_store::span_for_write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes)
{
    got_bytes = 0;
    if (offset >= capacity_bytes_)
        return nullptr;
    bytes = std::min(bytes, capacity_bytes_ - offset);
    std::uint64_t number = offset / k_page_bytes;
    const std::uint64_t within = offset % k_page_bytes;
    auto* const first = make_page(number);
    std::uint64_t got = k_page_bytes - within;
    // Pages made one after the other are neighbours in their arena.
    for (auto* last = first; got < bytes; got += k_page_bytes) {
        auto* const next = make_page(++number);
        if (next != last + k_page_bytes)
            break;
        last = next;
    }
    got_bytes = std::min(got, bytes);
    return first + within;
}

const std::uint8_t* sparse_store::span_for_read(std::uint64_t offset, std::uint64_t bytes,
                                                std::uint64_t& got_bytes) const
{
    got_bytes = 0;
    if (offset >= capacity_bytes_)
        return nullptr;
    bytes = std::min(bytes, capacity_bytes_ - offset);
    std::uint64_t number = offset / k_page_bytes;
    const std::uint64_t within = offset % k_page_bytes;
    const std::uint8_t* const first = page(number);
    std::uint64_t got = k_page_bytes - within;
    if (!first) {
        got_bytes = std::min(got, bytes);
        return k_zero_page + within;
    }
    for (const auto* last = first; got < bytes; got += k_page_bytes) {
        const auto* const next = page(++number);
        if (!next || next != last + k_page_bytes)
            break;
        last = next;
    }
    got_bytes = std::min(got, bytes);
    return first + within;
}

bool sparse_store::read(std::uint64_t offset, void* to, std::uint64_t bytes) const
{
    if (!inside(offset, bytes, capacity_bytes_))
        return false;
    auto* out = static_cast<std::uint8_t*>(to);
    while (bytes != 0) {
        std::uint64_t got = 0;
        const auto* from = span_for_read(offset, bytes, got);
        std::memcpy(out, from, got);
        out += got;
        offset += got;
        bytes -= got;
    }
    return true;
}

bool sparse_store::write(std::uint64_t offset, const void* from, std::uint64_t bytes)
{
    if (!inside(offset, bytes, capacity_bytes_))
        return false;
    const auto* in = static_cast<const std::uint8_t*>(from);
    while (bytes != 0) {
        std::uint64_t got = 0;
        auto* to = span_for_write(offset, bytes, got);
        std::memcpy(to, in, got);
        in += got;
        offset += got;
        bytes -= got;
    }
    return true;
}

void sparse_store::clear()
{
    for (const auto& a : arenas_)
        ::munmap(a.base, a.mapped_bytes);
    for (auto* table : tables_)
        delete[] table;
    arenas_ = {};
    tables_ = {};
    free_ = free_end_ = nullptr;
    pages_ = 0;
}

} // namespace weft
