// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a verdict means: the shipped validation pages, what README and docs quote of them, one machine of the files that they compare,
// and steps that are counted from packets.
#include "firmware/context.h"
#include "platforms/config/config_reader.h"
#include "platforms/report/link_occupancy.h"
#include "platforms/report/validation_report.h"
#include "testbenches/support/small_machines.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace weft;
using namespace weft::test;
namespace fs = std::filesystem;

namespace {

struct validation_page {
    const char* file;
    const char* docs; ///< the page that explains it
};
constexpr validation_page k_pages[] = {{"docs/06_validation_tpu_v3.md", "docs/11_tpu_v3.md"},
                                       {"docs/06_validation_switchml.md", "docs/16_switchml.md"},
                                       {"docs/06_validation_ub_mesh.md", "docs/17_ub_mesh.md"},
                                       {"docs/06_validation_trainium.md", "docs/19_trainium.md"},
                                       {"docs/06_validation_ipu_pod.md", "docs/20_ipu_pod.md"}};

std::string content_of(const std::string& file)
{
    std::ifstream in(fs::path(WEFT_SOURCE_DIR) / file);
    REQUIRE(in);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Cells of a line of a Markdown table; "|U|" in a cell is no border.
std::vector<std::string> cells_of(const std::string& line)
{
    std::vector<std::string> cells;
    std::size_t at = line.find("| ");
    while (at != std::string::npos) {
        const std::size_t end = line.find(" |", at + 1);
        if (end == std::string::npos)
            break;
        cells.push_back(end > at + 2 ? line.substr(at + 2, end - at - 2) : "");
        at = end + 1;
    }
    return cells;
}

bool starts_with(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

struct page_row {
    std::string target, kind, verdict, null_model;
};

struct parsed_page {
    std::vector<page_row> rows;
    std::map<std::string, std::vector<std::string>> head;  ///< kind -> cells of its counts
    std::map<std::string, std::vector<std::string>> nulls; ///< target -> cells
    std::string text;
};

parsed_page parse(const char* file)
{
    parsed_page page;
    page.text = content_of(file);
    std::istringstream lines(page.text);
    enum { outside, head, nulls, rows } where = outside;
    for (std::string line; std::getline(lines, line);) {
        if (starts_with(line, "| kind |"))
            where = head;
        else if (starts_with(line, "| target | null model |"))
            where = nulls;
        else if (starts_with(line, "| target | kind |"))
            where = rows;
        else if (!starts_with(line, "|"))
            where = outside;
        else if (!starts_with(line, "|---")) {
            const std::vector<std::string> cells = cells_of(line);
            INFO(line);
            if (where == head) {
                REQUIRE(cells.size() == 6);
                page.head[cells[0]] = {cells.begin() + 1, cells.begin() + 5};
            } else if (where == nulls) {
                REQUIRE(cells.size() == 5);
                page.nulls[cells[0]] = {cells.begin() + 2, cells.end()};
            } else if (where == rows) {
                REQUIRE(cells.size() == 10);
                page.rows.push_back({cells[0], cells[1], cells[7], cells[8]});
            }
        }
    }
    return page;
}

bool judged(const page_row& r) { return r.verdict == "met" || starts_with(r.verdict, "MISS"); }

/// "13 of 18": emergent rows that are met, of those that are judged.
std::string emergent_counts(const parsed_page& page)
{
    std::size_t met = 0, of = 0;
    for (const page_row& r : page.rows)
        if (r.kind == "emergent" && judged(r)) {
            ++of;
            met += r.verdict == "met" ? 1 : 0;
        }
    return std::to_string(met) + " of " + std::to_string(of) + " emergent targets";
}

/// "15 by null models": emergent rows that bytes over a rate and a constant meet.
std::string null_counts(const parsed_page& page)
{
    std::size_t met = 0;
    for (const page_row& r : page.rows)
        met += r.kind == "emergent" && judged(r) && r.null_model.size() > 5 && r.null_model.find(", met") != std::string::npos ? 1 : 0;
    return std::to_string(met) + " by null models";
}

} // namespace

TEST_CASE("every row of a validation page states its kind and the heads add up", "[fast]")
{
    for (const validation_page& p : k_pages) {
        INFO(p.file);
        const parsed_page page = parse(p.file);
        CHECK(!page.rows.empty());
        std::map<std::string, std::vector<std::size_t>> counted;
        for (const row_kind::name kind : k_row_kinds)
            counted[name_of(kind)] = {0, 0, 0, 0};
        for (const page_row& r : page.rows) {
            INFO(r.target << " | " << r.kind << " | " << r.verdict);
            const std::string kind = r.kind.substr(0, r.kind.find(':'));
            REQUIRE(counted.count(kind) == 1);
            CHECK((kind == "calibrated") == (r.kind.size() > kind.size() + 2)); // names what was fitted
            const std::size_t column = r.verdict == "met"                      ? 0
                                       : starts_with(r.verdict, "MISS")        ? 1
                                       : starts_with(r.verdict, "not judged:") ? 3
                                                                               : 2;
            ++counted[kind][column];
        }
        for (const auto& [kind, numbers] : counted) {
            INFO(kind);
            CHECK(page.head.count(kind) == 1);
            for (std::size_t i = 0; i < 4 && page.head.count(kind) == 1; ++i)
                CHECK(page.head.at(kind)[i] == std::to_string(numbers[i]));
        }
        // The first sentence counts emergent rows alone.
        CHECK(page.text.find("**" + emergent_counts(page) + " met**") != std::string::npos);
        CHECK(page.text.find("| emergent |") < page.text.find("| conformity |"));
    }
}

TEST_CASE("a miss on a validation page has its reason", "[fast]")
{
    for (const validation_page& p : k_pages)
        for (const page_row& r : parse(p.file).rows)
            if (starts_with(r.verdict, "MISS")) {
                INFO(p.file << ": " << r.target << ": " << r.verdict);
                CHECK(r.verdict.size() > std::string("MISS: ").size());
            }
}

TEST_CASE("beside every emergent group stands a null model and its score is what its rows say", "[fast]")
{
    for (const validation_page& p : k_pages) {
        INFO(p.file);
        const parsed_page page = parse(p.file);
        std::set<std::string> emergent;
        for (const page_row& r : page.rows)
            if (r.kind == "emergent" && judged(r)) {
                INFO(r.target);
                CHECK(r.null_model != "-");
                emergent.insert(r.target);
            }
        CHECK(!emergent.empty());
        for (const std::string& target : emergent)
            CHECK(page.nulls.count(target) == 1);
        for (const auto& [target, score] : page.nulls) {
            std::size_t rows = 0, simulation = 0, null_model = 0;
            for (const page_row& r : page.rows)
                if (r.target == target && judged(r) && r.null_model != "-" && (r.kind == "emergent" || emergent.count(target) == 0)) {
                    ++rows;
                    simulation += r.verdict == "met" ? 1 : 0;
                    null_model += r.null_model.size() > 5 && r.null_model.find(", met") != std::string::npos ? 1 : 0;
                }
            INFO(target);
            CHECK(score[0] == std::to_string(rows));
            CHECK(score[1] == std::to_string(simulation));
            CHECK(score[2] == std::to_string(null_model));
        }
    }
    // Two constants meet all eight shares of the TPU-v3 paper.
    const parsed_page tpu = parse("docs/06_validation_tpu_v3.md");
    REQUIRE(tpu.nulls.count("T1") == 1);
    REQUIRE(tpu.nulls.count("T2") == 1);
    CHECK(tpu.nulls.at("T1") == std::vector<std::string>{"4", tpu.nulls.at("T1")[1], "4"});
    CHECK(tpu.nulls.at("T2") == std::vector<std::string>{"4", tpu.nulls.at("T2")[1], "4"});
    CHECK(tpu.text.find("two constants for eight shares, meets 8 of 8") != std::string::npos);
}

TEST_CASE("README and docs quote the emergent counts of the validation pages", "[fast]")
{
    for (const validation_page& p : k_pages) {
        const std::string counts = emergent_counts(parse(p.file));
        for (const char* where : {"README.md", "docs/README.md", p.docs}) {
            INFO(where << " should quote \"" << counts << "\" of " << p.file);
            CHECK(content_of(where).find(counts) != std::string::npos);
        }
        const std::string quoted = counts + " met, " + null_counts(parse(p.file)) + ": [06](" + p.file;
        INFO("README.md should quote \"" << quoted << '"');
        CHECK(content_of("README.md").find(quoted) != std::string::npos);
    }
}

TEST_CASE("all files of the TPU-v3 describe one machine and no burst changes its buffers", "[fast]")
{
    std::map<std::string, std::string> buffer_of;
    for (const auto& entry : fs::directory_iterator(fs::path(WEFT_SOURCE_DIR) / "configs/tpu_v3")) {
        INFO(entry.path().filename());
        const auto config =
            read_config_or_throw<tpu_v3_config>(yaml_document::load_layered(entry.path().string()), {"platform"});
        buffer_of[to_string(config.ici.buffer_per_vl)] = entry.path().filename();
        CHECK(config.ici.buffer_per_vl == ici_config{}.buffer_per_vl);
        for (const config_problem& problem : config.validate()) {
            INFO(problem.message);
            CHECK(problem.key != "burst");
            CHECK(problem.key != "ici.buffer_per_vl");
        }
        // Three round trips of the longest link fit, not more than four.
        const std::uint64_t round_trip = config.ici.buffer_for_full_rate(config.ici.cable_propagation).value();
        CHECK(static_cast<double>(config.ici.buffer_per_vl.value()) >= 2.9 * static_cast<double>(round_trip));
        CHECK(static_cast<double>(config.ici.buffer_per_vl.value()) <= 4.0 * static_cast<double>(round_trip));
    }
    CHECK(buffer_of.size() == 1);
}

TEST_CASE("trains go around one failed region inside a pair and around no other", "[fast]")
{
    struct row {
        std::uint32_t rows, cols;
        std::vector<failed_region_config> regions;
        bool transposed;
        mesh_wrap wrap;
        bool trains;
    };
    const auto of = [](const row& r) {
        tpu_v3_config config;
        config.mesh.rows = r.rows;
        config.mesh.cols = r.cols;
        config.mesh.wrap = r.wrap;
        config.faults.regions = r.regions;
        collective_case c = make_case(abi::collective_op::all_reduce, abi::algorithm::row_pair, abi::element_type::int32, abi::reduce_op::sum, 256 << 20);
        c.chunk_bytes = 1 << 20;
        c.transposed = r.transposed;
        return train_of(config.trains(), c);
    };
    const std::vector<failed_region_config> along{{2, 2, 2, 4}}, across{{2, 2, 4, 2}}, between{{1, 2, 2, 2}}, two{{2, 2, 2, 2}, {6, 2, 2, 2}};
    const row table[] = {{8, 8, along, false, mesh_wrap::none, true},   {8, 8, along, true, mesh_wrap::none, false},
                         {8, 8, across, false, mesh_wrap::none, false}, {8, 8, across, true, mesh_wrap::none, true},
                         {8, 8, between, false, mesh_wrap::none, false}, {8, 8, two, false, mesh_wrap::none, false},
                         {4, 8, along, false, mesh_wrap::none, false},  {6, 6, along, false, mesh_wrap::none, true},
                         {8, 8, along, false, mesh_wrap::both, false}};
    for (const row& r : table) {
        INFO(fmt::format("{}x{}, {} regions, the first from row {} on, {}", r.rows, r.cols, r.regions.size(), r.regions[0].row, r.transposed ? "columns" : "rows"));
        CHECK((of(r) > 1) == r.trains);
    }
    for (const char* name : {"bert_504", "bert_1016"}) {
        INFO(name);
        const auto config = read_config_or_throw<tpu_v3_config>(
            yaml_document::load_layered(fmt::format("{}/configs/tpu_v3/{}.yaml", WEFT_SOURCE_DIR, name)), {"platform"});
        CHECK(longest_trains(config.trains(), config.run.training_step->cases()).packets == 4);
    }
}

namespace {

event_record packet_on_link(std::uint32_t link, std::uint32_t message, bool last)
{
    event_record r{};
    r.kind = record_kind::link_emitted;
    r.where = link;
    r.source = 1;
    r.destination = 2;
    r.semaphore = 3;
    r.message = message;
    r.payload_bytes = 256;
    r.last_of_message = last;
    return r;
}

} // namespace

TEST_CASE("messages between two endpoints are counted once over all links of their way", "[fast]")
{
    link_occupancy seen({true, true});
    for (std::uint32_t message = 0; message < 3; ++message)
        for (std::uint32_t link = 0; link < 2; ++link)
            for (const bool last : {false, true})
                seen.record(packet_on_link(link, message, last));
    seen.record(packet_on_link(0, 3, false)); // one that does not end
    const auto between = seen.messages_between();
    REQUIRE(between.size() == 1);
    CHECK(between.at({1, 2, 3}) == 3);
}

TEST_CASE("steps of the 2-D scheme are counted from the packets that chips sent", "[fast]")
{
    tpu_v3_config config = pod(4, 4);
    config.run.data = data_mode::off;
    config.run.workload = {spec(abi::collective_op::all_reduce, {abi::algorithm::two_d}, {64 << 10})};
    tpu_v3 machine(config);
    fabric_engine& fabric = machine.ici().engine();
    std::vector<bool> wires;
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link)
        wires.push_back(fabric.is_router_link(link));
    link_occupancy seen(wires);
    fabric.set_event_sink(&seen);
    REQUIRE(run_here(machine, config.run).failure.empty());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sent; // (source, lane)
    for (const auto& [edge, messages] : seen.messages_between())
        sent[{std::get<0>(edge), std::get<2>(edge) / firmware::k_data_kinds}] += messages;
    REQUIRE(sent.size() >= 16);
    for (const auto& [lane, messages] : sent)
        CHECK(messages == 4 * (4 - 1));
}

TEST_CASE("gradient groups that are alike take the same time", "[fast]")
{
    tpu_v3_config config = pod(4, 4);
    config.run.data = data_mode::off;
    training_step_config step;
    step.compute = duration(1'000'000);
    step.algorithm = abi::algorithm::row_pair;
    step.groups.resize(4);
    for (gradient_group& g : step.groups)
        g.elements = 2'000'000;
    config.run.training_step = step;
    config.run.workload.clear();
    const auto outcome = run_exact(config);
    REQUIRE(outcome.training_steps.size() == 1);
    const std::vector<step_part>& parts = outcome.training_steps.front().parts;
    REQUIRE(parts.size() == 4);
    // Later groups begin when their chips are not in step: 0.33 us of any size of group. Those of ResNet-50 are 3.2 times as large.
    for (const step_part& p : parts)
        CHECK(static_cast<double>(p.time_ps) == Approx(static_cast<double>(parts.front().time_ps)).epsilon(0.005));
}
