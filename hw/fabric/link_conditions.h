// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// When links go down, are declared dead, work again, and what their rate is. Plans are made before time zero or during
// a run; none is an event of its own, but for declarations and restorations, which the engine schedules. Plain C++.
#pragma once

#include "hw/fabric/fabric_state.h"

#include <cstdint>
#include <vector>

namespace weft {

class link_conditions {
public:
    link_conditions(std::vector<link_state>& links, std::vector<link_cold>& cold) : links_(links), cold_(cold) {}

    // --- Failures, by number -----------------------------------------------------------------------------------------
    /// The failure that ends the link at `at_ps` or before: the present one, or a new one behind a restoration.
    std::uint32_t plan_failure(std::uint32_t link, std::uint64_t at_ps);
    /// Ends the last failure of the link that begins before `at_ps`; k_no_part if there is none.
    std::uint32_t plan_restoration(std::uint32_t link, std::uint64_t at_ps);
    link_failure& failure(std::uint32_t number) { return failures_[number]; }
    /// The present or next one of the link, which has k_fails.
    link_failure& failure_of(std::uint32_t link) { return failures_[cold_[link].failure]; }
    const std::vector<link_failure>& failures() const { return failures_; }
    bool is_present(std::uint32_t number) const { return cold_[failures_[number].link].failure == number; }
    /// When the link goes down; k_never_ps if it does not.
    std::uint64_t down_at_ps(std::uint32_t link) const
    {
        return (links_[link].special & k_fails) != 0 ? failures_[cold_[link].failure].at_ps : k_never_ps;
    }
    /// Something wants to start on the link: true when it is down, which is noted. That a link fails is no event: its
    /// time is compared where it matters, so that the failure is exact whatever runs ahead, and a time that is never
    /// reached changes nothing.
    bool blocks(std::uint32_t link, std::uint64_t now_ps);
    /// The failure's link is declared dead now. False where that is not due: it is over, declared already, or another
    /// announcement is for it. `detection_ps`: from a failure to its declaration, unless retries were exhausted.
    bool declare(std::uint32_t number, std::uint64_t now_ps, std::uint64_t detection_ps);
    /// The failure is over, if that is due now: the next one of its link, if any is planned, takes its place.
    bool restore(std::uint32_t number, std::uint64_t now_ps);

    // --- Rates -------------------------------------------------------------------------------------------------------
    void plan_rate(std::uint32_t link, std::uint64_t at_ps, bandwidth rate);
    /// Of transmissions that begin at `at_ps`: of changes for one time the last one counts.
    bandwidth rate_at(std::uint32_t link, std::uint64_t at_ps) const;
    /// Takes the rate of `now_ps` into the state of the link; false when it has it already.
    bool take_rate(std::uint32_t link, std::uint64_t now_ps);

private:
    struct rate_change {
        std::uint32_t link;
        std::uint64_t at_ps;
        bandwidth rate;
    };

    std::vector<link_state>& links_;
    std::vector<link_cold>& cold_;
    std::vector<link_failure> failures_;
    std::vector<rate_change> rate_changes_;
};

} // namespace weft
