// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft scale`: the training step of a file on 1, 2, 4 ... replicas, by what its time is made of (Graphcore, "Scaling
// an application over multiple replicas", section 7.2 and 7.3).
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/point_runs.h"
#include "platforms/cli/terminal.h"
#include "platforms/config/yaml_text.h"
#include "platforms/firmware_bench/isolated.h"
#include "platforms/report/columns.h"
#include "platforms/report/output_file.h"
#include "platforms/report/replaced_files.h"
#include "platforms/workload/interruption.h"
#include "tlm/standard_error.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <map>
#include <tuple>
#include <nlohmann/json.hpp>
#include <thread>

namespace weft::cli {

namespace {

using json = nlohmann::ordered_json;

struct scale_options {
    platform_source source;
    std::uint32_t to = 64;
    unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
    unsigned point_timeout_s = 3600;
    std::string json_file;
    bool quiet = false;
};

/// A step on so many replicas; times in us.
struct scale_point {
    std::uint32_t replicas = 1;
    scaled_machine machine;
    std::vector<std::string> without_missing; ///< settings: lists without machine.missing
    std::vector<std::string> smaller_spans;   ///< settings: of exchanges in groups of more ranks than there are
    std::string problem;                      ///< why it has no figures; "": it has
    std::vector<std::string> warnings;        ///< that the file as it is does not get
    double step = 0, compute = 0, streaming = 0, activations = 0, update = 0, host = 0, host_link = 0, waits = 0,
           exchange = 0, all_reduce = 0, sync = 0;
    double without_compute = 0; ///< the step, if compute took no time
    double inside = 0, over_gateways = 0; ///< of all_reduce
    double samples_per_second = 0, law_per_second = 0;

