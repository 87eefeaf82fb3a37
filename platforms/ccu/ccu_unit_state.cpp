// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_unit_state.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

void ccu_findings::add(severity level, const source_position& where, std::string message)
{
    if (!told_.emplace(where.line, message).second)
        return;
    errors_ += level == severity::error ? 1 : 0;
    problems_.push_back({level, where, "", std::move(message)});
}

std::string ccu_findings::line_of(std::uint32_t at) const
{
    const source_position where = program_.position_of(at);
    return where.line > 0 ? fmt::format("line {}", where.line) : fmt::format("instruction {}", at);
}

std::string text_of_ccu_bit(std::uint32_t bit)
{
    return fmt::format("{}:{:#x}", bit / abi::ccu::k_bits_of_entry, 1u << bit % abi::ccu::k_bits_of_entry);
}

ccu_unit_state::ccu_unit_state(const ccu_program& program, ccu_findings& findings, ccu_history& history)
    : program_(&program), findings_(&findings), history_(&history), known_(program.ranks.value_or(0), 0)
{
    for (const std::uint16_t m : program.peer_slices)
        written_.insert(m);
    // What instructions of this program write at peers, its peers write here.
    for (std::uint32_t at = 0; at < program.code.size(); ++at) {
        const ccu_access a = access_of(program.code[at]);
        const auto add = [&](char kind, const std::optional<std::uint16_t>& number, const std::set<std::uint16_t>& declared) {
            if (number && declared.count(*number) == 0)
                mail_[{kind, *number}].by = at;
        };
        add('a', a.peer_address_written, program.peer_address_registers);
        add('x', a.peer_general_written, program.peer_general_registers);
        add('m', a.peer_slice_written, program.peer_slices);
    }
}

std::string ccu_unit_state::not_known(std::uint16_t channel) const
{
    return known_.empty() ? "without '.ranks n' nothing is known of the peer; declare the ranks, or use each only once"
                          : fmt::format("no message tells that the peer behind c{} has come so far; wait for a bit that it sends after that, and which is "
                                        "not the same bit",
                                        channel);
}

void ccu_unit_state::finish(std::uint32_t number)
{
    const auto found = under_way_.find(number);
    if (found == under_way_.end())
        return;
    const transfer t = found->second;
    under_way_.erase(found);
    each_bit(t.entry, t.mask, [&](std::uint32_t key, unsigned) {
        if (const auto b = bits_.find(key); b != bits_.end() && b->second.state == bit_state::pending && b->second.transfer == number)
            b->second.state = bit_state::set;
    });
    for (const std::uint16_t m : t.writes)
        written_at_[m] = position_;
    for (const std::uint16_t m : t.reads)
        note_read(m);
    for (auto& [slice, reads] : peer_reads_)
        for (peer_read& r : reads)
            if (r.transfer == number && !r.done) {
                r.done = true;
                r.done_at = position_;
            }
}

void ccu_unit_state::note_read(std::uint32_t slice)
{
    if (const auto m = mail_.find({'m', slice}); m != mail_.end()) {
        m->second.used = true;
        m->second.used_at = position_;
    }
}

void ccu_unit_state::learn(const bit& b)
{
    if (const auto m = mail_.find(b.brings); m != mail_.end())
        m->second.here = true;
    if (known_.empty() || b.known == nullptr)
        return;
    // The sender is this rank - distance; what it knew of the rank d further counts for -distance + d.
    const auto n = static_cast<std::uint32_t>(known_.size());
    const std::uint32_t sender = (n - distance(b.channel)) % n;
    for (std::uint32_t d = 0; d < n; ++d) {
        std::uint64_t& mine = known_[(sender + d) % n];
        mine = std::max(mine, d == 0 ? b.position : (*b.known)[d]);
    }
}

void ccu_unit_state::wait(std::uint32_t at, std::uint32_t entry, std::uint16_t mask, bool clears)
{
    each_bit(entry, mask, [&](std::uint32_t key, unsigned number) {
        history_->waited.insert(key);
        history_->use.entries.insert(entry);
        if (program_->peer_sets_bit(static_cast<std::uint16_t>(entry), number))
            return;
        const auto found = bits_.find(key);
        if (found == bits_.end()) {
            findings_->error(at, fmt::format("waits for check bit {}{}, which nothing has set before; set it on every path to this line, or declare "
                                            "'.peer_sets {}'.",
                                            text_of_ccu_bit(key), replica, text_of_ccu_bit(key)));
            return;
        }
        if (found->second.state == bit_state::pending) {
            finish(found->second.transfer);
        } else if (found->second.state == bit_state::sent) {
            learn(found->second);
            found->second.state = bit_state::set;
        }
        if (clears) {
            bits_.erase(found);
            cleared_at_[key] = position_;
        }
    });
}

