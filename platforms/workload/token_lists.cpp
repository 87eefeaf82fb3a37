// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/token_lists.h"

#include "platforms/workload/digest.h"

#include <algorithm>
#include <cmath>

namespace weft {

namespace {

std::uint32_t tokens_of(const collective_case& c) { return static_cast<std::uint32_t>(c.size_bytes / c.token_bytes); }

std::uint32_t leader_of(std::uint64_t members) { return static_cast<std::uint32_t>(__builtin_ctzll(members)); }

/// Order of sets of the same leader in a block: a Gray code backwards, so that the leader alone comes last.
std::uint64_t order_of(std::uint64_t members)
{
    std::uint64_t reversed = __builtin_bswap64(members & (members - 1));
    reversed = (reversed & 0x0f0f0f0f0f0f0f0full) << 4 | (reversed >> 4 & 0x0f0f0f0f0f0f0f0full);
    reversed = (reversed & 0x3333333333333333ull) << 2 | (reversed >> 2 & 0x3333333333333333ull);
    reversed = (reversed & 0x5555555555555555ull) << 1 | (reversed >> 1 & 0x5555555555555555ull);
    for (unsigned half = 1; half < 64; half *= 2) // number of a word of the code
        reversed ^= reversed >> half;
    return ~reversed;
}

/// Random words of one token.
class draw {
public:
    draw(std::uint64_t seed, std::uint32_t source, std::uint32_t token) : key_(mix64(mix64(seed ^ source) + token)) {}
    std::uint64_t next() { return mix64(key_ += 0x9e3779b97f4a7c15ull); }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }

private:
    std::uint64_t key_;
};

/// Different ranks that the token goes to.
void draw_receivers(const collective_case& c, std::uint32_t ranks, std::uint32_t experts, draw random, std::vector<std::uint32_t>& out)
{
    std::vector<bool> taken(ranks);
    const std::uint32_t quarter = (ranks + 3) / 4;
    const double all = 18446744073709551616.0; // 2^64
    out.clear();
    std::uint32_t in_quarter = 0;
    while (out.size() < experts) {
        const bool hot = static_cast<double>(random.next()) < c.expert_skew * all && in_quarter < quarter;
        const std::uint32_t rank = random.below(hot ? quarter : ranks);
        if (taken[rank])
            continue;
        taken[rank] = true;
        in_quarter += rank < quarter ? 1 : 0;
        out.push_back(rank);
    }
}

} // namespace

std::uint32_t experts_of(const collective_case& c, std::uint32_t ranks) { return std::min(c.experts_per_token, ranks); }

std::uint32_t most_runs_of(const collective_case& c, std::uint32_t line)
{
    // Sets with a given member, but for that of it alone.
    const std::uint64_t sets = (std::uint64_t{1} << std::min(line - 1, 32u)) - 1;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(tokens_of(c), sets));
}

std::uint64_t own_token_bytes(const collective_case& c) { return c.size_bytes * std::max(1u, c.experts_per_token); }

std::uint64_t received_token_bytes(const collective_case& c)
{
    // A rank of the first quarter gets most: 4 skew + 1 - skew times the average.
    const double mean = static_cast<double>(tokens_of(c)) * c.experts_per_token * (1 + 3 * c.expert_skew);
    return static_cast<std::uint64_t>(std::ceil(mean + 8 * std::sqrt(mean) + 64)) * c.token_bytes;
}

token_lists::token_lists(const collective_case& c, std::uint64_t seed, std::uint32_t group, std::uint32_t ranks, std::uint32_t line)
    : token_lists(c, seed, group, ranks, line, ranks)
{
}

token_lists::token_lists(const collective_case& c, std::uint64_t seed, std::uint32_t group, std::uint32_t ranks, std::uint32_t line,
                         std::uint32_t sources)
    : ranks_(ranks), line_(line), tokens_(tokens_of(c)), own_(sources), counts_(std::size_t{sources} * ranks), at_(counts_.size())
{
    const std::uint32_t experts = experts_of(c, ranks);
    const std::uint64_t key = mix64(seed + 0x746f6b656eull) ^ mix64(group + 1ull);
    std::vector<std::uint32_t> receivers, one;
    for (std::uint32_t source = 0; source < sources; ++source) {
        receivers.clear();
        for (std::uint32_t token = 0; token < tokens_; ++token) {
            draw_receivers(c, ranks, experts, draw(key, source, token), one);
            receivers.insert(receivers.end(), one.begin(), one.end());
        }
        place_tokens(source, receivers, experts);
    }
    for (std::uint32_t receiver = 0; receiver < ranks; ++receiver) {
        std::uint32_t at = 0;
        for (std::uint32_t source = 0; source < sources; ++source) {
            at_[std::size_t{source} * ranks_ + receiver] = at;
            at += count(source, receiver);
        }
    }
}

