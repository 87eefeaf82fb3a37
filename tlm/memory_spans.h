// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a memory, span by span: its pages need not be neighbours. What is asked for lies in the memory.
#pragma once

#include "tlm/mem_socket.h"

#include <cstdint>
#include <cstring>

namespace weft {

/// use(done, from, got): `got` bytes at `from`, `done` behind `offset`.
template <class Use> void read_spans(const memory_if& memory, std::uint64_t offset, std::uint64_t bytes, Use&& use)
{
    for (std::uint64_t done = 0, got = 0; done < bytes; done += got) {
        const std::uint8_t* const from = memory.span_for_read(offset + done, bytes - done, got);
        use(done, from, got);
    }
}

/// use(done, to, got), likewise.
template <class Use> void write_spans(memory_if& memory, std::uint64_t offset, std::uint64_t bytes, Use&& use)
{
    for (std::uint64_t done = 0, got = 0; done < bytes; done += got) {
        std::uint8_t* const to = memory.span_for_write(offset + done, bytes - done, got);
        use(done, to, got);
    }
}

inline void copy_from(const memory_if& memory, std::uint64_t offset, std::uint8_t* to, std::uint64_t bytes)
{
    read_spans(memory, offset, bytes, [to](std::uint64_t done, const std::uint8_t* from, std::uint64_t got) { std::memcpy(to + done, from, got); });
}

inline void copy_to(memory_if& memory, std::uint64_t offset, const std::uint8_t* from, std::uint64_t bytes)
{
    write_spans(memory, offset, bytes, [from](std::uint64_t done, std::uint8_t* to, std::uint64_t got) { std::memcpy(to, from + done, got); });
}

} // namespace weft
