// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What commands know of the terminal that they print to.
#pragma once

#include "platforms/report/run_report.h"

namespace weft::cli {

/// Colours and width of a terminal; in a pipe none and no limit.
table_style style_of_stdout();

} // namespace weft::cli
