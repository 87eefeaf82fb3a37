// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/address_text.h"

#include "hw/abi/ccu.h"
#include "hw/abi/nic.h"
#include "hw/abi/platform_table.h"
#include "hw/abi/registers.h"

#include <fmt/format.h>
#include <iterator>

namespace weft {

namespace {

constexpr std::uint64_t k_window_bytes = 0x1'0000;

struct register_block {
    const char* name;
    std::uint64_t base;
    std::uint64_t bytes;
    const abi::reg_row* rows;
    std::size_t count;
};
constexpr register_block k_blocks[] = {
    {"DMA", abi::k_dma_base, k_window_bytes, abi::k_dma_rows, std::size(abi::k_dma_rows)},
    {"MAILBOX", abi::k_mailbox_base, k_window_bytes, abi::k_mailbox_rows, std::size(abi::k_mailbox_rows)},
    {"NIC", abi::k_nic_base, k_window_bytes, abi::k_nic_rows, std::size(abi::k_nic_rows)},
    {"SYNC", abi::k_sync_base, k_window_bytes, abi::k_sync_rows, std::size(abi::k_sync_rows)},
    {"CCU0", abi::ccu::k_base, k_window_bytes, abi::k_ccu_rows, std::size(abi::k_ccu_rows)},
    {"CCU1", abi::ccu::k_base + abi::ccu::k_die_stride, k_window_bytes, abi::k_ccu_rows, std::size(abi::k_ccu_rows)},
    {"CORE", abi::k_core_base, abi::k_core_bytes, abi::k_core_rows, std::size(abi::k_core_rows)}};

std::string register_text(const register_block& block, std::uint64_t offset)
{
    for (std::size_t i = 0; i < block.count; ++i) {
        const abi::reg_row& r = block.rows[i];
        if (r.count == 1 && r.offset == offset)
            return fmt::format("{}.{}", block.name, r.name);
        if (r.count > 1 && offset >= r.offset && (offset - r.offset) % r.stride == 0 &&
            (offset - r.offset) / r.stride < r.count)
            return fmt::format("{}.{}({})", block.name, r.name, (offset - r.offset) / r.stride);
    }
    return fmt::format("{} + {:#x}", block.name, offset);
}

} // namespace

std::string address_text(std::uint64_t address)
{
    const auto inside = [&](std::uint64_t base, std::uint64_t bytes) {
        return address >= base && address - base < bytes;
    };
    for (const register_block& block : k_blocks)
        if (inside(block.base, block.bytes))
            return register_text(block, address - block.base);
    if (inside(abi::k_platform_table_address, sizeof(abi::platform_table)))
        return "the platform table";
    if (inside(abi::k_command_address, sizeof(abi::command)))
        return "the command";
    if (inside(abi::k_response_address, sizeof(abi::response)))
        return "the response";
    if (address >= abi::k_hbm_base)
        return "HBM";
    return fmt::format("{:#x}", address);
}

std::string bits_text(const std::string& where, std::uint32_t value)
{
    std::string text;
    for (const register_block& block : k_blocks)
        for (std::size_t i = 0; i < block.count; ++i) {
            if (where != fmt::format("{}.{}", block.name, block.rows[i].name))
                continue;
            const std::string doc = block.rows[i].doc; // "Bit 0: bad descriptor. Bit 1: memory error."
            for (unsigned bit = 0; bit < 32; ++bit) {
                if ((value >> bit & 1) == 0)
                    continue;
                const std::string label = fmt::format("Bit {}: ", bit);
                const std::size_t at = doc.find(label);
                std::string meaning = fmt::format("bit {}", bit);
                if (at != std::string::npos)
                    meaning = doc.substr(at + label.size(), doc.find('.', at) - at - label.size());
                text += (text.empty() ? "" : ", ") + meaning;
            }
            return doc.find("Bit ") == std::string::npos ? "" : text;
        }
    return text;
}

} // namespace weft
