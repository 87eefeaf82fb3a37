// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which part of a run its trace or its captures show: some ranks, some links, a window of time. What is named twice
// must fit both.
#pragma once

#include "platforms/workload/process_groups.h"
#include "tlm/trace_sink.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft::cli {

/// As the user writes it. Empty: everything.
struct trace_filter_texts {
    std::vector<std::string> ranks; ///< each as in `groups` of a workload: "0-3,8", rows
    std::vector<std::string> links; ///< parts of names
    std::string window;             ///< "10 us..20 us"; either end may be left out
    std::string option = "--trace"; ///< whose filter it is, for messages
};

class trace_filter {
public:
    trace_filter() = default;
    /// Throws user_error, with the option and its remedy, for a text that names nothing.
    trace_filter(const trace_filter_texts& texts, std::uint32_t ranks, const table_of_rank& table_of);

    bool all() const { return !ranks_ && links_.empty() && from_ps_ == 0 && until_ps_ == k_end; }
    bool shows_rank(std::uint32_t rank) const { return !ranks_ || (rank < ranks_->size() && (*ranks_)[rank]); }
    bool shows_link(const std::string& name) const;
    /// Of `shown`, links that are shown: the first TEXT that none of them has in its name; "": each has one.
    std::string text_of_no_link(const std::set<std::string>& shown) const;
    bool shows_time(std::uint64_t ps) const { return ps >= from_ps_ && ps < until_ps_; }
    /// Something of it lies in the window, and a rank that is shown sends or gets it, where that is known.
    bool shows(const trace_slice& s) const;

private:
    static constexpr std::uint64_t k_end = ~std::uint64_t{0};
    std::optional<std::vector<bool>> ranks_;
    std::vector<std::string> links_;
    std::uint64_t from_ps_ = 0, until_ps_ = k_end;
};

} // namespace weft::cli
