// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/explain/step_store.h"

#include "tlm/check.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <type_traits>
#include <unistd.h>

namespace weft {

namespace {

/// Parts that are here at a time.
constexpr std::size_t k_parts = 8;
/// What a path looks back for lies close by: packets before on a link or a port.
constexpr std::size_t k_parts_before = 2;
/// Of them, those before the path when others come: as many as leave two behind it.
constexpr std::size_t k_loaded_before = 5;
/// Of a path that looks for something far back: more do not come.
constexpr std::size_t k_most_parts = 2 * k_parts;
/// What others need of the disk stays free.
constexpr std::uintmax_t k_left_free = std::uintmax_t{1} << 30;

template <class T> bool put(std::FILE* f, const recorded_list<T>& list, std::uint32_t from, std::uint32_t until)
{
    static_assert(std::is_trivially_copyable_v<T>, "records go to the file as they are");
    return from == until || std::fwrite(&list[from], sizeof(T), until - from, f) == until - from;
}

template <class T> bool get(std::FILE* f, std::vector<T>& records, std::uint32_t count)
{
    const std::size_t before = records.size();
    records.resize(before + count);
    return count == 0 || std::fread(&records[before], sizeof(T), count, f) == count;
}

std::string folder_for_files()
{
    const char* const folder = std::getenv("TMPDIR");
    return folder == nullptr || *folder == '\0' ? "/tmp" : folder;
}

} // namespace

step_store::step_store(std::size_t in_memory) : part_steps_(std::max<std::size_t>(in_memory / k_parts, 1)) {}

void step_store::clear(packet_steps& steps)
{
    steps.sent.clear();
    steps.crossings.clear();
    steps.accepted.clear();
    steps.completions.clear();
    parts_.clear();
    ends_ = {};
    in_part_ = written_ = held_from_ = held_until_ = 0;
    file_.reset();
}

void step_store::begin_part(const packet_steps& steps, std::uint64_t now_ps)
{
    parts_.push_back({now_ps, {steps.sent.end(), steps.crossings.end(), steps.accepted.end(), steps.completions.end()}, 0});
}

/// The step that is about to be added is the last one of its part.
bool step_store::end_part(packet_steps& steps)
{
    in_part_ = 0;
    if (parts_.size() - written_ < k_parts)
        return true;
    const std::size_t oldest = written_;
    if (!write(steps, oldest))
        return false;
    const step_numbers next = first_of(oldest + 1);
    steps.sent.drop_before(next.sent);
    steps.crossings.drop_before(next.crossings);
    steps.accepted.drop_before(next.accepted);
    steps.completions.drop_before(next.completions);
    held_from_ = written_;
    return true;
}

bool step_store::finish(packet_steps& steps)
{
    ends_ = {steps.sent.end(), steps.crossings.end(), steps.accepted.end(), steps.completions.end()};
    held_until_ = parts_.size();
    if (written_ == 0)
        return true; // all are here
    while (written_ < parts_.size())
        if (!write(steps, written_))
            return false;
    return true;
}

bool step_store::open_file()
{
    std::string name = folder_for_files() + "/weft_steps_XXXXXX";
    const int descriptor = mkstemp(name.data());
    if (descriptor < 0)
        return false;
    unlink(name.c_str()); // the file ends with the process, however that ends
    file_.reset(fdopen(descriptor, "w+b"));
    return file_ != nullptr;
}

bool step_store::write(const packet_steps& steps, std::size_t number)
{
    const std::string folder = folder_for_files();
    std::error_code unknown;
    const std::filesystem::space_info room = std::filesystem::space(folder, unknown);
    const bool has_room = unknown || room.available > k_left_free;
    errno = 0;
    const step_numbers from = parts_[number].first, until = first_of(number + 1);
    const bool done = has_room && (file_ != nullptr || open_file()) && std::fseek(file_.get(), 0, SEEK_END) == 0 &&
                      (parts_[number].offset = std::ftell(file_.get())) >= 0 &&
                      put(file_.get(), steps.sent, from.sent, until.sent) &&
                      put(file_.get(), steps.crossings, from.crossings, until.crossings) &&
                      put(file_.get(), steps.accepted, from.accepted, until.accepted) &&
                      put(file_.get(), steps.completions, from.completions, until.completions) &&
                      std::fflush(file_.get()) == 0;
    written_ = number + 1;
    if (!done)
        problem_ = fmt::format("it has more than {} steps of packets, which do not fit into memory, and {} does not take the others: {}; set TMPDIR "
                               "to a folder with room, or choose a smaller case with --case",
                               part_steps_ * k_parts, folder,
                               has_room ? std::strerror(errno) : "less than 1 GiB would stay free");
    return done;
}

std::size_t step_store::part_at(std::uint64_t at_ps) const
{
    const auto behind = std::upper_bound(parts_.begin(), parts_.end(), at_ps,
                                         [](std::uint64_t t, const part& p) { return t < p.begin_ps; });
    return behind == parts_.begin() ? 0 : static_cast<std::size_t>(behind - parts_.begin()) - 1;
}

bool step_store::reach(packet_steps& steps, std::uint64_t at_ps, const needed_steps& needed)
{
    if (written_ == 0)
        return false;
    const std::size_t at = part_at(at_ps);
    const bool looks_back = held_from_ == 0 || at >= held_from_ + k_parts_before;
    if (looks_back && at < held_until_ && has(held_from_, held_until_, needed))
        return false;
    const std::size_t from = at - std::min(at, k_loaded_before);
    return load_around(steps, from, from + k_parts, needed);
}

bool step_store::reach_back(packet_steps& steps, std::uint64_t at_ps, const needed_steps& needed)
{
    if (held_from_ == 0)
        return false;
    const std::size_t from = held_from_ - std::min(held_from_, k_loaded_before);
    if (needed.none()) // later ones have been looked through
        return load(steps, from, std::min(from + k_parts, parts_.size())), true;
    return load_around(steps, from, std::max(from + k_parts, part_at(at_ps) + 1), needed);
}

bool step_store::has(std::size_t from, std::size_t until, const needed_steps& needed) const
{
    const step_numbers first = first_of(from), next = first_of(until);
    const auto is_in = [](const std::optional<std::uint32_t>& number, std::uint32_t begin, std::uint32_t end) {
        return !number || (*number >= begin && *number < end);
    };
    return is_in(needed.sent, first.sent, next.sent) && is_in(needed.accepted, first.accepted, next.accepted) &&
           is_in(needed.crossing, first.crossings, next.crossings);
}

bool step_store::load_around(packet_steps& steps, std::size_t from, std::size_t until, const needed_steps& needed)
{
    until = std::min(until, parts_.size());
    while (from > 0 && !has(from, parts_.size(), needed))
        --from;
    while (until < parts_.size() && !has(from, until, needed))
        ++until;
    if (until - from > k_most_parts && has(held_from_, held_until_, needed))
        return false;
    load(steps, from, until);
    return true;
}

void step_store::load(packet_steps& steps, std::size_t from, std::size_t until)
{
    steps = {}; // before others take its memory
    std::vector<sent_packet> sent;
    std::vector<step_at<link_crossing>> crossings;
    std::vector<step_at<packet_accepted>> accepted;
    std::vector<completion> completions;
    for (std::size_t i = from; i < until; ++i) {
        const step_numbers first = first_of(i), next = first_of(i + 1);
        if (std::fseek(file_.get(), parts_[i].offset, SEEK_SET) != 0 || !get(file_.get(), sent, next.sent - first.sent) ||
            !get(file_.get(), crossings, next.crossings - first.crossings) ||
            !get(file_.get(), accepted, next.accepted - first.accepted) ||
            !get(file_.get(), completions, next.completions - first.completions))
            throw user_error(fmt::format("steps of packets that were written to {} cannot be read back.", folder_for_files()));
    }
    const step_numbers first = first_of(from);
    steps.sent.hold(first.sent, std::move(sent));
    steps.crossings.hold(first.crossings, std::move(crossings));
    steps.accepted.hold(first.accepted, std::move(accepted));
    steps.completions.hold(first.completions, std::move(completions));
    held_from_ = from;
    held_until_ = until;
}

} // namespace weft
