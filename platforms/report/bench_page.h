// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The page of `weft bench`: tables of figures with targets, on the terminal as they are measured and as Markdown. Knows
// no platform.
#pragma once

#include "platforms/report/isolated_run.h"
#include "tlm/config_fields.h"

#include <functional>
#include <string>
#include <vector>

namespace weft {

/// Titles and lines; each line says what, figure, target, and whether it is met.
class bench_page {
public:
    void title(const std::string& text);
    void line(const std::string& what, const std::string& figure, const std::string& target = "", bool met = true);
    const std::string& markdown() const { return markdown_; }
    unsigned missed() const { return missed_; }

private:
    void add(const std::string& markdown, const std::string& plain);
    std::string markdown_;
    unsigned missed_ = 0;
};

struct bench_settings {
    unsigned repeats = 3;
    bool quick = false; ///< only packet-hops and size
    bool full = false;  ///< also what takes many minutes
    isolated_run isolated;

    /// Median of every figure over `repeats` runs.
    run_figures median_of(const std::function<run_figures()>& measure) const;
};

std::string millions(double value); ///< "3.10 M/s"

/// Throws bug where a bench's own configuration has an error.
void require_sound(const std::vector<config_problem>& problems);

} // namespace weft
