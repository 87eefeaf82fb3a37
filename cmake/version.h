// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft {

/// "0.1.0+g1a2b3c4d5e": the version of the project and the commit it was built from (cmake/version.cmake).
const char* version();

} // namespace weft
