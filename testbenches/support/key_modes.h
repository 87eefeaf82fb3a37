// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What each platform says in its keys.yaml: small configurations, one for every mode, whose runs take a fraction of a second; and keys that may
// change nothing without a word, with the reason. key_exceptions.yaml has those of all platforms.
#pragma once

#include <catch2/catch.hpp>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace weft::testing {

struct key_mode {
    std::string name; ///< "tpu_v3, healthy mesh"
    std::string platform;
    std::string text;
    bool rv64 = false; ///< needs RISC-V cores
    bool rtl = false;  ///< needs the Verilog
    int code = 0;      ///< with which the run ends; 1: a link fails, say, and the run with it
};

/// `sometimes`: nothing says in advance whether a run uses it, but at least one mode of its platform does. `limit`: it only bounds what
/// others need, and at least one mode of its platform is refused for it. `never`: it is not about what is simulated.
enum class exception_kind { sometimes, limit, never };

struct key_exception {
    std::string key; ///< of the documentation; with "*" in front: wherever a path ends so
    exception_kind kind;
    std::string reason;

    bool covers(const std::string& doc_path) const
    {
        if (key[0] != '*')
            return key == doc_path;
        return doc_path.size() >= key.size() - 1 &&
               doc_path.compare(doc_path.size() - (key.size() - 1), key.size() - 1, key, 1) == 0;
    }
};

struct platform_keys {
    std::vector<key_mode> modes;
    std::vector<key_exception> exceptions; ///< its own, then those of all platforms

    const key_exception* exception_for(const std::string& doc_path) const
    {
        for (const key_exception& e : exceptions)
            if (e.covers(doc_path))
                return &e;
        return nullptr;
    }
};

inline void add_exceptions(const YAML::Node& list, std::vector<key_exception>& all)
{
    static const std::map<std::string, exception_kind> kinds{
        {"sometimes", exception_kind::sometimes}, {"limit", exception_kind::limit}, {"never", exception_kind::never}};
    for (const YAML::Node& n : list)
        all.push_back({n["key"].as<std::string>(), kinds.at(n["kind"].as<std::string>()), n["reason"].as<std::string>()});
}

/// By platform, of every folder that has the file.
inline const std::map<std::string, platform_keys>& keys_of_platforms()
{
    static const std::map<std::string, platform_keys> all = [] {
        namespace fs = std::filesystem;
        const fs::path root = WEFT_SOURCE_DIR;
        std::map<std::string, platform_keys> made;
        for (const auto& folder : fs::directory_iterator(root / "platforms")) {
            const fs::path file = folder.path() / "keys.yaml";
            if (!fs::exists(file))
                continue;
            const std::string platform = folder.path().filename().string();
            const YAML::Node keys = YAML::LoadFile(file.string());
            platform_keys& p = made[platform];
            for (const YAML::Node& n : keys["modes"])
                p.modes.push_back({platform + ", " + n["name"].as<std::string>(), platform, n["text"].as<std::string>(),
                                   n["rv64"].as<bool>(false), n["rtl"].as<bool>(false), n["code"].as<int>(0)});
            add_exceptions(keys["exceptions"], p.exceptions);
            add_exceptions(YAML::LoadFile((root / "testbenches/support/key_exceptions.yaml").string()), p.exceptions);
        }
        return made;
    }();
    return all;
}

inline const std::vector<key_mode>& key_modes()
{
    static const std::vector<key_mode> all = [] {
        std::vector<key_mode> made;
        for (const auto& [platform, keys] : keys_of_platforms())
            made.insert(made.end(), keys.modes.begin(), keys.modes.end());
        REQUIRE_FALSE(made.empty());
        return made;
    }();
    return all;
}

} // namespace weft::testing
