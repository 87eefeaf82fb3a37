// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/config_dump.h"

#include "platforms/config/config_text.h"
#include "platforms/config/quantity_pattern.h"
#include "platforms/config/yaml_layers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace weft {

void config_detail::note_examples(config_field& section, const config_field& example)
{
    for (config_field& child : section.children)
        for (const config_field& given : example.children)
            if (given.name == child.name && !child.present && given.present && child.example.empty())
                child.example.push_back(given);
}

void config_detail::note_clock(config_field& section)
{
    const bool has_clock = std::any_of(section.children.begin(), section.children.end(), [](const config_field& f) {
        return f.name == k_clock_key && f.type == field_type::quantity && f.kind == quantity_kind::frequency;
    });
    for (config_field& member : section.children)
        member.or_time = has_clock && member.type == field_type::quantity && member.kind == quantity_kind::cycles;
}

void config_detail::note_rule(config_field& field, std::string_view key, const std::string& only, bool unused)
{
    if (key.empty()) {
        field.only += (field.only.empty() ? "" : " and ") + only;
        field.unused = field.unused || unused;
        return;
    }
    const std::size_t dot = key.find('.');
    const std::string_view part = key.substr(0, dot);
    const std::string_view rest = dot == std::string_view::npos ? std::string_view{} : key.substr(dot + 1);
    if (part == "N") {
        for (config_field& entry : field.children)
            note_rule(entry, rest, only, unused);
        for (config_field& type : field.element)
            note_rule(type, rest, only, false);
        return;
    }
    for (config_field& member : field.children)
        if (member.name == part)
            return note_rule(member, rest, only, unused);
    throw bug("config", 0, "a rule is about the key " + std::string(key) + ", which is not there");
}

namespace {

using nlohmann::json;
using namespace config_detail;

std::string one_comment_line(std::string text)
{
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            c = ' ';
    return text;
}

class yaml_writer {
public:
    explicit yaml_writer(const yaml_document* origin) : origin_(origin) {}

    std::vector<std::string> section(const config_field& field, const std::string& path) const
    {
        std::vector<std::string> lines;
        for (const auto& child : field.children)
            member(child, join_path(path, child.name), lines);
        return lines;
    }

private:
    static bool has_key_line(const std::vector<std::string>& lines)
    {
        return std::any_of(lines.begin(), lines.end(), [](const std::string& line) { return line[0] != '#'; });
    }

    static void add_indented(std::vector<std::string>& lines, const std::vector<std::string>& inner)
    {
        for (const auto& line : inner)
            lines.push_back("  " + line);
    }

    void member(const config_field& field, const std::string& path, std::vector<std::string>& lines) const
    {
        const std::string note = one_comment_line(comment(field, path));
        const std::string key = field.name + ":";
        if (!field.present) {
            lines.push_back("# " + key + " not set" + (note.empty() ? "" : "  # " + note));
            return;
        }
        if (field.unused) {
            lines.push_back("# " + key + " not used" + (note.empty() ? "" : "  # " + note));
            return;
        }
        const std::string tail = note.empty() ? "" : "  # " + note;
        if (is_one_line(field)) {
            lines.push_back(key + " " + one_line(field) + tail);
            return;
        }
        const auto inner = field.type == field_type::section ? section(field, path) : entries(field, path);
        if (!has_key_line(inner)) {
            lines.push_back(key + (field.type == field_type::section ? " {}" : " []") + tail);
            return;
        }
        lines.push_back(key + tail);
        add_indented(lines, inner);
    }

    std::vector<std::string> entries(const config_field& list, const std::string& path) const
    {
        std::vector<std::string> lines;
        for (std::size_t i = 0; i < list.children.size(); ++i) {
            const auto& entry = list.children[i];
            const std::string entry_path = join_path(path, std::to_string(i));
            const auto inner =
                entry.type == field_type::section ? section(entry, entry_path) : entries(entry, entry_path);
            if (!has_key_line(inner)) {
                lines.push_back(entry.type == field_type::section ? "- {}" : "- []");
                continue;
            }
            std::vector<std::string> indented;
            add_indented(indented, inner);
            indented[0][0] = '-';
            lines.insert(lines.end(), indented.begin(), indented.end());
        }
        return lines;
    }

    std::string comment(const config_field& field, const std::string& path) const
    {
        std::string origin;
        if (origin_ != nullptr && origin_->find(path) != nullptr) {
            if (is_one_line(field)) {
                const auto where = origin_->position_of(path);
                origin = "set by " + where.file + (where.line > 0 ? fmt::format(":{}", where.line) : "");
            }
        } else if (is_one_line(field) && field.present) {
            origin = field.source.empty() ? "default" : "default, source: " + field.source;
        }
        const std::string text = meaning(field);
        return text + (text.empty() || origin.empty() ? "" : "; ") + origin;
    }

