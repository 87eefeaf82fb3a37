// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The buffers of a case in the memories of the ranks, as the host fills and reads them without simulated time, and the
// room that they take. An input is surrounded by poison, so that an answer that was never written shows up as wrong,
// and followed by guards, which nobody may write to.
#pragma once

#include "platforms/workload/collective_data.h"
#include "platforms/workload/machine.h"
#include "platforms/workload/run_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// What the host has put where.
struct placed_case {
    collective_case what;
    std::uint64_t buffer_offset = 0;
    std::uint64_t input_seed = 0;
};

class case_memory {
public:
    /// `output_offset`: of collectives with an output beside their buffer.
    case_memory(machine& m, std::uint64_t output_offset) : machine_(m), output_offset_(output_offset) {}

    std::uint64_t output_offset() const { return output_offset_; }
    /// Writes the inputs of all ranks that take part. Throws bug where a buffer does not fit. Ends early at a stop
    /// request.
    void fill(const placed_case& placed, const rank_groups& groups);
    /// The same for dispatch and combine, with the lists of the tokens. Without data, these are as if they had been
    /// sent.
    void fill_tokens(const placed_case& placed, const rank_groups& groups, bool with_data);
    /// Of the result regions; valid while this lives.
    memory_reader reader_of(const placed_case& placed);
    check_outcome check(const placed_case& placed, const rank_groups& groups)
    {
        return check_result(placed.what, placed.input_seed, groups, reader_of(placed));
    }

    /// A rank answers at `at_ps`, now: of its result a digest is kept, above 64 KiB of 8 bytes in 256.
    void keep_answer(std::uint32_t rank, std::uint64_t at_ps);
    struct early_answer {
        std::uint32_t rank;
        std::uint64_t at_ps;
    };
    /// The ranks whose result has changed since they answered, lowest first.
    std::vector<early_answer> early_answers() const;

    /// After the collective: who wrote behind a buffer or an output, as a sentence; "" for nobody.
    std::string broken_guard() const;

private:
    struct guard {
        std::uint32_t rank;
        std::uint64_t offset; ///< where the buffer ends
        std::uint64_t bytes;
        const char* behind; ///< "its buffer"
    };
    struct result_place { ///< in the memory of a rank
        std::uint64_t offset = 0, bytes = 0;
        std::uint64_t answer_ps = k_never_ps;
        std::uint64_t digest = 0; ///< at its answer
    };
    void begin_fill();
    std::uint64_t digest_of(std::uint32_t rank) const;
    void set_guard(chip& of, std::uint64_t end, std::uint64_t next, const char* behind);
    template <class Fill> void each_span(chip_memory& memory, std::uint64_t offset, std::uint64_t bytes, Fill&& fill);
    void set(chip_memory& memory, std::uint64_t offset, std::uint64_t bytes, int value);
    void write(chip_memory& memory, std::uint64_t offset, const void* from, std::uint64_t bytes);
    void write_lists(const collective_case& c, const token_lists& lists, const std::vector<std::uint32_t>& members, bool as_sent);

    machine& machine_;
    std::uint64_t output_offset_;
    std::vector<guard> guards_;
    std::vector<result_place> results_; ///< by rank; no bytes: it has none
};

/// Offset of the output buffer of all_to_all, dispatch and combine: behind the largest input, page-aligned.
std::uint64_t output_offset_for(const run_config& config);
std::uint64_t output_offset_for(const std::vector<std::uint64_t>& input_bytes); ///< of these alone
/// Bytes of the buffer with the input of a rank.
std::uint64_t input_bytes_of(const collective_case& c);
/// Where the lists of dispatch and combine are.
std::uint64_t token_lists_offset_for(std::uint64_t output_offset, const collective_case& c);
/// Where an algorithm keeps what is on its way: those of all_to_all behind that, the others there.
std::uint64_t scratch_offset_for(std::uint64_t output_offset, std::uint32_t ranks, abi::algorithm algo);
/// HBM that a case needs, from offset 0; `output_offset` as above.
std::uint64_t hbm_bytes_for(std::uint64_t output_offset, const collective_case& c, std::uint32_t ranks);
/// Host memory for the lists of dispatch and combine, of the host and in all HBMs, with data and without; `line`: as in
/// tokens.h.
std::uint64_t host_list_bytes_for(const run_config& config, std::uint32_t ranks, std::uint32_t line);
/// Host memory for the contents of all HBMs while everything runs, but for these; 0 with data off.
std::uint64_t host_data_bytes_for(const run_config& config, std::uint32_t ranks);

} // namespace weft
