// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of several curves of time over size is the lowest, and where the lowest changes. Between two measured sizes a
// curve is a straight line on logarithmic scales; where it lacks one of the two it does not exist there. No SystemC, no
// names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

struct measured_curves {
    std::vector<std::uint64_t> sizes;                                ///< bytes, ascending, each once
    std::vector<std::vector<std::optional<std::uint64_t>>> times_ps; ///< by curve, then by size
};

/// Sizes of which one curve is the lowest, both ends included.
struct lowest_range {
    std::uint64_t from_bytes = 0;
    std::uint64_t to_bytes = 0;
    std::size_t curve = 0;
};
/// Where two curves that follow each other in being the lowest have the same time; interpolated.
struct curve_crossover {
    double bytes = 0;
    double ps = 0;
    std::size_t below = 0; ///< the lowest curve of smaller sizes
    std::size_t above = 0;
};
struct lowest_curves {
    std::vector<std::optional<std::size_t>>
        at;                           ///< by size: the first one of equal curves; nothing where no curve has a time
    std::vector<lowest_range> ranges; ///< ascending; sizes between them are not known
    std::vector<curve_crossover> crossovers; ///< ascending
};
lowest_curves lowest_of(const measured_curves& curves);

} // namespace weft
