// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs of a collective, and the check of its answer against a reference computed here, on the host, from the inputs
// alone. Shares no arithmetic with hw/dma/reduce.
//
// Inputs are a stateless hash of (seed, operation, type, redop, count, root, style, rank, element index): any piece can
// be made at any time. The algorithm is left out, so that all algorithms get the same inputs and must give the same
// digest.
//
// Where ranks reduce in groups, "all ranks" below are the members of one group, and r is a rank's place among them.
//
//   exact   integers, and every type of an operation that only moves data: any bit pattern (NaNs too: moving is not
//           arithmetic). Floats that are reduced: integers x, 1 <= |x| <= V, chosen so that the sum of |x| over all
//           ranks is at most 2^p (p significant bits, see abi::k_element_rows). Every partial sum in any
//           order of association is then an integer of magnitude <= 2^p, which the type holds exactly: the sum is
//           exact, and the check compares bits. Where there are too many ranks for that (n > 2^(p-1), which leaves |x|
//           <= 2), element i gets non-zero values from the ranks r with (r + i) mod G == 0 only, and +0 from the
//           others; G = ceil(n / 2^(p-1)) consecutive elements then exercise every rank exactly once.
//   random  reduced floats are uniform multiples of 2^-p in [-1, 1); all else as in exact. max and min are exact. A sum
//           `got` is right when |got - sum| <= (n-1) u sum|x_i|, u = 2^-p, with the exact `sum`. That holds for every
//           order of n-1 additions rounded to nearest in the type, without higher-order terms: Jeannerod and Rump,
//           "Improved error bounds for inner products in floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34
//           (2013); with them, Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., (4.4).
//
// Exact max and min need no such care: every rank gives 1 <= |x| <= 2^p.
//
// Quantised sums (collective_case::quantised_block) of n ranks are right within n^2 2^e / 2^32, 2^e being above every
// magnitude of the block, plus the rounding to float32: appendix E of Sapio et al., NSDI 2021, with rounding to
// nearest.
//
// Limits: k_max_checked_ranks, and most_random_summands() of the random style.
#pragma once

#include "platforms/workload/collective_case.h"
#include "platforms/workload/rank_groups.h"
#include "platforms/workload/token_lists.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft {

/// Write input elements [first_element, first_element + elements) of `rank` to `out` (elements * element_bytes bytes,
/// unaligned allowed), in the byte order of the host. Index space: abi::command's `count` elements; see input_range().
void generate(const collective_case& c, std::uint64_t seed, std::uint32_t rank, std::uint32_t ranks,
              std::uint64_t first_element, std::uint8_t* out, std::size_t elements);
/// The same where ranks reduce in groups.
void generate(const collective_case& c, std::uint64_t seed, std::uint32_t rank, const rank_groups& groups,
              std::uint64_t first_element, std::uint8_t* out, std::size_t elements);

/// Contiguous bytes of a rank's memory; data == nullptr stands for `bytes` zeros (never written).
struct memory_span {
    const std::uint8_t* data = nullptr;
    std::uint64_t bytes = 0;
};

/// Returns at least one and at most `max_bytes` bytes of `rank`'s result region (see result_range) from `offset_bytes`
/// on, valid until the next call. Long spans are fast: nothing is copied where one holds a whole block.
using memory_reader =
    std::function<memory_span(std::uint32_t rank, std::uint64_t offset_bytes, std::uint64_t max_bytes)>;

/// Of dispatch and combine: the tokens that a rank has before the start, one behind the other, as their numbers; what
/// lies there is made from these. Of received ones every source has its own numbers.
std::vector<std::uint64_t> token_numbers(const collective_case& c, const token_lists& lists, std::uint32_t place);
/// Their elements [first_element, first_element + elements).
void generate_tokens(const collective_case& c, std::uint64_t seed, std::uint32_t rank, const rank_groups& groups,
                     const std::vector<std::uint64_t>& numbers, std::uint64_t first_element, std::uint8_t* out, std::size_t elements);
