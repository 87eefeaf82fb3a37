// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The same vectors through the model, Verilator and Icarus.
#include "rtl/shell/rtl_aggregation.h"
#include "testbenches/support/aggregation_passes.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#ifdef WEFT_IVERILOG

using namespace weft;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t k_depth = 64; // of vectors_bench.v
constexpr int k_passes = 1500;

std::string hex(std::uint64_t value)
{
    char text[20];
    std::snprintf(text, sizeof text, "%llx ", static_cast<unsigned long long>(value));
    return text;
}

std::string hex(const std::array<std::uint32_t, k_aggregation_alus>& words)
{
    std::string text;
    for (std::size_t k = words.size(); k-- > 0;) {
        char word[12];
        std::snprintf(word, sizeof word, "%08x", words[k]);
        text += word;
    }
    return text + ' ';
}

std::uint64_t byte(std::int8_t value) { return static_cast<std::uint8_t>(value); }

std::string line_of(const aggregation_pass& p, const aggregation_result& r)
{
    const unsigned steps = 16u >> (r.step == next_step::drop ? 0 : static_cast<unsigned>(r.step));
    const auto next = static_cast<unsigned>(r.step == next_step::recirculate ? r.next_type : pass_type::consume0);
    return hex(1) + hex(static_cast<unsigned>(p.type)) + hex(static_cast<unsigned>(p.size)) + hex(p.pool_index) +
           hex(p.worker) + hex(p.workers) + hex(p.last_of_message) + hex(byte(p.exponent0)) + hex(byte(p.exponent1)) +
           hex(p.map_result) + hex(p.count) + hex(p.d0) + hex(p.d1) + hex(r.bitmap_before) + hex(r.map_result) +
           hex(r.count) + hex(steps) + hex(next) +
           hex(4u * r.writes_d0 + 2u * r.reads_exponent0 + 1u * r.reads_exponent1) +
           hex(r.reads_exponent0 || r.reads_exponent1 ? byte(r.exponent) : 0) + hex(r.words) + "\n";
}

std::string output_of(const std::string& command)
{
    std::string text;
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    char part[256];
    while (std::fgets(part, sizeof part, pipe) != nullptr)
        text += part;
    ::pclose(pipe);
    return text;
}

} // namespace

TEST_CASE("Icarus gives what model and Verilator give")
{
    const fs::path folder = fs::temp_directory_path() / ("weft_icarus_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const std::string vectors = (folder / "vectors").string();
    const std::string wrong = (folder / "wrong").string();
    const std::string program = (folder / "bench").string();
    {
        std::ofstream file(vectors);
        std::ofstream wrong_file(wrong);
        const std::string idle = hex(0) + "4 3 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
        lockstep_aggregation both(k_depth);
        weft::testing::random_passes passes(99, k_depth);
        weft::testing::splitmix random(5);
        for (int i = 0; i < k_passes; ++i) {
            const auto& pass = passes.next();
            auto result = both.take(both.submit(pass, passes.now_ps()), passes.now_ps());
            file << line_of(pass, result);
            if (i == k_passes / 2)
                result.words[31] ^= 0x8000'0000;
            wrong_file << line_of(pass, result);
            if (random.one_in(5))
                file << idle;
        }
    }
    const std::string sources =
        WEFT_SOURCE_DIR "/rtl/aggregation/*.v " WEFT_SOURCE_DIR "/testbenches/rtl/vectors_bench.v";
    CHECK(output_of(WEFT_IVERILOG " -g2005 -Wall -Wno-timescale -s vectors_bench -o " + program + ' ' + sources) == "");
    CHECK(output_of("vvp -n " + program + " +vectors=" + vectors) == "PASS " + std::to_string(k_passes) + "\n");
    CHECK(output_of("vvp -n " + program + " +vectors=" + wrong).find("FAIL at clock 754: ") == 0);
    fs::remove_all(folder);
}

#endif
