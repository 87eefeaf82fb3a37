// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/code_places.h"

#include "hw/core/rv64_core.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

namespace weft {

std::string own_program()
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    std::string program = n > 0 ? std::string(path, static_cast<std::size_t>(n)) : "";
    constexpr const char* k_replaced = " (deleted)"; // by a newer one, while this one runs
    if (const std::size_t at = program.rfind(k_replaced); at != std::string::npos)
        program.erase(at);
    return program;
}

std::string short_source_path(std::string path)
{
    path = std::filesystem::path(path).lexically_normal().string();
    if (const std::size_t tree = path.rfind("/firmware/"); tree != std::string::npos)
        path.erase(0, tree + 1);
    while (path.rfind("../", 0) == 0) // relative to a build folder
        path.erase(0, 3);
    return path;
}

std::string library_of(std::uint64_t& address)
{
    Dl_info info{};
    link_map* map = nullptr;
    void* const at = reinterpret_cast<void*>(address);
    if (address == 0 || dladdr1(at, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr)
        return "";
    address -= map->l_addr;
    return map->l_name; // "" for the program itself
}

const source_places& firmware_places::of_library(const std::string& path)
{
    std::unique_ptr<source_places>& places = libraries_[path];
    if (!places)
        places = std::make_unique<source_places>(path);
    return *places;
}

const source_places& firmware_places::of_binary(const rv64_core& core)
{
    if (!binary_)
        binary_ = std::make_unique<source_places>(core.elf_file());
    return *binary_;
}

std::string firmware_places::native_place(std::uint64_t address)
{
    if (const auto known = known_.find(address); known != known_.end())
        return known->second;
    std::uint64_t offset = address;
    const std::string library = library_of(offset);
    const std::string place = of_library(library).at(offset);
    const std::string name = std::filesystem::path(library.empty() ? own_program() : library).filename().string();
    return known_[address] = fmt::format("pc {}+{:#x}{}{}", name, offset, place.empty() ? "" : ", ", place);
}

/// Whoever waits does so in the HAL of the boot code: who called that is what one wants to know.
std::string firmware_places::rv64_place(rv64_core& core)
{
    constexpr unsigned k_ra = 1;
    constexpr unsigned k_sp = 2;
    constexpr unsigned k_deepest_call_of_the_hal = 4;
    const source_places& places = of_binary(core);
    const auto read = [&](std::uint64_t address) {
        std::uint64_t word = 0;
        return core.read_debug(address, &word, sizeof word) == sizeof word ? word : 0;
    };
    source_places::frame f{core.code_address(), core.engine().reg(k_sp), core.engine().reg(k_ra)};
    std::string place = places.at(f.pc);
    for (unsigned i = 0; i < k_deepest_call_of_the_hal && place.rfind("firmware/boot/", 0) == 0; ++i) {
        const source_places::frame caller = places.caller_of(f, read);
        if (caller.pc == 0)
            break;
        f = caller;
        place = places.at(f.pc);
    }
    return fmt::format("pc {:#x}{}{}", f.pc, place.empty() ? "" : ", ", place);
}

std::string firmware_places::place_of(core_base& core)
{
    if (auto* const rv64 = dynamic_cast<rv64_core*>(&core))
        return rv64_place(*rv64);
    const std::uint64_t address = core.code_address();
    return address == 0 ? "" : native_place(address);
}

/// Behind every "pc 0x..." of an RV64 core stands where that is.
std::string firmware_places::with_places(core_base& core, std::string text)
{
    const auto* const rv64 = dynamic_cast<const rv64_core*>(&core);
    constexpr const char* k_pc = "pc 0x";
    for (std::size_t at = text.find(k_pc); rv64 != nullptr && at != std::string::npos; at = text.find(k_pc, at + 1)) {
        char* end = nullptr;
        const std::uint64_t pc = std::strtoull(text.c_str() + at + 3, &end, 16);
        if (const std::string place = of_binary(*rv64).at(pc); !place.empty())
            text.insert(static_cast<std::size_t>(end - text.c_str()), " (" + place + ")");
    }
    return text;
}

} // namespace weft
