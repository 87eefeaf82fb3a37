// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a function in a child process: a process has one SystemC kernel, and what the parent has computed before is
// there.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>
#include <sys/wait.h>
#include <systemc>
#include <type_traits>
#include <unistd.h>

namespace weft::testing {

/// Plain bytes for the pipe, with a text.
struct child_text {
    std::array<char, 1000> text{};
    void operator=(const std::string& s) { std::strncpy(text.data(), s.c_str(), text.size() - 1); }
    std::string str() const { return text.data(); }
};

/// `Answer` is copied as bytes and has a member `complaint` (child_text) that also tells of exceptions and crashes.
template <class Answer, class Function> Answer in_child(Function&& run)
{
    static_assert(std::is_trivially_copyable_v<Answer>);
    Answer a{};
    int ends[2];
    if (pipe(ends) != 0) {
        a.complaint = "no pipe";
        return a;
    }
    const pid_t child = fork();
    if (child == 0) {
        sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
        try {
            a = run();
        } catch (const std::exception& e) {
            a.complaint = std::string("exception: ") + e.what();
        }
        const bool written = write(ends[1], &a, sizeof a) == static_cast<ssize_t>(sizeof a);
        _exit(written ? 0 : 1);
    }
    close(ends[1]);
    std::size_t got = 0;
    for (ssize_t n = 1; n > 0 && got < sizeof a; got += static_cast<std::size_t>(n))
        n = std::max<ssize_t>(0, read(ends[0], reinterpret_cast<char*>(&a) + got, sizeof a - got));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0 || got != sizeof a)
        a.complaint = "the child ended early";
    return a;
}

} // namespace weft::testing
