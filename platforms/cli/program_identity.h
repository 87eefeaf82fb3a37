// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace weft::cli {

/// The version; of a tree with changes that no commit has, the program itself, too: what kept results are valid for.
std::string program_identity();

} // namespace weft::cli
