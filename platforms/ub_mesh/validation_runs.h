// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the targets of validation.h share. Internal to this folder.
#pragma once

#include "platforms/ub_mesh/ub_bill_costs.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/ub_mesh/validation.h"

#include <map>
#include <optional>
#include <string>

namespace weft {

class ub_validation {
public:
    ub_validation(const ub_mesh_validation& how, const ub_prices& prices) : how_(how), prices_(prices), costs_(prices)
    {
    }

    // validation_static.cpp
    void ledger();
    void link_classes();
    void costs();
    void reliability();
    void contradictions();
    // validation.cpp
    void inputs();
    void notes();

    validation_report report;

private:
    void add(validation_row row);
    void exact(const char* target, const std::string& what, double published, double simulated, const char* source);
    void remark(const char* target, const std::string& what, const char* unit, double published, double simulated,
                const char* why, const char* source);

    const ub_mesh_validation& how_;
    const ub_prices& prices_;
    ub_comparison costs_;
};

} // namespace weft
