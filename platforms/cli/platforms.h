// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace weft {
struct platform_info;
struct platform_studies;
}

namespace weft::cli {

/// All platforms that the program knows, in the order of `weft list`: platforms/platforms.txt.
const std::vector<const platform_info*>& platforms();
/// Of those that have a library of studies, in the same order. Not in weft_first.
const std::vector<const platform_studies*>& studies();

} // namespace weft::cli