/// Of all groups; empty for other operations.
std::vector<token_lists> lists_of_groups(const collective_case& c, std::uint64_t seed, const rank_groups& groups);

/// A result that is not the expected one. Bit patterns, in the low bits for 16-bit types.
struct wrong_element {
    std::uint32_t rank = 0;
    std::uint64_t index = 0;    ///< element of the result region
    std::uint32_t expected = 0; ///< of a random sum: the nearest float32 of the exact sum
    std::uint32_t got = 0;
    double tolerance = 0; ///< 0: bits were compared
};

/// "rank 3, element 17: expected 0x3f800000 (1), got 0x00000000 (0)".
std::string to_string(const wrong_element& w, abi::element_type type);

struct check_outcome {
    std::uint64_t checked = 0; ///< elements compared
    std::uint64_t wrong = 0;
    wrong_element first;      ///< lowest rank, then lowest index; meaningless while wrong == 0
    std::uint64_t digest = 0; ///< of the content that was read, of every rank; does not depend on the order of checking
};

/// Checks the answer of one case. The reference is made block by block; where ranks share it, once for all of them, or
/// for all of a group.
class result_checker {
public:
    /// Throws bug when problem_of(c, ranks) has something to say or there are too many ranks.
    result_checker(const collective_case& c, std::uint64_t seed, std::uint32_t ranks);
    /// For a case with groups. Throws bug also when a group has not ranks_per_group members.
    result_checker(const collective_case& c, std::uint64_t seed, rank_groups groups);

    void check_all(const memory_reader& read);
    /// One rank alone. Each rank may be checked once: the digest counts it every time.
    void check_rank(std::uint32_t rank, const memory_reader& read);

    const check_outcome& outcome() const { return outcome_; }

private:
    bool same_for_all_ranks() const;
    bool compares_bits() const;
    void make_reference(std::uint32_t rank, std::uint64_t first, std::size_t elements);
    void make_reduction(const std::vector<std::uint32_t>& members, std::uint64_t first, std::size_t elements, std::size_t at = 0);
    void make_tokens(std::uint32_t rank, std::uint64_t first, std::size_t elements);
    abi::element_range range_of(std::uint32_t rank);
    void make_gather(const std::vector<std::uint32_t>& members, std::uint64_t first, std::size_t elements);
    void make_exchange(std::uint32_t rank, std::uint64_t first, std::size_t elements);
    void compare(std::uint32_t rank, std::uint64_t first, std::size_t elements, const memory_reader& read);
    void note_wrong(const wrong_element& w);

    collective_case case_;
    std::uint64_t seed_;
    rank_groups groups_;
    std::uint32_t ranks_;
    std::vector<token_lists> tokens_;                   ///< of groups
    std::vector<token_lists::received_token> received_; ///< of the rank that is being checked, by dispatch
    std::vector<std::uint8_t> reference_; ///< right bit patterns of the block; of random sums the last that passed
    bool reference_valid_ = false;        ///< false: no random sum of this block has passed yet
    std::uint64_t reference_digest_ = 0;
    std::vector<double> sums_; ///< random sums: exact value and allowed difference of each element
    std::vector<double> tolerances_;
    std::vector<std::int32_t> values_; ///< one rank's contribution to the block, see collective_data.cpp
    std::vector<std::int32_t> reduced_;
    std::vector<std::int64_t> totals_; ///< random sums, fixed point
    std::vector<std::int64_t> magnitudes_;
    std::vector<std::uint8_t> gathered_; ///< a block that lies in several spans
    check_outcome outcome_;
};

/// All ranks of one case.
check_outcome check_result(const collective_case& c, std::uint64_t seed, std::uint32_t ranks,
                           const memory_reader& read);
check_outcome check_result(const collective_case& c, std::uint64_t seed, const rank_groups& groups,
                           const memory_reader& read);

} // namespace weft
