// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A build without an instruction-set engine (WEFT_UNICORN=OFF): native cores only.
#include "hw/core/iss.h"

namespace weft {

std::unique_ptr<iss> make_iss(iss_host&) { return nullptr; }
const char* iss_engine_name() { return ""; }
std::uint64_t iss_address_space_bytes() { return 0; }

} // namespace weft
