// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Proof that no key does nothing: every key of a configuration is set to values that clearly differ, and the run has to differ,
// or `weft check` has to refuse the value or to warn about the key.
#pragma once

#include "platforms/cli/cli.h"
#include "platforms/config/config_dump.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace weft::testing {

/// A key of a configuration, with the values to try.
struct swept_key {
    std::string path;     ///< "workload.0.sizes.1"
    std::string doc_path; ///< "workload.N.sizes.N"
    std::vector<std::string> values;
    std::string least; ///< the smallest value that its own bounds allow; "" without such a bound
};

/// How a key answered. `limit`: it changed nothing, but its smallest value is refused beside the other keys.
enum class key_effect { changed, warned, refused, limit, none };

/// True if nobody is told that the key does nothing.
inline bool is_silent(key_effect effect) { return effect == key_effect::none || effect == key_effect::limit; }

class key_sweep {
public:
    /// `text`: a platform file whose run takes a fraction of a second.
    explicit key_sweep(std::string text) : text_(std::move(text))
    {
        char name[] = "/tmp/weft_keys_XXXXXX";
        if (mkdtemp(name) != nullptr)
            dir_ = name;
        std::ofstream(dir_ + "/mode.yaml") << text_;
        const cli::loaded_platform loaded = cli::read_platform_text(text_, "mode.yaml");
        if (!loaded.platform) {
            complaint_ = loaded.message();
            return;
        }
        for (const problem& p : loaded.problems)
            known_.insert(p.message);
        collect(loaded.platform->resolved(), "", "", keys_);
        base_ = run({});
    }
    ~key_sweep()
    {
        std::error_code ignored;
        std::filesystem::remove_all(dir_, ignored);
    }
    key_sweep(const key_sweep&) = delete;
    key_sweep& operator=(const key_sweep&) = delete;

    /// Every key of a platform file that `weft check` accepts, with values to try.
    static std::vector<swept_key> keys_of(const std::string& text)
    {
        std::vector<swept_key> keys;
        if (const cli::loaded_platform loaded = cli::read_platform_text(text, "mode.yaml"); loaded.platform)
            collect(loaded.platform->resolved(), "", "", keys);
        return keys;
    }
    const std::vector<swept_key>& keys() const { return keys_; }
    const std::string& complaint() const { return complaint_; } ///< of `weft check` where it refuses the mode
    const std::string& base() const { return base_; }