void ccu_unit_state::set(std::uint32_t at, std::uint32_t entry, std::uint16_t mask)
{
    each_bit(entry, mask, [&](std::uint32_t key, unsigned number) {
        history_->set_here.emplace(key, at);
        history_->use.entries.insert(entry);
        if (program_->peer_sets_bit(static_cast<std::uint16_t>(entry), number)) {
            findings_->error(at, fmt::format("sets check bit {}, which '.peer_sets' leaves to the peers; take another bit.", text_of_ccu_bit(key)));
            return;
        }
        const auto found = bits_.find(key);
        // Also where it is set for sure: a bit takes its time to be seen, and a clear may come in between.
        if (found != bits_.end() && found->second.state != bit_state::sent)
            findings_->error(at, fmt::format("sets check bit {}{}, which {} {}; a wait could not tell them apart. {}", text_of_ccu_bit(key), replica,
                                            findings_->line_of(found->second.by),
                                            found->second.state == bit_state::pending ? "sets when it is done" : "has set and nobody has cleared",
                                            found->second.state == bit_state::pending ? "Take another bit, or wait first." : "Wait for it with 'clear' first."));
        else if (found == bits_.end())
            bits_.emplace(key, bit{bit_state::set, at});
    });
}

void ccu_unit_state::check_read(std::uint32_t at, std::uint16_t slice)
{
    for (const auto& [number, t] : under_way_)
        if (std::find(t.writes.begin(), t.writes.end(), slice) != t.writes.end()) {
            findings_->error(at, fmt::format("reads slice m{}{}, which {} may still write; wait for the bit that it sets first.", slice, replica,
                                            findings_->line_of(t.at)));
            return;
        }
    if (const auto m = mail_.find({'m', slice}); m != mail_.end()) {
        if (!m->second.here)
            findings_->error(at, fmt::format("reads slice m{}{}, which peers write ({}); wait for the bit that comes with it first.", slice, replica,
                                            findings_->line_of(m->second.by)));
        return;
    }
    if (written_.count(slice) == 0)
        findings_->error(at, fmt::format("reads slice m{}{}, which nobody has written; load it first, or declare '.peer_writes m{}'.", slice, replica, slice));
}

void ccu_unit_state::check_register_write(std::uint32_t at, char kind, std::uint16_t number) const
{
    const auto& declared = kind == 'a' ? program_->peer_address_registers : program_->peer_general_registers;
    if (declared.count(number) != 0)
        findings_->error(at, fmt::format("writes register {}{}, which '.peer_writes' leaves to the peers; take another register.", kind, number));
    else if (const auto m = mail_.find({kind, number}); m != mail_.end())
        findings_->error(at, fmt::format("writes register {}{}, which peers write, too ({}); take another register.", kind, number, findings_->line_of(m->second.by)));
}

void ccu_unit_state::check_write(std::uint32_t at, std::uint16_t slice)
{
    if (program_->peer_slices.count(slice) != 0) {
        findings_->error(at, fmt::format("writes slice m{}{}, which '.peer_writes' leaves to the peers; take another slice.", slice, replica));
        return;
    }
    if (const auto m = mail_.find({'m', slice}); m != mail_.end()) {
        findings_->error(at, fmt::format("writes slice m{}{}, which peers write, too ({}); take another slice.", slice, replica, findings_->line_of(m->second.by)));
        return;
    }
    for (const auto& [number, t] : under_way_) {
        const bool reads = std::find(t.reads.begin(), t.reads.end(), slice) != t.reads.end();
        const bool writes = std::find(t.writes.begin(), t.writes.end(), slice) != t.writes.end();
        if (reads || writes) {
            findings_->error(at, fmt::format("writes slice m{}{}, which {} may still {}; wait for the bit that it sets first.", slice, replica,
                                            findings_->line_of(t.at), reads ? "read" : "write"));
            return;
        }
    }
    const auto reads = peer_reads_.find(slice);
    if (reads == peer_reads_.end())
        return;
    for (const peer_read& r : reads->second) {
        // This rank reads slices of the rank so much further; the one as far behind it reads its own.
        const auto n = static_cast<std::uint32_t>(known_.size());
        const bool sure = r.done && n != 0 && known_[(n - distance(r.channel)) % n] >= r.done_at;
        if (!sure) {
            findings_->error(at, fmt::format("writes slice m{}{}, which a peer may still read ({}); wait for a bit that the peer sends when it has read it.",
                                            slice, replica, findings_->line_of(r.by)));
            return;
        }
    }
    peer_reads_.erase(reads);
}

