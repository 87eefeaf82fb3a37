// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/config_template.h"

#include "platforms/config/config_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft {

namespace {

using namespace config_detail;
using lines = std::vector<std::string>;

constexpr std::size_t k_widest = 100;

void add_indented(lines& out, const lines& inner, const char* indent)
{
    for (const std::string& line : inner)
        out.push_back(line.empty() ? line : indent + line);
}

/// `text` in lines of "# " that leave room for the indentation of deep sections.
void add_prose(lines& out, const std::string& text, const std::string& first = "# ", const std::string& more = "# ")
{
    std::string line = first;
    bool has_word = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(" \n\r\t", at), text.size());
        const std::string word = text.substr(at, end - at);
        at = end + 1;
        if (word.empty())
            continue;
        if (has_word && line.size() + 1 + word.size() > k_widest) {
            out.push_back(line);
            line = more;
            has_word = false;
        }
        line += (has_word ? " " : "") + word;
        has_word = true;
    }
    if (has_word)
        out.push_back(line);
}

class template_writer {
public:
    explicit template_writer(const yaml_document& origin) : origin_(origin) {}

    lines section(const config_field& field, const std::string& path, bool live) const
    {
        lines out;
        for (const config_field& resolved : field.children) {
            if (!out.empty())
                out.emplace_back();
            const config_field child = with_example(resolved);
            const std::string child_path = join_path(path, child.name);
            const bool off = !child.present || (live && is_idle(child));
            describe(child, child_path, live && !off, out);
            // What an example does not use is behind a '#' of its own.
            lines own = member(child, child_path, !child.present || (live && !off));
            if (off)
                for (std::string& line : own)
                    line.insert(0, "#");
            out.insert(out.end(), own.begin(), own.end());
        }
        return out;
    }

private:
    /// A key that is not there, with values that it may begin with.
    static config_field with_example(config_field field)
    {
        if (!field.present && field.type == field_type::quantity && field.limits.least > 0)
            field.value = format_quantity(field.kind, field.limits.least);
        if (!field.present && field.type == field_type::integer && field.limits.least > 0)
            field.value = field.limits.least;
        if (!field.present && field.type == field_type::real && field.limits.least_real > 0)
            field.value = field.limits.least_real;
        if (field.example.empty())
            return field;
        const config_field example = std::move(field.example.front());
        field.example.clear();
        field.value = example.value;
        field.children = example.children;
        return field;
    }

    /// Nothing uses it, or nothing that is in it.
    static bool is_idle(const config_field& field)
    {
        return !field.present || field.unused ||
               (field.type == field_type::section && !field.children.empty() &&
                std::all_of(field.children.begin(), field.children.end(), is_idle));
    }

    void describe(const config_field& field, const std::string& path, bool on, lines& out) const
    {
        std::string text = meaning(field);
        const std::string range = range_of(field);
        const bool says_values = field.type == field_type::choice ||
                                 (field.type == field_type::list && field.element.at(0).type == field_type::choice);
        if (says_values)
            text += fmt::format("{}{}", text.empty() ? "" : "; ", type_name(field));
        if (!range.empty())
            text += fmt::format("{}{}", text.empty() ? "" : "; ", range);
        add_prose(out, text.empty() ? type_name(field) : text);
        const bool is_default = !on || origin_.find(path) == nullptr;
        if (is_default && !field.source.empty())
            add_prose(out, "Default: " + field.source);
        if (field.type == field_type::list && field.element.at(0).type == field_type::section)
            describe_entry(field.element.at(0), out);
    }

    /// The members of an entry, in prose: entries that are there are told apart from what an entry may have.
    static void describe_entry(const config_field& entry, lines& out)
    {
        out.emplace_back("# An entry has:");
        for (const config_field& m : entry.children) {
            const std::string range = range_of(m);
            std::string text = fmt::format("{}: {}{}", m.name, type_name(m), range.empty() ? "" : ", " + range);
            if (!m.present)
                text += "; may be left out";
            else if (is_one_line(m))
                text += "; " + one_line(m) + " where it is left out";
            const std::string what = meaning(m);
            add_prose(out, text + (what.empty() ? "" : ". " + what), "#   ", "#       ");
        }
    }

    lines member(const config_field& field, const std::string& path, bool live) const
    {
        if (field.type != field_type::section)
            return plain_member(field);
        lines out{field.name + ":"};
        const lines inner = section(field, path, live);
        if (inner.empty())
            out[0] += " {}";
        add_indented(out, inner, "  ");
        return out;
    }

    // Entries of lists stand without prose, which is above the list, and without keys that nothing uses.

    static lines plain_member(const config_field& field)
    {
        if (is_one_line(field))
            return {field.name + ": " + one_line(field)};
        lines out{field.name + ":"};
        const lines inner = field.type == field_type::section ? plain_section(field) : plain_list(field);
        if (inner.empty())
            out[0] += field.type == field_type::section ? " {}" : " []";
        add_indented(out, inner, "  ");
        return out;
    }

    static lines plain_section(const config_field& field)
    {
        lines out;
        for (const config_field& child : field.children)
            if (child.present && !child.unused)
                add_indented(out, plain_member(child), "");
        return out;
    }

    static lines plain_list(const config_field& field)
    {
        lines out;
        for (const config_field& entry : field.children) {
            lines inner = entry.type == field_type::section ? plain_section(entry) : plain_list(entry);
            if (inner.empty())
                inner = {entry.type == field_type::section ? "{}" : "[]"};
            const std::size_t first = out.size();
            add_indented(out, inner, "  ");
            out[first][0] = '-';
        }
        return out;
    }

    const yaml_document& origin_;
};

} // namespace

std::string template_yaml(const config_field& config, const yaml_document& origin)
{
    std::string text;
    for (const std::string& line : template_writer(origin).section(config, {}, true))
        text += line + "\n";
    return text;
}

} // namespace weft
