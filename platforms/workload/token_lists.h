// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which tokens of a dispatch or combine go to which ranks, drawn from the seed. And the lists of them for the firmware
// (hw/abi/tokens.h).
//
// A rank has size_bytes / token_bytes tokens. Each goes to experts_per_token different ranks, one expert on each:
// uniformly drawn, or, by a choice in expert_skew, from the first quarter of the ranks. Ranks are places in their
// group.
#pragma once

#include "hw/abi/tokens.h"
#include "platforms/workload/collective_case.h"

#include <cstdint>
#include <vector>

namespace weft {

/// From one rank to another one.
struct token_list_contents {
    abi::token_list head;
    std::vector<std::uint32_t> before; ///< the words behind the head
    std::vector<abi::token_run> runs;
};

class token_lists {
public:
    /// A token in a block of its source: once for each line that it goes to.
    struct placed_token {
        std::uint32_t token = 0;
        std::uint32_t line = 0;    ///< of the receivers
        std::uint64_t members = 0; ///< as in token_run
    };
    /// A token at a receiver.
    struct received_token {
        std::uint32_t source = 0;
        std::uint32_t token = 0;
    };

    /// Of the group of `ranks` that is number `group`, in lines of `line` ranks.
    token_lists(const collective_case& c, std::uint64_t seed, std::uint32_t group, std::uint32_t ranks, std::uint32_t line);
    /// Of the tokens of the first `sources` ranks alone.
    token_lists(const collective_case& c, std::uint64_t seed, std::uint32_t group, std::uint32_t ranks, std::uint32_t line,
                std::uint32_t sources);

    std::uint32_t ranks() const { return ranks_; }
    std::uint32_t line() const { return line_; }
    std::uint32_t tokens() const { return tokens_; } ///< of a rank
    const std::vector<placed_token>& own(std::uint32_t source) const { return own_[source]; }
    std::uint32_t received_count(std::uint32_t receiver) const;
    std::vector<received_token> received(std::uint32_t receiver) const;
    /// Ranks of a set, by place in the group.
    std::vector<std::uint32_t> members_of(std::uint32_t source, const placed_token& t) const;
    /// Of the tokens of `source`, by receiver; token_list::at is known here.
    std::vector<token_list_contents> lists_of(std::uint32_t source) const;

private:
    void place_tokens(std::uint32_t source, const std::vector<std::uint32_t>& receivers, std::uint32_t experts);
    std::uint32_t& count(std::uint32_t source, std::uint32_t receiver) { return counts_[std::size_t{source} * ranks_ + receiver]; }

    std::uint32_t ranks_, line_, tokens_;
    std::vector<std::vector<placed_token>> own_;
    std::vector<std::uint32_t> counts_; ///< [source][receiver]
    std::vector<std::uint32_t> at_;     ///< [source][receiver]: sum of those of the sources before
};

/// Messages of an average rank, of tokens alone, by a sample of sources; for predictions.
struct token_messages {
    double leads = 0; ///< of tokens to those that lead them
    double spans = 0; ///< of tokens that others lead
    double runs = 0;  ///< of all lists of a rank
    double lines = 0; ///< that a token goes to
    double shared = 0; ///< part of the tokens in blocks that are for several ranks of a line
};
token_messages messages_of_tokens(const collective_case& c, std::uint32_t ranks, std::uint32_t line);

/// Experts of a token on a machine of so many ranks.
std::uint32_t experts_of(const collective_case& c, std::uint32_t ranks);
/// Runs that any list has at most.
std::uint32_t most_runs_of(const collective_case& c, std::uint32_t line);
/// Bytes of the blocks of a rank, at most, and of the tokens that it receives: with eight standard deviations to spare
/// (a chance below 10^-15).
std::uint64_t own_token_bytes(const collective_case& c);
std::uint64_t received_token_bytes(const collective_case& c);

} // namespace weft
