// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// dispatch and combine, by direct and by hierarchical. `table` is that at command.scratch_offset, checked.
#pragma once

#include "firmware/collectives/exchange.h"
#include "hw/abi/tokens.h"

namespace weft::firmware {

void run_dispatch(exchange& x, const abi::token_table& table, collective_result& result);
void run_combine(exchange& x, const abi::token_table& table, collective_result& result);

} // namespace weft::firmware