void token_lists::place_tokens(std::uint32_t source, const std::vector<std::uint32_t>& receivers, std::uint32_t experts)
{
    std::vector<placed_token>& own = own_[source];
    std::vector<std::uint64_t> sets(ranks_ / line_);
    std::vector<std::uint32_t> lines;
    for (std::uint32_t token = 0; token < tokens_; ++token) {
        lines.clear();
        for (std::uint32_t e = 0; e < experts; ++e) {
            const std::uint32_t to = receivers[std::size_t{token} * experts + e];
            ++count(source, to);
            if (sets[to / line_] == 0)
                lines.push_back(to / line_);
            sets[to / line_] |= std::uint64_t{1} << (to % line_ + line_ - source % line_) % line_;
        }
        for (const std::uint32_t line : lines) {
            own.push_back({token, line, sets[line]});
            sets[line] = 0;
        }
    }
    std::stable_sort(own.begin(), own.end(), [](const placed_token& a, const placed_token& b) {
        if (a.line != b.line || a.members == b.members)
            return a.line < b.line;
        const std::uint32_t leads = leader_of(a.members), other = leader_of(b.members);
        return leads != other ? leads < other : order_of(a.members) < order_of(b.members);
    });
}

std::uint32_t token_lists::received_count(std::uint32_t receiver) const
{
    const std::size_t last = std::size_t{ranks_ - 1} * ranks_ + receiver;
    return at_[last] + counts_[last];
}

std::vector<token_lists::received_token> token_lists::received(std::uint32_t receiver) const
{
    std::vector<received_token> all;
    for (std::uint32_t source = 0; source < ranks_; ++source) {
        const auto before = [](const placed_token& t, std::uint32_t line) { return t.line < line; };
        auto at = std::lower_bound(own_[source].begin(), own_[source].end(), receiver / line_, before);
        for (; at != own_[source].end() && at->line == receiver / line_; ++at)
            if ((at->members >> (receiver % line_ + line_ - source % line_) % line_ & 1) != 0)
                all.push_back({source, at->token});
    }
    return all;
}

std::vector<std::uint32_t> token_lists::members_of(std::uint32_t source, const placed_token& t) const
{
    std::vector<std::uint32_t> all;
    for (std::uint32_t bit = 0; bit < line_; ++bit)
        if ((t.members >> bit & 1) != 0)
            all.push_back(t.line * line_ + (source % line_ + bit) % line_);
    return all;
}

std::vector<token_list_contents> token_lists::lists_of(std::uint32_t source) const
{
    std::vector<token_list_contents> lists(ranks_);
    const std::vector<placed_token>& own = own_[source];
    // Where the last piece for a receiver ends, and who leads it.
    struct piece {
        std::uint32_t end = 0, leader = ~0u;
    };
    std::vector<piece> last(ranks_);
    std::vector<std::vector<abi::token_run>> led(ranks_);
    for (std::uint32_t receiver = 0; receiver < ranks_; ++receiver) {
        lists[receiver].head.at = at_[std::size_t{source} * ranks_ + receiver];
        lists[receiver].before.assign(line_, 0);
    }
    for (std::uint32_t first = 0, end = 0; first < own.size(); first = end) {
        const placed_token& t = own[first];
        for (end = first; end < own.size() && own[end].line == t.line && own[end].members == t.members;)
            ++end;
        const abi::token_run run{t.members, first, end - first};
        const std::vector<std::uint32_t> members = members_of(source, t);
        token_list_contents& leader = lists[members.front()];
        const std::uint32_t bit = leader_of(t.members);
        if (leader.head.led() == 0) { // all that others lead before is counted
            leader.head.first = first;
            for (std::uint32_t m = bit + 1; m < line_; ++m)
                leader.before[m] = lists[t.line * line_ + (source % line_ + m) % line_].head.tokens;
        }
        (members.size() == 1 ? leader.head.sole : leader.head.shared) += run.count;
        for (const std::uint32_t member : members) {
            token_list_contents& list = lists[member];
            list.head.tokens += run.count;
            if (member == members.front())
                continue;
            list.runs.push_back(run);
            const bool goes_on = last[member].leader == bit && last[member].end == first;
            list.head.spans += goes_on ? 0 : 1;
            leader.head.forwards += goes_on ? 0 : 1;
            last[member] = {end, bit};
        }
        if (members.size() != 1)
            led[members.front()].push_back(run);
    }
    for (std::uint32_t receiver = 0; receiver < ranks_; ++receiver) {
        token_list_contents& list = lists[receiver];
        list.head.runs_of_others = static_cast<std::uint32_t>(list.runs.size());
        list.head.led_runs = static_cast<std::uint32_t>(led[receiver].size());
        list.runs.insert(list.runs.end(), led[receiver].begin(), led[receiver].end());
    }
    return lists;
}

token_messages messages_of_tokens(const collective_case& c, std::uint32_t ranks, std::uint32_t line)
{
    token_messages sum;
    collective_case sample = c;
    constexpr std::uint32_t k_most = 4096; // tokens; more of them make longer runs, and few more
    sample.size_bytes = std::min<std::uint64_t>(tokens_of(c), k_most) * c.token_bytes;
    const token_lists lists(sample, 1, 0, ranks, line, 1);
    for (const token_list_contents& list : lists.lists_of(0)) {
        sum.leads += list.head.led() != 0 ? 1 : 0;
        sum.spans += list.head.spans;
        sum.runs += static_cast<double>(list.runs.size());
    }
    double shared = 0;
    for (const token_lists::placed_token& t : lists.own(0))
        shared += (t.members & (t.members - 1)) != 0 ? 1 : 0;
    sum.shared = shared / static_cast<double>(std::max<std::size_t>(1, lists.own(0).size()));
    sum.lines = static_cast<double>(lists.own(0).size()) / std::max(1u, lists.tokens());
    return sum;
}

} // namespace weft
