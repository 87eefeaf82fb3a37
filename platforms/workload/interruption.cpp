// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/interruption.h"

#include "tlm/check.h"
#include "tlm/stop_request.h"

#include <csignal>
#include <cstring>
#include <ctime>
#include <sys/prctl.h>
#include <unistd.h>

namespace weft {

namespace {

constexpr int k_exit_of_signals = 128; // as shells have it
constexpr int k_signals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr std::size_t k_most_files = 2048; ///< captures of many cables; untouched pages of the table take no memory
constexpr std::size_t k_longest_path = 4096;

// Handlers know no object and may not allocate.
char doomed_files[k_most_files][k_longest_path];
volatile std::sig_atomic_t doomed_count = 0;
volatile std::sig_atomic_t has_begun = 0;
volatile std::sig_atomic_t last_signal = 0;
const char* answer = "";
timespec last_signal_at{};
struct sigaction former[std::size(k_signals)];

void say(const char* text)
{
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0)
        return; // nobody reads it
}

/// A terminal that closes sends SIGHUP twice, and fingers bounce: the same signal within a second is the same request.
bool is_repeated(int number)
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const bool soon = number == last_signal && now.tv_sec - last_signal_at.tv_sec <= 1 &&
                      (now.tv_sec == last_signal_at.tv_sec || now.tv_nsec < last_signal_at.tv_nsec);
    if (!soon) {
        last_signal = number;
        last_signal_at = now;
    }
    return soon;
}

[[noreturn]] void end_at_once(int number, const char* text)
{
    for (int i = 0; i < doomed_count; ++i)
        unlink(doomed_files[i]);
    say(text);
    _exit(k_exit_of_signals + number);
}

constexpr const char* k_too_early = "\nweft: interrupted before the simulation began; there are no results.\n";

void on_signal(int number)
{
    const bool repeated = is_repeated(number);
    int none = 0;
    if (has_begun != 0 && repeated && stop_signal != 0)
        return;
    if (has_begun != 0 && stop_signal.compare_exchange_strong(none, number)) {
        say("\nweft: ");
        say(answer);
        say("; once more ends it at once.\n");
        return;
    }
    end_at_once(number, has_begun != 0 ? "\nweft: ended at once; nothing more was saved.\n" : k_too_early);
}

} // namespace

interruption::interruption()
{
    has_begun = 0;
    doomed_count = 0;
    for (std::size_t i = 0; i < std::size(k_signals); ++i) {
        struct sigaction action {};
        action.sa_handler = on_signal;
        action.sa_flags = SA_RESTART | SA_ONSTACK; // threads of cores have small stacks
        sigemptyset(&action.sa_mask);
        sigaction(k_signals[i], &action, &former[i]);
        if (former[i].sa_handler == SIG_IGN)
            sigaction(k_signals[i], &former[i], nullptr);
    }
}

interruption::~interruption()
{
    for (std::size_t i = 0; i < std::size(k_signals); ++i) {
        // Everything is saved: the same request once more ends the program as the first one does.
        if (k_signals[i] == stop_signal)
            former[i].sa_handler = [](int number) { _exit(k_exit_of_signals + number); };
        sigaction(k_signals[i], &former[i], nullptr);
    }
}

void interruption::remove_at_once(const std::string& path)
{
    if (doomed_count == k_most_files || path.size() >= k_longest_path)
        return;
    std::memcpy(doomed_files[doomed_count], path.c_str(), path.size() + 1);
    doomed_count = doomed_count + 1;
}

void interruption::hold(const char* what_it_does) { begin(what_it_does); }

void interruption::release()
{
    has_begun = 0; // first: a signal from here on ends the process by itself
    if (stop_signal != 0)
        end_at_once(stop_signal, k_too_early);
}

void interruption::begin(const char* what_it_does)
{
    answer = what_it_does;
    has_begun = 1;
}

void interruption::end_with_parent(int parent)
{
    for (const int number : k_signals) {
        struct sigaction now {};
        if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
            std::signal(number, SIG_DFL);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) // it has ended before that
        _exit(1);
}

int interrupted_exit_code() { return k_exit_of_signals + stop_signal; }

} // namespace weft
