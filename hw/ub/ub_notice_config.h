// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How sources learn that a link is down, and how long that takes. Sources of the figures: ub_faults_config::fields().
#pragma once

#include "tlm/config_fields.h"
#include "tlm/units.h"

#include <cstdint>
#include <utility>

namespace weft {

/// How sources learn that a link is down.
enum class ub_notification : std::uint8_t { direct, hop_by_hop, none };
template <> struct enum_names<ub_notification> {
    static constexpr std::pair<ub_notification, const char*> values[] = {{ub_notification::direct, "direct"},
                                                                         {ub_notification::hop_by_hop, "hop_by_hop"},
                                                                         {ub_notification::none, "none"}};
};

struct ub_notice_config {
    ub_notification notification = ub_notification::direct;
    data_size notice_payload = data_size(16);
    duration notice_timeout = duration(25'600'000);
    std::uint32_t notice_tries = 6;
    duration notice_software = duration(2'000'000);
    duration table_write = duration(1'000'000);
    duration flood_per_hop = duration(1'000'000'000);
};

} // namespace weft
