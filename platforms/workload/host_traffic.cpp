// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/host_traffic.h"

#include "platforms/workload/digest.h"
#include "tlm/memory_spans.h"

#include <cstring>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::size_t k_most_streams = 16;
constexpr std::uint64_t k_most_messages = 1 << 20; ///< of one chip's state: each has a number and a record

/// Word `index` (of 8 B) of the contents with this key.
std::uint64_t host_word(std::uint64_t key, std::uint64_t index) { return mix64(key + index); }
} // namespace

std::vector<config_problem> host_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    if (!any())
        p.push_back({severity::error, "", "has neither traffic nor checkpoint; leave it out, or write for example \"checkpoint: {state: 16 MiB}\"."});
    if (traffic.size() > k_most_streams)
        p.push_back({severity::error, "traffic", fmt::format("has {} entries, must be at most {}.", traffic.size(), k_most_streams)});
    if (checkpoint && checkpoint->message.value() != 0 && checkpoint->messages() > k_most_messages)
        p.push_back({severity::error, "checkpoint.message",
                     fmt::format("is {}: a state of {} makes {} messages, must be at most {}; write {} or more.", to_string(checkpoint->message),
                                 to_string(checkpoint->state), checkpoint->messages(), k_most_messages,
                                 to_string(data_size((checkpoint->state.value() / k_most_messages / 8 + 1) * 8)))});
    return p;
}

std::uint64_t host_config::memory_bytes() const
{
    std::uint64_t bytes = checkpoint ? checkpoint->state.value() : 0;
    for (const host_stream_config& s : traffic)
        bytes += host_stream_config::k_outstanding * s.message.value();
    return bytes;
}

std::uint64_t host_state_key(std::uint64_t seed, std::uint32_t position, std::uint32_t checkpoint)
{
    return mix64(seed ^ mix64((std::uint64_t{checkpoint} << 32 | position) + 1));
}

std::uint64_t host_message_key(std::uint64_t seed, std::uint32_t number) { return mix64(~seed ^ mix64(std::uint64_t{number} + 1)); }

// Spans of memories are whole words: their pages are, and so are offsets.

void write_contents(memory_if& memory, std::uint64_t offset, std::uint64_t bytes, std::uint64_t key, std::uint64_t first_word)
{
    write_spans(memory, offset, bytes, [&](std::uint64_t done, std::uint8_t* to, std::uint64_t got) {
        for (std::uint64_t b = 0; b < got; b += 8) {
            const std::uint64_t word = host_word(key, first_word + (done + b) / 8);
            std::memcpy(to + b, &word, 8);
        }
    });
}

found_contents contents_of(const memory_if& memory, std::uint64_t offset, std::uint64_t bytes, std::uint64_t key, std::uint64_t first_word)
{
    found_contents found;
    read_spans(memory, offset, bytes, [&](std::uint64_t done, const std::uint8_t* from, std::uint64_t got) {
        for (std::uint64_t b = 0; b < got; b += 8) {
            const std::uint64_t index = first_word + (done + b) / 8;
            std::uint64_t word = 0;
            std::memcpy(&word, from + b, 8);
            found.wrong_bytes += word != host_word(key, index) ? 8 : 0;
            found.checksum += mix64(word ^ mix64(index + 1));
        }
    });
    return found;
}

} // namespace weft
