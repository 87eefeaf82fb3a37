// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Captured packets in files that Wireshark reads: pcapng (draft-ietf-opsawg-pcapng, quoted), one section,
// little-endian, nanoseconds.
//
// Simulated time is exact to picoseconds, readers only to nanoseconds: the rest stands in an option of ours in each
// packet (code 0x8001, one 32-bit word; codes from 0x8000 on are for local use). What a wire has done stands in the
// packet's flags (damaged: CRC error) and in its comment.
#pragma once

#include "platforms/report/output_file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

inline constexpr std::uint16_t k_link_type_ethernet = 1;
inline constexpr std::uint16_t k_link_type_fabric =
    147; ///< the first one that users give a meaning of their own (fabric_record.h)

struct pcapng_interface {
    std::string name;        ///< "cable_0 up"
    std::string description; ///< "nic(0) > switch"
    std::uint16_t link_type = k_link_type_ethernet;
    std::uint32_t longest = 0;  ///< bytes of a packet that are kept; 0: all
    std::uint64_t left_out = 0; ///< packets that are not in the file, as its statistics say; only of what was read
};

struct pcapng_packet {
    static constexpr std::uint32_t k_inbound = 1;
    static constexpr std::uint32_t k_crc_error = 1u << 24;

    std::uint32_t interface = 0;
    std::uint64_t time_ps = 0;
    std::uint32_t original_bytes = 0; ///< on the wire, of which `bytes` are the first
    std::uint32_t flags = 0;
    std::string bytes;
    std::string comment; ///< "": none
};

// Blocks, to be written in this order: section, interfaces, packets, statistics.
std::string pcapng_section(const std::string& comment);
std::string pcapng_block(const pcapng_interface& i);
/// `bytes` are not taken from `p`, so that they need not be copied for it.
void append_pcapng(std::string& to, const pcapng_packet& p, std::string_view bytes, std::string_view comment);
/// How many packets the interface has seen, and how many of them are not in the file.
std::string pcapng_statistics(std::uint32_t interface, std::uint64_t seen, std::uint64_t left_out);

/// A file of any writer, packet by packet: either byte order, any resolution of time, several sections. Blocks of
/// other kinds are passed over. Both functions throw user_error with file, byte and remedy.
class pcapng_reader {
public:
    explicit pcapng_reader(const std::string& path);
    ~pcapng_reader();
    pcapng_reader(pcapng_reader&&) noexcept;
    pcapng_reader& operator=(pcapng_reader&&) = delete;

    /// The next packet, in the order of the file; false: there are no more.
    bool next(pcapng_packet& p);
    /// Of all sections, up to the packet that was read last; at the end all, with what their statistics say.
    const std::vector<pcapng_interface>& interfaces() const;

private:
    class blocks;
    std::unique_ptr<blocks> blocks_;
};

} // namespace weft
