// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of JSON Schema (draft 2020-12) that our schemas use, by its specification. A keyword that is not known here fails.
#pragma once

#include <nlohmann/json.hpp>

#include <regex>
#include <set>
#include <string>

namespace weft::testing {

inline bool is_of_type(const nlohmann::json& value, const std::string& type)
{
    if (type == "integer")
        return value.is_number_integer() ||
               (value.is_number() && value.get<double>() == static_cast<double>(value.get<long long>()));
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "number" && value.is_number()) || (type == "null" && value.is_null());
}

/// "" or what does not fit, with its path.
inline std::string schema_violation(const nlohmann::json& value, const nlohmann::json& schema,
                                    const std::string& path = "")
{
    static const std::set<std::string> notes = {"$schema", "title", "description", "default", "patternErrorMessage"};
    const auto violation = [&](const std::string& what) { return path + ": " + value.dump() + " violates " + what; };
    for (const auto& [keyword, rule] : schema.items()) {
        if (notes.count(keyword) != 0)
            continue;
        bool fits = true;
        if (keyword == "type") {
            fits = false;
            for (const auto& type : rule.is_array() ? rule : nlohmann::json::array({rule}))
                fits = fits || is_of_type(value, type);
        } else if (keyword == "enum") {
            fits = std::find(rule.begin(), rule.end(), value) != rule.end();
        } else if (keyword == "minimum") {
            fits = !value.is_number() || value >= rule;
        } else if (keyword == "maximum") {
            fits = !value.is_number() || value <= rule;
        } else if (keyword == "multipleOf") {
            fits = !value.is_number_integer() || value.get<long long>() % rule.get<long long>() == 0;
        } else if (keyword == "pattern") {
            fits =
                !value.is_string() || std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()));
        } else if (keyword == "properties") {
            for (const auto& [key, inner] : rule.items())
                if (value.is_object() && value.contains(key))
                    if (const std::string found = schema_violation(value.at(key), inner, path + "/" + key);
                        !found.empty())
                        return found;
        } else if (keyword == "additionalProperties") {
            if (!value.is_object())
                continue;
            for (const auto& [key, inner] : value.items()) {
                if (schema.contains("properties") && schema["properties"].contains(key))
                    continue;
                if (rule == false)
                    return violation("additionalProperties by the key " + key);
                if (const std::string found = schema_violation(inner, rule, path + "/" + key); !found.empty())
                    return found;
            }
        } else if (keyword == "required") {
            for (const auto& key : rule)
                if (value.is_object() && !value.contains(key.get<std::string>()))
                    return violation("required: the key " + key.get<std::string>() + " is missing");
        } else if (keyword == "items") {
            for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
                if (const std::string found = schema_violation(value[i], rule, path + "/" + std::to_string(i));
                    !found.empty())
                    return found;
        } else {
            return "the keyword " + keyword + " is not known to this test";
        }
        if (!fits)
            return violation(keyword);
    }
    return "";
}

} // namespace weft::testing
