// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/frame_replay.h"

#include "hw/ethernet/ethernet_frame.h"
#include "platforms/report/run_report.h"
#include "platforms/workload/interruption.h"
#include "tlm/notifier.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace weft::cli {

namespace {

constexpr std::uint64_t k_look_ps = 1'000'000;
/// Looks at a machine that does not come to rest: a second of simulated time, a thousand times as long as a
/// retransmission may wait.
constexpr std::uint64_t k_most_looks = 1'000'000;
constexpr std::uint32_t k_longest_frame = 0xffff; ///< of Ethernet with jumbo frames: no NIC takes more

std::vector<std::string> files_of(const std::vector<std::string>& named)
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

std::string first_names(const std::set<std::string>& names)
{
    std::string text;
    std::size_t n = 0;
    for (const std::string& name : names) {
        if (n++ == 4)
            return text + ", ...";
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

} // namespace

frame_replay::frame_replay(const sc_core::sc_module_name& name, machine& m, const std::vector<std::string>& files,
                           packet_tap* also)
    : sc_core::sc_module(name), machine_(m), also_(also)
{
    for (component* c : m.time().components())
        if (auto* const tapped = dynamic_cast<tapped_wires*>(c))
            tapped->tap_wires(*this);
    for (const std::string& file : files_of(files))
        read(file);
    const auto by_time = [](const frame& a, const frame& b) { return a.time_ps < b.time_ps; };
    std::stable_sort(frames_.begin(), frames_.end(), by_time);
    for (wire_state& w : wires_)
        std::stable_sort(w.expected.begin(), w.expected.end(), by_time);
    if (frames_.empty())
        throw user_error("--replay: no frame of these files goes from a worker to the switch and arrives. "
                         "Name the files of the workers' cables.");
    SC_THREAD(feed);
}

std::uint32_t frame_replay::add_wire(const component& owner, std::uint32_t wire, wire_protocol protocol)
{
    wire_state w;
    w.also = also_ == nullptr ? k_hidden : also_->add_wire(owner, wire, protocol);
    w.name = owner.wire_name(wire);
    if (protocol == wire_protocol::ethernet)
        for (component* c : machine_.time().components()) // as it is, not as it is looked at
            if (c == &owner)
                w.link = dynamic_cast<ethernet_link*>(c);
    w.end = wire;
    const std::string from = owner.ends_of_wire(wire).from;
    for (std::uint32_t rank = 0; w.link != nullptr && !w.fed && rank < machine_.data_ranks(); ++rank)
        w.fed = from == machine_.node_name(rank);
    wires_.push_back(std::move(w));
    return static_cast<std::uint32_t>(wires_.size() - 1);
}

void frame_replay::read(const std::string& file)
{
    const pcapng_content content = read_pcapng(file);
    std::vector<wire_state*> wire_of;
    for (const pcapng_interface& i : content.interfaces) {
        if (i.link_type ==
            k_link_type_fabric) { // of the lossless network beside the switch: nothing that a switch gets
            wire_of.push_back(nullptr);
            continue;
        }
        const auto at = std::find_if(wires_.begin(), wires_.end(),
                                     [&](const wire_state& w) { return w.link != nullptr && w.name == i.name; });
        if (at == wires_.end()) {
            std::set<std::string> names;
            for (const wire_state& w : wires_)
                if (w.link != nullptr)
                    names.insert(w.name);
            throw user_error(
                names.empty()
                    ? fmt::format(
                          "--replay {}: this machine has no Ethernet cable; frames are replayed to the switch of the platform switchml.",
                          file)
                    : fmt::format(
                          "--replay {}: its interface '{}' is no cable of this machine, which has {}. Name a capture of the same "
                          "machine, made by `weft run --pcap`.",
                          file, i.name, first_names(names)));
        }
        if (i.link_type != k_link_type_ethernet)
            throw user_error(
                fmt::format("--replay {}: its interface '{}' has link type {}; frames are of link type 1, Ethernet.",
                            file, i.name, i.link_type));
        at->in_files = true;
        wire_of.push_back(&*at);
    }
    for (std::size_t n = 0; n < content.packets.size(); ++n)
        if (wire_state* const wire = wire_of[content.packets[n].interface]; wire != nullptr)
            take(file, n + 1, content.packets[n], *wire);
}

void frame_replay::take(const std::string& file, std::size_t number, const pcapng_packet& p, wire_state& wire)
{
    const auto refuse = [&](const std::string& why) {
        throw user_error(fmt::format("--replay {}: packet {}: {}.", file, number, why));
    };
    if (p.bytes.size() > p.original_bytes || p.original_bytes > k_longest_frame)
        refuse(fmt::format("a frame of {} B of which {} B are captured; no frame is longer than {} B", p.original_bytes,
                           p.bytes.size(), k_longest_frame));
    frame f{p.time_ps,
            p.bytes,
            p.original_bytes,
            (p.flags & pcapng_packet::k_crc_error) != 0,
            p.comment.compare(0, 4, "lost") == 0,
            static_cast<std::uint32_t>(&wire - wires_.data()),
            0,
            0};
    if (const std::size_t at = p.comment.find("start "); at != std::string::npos)
        if (std::sscanf(p.comment.c_str() + at, "start %u draw %u", &f.start, &f.draw) != 2)
            f.start = f.draw = 0;
    if (!wire.fed) {
        wire.expected.push_back(std::move(f));
        return;
    }
    if (f.lost && f.start == 0) {
        ++lost_;
        return;
    }
    frames_.push_back(std::move(f)); // a lost one may still tell where the machine began anew
}

void frame_replay::on_packet(std::uint32_t wire, const packet& p, std::uint64_t now_ps, std::uint64_t time_ps,
                             wire_fate fate, const char* remark)
{
    wire_state& w = wires_[wire];
    if (w.also != k_hidden)
        also_->on_packet(w.also, p, now_ps, time_ps, fate, remark);
    if (w.link == nullptr || w.fed || !w.in_files)
        return;
    const std::uint32_t held = p.payload == nullptr ? 0 : p.payload_bytes;
    w.seen.push_back({time_ps, std::string(reinterpret_cast<const char*>(p.payload), held), frame_bytes(p),
                      fate == wire_fate::damaged, fate == wire_fate::lost, wire, 0, 0});
}

void frame_replay::on_reset(std::uint32_t wire, std::uint32_t draw)
{
    if (wires_[wire].also != k_hidden)
        also_->on_reset(wires_[wire].also, draw);
}

void frame_replay::put_out(const frame& f)
{
    packet_ptr p = make_frame(machine_.pool(), f.original_bytes, static_cast<std::uint32_t>(f.bytes.size()));
    if (!f.bytes.empty())
        std::memcpy(p->payload, f.bytes.data(), f.bytes.size());
    if (f.damaged)
        p->flags |= k_corrupted;
    const std::uint64_t now_ps = machine_.time().now_ps();
    late_ += f.time_ps < now_ps ? 1 : 0;
    ++fed_;
    damaged_ += f.damaged ? 1 : 0;
    const wire_state& w = wires_[f.wire];
    w.link->put_out(w.end, std::move(p), std::max(f.time_ps, now_ps) - now_ps);
}

/// False: it is not at rest at `until_ps`.
bool frame_replay::come_to_rest(std::uint64_t until_ps)
{
    for (std::uint64_t looks = 0; !machine_.settled(); ++looks) {
        if (looks == k_most_looks || kernel_now_ps() + k_look_ps > until_ps || stop_requested())
            return false;
        sc_core::wait(sc_time_from_ps(k_look_ps));
    }
    return true;
}

void frame_replay::feed()
{
    // A frame is handed over as long before it arrives as by its cable: then what else happens at that time has the
    // order that it had.
    for (const frame& f : frames_) {
        const std::uint64_t ahead_ps = std::max<std::uint64_t>(1, wires_[f.wire].link->propagation().value());
        const std::uint64_t at_ps = f.time_ps - std::min(f.time_ps, ahead_ps);
        if (f.start > starts_) {
            if (!come_to_rest(at_ps)) {
                failure_ = fmt::format(
                    "the machine is not at rest when start {} of the files comes, at {} us; nothing is fed from there on",
                    f.start, exact_us(f.time_ps));
                break;
            }
            starts_ = f.start;
            machine_.reset(f.draw);
        }
        if (at_ps > kernel_now_ps())
            sc_core::wait(sc_time_from_ps(at_ps - kernel_now_ps()));
        if (stop_requested()) {
            failure_ = "it was interrupted";
            break;
        }
        if (f.lost)
            ++lost_;
        else
            put_out(f);
    }
    if (failure_.empty() && !come_to_rest(~std::uint64_t{0}))
        failure_ = stop_requested() ? "it was interrupted"
                                    : "the machine does not come to rest within a second of simulated time";
    done_ = true;
    sc_core::sc_stop();
}

void frame_replay::run()
{
    sc_core::sc_start();
    if (!done_ && failure_.empty())
        failure_ = "it was interrupted";
    compare();
}

void frame_replay::compare()
{
    std::set<std::string> cables, without;
    for (const frame& f : frames_)
        cables.insert(wires_[f.wire].name);
    std::uint64_t seen = 0, expected = 0, same_bytes = 0, same = 0;
    std::string first;
    for (wire_state& w : wires_) {
        if (w.link == nullptr || w.fed || !w.in_files)
            continue;
        if (w.expected.empty() && !w.seen.empty())
            without.insert(w.name);
        if (w.expected.empty())
            continue;
        std::stable_sort(w.seen.begin(), w.seen.end(),
                         [](const frame& a, const frame& b) { return a.time_ps < b.time_ps; });
        seen += w.seen.size(), expected += w.expected.size();
        const std::size_t both = std::min(w.seen.size(), w.expected.size());
        for (std::size_t n = 0; n < std::max(w.seen.size(), w.expected.size()); ++n) {
            std::string difference;
            if (n >= both) {
                difference = n < w.seen.size() ? "is not in the files" : "did not come";
            } else {
                const frame &is = w.seen[n], &was = w.expected[n];
                const bool alike = is.bytes == was.bytes && is.original_bytes == was.original_bytes &&
                                   is.damaged == was.damaged && is.lost == was.lost;
                same_bytes += alike ? 1 : 0;
                same += alike && is.time_ps == was.time_ps ? 1 : 0;
                if (!alike)
                    difference = fmt::format(
                        "has other bytes, or another fate, than in the files; it came at {} us, that one at {} us",
                        exact_us(is.time_ps), exact_us(was.time_ps));
                else if (is.time_ps != was.time_ps)
                    difference = fmt::format("came at {} us, in the files at {} us", exact_us(is.time_ps),
                                             exact_us(was.time_ps));
            }
            if (first.empty() && !difference.empty())
                first = fmt::format("answer {} on {} {}", n + 1, w.name, difference);
        }
    }
    summary_ = fmt::format(
        "replay:  {} frames fed over {} cable{}, {} of them damaged; {} that were lost are not; {} reset{} between\n",
        fed_, cables.size(), cables.size() == 1 ? "" : "s", damaged_, lost_, starts_, starts_ == 1 ? "" : "s");
    if (late_ != 0)
        summary_ += fmt::format("         {} frames came later than in the files\n", late_);
    if (expected == 0)
        summary_ += "answers: not compared; the files have none\n";
    else
        summary_ += fmt::format("answers: {}, in the files {}; {} have the same bytes, {} the same time, too\n", seen,
                                expected, same_bytes, same);
    if (!without.empty() && expected != 0)
        summary_ += fmt::format("         not compared: {}\n", first_names(without));
    if (failure_.empty())
        failure_ = first;
}

void refuse_captures_over(const std::vector<std::string>& replayed, const std::string& pcap)
{
    namespace fs = std::filesystem;
    std::error_code none;
    for (const std::string& from : replayed) {
        const fs::path folder = fs::is_directory(from, none) ? fs::path(from) : fs::absolute(from, none).parent_path();
        if (fs::equivalent(folder, pcap, none))
            throw user_error(fmt::format(
                "--pcap: {} holds what --replay reads, and captures would replace it; name another folder.", pcap));
    }
}

} // namespace weft::cli
