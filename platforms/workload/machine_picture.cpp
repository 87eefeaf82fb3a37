// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/machine_picture.h"

#include "hw/core/address_text.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace weft {

namespace {
constexpr const char* k_parked_text = "waits for a command"; ///< of core_base::doing()

/// "1, 4 to 7, 9"; of many ranges the first `at_most`.
std::string ranges_text(std::vector<std::uint32_t> numbers, std::size_t at_most)
{
    std::sort(numbers.begin(), numbers.end());
    std::string text;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
            ++last;
        if (shown++ == at_most)
            return text + " ...";
        text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
        if (last > i + 1)
            text += fmt::format(" to {}", numbers[last]);
        else if (last > i)
            text += fmt::format(", {}", numbers[last]);
        i = last + 1;
    }
    return text;
}
} // namespace

std::size_t machine_picture::parked_ranks() const
{
    const auto& chips = machine_.chips();
    return static_cast<std::size_t>(std::count_if(chips.begin(), chips.end(), [](const chip* c) {
        return std::all_of(c->cores().begin(), c->cores().end(), [](const core_base* core) { return core->idle(); });
    }));
}

std::string machine_picture::who_waits(const answer_times* answers) const
{
    std::string text;
    // A part of a chip that is stuck is a finding; cores that wait are usually its consequence, and all alike.
    constexpr std::size_t k_show = 8;
    std::string of_chips;
    std::size_t stuck = 0;
    for (const component* c : machine_.time().components()) {
        const std::string waits = c->waits();
        if (waits.empty())
            continue;
        if (const chip* const owner = chip_of(*c); owner == nullptr)
            text += "\n" + waits;
        else if (++stuck <= k_show)
            of_chips += fmt::format("\nrank {}: {}", owner->rank(), waits);
    }
    if (const std::string network = machine_.waits(); !network.empty())
        text += "\n" + network;
    text += of_chips;
    if (stuck > k_show)
        text += fmt::format("\n... and {} more parts of chips with work left", stuck - k_show);
    return text + what_cores_do(answers);
}

std::string machine_picture::what_cores_do(const answer_times* answers) const
{
    struct alike {
        std::vector<std::uint32_t> ranks;     ///< of which all cores are
        std::vector<std::string> some;        ///< "3 core 1" of the others
        std::string doing;
    };
    std::map<std::string, alike> all;
    for (const chip* c : machine_.chips()) {
        std::map<std::string, std::vector<std::size_t>> of_chip;
        for (std::size_t i = 0; i < c->cores().size(); ++i) {
            core_base& core = *c->cores()[i];
            const bool has_answered = answers != nullptr && (*answers)[c->rank()] != k_never_ps;
            std::string doing = core.doing();
            const bool works = doing != k_parked_text && !core.finished() && core.failure().empty();
            if (const std::string place = places_ == nullptr || !works ? "" : places_->place_of(core); !place.empty())
                doing += fmt::format(" [{}]", place);
            else if (!works && answers != nullptr)
                doing += has_answered ? " and has answered" : " and has not answered";
            of_chip[doing].push_back(i);
        }
        for (const auto& [doing, cores] : of_chip) {
            alike& a = all[doing];
            a.doing = doing;
            if (cores.size() == c->cores().size())
                a.ranks.push_back(c->rank());
            else
                for (const std::size_t i : cores)
                    a.some.push_back(fmt::format("{} core {}", c->rank(), i));
        }
    }
    std::vector<const alike*> sorted;
    for (const auto& [doing, a] : all)
        sorted.push_back(&a);
    std::stable_sort(sorted.begin(), sorted.end(), [](const alike* a, const alike* b) {
        return a->ranks.size() + a->some.size() < b->ranks.size() + b->some.size();
    });
    constexpr std::size_t k_show = 24;
    constexpr std::size_t k_most_ranges = 128; // every rank of a machine that somebody reads about rank by rank
    std::string text;
    for (std::size_t n = 0; n < sorted.size(); ++n) {
        const alike& a = *sorted[n];
        if (n == k_show) {
            text += fmt::format("\n... and {} more kinds of places", sorted.size() - k_show);
            break;
        }
        std::string names = ranges_text(a.ranks, k_most_ranges);
        for (std::size_t i = 0; i < a.some.size() && i < k_show; ++i)
            names += (names.empty() ? "" : ", ") + a.some[i];
        if (a.some.size() > k_show)
            names += " ...";
        const std::size_t count = a.ranks.size() + a.some.size();
        if (count == 1)
            text += fmt::format("\nthe core of rank {} {}", names, a.doing);
        else
            text += fmt::format("\nthe cores of {} ranks ({}): each {}", count, names, a.doing);
    }
    return text;
}

std::string machine_picture::rank_name(std::uint32_t rank) const
{
    return fmt::format("rank {}, {}", rank, machine_.chip_name(rank));
}

std::string machine_picture::core_name(const chip& c, std::size_t core) const
{
    return c.cores().size() == 1 ? rank_name(c.rank()) : fmt::format("{}, core {}", rank_name(c.rank()), core);
}

