// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the results of a sweep vary in: swept keys, operation, algorithm, size. Each is an axis with its values, of
// which plots take one for x, some for lines and the rest for panels.
#pragma once

#include "platforms/sweep/sweep_report.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct sweep_axis_value {
    std::string text;
    std::optional<std::uint64_t> units; ///< sweep_cell::units
};

struct result_axis {
    std::string name;     ///< "size", "algorithm", "ici.router_latency"
    sweep_column column;  ///< of a key; of "size" a quantity
    bool numeric = false; ///< all values are numbers; they are in ascending order then, else in that of the results
    std::vector<sweep_axis_value> values;

    /// A value on the axis, with three digits where it is none of `values`: "68.4 KiB".
    std::string text_of(double units) const;
    double number_of(double units) const; ///< without the scale of real numbers
};

/// A result, and where it stands on each axis.
struct placed_result {
    const stored_row* row = nullptr;
    std::vector<std::size_t> at; ///< by axis, index of the value
};

struct placed_results {
    std::vector<result_axis>
        axes; ///< swept keys, then sweep_dimensions(), then "entry": which of equal rows of one point
    std::vector<placed_result> results;

    std::optional<std::size_t> axis(const std::string& name) const;
};
placed_results place_results(const sweep_report& report);

/// "25.3 Gbps", "68.4 KiB", "1.5 us", "47 cycles": three digits.
std::string rounded_quantity(quantity_kind kind, double base_units);

} // namespace weft
