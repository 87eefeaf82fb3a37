// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/firmware_bench/firmware_bench.h"

#include "hw/abi/registers.h"
#include "hw/core/host_watch.h"
#include "platforms/config/suggest.h"
#include "platforms/firmware_bench/call_site.h"
#include "platforms/firmware_bench/crash_place.h"
#include "platforms/firmware_bench/isolated.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/digest.h"
#include "platforms/workload/machine_picture.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>

namespace weft {

namespace {

using nlohmann::json;

constexpr std::uint64_t k_ps_of_us = 1'000'000;
/// Healthy collectives of the bench take some ten microseconds; no single wait is near this.
constexpr std::uint64_t k_timeout_ps = 100 * k_ps_of_us;
constexpr std::uint64_t k_most_chips = 64;
constexpr const char* k_healthy = "healthy"; ///< the run with devices that behave
/// Every run is over long before: four collectives, a few timeouts.
constexpr std::uint64_t k_time_limit_ps = 5'000 * k_ps_of_us;

firmware_bench_machine machine_of_bench(const bench_options& options)
{
    return options.platform->firmware_bench->make(options.rows, options.cols, options.rank);
}

/// Throws user_error where the machine cannot be.
std::unique_ptr<platform> read_machine(const firmware_under_test& firmware, const firmware_bench_machine& machine,
                                       const bench_options& options, const std::string& setting)
{
    // Firmware must also get along with what it has left behind itself, and the devices of the bench know no reset.
    std::vector<std::string> settings = options.settings;
    settings.insert(settings.end(), {fmt::format("firmware_timeout={} ps", k_timeout_ps),
                                     fmt::format("time_limit={} ps", k_time_limit_ps), "cases=continuous"});
    if (firmware.entry == nullptr)
        settings.push_back(machine.core + ".model=rv64");
    if (!firmware.elf.empty())
        settings.push_back(machine.core + ".elf=" + std::filesystem::absolute(firmware.elf).string());
    if (!setting.empty())
        settings.push_back(setting);
    yaml_document document = yaml_document::parse(machine.file, "the machine of the bench");
    document.apply_overrides(settings);
    std::vector<problem> problems;
    std::unique_ptr<platform> made = options.platform->read(document, problems);
    for (const problem& p : problems)
        if (p.level == severity::error)
            throw user_error(fmt::format("a mesh of {}x{} chips cannot run the bench: {}: {}", options.rows, options.cols,
                                         p.key_path, p.message));
    return made;
}

// ---- one run, in its child ----------------------------------------------------------------------------------------

template <class Archive, class Counts> void each_count(Archive&& archive, Counts& c)
{
    archive(c.accesses), archive(c.descriptors), archive(c.doorbells), archive(c.head_reads), archive(c.arms);
    archive(c.commands), archive(c.dma_writes), archive(c.mailbox_writes), archive(c.dma_interrupts);
    archive(c.guest_doorbells), archive(c.guest_interrupts), archive(c.guest_lines);
    archive(c.last_done), archive(c.done_without_response), archive(c.done_without_command), archive(c.done_before_sent);
    archive(c.strikes), archive(c.struck_address);
}

std::string written(const run_facts& f)
{
    json ranks = json::array();
    for (const rank_answer& r : f.ranks)
        ranks.push_back({r.in_memory, r.announced, r.returned, r.stopped, r.executes, r.code, r.where, r.detail, r.core, r.place, r.call_site,
                         r.answer_site, r.fault_site, r.library, r.reason, r.bus_faults});
    json counts = json::array();
    each_count([&](const std::uint64_t& n) { counts.push_back(n); }, f.counts);
    json guests = json::array();
    for (const guest_window& g : f.guests)
        guests.push_back({g.name, g.base});
    return json{f.completed, f.wrong,          f.first_wrong, f.answer_digest, f.cases,
                f.end_ps,    f.first_start_ps, f.failure,     ranks,           counts,
                guests}
        .dump(-1, ' ', true, json::error_handler_t::replace);
}

run_facts facts_from(const std::string& text)
{
    const json all = json::parse(text);
    run_facts f;
    std::size_t i = 0;
    const auto next = [&](auto& to) { all.at(i++).get_to(to); };
    next(f.completed), next(f.wrong), next(f.first_wrong), next(f.answer_digest), next(f.cases), next(f.end_ps);
    next(f.first_start_ps), next(f.failure);
    for (const json& r : all.at(i++)) {
        rank_answer a;
        std::size_t k = 0;
        const auto field = [&](auto& to) { r.at(k++).get_to(to); };
        field(a.in_memory), field(a.announced), field(a.returned), field(a.stopped), field(a.executes), field(a.code), field(a.where), field(a.detail);
        field(a.core), field(a.place), field(a.call_site), field(a.answer_site), field(a.fault_site), field(a.library), field(a.reason), field(a.bus_faults);
        f.ranks.push_back(std::move(a));
    }
    const json& counts = all.at(i++);
    std::size_t k = 0;
    each_count([&](std::uint64_t& n) { counts.at(k++).get_to(n); }, f.counts);
    for (const json& g : all.at(i))
        f.guests.push_back({g.at(0).get<std::string>(), g.at(1).get<std::uint64_t>()});
    return f;
}

/// What the host finds when the run has ended.
rank_answer answer_of(chip& c, code_places& places, std::uint64_t sequence, const gate_counts& counts, const traced_core& traced,
                      const firmware_under_test& firmware)
{
    const abi::response r = c.response();
    rank_answer a;
    a.in_memory = r.sequence == sequence;
    a.announced = counts.last_done == sequence;
    a.returned = c.core.finished();
    a.executes = !c.core.idle() && !c.core.blocked() && !a.returned;
    a.code = static_cast<std::uint32_t>(r.code);
    a.where = r.where;
    a.detail = r.detail;
    a.reason = reason_of(c, r);
    for (const core_base* core : c.cores())
        a.bus_faults += core->bus_faults.value();
    a.core = c.core.failure().empty() ? c.core.blocked_on() : places.with_places(c.core, c.core.failure());
    a.stopped = !c.core.failure().empty();
    if (firmware.entry == nullptr) { // the HAL is part of the binary
        if (!a.in_memory || !a.announced)
            a.place = places.place_of(c.core);
        a.call_site = c.core.return_address();
        a.library = firmware.elf.empty() ? k_shipped_rv64 : firmware.elf;
        return a;
    }
    a.call_site = a.stopped ? c.core.code_address() + 1 : traced.last_call;
    a.answer_site = traced.before_answer;
    a.fault_site = traced.first_fault;
    a.library = library_of(a.call_site);
    static_cast<void>(library_of(a.answer_site));
    static_cast<void>(library_of(a.fault_site));
    return a;
}

/// Whose accesses are counted when nobody is struck.
std::uint32_t watched(const strike& s, const bench_options& options)
{
    return s.rank == strike::k_nobody ? options.rank : s.rank;
}

/// What stands in the address map beside mailbox, DMA and memory.
std::vector<guest_window> guests_of(const chip& c)
{
    constexpr std::uint64_t k_step = 1u << 16, k_windows = 64;
    std::vector<guest_window> all;
    for (std::uint64_t base = abi::k_dma_base + k_step; base < abi::k_dma_base + k_windows * k_step; base += k_step)
        if (const bus_window* w = c.bus.window_of(base); w != nullptr && w->base == base)
            all.push_back({w->name, base});
    return all;
}

run_facts run_here(const firmware_under_test& firmware, const bench_options& options, const hostile_device* device,
                   const strike& s, crash_place& crash)
{
    // The kernel announces the end of every run; what is printed belongs to the bench.
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    const firmware_bench_machine machine = machine_of_bench(options);
    const std::unique_ptr<platform> p =
        read_machine(firmware, machine, options, device != nullptr ? device->setting(s, machine) : "");
    std::vector<std::unique_ptr<fault_gate>> gates;
    std::vector<traced_core> traced(p->ranks());
    for (std::uint32_t rank = 0; rank < p->ranks(); ++rank) {
        traced[rank].entry = firmware.entry;
        gates.push_back(std::make_unique<fault_gate>(fmt::format("gate{}", rank).c_str(),
                                                     device != nullptr ? device->make_for(s, rank) : nullptr));
    }
    const std::unique_ptr<weft::machine> m = p->build([&](std::uint32_t rank) {
        core_fitting fitting;
        fitting.gate = gates.at(rank).get();
        if (firmware.entry != nullptr) {
            fitting.entry = traced_firmware;
            fitting.argument = reinterpret_cast<std::uint64_t>(&traced[rank]);
        }
        return fitting;
    });
    struct first_case final : run_observer { // when it began
        void on_case(std::size_t index, std::size_t, const collective_case&) override
        {
            if (index == 0)
                start_ps = kernel_now_ps();
        }
        void on_progress(double) override {}
        std::uint64_t start_ps = 0;
    } observer;
    collective_runner runner("host", *m, p->run(), &observer);
    if (firmware.entry != nullptr)
        crash.watch(traced.data(), p->ranks());
    const host_watch watch(options.host_seconds / 2); // who loops is told, rather than that the run did not end
    const run_outcome outcome = runner.run();

    run_facts f;
    f.completed = outcome.failure.empty();
    f.failure = outcome.failure;
    f.cases = outcome.cases.size();
    f.end_ps = kernel_now_ps();
    f.first_start_ps = observer.start_ps;
    digest64 digest;
    for (const case_result& r : outcome.cases) {
        if (r.check.wrong != 0 && f.wrong == 0)
            f.first_wrong = fmt::format("{} {}: {}", name_of(r.what.op), name_of(r.what.algo),
                                        to_string(r.check.first, r.what.type));
        f.wrong += r.check.wrong;
        digest.update_u64(r.check.digest);
    }
    f.answer_digest = digest.value();
    firmware_places places;
    for (std::uint32_t rank = 0; rank < p->ranks(); ++rank)
        f.ranks.push_back(answer_of(*m->chips()[rank], places, outcome.last_command, gates[rank]->counts(), traced[rank], firmware));
    f.counts = gates[watched(s, options)]->counts();
    f.guests = guests_of(*m->chips()[watched(s, options)]);
    return f;
}

run_facts run_once(const firmware_under_test& firmware, const bench_options& options, const hostile_device* device,
                   const strike& s)
{
    crash_place crash;
    const isolated_result r =
        run_isolated([&] { return written(run_here(firmware, options, device, s, crash)); }, options.host_seconds);
    run_facts f;
    if (r.failure.empty())
        return facts_from(r.text);
    f.host_failure = (crash.thrown() ? "ended: the firmware threw an exception" : r.failure) + crash.text();
    return f;
}

// ---- what came of it ----------------------------------------------------------------------------------------------

struct judgement {
    enum class kind : std::uint8_t { exact, right_error, failed } what = kind::failed;
    std::string why;                       ///< of a failure
    std::uint32_t rank = strike::k_nobody; ///< whose firmware is to blame
    bool at_fault = false;                 ///< the first failed access tells more than the last call
};

judgement failed(std::string why, std::uint32_t rank = strike::k_nobody, bool at_fault = false)
{
    return {judgement::kind::failed, std::move(why), rank, at_fault};
}

/// An answer by somebody who is not struck, or by anybody when nobody is: he may only have waited in vain.
std::string judge_bystander(const rank_answer& a)
{
    if (a.code == 0)
        return "";
    return expect_timeout(a);
}

/// All ranks: those whose core has stopped, then those whose core executes; others may only wait for them.
std::vector<std::uint32_t> stopped_first(const run_facts& f)
{
    std::vector<std::uint32_t> ranks(f.ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0u);
    std::stable_partition(ranks.begin(), ranks.end(), [&](std::uint32_t rank) { return f.ranks[rank].executes; });
    std::stable_partition(ranks.begin(), ranks.end(), [&](std::uint32_t rank) { return f.ranks[rank].stopped; });
    return ranks;
}

judgement judge_unfinished(const hostile_device* device, const strike& s, const run_facts& f, const healthy_profile& profile)
{
    bool somebody_reports = false;
    for (const std::uint32_t rank : stopped_first(f)) {
        const rank_answer& a = f.ranks[rank];
        const bool struck = device != nullptr && rank == s.rank;
        const bool silent_is_right = struck && (device->cannot_announce(s, f) || device->cannot_answer(s, f));
        if (struck && device->cannot_answer(s, f) && !a.announced) {
            if (!a.returned)
                return failed(fmt::format("cannot answer any more, but goes on: {}", a.core), rank);
            somebody_reports = true;
            continue;
        }
        if (!a.announced && !silent_is_right)
            return failed(a.in_memory ? "has an answer in memory, but never rings DONE"
                                      : fmt::format("gives no answer: {}", a.core),
                          rank);
        if (!a.in_memory)
            return failed(a.announced ? "rings DONE without an answer in memory"
                                      : fmt::format("leaves no answer in memory: {}", a.core),
                          rank);
        if (struck && a.code == 0 && !device->may_end_well(s, profile))
            return failed("reports ok although the collective is not done: an unreported error", rank);
        if (a.code == 0)
            continue;
        const std::string wrong = struck ? device->judge_error(s, a, f) : judge_bystander(a);
        if (!wrong.empty())
            return failed(wrong, rank, struck);
        somebody_reports = true;
    }
    if (!somebody_reports)
        return failed("nobody reports an error, and the run does not end: " + f.failure);
    return {judgement::kind::right_error, "", strike::k_nobody, false};
}

/// Whose core has stopped, else who reports an error of his own, else the first of those that waited in vain.
judgement not_finished(const std::string& should, const run_facts& f)
{
    std::vector<std::uint32_t> ranks = stopped_first(f);
    const auto timed_out = static_cast<std::uint32_t>(abi::status_code::timeout);
    std::stable_partition(ranks.begin(), ranks.end(), [&](std::uint32_t rank) {
        const rank_answer& a = f.ranks[rank];
        return a.in_memory && a.code != 0 && a.code != timed_out;
    });
    std::stable_partition(ranks.begin(), ranks.end(), [&](std::uint32_t rank) { return f.ranks[rank].stopped; });
    for (const std::uint32_t rank : ranks) {
        const rank_answer& a = f.ranks[rank];
        if (a.in_memory && a.code != 0)
            return failed(fmt::format("{}reports {}", should, error_text(a.code, a.where, a.detail) + (a.reason.empty() ? "" : ": " + a.reason)), rank, true);
        if (!a.in_memory || !a.announced)
            return failed(fmt::format("{}gives no answer: {}", should, a.core), rank);
    }
    return failed(should + f.failure.substr(0, f.failure.find('\n')));
}

/// `healthy`: what the answers must be; nullptr in the healthy run itself.
judgement judge(const hostile_device* device, const strike& s, const run_facts& f, const run_facts* healthy,
                const healthy_profile& profile)
{
    if (!f.host_failure.empty())
        return failed("the run " + f.host_failure);
    if (f.counts.done_without_response != 0)
        return failed("rings DONE before its answer is in memory", s.rank);
    if (f.counts.done_without_command != 0)
        return failed("rings DONE for a command that the host has not posted", s.rank);
    if (device == nullptr && f.counts.done_before_sent != 0)
        return failed("rings DONE while bytes of its buffer have not left memory (HEAD of a queue is behind TAIL): its host may change the buffer", s.rank, true);
    if (f.wrong != 0)
        return failed(fmt::format("a wrong answer that nobody noticed: {} wrong elements, the first in {}", f.wrong,
                                  f.first_wrong));
    if (f.completed) {
        if (healthy != nullptr && f.answer_digest != healthy->answer_digest)
            return failed("the answers differ from those of the run with devices that behave");
        if (device != nullptr)
            if (const std::string wrong = device->judge_finish(s, f); !wrong.empty())
                return failed(wrong);
        for (std::uint32_t rank = 0; device == nullptr && rank < f.ranks.size(); ++rank)
            if (f.ranks[rank].bus_faults != 0)
                return failed(fmt::format("has made {} access{} that nothing answers, and reports ok", f.ranks[rank].bus_faults,
                                          f.ranks[rank].bus_faults == 1 ? "" : "es"),
                              rank, true);
        return {judgement::kind::exact, "", strike::k_nobody, false};
    }
    if (device == nullptr)
        return not_finished("", f);
    if (device->must_finish(s, profile))
        return not_finished("should have finished, but ", f);
    return judge_unfinished(device, s, f, profile);
}

/// What was done, what came of it, where in the firmware.
std::string failure_text(const strike& s, const judgement& j, const run_facts& f)
{
    std::string text = s.text;
    if (f.counts.struck_address != 0 && f.counts.strikes == 1)
        text += fmt::format(" ({})", address_text(f.counts.struck_address));
    text += text.empty() ? "" : ": ";
    if (j.rank < f.ranks.size())
        text += fmt::format("rank {} ", j.rank);
    text += j.why;
    if (j.rank >= f.ranks.size())
        return text;
    const rank_answer& a = f.ranks[j.rank];
    // Where it hangs, or what made it answer as it did.
    const bool fault = j.at_fault && a.fault_site != 0;
    const bool answered = a.in_memory && a.announced;
    if (!a.place.empty() && !fault && !answered)
        return text + fmt::format(" [{}]", a.place);
    const std::string site = source_of(fault ? a.fault_site : answered ? a.answer_site : a.call_site, a.library);
    if (!site.empty())
        text += fmt::format(" [{} {}]",
                            fault      ? "the access that failed:"
                            : answered ? "the last access before the answer:"
                            : a.stopped ? "it is at:"
                                       : "the last call of the HAL:",
                            site);
    return text;
}

/// Indices of an even sample, first and last included.
std::vector<std::size_t> sample(std::size_t count, std::uint64_t most)
{
    std::vector<std::size_t> all;
    if (most == 0 || count <= most) {
        for (std::size_t i = 0; i < count; ++i)
            all.push_back(i);
    } else if (most == 1) {
        all.push_back(0);
    } else {
        for (std::size_t i = 0; i < most; ++i)
            all.push_back(i * (count - 1) / (most - 1));
    }
    return all;
}

void check_options(const firmware_under_test& firmware, const bench_options& options)
{
    if (options.platform == nullptr || options.platform->firmware_bench == nullptr)
        throw user_error("this platform has no bench of firmware");
    // Before the configuration, which would complain about the root of its broadcast.
    const std::uint64_t ranks = std::uint64_t{options.rows} * options.cols;
    if (options.rank >= ranks)
        throw user_error(fmt::format("rank {} does not exist: a {}x{} mesh has {} ranks, counted from 0", options.rank,
                                     options.rows, options.cols, ranks));
    if (ranks > k_most_chips)
        throw user_error(
            fmt::format("a mesh of {}x{} chips is too large for the bench, which runs it a thousand times: "
                        "at most {} chips",
                        options.rows, options.cols, k_most_chips));
    static_cast<void>(read_machine(firmware, machine_of_bench(options), options, ""));
    std::vector<std::string> names{k_healthy};
    for (const auto& device : hostile_devices())
        names.emplace_back(device->name());
    for (const std::string& name : options.only)
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw user_error(
                fmt::format("there is no hostile device {}; {}", in_quotes(name), suggestion(name, names)));
}

void account(device_report& report, const strike& s, const run_facts& f, const judgement& j)
{
    ++report.runs;
    report.worst_ps = std::max(report.worst_ps, f.end_ps);
    switch (j.what) {
    case judgement::kind::exact: ++report.exact; break;
    case judgement::kind::right_error: ++report.right_error; break;
    case judgement::kind::failed:
        if (report.failures.size() < device_report::k_most_failures)
            report.failures.push_back(failure_text(s, j, f));
        if (report.failed++ == 0)
            report.first_failure = report.failures.front();
        break;
    }
}

} // namespace

std::uint64_t bench_report::failed() const
{
    std::uint64_t n = 0;
    for (const device_report& d : devices)
        n += d.failed;
    return n;
}

const device_report* bench_report::find(const std::string& name) const
{
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.name == name; });
    return found == devices.end() ? nullptr : &*found;
}

