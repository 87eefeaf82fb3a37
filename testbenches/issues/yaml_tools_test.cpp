// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Platform files in the hands of other tools: scripts that read and write YAML 1.1, editors that check against the shipped JSON
// Schema. Both agree with the reader.
#include "platforms/cli/cli.h"
#include "testbenches/issues/json_schema.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <regex>
#include <sstream>

namespace fs = std::filesystem;
using namespace weft;
using nlohmann::json;
using weft::testing::schema_violation;

namespace {

const fs::path k_root = WEFT_SOURCE_DIR;

std::vector<std::string> platform_files()
{
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(k_root / "configs"))
        if (entry.path().extension() == ".yaml" && entry.path().filename() != "prices.yaml" &&
            entry.path().parent_path().filename() != "sweeps") // not platforms
            all.push_back(entry.path().string());
    std::sort(all.begin(), all.end());
    return all;
}

json schema_of(const std::string& platform)
{
    const fs::path file = k_root / "docs" / (platform + ".schema.json");
    INFO(file.string() << " is missing: `weft docs --out docs` writes it");
    REQUIRE(fs::exists(file));
    return json::parse(std::ifstream(file));
}

/// A plain scalar as a YAML 1.1 tool reads it: the resolvers of PyYAML, which are those of YAML 1.1 without `y` and `n`.
json plain_1_1(const std::string& text)
{
    static const std::regex whole(R"([-+]?(0|[1-9][0-9_]*))");
    static const std::regex other_whole(
        R"([-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+)");
    static const std::regex real(R"([-+]?([0-9][0-9_]*)\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?)");
    if (const std::optional<bool> boolean = yaml_1_1_boolean(text))
        return *boolean;
    if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
        return nullptr;
    if (std::regex_match(text, whole))
        return text[0] == '-' ? json(std::stoll(text)) : json(std::stoull(text));
    if (std::regex_match(text, real))
        return std::stod(text);
    if (std::regex_match(text, other_whole))
        return json::object({{"a number of YAML 1.1 that nobody means", text}}); // fits no schema
    return text;
}

json loaded_1_1(const yaml_node& node)
{
    json value;
    switch (node.kind) {
    case yaml_kind::empty: break;
    case yaml_kind::scalar: return node.quoted ? json(node.text) : plain_1_1(node.text);
    case yaml_kind::list:
        value = json::array();
        for (const yaml_node& item : node.items)
            value.push_back(loaded_1_1(item));
        break;
    case yaml_kind::map:
        value = json::object();
        for (const yaml_entry& entry : node.entries)
            value[entry.key] = loaded_1_1(entry.value);
        break;
    }
    return value;
}

/// As such a tool dumps it: block style, quotes only where plain text would be read as something else.
std::string dumped_1_1(const json& value, const std::string& indent = "")
{
    std::string text;
    if (value.is_object() && !value.empty()) {
        for (const auto& [key, inner] : value.items())
            text += indent + key + ":" + (inner.is_structured() && !inner.empty() ? "\n" : " ") +
                    dumped_1_1(inner, indent + "  ");
    } else if (value.is_array() && !value.empty()) {
        for (const json& inner : value)
            text += indent + "-" + (inner.is_structured() && !inner.empty() ? "\n" : " ") +
                    dumped_1_1(inner, indent + "  ");
    } else if (value.is_string()) {
        static const std::regex plain(R"([A-Za-z0-9+][-A-Za-z0-9 _./+(),]*[A-Za-z0-9./+)]|[A-Za-z0-9])");
        const std::string s = value;
        text = (std::regex_match(s, plain) && plain_1_1(s).is_string()
                    ? s
                    : "'" + std::regex_replace(s, std::regex("'"), "''") + "'") +
               "\n";
    } else {
        text = value.dump() + "\n";
    }
    return text;
}

cli::loaded_platform read_text(const std::string& text, const std::string& file,
                               std::vector<std::string> overrides = {})
{
    cli::platform_source source;
    source.overrides = std::move(overrides);
    return cli::read_platform_text(text, file, source);
}

} // namespace

TEST_CASE("shipped files fit the shipped schemas for tools of YAML 1.1 and are accepted when these write them again")
{
    fs::current_path(k_root);
    const std::vector<std::string> files = platform_files();
    REQUIRE(files.size() >= 45);
    std::size_t with_boolean = 0;
    for (const std::string& file : files) {
        INFO(file);
        const yaml_document document = yaml_document::load(file);
        const json value = loaded_1_1(document.root());
        CHECK(schema_violation(value, schema_of(value.at("platform"))) == "");
        with_boolean += value.contains("data") && value.at("data").is_boolean() ? 1 : 0;

        const std::string again = dumped_1_1(value);
        INFO(again);
        const cli::loaded_platform second = read_text(again, file);
        REQUIRE(second.platform);
        if (file.find("superpod") != std::string::npos) {
            CHECK(second.message() == "");
            continue; // seconds for each
        }
        cli::platform_source source;
        source.file = file;
        const cli::loaded_platform first = cli::read_platform(source);
        REQUIRE(first.platform);
        CHECK(second.message().empty() == first.message().empty()); // a warning is of both
        CHECK(to_json(first.platform->resolved()) == to_json(second.platform->resolved()));
    }
    CHECK(with_boolean > 20); // else this test tests nothing
}

