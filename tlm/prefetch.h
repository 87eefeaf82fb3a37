// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hints to the cache of the host. Nothing that is simulated depends on them.
#pragma once

#include <cstddef>

namespace weft {

/// Brings the cache line at `at` near. The empty statement is a side effect for the compiler: GCC takes a function that does nothing but
/// prefetch for one without effect, and drops the calls of it.
inline void fetch_line(const void* at)
{
    __builtin_prefetch(at);
    asm volatile("" : : "r"(at));
}

/// All lines of `bytes` bytes from `at` on; the last one only where `at` is aligned to a line.
inline void fetch_lines(const void* at, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; i += 64)
        fetch_line(static_cast<const char*>(at) + i);
}

} // namespace weft
