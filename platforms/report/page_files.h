// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of platforms/report/page, which the build puts into the program.
#pragma once

#include <string_view>
#include <vector>

namespace weft {

struct page_file {
    const char* name;
    std::string_view text;
};

const page_file& page_skeleton();             ///< page.html
const page_file& page_style();                ///< page.css
const std::vector<page_file>& page_scripts(); ///< in the order in which the page runs them

} // namespace weft
