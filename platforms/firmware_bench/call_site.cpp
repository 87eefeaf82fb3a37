// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/firmware_bench/call_site.h"

#include "hw/abi/platform_table.h"
#include "platforms/debug/source_places.h"
#include "platforms/firmware_bench/crash_place.h"
#include "platforms/workload/shipped_firmware.h"

#include <cstring>
#include <elf.h>
#include <fstream>

namespace weft {

namespace {

/// Whose firmware went on last: cores take turns, and only calls of the HAL change who runs.
const traced_core* running = nullptr;

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
        const std::uint32_t lines = real_.wait_irq(mask, timeout_ns);
        running = &core_;
        return lines;
    }
    bool poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected,
                    std::uint64_t timeout_ns) override
    {
        note(__builtin_return_address(0));
        const bool met = real_.poll_until(address, mask, expected, timeout_ns);
        look();
        return met;
    }
    void compute(std::uint32_t cycles) override
    {
        note(__builtin_return_address(0));
        real_.compute(cycles);
        running = &core_;
    }
    void spin(std::uint32_t cycles) override
    {
        note(__builtin_return_address(0));
        real_.spin(cycles);
        running = &core_;
    }
    std::uint64_t now_ns() override
    {
        const std::uint64_t now = real_.now_ns();
        running = &core_;
        return now;
    }
    void log(const char* text, std::uint64_t value) override { real_.log(text, value); }
    abi::bus_fault fault() const override { return real_.fault(); }
    void clear_fault() override { real_.clear_fault(); }

private:
    void note(const void* return_address) { core_.last_call = reinterpret_cast<std::uint64_t>(return_address); }
    void look()
    {
        running = &core_;
        if (core_.first_fault == 0 && real_.fault().set)
            core_.first_fault = core_.last_call;
    }
    abi::hal& real_;
    traced_core& core_;
};

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
    running = &traced;
    try {
        traced.entry(traced_by, traced.argument);
    } catch (...) {
        // What the HAL throws belongs to this program: a reset, a bug.
        std::uint64_t thrown_at = crash_place::last_throw_at();
        const std::uint64_t at = thrown_at;
        auto entry_at = reinterpret_cast<std::uint64_t>(traced.entry);
        const std::string library = library_of(entry_at);
        if (at == 0 || library.empty() || library_of(thrown_at) != library)
            throw;
        crash_place::end_thrown(at);
    }
}

const traced_core* traced_core_running() { return running; }

std::string source_of(std::uint64_t offset, const std::string& library)
{
    if (offset == 0)
        return "";
    const std::uint64_t call = offset - 1; // before the address that it returns to
    if (library != k_shipped_rv64)
        return source_places(library).at(call);
    const firmware_image image = shipped_firmware();
    return source_places(std::vector<std::uint8_t>(image.elf, image.elf + image.elf_bytes)).at(call);
}

} // namespace weft
