// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Two results, key by key: configuration, results, statistics. Results are paired by what was run, not by their place
// in the file. What only the host decides (its time, the rate of the simulator) is left out.
#pragma once

#include "platforms/report/results_file.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// A number that both have.
struct compared_figure {
    std::string name; ///< "all_reduce ring_1d 4096 B int32 sum: time"
    std::string unit;
    double a = 0, b = 0;
    /// (b - a) / a; infinite where only a is 0.
    double difference() const;
};
/// A key of the configuration, or another text, that differs; "not there" where one has none.
struct compared_text {
    std::string key;
    std::string a, b;
};

struct comparison {
    std::string name; ///< of the point of a sweep; "": of the whole
    std::vector<std::string> notes; ///< why one of them may be no whole answer: a sentence each
    std::string version_a, version_b;
    std::string digest_a, digest_b;
    std::vector<compared_text> config;       ///< in the order of the keys
    std::vector<compared_text> outcomes;     ///< failures, wrong elements of rows, what set a bound
    std::vector<compared_figure> beyond;     ///< times beyond the tolerance, the largest difference first
    std::vector<compared_figure> bounds;     ///< least times by links and memory beyond it, in the same order
    std::vector<compared_figure> stats;      ///< statistics beyond it, in the same order
    std::vector<std::string> only_a, only_b; ///< results and statistics
    std::size_t compared = 0;                ///< figures that both have
    std::size_t results = 0;                 ///< that both have
    std::size_t equal = 0;                   ///< of them: exactly

    bool same() const { return differing() == 0 && outcomes.empty() && only_a.empty() && only_b.empty(); }
    /// Figures beyond the tolerance.
    std::size_t differing() const { return beyond.size() + bounds.size() + stats.size(); }
};

/// `tolerance`: 0.01 lets figures differ by 1 %.
comparison compare(const stored_results& a, const stored_results& b, double tolerance);

/// Differences of two configurations.
std::vector<compared_text> compare_configs(const nlohmann::json& a, const nlohmann::json& b);

/// What is compared: a single pair, or the points of two sweeps that have the same settings.
struct comparisons {
    std::string a, b; ///< as the user names them
    double tolerance = 0;
    std::vector<comparison> pairs;
    std::vector<std::string> only_a, only_b; ///< points

    bool same() const;
};

/// `a` and `b`: folders with results.json, such files, or folders of sweeps. Throws user_error where they cannot be
/// compared.
comparisons compare_paths(const std::string& a, const std::string& b, double tolerance);

std::string to_text(const comparisons& all);
std::string to_csv(const comparisons& all);
std::string to_page(const comparisons& all);

} // namespace weft
