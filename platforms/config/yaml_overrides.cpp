// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Overrides that are more than a value: `*` in the path stands for every entry of a list, `null` takes a key out.
#include "platforms/config/yaml_document.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

/// "workload.*.repeats=3" for a list of two: workload.0.repeats=3 and workload.1.repeats=3. Without `*` as it is.
std::vector<std::string> yaml_document::for_each_entry(const std::string& assignment,
                                                       std::vector<problem>& problems) const
{
    const std::string path = assignment.substr(0, assignment.find('='));
    const std::size_t star = ("." + path + ".").find(".*.");
    if (star == std::string::npos)
        return {assignment};
    const std::string list = star == 0 ? "" : path.substr(0, star - 1);
    const yaml_node* const node = find(list);
    if (node == nullptr || node->kind != yaml_kind::list || node->items.empty()) {
        const char* const what = node == nullptr                 ? "is not in the file"
                                 : node->kind == yaml_kind::list ? "is empty"
                                                                 : "is no list";
        problems.push_back({severity::error,
                            {k_override_file, 0, 0},
                            path,
                            fmt::format("'*' stands for every entry of a list, and {} {}",
                                        list.empty() ? "the top of the file" : "'" + list + "'", what)});
        return {};
    }
    std::vector<std::string> all;
    for (std::size_t i = 0; i < node->items.size(); ++i) {
        const std::string one = assignment.substr(0, star) + std::to_string(i) + assignment.substr(star + 1);
        for (std::string& inner : for_each_entry(one, problems))
            all.push_back(std::move(inner));
    }
    return all;
}

bool yaml_document::take_out(const std::string& path)
{
    const std::size_t dot = path.rfind('.');
    const std::string section = dot == std::string::npos ? "" : path.substr(0, dot), key = path.substr(dot == std::string::npos ? 0 : dot + 1);
    auto* const node = const_cast<yaml_node*>(find(section)); // of this document, which may change
    if (node == nullptr || node->kind != yaml_kind::map)
        return false;
    const auto entry = std::find_if(node->entries.begin(), node->entries.end(), [&](const yaml_entry& e) { return e.key == key; });
    if (entry == node->entries.end())
        return false;
    node->entries.erase(entry);
    return true;
}

void yaml_document::leave_out(const std::string& key) { take_out(key); }

} // namespace weft
