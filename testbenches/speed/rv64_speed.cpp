// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions per second of the RV64 engine alone: one hart that only computes, in quanta of so many instructions. 940 are
// the quantum of 1 us that cores have by default.
#ifdef WEFT_RV64_PROGRAMS

#include "hw/abi/platform_table.h"
#include "hw/core/elf_program.h"
#include "hw/core/iss.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

using namespace weft;

namespace {

struct no_devices final : iss_host {
    bool iss_read(std::uint64_t, unsigned, std::uint64_t&) override { return false; }
    bool iss_write(std::uint64_t, unsigned, std::uint64_t) override { return false; }
    std::uint64_t iss_read_counter(iss_counter) override { return 0; }
};

void rv64_instructions(benchmark::State& state)
{
    no_devices host;
    const std::unique_ptr<std::uint8_t, void (*)(void*)> memory(
        static_cast<std::uint8_t*>(std::aligned_alloc(4096, abi::k_program_memory_bytes)), std::free);
    std::fill_n(memory.get(), abi::k_program_memory_bytes, std::uint8_t{0});
    const std::unique_ptr<iss> engine = make_iss(host);
    engine->map_memory(abi::k_program_memory_base, abi::k_program_memory_bytes, memory.get());
    const elf_program program = read_elf_file(WEFT_RV64_PROGRAMS "/test_speed.elf");
    for (const elf_segment& s : program.segments)
        std::copy(s.bytes.begin(), s.bytes.end(), memory.get() + (s.address - abi::k_program_memory_base));
    engine->program_loaded();
    engine->set_pc(program.entry);
    for (auto _ : state)
        if (engine->run(static_cast<std::uint64_t>(state.range(0))) != iss_stop::budget)
            state.SkipWithError("the program trapped");
    state.SetItemsProcessed(static_cast<std::int64_t>(engine->retired()));
}
BENCHMARK(rv64_instructions)->Arg(940)->Arg(100'000)->Arg(10'000'000);

} // namespace

#endif
