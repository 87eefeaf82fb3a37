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
inline char* put_number(char* to, std::uint64_t number)
{
    if (number < 10) {
        *to = static_cast<char>('0' + number);
        return to + 1;
    }
    char digits[k_most_digits];
    std::size_t first = k_most_digits;
    for (; number != 0; number /= 10)
        digits[--first] = static_cast<char>('0' + number % 10);
    std::memcpy(to, digits + first, k_most_digits - first);
    return to + (k_most_digits - first);
}

} // namespace weft
