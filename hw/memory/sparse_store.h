// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Contents of a large memory, of which a simulation touches little: a two-level table of 64 KiB pages that are made,
// zeroed, when first written. Plain C++. Pages come from arenas taken from the operating system, so that a page is
// touched once, by whoever uses it, and all of it goes back at once. Arenas double from 256 KiB (thousands of memories
// that hold a few tables each) to 4 MiB (transparent huge pages for large buffers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class sparse_store {
public:
    static constexpr std::uint64_t k_page_bytes = 64 * 1024;

    explicit sparse_store(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
    ~sparse_store() { clear(); }
    sparse_store(const sparse_store&) = delete;
    sparse_store& operator=(const sparse_store&) = delete;

    /// Contiguous host memory at `offset`, see memory_if. Throws std::bad_alloc when the host has no memory left.
    std::uint8_t* span_for_write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes);
    const std::uint8_t* span_for_read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) const;

    /// Copy between host memory and [offset, offset + bytes). False, with nothing copied, beyond the capacity.
    bool read(std::uint64_t offset, void* to, std::uint64_t bytes) const;
    bool write(std::uint64_t offset, const void* from, std::uint64_t bytes);

    /// Forget all contents; everything reads as zero again. Spans become invalid.
    void clear();

    std::uint64_t capacity_bytes() const { return capacity_bytes_; }
    std::uint64_t resident_bytes() const { return pages_ * k_page_bytes; } ///< pages made, in bytes
    std::uint64_t peak_resident_bytes() const { return peak_pages_ * k_page_bytes; }

private:
    static constexpr std::size_t k_pages_per_table = 512; // one leaf covers 32 MiB
    static constexpr std::uint64_t k_first_arena_bytes = 256 * 1024;
    static constexpr std::uint64_t k_huge_page_bytes = 2 * 1024 * 1024;
    static constexpr std::uint64_t k_last_arena_bytes = 2 * k_huge_page_bytes;
    struct arena {
        std::uint8_t* base;
        std::uint64_t mapped_bytes;
    };

    std::uint8_t* page(std::uint64_t number) const; ///< nullptr: never written
    std::uint8_t* make_page(std::uint64_t number);
    void new_arena();

    std::uint64_t capacity_bytes_;
    std::vector<std::uint8_t**> tables_; ///< empty until the first write
    std::vector<arena> arenas_;
    std::uint8_t* free_ = nullptr; ///< rest of the newest arena
    std::uint8_t* free_end_ = nullptr;
    std::uint64_t pages_ = 0;
    std::uint64_t peak_pages_ = 0;
};

} // namespace weft
