// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The runner of the test benches collects the warnings of the SystemC kernel. A test case that leaves one behind
// fails, even
// when all its checks passed. A test that wants a warning takes it:
//   CHECK(take_kernel_warnings().size() == 1);
#pragma once

#include <string>
#include <vector>

namespace weft::testing {

/// The kernel warnings since the last call, in order, each as "id: message".
std::vector<std::string> take_kernel_warnings();

} // namespace weft::testing
