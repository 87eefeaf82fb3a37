// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/rsp_packet.h"

namespace weft {

namespace {

constexpr char k_escape = '}';
constexpr char k_escape_bit = 0x20;
constexpr char k_run = '*';
constexpr char k_interrupt = 0x03;
constexpr int k_run_offset = 29; ///< a run of n more is the character n + 29
constexpr std::size_t k_shortest_run = 3;
constexpr std::size_t k_longest_run = 126 - k_run_offset;
constexpr char k_digits[] = "0123456789abcdef";

int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Repeats that a run may tell: its count must not look like the end or the beginning of a packet.
std::size_t sendable_run(std::size_t repeats)
{
    if (repeats > k_longest_run)
        repeats = k_longest_run;
    while (repeats + k_run_offset == '#' || repeats + k_run_offset == '$')
        --repeats;
    return repeats;
}

std::string with_runs(const std::string& text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        while (end < text.size() && text[end] == text[i])
            ++end;
        std::size_t repeats = end - i - 1;
        out += text[i];
        while (repeats >= k_shortest_run) {
            const std::size_t now = sendable_run(repeats);
            out += k_run;
            out += static_cast<char>(now + k_run_offset);
            repeats -= now;
            if (repeats != 0) { // a run needs a character before it
                out += text[i];
                --repeats;
            }
        }
        out.append(repeats, text[i]);
        i = end;
    }
    return out;
}

} // namespace

std::string encode_rsp_packet(const std::string& payload, bool run_length)
{
    std::string body;
    for (const char c : payload) {
        if (c == '$' || c == '#' || c == k_escape || c == k_run) {
            body += k_escape;
            body += static_cast<char>(c ^ k_escape_bit);
        } else {
            body += c;
        }
    }
    if (run_length)
        body = with_runs(body);
    unsigned sum = 0;
    for (const char c : body)
        sum += static_cast<unsigned char>(c);
    return '$' + body + '#' + k_digits[(sum >> 4) & 15] + k_digits[sum & 15];
}

std::optional<rsp_event> rsp_reader::next()
{
    while (at_ < pending_.size()) {
        const char c = pending_[at_++];
        if (at_ == pending_.size()) {
            pending_.clear();
            at_ = 0;
        }
        if (c == '$') { // also where one breaks off
            state_ = state::payload;
            raw_.clear();
            continue;
        }
        switch (state_) {
        case state::outside:
            if (c == '+')
                return rsp_event{rsp_event::kind::ack, ""};
            if (c == '-')
                return rsp_event{rsp_event::kind::nak, ""};
            if (c == k_interrupt)
                return rsp_event{rsp_event::kind::interrupt, ""};
            break;
        case state::payload:
            if (c == '#')
                state_ = state::first_digit;
            else if (raw_.size() < 2 * k_rsp_packet_bytes) // every character may be escaped
                raw_ += c;
            else
                state_ = state::outside;
            break;
        case state::first_digit:
            first_digit_ = c;
            state_ = state::second_digit;
            break;
        case state::second_digit: state_ = state::outside; return finish(c);
        }
    }
    return std::nullopt;
}

rsp_event rsp_reader::finish(char second_digit)
{
    unsigned sum = 0;
    for (const char c : raw_)
        sum += static_cast<unsigned char>(c);
    const int high = digit_of(first_digit_);
    const int low = digit_of(second_digit);
    if (high < 0 || low < 0 || (sum & 0xff) != static_cast<unsigned>(high * 16 + low))
        return {};
    std::string plain;
    for (std::size_t i = 0; i < raw_.size(); ++i) {
        if (expands_runs_ && raw_[i] == k_run) {
            const int repeats = i + 1 < raw_.size() ? static_cast<unsigned char>(raw_[i + 1]) - k_run_offset : 0;
            if (repeats <= 0 || plain.empty())
                return {};
            plain.append(static_cast<std::size_t>(repeats), plain.back());
            ++i;
        } else {
            plain += raw_[i];
        }
    }
    rsp_event event{rsp_event::kind::packet, ""};
    for (std::size_t i = 0; i < plain.size(); ++i) {
        if (plain[i] != k_escape)
            event.payload += plain[i];
        else if (++i < plain.size())
            event.payload += static_cast<char>(plain[i] ^ k_escape_bit);
        else
            return {};
    }
    return event;
}

std::string to_hex(const std::string& bytes)
{
    std::string digits;
    for (const char c : bytes) {
        digits += k_digits[static_cast<unsigned char>(c) >> 4];
        digits += k_digits[static_cast<unsigned char>(c) & 15];
    }
    return digits;
}

std::optional<std::string> from_hex(const std::string& digits)
{
    if (digits.size() % 2 != 0)
        return std::nullopt;
    std::string bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        const int high = digit_of(digits[i]);
        const int low = digit_of(digits[i + 1]);
        if (high < 0 || low < 0)
            return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

} // namespace weft