TEST_CASE("a boolean in place of a word is taken where its meaning is plain and refused with the words where it is not")
{
    const std::string base =
        "platform: tpu_v3\nmesh: {rows: 2, cols: 2}\nworkload: [{op: all_reduce, sizes: [4 kB]}]\n";
    const json schema = schema_of("tpu_v3").at("properties").at("data");
    for (const char* off : {"off", "Off", "OFF", "no", "No", "NO", "false", "False", "FALSE", "'off'", "\"off\""}) {
        INFO(off);
        const cli::loaded_platform loaded = read_text(base + "data: " + off + "\n", "x.yaml");
        REQUIRE(loaded.platform);
        CHECK(loaded.platform->run().data == data_mode::off);
        CHECK(read_text(base, "x.yaml", {std::string("data=") + off}).platform != nullptr);
        CHECK(schema_violation(loaded_1_1(loaded.document->find("data")[0]), schema) == "");
    }
    for (const char* on : {"true", "True", "on", "yes", "'false'", "'no'", "0"}) {
        INFO(on);
        const cli::loaded_platform loaded = read_text(base + "data: " + on + "\n", "x.yaml");
        CHECK_FALSE(loaded.platform);
        CHECK(loaded.message().find("data: '") != std::string::npos);
        CHECK(loaded.message().find("checked, off") != std::string::npos);
        CHECK(schema_violation(loaded_1_1(yaml_document::parse(std::string("data: ") + on, "x.yaml").find("data")[0]),
                               schema) != "");
    }
}

namespace {

/// Calls `see(path, field, schema)` for every number and quantity with limits that `base` has a place for.
void for_each_limited(const config_field& field, const json& schema, const std::string& path, const yaml_document& base,
                      const std::function<void(const std::string&, const config_field&, const json&)>& see)
{
    for (const config_field& child : field.children) {
        const std::string key = join_path(path, child.name);
        const json& inner = schema.at("properties").at(child.name);
        if (child.type == field_type::section) {
            if (child.present || base.find(key) != nullptr)
                for_each_limited(child, inner, key, base, see);
        } else if (child.type == field_type::list) {
            const config_field& element = child.element.at(0);
            if (base.find(key + ".0") == nullptr)
                continue;
            if (element.type == field_type::section)
                for_each_limited(element, inner.at("items"), key + ".0", base, see);
            else if (element.limits.bounds_whole() || element.limits.bounds_real())
                see(key + ".0", element, inner.at("items"));
        } else if (child.limits.bounds_whole() || child.limits.bounds_real()) {
            see(key, child, inner);
        }
    }
}

/// Values just outside and just inside the limits of a field.
void edges_of(const config_field& f, std::vector<json>& outside, std::vector<json>& inside)
{
    const field_limits& l = f.limits;
    if (f.type == field_type::real) {
        outside = {l.least_real - 1e-3, l.most_real + 1e-3};
        inside = {l.least_real, l.most_real};
        return;
    }
    const auto shown = [&](std::uint64_t v) {
        return f.type == field_type::quantity ? json(format_quantity(f.kind, v)) : json(v);
    };
    if (l.choices != 0) {
        for (std::size_t i = 0; i < l.choices; ++i) {
            inside.push_back(shown(l.one_of[i]));
            outside.push_back(shown(l.one_of[i] * 3));
        }
        return;
    }
    inside.push_back(shown(l.least));
    if (l.least > 0)
        outside.push_back(shown(l.least - 1));
    if (l.most != ~std::uint64_t{0}) {
        inside.push_back(shown(l.most));
        outside.push_back(shown(l.most + 1));
    }
    if (l.power_of_two)
        outside.push_back(shown(3 * l.least));
}

} // namespace

