// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/firmware_bench/call_site.h"

#include "hw/abi/platform_table.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <link.h>
#include <unistd.h>

namespace weft {

namespace {

class traced_hal final : public abi::hal {
public:
    traced_hal(abi::hal& real, traced_core& core) : real_(real), core_(core) {}

    std::uint32_t read32(std::uint64_t address) override
    {
        note(__builtin_return_address(0));
        const std::uint32_t value = real_.read32(address);
        look();
        return value;
    }
    void write32(std::uint64_t address, std::uint32_t value) override
    {
        note(__builtin_return_address(0));
        real_.write32(address, value);
        look();
    }
    std::uint64_t read64(std::uint64_t address) override
    {
        note(__builtin_return_address(0));
        const std::uint64_t value = real_.read64(address);
        look();
        return value;
    }
    void write64(std::uint64_t address, std::uint64_t value) override
    {
        note(__builtin_return_address(0));
        real_.write64(address, value);
        look();
    }
    void copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes) override
    {
        note(__builtin_return_address(0));
        real_.copy_in(to, from_address, bytes);
        look();
    }
    void copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes) override
    {
        if (to_address == abi::k_response_address)
            core_.before_answer = core_.last_call;
        note(__builtin_return_address(0));
        real_.copy_out(to_address, from, bytes);
        look();
    }
    std::uint32_t wait_irq(std::uint32_t mask, std::uint64_t timeout_ns) override
    {
        note(__builtin_return_address(0));
        return real_.wait_irq(mask, timeout_ns);
    }
    bool poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected,
                    std::uint64_t timeout_ns) override
    {
        note(__builtin_return_address(0));
        const bool met = real_.poll_until(address, mask, expected, timeout_ns);
        look();
        return met;
    }
    void compute(std::uint32_t cycles) override { real_.compute(cycles); }
    std::uint64_t now_ns() override { return real_.now_ns(); }
    void log(const char* text, std::uint64_t value) override { real_.log(text, value); }
    abi::bus_fault fault() const override { return real_.fault(); }
    void clear_fault() override { real_.clear_fault(); }

private:
    void note(const void* return_address) { core_.last_call = reinterpret_cast<std::uint64_t>(return_address); }
    void look()
    {
        if (core_.first_fault == 0 && real_.fault().set)
            core_.first_fault = core_.last_call;
    }
    abi::hal& real_;
    traced_core& core_;
};

std::string own_program()
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : "";
}

} // namespace

unsigned machine_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr head{};
    if (!file.read(reinterpret_cast<char*>(&head), sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return EM_NONE;
    return head.e_machine;
}

void traced_firmware(abi::hal& hal, std::uint64_t core)
{
    auto& traced = *reinterpret_cast<traced_core*>(core);
    traced_hal traced_by(hal, traced);
    traced.entry(traced_by, traced.argument);
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

std::string source_of(std::uint64_t offset, const std::string& library)
{
    if (offset == 0)
        return "";
    // The call is before the address that it returns to.
    const bool native = library.empty() || machine_of(library) != EM_RISCV;
    const std::string command =
        fmt::format("{}addr2line -C -f -e '{}' {:#x} 2>/dev/null", native ? "" : "riscv64-linux-gnu-",
                    library.empty() ? own_program() : library, offset - 1);
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr)
        return "";
    std::string text;
    char buffer[1024];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr)
        text += buffer;
    pclose(pipe);
    const std::size_t end = text.find('\n');
    if (end == std::string::npos || text.rfind("??", 0) == 0)
        return "";
    std::string function = text.substr(0, end);
    constexpr const char* k_anonymous = "(anonymous namespace)::";
    if (const std::size_t at = function.find(k_anonymous); at != std::string::npos)
        function.erase(at, std::strlen(k_anonymous));
    function.resize(std::min(function.size(), function.find('(')));
    std::string line = text.substr(end + 1);
    line.resize(std::min(line.size(), line.find_first_of("\n ")));
    if (const std::size_t tree = line.rfind("/firmware/"); tree != std::string::npos)
        line.erase(0, tree + 1);
    return line.rfind("??", 0) == 0 ? function : fmt::format("{}, {}", line, function);
}

} // namespace weft
