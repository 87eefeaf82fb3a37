// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a function in a child process: a process has one SystemC kernel, and what the parent has computed before is
// there.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <systemc>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace weft::testing {

/// Plain bytes for the pipe, with a text.
struct child_text {
    std::array<char, 1000> text{};
    void operator=(const std::string& s) { std::strncpy(text.data(), s.c_str(), text.size() - 1); }
    std::string str() const { return text.data(); }
};

struct child_output {
    std::string bytes;  ///< what the function gave
    std::string thrown; ///< the exception that it threw instead
    bool ended = false; ///< by itself: neither crashed nor killed
};

/// Runs `run` in a child and takes what it returns.
inline child_output run_child(const std::function<std::string()>& run)
{
    int ends[2];
    if (pipe(ends) != 0)
        return {};
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING); // "stopped by user"
        std::string told;
        try {
            told = "b" + run();
        } catch (const std::exception& e) {
            told = std::string("x") + e.what();
        }
        std::size_t put = 0;
        for (ssize_t n = 1; n > 0 && put < told.size(); put += static_cast<std::size_t>(n))
            n = std::max<ssize_t>(0, write(ends[1], told.data() + put, told.size() - put));
        _exit(put == told.size() ? 0 : 1);
    }
    close(ends[1]);
    std::string told;
    char buffer[4096];
    for (ssize_t n = child < 0 ? 0 : 1; n > 0; told.append(buffer, static_cast<std::size_t>(n)))
        n = std::max<ssize_t>(0, read(ends[0], buffer, sizeof buffer));
    close(ends[0]);
    int status = 1;
    if (child > 0)
        waitpid(child, &status, 0);
    child_output out;
    out.ended = status == 0 && !told.empty();
    if (out.ended)
        (told[0] == 'b' ? out.bytes : out.thrown) = told.substr(1);
    return out;
}

template <class Value> std::string bytes_of(const Value* values, std::size_t count)
{
    static_assert(std::is_trivially_copyable_v<Value>);
    return std::string(reinterpret_cast<const char*>(values), count * sizeof(Value));
}

/// `Answer` is copied as bytes and has a member `complaint` (child_text) that also tells of exceptions and crashes.
template <class Answer, class Function> Answer in_child(Function&& run)
{
    const child_output out = run_child([&] {
        const Answer a = run();
        return bytes_of(&a, 1);
    });
    Answer a{};
    if (out.ended && out.bytes.size() == sizeof a)
        std::memcpy(&a, out.bytes.data(), sizeof a);
    else
        a.complaint = out.ended ? "exception: " + out.thrown : "the child ended early";
    return a;
}

/// The values that `run` returns in a vector. The test that asks fails where there is an exception or a crash.
template <class Value> std::vector<Value> values_from_child(const std::function<std::vector<Value>()>& run)
{
    const child_output out = run_child([&] {
        const std::vector<Value> all = run();
        return bytes_of(all.data(), all.size());
    });
    INFO(out.thrown);
    REQUIRE(out.ended);
    REQUIRE(out.thrown.empty());
    std::vector<Value> all(out.bytes.size() / sizeof(Value));
    std::copy_n(out.bytes.data(), all.size() * sizeof(Value), reinterpret_cast<char*>(all.data()));
    return all;
}
/// The same, of one value.
template <class Function> auto value_from_child(Function&& run)
{
    using value = decltype(run());
    return values_from_child<value>([&] { return std::vector<value>{run()}; }).at(0);
}

} // namespace weft::testing