bench_report run_firmware_bench(const firmware_under_test& firmware, const bench_options& options,
                                const bench_progress& progress, const bench_listener& on_device)
{
    check_options(firmware, options);
    bench_report report;
    report.firmware = firmware.name;
    const firmware_bench_machine machine = machine_of_bench(options);
    report.platform = fmt::format("{}, hostile at rank {}, every wait bounded by {}", machine.words, options.rank,
                                  to_string(duration(k_timeout_ps)));
    const auto done = [&](device_report device) {
        report.devices.push_back(std::move(device));
        if (on_device)
            on_device(report.devices.back());
    };

    // The run that says where the others can strike.
    device_report none;
    none.name = k_healthy;
    none.summary = "devices that behave";
    none.right = "exact";
    none.possible_runs = 1;
    const strike nowhere{"", 0, 0, 0, strike::k_nobody};
    if (progress)
        progress(none.name, 0, 1);
    const run_facts healthy = run_once(firmware, options, nullptr, nowhere);
    healthy_profile profile;
    profile.counts = healthy.counts;
    profile.end_ps = healthy.end_ps;
    profile.first_start_ps = healthy.first_start_ps;
    profile.timeout_ps = k_timeout_ps;
    profile.ranks = options.rows * options.cols;
    profile.rank = options.rank;
    profile.guests = healthy.guests;
    profile.links = machine.links;
    profile.engines_go_on = machine.engines_go_on;
    account(none, nowhere, healthy, judge(nullptr, nowhere, healthy, nullptr, profile));
    report.healthy_ps = healthy.end_ps;
    report.accesses = healthy.counts.accesses;
    report.digest = healthy.answer_digest;
    done(none);
    if (none.failed != 0)
        return report; // nothing to compare with

    for (const auto& device : hostile_devices()) {
        if (!options.only.empty() &&
            std::find(options.only.begin(), options.only.end(), device->name()) == options.only.end())
            continue;
        const std::vector<strike> all = device->strikes(profile);
        const std::vector<std::size_t> chosen = sample(all.size(), options.most_runs);
        device_report result;
        result.name = device->name();
        result.summary = device->summary();
        result.right = device->right();
        result.possible_runs = all.size();
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            if (progress)
                progress(result.name, i, chosen.size());
            const strike& s = all[chosen[i]];
            const run_facts f = run_once(firmware, options, device.get(), s);
            account(result, s, f, judge(device.get(), s, f, &healthy, profile));
            if (result.failed != 0 && options.stop_at_failure)
                break;
        }
        done(std::move(result));
    }
    return report;
}