std::string machine_picture::answers_again() const
{
    constexpr std::uint32_t k_too_often = 4; // once more does whoever lost one acknowledgement
    std::string text;
    for (const chip* c : machine_.chips())
        if (text.empty() && c->mailbox.repeats() >= k_too_often)
            text = fmt::format("\n{}: answers one command over and over; it does not write MAILBOX.COMMAND_ACK, and the interrupt stays up", core_name(*c, c->speaker()));
    return text;
}

std::string machine_picture::stopped_cores() const
{
    constexpr std::size_t k_show = 4;
    std::size_t stopped = 0;
    std::string text;
    for (const chip* c : machine_.chips())
        for (std::size_t i = 0; i < c->cores().size(); ++i) {
            core_base& core = *c->cores()[i];
            if (core.failure().empty() || ++stopped > k_show)
                continue;
            const std::string why = places_ == nullptr ? core.failure() : places_->with_places(core, core.failure());
            text += fmt::format("\n{}: {}", core_name(*c, i), why);
            const bool names_pc = why.find(" pc 0x") != std::string::npos;
            if (const std::string place = places_ == nullptr || names_pc ? "" : places_->place_of(core); !place.empty())
                text += fmt::format(" [{}]", place);
        }
    if (stopped > k_show)
        text += fmt::format("\n... and {} more ranks stopped", stopped - k_show);
    return text;
}

std::string reason_of(const chip& of, const abi::response& r)
{
    return r.code == abi::status_code::device_error && std::strcmp(r.where, "DMA.ERROR") == 0 ? of.dma.stop_reason(r.detail >> 32) : "";
}

std::string machine_picture::failed_ranks(std::uint32_t sequence, abi::algorithm algorithm) const
{
    static const char* const k_reasons[] = {"ok",
                                            k_timed_out_text,
                                            "found another device at",
                                            "found another version at",
                                            "a bus error at",
                                            "the device reports an error in",
                                            "the command is wrong:",
                                            "not supported:",
                                            "corrupted:"};
    constexpr std::size_t k_show = 8;
    struct failed_rank {
        std::uint32_t rank;
        bool answered;
        abi::response r;
    };
    std::vector<failed_rank> failed;
    for (const chip* source : machine_.chips()) {
        const abi::response r = source->response();
        const bool answered = r.sequence == sequence;
        if (!answered || r.code != abi::status_code::ok)
            failed.push_back({source->rank(), answered, r});
    }
    // Who stopped first comes first: what stands behind it waits for it, a step later.
    std::stable_sort(failed.begin(), failed.end(), [](const failed_rank& a, const failed_rank& b) {
        return a.answered && (!b.answered || a.r.failed_step < b.r.failed_step);
    });
    std::string text;
    for (std::size_t i = 0; i < failed.size() && i < k_show; ++i) {
        const failed_rank& f = failed[i];
        const chip& source = *machine_.chips()[f.rank];
        text += (text.empty() ? "" : "\n") + core_name(source, source.speaker());
        if (!f.answered) {
            text += source.mailbox.idle() ? ": rang DONE, but its answer is not in memory" : ": no answer";
            continue;
        }
        const auto code = static_cast<std::size_t>(f.r.code);
        std::string detail = fmt::format("{:#x}", f.r.detail);
        if (f.r.code == abi::status_code::device_error)
            if (const std::string bits = bits_text(f.r.where, static_cast<std::uint32_t>(f.r.detail)); !bits.empty())
                detail = std::strcmp(f.r.where, "DMA.ERROR") == 0 && f.r.detail >> 32 == source.dma.queues()
                             ? fmt::format("{}, of a write that came; {}", bits, detail)
                             : fmt::format("{}, queue {}; {}", bits, f.r.detail >> 32, detail);
        if (const std::string reason = reason_of(source, f.r); !reason.empty())
            detail += ": " + reason;
        if (f.r.code == abi::status_code::bus_error)
            detail = address_text(f.r.detail) == detail ? detail : fmt::format("{}, {}", detail, address_text(f.r.detail));
        text += fmt::format(": {} {} ({}) in ", code < std::size(k_reasons) ? k_reasons[code] : "unknown error at",
                            f.r.where, detail);
        if (f.r.failed_peer < machine_.chips().size())
            text += fmt::format("step {} of {}, waiting for {}", f.r.failed_step, name_of(algorithm),
                                rank_name(f.r.failed_peer));
        else if (f.r.code == abi::status_code::timeout && std::strcmp(f.r.where, "DMA.HEAD") == 0)
            text += fmt::format("{}, waiting for its own DMA", name_of(algorithm));
        else if (f.r.code == abi::status_code::timeout && std::strncmp(f.r.where, "SYNC.", 5) == 0)
            text += fmt::format("step {} of {}, waiting for the others of its sync zone", f.r.failed_step,
                                name_of(algorithm));
        else if (f.r.code == abi::status_code::timeout) // for more than one: the picture tells what is stuck
            text += name_of(algorithm);
        else
            text += fmt::format("step {} of {}", f.r.failed_step, name_of(algorithm));
    }
    if (failed.size() > k_show) {
        std::vector<std::uint32_t> rest;
        for (std::size_t i = k_show; i < failed.size(); ++i)
            rest.push_back(failed[i].rank);
        text += fmt::format("\n... and {} more ranks failed: {}", rest.size(), ranges_text(rest, k_show));
    }
    return text;
}

} // namespace weft
