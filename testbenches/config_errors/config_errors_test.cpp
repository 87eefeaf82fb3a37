// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user is told about a wrong platform file. Beside every NAME.yaml of this folder, NAME.expected holds stderr of
// `weft check` word for word. Lines "# set: key.path=value" of the YAML file become --set options. After a change of
// wording, WEFT_UPDATE_EXPECTED=1 bin/config_errors_tests "every wrong file*" rewrites the expected files; read the
// difference before it is committed.
#include "platforms/cli/cli.h"
#include "platforms/config/config_dump.h"
#include "platforms/switchml/aggregators.h"
#include "testbenches/support/mutator.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace weft;
namespace fs = std::filesystem;

namespace {

const fs::path k_root = WEFT_SOURCE_DIR;
const std::string k_cases = "testbenches/config_errors";

std::string content_of(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Files below `folder` (relative to the source) that end in ".yaml", sorted, relative to the source. Price files are no
/// platforms: platforms name them.
std::vector<std::string> yaml_files(const std::string& folder)
{
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(k_root / folder))
        if (entry.path().extension() == ".yaml" && entry.path().filename() != "prices.yaml" &&
            entry.path().parent_path().filename() != "sweeps")
            names.push_back(fs::relative(entry.path(), k_root).string());
    std::sort(names.begin(), names.end());
    return names;
}

cli::platform_source source_of(const std::string& file, const std::string& text)
{
    cli::platform_source source;
    source.file = file;
    const std::string mark = "# set: ";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.compare(0, mark.size(), mark) == 0)
            source.overrides.push_back(line.substr(mark.size()));
    return source;
}

std::size_t errors_of(const cli::loaded_platform& loaded)
{
    return static_cast<std::size_t>(std::count_if(loaded.problems.begin(), loaded.problems.end(),
                                                  [](const problem& p) { return p.level == severity::error; }));
}

/// A message a user can act on: a sentence, with the place where it can be known.
void check_style(const problem& p)
{
    INFO(to_string(p));
    CHECK(p.message.size() >= 12);
    CHECK(p.message.find("  ") == std::string::npos);
    CHECK(p.message.find('\n') == std::string::npos);
    CHECK(p.message.find("{}") == std::string::npos);
    CHECK_FALSE(p.where.file.empty());
}

/// "tpu_v3, switchml, ub_mesh".
std::string platform_names()
{
    std::string names;
    for (const platform_info* p : cli::platforms())
        names += (names.empty() ? "" : ", ") + std::string(p->name);
    return names;
}

} // namespace

TEST_CASE("every wrong file is answered with exactly its message", "[config_errors][fast]")
{
    fs::current_path(k_root);
    const bool update = std::getenv("WEFT_UPDATE_EXPECTED") != nullptr;
    const std::vector<std::string> files = yaml_files(k_cases);
    CHECK(files.size() >= 40);
    for (const std::string& file : files) {
        INFO(file);
        const cli::loaded_platform loaded = cli::read_platform(source_of(file, content_of(file)));
        const fs::path expected = fs::path(file).replace_extension(".expected");
        const bool only_warns = fs::path(file).filename().string().compare(0, 8, "warning_") == 0;
        CHECK((loaded.platform != nullptr) == only_warns);
        CHECK((errors_of(loaded) == 0) == only_warns);
        for (const problem& p : loaded.problems)
            check_style(p);
        // A new platform changes no file here.
        std::string message = loaded.message();
        if (const std::size_t at = message.find(platform_names()); at != std::string::npos)
            message.replace(at, platform_names().size(), "{platforms}");
        if (update)
            std::ofstream(expected, std::ios::binary) << message;
        CHECK(message == content_of(expected));
    }
    // No message without its file.
    for (const auto& entry : fs::directory_iterator(k_cases))
        if (entry.path().extension() == ".expected")
            CHECK(fs::exists(fs::path(entry.path()).replace_extension(".yaml")));
    CHECK_FALSE(update);
}

TEST_CASE("shipped configurations have no errors or warnings and leave the length of trains to auto", "[config_errors][fast]")
{
    fs::current_path(k_root);
    const std::vector<std::string> files = yaml_files("configs");
    CHECK(files.size() >= 4);
    for (const std::string& file : files) {
        INFO(file);
        cli::platform_source source;
        source.file = file;
        const cli::loaded_platform loaded = cli::read_platform(source);
        CHECK(loaded.message().empty());
        REQUIRE(loaded.platform != nullptr);
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);)
            CHECK((line.rfind("burst:", 0) != 0 || line.rfind("burst: auto", 0) == 0));
    }
}

TEST_CASE("the resolved dump of a shipped configuration is a platform file with the same values",
          "[config_errors][fast]")
{
    fs::current_path(k_root);
    for (const std::string& file : yaml_files("configs")) {
        INFO(file);
        cli::platform_source source;
        source.file = file;
        const cli::loaded_platform first = cli::read_platform(source);
        REQUIRE(first.platform);
        const cli::loaded_platform second =
            cli::read_platform_text(to_yaml(first.platform->resolved(), &*first.document), "resolved.yaml");
        CHECK(second.message().empty() == first.message().empty());
        REQUIRE(second.platform);
        CHECK(to_json(first.platform->resolved()) == to_json(second.platform->resolved()));
    }
}

