// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Text and numbers into memory that has room for them, for records of which a run writes millions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace weft {

inline constexpr std::size_t k_most_digits = 20; ///< of 64 bits

/// Behind what has been put there.
inline char* put_text(char* to, std::string_view text)
{
    std::memcpy(to, text.data(), text.size());
    return to + text.size();
}
inline constexpr char k_pairs_of_digits[] =
    "0001020304050607080910111213141516171819"
    "2021222324252627282930313233343536373839"
    "4041424344454647484950515253545556575859"
    "6061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";
/// Two digits of a number below 100.
inline char* put_pair(char* to, std::uint64_t number)
{
    std::memcpy(to, k_pairs_of_digits + 2 * number, 2);
    return to + 2;
}
/// There must be room for k_most_digits, whatever the number: so many are copied, which is faster than only some.
inline char* put_number(char* to, std::uint64_t number)
{
    if (number < 10) {
        *to = static_cast<char>('0' + number);
        return to + 1;
    }
    char digits[2 * k_most_digits] = {};
    char* first = digits + k_most_digits;
    for (; number >= 100; number /= 100)
        put_pair(first -= 2, number % 100);
    if (number >= 10)
        put_pair(first -= 2, number);
    else
        *--first = static_cast<char>('0' + number);
    std::memcpy(to, first, k_most_digits);
    return to + (digits + k_most_digits - first);
}

} // namespace weft
