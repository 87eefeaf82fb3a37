// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ccu/ccu_transfers.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

using abi::ccu::op;

std::uint32_t ccu_transfers::add(const ccu_transfer& t)
{
    std::uint32_t number = static_cast<std::uint32_t>(all_.size());
    if (free_.empty()) {
        all_.push_back(t);
    } else {
        number = free_.back();
        free_.pop_back();
        const std::uint8_t generation = all_[number].generation;
        all_[number] = t;
        all_[number].generation = generation;
    }
    all_[number].used = true;
    ++under_way_;
    return number;
}

void ccu_transfers::release(std::uint32_t number)
{
    all_[number].used = false;
    ++all_[number].generation;
    free_.push_back(number);
    --under_way_;
}

void ccu_transfers::begin(std::uint32_t number)
{
    const std::uint32_t c = all_[number].channel;
    all_[number].goes_out = true;
    ++channels_[c].places_taken;
    channels_[c].waiting.push_back(number);
    pump(c);
}

void ccu_transfers::leave_channel(std::uint32_t number)
{
    all_[number].goes_out = false;
    --channels_[all_[number].channel].places_taken;
}

/// Segments of the oldest transfer first; at least one is always under way, however long.
void ccu_transfers::pump(std::uint32_t index)
{
    channel& c = channels_[index];
    while (!c.waiting.empty()) {
        const std::uint32_t number = c.waiting.front();
        ccu_transfer& t = all_[number];
        const std::uint32_t units = units_of(segment_bytes(t, t.issued));
        if (c.outstanding != 0 && c.outstanding + units > shared_.config.outstanding)
            return;
        c.outstanding += units;
        issue(number, t, c);
        if (t.issued == t.bytes)
            c.waiting.pop_front();
    }
}

void ccu_transfers::issue(std::uint32_t number, ccu_transfer& t, const channel& c)
{
    const std::uint32_t bytes = segment_bytes(t, t.issued);
    ccu_stream s;
    s.shortest_paths = c.shortest_paths;
    s.message = name_of(number);
    s.bytes = bytes;
    s.header.index = static_cast<std::uint16_t>(t.issued / std::max<std::uint64_t>(1, shared_.config.segment.value()));
    // A request has no payload; the answer says where in the transfer it belongs.
    const auto ask = [&](ccu_message kind) {
        s.from = ccu_stream::source::none;
        s.header.kind = kind;
        s.bytes = 0;
        s.asked_bytes = bytes;
    };
    switch (t.code) {
    case op::remote_mem_to_ms:
    case op::remote_mem_to_mem:
        ask(ccu_message::read_memory);
        s.offset = with_token(t.remote + t.issued, t.token);
        break;
    case op::remote_ms_to_mem:
    case op::remote_ms_to_ms:
        ask(ccu_message::read_slice);
        s.offset = t.remote;
        break;
    case op::ms_to_remote_mem:
    case op::mem_to_remote_mem:
        s.from = t.code == op::ms_to_remote_mem ? ccu_stream::source::slice : ccu_stream::source::memory;
        s.header.kind = ccu_message::write_memory;
        s.address = t.local + (t.code == op::ms_to_remote_mem ? 0 : t.issued);
        s.offset = with_token(t.remote + t.issued, t.token);
        s.type = t.type;
        s.redop = t.redop;
        break;
    case op::ms_to_remote_ms:
        s.from = ccu_stream::source::slice;
        s.header.kind = ccu_message::write_slice;
        s.address = t.local;
        s.offset = t.remote << 16; // a slice holds 2^12 bytes, which are counted below it
        s.entry_and_mask = t.entry_and_mask;
        break;
    default: // bits and registers
        ask(t.code == op::send_bits ? ccu_message::bits : t.code == op::send_a ? ccu_message::address_register : ccu_message::general_register);
        s.header.index = t.remote_register;
        s.offset = t.remote;
        s.entry_and_mask = t.entry_and_mask;
        break;
    }
    t.issued += bytes;
    port_.send_to(c.peer, s);
}

/// Packets of several segments come mixed: as many bytes as a segment has give back what one takes.
bool ccu_transfers::finished(std::uint32_t number, std::uint32_t bytes)
{
    ccu_transfer& t = all_[number];
    t.finished += bytes;
    const std::uint64_t segment = shared_.config.segment.value();
    const bool all = t.finished >= t.bytes;
    const std::uint64_t segments = t.finished / segment;
    std::uint32_t back = static_cast<std::uint32_t>(segments * units_of(segment));
    if (all && (t.bytes == 0 || t.bytes % segment != 0))
        back = static_cast<std::uint32_t>(t.bytes / segment * units_of(segment)) + units_of(t.bytes % segment);
    if (back != t.units_back) {
        const std::uint32_t c = t.channel;
        channels_[c].outstanding -= back - t.units_back;
        t.units_back = back;
        pump(c);
    }
    return all;
}

std::vector<std::uint32_t> ccu_transfers::orphan(std::uint32_t mission)
{
    std::vector<std::uint32_t> over;
    for (ccu_transfer& t : all_)
        if (t.used && t.mission == mission)
            t.orphan = true;
    for (channel& c : channels_) {
        const auto forget = [&](std::uint32_t number) {
            ccu_transfer& t = all_[number];
            if (!t.orphan)
                return false;
            t.bytes = t.issued; // the rest is not missed
            if (t.finished == t.issued)
                over.push_back(number);
            return true;
        };
        c.waiting.erase(std::remove_if(c.waiting.begin(), c.waiting.end(), forget), c.waiting.end());
    }
    return over;
}

bool ccu_transfers::abandon(std::uint32_t c, std::vector<std::uint32_t>& over)
{
    const auto on_it = [&](const ccu_transfer& t) { return t.used && t.goes_out && t.channel == c; };
    if (std::any_of(all_.begin(), all_.end(), [&](const ccu_transfer& t) { return on_it(t) && !t.orphan; }))
        return false;
    for (std::uint32_t t = 0; t < all_.size(); ++t)
        if (on_it(all_[t])) {
            ++all_[t].generation; // late answers are not for it
            over.push_back(t);
        }
    channels_[c].outstanding = 0;
    channels_[c].waiting.clear();
    return true;
}

std::string ccu_transfers::waits() const
{
    std::string text;
    for (std::size_t c = 0; c < channels_.size(); ++c)
        if (channels_[c].outstanding != 0)
            text += fmt::format("{}channel {} has {} operations under way to rank {}", text.empty() ? "" : "; ", c, channels_[c].outstanding,
                                channels_[c].peer);
    return text;
}

void ccu_transfers::reset()
{
    for (channel& c : channels_)
        c = {};
    all_.clear();
    free_.clear();
    under_way_ = 0;
}

} // namespace weft
