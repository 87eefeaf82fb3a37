// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/replay_files.h"

#include "platforms/report/run_report.h"
#include "tlm/check.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

namespace weft::cli {

namespace {

constexpr std::uint32_t k_longest_frame = 0xffff; ///< of Ethernet with jumbo frames: no NIC takes more

std::vector<std::string> captures_in(const std::vector<std::string>& named)
{
    namespace fs = std::filesystem;
    std::vector<std::string> all;
    for (const std::string& name : named) {
        std::error_code none;
        if (!fs::is_directory(name, none)) {
            all.push_back(name);
            continue;
        }
        const std::size_t before = all.size();
        for (const fs::directory_entry& file : fs::directory_iterator(name, none))
            if (file.path().extension() == ".pcapng")
                all.push_back(file.path().string());
        if (all.size() == before)
            throw user_error(fmt::format(
                "--replay {}: no .pcapng file is in this folder. Name one that `weft run --pcap` has written.", name));
        std::sort(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
    }
    return all;
}

/// An end of a packet that --pcap-bytes, or a snap length, has cut off. Without data frames have their headers only.
bool is_cut(const pcapng_interface& i, const pcapng_packet& p)
{
    return i.longest != 0 && p.bytes.size() == i.longest && p.original_bytes > i.longest;
}

} // namespace

replay_files::replay_files(const std::vector<std::string>& named, const wire_finder& wire_of, std::vector<bool> fed)
    : files_(captures_in(named)), fed_(std::move(fed)), wire_of_(files_.size()), frames_of_(fed_.size()),
      file_of_(fed_.size(), 0), waiting_(fed_.size())
{
    for (std::size_t file = 0; file < files_.size(); ++file)
        check(file, wire_of);
    for (std::size_t file = 0; file < files_.size(); ++file) {
        feeds_.push_back(begin(file));
        answers_.push_back(begin(file));
    }
}

/// Reads a file to its end, and keeps nothing but the numbers of its frames.
void replay_files::check(std::size_t file, const wire_finder& wire_of)
{
    const std::string& name = files_[file];
    reading r = begin(file);
    std::vector<std::uint32_t>& wire_of_interface = wire_of_[file];
    const auto meet_interfaces = [&] {
        for (std::size_t i = wire_of_interface.size(); i < r.reader.interfaces().size(); ++i) {
            const pcapng_interface& described = r.reader.interfaces()[i];
            const std::uint32_t wire = wire_of(name, described);
            wire_of_interface.push_back(wire);
            if (wire == k_passed_over)
                continue;
            if (frames_of_[wire] && file_of_[wire] != file)
                throw user_error(fmt::format("--replay {}: its interface '{}' is in {}, too; name each capture once.",
                                             name, described.name, files_[file_of_[wire]]));
            file_of_[wire] = file;
            frames_of_[wire] = frames_of_[wire].value_or(0);
        }
    };
    std::uint64_t before_ps = 0, number = 0;
    for (pcapng_packet p; r.reader.next(p);) {
        ++number;
        meet_interfaces();
        const std::uint32_t wire = wire_of_interface[p.interface];
        if (wire == k_passed_over)
            continue;
        const auto refuse = [&](const std::string& why) {
            throw user_error(fmt::format("--replay {}: packet {}: {}.", name, number, why));
        };
        if (p.bytes.size() > p.original_bytes || p.original_bytes > k_longest_frame)
            refuse(fmt::format("a frame of {} B of which {} B are captured; no frame is longer than {} B",
                               p.original_bytes, p.bytes.size(), k_longest_frame));
        if (is_cut(r.reader.interfaces()[p.interface], p))
            refuse(fmt::format("the capture keeps the first {} B of each frame, and this one has {} B. A replay needs "
                               "whole frames: capture them again without --pcap-bytes",
                               p.bytes.size(), p.original_bytes));
        if (p.time_ps < before_ps)
            refuse(fmt::format("at {} us it comes behind one at {} us; bring frames into order with reordercap",
                               exact_us(p.time_ps), exact_us(before_ps)));
        before_ps = p.time_ps;
        ++*frames_of_[wire];
    }
    meet_interfaces();
    for (std::size_t i = 0; i < r.reader.interfaces().size(); ++i)
        if (const pcapng_interface& one = r.reader.interfaces()[i];
            one.left_out != 0 && wire_of_interface[i] != k_passed_over)
            throw user_error(fmt::format(
                "--replay {}: {} packets of its interface '{}' are not in the file, as its statistics say. A replay "
                "needs a whole capture: make it again with a larger --pcap-limit, and without --pcap-window.",
                name, one.left_out, one.name));
}

/// The next frame of a wire of the machine.
bool replay_files::read(reading& r, replayed_frame& f) const
{
    for (pcapng_packet p; r.reader.next(p);) {
        const auto& wires = wire_of_[r.file];
        if (p.interface >= wires.size())
            throw user_error(fmt::format("--replay {}: the file has changed while it was replayed.", files_[r.file]));
        if (wires[p.interface] == k_passed_over)
            continue;
        f = {p.time_ps,
             std::move(p.bytes),
             p.original_bytes,
             (p.flags & pcapng_packet::k_crc_error) != 0,
             p.comment.compare(0, 4, "lost") == 0,
             wires[p.interface],
             0,
             0};
        if (const std::size_t at = p.comment.find("start "); at != std::string::npos)
            if (std::sscanf(p.comment.c_str() + at, "start %u draw %u", &f.start, &f.draw) != 2)
                f.start = f.draw = 0;
        return true;
    }
    return false;
}

bool replay_files::next_fed(replayed_frame& f)
{
    reading* first = nullptr;
    for (reading& r : feeds_) {
        while (!r.ahead) {
            replayed_frame read_now;
            if (!read(r, read_now))
                break;
            if (fed_[read_now.wire])
                r.ahead = std::move(read_now);
        }
        if (r.ahead && (first == nullptr || r.ahead->time_ps < first->ahead->time_ps))
            first = &r;
    }
    if (first == nullptr)
        return false;
    f = std::move(*first->ahead);
    first->ahead.reset();
    return true;
}

bool replay_files::next_of(std::uint32_t wire, replayed_frame& f)
{
    if (!frames_of_[wire])
        return false;
    std::deque<replayed_frame>& own = waiting_[wire];
    while (own.empty()) {
        replayed_frame read_now;
        if (!read(answers_[file_of_[wire]], read_now))
            return false;
        if (!fed_[read_now.wire])
            waiting_[read_now.wire].push_back(std::move(read_now));
    }
    f = std::move(own.front());
    own.pop_front();
    return true;
}

} // namespace weft::cli
