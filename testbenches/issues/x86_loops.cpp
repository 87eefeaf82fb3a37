// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "testbenches/issues/x86_loops.h"

// Other compilers, a build without optimisation or with checks in it execute other instructions than those that costs.h counts.
#if defined(__x86_64__) && defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__) &&                        \
    !defined(__SANITIZE_ADDRESS__)
#define WEFT_COUNTS_X86
#include <immintrin.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#endif

namespace weft::test {

#ifdef WEFT_COUNTS_X86

namespace {

constexpr std::uint32_t k_most_words = 256;
alignas(64) std::uint32_t g_from[k_most_words];
alignas(64) std::uint32_t g_to[k_most_words];
volatile float g_scale = 3;
volatile int g_exponent = 3;
volatile std::uint32_t g_workers = 8;

#define WEFT_SSE __attribute__((target("sse4.1"), noinline))
#define WEFT_AVX2 __attribute__((target("avx2"), noinline))
#define WEFT_SWAP4 _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)
#define WEFT_SWAP8 _mm256_broadcastsi128_si256(WEFT_SWAP4)

const __m128i* from4(std::uint32_t i) { return reinterpret_cast<const __m128i*>(g_from + i); }
__m128i* to4(std::uint32_t i) { return reinterpret_cast<__m128i*>(g_to + i); }
const __m256i* from8(std::uint32_t i) { return reinterpret_cast<const __m256i*>(g_from + i); }
__m256i* to8(std::uint32_t i) { return reinterpret_cast<__m256i*>(g_to + i); }
const float* floats(std::uint32_t i) { return reinterpret_cast<const float*>(g_from + i); }
float* results(std::uint32_t i) { return reinterpret_cast<float*>(g_to + i); }

/// Once a block: the largest of four magnitudes and its exponent.
__attribute__((always_inline, target("sse4.1"))) inline void publish(__m128 most)
{
    most = _mm_max_ps(most, _mm_movehl_ps(most, most));
    most = _mm_max_ss(most, _mm_shuffle_ps(most, most, 1));
    g_exponent = ((_mm_cvtsi128_si32(_mm_castps_si128(most)) & 0x7f800000) >> 23) - 126;
}
/// Once a block: the scale of the exponent that came back.
float next_scale()
{
    const std::uint64_t power = static_cast<std::uint64_t>(1023 + g_exponent) << 52;
    double two_to_exponent = 0;
    __builtin_memcpy(&two_to_exponent, &power, sizeof power);
    return static_cast<float>(2147483647.0 / (g_workers * two_to_exponent));
}

void nothing(std::uint32_t) {}

WEFT_SSE void swap_sse(std::uint32_t words)
{
    const __m128i mask = WEFT_SWAP4;
    for (std::uint32_t i = 0; i < words; i += 4)
        _mm_storeu_si128(to4(i), _mm_shuffle_epi8(_mm_loadu_si128(from4(i)), mask));
}
WEFT_AVX2 void swap_avx2(std::uint32_t words)
{
    const __m256i mask = WEFT_SWAP8;
    for (std::uint32_t i = 0; i < words; i += 8)
        _mm256_storeu_si256(to8(i), _mm256_shuffle_epi8(_mm256_loadu_si256(from8(i)), mask));
}
WEFT_SSE void exponent_sse(std::uint32_t words)
{
    const __m128 magnitude = _mm_castsi128_ps(_mm_set1_epi32(0x7fffffff));
    __m128 most = _mm_setzero_ps();
    for (std::uint32_t i = 0; i < words; i += 4)
        most = _mm_max_ps(most, _mm_and_ps(_mm_loadu_ps(floats(i)), magnitude));
    publish(most);
}
WEFT_AVX2 void exponent_avx2(std::uint32_t words)
{
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    __m256 most = _mm256_setzero_ps();
    for (std::uint32_t i = 0; i < words; i += 8)
        most = _mm256_max_ps(most, _mm256_and_ps(_mm256_loadu_ps(floats(i)), magnitude));
    publish(_mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1)));
}
WEFT_SSE void quantise_sse(std::uint32_t words)
{
    const __m128i mask = WEFT_SWAP4;
    const __m128 scale = _mm_set1_ps(g_scale);
    for (std::uint32_t i = 0; i < words; i += 4)
        _mm_storeu_si128(to4(i), _mm_shuffle_epi8(_mm_cvtps_epi32(_mm_mul_ps(_mm_loadu_ps(floats(i)), scale)), mask));
}
WEFT_AVX2 void quantise_avx2(std::uint32_t words)
{
    const __m256i mask = WEFT_SWAP8;
    const __m256 scale = _mm256_set1_ps(g_scale);
    for (std::uint32_t i = 0; i < words; i += 8)
        _mm256_storeu_si256(
            to8(i), _mm256_shuffle_epi8(_mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(floats(i)), scale)), mask));
}
WEFT_SSE void dequantise_sse(std::uint32_t words)
{
    const __m128i mask = WEFT_SWAP4;
    const __m128 scale = _mm_set1_ps(next_scale());
    for (std::uint32_t i = 0; i < words; i += 4)
        _mm_storeu_ps(results(i),
                      _mm_div_ps(_mm_cvtepi32_ps(_mm_shuffle_epi8(_mm_loadu_si128(from4(i)), mask)), scale));
}
WEFT_AVX2 void dequantise_avx2(std::uint32_t words)
{
    const __m256i mask = WEFT_SWAP8;
    const __m256 scale = _mm256_set1_ps(next_scale());
    for (std::uint32_t i = 0; i < words; i += 8)
        _mm256_storeu_ps(
            results(i),
            _mm256_div_ps(_mm256_cvtepi32_ps(_mm256_shuffle_epi8(_mm256_loadu_si256(from8(i)), mask)), scale));
}
WEFT_SSE void add_sse(std::uint32_t words)
{
    const __m128i mask = WEFT_SWAP4;
    for (std::uint32_t i = 0; i < words; i += 4)
        _mm_storeu_si128(to4(i),
                         _mm_add_epi32(_mm_loadu_si128(to4(i)), _mm_shuffle_epi8(_mm_loadu_si128(from4(i)), mask)));
}
WEFT_AVX2 void add_avx2(std::uint32_t words)
{
    const __m256i mask = WEFT_SWAP8;
    for (std::uint32_t i = 0; i < words; i += 8)
        _mm256_storeu_si256(to8(i), _mm256_add_epi32(_mm256_loadu_si256(to8(i)),
                                                     _mm256_shuffle_epi8(_mm256_loadu_si256(from8(i)), mask)));
}

