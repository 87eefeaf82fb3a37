// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The CCU of die 0 as firmware sees it that writes microcode: it takes instructions, and nothing else.
#pragma once

#include "hw/abi/ccu.h"
#include "hw/abi/hal.h"
#include "hw/abi/registers.h"
#include "tlm/check.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace weft::testing {

/// Throws bug on a write to any other register.
class instruction_store final : public abi::hal {
public:
    std::vector<abi::ccu::instruction> code;

    std::uint32_t read32(std::uint64_t) override { return 0; }
    void write32(std::uint64_t address, std::uint32_t value) override
    {
        if (address != abi::ccu::k_base + abi::ccu::CODE_INDEX)
            throw bug("instruction_store", 0, "a write to another register");
        at_ = value;
        words_ = 0;
    }
    std::uint64_t read64(std::uint64_t) override { return 0; }
    void write64(std::uint64_t address, std::uint64_t value) override
    {
        if (address != abi::ccu::k_base + abi::ccu::CODE_DATA)
            throw bug("instruction_store", 0, "a write to another register");
        word_[words_++] = value;
        if (words_ < abi::ccu::k_words_of_instruction)
            return;
        code.resize(std::max<std::size_t>(code.size(), at_ + 1));
        std::memcpy(static_cast<void*>(&code[at_++]), word_, sizeof word_);
        words_ = 0;
    }
    void copy_in(void*, std::uint64_t, std::uint32_t) override {}
    void copy_out(std::uint64_t, const void*, std::uint32_t) override {}
    std::uint32_t wait_irq(std::uint32_t, std::uint64_t) override { return 0; }
    bool poll_until(std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t) override { return false; }
    void compute(std::uint32_t) override {}
    void spin(std::uint32_t) override {}
    std::uint64_t now_ns() override { return 0; }
    void log(const char*, std::uint64_t) override {}
    abi::bus_fault fault() const override { return {}; }
    void clear_fault() override {}

private:
    std::uint64_t word_[abi::ccu::k_words_of_instruction] = {};
    std::uint32_t at_ = 0, words_ = 0;
};

} // namespace weft::testing
