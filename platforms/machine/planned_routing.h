// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The routing of a fabric that is one fabric_plan: what the platform chooses, or the tables of `routing: FILE` in its
// place; proved when it is made, before anything is built.
#pragma once

#include "hw/routing/route_tables.h"

#include <memory>
#include <string>

namespace weft {

class planned_routing {
public:
    virtual ~planned_routing() = default;

    const fabric_plan& plan() const { return plan_; }
    const std::shared_ptr<const routing_policy>& policy() const { return policy_; }
    const channel_proof& proof() const { return proof_; }
    bool from_file() const { return from_file_; }

    /// Why it cannot be used, a sentence that goes on with the key that is to blame; "" when it can.
    virtual std::string problem() const;
    /// Throws user_error, with the key that is to blame, where it cannot be used.
    void require_usable() const;
    /// Lines of `weft check`.
    virtual std::string report() const;
    std::string route_tables() const; ///< as platform::route_tables()

protected:
    /// Reads the tables of `file`, unless it is "". Throws user_error with every line that is wrong.
    planned_routing(fabric_plan plan, const std::string& file);
    /// Where from_file() says no: `policy`, which `text` describes on a line.
    void choose(std::shared_ptr<const routing_policy> policy, std::string text);
    const std::string& text() const { return text_; }

private:
    fabric_plan plan_;
    std::shared_ptr<const routing_policy> policy_;
    channel_proof proof_;
    bool from_file_ = false;
    std::string text_;
};

} // namespace weft