std::string bench_table_head()
{
    return fmt::format("  {:<22}{:>14}{:>10}{:>14}{:>9}{:>18}\n", "device", "runs", "exact", "right error", "FAILED",
                       "longest run (us)");
}

std::string bench_table_line(const device_report& d)
{
    if (d.possible_runs == 0)
        return fmt::format("  {:<22}{:>14}  has nothing to break: the struck rank does not use it in this workload\n", d.name, 0);
    return fmt::format("  {:<22}{:>14}{:>10}{:>14}{:>9}{:>18.3f}\n", d.name,
                       d.runs == d.possible_runs ? fmt::format("{}", d.runs)
                                                 : fmt::format("{} of {}", d.runs, d.possible_runs),
                       d.exact, d.right_error, d.failed, static_cast<double>(d.worst_ps) / 1e6);
}

nlohmann::ordered_json to_json(const bench_report& report)
{
    nlohmann::ordered_json all;
    all["firmware"] = report.firmware;
    all["platform"] = report.platform;
    all["healthy_us"] = static_cast<double>(report.healthy_ps) / 1e6;
    all["accesses"] = report.accesses;
    all["digest"] = fmt::format("{:016x}", report.digest);
    all["failed"] = report.failed();
    all["devices"] = nlohmann::ordered_json::array();
    for (const device_report& d : report.devices) {
        nlohmann::ordered_json one;
        one["name"] = d.name;
        one["summary"] = d.summary;
        one["right"] = d.right;
        one["runs"] = d.runs;
        one["possible_runs"] = d.possible_runs;
        one["exact"] = d.exact;
        one["right_error"] = d.right_error;
        one["failed"] = d.failed;
        one["longest_run_us"] = static_cast<double>(d.worst_ps) / 1e6;
        if (!d.first_failure.empty())
            one["first_failure"] = d.first_failure;
        if (!d.failures.empty())
            one["failures"] = d.failures;
        all["devices"].push_back(std::move(one));
    }
    return all;
}

} // namespace weft
