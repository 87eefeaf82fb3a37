// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes, results and slots in words, and when two results are the same.
#include "hw/tofino/aggregation_model.h"

#include <cstdio>

namespace weft {

namespace {

std::string hex(std::uint32_t value)
{
    char text[12];
    std::snprintf(text, sizeof text, "%08x", value);
    return text;
}

std::string name_of(pass_type type)
{
    const auto number = static_cast<unsigned>(type);
    return is_consume(type) ? "consume" + std::to_string(number - static_cast<unsigned>(pass_type::consume0))
                            : "harvest" + std::to_string(number - static_cast<unsigned>(pass_type::harvest0));
}

const char* name_of(next_step step)
{
    switch (step) {
    case next_step::drop: return "drop";
    case next_step::finish_consume: return "finish_consume";
    case next_step::recirculate: return "recirculate";
    case next_step::broadcast: return "broadcast";
    case next_step::retransmit: return "retransmit";
    }
    return "unknown";
}

const char* name_of(packet_size size)
{
    switch (size) {
    case packet_size::words32: return "32 words";
    case packet_size::words64: return "64 words";
    case packet_size::words128: return "128 words";
    case packet_size::words256: return "256 words";
    }
    return "unknown size";
}

using words = std::array<std::uint32_t, k_aggregation_alus>;

std::string all_words(const words& of)
{
    std::string text;
    for (std::size_t k = 0; k < of.size(); ++k)
        text += (k == 0 ? "" : k % 8 == 0 ? "\n    " : " ") + hex(of[k]);
    return text;
}

std::string first_words(const words& of) { return hex(of[0]) + ' ' + hex(of[1]) + ' ' + hex(of[2]) + ' ' + hex(of[3]); }

std::string difference(const words& model, const words& twin)
{
    std::string text;
    unsigned more = 0;
    for (std::size_t k = 0; k < model.size(); ++k)
        if (model[k] != twin[k]) {
            if (text.empty())
                text = "word " + std::to_string(k) + ": " + hex(model[k]) + " and " + hex(twin[k]);
            else
                ++more;
        }
    return text + (more == 0 ? "" : ", and " + std::to_string(more) + (more == 1 ? " more word" : " more words"));
}

/// Adds what differs to a list.
template <class Value> void note(std::string& all, const char* what, const Value& model, const Value& twin)
{
    if (model != twin)
        all += (all.empty() ? "" : "; ") + std::string(what) + ": " + std::to_string(model) + " and " + std::to_string(twin);
}

void note_words(std::string& all, const std::string& what, const words& model, const words& twin)
{
    if (const std::string text = difference(model, twin); !text.empty())
        all += (all.empty() ? "" : "; ") + what + text;
}

std::string exponents(std::int8_t e0, std::int8_t e1) { return std::to_string(e0) + ' ' + std::to_string(e1); }

} // namespace

std::string to_string(const aggregation_pass& pass)
{
    std::string text = "type: " + name_of(pass.type) + "\nsize: " + name_of(pass.size) +
                       "\npool index: " + std::to_string(pass.pool_index) + " (slot " +
                       std::to_string(pass.pool_index >> 1) + ", version " + std::to_string(pass.pool_index & 1) +
                       ")\nworker: " + std::to_string(pass.worker) + " of " + std::to_string(pass.workers);
    if (is_consume(pass.type))
        text += "\nexponents: " + exponents(pass.exponent0, pass.exponent1) +
                (pass.last_of_message ? "" : " (not the last packet of its message)") + "\nd0: " + all_words(pass.d0) +
                "\nd1: " + all_words(pass.d1);
    else
        text += "\nmap result: " + hex(pass.map_result) + "\ncount: " + std::to_string(pass.count) +
                (pass.last_of_message ? "" : "\n(not the last packet of its message)");
    return text;
}

std::string to_string(const aggregation_result& result)
{
    std::string text = "bitmap before: " + hex(result.bitmap_before) + "\nmap result: " + hex(result.map_result) +
                       "\ncount: " + std::to_string(result.count) + "\nnext step: " + name_of(result.step);
    if (result.step == next_step::recirculate)
        text += " as " + name_of(result.next_type);
    if (result.reads_exponent0 || result.reads_exponent1)
        text +=
            std::string("\nexponent ") + (result.reads_exponent0 ? "0" : "1") + ": " + std::to_string(result.exponent);
    return text + "\nwords into " + (result.writes_d0 ? "d0: " : "d1: ") + all_words(result.words);
}

std::string to_string(std::uint16_t slot, const aggregation_slot_state& state)
{
    std::string text = "slot " + std::to_string(slot);
    for (std::size_t version = 0; version < 2; ++version) {
        const auto& of = state.versions[version];
        text += "\n  version " + std::to_string(version) + ": bitmap " + hex(of.bitmap) + ", count " +
                std::to_string(of.count) + ", exponents " + exponents(of.exponent0, of.exponent1) + ", first half " +
                first_words(of.first) + " ..., second half " + first_words(of.second) + " ...";
    }
    return text;
}

std::string difference_of(const aggregation_result& model, const aggregation_result& twin)
{
    std::string all;
    note(all, "bitmap before", model.bitmap_before, twin.bitmap_before);
    note(all, "count", model.count, twin.count);
    if (model.step != twin.step)
        all += (all.empty() ? "" : "; ") + std::string("next step: ") + name_of(model.step) + " and " + name_of(twin.step);
    if (model.reads_exponent0 || model.reads_exponent1)
        note(all, "exponent", model.exponent, twin.exponent);
    note_words(all, "", model.words, twin.words);
    return all.empty() && model != twin ? "what it writes, and where to" : all;
}

std::string difference_of(const aggregation_slot_state& model, const aggregation_slot_state& twin)
{
    std::string all;
    for (std::size_t version = 0; version < 2; ++version) {
        const auto &a = model.versions[version], &b = twin.versions[version];
        std::string of;
        note(of, "bitmap", a.bitmap, b.bitmap);
        note(of, "count", a.count, b.count);
        note(of, "exponent 0", a.exponent0, b.exponent0);
        note(of, "exponent 1", a.exponent1, b.exponent1);
        note_words(of, "first half, ", a.first, b.first);
        note_words(of, "second half, ", a.second, b.second);
        if (!of.empty())
            all += (all.empty() ? "" : "; ") + std::string("version ") + std::to_string(version) + ": " + of;
    }
    return all;
}

bool operator==(const aggregation_result& a, const aggregation_result& b)
{
    return a.bitmap_before == b.bitmap_before && a.map_result == b.map_result && a.count == b.count &&
           a.step == b.step && (a.step != next_step::recirculate || a.next_type == b.next_type) &&
           a.writes_d0 == b.writes_d0 && a.reads_exponent0 == b.reads_exponent0 &&
           a.reads_exponent1 == b.reads_exponent1 &&
           (!(a.reads_exponent0 || a.reads_exponent1) || a.exponent == b.exponent) && a.words == b.words;
}

bool operator==(const aggregation_slot_state& a, const aggregation_slot_state& b)
{
    for (std::size_t version = 0; version < 2; ++version) {
        const auto& x = a.versions[version];
        const auto& y = b.versions[version];
        if (x.bitmap != y.bitmap || x.count != y.count || x.exponent0 != y.exponent0 || x.exponent1 != y.exponent1 ||
            x.first != y.first || x.second != y.second)
            return false;
    }
    return true;
}

} // namespace weft
