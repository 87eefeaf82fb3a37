// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Packets of the gdb remote serial protocol ("Debugging with gdb", appendix E): $payload#checksum, with escapes and
// run-length encoding. Pure C++; any bytes may come in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace weft {

/// Longest payload that is taken or made, in bytes; gdb is told.
inline constexpr std::size_t k_rsp_packet_bytes = 0x4000;

/// The packet as it goes over the line. Only replies may be run-length encoded.
std::string encode_rsp_packet(const std::string& payload, bool run_length);

struct rsp_event {
    enum class kind : std::uint8_t { packet, ack, nak, interrupt, damaged };
    kind what = kind::damaged;
    std::string payload; ///< of a packet, without escapes
};

/// Bytes of the line, in any pieces, to events. What stands between packets is skipped, as are packets that are too
/// long; a packet that breaks off is dropped when the next one begins.
class rsp_reader {
public:
    /// `expands_runs`: for the side that receives replies.
    explicit rsp_reader(bool expands_runs = false) : expands_runs_(expands_runs) {}

    void feed(const std::string& bytes) { pending_ += bytes; }
    std::optional<rsp_event> next();

private:
    enum class state : std::uint8_t { outside, payload, first_digit, second_digit };
    rsp_event finish(char second_digit);

    bool expands_runs_;
    std::string pending_;
    std::size_t at_ = 0; // in pending_
    state state_ = state::outside;
    std::string raw_;
    char first_digit_ = 0;
};

/// Two hexadecimal digits a byte, and back; nothing when it is not that.
std::string to_hex(const std::string& bytes);
std::optional<std::string> from_hex(const std::string& digits);

} // namespace weft
