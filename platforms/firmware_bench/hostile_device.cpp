// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/firmware_bench/hostile_device.h"

#include "hw/abi/registers.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

std::string register_text(const char* block, std::uint64_t offset, const abi::reg_row* rows, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        const abi::reg_row& r = rows[i];
        if (r.count == 1 && r.offset == offset)
            return fmt::format("{}.{}", block, r.name);
        if (r.count > 1 && offset >= r.offset && (offset - r.offset) % r.stride == 0 &&
            (offset - r.offset) / r.stride < r.count)
            return fmt::format("{}.{}({})", block, r.name, (offset - r.offset) / r.stride);
    }
    return fmt::format("{} + {:#x}", block, offset);
}

} // namespace

const std::vector<std::unique_ptr<hostile_device>>& hostile_devices()
{
    static const auto all = [] {
        std::vector<std::unique_ptr<hostile_device>> devices;
        add_register_devices(devices);
        add_access_devices(devices);
        add_interrupt_devices(devices);
        return devices;
    }();
    return all;
}

std::string error_text(std::uint32_t code, const std::string& where, std::uint64_t detail)
{
    static const char* const k_codes[] = {"ok",           "timeout",     "wrong_device", "wrong_version", "bus_error",
                                          "device_error", "bad_command", "unsupported",  "corrupted"};
    if (code == 0)
        return "ok";
    return fmt::format("{} at {} ({:#x})", code < std::size(k_codes) ? k_codes[code] : fmt::format("code {}", code),
                       where.empty() ? "?" : where, detail);
}

std::string expect_error(const rank_answer& answer, abi::status_code code, const std::vector<std::string>& wheres)
{
    const auto number = static_cast<std::uint32_t>(code);
    const bool right_place = wheres.empty() || std::find(wheres.begin(), wheres.end(), answer.where) != wheres.end();
    if (answer.code == number && right_place)
        return "";
    std::string wanted = error_text(number, wheres.empty() ? "any register" : wheres.front(), 0);
    wanted.resize(wanted.rfind(" ("));
    for (std::size_t i = 1; i < wheres.size(); ++i)
        wanted += " or " + wheres[i];
    return fmt::format("reports {}; right is {}", error_text(answer.code, answer.where, answer.detail), wanted);
}

std::string expect_timeout(const rank_answer& answer)
{
    return expect_error(answer, abi::status_code::timeout, {"DMA.SEM_PENDING", "DMA.HEAD"});
}

std::string address_text(std::uint64_t address)
{
    const auto inside = [&](std::uint64_t base, std::uint64_t bytes) {
        return address >= base && address - base < bytes;
    };
    if (inside(abi::k_dma_base, 0x1'0000))
        return register_text("DMA", address - abi::k_dma_base, abi::k_dma_rows, std::size(abi::k_dma_rows));
    if (inside(abi::k_mailbox_base, 0x1'0000))
        return register_text("MAILBOX", address - abi::k_mailbox_base, abi::k_mailbox_rows,
                             std::size(abi::k_mailbox_rows));
    if (inside(abi::k_platform_table_address, sizeof(abi::platform_table)))
        return "the platform table";
    if (inside(abi::k_command_address, sizeof(abi::command)))
        return "the command";
    if (inside(abi::k_response_address, sizeof(abi::response)))
        return "the response";
    if (address >= abi::k_hbm_base)
        return "the descriptor rings";
    return fmt::format("{:#x}", address);
}

std::string ordinal(std::uint64_t n)
{
    const std::uint64_t tens = n / 10 % 10;
    const char* const ending = tens == 1 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
    return fmt::format("{}{}", n, ending);
}

} // namespace weft
