// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Notices to sources whose fall-back sets use a link that fails, or has failed.
//
// The ends of a link know the sources of the precomputed routes. A source that makes a path set anew because links are down may take
// links that it did not use before. It tells their ends, which from then on count it among those that they notify:
//   direct       max(failure + detection, set made + way to the nearer end) + way back + notice_software + table_write
//   hop_by_hop   every source has heard of the failure by its flood; it writes its table when it needs to
// The message to the ends is a time, like the notice: a cell on the management VL at zero load (A, as ub_notices).
#pragma once

#include "hw/ub/ub_fabric.h"
#include "platforms/ub_mesh/ub_notices.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace weft {

class ub_fall_backs final : public ub_fall_back_if {
public:
    /// `unforeseen`: links may fail of which add() learns when they do; then who uses which link is kept.
    ub_fall_backs(ub_fabric& fabric, const timeline& time, const ub_topology& topology, const ub_notices& notices,
                  const ub_faults_config& faults, bool unforeseen)
        : fabric_(fabric), time_(time), topology_(topology), notices_(notices), faults_(faults), unforeseen_(unforeseen)
    {
    }

    /// The part fails at `at_ps`, known `detection_ps` later, and works again at `until_ps` (k_never_ps: never). `links`: its own, both
    /// directions. `told`: sources that get their notice in any case.
    void add(const ub_failed_part& part, std::vector<std::uint32_t> links, std::uint64_t at_ps, std::uint64_t detection_ps, std::uint64_t until_ps,
             const std::vector<std::uint32_t>& told);
    /// Sources that have fallen back to the link or its reverse, in order.
    std::vector<std::uint32_t> users_of(std::uint32_t link) const;
    void falls_back_to(std::uint32_t source, const std::vector<std::uint32_t>& links) override;

private:
    struct failure {
        ub_failed_part part;
        std::vector<std::uint32_t> links; ///< sorted
        std::uint64_t at_ps, detection_ps, until_ps;
        std::vector<bool> told; ///< per source
        std::vector<std::uint64_t>
            after_ps; ///< per source, from the failure to the end of table_write, detection apart
    };
    void tell(failure& f, std::uint32_t source);

    ub_fabric& fabric_;
    const timeline& time_;
    const ub_topology& topology_;
    const ub_notices& notices_;
    const ub_faults_config& faults_;
    bool unforeseen_;
    std::vector<failure> failures_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> users_; ///< (link, source)
};

} // namespace weft