    /// With which `weft run` has this step.
    std::vector<std::string> settings() const
    {
        std::vector<std::string> all = machine.settings;
        for (const std::vector<std::string>* more : {&without_missing, &smaller_spans})
            all.insert(all.end(), more->begin(), more->end());
        return all;
    }
};

/// Lists of the file without the entries that name what the machine does not have, as of --set.
std::vector<std::string> without_missing(const yaml_document& document, const scaled_machine& machine)
{
    std::map<std::string, yaml_node> lists;
    for (auto one = machine.missing.rbegin(); one != machine.missing.rend(); ++one) { // the last entry first
        const yaml_node* const node = document.find(one->list);
        if (node == nullptr || node->kind != yaml_kind::list || one->entry >= node->items.size())
            continue; // of no file: nothing to remove
        std::vector<yaml_node>& items = lists.try_emplace(one->list, *node).first->second.items;
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(one->entry));
    }
    std::vector<std::string> settings;
    for (const auto& [list, node] : lists)
        settings.push_back(fmt::format("{}={}", list, flow_text(node)));
    return settings;
}

/// "1, 2 and 4 replicas"
std::string text_of_replicas(const std::vector<std::uint32_t>& counts)
{
    std::string text = std::to_string(counts.front());
    for (std::size_t i = 1; i < counts.size(); ++i)
        text += fmt::format("{}{}", i + 1 == counts.size() ? " and " : ", ", counts[i]);
    return text + (counts.back() == 1 ? " replica" : " replicas");
}

/// What steps of smaller machines have otherwise than the file: a sentence each.
std::vector<std::string> differences_of(const std::vector<scale_point>& points)
{
    std::map<std::tuple<std::string, std::size_t, std::string>, std::vector<std::uint32_t>> all;
    for (const scale_point& p : points)
        for (const scaled_machine::missing_entry& one : p.machine.missing) {
            all[{one.list, one.entry, one.why}].push_back(p.replicas);
        }
    std::map<std::string, std::vector<std::uint32_t>> spans;
    for (const scale_point& p : points)
        for (const std::string& setting : p.smaller_spans)
            if (std::vector<std::uint32_t>& on = spans[setting]; on.empty() || on.back() != p.replicas)
                on.push_back(p.replicas);
    std::vector<std::string> text;
    for (const auto& [setting, on] : spans)
        text.push_back(fmt::format("Set                {} on {}, for groups of more ranks than there are", setting, text_of_replicas(on)));
    for (const auto& [entry, replicas] : all)
        text.push_back(fmt::format("Left out           {}.{} on {}: {}", std::get<0>(entry), std::get<1>(entry), text_of_replicas(replicas), std::get<2>(entry)));
    return text;
}

/// In the child: figures of the first step as text.
std::string simulated(const scale_options& options, const std::string& text, const std::string& name, const scale_point& point)
{
    platform_source source = options.source;
    for (std::string& setting : point.settings())
        source.overrides.push_back(std::move(setting));
    const loaded_platform loaded = read_platform_text(text, name, source);
    json j;
    for (const problem& p : loaded.problems)
        if (p.level == severity::warning && p.key_path.rfind("training_step", 0) == 0)
            j["warnings"].push_back(p.key_path + ": " + p.message);
    if (!loaded.platform) {
        const problem* const error = loaded.first_error();
        j["problem"] = error == nullptr ? loaded.message() : error->key_path + ": " + error->message;
        return j.dump(-1, ' ', false, json::error_handler_t::replace);
    }
    const auto [m, outcome] = run_here(loaded);
    const training_step_config& config = *loaded.platform->run().training_step;
    const training_step_result& s = outcome.training_steps.at(0);
    const auto us = [](std::uint64_t ps) { return static_cast<double>(ps) / 1e6; };
    j["step"] = us(s.time_ps);
    const training_step_config::slot_times slot = config.slot();
    j["compute"] = us(slot.compute_ps * config.slots());
    j["streaming"] = us(slot.streaming_ps * config.slots());
    j["activations"] = us(slot.activations_ps * config.slots());
    j["without_compute"] = us(time_without_compute_ps(config, s, m->replicas()));
    j["update"] = us(s.update_ps);
    j["host"] = us(config.input.preparation_ps(s.samples));
    j["host_link"] = us(config.input.transfer_ps(s.samples));
    j["waits"] = us(s.input_ps);
    j["exchange"] = us(s.communication_ps + s.update_ps - s.t_ar_ps());
    j["all_reduce"] = us(s.t_ar_ps() - s.update_ps);
    double waited = 0; // in syncs, of all ranks together
    for (const component* c : m->time().components())
        if (c->stat_prefix() == "sync")
            for (const stat_group* group : c->stat_groups())
                if (const stat_row* const row = group->find("waited"))
                    waited += us(row->value());
    j["sync"] = waited / static_cast<double>(m->chips().size()) / static_cast<double>(outcome.training_steps.size());
    j["samples_per_second"] = s.throughput();
    j["law_per_second"] = s.law(static_cast<double>(s.t_ar_ps()));
    return j.dump();
}

void fill(scale_point& p, const isolated_result& r)
{
    if (!r.failure.empty()) {
        p.problem = r.failure.substr(0, r.failure.find('\n'));
        return;
    }
    const json j = json::parse(r.text);
    if (j.contains("warnings"))
        p.warnings = j["warnings"].get<std::vector<std::string>>();
    if (j.contains("problem")) {
        p.problem = j["problem"].get<std::string>();
        return;
    }
    const auto get = [&](const char* key, double& value) { value = j.at(key).get<double>(); };
    get("step", p.step), get("compute", p.compute), get("streaming", p.streaming);
    get("activations", p.activations), get("without_compute", p.without_compute);
    get("update", p.update), get("host", p.host), get("host_link", p.host_link), get("waits", p.waits);
    get("exchange", p.exchange), get("all_reduce", p.all_reduce), get("sync", p.sync);
    get("samples_per_second", p.samples_per_second), get("law_per_second", p.law_per_second);
}

/// What of a step is done by whom: name, and where it stands in a point.
struct part {
    const char* name;
    double scale_point::* us;
};
constexpr part k_parts[] = {{"host", &scale_point::host},
                            {"host link", &scale_point::host_link},
                            {"compute", &scale_point::compute},
                            {"streaming", &scale_point::streaming},
                            {"activations", &scale_point::activations},
                            {"update", &scale_point::update},
                            {"sync", &scale_point::sync},
                            {"exchange", &scale_point::exchange},
                            {"all-reduce inside", &scale_point::inside},
                            {"over gateways", &scale_point::over_gateways}};

/// How the time of a step changes from the first of two points to the last: "grows with replicas", ...
std::string trend_of(double first, double last, double ratio)
{
    if (last == 0)
        return "none";
    if (first == 0)
        return "appears";
    const double growth = last / first;
    if (growth < 1.02 && growth > 0.98)
        return "constant a step: throughput scales with replicas";
    if (growth > 0.9 * ratio)
        return fmt::format("grows with replicas, x{:.3g}: it does not scale", growth);
    return growth > 1 ? fmt::format("grows, x{:.3g}", growth) : fmt::format("falls, x{:.3g}", growth);
}

/// `more_hosts`: further Pods bring hosts of their own.
std::vector<std::string> findings(const std::vector<scale_point>& points, bool more_hosts)
{
    std::vector<std::string> text;
    const scale_point& first = points.front();
    const scale_point& last = points.back();
    if (points.size() < 2)
        return text;
    // What several ranks do begins with two of them.
    const double ratio = static_cast<double>(last.replicas) / first.replicas;
    const auto share = [](double us, double of) { return 100 * us / of; };
    for (const part& p : k_parts) {
        // What begins later is followed from there.
        const bool of_one = p.us != &scale_point::sync && p.us != &scale_point::exchange &&
                            p.us != &scale_point::inside && p.us != &scale_point::over_gateways;
        const auto begins = std::find_if(points.begin(), points.end(), [&](const scale_point& at) {
            return at.*p.us > 0 && (of_one || at.replicas > 1);
        });
        if (begins == points.end())
            continue;
        const double from = (*begins).*p.us, growth_of = static_cast<double>(last.replicas) / begins->replicas;
        text.push_back(fmt::format("{:<17}  {}{}; {:.1f} % of a step of {} replicas{}", p.name, growth_of == 1 ? "begins here" : trend_of(from, last.*p.us, growth_of),
                                   begins->replicas == first.replicas || growth_of == 1 ? "" : fmt::format(" since {} replicas", begins->replicas),
                                   share(last.*p.us, last.step), last.replicas,
                                   p.us == &scale_point::sync ? ": until the last one has arrived, a part of exchange and all-reduce" : ""));
    }
    const double besides = last.without_compute;
    text.push_back(fmt::format("Amdahl             {:.1f} % of a step of {} replicas remain without compute: faster compute raises throughput at most {:.3g}-fold",
                               share(besides, last.step), last.replicas, besides > 0 ? last.step / besides : INFINITY));
    text.push_back(fmt::format("Efficiency         {:.1f} % of {:.4g} times the throughput of {} replica{}", 100 * last.samples_per_second / (ratio * first.samples_per_second), ratio,
                               first.replicas, first.replicas == 1 ? "" : "s"));
    // Hosts serve all replicas, or all of a Pod: what they take grows with them, and bounds a step as soon as it is
    // longer than the rest.
    const double input = std::max(last.host, last.host_link), rest = last.step - last.waits;
    const char* const who = last.host >= last.host_link ? "host" : "host link";
    if (input > 0 && input >= rest)
        text.push_back(fmt::format("Bound              {}: no more than {:.1f} samples/s {}", who, last.samples_per_second * last.step / input,
                                   more_hosts ? "until another Pod brings hosts" : "with any number of replicas"));
    else {
        const double at = input > 0 ? std::exp2(std::ceil(std::log2(rest / input))) * last.replicas : 0;
        const part* next = nullptr;
        for (const part& p : k_parts)
            if (p.us != &scale_point::compute && p.us != &scale_point::host && p.us != &scale_point::host_link &&
                p.us != &scale_point::sync && (next == nullptr || last.*p.us > last.*next->us))
                next = &p;
        text.push_back(input > 0 ? fmt::format("Bounds next        {}, at about {:.0f} replicas{}; of the rest beside compute most is {}", who, at,
                                               more_hosts ? " of as many hosts" : "", next->name)
                                 : fmt::format("Bounds next        {}: most of what is beside compute", next->name));
    }
    return text;
}

void print(const std::vector<scale_point>& points, const std::vector<std::string>& said)
{
    std::vector<std::vector<std::string>> lines{{"replicas", "step(us)", "samples/s", "law", "efficiency(%)"}};
    std::vector<part> parts; // those of sections of the file only where they take time
    for (const part& p : k_parts) {
        const bool of_section = p.us == &scale_point::update || p.us == &scale_point::streaming ||
                                p.us == &scale_point::activations;
        if (!of_section || std::any_of(points.begin(), points.end(), [&](const scale_point& at) { return at.*p.us > 0; }))
            parts.push_back(p);
    }
    for (const part& p : parts)
        lines.front().push_back(fmt::format("{}(us)", p.name));
    const bool lacks = std::any_of(points.begin(), points.end(), [](const scale_point& p) { return !p.machine.missing.empty(); });
    if (lacks)
        lines.front().emplace_back("left out");
    for (const scale_point& p : points) {
        if (!p.problem.empty()) { // told on stderr
            lines.push_back({std::to_string(p.replicas), "none"});
            lines.back().resize(lines.front().size());
            continue;
        }
        const scale_point& first = points.front();
        lines.push_back({std::to_string(p.replicas), fmt::format("{:.3f}", p.step),
                         fmt::format("{:.1f}", p.samples_per_second), fmt::format("{:.1f}", p.law_per_second),
                         first.problem.empty() ? fmt::format("{:.1f}", 100 * p.samples_per_second * first.replicas /
                                                                           (p.replicas * first.samples_per_second))
                                               : std::string("n/a")});
        for (const part& what : parts)
            lines.back().push_back(fmt::format("{:.3f}", p.*what.us));
        if (lacks)
            lines.back().push_back(std::to_string(p.machine.missing.size()));
    }
    print_columns(std::cout, lines, 0);
    std::cout << "\n";
    for (const std::string& s : said)
        std::cout << s << "\n";
}

json to_json(const std::vector<scale_point>& points, const std::vector<std::string>& said)
{
    json j;
    j["points"] = json::array();
    for (const scale_point& p : points) {
        json one;
        one["replicas"] = p.replicas;
        one["settings"] = p.settings();
        for (const scaled_machine::missing_entry& missing : p.machine.missing)
            one["left_out"].push_back({{"key", fmt::format("{}.{}", missing.list, missing.entry)}, {"why", missing.why}});
        if (!p.problem.empty()) {
            one["problem"] = p.problem;
        } else {
            one["step_us"] = p.step;
            one["waits_for_samples_us"] = p.waits;
            one["without_compute_us"] = p.without_compute;
            one["samples_per_second"] = p.samples_per_second;
            one["law_samples_per_second"] = p.law_per_second;
            for (const part& what : k_parts)
                one["parts_us"][what.name] = p.*what.us;
        }
        j["points"].push_back(std::move(one));
    }
    j["findings"] = said;
    return j;
}

int scale(const scale_options& options)
{
    interruption signals;
    const auto [name, text] = source_text_of(options.source);
    const loaded_platform loaded = read_platform_text(text, name, options.source);
    print_to_stderr("{}", loaded.message());
    if (!loaded.platform)
        return 2;
    std::vector<std::string> able;
    for (const platform_info* p : platforms())
        if (p->scaled != nullptr)
            able.emplace_back(p->name);
    if (loaded.info->scaled == nullptr)
        throw user_error(fmt::format("{}: `weft scale` works with files of {}; this one is of {}. `weft sweep` runs it with other sizes.", name, fmt::join(able, ", "), loaded.info->name));
    const run_config& run = loaded.platform->run();
    if (!run.training_step)
        throw user_error(fmt::format("{}: training_step is missing; scale runs its steps, as configs/ipu_pod/resnet50_pod16.yaml has one.", name));
    if (run.training_step->micro_batch == 0)
        throw user_error(fmt::format("{}: training_step.micro_batch is 0; write how many samples a micro batch has, or there is no throughput.", name));

    std::vector<scale_point> points;
    std::string left_out;
    for (std::uint64_t r = 1; r <= options.to; r *= 2) {
        scale_point p;
        p.replicas = static_cast<std::uint32_t>(r);
        p.machine = loaded.info->scaled(*loaded.platform, p.replicas);
        if (p.machine.settings.empty()) {
            left_out = fmt::format("There is no machine of {} replicas and more.\n", r);
            break;
        }
        p.without_missing = without_missing(*loaded.document, p.machine);
        const std::vector<step_exchange>& exchanges = run.training_step->exchanges;
        if (r == 1 && run.training_step->groups.empty()) {
            print_to_stderr("A step without groups sums nothing on 1 replica: replicas begin with 2.\n");
            continue;
        }
        for (std::size_t i = 0; i < exchanges.size(); ++i)
            if (exchanges[i].ranks_per_group.value_or(0) > r)
                p.smaller_spans.push_back(r == 1 ? "training_step.exchanges=[]" : fmt::format("training_step.exchanges.{}.ranks_per_group={}", i, r));
        points.push_back(std::move(p));
    }
    if (points.empty())
        throw user_error(fmt::format("{}: there is no machine of so few replicas; write a larger --to.", name));
    if (!options.json_file.empty() && options.json_file != "-") {
        output_targets targets;
        if (options.source.file != "-")
            targets.add_input(options.source.file, "the platform file");
        for (const std::string& file : loaded.layers())
            targets.add_input(file, "a part of the platform file");
        targets.add_output(options.json_file, "--json");
        targets.check();
        prepare_output_file(options.json_file);
    }
    signals.begin("stops; steps that have ended are kept");
    scale_options one = options;
    one.source.left_out = {"workload"};
    point_work work;
    work.count = points.size();
    const auto nth = [&](std::size_t i) { return points.size() - 1 - i; }; // the longest first
    work.name = [&](std::size_t i) { return text_of_replicas({points[nth(i)].replicas}); };
    work.run = [&](std::size_t i) {
        scale_point& p = points[nth(i)];
        fill(p, run_isolated([&, &file_text = text, &file_name = name] { return simulated(one, file_text, file_name, p); }, options.point_timeout_s));
    };
    work.finished = [&](std::size_t i) -> std::string {
        const scale_point& p = points[nth(i)];
        if (!p.problem.empty())
            return stop_requested() ? "" : fmt::format("{}: {}", text_of_replicas({p.replicas}), p.problem);
        // Without a bar, as in a pipe or a log, a line tells that something goes on.
        return options.quiet || has_progress_bar(options.quiet)
                   ? ""
                   : fmt::format("{}: {:.3f} us a step", text_of_replicas({p.replicas}), p.step);
    };
    const std::vector<bool> ran = run_points(work, options.jobs, options.quiet);
    for (std::size_t i = 0; i < points.size(); ++i)
        if (!ran[i])
            points[nth(i)].problem = "interrupted before it ended";
    if (stop_requested())
        print_to_stderr("Interrupted: {} of {} steps have ended.\n", std::count(ran.begin(), ran.end(), true), points.size());
    // What hosts lack only on more replicas.
    for (const scale_point& p : points)
        for (const std::string& warning : p.warnings)
            if (std::none_of(loaded.problems.begin(), loaded.problems.end(),
                             [&](const problem& known) { return known.key_path + ": " + known.message == warning; }))
                print_to_stderr("warning: {}: {}\n", text_of_replicas({p.replicas}), warning);
    // What an all-reduce takes inside a domain is what it takes on the largest one alone.
    double alone = 0;
    bool whole = true;
    for (scale_point& p : points) {
        whole = whole && p.problem.empty();
        if (!p.machine.over_gateways)
            alone = p.all_reduce;
        p.inside = p.machine.over_gateways ? std::min(alone, p.all_reduce) : p.all_reduce;
        p.over_gateways = p.all_reduce - p.inside;
    }
    std::vector<std::string> said = whole ? findings(points, run.training_step->input.hosts_per_pod != 0) : std::vector<std::string>{};
    for (std::string& one : differences_of(points))
        said.push_back(std::move(one));
    const std::string as_json = to_json(points, said).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
    if (options.json_file == "-")
        std::cout << as_json;
    else {
        const replaced_files replaced({options.json_file});
        if (!options.json_file.empty())
            write_file_atomically(options.json_file, as_json);
        print(points, said);
        fmt::print("{}", replaced.text());
    }
    print_to_stderr("{}", left_out);
    if (left_out.empty() && points.back().replicas != options.to)
        print_to_stderr("Replicas are powers of two: the last one up to {} is {}.\n", options.to,
                   points.back().replicas);
    return stop_requested() ? interrupted_exit_code() : whole ? 0 : 1;
}

} // namespace

void add_scale(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<scale_options>();
    CLI::App* command = app.add_subcommand("scale", "Run a training step on 1, 2, 4 ... replicas; tell what scales, what grows and what bounds");
    add_platform_options(*command, options->source);
    add_number(*command, "--to", options->to, "Most replicas", "number of replicas", 1, 1'000'000)->capture_default_str();
    add_number(*command, "--jobs", options->jobs, "Steps that run at the same time. Default: one for each core of the host", "number of steps", 1, 1024);
    add_number(*command, "--point-timeout", options->point_timeout_s, "Host seconds that a step may take; 0: any", "number of seconds", 0, 1'000'000)->capture_default_str();
    command->add_option("--json", options->json_file, "Write the results to this file; '-': standard output, in place of the table")
        ->type_name("FILE")
        ->check(is_output_name(dash::is_stdout));
    command->add_flag("--quiet", options->quiet, "No progress, only the table and problems");
    command->callback([options, &exit_code] { exit_code = scale(*options); });
}

} // namespace weft::cli
