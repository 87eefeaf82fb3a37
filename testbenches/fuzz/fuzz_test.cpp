// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Damaged files through the program. WEFT_FUZZ_SEED gives another seed than that of every day, WEFT_FUZZ_CASES another number of
// cases; a failure names seed, case and the file that it keeps.
#include "testbenches/fuzz/fuzzer.h"
#include "testbenches/support/key_modes.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::testing;

namespace {

std::uint64_t cases_or(std::uint64_t number)
{
    const char* wanted = std::getenv("WEFT_FUZZ_CASES");
    return wanted != nullptr ? std::strtoull(wanted, nullptr, 0) : number;
}

/// `weft check` of damaged shipped configurations.
void fuzz_check(std::uint64_t cases, unsigned bound_s)
{
    fuzzer f("check", bound_s);
    const std::vector<std::string> files = shipped_files();
    REQUIRE(files.size() > 40);
    for (std::uint64_t n = 0; n < cases; ++n) {
        const std::string complaint =
            f.run(n, f.damaged(n, text_of(files[n % files.size()])), {"check", "FILE"});
        if (!complaint.empty())
            FAIL_CHECK(complaint);
    }
    CHECK(f.cases_with(0) > cases / 20); // some damage is none
    CHECK(f.cases_with(2) > cases / 4);
}

bool has_rv64()
{
    return cli::read_platform_text("platform: tpu_pod\nchip: {core: {model: rv64}}\nworkload: [{op: all_gather, sizes: [4 KiB]}]\n",
                                   "rv64.yaml")
               .platform != nullptr;
}

/// A run of this many bytes and ranks ends soon, whatever its other keys are.
bool is_small(const std::string& text)
{
    const cli::loaded_platform loaded = cli::read_platform_text(text, "case.yaml");
    if (!loaded.platform)
        return true; // refused, which is soon, too
    const run_config& run = loaded.platform->run();
    std::uint64_t bytes = 0;
    for (const collective_spec& spec : run.workload)
        for (const collective_case& c : spec.case_count() > 50 ? std::vector<collective_case>{} : spec.cases())
            bytes += c.size_bytes;
    if (run.training_step)
        bytes += run.training_step->buffer_bytes() * run.training_step->collectives();
    return run.case_count() <= 50 && loaded.platform->ranks() <= 64 && bytes * loaded.platform->ranks() <= 32 << 20;
}

/// `weft run` of damaged small configurations.
void fuzz_run(std::uint64_t cases, unsigned bound_s)
{
    fuzzer f("run", bound_s);
    const bool rv64 = has_rv64();
    std::vector<std::string> texts;
    for (const key_mode& mode : key_modes())
        if ((!mode.rv64 || rv64) && !mode.rtl)
            texts.push_back(mode.text);
    std::uint64_t ran = 0;
    for (std::uint64_t n = 0; n < cases; ++n) {
        const std::string text = f.damaged(n, texts[n % texts.size()]);
        if (!is_small(text))
            continue;
        ++ran;
        const std::string complaint =
            f.run(n, text, {"run", "FILE", "--quiet", "--out", "DIR", "--set", "time_limit=20 ms"});
        if (!complaint.empty())
            FAIL_CHECK(complaint);
    }
    CHECK(ran > cases / 2);
    CHECK(f.cases_with(0) > cases / 10);
}

} // namespace

TEST_CASE("damaged shipped configurations end weft check with 0 or 2", "[fuzz][fast]") { fuzz_check(cases_or(500), 30); }
TEST_CASE("damaged small configurations end weft run with 0 or 1 or 2", "[fuzz][fast]") { fuzz_run(cases_or(40), 60); }

TEST_CASE("a hundred thousand damaged configurations through weft check", "[fuzz][slow]") { fuzz_check(cases_or(100'000), 60); }
TEST_CASE("ten thousand damaged small configurations through weft run", "[fuzz][slow]") { fuzz_run(cases_or(10'000), 120); }
