// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/config_rows.h"

#include <fmt/format.h>

namespace weft {

namespace {

void add_rows(const config_field& field, const std::string& path, const yaml_document* origin,
              std::vector<config_row>& rows)
{
    if (field.unused || !field.present)
        return;
    if (field.type == field_type::section || field.type == field_type::list) {
        for (std::size_t i = 0; i < field.children.size(); ++i) {
            const config_field& child = field.children[i];
            const std::string name = field.type == field_type::list ? std::to_string(i) : child.name;
            add_rows(child, join_path(path, name), origin, rows);
        }
        return;
    }
    config_row row{path, value_text(field), "", field.source, field.doc};
    if (origin != nullptr && origin->find(path) != nullptr) {
        const source_position where = origin->position_of(path);
        row.set_at = where.file + (where.line > 0 ? fmt::format(":{}", where.line) : "");
        row.source.clear();
    }
    rows.push_back(std::move(row));
}

} // namespace

std::vector<config_row> config_rows(const config_field& config, const yaml_document* origin)
{
    std::vector<config_row> rows;
    add_rows(config, "", origin, rows);
    return rows;
}

} // namespace weft
