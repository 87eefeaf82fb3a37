// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/firmware_bench/hostile_device.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

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
    return expect_error(answer, abi::status_code::timeout, {"DMA.SEM_PENDING", "DMA.HEAD", "NIC.RX_HEAD", "NIC.TX_HEAD", "SYNC.RELEASES", "CCU.MISSION_STATE"});
}

std::string ordinal(std::uint64_t n)
{
    const std::uint64_t tens = n / 10 % 10;
    const char* const ending = tens == 1 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
    return fmt::format("{}{}", n, ending);
}

} // namespace weft
