// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/config_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace weft::config_detail {

namespace {

using nlohmann::json;

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

/// Text that every YAML reader, old or new, takes as text without quotes.
bool is_plain_word(const std::string& text)
{
    static const char* const k_reserved[] = {"y", "n", "null"};
    if (text.empty() || text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") !=
                            std::string::npos)
        return false;
    if (!((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z')))
        return false;
    std::string lower = text;
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return !yaml_1_1_boolean(lower) &&
           std::none_of(std::begin(k_reserved), std::end(k_reserved), [&](const char* word) { return lower == word; });
}

std::string yaml_scalar(const config_field& field)
{
    const json value = scalar_json(field);
    // A quantity is "82 GB/s": plain in YAML. A choice is a word the reader takes literally.
    if (field.type == field_type::quantity || (value.is_string() && is_plain_word(value.get<std::string>())))
        return value.get<std::string>();
    std::string text = dump(value);
    if (value.is_string()) { // DEL is legal in JSON text but not in our files
        for (std::size_t at = 0; (at = text.find('\x7f', at)) != std::string::npos; at += 4)
            text.replace(at, 1, "\\x7f");
    }
    return text;
}

} // namespace

std::string meaning(const config_field& field)
{
    if (field.only.empty())
        return field.doc;
    return field.doc + (field.doc.empty() ? "only " : "; only ") + field.only;
}

nlohmann::json scalar_json(const config_field& field)
{
    return std::visit(
        [](const auto& v) -> json {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
                return nullptr;
            else
                return v;
        },
        field.value);
}

bool is_scalar(const config_field& field)
{
    return field.type != field_type::section && field.type != field_type::list;
}

bool is_one_line(const config_field& field)
{
    if (is_scalar(field))
        return true;
    return field.type == field_type::list && is_one_line(field.element.at(0));
}

std::string one_line(const config_field& field)
{
    if (is_scalar(field))
        return yaml_scalar(field);
    std::string text = "[";
    for (std::size_t i = 0; i < field.children.size(); ++i)
        text += (i == 0 ? "" : ", ") + one_line(field.children[i]);
    return text + "]";
}

std::string range_of(const config_field& field)
{
    return text_of(field.limits, field.type == field_type::quantity ? std::optional(field.kind) : std::nullopt);
}

std::string type_name(const config_field& field)
{
    switch (field.type) {
    case field_type::section: return "section";
    case field_type::list: return "list of " + type_name(field.element.at(0));
    case field_type::quantity:
        switch (field.kind) {
        case quantity_kind::data_size: return "size";
        case quantity_kind::duration: return "time";
        case quantity_kind::bandwidth: return "bandwidth";
        case quantity_kind::frequency: return "frequency";
        case quantity_kind::packets: return "packets";
        case quantity_kind::cycles: return field.or_time ? "cycles or time" : "cycles";
        }
        break;
    case field_type::boolean: return "true / false";
    case field_type::integer: return "whole number";
    case field_type::real: return "number";
    case field_type::text: return "text";
    case field_type::choice: {
        std::string list;
        for (const auto& choice : field.choices)
            list += (list.empty() ? "`" : ", `") + choice + "`";
        return "one of " + list;
    }
    }
    throw bug("config", 0, "unknown field type");
}

} // namespace weft::config_detail
