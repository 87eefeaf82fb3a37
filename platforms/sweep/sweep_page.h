// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The page of a sweep: one HTML file without scripts that needs no network. Small multiples on common axes, where the
// fastest line changes, every point with its state. The same report gives the same bytes.
#pragma once

#include "platforms/sweep/sweep_panels.h"
#include "platforms/sweep/sweep_report.h"

#include <string>

namespace weft {

std::string to_page(const sweep_report& report, const sweep_panels& panels);

/// Head of the pages of this folder, up to <body>: colours by the reader's choice of light and dark.
std::string page_head(const std::string& title);
/// Around a table, up to "</div>": it can be scrolled by keys. `name`: for who hears the page.
std::string scroll_begin(const std::string& name);

} // namespace weft
