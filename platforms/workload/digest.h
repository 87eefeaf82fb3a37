// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// 64-bit streaming digest of result data: four independent multiply-rotate-multiply lanes over 32-byte stripes and a
// final avalanche. Detects accidents, not attacks. Bytes are read as little-endian words whatever the host is, and the
// value depends only on the byte stream, not on how update() cut it. Results files carry it: changing it is a change of
// format, and a golden test holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weft {

/// Bijective mixing of 64 bits (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t v)
{
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
    return v ^ (v >> 31);
}

class digest64 {
public:
    void update(const void* data, std::size_t bytes)
    {
        const auto* p = static_cast<const std::uint8_t*>(data);
        total_bytes_ += bytes;
        if (pending_bytes_ > 0) {
            const std::size_t room = k_stripe_bytes - pending_bytes_;
            const std::size_t taken = bytes < room ? bytes : room;
            copy(p, taken);
            p += taken;
            bytes -= taken;
            if (pending_bytes_ < k_stripe_bytes)
                return;
            stripe(pending_);
            pending_bytes_ = 0;
        }
        for (; bytes >= k_stripe_bytes; p += k_stripe_bytes, bytes -= k_stripe_bytes)
            stripe(p);
        copy(p, bytes);
    }

    /// The eight bytes of `value`, least significant first.
    void update_u64(std::uint64_t value)
    {
        std::uint8_t bytes[8];
        for (unsigned i = 0; i < 8; ++i)
            bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
        update(bytes, sizeof bytes);
    }

    /// Digest of everything so far; more may follow.
    std::uint64_t value() const
    {
        std::uint64_t h = mix64(total_bytes_ + k_add);
        for (const std::uint64_t lane : lanes_)
            h = (h ^ mix64(lane)) * k_multiply + k_add;
        for (std::size_t i = 0; i < pending_bytes_; ++i)
            h = (h ^ pending_[i]) * k_multiply + k_add;
        return mix64(h);
    }

private:
    static constexpr std::size_t k_stripe_bytes = 32;
    static constexpr std::uint64_t k_multiply = 0x9e3779b97f4a7c15ull; // 2^64 / golden ratio, odd
    static constexpr std::uint64_t k_second = 0xd6e8feb86659fd93ull;   // odd, bits well spread
    static constexpr std::uint64_t k_add = 0xd1b54a32d192ed03ull;

    static std::uint64_t load(const std::uint8_t* p)
    {
        std::uint64_t v = 0;
        for (unsigned i = 0; i < 8; ++i) // compilers make one load of it
            v |= static_cast<std::uint64_t>(p[i]) << (8 * i);
        return v;
    }
    void stripe(const std::uint8_t* p)
    {
        for (unsigned i = 0; i < 4; ++i) {
            // Multiplications before and after: with one, the top bit of a word comes out as a single bit, which a
            // single bit of the next word could cancel.
            const std::uint64_t v = lanes_[i] + load(p + 8 * i) * k_multiply;
            lanes_[i] = ((v << 31) | (v >> 33)) * k_second;
        }
    }
    void copy(const std::uint8_t* p, std::size_t bytes)
    {
        if (bytes > 0)
            std::memcpy(pending_ + pending_bytes_, p, bytes);
        pending_bytes_ += bytes;
    }

    std::uint64_t lanes_[4] = {0x243f6a8885a308d3ull, 0x13198a2e03707344ull, 0xa4093822299f31d0ull,
                               0x082efa98ec4e6c89ull};
    std::uint8_t pending_[k_stripe_bytes] = {};
    std::size_t pending_bytes_ = 0;
    std::uint64_t total_bytes_ = 0;
};

/// 16 hexadecimal digits of the digest of a text, or of what a file holds; of one that cannot be read, as if it were
/// empty.
std::string digest_of_text(std::string_view text);
std::string digest_of_file(const std::string& file);

} // namespace weft
