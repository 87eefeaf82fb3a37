// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// No key of any platform does nothing in silence, in any mode. WEFT_KEY_MODE chooses modes by a part of their name; all that is
// found is printed.
#include "platforms/switchml/aggregators.h"
#include "testbenches/support/key_modes.h"
#include "testbenches/support/key_sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

using namespace weft;
using namespace weft::testing;

namespace {

bool can_run(const key_mode& mode)
{
    if (mode.rtl)
        return aggregator_refusal(aggregator_kind::rtl, {}).empty();
    return !mode.rv64 || cli::read_platform_text(mode.text, "mode.yaml").platform != nullptr;
}

/// Every key of a documented configuration: "workload.N.op".
void add_documented(const config_field& section, const std::string& path, std::set<std::string>& all)
{
    for (const config_field& f : section.children) {
        std::string here = join_path(path, f.name);
        const config_field* inner = &f;
        while (inner->type == field_type::list) {
            inner = &inner->element.at(0);
            here = join_path(here, "N");
        }
        if (inner->type == field_type::section)
            add_documented(*inner, here, all);
        else
            all.insert(here);
    }
}

void sweep(const platform_info& info)
{
    const char* only = std::getenv("WEFT_KEY_MODE");
    std::map<std::string, bool> tried; ///< by documented key: whether it ever mattered, was warned about or was refused
    INFO("platforms/" << info.name << "/keys.yaml: small configurations, one for every mode (docs/08)");
    REQUIRE(keys_of_platforms().count(info.name) == 1);
    const platform_keys& of_platform = keys_of_platforms().at(info.name);
    for (const key_mode& mode : of_platform.modes) {
        if (!can_run(mode) ||
            (only != nullptr && mode.name.find(only) == std::string::npos))
            continue;
        INFO(mode.name);
        const key_sweep keys(mode.text);
        CHECK(keys.complaint().empty());
        CHECK(keys.base().compare(0, 7, "code " + std::to_string(mode.code) + "\n") == 0);
        for (const swept_key& key : keys.keys()) {
            const key_effect effect = keys.effect_of(key);
            const key_exception* const e = of_platform.exception_for(key.doc_path);
            const bool limits = effect == key_effect::limit && e != nullptr && e->kind == exception_kind::limit;
            tried[key.doc_path] = tried[key.doc_path] || !is_silent(effect) || limits;
            if (!is_silent(effect)) {
                if (effect == key_effect::changed && e != nullptr && e->kind == exception_kind::never)
                    FAIL_CHECK(key.path << " changes the run, but keys.yaml says that it never does");
                continue;
            }
            if (e == nullptr)
                FAIL_CHECK(key.path << " does nothing in silence");
        }
    }
    if (only != nullptr)
        return;
    std::set<std::string> documented;
    add_documented(info.defaults(), "", documented);
    // What all platforms have is tried on the first one, unless a platform does it, too.
    std::set<std::string> common;
    if (&info != cli::platforms().front())
        add_documented(describe(run_config()), "", common);
    for (const std::string& key : common)
        if (tried.count(key) == 0)
            documented.erase(key);
    for (const std::string& key : documented) {
        INFO(key);
        const key_exception* const e = of_platform.exception_for(key);
        if (e != nullptr && e->kind == exception_kind::never)
            continue;
        CHECK(tried.count(key) == 1);
        CHECK(tried[key]);
    }
}

const platform_info& platform_named(const std::string& name)
{
    const auto& all = cli::platforms();
    const auto found = std::find_if(all.begin(), all.end(), [&](const platform_info* p) { return p->name == name; });
    REQUIRE(found != all.end());
    return **found;
}

} // namespace

TEST_CASE("no key of tpu_v3 does nothing in silence", "[fuzz][slow]") { sweep(platform_named("tpu_v3")); }
TEST_CASE("no key of switchml does nothing in silence", "[fuzz][slow]") { sweep(platform_named("switchml")); }
TEST_CASE("no key of ub_mesh does nothing in silence", "[fuzz][slow]") { sweep(platform_named("ub_mesh")); }
TEST_CASE("no key of a further platform does nothing in silence", "[fuzz][slow]")
{
    static const std::set<std::string> above = {"tpu_v3", "switchml", "ub_mesh"};
    for (const platform_info* p : cli::platforms())
        if (above.count(p->name) == 0)
            sweep(*p);
}
