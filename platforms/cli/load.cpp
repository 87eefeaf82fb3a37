// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/cli.h"

#include "platforms/config/suggest.h"
#include "platforms/config/yaml_document.h"
#include "platforms/tpu_pod/tpu_pod.h"

#include <fmt/format.h>

namespace weft::cli {

const std::vector<const platform_info*>& platforms()
{
    static const std::vector<const platform_info*> all{&k_tpu_pod_info};
    return all;
}

void add_platform_options(CLI::App& app, platform_source& source)
{
    app.add_option("file", source.file, "Platform file (YAML)")->required()->type_name("FILE");
    app.add_option("--set", source.overrides, "Change one value of the file, for example --set mesh.rows=4 or --set workload.0.op=broadcast; repeatable")
        ->type_name("KEY.PATH=VALUE")
        ->allow_extra_args(false);
    app.add_option("--seed", source.seed, "Seed of the inputs; overrides the file")->type_name("N");
}

namespace {

const platform_info* find_platform(const yaml_document& document, std::vector<problem>& problems)
{
    const auto wanted = document.peek_string("platform", problems);
    if (wanted && wanted->text.empty())
        return nullptr; // peek_string has said why
    std::vector<std::string> names;
    for (const platform_info* info : platforms()) {
        if (wanted && wanted->text == info->name)
            return info;
        names.emplace_back(info->name);
    }
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : ", ") + name;
    if (!wanted)
        add_problem(document, problems, "platform", fmt::format("is missing; say which platform this is, one of: {}.", list));
    else
        add_problem(document, problems, "platform", fmt::format("'{}' is no platform; one of: {}.", wanted->text, list));
    return nullptr;
}

void print(const std::vector<problem>& problems, const std::string& source)
{
    for (const problem& p : problems)
        fmt::print(stderr, "{}\n", render(p, source));
}

} // namespace

loaded_platform load(const platform_source& source)
{
    loaded_platform result;
    std::vector<problem> problems;
    try {
        yaml_document document = yaml_document::load(source.file);
        result.source_text = document.source();
        std::vector<std::string> overrides = source.overrides;
        if (source.seed)
            overrides.push_back("seed=" + std::to_string(*source.seed));
        document.apply_overrides(overrides);
        if (const platform_info* info = find_platform(document, problems))
            result.platform = info->read(document, problems);
        else
            problems.insert(problems.begin(), document.problems().begin(), document.problems().end());
    } catch (const user_error& e) {
        problems.insert(problems.end(), e.problems().begin(), e.problems().end());
        result.platform.reset();
    }
    print(problems, result.source_text);
    if (!result.platform)
        fmt::print(stderr, "{}: not usable, nothing was built or written.\n", source.file);
    result.warnings = std::move(problems);
    return result;
}

} // namespace weft::cli
