// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/planned_routing.h"

#include "platforms/machine/user_routing.h"
#include "tlm/check.h"

#include <fmt/format.h>

namespace weft {

planned_routing::planned_routing(fabric_plan plan, const std::string& file) : plan_(std::move(plan))
{
    if (file.empty())
        return;
    user_routing user = read_user_routing(file, plan_);
    policy_ = std::move(user.policy);
    proof_ = std::move(user.proof);
    from_file_ = true;
    text_ = k_user_routing_text;
}

void planned_routing::choose(std::shared_ptr<const routing_policy> policy, std::string text)
{
    policy_ = std::move(policy);
    text_ = std::move(text);
    proof_ = prove_deadlock_free(plan_, routes_of(*policy_));
}

void planned_routing::require_usable() const
{
    if (const std::string why = problem(); !why.empty())
        throw user_error((from_file() ? "routing: " : "faults: ") + why);
}

std::string planned_routing::problem() const
{
    if (from_file_)
        return refusal_of(proof_);
    if (proof_)
        return "";
    return (proof_.verdict == route_verdict::cycle ? "the routing " : "by the routing, ") + proof_.text;
}

std::string planned_routing::report() const { return fmt::format("Routing   {}\nProof     {}\n", text_, proof_.text); }

std::string planned_routing::route_tables() const { return text_of_route_tables(plan_, routes_of(*policy_)); }

} // namespace weft
