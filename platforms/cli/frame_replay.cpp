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

const auto sent_later = [](const auto& a, const auto& b) {
    return a.time_ps != b.time_ps ? a.time_ps > b.time_ps : a.number > b.number;
};

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
    std::vector<bool> fed;
    for (const wire_state& w : wires_)
        fed.push_back(w.fed);
    files_.emplace(
        files, [this](const std::string& file, const pcapng_interface& i) { return wire_of(file, i); }, std::move(fed));
    bool any = false;
    for (std::uint32_t n = 0; n < wires_.size(); ++n) {
        wires_[n].expected = wires_[n].fed ? 0 : files_->frames_of(n).value_or(0);
        any = any || (wires_[n].fed && files_->frames_of(n).value_or(0) != 0);
    }
    if (!any)
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

std::uint32_t frame_replay::wire_of(const std::string& file, const pcapng_interface& i) const
{
    if (i.link_type == k_link_type_fabric) // of the lossless network beside the switch: nothing that a switch gets
        return replay_files::k_passed_over;
    std::set<std::string> names;
    for (std::uint32_t n = 0; n < wires_.size(); ++n) {
        if (wires_[n].link == nullptr)
            continue;
        names.insert(wires_[n].name);
        if (wires_[n].name != i.name)
            continue;
        if (i.link_type != k_link_type_ethernet)
            throw user_error(
                fmt::format("--replay {}: its interface '{}' has link type {}; frames are of link type 1, Ethernet.",
                            file, i.name, i.link_type));
        return n;
    }
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

void frame_replay::on_packet(std::uint32_t wire, const packet& p, std::uint64_t now_ps, std::uint64_t time_ps,
                             wire_fate fate, const char* remark)
{
    wire_state& w = wires_[wire];
    if (w.also != k_hidden)
        also_->on_packet(w.also, p, now_ps, time_ps, fate, remark);
    if (w.link == nullptr || w.fed || !files_->frames_of(wire))
        return;
    ++w.seen;
    if (w.expected == 0) // the files have the cable, and no answer on it: nothing is compared
        return;
    const std::uint32_t held = p.payload == nullptr ? 0 : p.payload_bytes;
    w.heap.push_back({time_ps,
                      next_number_++,
                      {time_ps, std::string(reinterpret_cast<const char*>(p.payload), held), frame_bytes(p),
                       fate == wire_fate::damaged, fate == wire_fate::lost, wire, 0, 0}});
    std::push_heap(w.heap.begin(), w.heap.end(), sent_later);
    compare(w, now_ps);
}

void frame_replay::on_reset(std::uint32_t wire, std::uint32_t draw)
{
    if (wires_[wire].also != k_hidden)
        also_->on_reset(wires_[wire].also, draw);
}

void frame_replay::put_out(const replayed_frame& f)
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
    cables_.insert(wires_[f.wire].name);
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
    try {
        feed_all();
    } catch (const user_error& e) { // a file is not what it was
        failure_ = e.what();
    }
    if (failure_.empty() && !come_to_rest(~std::uint64_t{0}))
        failure_ = stop_requested() ? "it was interrupted"
                                    : "the machine does not come to rest within a second of simulated time";
    done_ = true;
    sc_core::sc_stop();
}

void frame_replay::feed_all()
{
    // A frame is handed over as long before it arrives as by its cable: then what else happens at that time has the
    // order that it had.
    for (replayed_frame f; files_->next_fed(f);) {
        if (f.lost && f.start == 0) { // another one may still tell where the machine began anew
            ++lost_;
            continue;
        }
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
}

void frame_replay::run()
{
    sc_core::sc_start();
    if (!done_ && failure_.empty())
        failure_ = "it was interrupted";
    conclude();
}

void frame_replay::note_difference(std::uint64_t time_ps, const std::string& what)
{
    if (first_.empty() || time_ps < first_ps_) {
        first_ps_ = time_ps;
        first_ = what;
    }
}

void frame_replay::compare(wire_state& w, std::uint64_t until_ps)
{
    while (!w.heap.empty() && w.heap.front().time_ps < until_ps) {
        std::pop_heap(w.heap.begin(), w.heap.end(), sent_later);
        compare(w, w.heap.back().frame);
        w.heap.pop_back();
    }
}

void frame_replay::compare(wire_state& w, const replayed_frame& is)
{
    const std::uint64_t number = ++w.compared;
    const auto differs = [&](const std::string& how) {
        note_difference(is.time_ps, fmt::format("answer {} on {} {}", number, w.name, how));
    };
    replayed_frame was;
    try {
        if (!files_->next_of(is.wire, was))
            return differs("is not in the files");
    } catch (const user_error& e) { // a file is not what it was
        return differs(e.what());
    }
    const bool alike = is.bytes == was.bytes && is.original_bytes == was.original_bytes && is.damaged == was.damaged &&
                       is.lost == was.lost;
    same_bytes_ += alike ? 1 : 0;
    same_ += alike && is.time_ps == was.time_ps ? 1 : 0;
    if (!alike)
        differs(fmt::format("has other bytes, or another fate, than in the files; it came at {} us, that one at {} us",
                            exact_us(is.time_ps), exact_us(was.time_ps)));
    else if (is.time_ps != was.time_ps)
        differs(fmt::format("came at {} us, in the files at {} us", exact_us(is.time_ps), exact_us(was.time_ps)));
}

/// What is still to be compared, and the summary.
void frame_replay::conclude()
{
    std::uint64_t seen = 0, expected = 0;
    std::set<std::string> without;
    for (std::uint32_t n = 0; n < wires_.size(); ++n) {
        wire_state& w = wires_[n];
        if (w.link == nullptr || w.fed || !files_->frames_of(n))
            continue;
        if (w.expected == 0) {
            if (w.seen != 0)
                without.insert(w.name);
            continue;
        }
        compare(w, ~std::uint64_t{0});
        if (replayed_frame was; files_->next_of(n, was))
            note_difference(was.time_ps, fmt::format("answer {} on {} did not come", w.compared + 1, w.name));
        seen += w.seen, expected += w.expected;
    }
    summary_ = fmt::format(
        "replay:  {} frames fed over {} cable{}, {} of them damaged; {} that were lost are not; {} reset{} between\n",
        fed_, cables_.size(), cables_.size() == 1 ? "" : "s", damaged_, lost_, starts_, starts_ == 1 ? "" : "s");
    if (late_ != 0)
        summary_ += fmt::format("         {} frames came later than in the files\n", late_);
    if (expected == 0)
        summary_ += "answers: not compared; the files have none\n";
    else
        summary_ += fmt::format("answers: {}, in the files {}; {} have the same bytes, {} the same time, too\n", seen,
                                expected, same_bytes_, same_);
    if (!without.empty() && expected != 0)
        summary_ += fmt::format("         not compared: {}\n", first_names(without));
    if (failure_.empty())
        failure_ = first_;
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
