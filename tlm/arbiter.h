// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Round-robin arbitration over a mask of requests. Plain C++; the arbiters in rtl/common carry the same name and order.
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

/// Offers the requests of `mask` (`words` words of 64) one after the other to `grant`, from number `pointer` upwards and then
/// from zero, until it returns true. `grant(number)` may refuse, for example because credits are missing; it may clear the bit
/// it grants. Returns the number granted, or k_no_grant. The next pointer after a grant is that number + 1: whoever was served
/// comes last.
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

/// Round robin among requesters of which some have had turns before their time: a train takes one turn for each of its packets. Whoever is
/// ahead lets the others go until they have had as many; where all are ahead, the one that is so least goes. `choose(grant)` is the
/// round robin, `turns_ahead(number)` a counter, `for_each(f)` calls f with every requester.
template <class Choose, class Grant, class Turns, class Each>
std::uint32_t round_robin_by_turns(Choose&& choose, Grant&& may_go, Turns&& turns_ahead, Each&& for_each)
{
    bool ahead = false;
    const std::uint32_t granted = choose([&](std::uint32_t number) {
        auto& turns = turns_ahead(number);
        if (turns == 0)
            return may_go(number);
        --turns;
        ahead = true;
        return false;
    });
    if (granted != k_no_grant || !ahead)
        return granted;
    std::uint32_t least = k_no_grant;
    choose([&](std::uint32_t number) {
        if (turns_ahead(number) < least && may_go(number))
            least = turns_ahead(number);
        return false;
    });
    if (least == k_no_grant)
        return least;
    for_each([&](std::uint32_t number) {
        auto& turns = turns_ahead(number);
        turns -= turns < least ? turns : least;
    });
    return choose([&](std::uint32_t number) { return turns_ahead(number) == 0 && may_go(number); });
}

} // namespace weft