TEST_CASE("values outside their range fail both the schema and the reader")
{
    fs::current_path(k_root);
    const std::string workload = "workload: [{op: all_reduce, sizes: [4 kB], range: {from: 4 B, to: 1 MiB}}]\n"
                                 "training_step: {compute: 1 ms, groups: [{bytes: 1 MB, ready: 0.5}, {elements: 4}], "
                                 "exchanges: [{count: 1, bytes: 4 B}]}\n";
    const std::vector<std::pair<std::string, std::string>> bases = {
        {"tpu_v3", "mesh: {rows: 4, cols: 4}\nfaults: {regions: [{row: 0, col: 0, rows: 2, cols: 2}]}\n" + workload},
        {"switchml", "faults: {cables: [{worker: 0, impairments: {loss: 0.1}}]}\n" + workload},
        {"ub_mesh", "faults: {links: [{from: 'npu(p0,r0,b0,0)', to: 'npu(p0,r0,b0,1)', lanes: 1}]}\n" + workload}};
    for (const platform_info* info : cli::platforms()) {
        const auto base =
            std::find_if(bases.begin(), bases.end(), [&](const auto& b) { return b.first == info->name; });
        const std::string text =
            "platform: " + std::string(info->name) + "\n" + (base != bases.end() ? base->second : workload);
        const yaml_document document = yaml_document::parse(text, "x.yaml");
        std::size_t fields = 0;
        for_each_limited(info->defaults(), schema_of(info->name), "", document,
                         [&](const std::string& path, const config_field& field, const json& schema) {
                             ++fields;
                             std::vector<json> outside, inside;
                             edges_of(field, outside, inside);
                             CHECK_FALSE(outside.empty());
                             for (const json& value : inside) {
                                 INFO(info->name << " " << path << " " << value.dump());
                                 CHECK(schema_violation(value, schema) == "");
                             }
                             for (const json& value : outside) {
                                 const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
                                 INFO(info->name << " " << path << " " << shown);
                                 CHECK(schema_violation(value, schema) != "");
                                 const cli::loaded_platform loaded = read_text(text, "x.yaml", {path + "=" + shown});
                                 CHECK_FALSE(loaded.platform);
                                 const bool told =
                                     std::any_of(loaded.problems.begin(), loaded.problems.end(), [&](const problem& p) {
                                         return p.level == severity::error && p.key_path == path;
                                     });
                                 INFO(loaded.message());
                                 CHECK(told);
                             }
                         });
        INFO(info->name);
        CHECK(fields > 50);
    }
}

TEST_CASE("patterns of quantities take every spelling inside the range and none clearly outside")
{
    const auto schema = [](quantity_kind kind, const field_limits& limits) {
        config_field field;
        field.type = field_type::section;
        config_field inner;
        inner.name = "x";
        inner.type = field_type::quantity;
        inner.kind = kind;
        inner.limits = limits;
        inner.value = std::string("1");
        field.children.push_back(inner);
        return json_schema(field, "test").at("properties").at("x");
    };
    std::uint64_t state = 1; // of a small generator: the same values everywhere
    const auto random = [&](std::uint64_t below) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (state >> 11) % below;
    };
    const std::vector<std::pair<quantity_kind, std::vector<std::string>>> units = {
        {quantity_kind::data_size, {"B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "TiB"}},
        {quantity_kind::duration, {"ps", "ns", "us", "ms", "s"}},
        {quantity_kind::bandwidth, {"bps", "b/s", "Mbps", "Gb/s", "B/s", "GB/s", "KiB/s", "GiB/s"}},
        {quantity_kind::frequency, {"Hz", "kHz", "MHz", "GHz"}},
        {quantity_kind::packets, {"packet", "packets"}},
        {quantity_kind::cycles, {"cycles"}}};
    std::size_t legal = 0, illegal = 0;
    for (const auto& [kind, names] : units)
        for (int round = 0; round < 30; ++round) {
            const std::uint64_t least = random(2) == 0 ? random(100) : random(1'000'000'000);
            const std::uint64_t most = least + (random(2) == 0 ? random(1000) : random(1'000'000'000'000));
            const std::regex pattern(schema(kind, between(least, most)).at("pattern").get<std::string>());
            for (int i = 0; i < 40; ++i) {
                const std::string& unit = names[random(names.size())];
                const std::uint64_t parts[] = {random(10), random(1000), random(1'000'000), most,
                                               least,      least / 1000, most / 1000};
                std::string text = std::to_string(parts[random(7)]);
                if (random(2) == 0)
                    text += "." + std::to_string(random(100'000));
                text += (random(2) == 0 ? " " : "") + unit;
                const parsed_quantity parsed = parse_quantity(kind, text);
                if (!parsed.ok)
                    continue;
                INFO(text << " of " << least << " to " << most);
                const bool fits = std::regex_search(text, pattern);
                if (parsed.value >= least && parsed.value <= most) {
                    CHECK(fits);
                    ++legal;
                } else if (parsed.value < least / 2 || parsed.value > 2 * most) {
                    CHECK_FALSE(fits);
                    ++illegal;
                }
            }
        }
    CHECK(legal > 300);
    CHECK(illegal > 300);
}
