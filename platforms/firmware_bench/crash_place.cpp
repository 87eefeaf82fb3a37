// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/firmware_bench/crash_place.h"

#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

/// Return address of the last throw, before anything is unwound.
void* last_throw = nullptr;

} // namespace

/// Stands before the library's own, which it goes on to: a handler no longer knows where the exception came from.
[[noreturn]] void note_throw(void* thrown, void* type, void (*destroy)(void*)) asm("__cxa_throw");

[[noreturn]] void note_throw(void* thrown, void* type, void (*destroy)(void*))
{
    last_throw = __builtin_return_address(0);
    using throw_function = void (*)(void*, void*, void (*)(void*));
    static const auto real = reinterpret_cast<throw_function>(dlsym(RTLD_NEXT, "__cxa_throw"));
    real(thrown, type, destroy);
    std::abort(); // it does not return
}

namespace weft {

struct crash_place::noted {
    int signal = 0;
    std::uint64_t pc = 0;
    std::uint64_t last_call = 0;
    std::uint32_t rank = 0;
    bool has_rank = false;
};

namespace {

constexpr int k_thrown = -1; // in place of a signal

static_assert(k_note_and_end == SIGALRM, "crash_place.h names the number");

// The handler knows no object.
crash_place::noted* to = nullptr;
const traced_core* cores = nullptr;
std::uint32_t core_count = 0;

void on_signal(int number, siginfo_t*, void* context)
{
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    to->pc = static_cast<std::uint64_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    to->pc = machine.pc;
#else
    static_cast<void>(machine);
#endif
    const traced_core* const running = traced_core_running();
    to->has_rank = running != nullptr && running >= cores && running < cores + core_count;
    if (to->has_rank) {
        to->rank = static_cast<std::uint32_t>(running - cores);
        to->last_call = running->last_call;
    }
    to->signal = number;
    raise(number); // its action is the default again
}

/// "firmware/drivers/dma_driver.cpp:104, weft::firmware::dma_driver::wait"; the address where nothing is known.
std::string place_at(std::uint64_t address)
{
    std::uint64_t offset = address;
    const std::string library = library_of(offset); // forked: libraries lie where they lie in the child
    const std::string place = source_of(offset + 1, library);
    return place.empty() ? fmt::format("pc {:#x}", offset) : place;
}

} // namespace

crash_place::crash_place()
{
    void* const memory = mmap(nullptr, sizeof(noted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        noted_ = new (memory) noted;
}

crash_place::~crash_place()
{
    if (noted_ != nullptr)
        munmap(noted_, sizeof(noted));
}

void crash_place::watch(const traced_core* first, std::uint32_t ranks)
{
    if (noted_ == nullptr)
        return;
    to = noted_;
    cores = first;
    core_count = ranks;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, k_note_and_end}) {
        struct sigaction action {};
        action.sa_sigaction = on_signal;
        action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
        sigemptyset(&action.sa_mask);
        sigaction(number, &action, nullptr);
    }
}

std::uint64_t crash_place::last_throw_at() { return reinterpret_cast<std::uint64_t>(last_throw); }

void crash_place::end_thrown(std::uint64_t return_address)
{
    const traced_core* const core = traced_core_running();
    to->pc = return_address - 1; // in the call
    to->rank = static_cast<std::uint32_t>(core - cores);
    to->has_rank = core >= cores && core < cores + core_count;
    to->last_call = core->last_call;
    to->signal = k_thrown;
    _exit(1);
}

bool crash_place::thrown() const { return noted_ != nullptr && noted_->signal == k_thrown; }

std::string crash_place::text() const
{
    if (noted_ == nullptr || noted_->signal == 0 || !noted_->has_rank)
        return "";
    std::string text = fmt::format(", rank {} at {}", noted_->rank, place_at(noted_->pc));
    if (noted_->last_call != 0)
        text += "; the last call of the HAL: " + place_at(noted_->last_call - 1);
    return text;
}

} // namespace weft
