// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What one platform refuses in good words, every platform refuses: buffers beyond the memory, DMA engines without room for a
// packet, stacks and bursts that the host cannot hold.
#include "platforms/config/config_reader.h"
#include "platforms/switchml/switchml.h"
#include "platforms/tpu_v3/tpu_v3.h"
#include "testbenches/support/small_machines.h"

using namespace weft;

namespace {

/// Errors of a platform file, key and sentence, one a line; "" when it may run.
std::string errors_of(const platform_info& info, const std::string& text)
{
    std::vector<problem> problems;
    const yaml_document document = yaml_document::parse(text, "file.yaml");
    const auto made = info.read(document, problems);
    std::string all;
    for (const problem& p : problems)
        if (p.level == severity::error)
            all += p.key_path + ": " + p.message + "\n";
    CHECK((made == nullptr) == !all.empty());
    return all;
}

std::string warnings_of(const platform_info& info, const std::string& text)
{
    std::vector<problem> problems;
    (void)info.read(yaml_document::parse(text, "file.yaml"), problems);
    std::string all;
    for (const problem& p : problems)
        if (p.level == severity::warning)
            all += p.key_path + ": " + p.message + "\n";
    return all;
}

bool says(const std::string& all, const std::string& what) { return all.find(what) != std::string::npos; }

struct platform_case {
    const platform_info& info;
    const char* head; ///< of a file that may run, but for its workload
    const char* chip; ///< section of the chip
    const char* memory; ///< section of its memory
    const char* algorithm;
};
const platform_case k_platforms[] = {
    {k_tpu_v3_info, "platform: tpu_v3\nname: t\nmesh: {rows: 4, cols: 4}\n", "chip", "hbm", "ring_1d"},
    {k_ub_mesh_info, "platform: ub_mesh\nname: t\nmesh: {boards: 2, npus: 4}\n", "npu", "hbm", "direct"},
    {k_switchml_info, "platform: switchml\nname: t\nworkers: 4\n", "worker", "memory", "ring_1d"}};

std::string all_reduce(const platform_case& c)
{
    return fmt::format("workload: [{{op: all_reduce, algorithms: [{}], sizes: [64 KiB]}}]\n", c.algorithm);
}

} // namespace

TEST_CASE("a training step larger than the memory is refused on every platform")
{
    for (const platform_case& c : k_platforms) {
        const auto file = [&](const char* bytes) {
            return fmt::format("{}{}:\n  {}: {{capacity: 64 MiB}}\ntraining_step:\n  compute: 1 ms\n  algorithm: {}\n"
                               "  groups: [{{name: a, bytes: {}}}, {{name: b, bytes: {}}}]\n",
                               c.head, c.chip, c.memory, c.algorithm, bytes, bytes);
        };
        INFO(c.info.name);
        CHECK(errors_of(c.info, file("16 MiB")) == "");
        const std::string errors = errors_of(c.info, file("40 MiB"));
        INFO(errors);
        CHECK(says(errors, "training_step.groups: need 83.9 MB of "));
        CHECK(says(errors, fmt::format("{}.{}.capacity is 64 MiB, of which ", c.chip, c.memory)));
    }
}

TEST_CASE("a workload larger than the memory is refused on every platform in the same words")
{
    for (const platform_case& c : k_platforms) {
        const std::string errors =
            errors_of(c.info, fmt::format("{}{}:\n  {}: {{capacity: 64 MiB}}\n"
                                          "workload: [{{op: all_reduce, algorithms: [{}], sizes: [1 MiB, 80 MiB]}}]\n",
                                          c.head, c.chip, c.memory, c.algorithm));
        INFO(c.info.name << ": " << errors);
        CHECK(says(errors, "workload.0.sizes: all_reduce of 80 MiB needs 80 MiB of "));
    }
}

TEST_CASE("a write that does not fit is a bug at once and never an endless loop", "[ub]")
{
    // As if a check had let it pass: straight to the machine.
    ub_mesh_config config = test::ub_board(2);
    config.npu.hbm.capacity = data_size(1 << 20);
    config.run.data = data_mode::checked;
    config.run.workload = {
        test::spec(abi::collective_op::all_reduce, {abi::algorithm::direct}, {std::uint64_t{4} << 20})};
    const test::json told = test::in_child([&](test::json& answer) {
        ub_machine machine(config, std::make_shared<const ub_routes>(config));
        answer = test::to_json(test::run_here(machine, config.run));
    });
    const std::string thrown = told.value("thrown", "");
    INFO(thrown);
    CHECK(says(thrown, "which ends before"));
}

TEST_CASE("a receive buffer without room for a packet is refused on every platform")
{
    for (const platform_case& c : k_platforms)
        for (const char* bytes : {"0 B", "1 B", "200 B"}) {
            const std::string errors = errors_of(
                c.info, fmt::format("{}{}:\n  dma: {{receive_buffer: {}}}\n{}", c.head, c.chip, bytes, all_reduce(c)));
            INFO(c.info.name << ": " << errors);
            CHECK(says(errors, fmt::format("{}.dma.receive_buffer: is {}, but one packet fills ", c.chip, bytes)));
            CHECK(says(errors, "so none could ever pass."));
        }
}

TEST_CASE("the smallest receive buffer that is let pass carries a collective", "[ub]")
{
    ub_mesh_config config = test::ub_board(4);
    config.run.workload = {test::spec(abi::collective_op::all_reduce, {abi::algorithm::direct}, {64 << 10})};
    const packet_format format = config.ub.format();
    config.npu.dma.receive_buffer =
        data_size(format.cells_of_one(format.max_payload_bytes) * format.cell_flits * format.flit_bytes);
    test::run_exact(config);
}

TEST_CASE("stacks that the host cannot hold are refused on every platform that may have so many")
{
    const platform_case large[] = {
        {k_tpu_v3_info, "platform: tpu_v3\nname: t\nmesh: {rows: 128, cols: 128}\n", "chip", "hbm", "ring_1d"},
        {k_ub_mesh_info,
         "platform: ub_mesh\nname: t\nmesh: {pods: 8, rack_rows: 4, rack_cols: 4, hrs: true}\n"
         "faults: {npus: [{npu: \"npu(p0,r0,b0,3)\", at: 60 us}]}\n", // and once more after the restart
         "npu", "hbm", "direct"}}; // 512 machines of 16 cores, the most of switchml, take 64 GiB
    for (const platform_case& c : large) {
        const std::string errors = errors_of(
            c.info, fmt::format("{}data: off\n{}:\n  core: {{stack: 8 MiB}}\n{}", c.head, c.chip, all_reduce(c)));
        INFO(c.info.name << ": " << errors);
        CHECK(says(errors, fmt::format("{}.core.stack: is 8 MiB, which for ", c.chip)));
    }
}

TEST_CASE("a burst beyond all buffers is cut to them and told on every platform")
{
    for (const platform_case& c : k_platforms) {
        const std::string told = warnings_of(c.info, fmt::format("{}burst: 65535 packets\n{}", c.head, all_reduce(c)));
        INFO(c.info.name << ": " << told);
        CHECK(says(told, "burst: is 65535 packets. "));
        CHECK(says(told, "holds no more than "));
    }
}
