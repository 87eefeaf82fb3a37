// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Strict, sequenced fake of abi::hal: a test writes down every call the firmware is going to make, in order, with what it
// must carry and what it gets back. Anything else, and anything left over, is a problem.
#pragma once

#include <cstring>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "hw/abi/hal.h"

namespace weft::testing {

class fake_hal final : public abi::hal {
public:
    enum class kind { read32, write32, read64, write64, copy_in, copy_out, wait_irq, poll };

    // What is to come.
    void expect_read32(std::uint64_t address, std::uint32_t result) { push({kind::read32, address, 0, result, {}}); }
    void expect_write32(std::uint64_t address, std::uint32_t value) { push({kind::write32, address, value, 0, {}}); }
    void expect_read64(std::uint64_t address, std::uint64_t result) { push({kind::read64, address, 0, result, {}}); }
    void expect_write64(std::uint64_t address, std::uint64_t value) { push({kind::write64, address, value, 0, {}}); }
    void expect_copy_out(std::uint64_t address, std::uint32_t bytes) { push({kind::copy_out, address, bytes, 0, {}}); }
    template <typename T> void expect_copy_in(std::uint64_t address, const T& object)
    {
        const auto* bytes = reinterpret_cast<const unsigned char*>(&object);
        push({kind::copy_in, address, sizeof(T), 0, {bytes, bytes + sizeof(T)}});
    }
    /// The wait takes `result == 0 ? timeout : 0` ns.
    void expect_wait_irq(std::uint32_t mask, std::uint32_t result) { push({kind::wait_irq, 0, mask, result, {}}); }
    void expect_poll(std::uint64_t address, std::uint32_t mask, std::uint32_t expected, bool result)
    {
        push({kind::poll, address, std::uint64_t{mask} << 32 | expected, result, {}});
    }
    /// The expectation written last is answered with a bus error.
    void but_fails() { calls_.back().fails = true; }
    /// The expectation written last happens `n` times.
    void times(unsigned n)
    {
        const call last = calls_.back();
        for (unsigned i = 1; i < n; ++i)
            calls_.push_back(last);
    }

    /// Empty when everything came as written.
    std::string problems() const
    {
        std::string text = problems_;
        if (!calls_.empty())
            text += std::to_string(calls_.size()) + " expected calls did not come; ";
        return text;
    }
    const std::vector<unsigned char>& last_copied_out() const { return copied_out_; }
    std::uint64_t last_timeout_ns() const { return timeout_ns_; }
    std::uint64_t computed_cycles() const { return computed_; }

    std::uint32_t read32(std::uint64_t a) override
    {
        return static_cast<std::uint32_t>(take(kind::read32, a, 0).result);
    }
    void write32(std::uint64_t a, std::uint32_t v) override { take(kind::write32, a, v); }
    std::uint64_t read64(std::uint64_t a) override { return take(kind::read64, a, 0).result; }
    void write64(std::uint64_t a, std::uint64_t v) override { take(kind::write64, a, v); }
    void copy_in(void* to, std::uint64_t a, std::uint32_t bytes) override
    {
        const call c = take(kind::copy_in, a, bytes);
        if (!c.fails && c.bytes.size() == bytes)
            std::memcpy(to, c.bytes.data(), bytes);
    }
    void copy_out(std::uint64_t a, const void* from, std::uint32_t bytes) override
    {
        take(kind::copy_out, a, bytes);
        const auto* p = static_cast<const unsigned char*>(from);
        copied_out_.assign(p, p + bytes);
    }
    std::uint32_t wait_irq(std::uint32_t mask, std::uint64_t timeout_ns) override
    {
        timeout_ns_ = timeout_ns;
        const auto lines = static_cast<std::uint32_t>(take(kind::wait_irq, 0, mask).result);
        now_ns_ += lines == 0 ? timeout_ns : 10;
        return lines;
    }
    bool poll_until(std::uint64_t a, std::uint32_t mask, std::uint32_t expected, std::uint64_t timeout_ns) override
    {
        timeout_ns_ = timeout_ns;
        return take(kind::poll, a, std::uint64_t{mask} << 32 | expected).result != 0;
    }
    void compute(std::uint32_t cycles) override { computed_ += cycles; }
    void spin(std::uint32_t cycles) override { computed_ += cycles; }
    std::uint64_t now_ns() override { return now_ns_; }
    void log(const char*, std::uint64_t) override {}
    abi::bus_fault fault() const override { return fault_; }
    void clear_fault() override { fault_ = {}; }

private:
    struct call {
        kind what;
        std::uint64_t address;
        std::uint64_t value;
        std::uint64_t result;
        std::vector<unsigned char> bytes;
        bool fails = false;
    };
    void push(call c) { calls_.push_back(std::move(c)); }
    call take(kind what, std::uint64_t address, std::uint64_t value)
    {
        if (calls_.empty() || calls_.front().what != what || calls_.front().address != address ||
            calls_.front().value != value) {
            std::ostringstream text;
            text << std::hex << "unexpected call kind " << static_cast<int>(what) << " at 0x" << address << " value 0x"
                 << value;
            if (!calls_.empty())
                text << ", expected kind " << static_cast<int>(calls_.front().what) << " at 0x"
                     << calls_.front().address << " value 0x" << calls_.front().value;
            problems_ += text.str() + "; ";
            return {what, address, value, 0, {}};
        }
        call c = calls_.front();
        calls_.pop_front();
        if (c.fails) {
            c.result = 0;
            if (!fault_.set)
                fault_ = {true, what == kind::write32 || what == kind::write64 || what == kind::copy_out, address};
        }
        return c;
    }

    std::deque<call> calls_;
    std::string problems_;
    std::vector<unsigned char> copied_out_;
    abi::bus_fault fault_;
    std::uint64_t now_ns_ = 0;
    std::uint64_t timeout_ns_ = 0;
    std::uint64_t computed_ = 0;
};

} // namespace weft::testing
