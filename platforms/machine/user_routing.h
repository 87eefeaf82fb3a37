// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `routing: FILE`: tables of the user in place of the routing that a platform makes.
#pragma once

#include "hw/routing/route_tables.h"

#include <memory>
#include <string>

namespace weft {

struct user_routing {
    std::shared_ptr<const table_routing> policy;
    channel_proof proof;
};

/// Why tables with that proof cannot be used: goes on with "routing"; "" when they can.
std::string refusal_of(const channel_proof& proof_of_tables);

/// Reads the tables of `file` for the fabric `plan`, and proves them. Throws user_error with every line that is wrong.
user_routing read_user_routing(const std::string& file, const fabric_plan& plan);

/// How `weft check` names them.
inline constexpr const char* k_user_routing_text = "tables of the file that routing names";

} // namespace weft
