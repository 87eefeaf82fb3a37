// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What packets between CCUs say, in the fields that the fabric carries for receivers (tlm/packet.h). What a packet asks
// for stands in its headers: 52 B of network, transport and transaction headers hold it.
//
//   semaphore            kind, status code, index (register, check-bit segment of a transfer)
//   message              transfer of the unit that began it; answers name it
//   destination_offset   token and address; slice; value of a register; of data and answers: byte offset in the
//                        transfer
//   message_packets      packets of the segment; of a request: bytes that are asked for
//   semaphore_message    check-bit entry and mask of the receiver
#pragma once

#include "hw/abi/ccu.h"
#include "tlm/packet.h"

#include <cstdint>

namespace weft {

enum class ccu_message : std::uint8_t {
    write_memory,
    write_slice,
    read_memory, ///< a request
    read_slice,  ///< a request
    data,        ///< what was asked for
    bits,
    address_register,
    general_register,
    acknowledge, ///< of a segment, or with a status code of what was refused
};

/// packet::semaphore of CCU packets.
struct ccu_header {
    ccu_message kind = ccu_message::bits;
    abi::ccu::status code = abi::ccu::status::ok;
    std::uint16_t index = 0;

    constexpr std::uint32_t bits() const
    {
        return static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(code) << 8 | std::uint32_t{index} << 16;
    }
    static constexpr ccu_header of(std::uint32_t bits)
    {
        return {static_cast<ccu_message>(bits & 0xff), static_cast<abi::ccu::status>(bits >> 8 & 0xff), static_cast<std::uint16_t>(bits >> 16)};
    }
};

/// Address of a memory and the token that opens it, as packet::destination_offset.
inline constexpr unsigned k_token_shift = 44;
constexpr std::uint64_t with_token(std::uint64_t address, std::uint64_t token)
{
    return (address & ((std::uint64_t{1} << k_token_shift) - 1)) | token << k_token_shift;
}
constexpr std::uint64_t address_of(std::uint64_t offset) { return offset & ((std::uint64_t{1} << k_token_shift) - 1); }
constexpr std::uint32_t token_of(std::uint64_t offset) { return static_cast<std::uint32_t>(offset >> k_token_shift); }

} // namespace weft