    const yaml_document* origin_;
};

json value_json(const config_field& field)
{
    if (field.type == field_type::section) {
        json object = json::object();
        for (const auto& child : field.children)
            if (child.present && !child.unused)
                object[child.name] = value_json(child);
        return object;
    }
    if (field.type == field_type::list) {
        json array = json::array();
        for (const auto& child : field.children)
            array.push_back(value_json(child));
        return array;
    }
    return scalar_json(field);
}

json schema_of(const config_field& field)
{
    json schema = json::object();
    const std::string range = range_of(field);
    switch (field.type) {
    case field_type::section:
        schema["type"] = "object";
        schema["additionalProperties"] = false;
        schema["properties"] = json::object();
        for (const auto& child : field.children) {
            schema["properties"][child.name] = schema_of(child);
            if (child.required)
                schema["required"].push_back(child.name);
        }
        break;
    case field_type::list:
        schema["type"] = "array";
        schema["items"] = schema_of(field.element.at(0));
        schema["items"].erase("default"); // an entry that is not written is not there
        break;
    case field_type::quantity:
        schema["type"] = "string";
        schema["pattern"] = quantity_pattern(field.kind, field.limits.least, field.limits.most);
        if (field.or_time) // how many cycles it is depends on the clock of the file
            schema["pattern"] = schema["pattern"].get<std::string>() + "|" +
                                quantity_pattern(quantity_kind::duration, 0, ~std::uint64_t{0});
        schema["patternErrorMessage"] = // of editors, which would show the pattern
            range.empty() ? legal_units(field.kind) : "must be " + range + field.limits.reason;
        break;
    case field_type::boolean: schema["type"] = "boolean"; break;
    case field_type::integer:
        schema["type"] = "integer";
        schema["minimum"] = field.limits.least;
        schema["maximum"] = std::min(field.largest, field.limits.most);
        if (field.limits.multiple != 1)
            schema["multipleOf"] = field.limits.multiple;
        for (std::size_t i = 0; i < field.limits.choices; ++i)
            schema["enum"].push_back(field.limits.one_of[i]);
        if (field.limits.power_of_two)
            for (std::uint64_t power = 1; power != 0 && power <= field.limits.most; power *= 2)
                if (power >= field.limits.least)
                    schema["enum"].push_back(power);
        break;
    case field_type::real:
        schema["type"] = "number";
        if (field.limits.bounds_real()) {
            schema["minimum"] = field.limits.least_real;
            schema["maximum"] = field.limits.most_real;
        }
        break;
    case field_type::text: schema["type"] = "string"; break;
    case field_type::choice:
        schema["type"] = "string";
        schema["enum"] = field.choices;
        for (const bool value : {false, true})
            if (choice_of_boolean(field.choices, value)) { // what a YAML 1.1 editor takes the word for
                schema["type"] = {"string", "boolean"};
                schema["enum"].push_back(value);
            }
        break;
    }
    std::string text = meaning(field);
    if (!range.empty())
        text += ". Range: " + range;
    if (!field.source.empty())
        text += (text.empty() ? "Default: " : ". Default: ") + field.source;
    if (!text.empty())
        schema["description"] = text;
    if (field.present && !field.required && field.type != field_type::section)
        schema["default"] = value_json(field);
    return schema;
}

std::string cell(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        if (c == '|')
            out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

void add_rows(const config_field& field, const std::string& path, std::string& out)
{
    for (const auto& child : field.children) {
        const std::string key = join_path(path, child.name);
        std::string shown;
        if (child.required)
            shown = "must be given";
        else if (!child.present)
            shown = "not set";
        else if (is_one_line(child))
            shown = "`" + one_line(child) + "`";
        else if (child.type == field_type::list)
            shown = child.children.empty() ? "empty" : fmt::format("{} entries", child.children.size());
        const std::string range = range_of(child);
        out += fmt::format("| `{}` | {} | {} | {} | {} |\n", key,
                           cell(type_name(child) + (range.empty() ? "" : ", " + range)), cell(shown),
                           cell(meaning(child)), cell(child.source));
        const config_field* inner = &child;
        std::string inner_path = key;
        while (inner->type == field_type::list) {
            inner = &inner->element.at(0);
            inner_path = join_path(inner_path, "N");
        }
        if (inner->type == field_type::section)
            add_rows(*inner, inner_path, out);
    }
}

} // namespace

std::string value_text(const config_field& scalar)
{
    return std::visit(
        [](const auto& v) -> std::string {
            using value = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<value, std::string>)
                return v;
            else if constexpr (std::is_same_v<value, bool>)
                return v ? "true" : "false";
            else if constexpr (std::is_same_v<value, std::monostate>)
                return {};
            else
                return fmt::format("{}", v);
        },
        scalar.value);
}

std::string to_yaml(const config_field& config, const yaml_document* origin)
{
    std::string text;
    bool has_key = false;
    for (const auto& line : yaml_writer(origin).section(config, {})) {
        has_key = has_key || line[0] != '#';
        text += line + "\n";
    }
    return has_key ? text : text + "{}\n";
}

nlohmann::json to_json(const config_field& config) { return value_json(config); }

nlohmann::json json_schema(const config_field& config, const std::string& title,
                           const std::vector<std::string>& other_keys)
{
    json schema = schema_of(config);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["title"] = title;
    for (const auto& key : other_keys)
        schema["properties"][key] = {{"type", "string"}};
    if (schema["properties"].contains(k_include_key))
        schema["properties"][k_include_key] = {{"type", {"string", "array"}}, {"items", {{"type", "string"}}}};
    return schema;
}

std::string markdown_table(const config_field& config)
{
    std::string out = "| Key | Type | Default | Meaning | Source of the default |\n|---|---|---|---|---|\n";
    add_rows(config, {}, out);
    return out;
}

} // namespace weft