void ccu_unit_state::check_peer_read(std::uint32_t at, const ccu_access& a, std::uint32_t transfer_number)
{
    const std::uint16_t slice = *a.peer_slice_read;
    if (program_->kept_slices.count(slice) != 0)
        return;
    if (known_.empty()) {
        findings_->error(at, fmt::format("reads slice m{} of the peer, of which nothing is known; declare '.peer_keeps m{}', or '.ranks n' when the peers run "
                                        "this program.",
                                        slice, slice));
        return;
    }
    const auto w = written_at_.find(slice);
    if (w == written_at_.end() || !knows(*a.channel, w->second)) {
        findings_->error(at, fmt::format("reads slice m{} of the peer, which may not have written it yet; wait for a bit that the peer behind c{} sends when its "
                                        "slice is written.",
                                        slice, *a.channel));
        return;
    }
    peer_reads_[slice].push_back({*a.channel, at, transfer_number});
}

void ccu_unit_state::begin(std::uint32_t at, const ccu_access& a, std::uint32_t entry, std::uint16_t mask)
{
    for (const std::uint16_t m : a.slices_read)
        check_read(at, m);
    for (const std::uint16_t m : a.slices_written)
        check_write(at, m);
    for (const std::uint16_t m : a.slices_read)
        history_->use.slices.insert(m);
    for (const std::uint16_t m : a.slices_written) {
        history_->use.slices.insert(m);
        written_.insert(m);
        written_at_.erase(m);
    }
    const std::uint32_t number = next_transfer_++;
    if (a.peer_slice_read)
        check_peer_read(at, a, number);
    each_bit(entry, mask, [&](std::uint32_t key, unsigned b) {
        history_->set_here.emplace(key, at);
        history_->use.entries.insert(entry);
        if (program_->peer_sets_bit(static_cast<std::uint16_t>(entry), b)) {
            findings_->error(at, fmt::format("sets check bit {}, which '.peer_sets' leaves to the peers; take another bit.", text_of_ccu_bit(key)));
            return;
        }
        const auto found = bits_.find(key);
        if (found != bits_.end())
            findings_->error(at, fmt::format("sets check bit {}{}, which {} {}; a wait could not tell them apart. {}", text_of_ccu_bit(key), replica,
                                            findings_->line_of(found->second.by),
                                            found->second.state == bit_state::pending ? "sets when it is done" : "has set and nobody has cleared",
                                            found->second.state == bit_state::pending ? "Take another bit, or wait first." : "Wait for it with 'clear' first."));
        else
            bits_.emplace(key, bit{bit_state::pending, at, number});
    });
    if (mask == 0 && a.slices_read.empty() && a.slices_written.empty() && !a.peer_slice_read)
        return; // nothing of the unit hangs on it
    under_way_.emplace(number, transfer{at, a.slices_read, a.slices_written, entry, mask});
}

void ccu_unit_state::send_object(std::uint32_t at, std::uint16_t channel, object o)
{
    const auto found = mail_.find(o);
    if (found == mail_.end())
        return; // declared: the text answers for it
    mail& m = found->second;
    const char* const what = o.first == 'm' ? "slice" : "register";
    if (m.used && !knows(channel, m.used_at))
        findings_->error(at, fmt::format("writes {} {}{} of the peer again, which may still read it; {}.", what, o.first, o.second, not_known(channel)));
    for (const auto& [key, b] : bits_)
        if (b.state == bit_state::sent && b.brings == o) {
            findings_->error(at, fmt::format("writes {} {}{} of the peer, which {} writes, too, and no wait stands between them; wait first, or take another "
                                            "{}.",
                                            what, o.first, o.second, findings_->line_of(b.by), what));
            break;
        }
    m.here = false;
    m.used = false;
    m.by = at;
}

