// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// layers: no arrow backwards between folders, ever. First the rules are shown to bite, on small files that break each of
// them; then the whole tree is read.
#include "testbenches/unit/layer_rules.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;
using weft::testing::is_source_file;
using weft::testing::layer_problems;

namespace {

const std::string k_header = "// Copyright 2026 The weft authors\n// SPDX-License-Identifier: Apache-2.0\n";

/// Number of problems of a file with a correct licence header and this body.
std::size_t problems(const std::string& path, const std::string& body)
{
    const auto found = layer_problems(path, k_header + body + "\n");
    for (const auto& problem : found)
        UNSCOPED_INFO(problem);
    return found.size();
}

std::size_t include(const std::string& path, const std::string& header)
{
    return problems(path, "#include " + (header[0] == '<' ? header : '"' + header + '"'));
}

std::string read(const fs::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

/// Source files below `folders`, relative to the root, sorted.
std::vector<std::string> source_files(const std::vector<std::string>& folders)
{
    const fs::path root = WEFT_SOURCE_DIR;
    std::vector<std::string> files;
    for (const auto& folder : folders) {
        if (!fs::exists(root / folder))
            continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const std::string path = fs::relative(entry.path(), root).generic_string();
            if (entry.is_regular_file() && is_source_file(path))
                files.push_back(path);
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string joined(const std::vector<std::string>& lines)
{
    std::string text;
    for (const auto& line : lines)
        text += line + '\n';
    return text;
}

} // namespace

TEST_CASE("layers: legal includes pass")
{
    CHECK(include("tlm/link.h", "tlm/packet.h") == 0);
    CHECK(include("tlm/link.h", "<systemc>") == 0);
    CHECK(include("hw/abi/hal.h", "hw/abi/types.h") == 0);
    CHECK(include("hw/abi/hal.h", "<cstdint>") == 0);
    CHECK(include("firmware/drivers/dma.h", "hw/abi/hal.h") == 0);
    CHECK(include("firmware/drivers/dma.cpp", "firmware/drivers/dma.h") == 0);
    CHECK(include("hw/dma/dma.h", "hw/dma/reduce.h") == 0);
    CHECK(include("hw/dma/dma.h", "tlm/link.h") == 0);
    CHECK(include("hw/dma/dma.h", "hw/abi/descriptor.h") == 0);
    CHECK(include("hw/ici/router.h", "hw/fabric/fabric.h") == 0);
    CHECK(include("hw/chip/chip.h", "hw/dma/dma.h") == 0);
    CHECK(include("rtl/shell/reduce.h", "hw/dma/dma.h") == 0);
    CHECK(include("rtl/shell/reduce_pins.cpp", "Vreduce.h") == 0);
    CHECK(include("platforms/config/loader.cpp", "<yaml-cpp/yaml.h>") == 0);
    CHECK(include("platforms/cli/main.cpp", "firmware/collectives/all_reduce.h") == 0);
    CHECK(include("platforms/cli/main.cpp", "cmake/version.h") == 0);
    CHECK(include("testbenches/unit/x_test.cpp", "platforms/config/loader.h") == 0);
}

TEST_CASE("layers: an arrow backwards is found")
{
    CHECK(include("tlm/link.h", "hw/abi/types.h") == 1);
    CHECK(include("tlm/link.h", "platforms/config/loader.h") == 1);
    CHECK(include("hw/abi/hal.h", "tlm/units.h") == 1);
    CHECK(include("hw/abi/hal.h", "firmware/drivers/dma.h") == 1);
    CHECK(include("firmware/drivers/dma.h", "tlm/units.h") == 1);
    CHECK(include("firmware/drivers/dma.h", "hw/dma/dma.h") == 1);
    CHECK(include("hw/dma/dma.h", "hw/fabric/fabric.h") == 1);
    CHECK(include("hw/core/core.h", "firmware/boot/main.h") == 1);
    CHECK(include("hw/core/core.h", "hw/bus/bus.h") == 1);
    CHECK(include("hw/ici/router.h", "hw/dma/dma.h") == 1);
    CHECK(include("hw/fabric/fabric.h", "hw/ici/router.h") == 1);
    CHECK(include("hw/chip/chip.h", "platforms/config/loader.h") == 1);
    CHECK(include("hw/chip/chip.h", "hw/ethernet/ethernet_nic.h") == 1);
    CHECK(include("rtl/common/pins.cpp", "tlm/link.h") == 1);
    CHECK(include("platforms/cli/main.cpp", "testbenches/support/kernel_warnings.h") == 1);
    CHECK(include("tlm/link.h", "packet.h") == 1);
    CHECK(include("hw/dma/dma.h", "../bus/bus.h") == 1);
    CHECK(include("platforms/ub_mesh/ub_mesh.h", "platforms/tpu_v3/tpu_v3.h") == 1);
    CHECK(include("platforms/ub_mesh/ub_mesh.h", "platforms/explain/what_if.h") == 1);
    CHECK(include("platforms/explain/what_if.h", "platforms/ub_mesh/ub_mesh.h") == 1);
    CHECK(include("platforms/machine/machine_checks.h", "platforms/cli/cli.h") == 1);
    CHECK(include("platforms/config/config_dump.h", "platforms/report/run_report.h") == 1);
    CHECK(include("hw/new/new.h", "tlm/link.h") == 1);
    CHECK(include("hw/ipu/ipu_link_config.h", "hw/fabric/fabric_engine.h") == 1);
    CHECK(include("hw/routing/ipu/ipu_pod_plan.h", "hw/ipu/ipu_link_config.h") == 1);
    CHECK(problems("tlm/link.h", "  #  include \"hw/abi/types.h\" // really") == 1);
}

TEST_CASE("layers: a library in the wrong folder is found")
{
    CHECK(include("hw/abi/hal.h", "<systemc>") == 1);
    CHECK(include("hw/abi/hal.h", "<string>") == 1);
    CHECK(include("firmware/drivers/dma.h", "<tlm>") == 1);
    CHECK(include("firmware/drivers/dma.h", "<vector>") == 1);
    CHECK(include("tlm/units.h", "<yaml-cpp/yaml.h>") == 1);
    CHECK(include("hw/dma/dma.h", "<nlohmann/json.hpp>") == 1);
    CHECK(include("hw/chip/chip.h", "<CLI/CLI.hpp>") == 1);
    CHECK(include("hw/core/engines/unicorn_engine.cpp", "<unicorn/unicorn.h>") == 0);
    CHECK(include("hw/core/rv64_core.cpp", "<unicorn/unicorn.h>") == 1);
    CHECK(include("platforms/debug/libdw_line_table.cpp", "<elfutils/libdw.h>") == 0);
    CHECK(include("platforms/report/trace_writer.cpp", "<elfutils/libdw.h>") == 1);
    CHECK(include("hw/routing/mesh.h", "<systemc>") == 1);
    CHECK(include("hw/routing/table.h", "<tlm_utils/simple_target_socket.h>") == 1);
    CHECK(include("hw/routing/ub/ub_topology.h", "<systemc>") == 1);
    CHECK(include("platforms/ub_mesh/ub_bill.h", "<systemc>") == 1);
    CHECK(include("hw/routing/ub/ub_topology.h", "hw/abi/ub.h") == 0);
}

TEST_CASE("layers: comments and literals do not count")
{
    CHECK(problems("tlm/link.h",
                   "// #include \"hw/abi/types.h\"\n/* namespace tlm {\n#include <yaml-cpp/yaml.h>\n*/") == 0);
    CHECK(problems("firmware/a.cpp", "    log(\"new \\\" throw\", 'x'); // throw new") == 0);
    CHECK(problems("firmware/a.cpp", "    const char* quote = \"'\"; throw 1;") == 1);
    CHECK(problems("firmware/a.cpp", "    const int million = 1'000'000; throw 1;") == 1);
}

TEST_CASE("layers: a namespace called tlm is found")
{
    CHECK(problems("tlm/link.h", "namespace tlm {") == 1);
    CHECK(problems("hw/dma/dma.h", "namespace weft { namespace tlm {") == 1);
    CHECK(problems("hw/dma/dma.h", "::tlm::tlm_generic_payload payload;") == 0);
}

TEST_CASE("layers: SystemC in the contract or the firmware is found")
{
    CHECK(problems("hw/abi/hal.h", "sc_core::sc_time t;") == 1);
    CHECK(problems("firmware/a.cpp", "    SC_REPORT_ERROR(a, b);") == 1);
}

TEST_CASE("layers: heap and exceptions and mutable state in firmware are found")
{
    const std::string file = "firmware/collectives/ring.cpp";
    CHECK(problems(file, "    auto* p = new int;") == 1);
    CHECK(problems(file, "    auto* p = new (std::nothrow) int;") == 1);
    CHECK(problems(file, "    delete p;") == 1);
    CHECK(problems(file, "    void* p = malloc(3);") == 1);
    CHECK(problems(file, "    std::vector<int> v;") == 1);
    CHECK(problems(file, "    throw 1;") == 1);
    CHECK(problems(file, "    try {") == 1);
    CHECK(problems(file, "int counter = 0;") == 1);
    CHECK(problems(file, "int counter;") == 1);
    CHECK(problems(file, "std::uint32_t table[4] = {};") == 1);
    CHECK(problems(file, "inline context* current{nullptr};") == 1);
    CHECK(problems(file, "static int counter = 0;") == 1);
    CHECK(problems(file, "    static std::uint32_t calls;") == 1);
    CHECK(problems(file, "    thread_local int depth = 0;") == 1);

    CHECK(problems(file, "ring(const ring&) = delete;") == 0);
    CHECK(problems(file, "#include <new>") == 0);
    CHECK(problems(file, "    channel& c = *new (&channels_[i]) channel;") == 0);
    CHECK(problems(file, "constexpr int k_chunks = 4;") == 0);
    CHECK(problems(file, "inline constexpr int k_chunks = 4;") == 0);
    CHECK(problems(file, "static constexpr int k_chunks = 4;") == 0);
    CHECK(problems(file, "const char* const k_name = nullptr;") == 0);
    CHECK(problems(file, "static int next(int i) { return i + 1; }") == 0);
    CHECK(problems(file, "status run(context& c, std::uint32_t steps = 0);") == 0);
    CHECK(problems(file, "status run(context& c)") == 0);
    CHECK(problems(file, "using step = int;") == 0);
    CHECK(problems(file, "struct context;") == 0);
    CHECK(problems(file, "    int local = 0;") == 0);
    CHECK(problems("hw/dma/dma.cpp", "int counter = 0; throw 1;") == 0);
}

TEST_CASE("layers: a missing licence header and an endless file are found")
{
    for (const char* path : {"platforms/python/weft/a.py", "platforms/python/a.toml", "cmake/a.sh"})
        CHECK(is_source_file(path));
    CHECK(layer_problems("platforms/python/weft/a.py", "import weft\n").size() == 1);
    CHECK(layer_problems("tlm/a.h", "#pragma once\n").size() == 1);
    CHECK(layer_problems("tlm/a.h", "").size() == 1);
    CHECK(layer_problems("cmake/a.sh", "#!/bin/sh\n# Copyright 2026 The weft authors\n"
                                       "# SPDX-License-Identifier: Apache-2.0\n")
              .empty());
    CHECK(problems("tlm/a.h", std::string(700, '\n')) == 0);
    CHECK(problems("tlm/a.h", std::string(900, '\n')) == 1);
}

TEST_CASE("layers: the tree obeys")
{
    auto files = source_files({"tlm", "hw", "rtl", "firmware", "platforms", "testbenches", "cmake"});
    REQUIRE(files.size() > 20);
    files.insert(files.end(), {"CMakeLists.txt", "weft", ".ci/run", "cmake/debian-packages.txt"});
    std::vector<std::string> found;
    for (const auto& file : files) {
        const auto more = layer_problems(file, read(fs::path(WEFT_SOURCE_DIR) / file));
        found.insert(found.end(), more.begin(), more.end());
    }
    INFO(joined(found));
    CHECK(found.empty());
}

TEST_CASE("layers: every source file of the product is built")
{
    std::vector<std::string> found;
    for (const auto& file : source_files({"tlm", "hw", "firmware", "platforms"})) {
        if (fs::path(file).extension() != ".cpp")
            continue;
        fs::path folder = fs::path(file).parent_path();
        // An example of firmware has a Makefile of its own, because it needs nothing of this build.
        const auto build_file = [&] {
            const fs::path here = WEFT_SOURCE_DIR / folder;
            return fs::exists(here / "Makefile") ? here / "Makefile" : here / "CMakeLists.txt";
        };
        while (!folder.empty() && !fs::exists(build_file()))
            folder = folder.parent_path();
        const std::string name = fs::path(file).lexically_relative(folder).generic_string();
        if (folder.empty() || read(build_file()).find(name) == std::string::npos)
            found.push_back(file + ": no CMakeLists.txt and no Makefile lists this file");
    }
    INFO(joined(found));
    CHECK(found.empty());
}