    key_effect effect_of(const swept_key& key) const
    {
        bool accepted = false;
        bool least_refused = false;
        for (const std::string& value : key.values) {
            const std::string set = key.path + "=" + value;
            cli::platform_source source;
            source.overrides = {set};
            const cli::loaded_platform loaded = cli::read_platform_text(text_, "mode.yaml", source);
            if (!loaded.platform) {
                least_refused = least_refused || value == key.least;
                continue;
            }
            accepted = true;
            for (const problem& p : loaded.problems)
                if (known_.count(p.message) == 0 &&
                    (p.key_path == key.path || key.path.compare(0, p.key_path.size() + 1, p.key_path + ".") == 0))
                    return key_effect::warned;
            if (run(set) != base_)
                return key_effect::changed;
        }
        if (!accepted)
            return key_effect::refused;
        return least_refused ? key_effect::limit : key_effect::none;
    }

private:
    /// From near to far, so that a value that is accepted comes early and one that matters is there.
    static std::vector<std::uint64_t> others(std::uint64_t v)
    {
        std::vector<std::uint64_t> all;
        const std::set<std::uint64_t> usual{v};
        if (v == 0)
            return {1, 2, 1000, 1'000'000, 20'000'000, 1'000'000'000};
        for (const std::uint64_t o :
             {v * 2, v / 2, v * 10, v / 10, v / 100, v / 1000, v / 10000, v / 1'000'000, v / 10'000'000, v * 1000,
              v + 1, v - 1, v / 3, std::uint64_t{1}, std::uint64_t{0}})
            if (usual.count(o) == 0 && std::find(all.begin(), all.end(), o) == all.end())
                all.push_back(o);
        return all;
    }

    static std::vector<std::string> values_for(const config_field& f)
    {
        std::vector<std::string> all;
        const std::string now = value_text(f);
        switch (f.type) {
        case field_type::boolean: return {now == "true" ? "false" : "true"};
        case field_type::choice:
            for (const std::string& c : f.choices)
                if (c != now)
                    all.push_back(c);
            return all;
        case field_type::integer:
            for (const std::uint64_t v : others(std::get<std::uint64_t>(f.value)))
                all.push_back(std::to_string(v));
            return all;
        case field_type::quantity: {
            std::uint64_t v = parse_quantity(f.kind, now).value;
            if (!f.present && v == 0)
                v = 1'000'000; // picoseconds or bytes: something to begin with
            for (const std::uint64_t o : others(v))
                all.push_back(format_quantity(f.kind, o));
            return all;
        }
        case field_type::real: {
            const double v = std::get<double>(f.value);
            for (const double o : {v * 2, v / 2, v / 10, 0.05, 0.3, 1e-5, 0.5, 1.0, 0.0})
                if (o != v)
                    all.push_back(fmt::format("{}", o));
            return all;
        }
        case field_type::text: return {"npu(p0,r0,b0,2)", "npu(p0,r0,b1,1)", "npu(p0,r0,b1,3)", "other"};
        default: return all;
        }
    }

    static std::string least_of(const config_field& f)
    {
        if (f.limits.least == 0 || f.limits.choices != 0)
            return {};
        if (f.type == field_type::quantity)
            return format_quantity(f.kind, f.limits.least);
        return f.type == field_type::integer ? std::to_string(f.limits.least) : std::string();
    }

    static void collect(const config_field& section, const std::string& path, const std::string& doc_path,
                        std::vector<swept_key>& keys)
    {
        for (std::size_t i = 0; i < section.children.size(); ++i) {
            const config_field& f = section.children[i];
            const bool entry = section.type == field_type::list;
            const std::string here = join_path(path, entry ? std::to_string(i) : f.name);
            const std::string doc = join_path(doc_path, entry ? "N" : f.name);
            if (f.type == field_type::section || f.type == field_type::list) {
                if (f.present)
                    collect(f, here, doc, keys);
                if (f.type == field_type::list && f.children.empty() && !f.unused &&
                    (f.element.at(0).type == field_type::choice || f.element.at(0).type == field_type::quantity ||
                     f.element.at(0).type == field_type::integer)) {
                    std::vector<std::string> lists{"[2, 2]", "[2, 1]"};
                    for (const std::string& v : values_for(f.element.at(0)))
                        lists.push_back("[" + v + "]");
                    keys.push_back({here, join_path(doc, "N"), lists, {}});
                }
                continue;
            }
            swept_key key{here, doc, values_for(f), least_of(f)};
            if (!key.least.empty() && key.least != value_text(f) &&
                std::find(key.values.begin(), key.values.end(), key.least) == key.values.end())
                key.values.push_back(key.least);
            keys.push_back(std::move(key));
        }
    }

    /// Everything that a run says besides its own configuration and what the host had to do with it.
    std::string run(const std::string& set) const
    {
        const std::string json = dir_ + "/results.json";
        std::filesystem::remove(json);
        const std::string command =
            fmt::format("cd {} && timeout 60 {} run {}/mode.yaml --quiet --out {} {} > {}/said 2>&1", dir_,
                        WEFT_PROGRAM, dir_, dir_, set.empty() ? "" : "--set '" + set + "'", dir_);
        const int status = std::system(command.c_str());
        std::string told = fmt::format("code {}\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        std::stringstream said;
        said << std::ifstream(dir_ + "/said").rdbuf();
        told += said.str();
        if (!std::filesystem::exists(json))
            return told;
        nlohmann::json results = nlohmann::json::parse(std::ifstream(json));
        // The checksum is that of the configuration, too.
        for (const char* host : {"config", "host_seconds", "packet_hops_per_cpu_s", "timeline_events", "warnings", "checksum"})
            results.erase(host);
        nlohmann::json stats = nlohmann::json::array();
        for (const nlohmann::json& s : results["stats"])
            if (s["name"] != "run.host_cpu_seconds" && s["name"] != "run.kernel_activations")
                stats.push_back(s);
        results["stats"] = stats;
        // Bounds are computed from the configuration, whatever the run does.
        for (nlohmann::json& row : results["results"])
            for (const char* bound : {"bound_us", "bound_share", "bound_by"})
                row.erase(bound);
        return told + results.dump(1);
    }

    std::string text_;
    std::string dir_;
    std::string complaint_;
    std::set<std::string> known_; ///< warnings about the mode as it is
    std::vector<swept_key> keys_;
    std::string base_;
};

} // namespace weft::testing
