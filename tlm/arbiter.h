// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Round-robin arbitration over a mask of requests.
#pragma once

#include <cstdint>
#include <utility>

namespace weft {

inline constexpr std::uint32_t k_no_grant = 0xffff'ffff;

/// round_robin() over a mask that is made word by word: requests_of(word).
template <class Requests, class Grant>
std::uint32_t round_robin_over(Requests&& requests_of, std::uint32_t words, std::uint32_t pointer, Grant&& grant)
{
    const std::uint32_t start = pointer >= words * 64 ? 0 : pointer; // the number after the last one is the first
    const std::uint64_t from_start = ~std::uint64_t{0} << (start % 64);
    std::uint32_t word = start / 64;
    std::uint64_t requests = requests_of(word) & from_start;
    for (std::uint32_t passed = 0;; ++passed) {
        for (; requests != 0; requests &= requests - 1) {
            const std::uint32_t number = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(requests));
            if (grant(number))
                return number;
        }
        if (passed == words)
            return k_no_grant;
        word = word + 1 == words ? 0 : word + 1;
        requests = requests_of(word);
        if (passed + 1 == words) // the first word again: what lies before the start
            requests &= ~from_start;
    }
}

/// Offers the requests of `mask` (`words` words of 64) one after the other to `grant`, from number `pointer` upwards
/// and then from zero, until it returns true. `grant(number)` may refuse, for example because credits are missing; it
/// may clear the bit it grants. Returns the number granted, or k_no_grant. The next pointer after a grant is that
/// number + 1: whoever was served comes last.
template <class Grant>
std::uint32_t round_robin(const std::uint64_t* mask, std::uint32_t words, std::uint32_t pointer, Grant&& grant)
{
    return round_robin_over([mask](std::uint32_t word) { return mask[word]; }, words, pointer,
                            std::forward<Grant>(grant));
}

/// The request that round_robin() would offer first; k_no_grant when there is none.
inline std::uint32_t first_request(const std::uint64_t* mask, std::uint32_t words, std::uint32_t pointer)
{
    return round_robin(mask, words, pointer, [](std::uint32_t) { return true; });
}

/// Packets that requesters of several packets at once have had, on one scale: whoever has had least goes next, so that
/// all get equal shares of packets (start-time fair queueing; Goyal, Vin and Cheng, 1996). With single packets of all
/// it is round robin.
struct fair_turn {
    std::uint64_t now = 0;    ///< what the requester that was served last had had before
    std::uint64_t latest = 0; ///< the most that one has had

    /// A requester that has had `had` is granted `packets`: returns what it has had then.
    std::uint64_t grant(std::uint64_t had, std::uint32_t packets)
    {
        now = had > now ? had : now;
        latest = now + packets > latest ? now + packets : latest;
        return now + packets;
    }
    /// Nobody waits: what was had before does not count.
    void forget() { now = latest; }
};

/// round_robin_over() among requesters of trains. `had(number)`: as in fair_turn. `grant(number, first)`: `first` if
/// nobody has had less.
template <class Requests, class Had, class Grant>
std::uint32_t fair_round_robin_over(Requests&& requests_of, std::uint32_t words, std::uint32_t pointer, const fair_turn& turn,
                                    Had&& had, Grant&& grant)
{
    std::uint32_t best = k_no_grant;
    std::uint64_t least = ~std::uint64_t{0};
    round_robin_over(
        requests_of, words, pointer, [&](std::uint32_t number) {
            const std::uint64_t of_number = had(number);
            const std::uint64_t start = of_number > turn.now ? of_number : turn.now;
            const bool first = start == turn.now;
            if (start >= least || !grant(number, first))
                return false;
            best = number;
            least = start;
            return first;
        });
    return best;
}

} // namespace weft
