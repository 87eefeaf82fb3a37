// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/stats.h"

#include "tlm/check.h"

#include <cstring>

namespace weft {

void stat_group::add_row(const stat_row& row)
{
    if (find(row.name))
        throw bug(name_, 0, std::string("two statistics called ") + row.name);
    rows_.push_back(row);
}

const stat_row* stat_group::find(const char* name) const
{
    for (const auto& row : rows_)
        if (std::strcmp(row.name, name) == 0)
            return &row;
    return nullptr;
}

} // namespace weft
