// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/yaml_text.h"

#include <fmt/format.h>

namespace weft {

namespace {

std::string in_double_quotes(const std::string& text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
        else
            out += c;
    }
    return out + "\"";
}

/// A plain scalar of a block may hold what ends one in brackets; such a text is no number and no switch.
std::string scalar_text(const yaml_node& value)
{
    const bool plain = !value.quoted && !value.text.empty() &&
                       value.text.find_first_of(",[]{}:#&*!|>'\"%@`\\\n\t") == std::string::npos;
    return plain ? value.text : in_double_quotes(value.text);
}

} // namespace

std::string flow_text(const yaml_node& value)
{
    std::string out;
    switch (value.kind) {
    case yaml_kind::empty: return "";
    case yaml_kind::scalar: return scalar_text(value);
    case yaml_kind::list:
        for (const yaml_node& item : value.items)
            out += (out.empty() ? "" : ", ") + flow_text(item);
        return "[" + out + "]";
    case yaml_kind::map:
        for (const yaml_entry& entry : value.entries) {
            yaml_node key;
            key.text = entry.key;
            out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", scalar_text(key), flow_text(entry.value));
        }
        return "{" + out + "}";
    }
    return "";
}

} // namespace weft