TEST_CASE("files that are not there or cannot be read are named", "[config_errors][fast]")
{
    fs::current_path(k_root);
    const auto message = [](const std::string& file) {
        cli::platform_source source;
        source.file = file;
        return cli::read_platform(source).message();
    };
    CHECK(message("configs/missing.yaml") == "configs/missing.yaml: error: there is no such file\n"
                                             "configs/missing.yaml: 1 error; nothing was built or written.\n");
    CHECK(message("configs") == "configs: error: this is a directory, not a file; give the path of a YAML file\n"
                                "configs: 1 error; nothing was built or written.\n");
    CHECK(message("configs/tpu_v3/mesh_4x4.yaml/x").find("x: error: ") != std::string::npos);
    CHECK(message("/proc/self/mem") == "/proc/self/mem: error: the file cannot be read: Input/output error\n"
                                       "/proc/self/mem: 1 error; nothing was built or written.\n");
    CHECK(message("/dev/zero").find("larger than 4 MiB") != std::string::npos);
}

TEST_CASE("what the RTL of the switch cannot do is refused or that this build has none", "[config_errors][fast]")
{
    const auto message = [](const std::string& keys, const std::string& algorithm) {
        return cli::read_platform_text("platform: switchml\nswitch: " + keys +
                                           "\nworkload: [{op: all_reduce, algorithms: [" + algorithm +
                                           "], sizes: [4 KiB]}]\n",
                                       "rtl.yaml")
            .message();
    };
    const bool has_rtl = aggregator_refusal(aggregator_kind::rtl, {}).empty();
    const std::string none = "switch.aggregator: this build has no RTL models";
    for (const std::string kind : {"rtl", "lockstep"}) {
        const std::string plain = message("{aggregator: " + kind + "}", "switchml");
        const std::string deep = message("{aggregator: " + kind + ", register_depth: 1024}", "switchml");
        const std::string lossless = message("{aggregator: " + kind + "}", "switchml_lossless");
        INFO(plain << deep << lossless);
        if (has_rtl) {
            CHECK(plain.empty());
            CHECK(deep.find("switch.aggregator: the Verilog is built with registers of 16384 entries") !=
                  std::string::npos);
        } else {
            CHECK(plain.find(none) != std::string::npos);
            CHECK(deep.find(none) != std::string::npos);
        }
        CHECK(lossless.find("workload.0.algorithms.0: switchml_lossless needs aggregator: model") != std::string::npos);
    }
}

TEST_CASE("damaged configurations end in a message or in a sound platform", "[config_errors][fuzz][fast]")
{
    const char* more = std::getenv("WEFT_FUZZ_ROUNDS"); // for a night
    const int rounds = more != nullptr ? std::atoi(more) : 8000;
    fs::current_path(k_root);
    std::vector<std::string> originals;
    // Most rounds start from a good file. Those with failed chips are large and routed anew in every round, and so are racks and
    // pods of UB-Mesh; small ones are among the cases.
    const auto large = [](const std::string& text) {
        return text.find("platform: ub_mesh") != std::string::npos && text.find("boards: 1") == std::string::npos &&
               text.find("boards: 2") == std::string::npos;
    };
    for (const std::string& file : yaml_files("configs"))
        if (std::string text = content_of(file); text.find("\nfaults:") == std::string::npos && !large(text))
            originals.push_back(std::move(text));
    const std::size_t good = originals.size();
    for (const std::string& file : yaml_files(k_cases))
        if (std::string text = content_of(file); !large(text))
            originals.push_back(std::move(text));
    int sound = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto n = static_cast<std::size_t>(round);
        const std::string& original = n % 4 != 0 ? originals[n % good] : originals[n / 4 % originals.size()];
        const std::string text = weft::testing::mutator(n)(original);
        try {
            const cli::loaded_platform loaded = cli::read_platform_text(text, "damaged.yaml");
            const std::string message = loaded.message();
            if (!loaded.platform) {
                if (errors_of(loaded) == 0 || message.empty())
                    FAIL("round " << n << ": refused without a message:\n" << text);
                continue;
            }
            ++sound;
            if (errors_of(loaded) != 0 || loaded.platform->description().empty())
                FAIL("round " << n << ": accepted with errors:\n" << message);
            const std::string dump = to_yaml(loaded.platform->resolved(), &*loaded.document);
            const cli::loaded_platform again = cli::read_platform_text(dump, "resolved.yaml");
            if (!again.platform || to_json(again.platform->resolved()) != to_json(loaded.platform->resolved()))
                FAIL("round " << n << ": the resolved dump is another platform:\n" << again.message() << dump);
        } catch (const std::exception& e) {
            FAIL("round " << n << ": " << e.what() << "\n" << text);
        }
    }
    CHECK(sound > rounds / 20);
    CHECK(sound < rounds / 2);
}
