// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the compiler calls without being asked: a freestanding program brings its own. Compiled with
// -fno-tree-loop-distribute-patterns, or the loops would call themselves.
#include <cstddef>
#include <cstdint>

namespace {

using word [[gnu::may_alias]] = std::uint64_t;

// Words, and not __builtin_memcpy, which may become a call of memcpy.
template <unsigned Words> inline void copy_words(unsigned char* to, const unsigned char* from)
{
    const word* f = reinterpret_cast<const word*>(from);
    word* t = reinterpret_cast<word*>(to);
    word held[Words];
#pragma GCC unroll 4
    for (unsigned i = 0; i < Words; ++i)
        held[i] = f[i];
#pragma GCC unroll 4
    for (unsigned i = 0; i < Words; ++i)
        t[i] = held[i];
}

} // namespace

extern "C" {

[[noreturn]] void weft_halt(std::uint32_t code);

void* memcpy(void* to, const void* from, std::size_t bytes)
{
    auto* t = static_cast<unsigned char*>(to);
    const auto* f = static_cast<const unsigned char*>(from);
    if (((reinterpret_cast<std::uintptr_t>(t) | reinterpret_cast<std::uintptr_t>(f)) & 7) == 0) {
        for (; bytes >= 32; bytes -= 32, t += 32, f += 32)
            copy_words<4>(t, f);
        for (; bytes >= 8; bytes -= 8, t += 8, f += 8)
            copy_words<1>(t, f);
    }
    for (; bytes != 0; --bytes)
        *t++ = *f++;
    return to;
}

void* memmove(void* to, const void* from, std::size_t bytes)
{
    auto* t = static_cast<unsigned char*>(to);
    const auto* f = static_cast<const unsigned char*>(from);
    if (t <= f || t >= f + bytes)
        return memcpy(to, from, bytes);
    while (bytes-- != 0)
        t[bytes] = f[bytes];
    return to;
}

void* memset(void* to, int value, std::size_t bytes)
{
    auto* t = static_cast<unsigned char*>(to);
    const std::uint64_t eight = 0x0101'0101'0101'0101ull * static_cast<unsigned char>(value);
    if ((reinterpret_cast<std::uintptr_t>(t) & 7) == 0) {
        for (; bytes >= 32; bytes -= 32, t += 32) {
            word* words = reinterpret_cast<word*>(t);
            words[0] = words[1] = words[2] = words[3] = eight;
        }
        for (; bytes >= 8; bytes -= 8, t += 8)
            *reinterpret_cast<word*>(t) = eight;
    }
    for (; bytes != 0; --bytes)
        *t++ = static_cast<unsigned char>(value);
    return to;
}

int memcmp(const void* a, const void* b, std::size_t bytes)
{
    const auto* x = static_cast<const unsigned char*>(a);
    const auto* y = static_cast<const unsigned char*>(b);
    for (; bytes != 0; --bytes, ++x, ++y)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}

/// A virtual function of a class that is being built: cannot happen in a driver that compiles without warnings.
[[noreturn]] void __cxa_pure_virtual() { weft_halt(255); }

} // extern "C"
