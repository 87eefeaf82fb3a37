// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/host_watch.h"

#include "hw/core/core.h"
#include "tlm/stop_request.h"

#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <sys/time.h>

namespace weft {

namespace {

/// After a stop request: code between two calls of the HAL takes microseconds.
constexpr std::uint32_t k_ticks_after_stop = host_watch::k_ticks_per_second;
/// Threads of cores have small stacks; the handler has its own.
constexpr std::size_t k_stack_bytes = 64 << 10;

// The handler knows no object.
std::uint32_t bound_ticks = 0;
volatile std::sig_atomic_t given_up = 0;
pthread_t simulation_thread;
alignas(16) unsigned char handler_stack[k_stack_bytes];

void on_tick(int, siginfo_t*, void* context)
{
    if (pthread_equal(pthread_self(), simulation_thread) != 0)
        core_base::on_host_tick(context);
}

} // namespace

host_watch::host_watch(std::uint32_t cpu_seconds)
{
    bound_ticks = cpu_seconds * k_ticks_per_second;
    given_up = 0;
    simulation_thread = pthread_self();
    stack_t stack{};
    stack.ss_sp = handler_stack;
    stack.ss_size = sizeof handler_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGVTALRM, &action, nullptr);
    itimerval every{};
    every.it_interval.tv_usec = every.it_value.tv_usec = 1'000'000 / k_ticks_per_second;
    setitimer(ITIMER_VIRTUAL, &every, nullptr);
}

host_watch::~host_watch()
{
    const itimerval never{};
    setitimer(ITIMER_VIRTUAL, &never, nullptr);
    std::signal(SIGVTALRM, SIG_IGN); // one may be pending
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    bound_ticks = 0;
}

bool host_watch::over_bound(std::uint32_t ticks) { return bound_ticks != 0 && ticks >= bound_ticks; }

bool host_watch::over_bound_or_stopped(std::uint32_t ticks)
{
    return over_bound(ticks) || (stop_requested() && ticks >= k_ticks_after_stop);
}

void host_watch::give_up() { given_up = 1; }

void host_watch::hold_if_given_up()
{
    if (given_up == 0)
        return;
    sc_core::sc_event never;
    for (;;)
        sc_core::wait(never);
}

} // namespace weft
