// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_program_file.h"

#include "hw/abi/platform_table.h"

#include <fmt/format.h>

namespace weft {

using namespace abi::ccu;

namespace {

constexpr std::uint32_t k_magic = 0x5543'4357; // "WCCU"
constexpr std::size_t k_head_bytes = 16;
constexpr std::size_t k_check_bytes = 8;

void put(std::string& to, std::uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; ++i)
        to += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint64_t get(const std::string& from, std::size_t at, unsigned bytes)
{
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(from[at + i])} << (8 * i);
    return value;
}

std::uint64_t check_of(const std::string& bytes, std::size_t count)
{
    std::uint64_t h = abi::k_check_start;
    for (std::size_t at = 0; at < count; at += 4)
        h = abi::check_step(h, static_cast<std::uint32_t>(get(bytes, at, 4)));
    return h;
}

} // namespace

void ccu_words(const instruction& i, std::uint64_t (&words)[k_words_of_instruction])
{
    words[0] = static_cast<std::uint64_t>(i.code) | std::uint64_t{i.flags} << 8 | std::uint64_t{i.wait_entry} << 16 | std::uint64_t{i.wait_mask} << 32 |
               std::uint64_t{i.set_entry} << 48;
    words[1] = i.set_mask | std::uint64_t{i.channel} << 16 | std::uint64_t{i.type} << 32 | std::uint64_t{i.redop} << 40 | std::uint64_t{i.count} << 48 |
               std::uint64_t{i.reserved} << 56;
    for (unsigned w = 0; w < 2; ++w) {
        words[2 + w] = 0;
        for (unsigned f = 0; f < 4; ++f)
            words[2 + w] |= std::uint64_t{i.r[4 * w + f]} << (16 * f);
    }
}

bool is_ccu_file(const std::string& bytes) { return bytes.size() >= 4 && get(bytes, 0, 4) == k_magic; }

std::string ccu_file_bytes(const std::vector<instruction>& code)
{
    std::string bytes;
    put(bytes, k_magic, 4);
    put(bytes, k_ccu_file_version, 4);
    put(bytes, code.size(), 4);
    put(bytes, 0, 4);
    for (const instruction& i : code) {
        std::uint64_t words[k_words_of_instruction];
        ccu_words(i, words);
        for (const std::uint64_t w : words)
            put(bytes, w, 8);
    }
    put(bytes, check_of(bytes, bytes.size()), 8);
    return bytes;
}

std::vector<instruction> read_ccu_file(const std::string& bytes, const std::string& file_name)
{
    const auto refuse = [&](const std::string& message) { throw user_error({{severity::error, {file_name, 0, 0}, "", message}}); };
    if (!is_ccu_file(bytes))
        refuse("is no program of `weft ccu asm FILE.ccu -o FILE`; text is assembled, not disassembled.");
    if (bytes.size() < k_head_bytes + k_check_bytes)
        refuse("is cut off in its head; make it again.");
    if (const std::uint64_t version = get(bytes, 4, 4); version != k_ccu_file_version)
        refuse(fmt::format("has version {}, this program reads version {}; make it again from its text.", version, k_ccu_file_version));
    const std::uint64_t count = get(bytes, 8, 4);
    const std::uint64_t wanted = k_head_bytes + count * sizeof(instruction) + k_check_bytes;
    if (bytes.size() != wanted)
        refuse(fmt::format("has {} bytes, {} instructions need {}; make it again.", bytes.size(), count, wanted));
    if (get(bytes, bytes.size() - k_check_bytes, 8) != check_of(bytes, bytes.size() - k_check_bytes))
        refuse("is damaged, its check word is another one; make it again.");
    std::vector<instruction> code;
    for (std::size_t n = 0; n < count; ++n) {
        const std::size_t at = k_head_bytes + n * sizeof(instruction);
        instruction i;
        i.code = static_cast<op>(get(bytes, at, 1));
        i.flags = static_cast<std::uint8_t>(get(bytes, at + 1, 1));
        i.wait_entry = static_cast<std::uint16_t>(get(bytes, at + 2, 2));
        i.wait_mask = static_cast<std::uint16_t>(get(bytes, at + 4, 2));
        i.set_entry = static_cast<std::uint16_t>(get(bytes, at + 6, 2));
        i.set_mask = static_cast<std::uint16_t>(get(bytes, at + 8, 2));
        i.channel = static_cast<std::uint16_t>(get(bytes, at + 10, 2));
        i.type = static_cast<std::uint8_t>(get(bytes, at + 12, 1));
        i.redop = static_cast<std::uint8_t>(get(bytes, at + 13, 1));
        i.count = static_cast<std::uint8_t>(get(bytes, at + 14, 1));
        i.reserved = static_cast<std::uint8_t>(get(bytes, at + 15, 1));
        for (unsigned f = 0; f < 8; ++f)
            i.r[f] = static_cast<std::uint16_t>(get(bytes, at + 16 + 2 * f, 2));
        code.push_back(i);
    }
    return code;
}

} // namespace weft
