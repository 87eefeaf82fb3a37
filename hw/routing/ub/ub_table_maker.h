// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the linear table of one router of a UB fabric, segment by segment.
#pragma once

#include "hw/abi/ub.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

using ub_entries = std::vector<abi::ub::table_entry>;

inline abi::ub::table_entry ub_to_port(std::uint32_t port, std::uint32_t ways = 1)
{
    return {static_cast<std::uint8_t>(port), static_cast<std::uint8_t>(ways)};
}
/// Port of a mesh dimension toward coordinate `to` at one whose own coordinate `own` is left out.
inline std::uint32_t ub_mesh_port(std::uint32_t own, std::uint32_t to) { return to < own ? to : to - 1; }
/// Entries by coordinate of a mesh dimension whose ports begin at `first`; the own one is empty.
inline ub_entries ub_mesh_entries(std::uint32_t first, std::uint32_t own, std::uint32_t size)
{
    ub_entries e(size);
    for (std::uint32_t to = 0; to < size; ++to)
        if (to != own)
            e[to] = ub_to_port(first + ub_mesh_port(own, to));
    return e;
}
/// Entry i is port first + i % modulo.
inline ub_entries ub_row_of_ports(std::uint32_t count, std::uint32_t modulo)
{
    ub_entries e(count);
    for (std::uint32_t i = 0; i < count; ++i)
        e[i] = ub_to_port(i % modulo);
    return e;
}

/// By kind_and_unit: NPUs of a board, spare NPU, CPUs, NICs.
class ub_by_kind {
public:
    /// The first `count` of a kind.
    template <class F> ub_by_kind& set(abi::ub::node_kind kind, std::uint32_t count, F&& entry_of)
    {
        for (std::uint32_t j = 0; j < count; ++j)
            entries[static_cast<std::uint32_t>(kind) * 8 + j] = entry_of(j);
        return *this;
    }
    ub_by_kind& set_all(abi::ub::node_kind kind, std::uint32_t count, abi::ub::table_entry e)
    {
        return set(kind, count, [e](std::uint32_t) { return e; });
    }
    ub_entries entries{32};
};

class ub_table_maker {
public:
    ub_table_maker& step(abi::ub::segment what, const ub_entries& e, bool always = false,
                         abi::ub::segment condition = abi::ub::segment::itself)
    {
        abi::ub::table_step s;
        s.what = what;
        s.always = always;
        s.condition = condition;
        s.first = static_cast<std::uint16_t>(entries.size());
        s.count = static_cast<std::uint16_t>(e.size());
        steps.push_back(s);
        entries.insert(entries.end(), e.begin(), e.end());
        return *this;
    }
    /// The same entries as the step before, asked on another condition.
    ub_table_maker& again(abi::ub::segment condition)
    {
        abi::ub::table_step s = steps.back();
        s.always = false;
        s.condition = condition;
        steps.push_back(s);
        return *this;
    }

    std::vector<abi::ub::table_step> steps;
    ub_entries entries;
};

} // namespace weft
