// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/run_capture.h"

#include "hw/ethernet/ethernet_frame.h"
#include "platforms/report/fabric_record.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/resource.h>

namespace weft::cli {

namespace {

constexpr rlim_t k_files_of_others = 64; ///< that a run has open beside the captures

/// Files that may be open at a time; as many as the user may have, not only as many as a shell gives.
std::uint64_t most_open_files()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
        if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) // what was granted
            return 0;
    }
    return limit.rlim_cur > k_files_of_others ? limit.rlim_cur - k_files_of_others : 0;
}

/// What a shell takes as it is.
std::string plain(const std::string& name)
{
    std::string text;
    for (const char c : name) {
        const bool keep = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                          c == '.' || c == '+';
        if (keep || (!text.empty() && text.back() != '_'))
            text += keep ? c : '_';
    }
    while (!text.empty() && text.back() == '_')
        text.pop_back();
    return text;
}

const auto later = [](const auto& a, const auto& b) {
    return a.time_ps != b.time_ps ? a.time_ps > b.time_ps : a.number > b.number;
};

} // namespace

run_capture::run_capture(const capture_options& options, const trace_filter& filter,
                         std::function<void(const std::string&)> on_file)
    : options_(options), filter_(filter), on_file_(std::move(on_file))
{
}

void run_capture::attach(machine& m)
{
    for (timeline* time : m.all_timelines())
        for (component* c : time->components())
            if (auto* const tapped = dynamic_cast<tapped_wires*>(c))
                tapped->tap_wires(*this);
}

void run_capture::check_wires(replaced_files& replaced)
{
    if (wires_.empty())
        throw user_error(
            "--pcap-links leaves nothing to capture. Links are named as in `Busiest links` of a run, such as chip(0,1).+X.");
    if (const std::uint64_t most = most_open_files(); cables_.size() > most)
        throw user_error(
            fmt::format("--pcap: this machine has {} cables, a file each, and this host opens {} files at most. "
                        "Name some by --pcap-links, or raise the limit with ulimit -n.",
                        cables_.size(), most));
    name_files();
    replaced_ = &replaced;
    for (const cable& c : cables_)
        replaced.look(c.name);
}

std::uint32_t run_capture::add_wire(const component& owner, std::uint32_t wire, wire_protocol protocol)
{
    const std::string name = owner.wire_name(wire);
    const wire_ends ends = owner.ends_of_wire(wire);
    if (!filter_.shows_link(name))
        return k_hidden;
    const std::uint32_t number = cable_of(owner, ends, name);
    cable& c = cables_[number];
    wire_state w;
    w.cable = number;
    w.interface = static_cast<std::uint32_t>(c.wires.size());
    w.protocol = protocol;
    w.description.name = name;
    w.description.description = fmt::format("{} > {}", ends.from, ends.to);
    w.description.link_type = protocol == wire_protocol::ethernet ? k_link_type_ethernet : k_link_type_fabric;
    w.description.longest = options_.longest;
    wires_.push_back(std::move(w));
    c.wires.push_back(static_cast<std::uint32_t>(wires_.size() - 1));
    return c.wires.back();
}

/// The n-th wire from a to b and the n-th one back are a cable.
std::uint32_t run_capture::cable_of(const component& owner, const wire_ends& ends, const std::string& name)
{
    const std::size_t nth = by_ends_[{&owner, {ends.from, ends.to}}].size();
    const auto& back = by_ends_[{&owner, {ends.to, ends.from}}];
    const bool known = !ends.from.empty() && !ends.to.empty() && ends.from != ends.to;
    const auto number = known && nth < back.size() ? back[nth] : static_cast<std::uint32_t>(cables_.size());
    if (number == cables_.size())
        cables_.push_back({known ? plain(ends.from) + "--" + plain(ends.to) : plain(name), {}, nullptr, {}});
    by_ends_[{&owner, {ends.from, ends.to}}].push_back(number);
    return number;
}

/// After its two ends. Where a fabric and Ethernet cables join the same ends, as beside a SwitchML switch, those of the
/// fabric say so.
void run_capture::name_files()
{
    std::set<std::string> taken;
    for (const wire_protocol protocol : {wire_protocol::ethernet, wire_protocol::fabric})
        for (cable& c : cables_) {
            if (wires_[c.wires.front()].protocol != protocol)
                continue;
            const bool clash = protocol == wire_protocol::fabric && taken.count("ethernet " + c.name) != 0;
            const std::string base = c.name + (clash ? "--fabric" : "");
            if (protocol == wire_protocol::ethernet)
                taken.insert("ethernet " + c.name);
            std::string chosen = base;
            for (unsigned n = 2; !taken.insert(chosen).second; ++n)
                chosen = fmt::format("{}_{}", base, n);
            c.name = options_.dir + "/" + chosen + ".pcapng";
        }
}

void run_capture::begin_file(cable& c)
{
    on_file_(c.name);
    c.file = std::make_unique<output_file>(c.name);
    ++files_;
    std::string head = pcapng_section("times of cables: last byte at the far end; of fabrics: last byte at the sender");
    for (const std::uint32_t w : c.wires)
        head += pcapng_block(wires_[w].description);
    bytes_ += head.size();
    c.file->write(head);
}

