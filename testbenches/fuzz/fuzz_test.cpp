// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Damaged files through the program. WEFT_FUZZ_SEED gives another seed than that of every day, WEFT_FUZZ_CASES another number of
// cases; a failure names seed, case and the file that it keeps.
#include "testbenches/fuzz/fuzzer.h"
#include "testbenches/support/key_modes.h"
#include "testbenches/support/key_sweep.h"

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
        const std::string complaint = f.run(n, f.damaged(n, text_of(files[n % files.size()])), {"check", "FILE"});
        if (!complaint.empty())
            FAIL_CHECK(complaint);
    }
    CHECK(f.cases_with(0) > cases / 20); // some damage is none
    CHECK(f.cases_with(2) > cases / 4);
}

bool has_rv64()
{
    return cli::read_platform_text(
               "platform: tpu_v3\nchip: {core: {model: rv64}}\nworkload: [{op: all_gather, sizes: [4 KiB]}]\n",
               "rv64.yaml")
               .platform != nullptr;
}

/// A run of this many bytes and ranks ends soon, whatever its other keys are.
bool is_small(const std::string& text, const std::vector<std::string>& overrides)
{
    cli::platform_source source;
    source.overrides = overrides;
    const cli::loaded_platform loaded = cli::read_platform_text(text, "case.yaml", source);
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

/// Other values for up to three keys; they are legal by themselves more often than not.
std::vector<std::string> other_values(const std::vector<swept_key>& keys, std::mt19937_64& random)
{
    std::vector<std::string> all;
    for (std::size_t n = 1 + random() % 3; n > 0; --n) {
        const swept_key& key = keys.at(random() % keys.size());
        if (!key.values.empty())
            all.push_back(key.path + "=" + key.values[random() % key.values.size()]);
    }
    return all;
}

/// `weft run` of small configurations: one in four is damaged as a text, in the others keys have other values.
void fuzz_run(std::uint64_t cases, unsigned bound_s)
{
    fuzzer f("run", bound_s);
    const bool rv64 = has_rv64();
    std::vector<std::string> texts;
    std::vector<std::vector<swept_key>> keys;
    for (const key_mode& mode : key_modes())
        if ((!mode.rv64 || rv64) && !mode.rtl) {
            texts.push_back(mode.text);
            INFO(mode.name);
            keys.push_back(key_sweep::keys_of(mode.text));
            REQUIRE_FALSE(keys.back().empty());
        }
    std::uint64_t ran = 0;
    for (std::uint64_t n = 0; n < cases; ++n) {
        const std::size_t mode = n % texts.size();
        std::mt19937_64 random = f.random(n);
        const bool as_text = random() % 4 == 0;
        const std::string text = as_text ? f.damaged(n, texts[mode]) : texts[mode];
        std::vector<std::string> overrides;
        if (!as_text)
            overrides = other_values(keys[mode], random);
        overrides.push_back("time_limit=20 ms");
        if (!is_small(text, overrides))
            continue;
        ++ran;
        std::vector<std::string> arguments{"run", "FILE", "--quiet", "--out", "DIR"};
        for (const std::string& o : overrides)
            arguments.insert(arguments.end(), {"--set", o});
        const std::string complaint = f.run(n, text, arguments);
        if (!complaint.empty())
            FAIL_CHECK(complaint);
    }
    CHECK(ran > cases / 2);
    CHECK(f.cases_with(0) > cases / 5);
}

} // namespace

TEST_CASE("damaged shipped configurations end weft check with 0 or 2", "[fuzz][fast]")
{
    fuzz_check(cases_or(500), 30);
}
TEST_CASE("damaged small configurations end weft run with 0 or 1 or 2", "[fuzz][fast]") { fuzz_run(cases_or(150), 60); }

TEST_CASE("a hundred thousand damaged configurations through weft check", "[fuzz][slow]")
{
    fuzz_check(cases_or(100'000), 60);
}
TEST_CASE("ten thousand damaged small configurations through weft run", "[fuzz][slow]")
{
    fuzz_run(cases_or(10'000), 120);
}
