// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/reg_file.h"

#include "tlm/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft {

const char* to_string(reg_status s)
{
    switch (s) {
    case reg_status::ok: return "ok";
    case reg_status::unknown_offset: return "no register at this offset";
    case reg_status::bad_width: return "access width differs from the register's width";
    case reg_status::read_only: return "register is read only";
    }
    return "?";
}

void reg_file::build()
{
    std::vector<std::pair<std::uint64_t, std::uint64_t>> spans; // [first, last + 1) of every element
    std::uint32_t slots = 0;
    for (auto& row : rows_) {
        const std::uint32_t width_bytes = row.width_bits / 8;
        if ((row.width_bits != 32 && row.width_bits != 64) || row.count == 0)
            throw bug(block_, 0,
                      fmt::format("register {} has width {}, count {}", row.name, row.width_bits, row.count));
        if (row.offset % width_bytes != 0 || row.stride % width_bytes != 0)
            throw bug(block_, 0, fmt::format("register {} is not aligned to its width", row.name));
        if (row.count > 1 && row.stride == 0)
            throw bug(block_, 0, fmt::format("register array {} has no stride", row.name));
        if (row.count == 1)
            row.stride = 0;
        for (std::uint32_t i = 0; i < row.count; ++i) {
            const std::uint64_t first = row.offset + std::uint64_t{row.stride} * i;
            spans.emplace_back(first, first + width_bytes);
        }
        spans_.push_back({row.offset, row.count == 1 ? 1 : row.stride * row.count, row.stride});
        entries_.push_back({slots, -1, -1});
        slots += row.count;
    }
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i)
        if (spans[i].first < spans[i - 1].second)
            throw bug(block_, 0, fmt::format("two registers overlap at offset {:#x}", spans[i].first));
    values_.resize(slots);
    reset();
}

void reg_file::reset()
{
    for (std::size_t r = 0; r < rows_.size(); ++r)
        std::fill_n(values_.begin() + entries_[r].first_slot, rows_[r].count, rows_[r].reset);
}

bool reg_file::holds(std::uint32_t row, std::uint64_t offset, std::uint32_t& index) const
{
    const span& s = spans_[row];
    const std::uint64_t distance = offset - s.offset;
    if (distance >= s.bytes || (distance != 0 && distance % s.stride != 0))
        return false;
    index = distance == 0 ? 0 : static_cast<std::uint32_t>(distance / s.stride);
    return true;
}

reg_file::place reg_file::find(std::uint64_t offset) const
{
    // Firmware comes back to the same few registers: one guess for each of 16 classes of offsets. No two rows hold the
    // same one.
    std::uint8_t& guess = guesses_[offset / 4 % std::size(guesses_)];
    std::uint32_t index = 0;
    if (guess < spans_.size() && holds(guess, offset, index))
        return {guess, index, true};
    // A table has some twenty rows: a scan is as fast as any index and needs little memory per device.
    for (std::uint32_t r = 0; r < spans_.size(); ++r)
        if (holds(r, offset, index)) {
            guess = static_cast<std::uint8_t>(r); // of rows beyond 255 another one, which will not hold it
            return {r, index, true};
        }
    return {0, 0, false};
}

reg_status reg_file::check(std::uint64_t offset, std::uint32_t bytes, place& where) const
{
    where = find(offset);
    if (!where.found)
        return reg_status::unknown_offset;
    return bytes * 8 == rows_[where.row].width_bits ? reg_status::ok : reg_status::bad_width;
}

reg_status reg_file::read(std::uint64_t offset, std::uint32_t bytes, std::uint64_t& value)
{
    value = 0;
    place where{};
    if (const auto s = check(offset, bytes, where); s != reg_status::ok)
        return s;
    const auto& e = entries_[where.row];
    auto& stored = values_[e.first_slot + where.index];
    value = stored;
    if (rows_[where.row].access == reg_rights::rc)
        stored = 0;
    if (e.read_hook >= 0)
        value = read_hooks_[static_cast<std::size_t>(e.read_hook)](where.index, value);
    return reg_status::ok;
}

reg_status reg_file::write(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value)
{
    place where{};
    if (const auto s = check(offset, bytes, where); s != reg_status::ok)
        return s;
    const auto rights = rows_[where.row].access;
    if (rights == reg_rights::ro || rights == reg_rights::rc)
        return reg_status::read_only;
    if (bytes == 4)
        value &= 0xffff'ffffu;
    const auto& e = entries_[where.row];
    auto& stored = values_[e.first_slot + where.index];
    stored = rights == reg_rights::w1c ? stored & ~value : value;
    if (e.write_hook >= 0)
        write_hooks_[static_cast<std::size_t>(e.write_hook)](where.index, value);
    return reg_status::ok;
}

reg_status reg_file::peek(std::uint64_t offset, std::uint32_t bytes, std::uint64_t& value) const
{
    value = 0;
    place where{};
    const auto s = check(offset, bytes, where);
    if (s == reg_status::ok)
        value = values_[entries_[where.row].first_slot + where.index];
    return s;
}

reg_status reg_file::poke(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value)
{
    place where{};
    const auto s = check(offset, bytes, where);
    if (s == reg_status::ok)
        values_[entries_[where.row].first_slot + where.index] = bytes == 4 ? value & 0xffff'ffffu : value;
    return s;
}

std::size_t reg_file::slot_of(std::uint64_t offset) const
{
    const auto where = find(offset);
    if (!where.found)
        throw bug(block_, 0, fmt::format("there is no register at offset {:#x}", offset));
    return entries_[where.row].first_slot + where.index;
}

std::uint32_t reg_file::row_at(std::uint64_t row_offset) const
{
    const auto where = find(row_offset);
    if (!where.found || where.index != 0)
        throw bug(block_, 0, fmt::format("no register begins at offset {:#x}", row_offset));
    return where.row;
}

void reg_file::on_read(std::uint64_t row_offset, read_hook hook)
{
    entries_[row_at(row_offset)].read_hook = static_cast<std::int32_t>(read_hooks_.size());
    read_hooks_.push_back(std::move(hook));
}

void reg_file::on_write(std::uint64_t row_offset, write_hook hook)
{
    entries_[row_at(row_offset)].write_hook = static_cast<std::int32_t>(write_hooks_.size());
    write_hooks_.push_back(std::move(hook));
}

std::string reg_file::name_of(std::uint64_t offset) const
{
    const auto where = find(offset);
    if (!where.found)
        return fmt::format("{}+{:#x}", block_, offset);
    const auto& row = rows_[where.row];
    return row.count == 1 ? fmt::format("{}.{}", block_, row.name)
                          : fmt::format("{}.{}[{}]", block_, row.name, where.index);
}

} // namespace weft