bool run_capture::takes(wire_state& w, std::size_t bytes)
{
    ++w.seen;
    if (left_out_ == 0 && bytes_ + bytes <= options_.limit_bytes)
        return true;
    ++w.left_out, ++left_out_;
    return false;
}

void run_capture::on_packet(std::uint32_t wire, const packet& p, std::uint64_t now_ps, std::uint64_t time_ps,
                            wire_fate fate, const char* remark)
{
    wire_state& w = wires_[wire];
    cable& c = cables_[w.cable];
    if (!filter_.shows_time(time_ps)) {
        ++filtered_, ++w.seen, ++w.left_out;
        return;
    }
    const bool whole = w.protocol == wire_protocol::ethernet;
    const std::string record = whole ? std::string() : fabric_record(p, options_.platform, options_.longest);
    std::string_view bytes = record;
    pcapng_packet& to = scratch_;
    to.interface = w.interface;
    to.time_ps = time_ps;
    if (whole) {
        bytes = p.payload == nullptr ? std::string_view()
                                     : std::string_view(reinterpret_cast<const char*>(p.payload), p.payload_bytes);
        to.original_bytes = frame_bytes(p);
        bytes = bytes.substr(0, to.original_bytes); // a short frame is padded on the wire, and carries nothing more
    } else {
        to.original_bytes = k_fabric_record_bytes + p.payload_bytes;
    }
    if (options_.longest != 0)
        bytes = bytes.substr(0, options_.longest);
    to.flags = pcapng_packet::k_inbound |
               (fate == wire_fate::damaged || (p.flags & k_corrupted) != 0 ? pcapng_packet::k_crc_error : 0);
    std::string comment = fate == wire_fate::lost ? "lost" : fate == wire_fate::damaged ? "damaged" : "";
    for (const std::string_view more : {std::string_view(remark), std::string_view(w.mark)})
        if (!more.empty())
            comment.append(comment.empty() ? "" : ", ").append(more);

    waiting entry{time_ps, next_number_++, {}};
    append_pcapng(entry.block, to, bytes, comment);
    if (!takes(w, entry.block.size()))
        return;
    if (c.file == nullptr)
        begin_file(c);
    w.mark.clear();
    bytes_ += entry.block.size();
    ++packets_;
    release(c, now_ps);
    if (c.heap.empty() && time_ps <= now_ps)
        return c.file->write(entry.block);
    c.heap.push_back(std::move(entry));
    std::push_heap(c.heap.begin(), c.heap.end(), later);
}

/// Nothing that is told from now on comes before `until_ps`.
void run_capture::release(cable& c, std::uint64_t until_ps)
{
    while (!c.heap.empty() && c.heap.front().time_ps < until_ps) {
        std::pop_heap(c.heap.begin(), c.heap.end(), later);
        c.file->write(c.heap.back().block);
        c.heap.pop_back();
    }
}

void run_capture::on_reset(std::uint32_t wire, std::uint32_t draw)
{
    wire_state& w = wires_[wire];
    w.mark = fmt::format("start {} draw {}", ++w.starts, draw);
}

void run_capture::close()
{
    std::string lost;
    for (cable& c : cables_) {
        if (c.file == nullptr) { // nothing crossed it: what an earlier run has left is not of this one
            std::error_code none;
            if (std::filesystem::remove(c.name, none)) {
                ++removed_;
                replaced_->is_gone(c.name);
            }
            continue;
        }
        release(c, ~std::uint64_t{0});
        for (const std::uint32_t w : c.wires)
            c.file->write(pcapng_statistics(wires_[w].interface, wires_[w].seen, wires_[w].left_out));
        try { // the others are whole
            c.file->commit();
        } catch (const user_error& e) {
            for (const problem& p : e.problems())
                lost += (lost.empty() ? "" : "\nerror: ") + p.message;
            replaced_->stays(c.name);
        }
        c.file.reset();
    }
    if (!lost.empty())
        throw user_error(
            lost + "\n--pcap: with a smaller --pcap-limit, or fewer cables by --pcap-links, they take less room.");
}

void run_capture::give_up()
{
    for (cable& c : cables_)
        if (c.file != nullptr)
            c.file->give_up();
}

std::string run_capture::summary() const
{
    const std::string removed =
        removed_ == 0 ? ""
                      : fmt::format("; {} file{} of an earlier run removed: nothing crossed {}", removed_,
                                    removed_ == 1 ? "" : "s", removed_ == 1 ? "that cable" : "those cables");
    if (packets_ + left_out_ == 0)
        return (shows_nothing() ? fmt::format("no packets: the filter shows none of {}", filtered_)
                               : std::string("no packets: nothing crossed a cable")) +
               removed;
    std::string text = fmt::format("{} file{}, {} packet{}", files_, files_ == 1 ? "" : "s", packets_,
                                   packets_ == 1 ? "" : "s");
    if (filtered_ > 0)
        text += fmt::format(" of {}", packets_ + left_out_ + filtered_);
    if (left_out_ > 0)
        text += fmt::format(", {} more beyond --pcap-limit", left_out_);
    return text + removed;
}

} // namespace weft::cli
