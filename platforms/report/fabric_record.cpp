// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/fabric_record.h"

#include <algorithm>

namespace weft {

namespace {
/// `bytes` bytes of `value`, the first one the highest.
void put_big(std::string& to, std::uint64_t value, unsigned bytes)
{
    while (bytes-- > 0)
        to += static_cast<char>(value >> 8 * bytes & 0xff);
}
} // namespace

std::string fabric_record(const packet& p, std::string_view platform, std::uint32_t longest)
{
    std::string r = "WF";
    r.reserve(k_fabric_record_bytes);
    put_big(r, 2, 1);
    for (const std::uint8_t one : {p.flags, p.vl, p.write_op, p.element, p.destination_port})
        put_big(r, one, 1);
    for (const std::uint32_t one : {p.source, p.destination, p.message, p.semaphore, p.packet_number, p.packet_count})
        put_big(r, one, 4);
    put_big(r, p.destination_offset, 8);
    put_big(r, p.wire_bytes, 4);
    put_big(r, p.payload_bytes, 4);
    for (unsigned i = 0; i < 8; ++i)
        r += static_cast<char>(p.route >> 8 * i & 0xff);
    constexpr std::size_t k_letters = 8;
    r.append(platform.substr(0, k_letters)).append(k_letters - std::min(k_letters, platform.size()), '\0');
    const std::uint32_t room = longest == 0 ? p.payload_bytes : longest - std::min(longest, k_fabric_record_bytes);
    if (p.payload != nullptr)
        r.append(reinterpret_cast<const char*>(p.payload), std::min(p.payload_bytes, room));
    return r;
}

} // namespace weft
