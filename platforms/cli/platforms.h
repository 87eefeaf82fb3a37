// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace weft {
struct platform_info;
struct platform_studies;
}

namespace weft::cli {

/// The platforms that this program has, in the order of `weft list`: platforms/platforms.txt.
const std::vector<const platform_info*>& platforms();
/// Of all platforms, also where this program has one of them.
const std::vector<std::string>& platform_names();
/// Of those that have a library of studies, in the same order. Not in weft_first.
const std::vector<const platform_studies*>& studies();

} // namespace weft::cli