void ccu_unit_state::send(std::uint32_t at, const ccu_access& a, std::uint32_t entry, std::uint16_t mask)
{
    const std::uint16_t channel = a.channel.value_or(0);
    object brings{' ', 0};
    if (a.peer_address_written)
        brings = {'a', *a.peer_address_written};
    else if (a.peer_general_written)
        brings = {'x', *a.peer_general_written};
    else if (a.peer_slice_written)
        brings = {'m', *a.peer_slice_written};
    if (brings.first != ' ')
        send_object(at, channel, brings);
    std::shared_ptr<const std::vector<std::uint64_t>> known;
    each_bit(entry, mask, [&](std::uint32_t key, unsigned b) {
        history_->set_by_peer.emplace(key, at);
        history_->use.entries.insert(entry);
        if (program_->peer_sets_bit(static_cast<std::uint16_t>(entry), b))
            return;
        if (const auto found = bits_.find(key); found != bits_.end()) {
            if (found->second.state != bit_state::pending) // else told at the end: the bit is set here, too
                findings_->error(at, fmt::format("sets check bit {} of the peer, which {} has set and no wait with 'clear' has taken; the second one would be "
                                                "lost. Take another bit, or wait with 'clear' first.",
                                                text_of_ccu_bit(key), findings_->line_of(found->second.by)));
            return;
        }
        if (const auto cleared = cleared_at_.find(key); cleared != cleared_at_.end() && !knows(channel, cleared->second))
            findings_->error(at, fmt::format("sets check bit {} of the peer again, which may not have cleared it yet; then this one is lost. Reason: {}.",
                                            text_of_ccu_bit(key), not_known(channel)));
        if (known == nullptr)
            known = std::make_shared<const std::vector<std::uint64_t>>(known_);
        bits_.emplace(key, bit{bit_state::sent, at, 0, channel, position_, known, brings});
    });
}

bool ccu_unit_state::read_from_peer(std::uint32_t at, char kind, std::uint16_t number)
{
    const auto found = mail_.find({kind, number});
    if (found == mail_.end())
        return false;
    if (!found->second.here)
        findings_->error(at, fmt::format("reads register {}{}, which peers write ({}); wait for the bit that comes with it first.", kind, number,
                                        findings_->line_of(found->second.by)));
    found->second.used = true;
    found->second.used_at = position_;
    return true;
}

void ccu_unit_state::peer_slices_of_body(std::uint32_t at, const ccu_access& a)
{
    if (a.peer_slice_read && program_->kept_slices.count(*a.peer_slice_read) == 0)
        findings_->error(at, fmt::format("reads slice m{} of the peer in a loop body{}, of which nothing is known; declare '.peer_keeps m{}'.",
                                        *a.peer_slice_read, replica, *a.peer_slice_read));
    if (a.peer_slice_written && program_->peer_slices.count(*a.peer_slice_written) == 0)
        findings_->error(at, fmt::format("writes slice m{} of the peer in a loop body{}, once each iteration; declare '.peer_writes m{}' when the peer knows how to "
                                        "take that, or write memory.",
                                        *a.peer_slice_written, replica, *a.peer_slice_written));
}

ccu_unit_state ccu_unit_state::for_engine() const
{
    ccu_unit_state e = *this;
    e.bits_.clear();
    return e;
}

void ccu_unit_state::end_of_iteration(const ccu_unit_state& at_begin)
{
    for (const auto& [number, t] : under_way_)
        if (at_begin.under_way_.count(number) == 0)
            findings_->error(t.at, fmt::format("may still go on when the iteration ends{}; wait for the bit that it sets inside the loop body.", replica));
    for (const auto& [key, b] : bits_)
        if (b.state == bit_state::set)
            findings_->error(b.by, fmt::format("leaves check bit {} set when the iteration ends{}, so the next one could not wait for it; clear it inside the loop "
                                              "body.",
                                              text_of_ccu_bit(key), replica));
}

void ccu_unit_state::end_of_program()
{
    for (const auto& [key, b] : bits_)
        if (b.state != bit_state::sent)
            findings_->warning(b.by, fmt::format("leaves check bit {} set when the program ends; a next run finds it so.", text_of_ccu_bit(key)));
        else
            findings_->warning(b.by, fmt::format("sets check bit {} of the peer, where the program ends before it waits for it; a next run finds it so.",
                                                text_of_ccu_bit(key)));
}

std::string ccu_unit_state::signature() const
{
    std::string text;
    for (const auto& [key, b] : bits_)
        text += fmt::format("{}{}{} ", key, "spt"[static_cast<unsigned>(b.state)], b.by);
    for (const auto& [number, t] : under_way_)
        text += fmt::format("|{} {} {}", t.at, t.entry, t.mask);
    for (const std::uint32_t m : written_)
        text += fmt::format("m{}", m);
    for (const auto& [o, m] : mail_)
        text += fmt::format("{}{}{}{}", o.first, o.second, m.here ? '+' : '-', m.used ? 'u' : ' ');
    for (const auto& [slice, reads] : peer_reads_)
        text += fmt::format("r{}x{}", slice, reads.size());
    return text;
}

} // namespace weft
