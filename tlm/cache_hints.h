// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hints to the cache of the host. Nothing that is simulated depends on them; a build with WEFT_CACHE_HINTS=OFF has
// none, and gives the same digests (testbenches/speed/cache_hints). Each component has them in a file of its own:
// dma_hints.cpp, fabric_hints.h and .cpp, ub_hints.cpp, hbm_hints.cpp, the end of message_order.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

#ifdef WEFT_NO_CACHE_HINTS
inline constexpr bool k_cache_hints = false;
#else
inline constexpr bool k_cache_hints = true;
#endif

/// Brings the cache line at `at` near. The empty statement is a side effect for the compiler: GCC takes a function that
/// does nothing but prefetch for one without effect, and drops the calls of it.
inline void fetch_line(const void* at)
{
    if constexpr (k_cache_hints) {
        __builtin_prefetch(at);
        asm volatile("" : : "r"(at));
    }
}

/// All lines of `bytes` bytes from `at` on; the last one only where `at` is aligned to a line.
inline void fetch_lines(const void* at, std::size_t bytes)
{
    for (std::size_t i = 0; k_cache_hints && i < bytes; i += 64)
        fetch_line(static_cast<const char*>(at) + i);
}

/// A client of a timeline that hears of its events before they come; worth it where thousands of devices exist.
class event_hints {
public:
    /// Brings near what on_event(a, kind) will touch. `stage` 0 comes well before stage 1, which may read what stage 0
    /// has fetched. Must change nothing.
    virtual void announce(std::uint32_t a, std::uint8_t kind, int stage) const = 0;

protected:
    ~event_hints() = default;
};

/// Something that others use, and that can bring near what their next use of it will touch.
class use_hints {
public:
    /// `what`: for a way into a fabric, the destination of the packet that will be sent. Must change nothing.
    virtual void bring_near(std::uint32_t what) const = 0;

protected:
    ~use_hints() = default;
};

/// Of `used`, where it has any; else, and without hints, nullptr.
template <class T> const use_hints* hints_of(const T* used)
{
    return k_cache_hints ? dynamic_cast<const use_hints*>(used) : nullptr;
}

} // namespace weft
