// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rings of the Ethernet NIC, in HBM. A queue has a send ring of 128-byte entries and a receive ring of 2 KiB entries;
// both are indexed by running counts (nic_regs.def) modulo their length.
//
// Sending. One entry is one frame or one RDMA message:
//   k_send_frame   the frame is header[0 .. header_bytes) followed by payload_bytes at payload_offset in HBM.
//   k_send_write   RDMA write over queue pair `queue_pair` (RoCE v2, unreliable connected): payload_bytes at
//                  payload_offset go as packets of `packet_payload_bytes`, write-first/middle/last-immediate or
//                  only-immediate. header[0 .. 42) holds Ethernet, IPv4 and UDP headers of a full packet; the NIC
//                  corrects the lengths and the checksum. BTH, RETH and immediate are made from the fields here; the
//                  PSN counts on per queue pair.
//   k_send_measure sends nothing: completes on the receive ring with the exponent of the largest magnitude of
//   payload_bytes at
//                  payload_offset (float32), as conversion `exponent_of` of hw/abi/block_float.h.
// Sending and receiving convert between what is in memory (little-endian words of the host) and the network's
// big-endian 32-bit integers, as `send_format` and `receive_format` say. This stands for the conversion kernels that
// SwitchML runs on cores (UDP: there firmware converts and uses as_is) or on the accelerator (RDMA, section 6.3 of the
// paper): inline, at memory rate.
//
// Receiving. A frame takes the next receive entry of its queue: completion first, then the whole frame. RDMA packets of
// a queue pair this NIC knows are written to memory at the address of their RETH (an offset in HBM); only the end of
// the message takes an entry, without data, in the queue that last posted a write on this queue pair (queue 0 before
// any). A message with a missing packet takes none (unreliable connected: its remainder is dropped).
// The answer to a write comes back with the RETH of the write. A queue pair remembers its last two writes: a message
// takes format and scale of the one whose remote address it carries. A message for another address takes those of the
// last write, unless that is quantised: the scale would be wrong, so the message is dropped and counted.
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::abi {

inline constexpr std::uint64_t k_nic_base = 0x1002'0000;
inline constexpr std::uint32_t k_irq_nic =
    1u << 2; ///< interrupt line of the NIC at the core that owns the queue: q % cores
inline constexpr std::uint32_t k_max_nic_queues = 16;
inline constexpr std::uint32_t k_nic_send_entry_bytes = 128;
inline constexpr std::uint32_t k_nic_receive_entry_bytes = 2048;
inline constexpr std::uint32_t k_nic_inline_header_bytes = 64;

enum class nic_send : std::uint8_t { frame = 0, write = 1, measure = 2 };
enum class nic_format : std::uint8_t {
    as_is = 0,  ///< bytes
    swap32 = 1, ///< int32 words to and from big-endian
    quantised =
        2, ///< float32 to and from big-endian int32: times `scale`, rounded half away from zero; back: divided by it
};

struct alignas(8) nic_send_entry {
    nic_send what = nic_send::frame;
    nic_format send_format = nic_format::as_is;
    nic_format receive_format = nic_format::as_is; ///< write: of the answer on the same queue pair
    std::uint8_t header_bytes = 0;                 ///< at most k_nic_inline_header_bytes
    std::uint32_t payload_bytes = 0;
    std::uint64_t payload_offset = 0; ///< in HBM
    std::uint64_t remote_address = 0; ///< write: of the RETH
    std::uint32_t remote_key = 0;     ///< write
    std::uint32_t queue_pair = 0;     ///< write: own number, below QUEUE_PAIRS
    std::uint32_t remote_queue_pair = 0;
    std::uint32_t immediate = 0;
    std::uint16_t packet_payload_bytes = 0; ///< write: 256 or 1024
    std::uint16_t workers = 1;              ///< quantised: words saturate at +-(2^31 - 1) / workers
    float scale = 1;                        ///< of both formats, neither negative nor infinite
    std::uint64_t check = 0;                ///< check_word of everything before it
    std::uint8_t header[k_nic_inline_header_bytes] = {};
    std::uint64_t reserved = 0;
};
static_assert(sizeof(nic_send_entry) == k_nic_send_entry_bytes, "entry layout is part of the ABI");

enum class nic_event : std::uint32_t {
    frame = 1,   ///< `bytes` bytes of frame follow the completion
    message = 2, ///< an RDMA message is wholly in memory; `immediate` and `queue_pair` tell which
    measured = 3 ///< `immediate` holds the exponent (sign-extended), `queue_pair` that of the send entry
};
struct nic_completion {
    nic_event what = nic_event::frame;
    std::uint32_t bytes = 0;
    std::uint32_t immediate = 0;
    std::uint32_t queue_pair = 0; ///< own number
};
static_assert(sizeof(nic_completion) == 16, "completion layout is part of the ABI");

} // namespace weft::abi