/// Instructions from the child's stop to its end; 0 where the host lets nobody trace.
std::uint64_t steps_of(void (*loop)(std::uint32_t), std::uint32_t words)
{
    const pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
            _exit(1);
        raise(SIGSTOP);
        loop(words);
        _exit(0);
    }
    std::uint64_t steps = 0;
    int state = 0;
    while (child > 0 && waitpid(child, &state, 0) == child && WIFSTOPPED(state)) {
        if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) {
            kill(child, SIGKILL);
            waitpid(child, &state, 0);
            return 0;
        }
        ++steps;
    }
    return child > 0 && WIFEXITED(state) && WEXITSTATUS(state) == 0 ? steps : 0;
}

template <void (*Loop)(std::uint32_t)> std::uint64_t instructions(std::uint32_t words)
{
    return steps_of(Loop, words) - steps_of(words == 0 ? nothing : Loop, 0);
}

} // namespace

std::vector<x86_loop> x86_loops()
{
    using abi::instruction_set;
    using costs = firmware::costs::element_costs;
    if (!__builtin_cpu_supports("avx2") || steps_of(swap_sse, 0) == 0)
        return {};
    return {
        {"swap", instruction_set::x86_sse, &costs::swap, &costs::swap_block, instructions<swap_sse>},
        {"swap", instruction_set::x86_avx2, &costs::swap, &costs::swap_block, instructions<swap_avx2>},
        {"exponent", instruction_set::x86_sse, &costs::exponent, &costs::float_block, instructions<exponent_sse>},
        {"exponent", instruction_set::x86_avx2, &costs::exponent, &costs::float_block, instructions<exponent_avx2>},
        {"quantise", instruction_set::x86_sse, &costs::quantise, &costs::float_block, instructions<quantise_sse>},
        {"quantise", instruction_set::x86_avx2, &costs::quantise, &costs::float_block, instructions<quantise_avx2>},
        {"dequantise", instruction_set::x86_sse, &costs::dequantise, &costs::float_block, instructions<dequantise_sse>},
        {"dequantise", instruction_set::x86_avx2, &costs::dequantise, &costs::float_block,
         instructions<dequantise_avx2>},
        {"add", instruction_set::x86_sse, &costs::add, &costs::swap_block, instructions<add_sse>},
        {"add", instruction_set::x86_avx2, &costs::add, &costs::swap_block, instructions<add_avx2>}};
}

#else

std::vector<x86_loop> x86_loops() { return {}; }

#endif

} // namespace weft::test
