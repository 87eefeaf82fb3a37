// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/case_memory.h"

#include "firmware/collectives/device_collectives.h"
#include "platforms/workload/digest.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint64_t k_output_alignment = 1 << 20;
/// What a buffer holds before its bytes have arrived.
constexpr int k_poison = 0xee;
constexpr std::uint64_t k_guard_bytes = 1024; ///< behind a buffer
// Of a result whose answer is kept: all of a short one, else a part of every smallest packet.
constexpr std::uint64_t k_kept_whole = 64 << 10;
constexpr std::uint64_t k_kept_every = 256, k_kept_bytes = 8;
/// Each rank has its own bytes there: a message that is too long brings those of its source.
std::vector<std::uint8_t> guard_of(std::uint32_t rank, std::uint64_t bytes)
{
    std::vector<std::uint8_t> all(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i)
        all[i] = static_cast<std::uint8_t>(mix64(std::uint64_t{rank} << 32 | i));
    return all;
}

std::uint64_t aligned(std::uint64_t offset) { return (offset + k_output_alignment - 1) / k_output_alignment * k_output_alignment; }
/// Of lines as long as may be.
std::uint64_t end_of_token_lists(std::uint64_t output_offset, const collective_case& c, std::uint32_t ranks)
{
    const std::uint32_t line = std::min(ranks, abi::k_most_line);
    return abi::token_places(token_lists_offset_for(output_offset, c), ranks, line, most_runs_of(c, line)).end();
}
} // namespace

std::uint64_t output_offset_for(const run_config& config)
{
    std::vector<std::uint64_t> sizes;
    for (const collective_spec& spec : config.workload) {
        for (const std::uint64_t bytes : spec.all_sizes())
            sizes.push_back(bytes);
        if (abi::moves_tokens(spec.op) && is_sound(spec))
            for (const collective_case& c : spec.cases())
                sizes.push_back(input_bytes_of(c));
    }
    if (config.training_step && is_sound(*config.training_step))
        sizes.push_back(config.training_step->buffer_bytes());
    return output_offset_for(sizes);
}

std::uint64_t output_offset_for(const std::vector<std::uint64_t>& input_bytes)
{
    return aligned(input_bytes.empty() ? 0 : *std::max_element(input_bytes.begin(), input_bytes.end()));
}

std::uint64_t input_bytes_of(const collective_case& c)
{
    if (!abi::moves_tokens(c.op))
        return c.size_bytes;
    return c.op == abi::collective_op::dispatch ? own_token_bytes(c) : received_token_bytes(c);
}

std::uint64_t token_lists_offset_for(std::uint64_t output_offset, const collective_case& c)
{
    return aligned(output_offset + (c.op == abi::collective_op::dispatch ? received_token_bytes(c) : own_token_bytes(c)));
}

std::uint64_t scratch_offset_for(std::uint64_t output_offset, std::uint32_t ranks, abi::algorithm algo)
{
    if (firmware::scratch_outputs(algo) == 0) // the others have no output beside their buffer
        return output_offset;
    // Blocks of the first ranks are an element longer.
    return output_offset + aligned(output_offset + std::uint64_t{ranks} * sizeof(std::uint64_t));
}

namespace {
/// Of algorithms of devices; those of all_to_all count blocks as it does.
std::uint64_t scratch_bytes_for(const collective_case& c, std::uint32_t ranks)
{
    // No ranks: of a file that is refused.
    return ranks == 0 ? 0 : firmware::scratch_elements(c.op, c.algo, c.count, ranks) * abi::element_bytes(c.type);
}
} // namespace

std::uint64_t hbm_bytes_for(std::uint64_t output_offset, const collective_case& c, std::uint32_t ranks)
{
    if (abi::moves_tokens(c.op))
        return end_of_token_lists(output_offset, c, ranks);
    if (const std::uint64_t scratch = scratch_bytes_for(c, ranks); scratch != 0)
        return scratch_offset_for(output_offset, ranks, c.algo) + scratch;
    if (c.op != abi::collective_op::all_to_all)
        return c.size_bytes;
    const std::uint64_t output = result_range(c, 0, ranks).count * abi::element_bytes(c.type);
    if (const std::uint32_t outputs = firmware::scratch_outputs(c.algo); outputs != 0)
        return scratch_offset_for(output_offset, ranks, c.algo) + outputs * output;
    return output_offset + output;
}

std::uint64_t host_list_bytes_for(const run_config& config, std::uint32_t ranks, std::uint32_t line)
{
    constexpr std::uint64_t k_of_token = 2 * sizeof(token_lists::placed_token); // to fill memories, and to check them
    std::uint64_t most = 0;
    for (const collective_spec& spec : config.workload)
        for (const collective_case& c : abi::moves_tokens(spec.op) ? spec.cases() : std::vector<collective_case>())
            most = std::max(most, abi::token_places(0, ranks, line, most_runs_of(c, line)).end() +
                                      c.size_bytes / c.token_bytes * std::min(experts_of(c, ranks), ranks / line) * k_of_token);
    return most * ranks;
}

std::uint64_t host_data_bytes_for(const run_config& config, std::uint32_t ranks)
{
    if (config.data == data_mode::off)
        return 0;
    std::uint64_t resident = 0; // what was once touched stays
    std::uint64_t outputs = 0;
    for (const collective_spec& spec : config.workload)
        for (const collective_case& c : spec.cases()) {
            const bool has_output = c.op == abi::collective_op::all_to_all;
            std::uint64_t output = has_output ? result_range(c, 0, ranks).count * abi::element_bytes(c.type) *
                                                    (1 + firmware::scratch_outputs(c.algo))
                                              : 0;
            output += scratch_bytes_for(c, ranks);
            if (abi::moves_tokens(c.op)) // what is touched, on average
                output = c.size_bytes * (2 * experts_of(c, ranks) - 1);
            resident = std::max(resident, c.size_bytes + output);
            outputs = std::max(outputs, output);
        }
    if (config.training_step)
        resident = std::max(resident, config.training_step->buffer_bytes() + outputs);
    const std::uint64_t page = sparse_store::k_page_bytes;
    return ranks * ((resident + page - 1) / page * page);
}

/// Calls fill(offset in the region, span, its bytes) for each contiguous span of the region.
template <class Fill>
void case_memory::each_span(chip_memory& memory, std::uint64_t offset, std::uint64_t bytes, Fill&& fill)
{
    for (std::uint64_t done = 0; done < bytes && !stop_requested();) {
        std::uint64_t got = 0;
        std::uint8_t* to = memory.span_for_write(offset + done, bytes - done, got);
        if (to == nullptr || got == 0)
            throw bug("host", kernel_now_ps(),
                      fmt::format(
                          "the host writes {} B at {:#x} of {}, which ends before: a platform has let a workload pass "
                          "that does not fit",
                          bytes, offset, memory.name()));
        fill(done, to, got);
        done += got;
    }
}

void case_memory::set(chip_memory& memory, std::uint64_t offset, std::uint64_t bytes, int value)
{
    each_span(memory, offset, bytes,
              [value](std::uint64_t, std::uint8_t* to, std::uint64_t n) { std::memset(to, value, n); });
}

/// Up to `next`, where the next use of the memory begins.
void case_memory::set_guard(chip& of, std::uint64_t end, std::uint64_t next, const char* behind)
{
    next = std::min(next, of.memory.capacity_bytes());
    const std::uint64_t bytes = std::min(k_guard_bytes, next > end ? next - end : 0);
    if (bytes == 0)
        return;
    guards_.push_back({of.rank(), end, bytes, behind});
    write(of.memory, end, guard_of(of.rank(), bytes).data(), bytes);
}

void case_memory::begin_fill()
{
    guards_.clear();
    results_.assign(machine_.chips().size(), {});
}

std::uint64_t case_memory::digest_of(std::uint32_t rank) const
{
    const result_place& r = results_[rank];
    const chip_memory& memory = machine_.chips()[rank]->memory;
    digest64 d;
    std::vector<std::uint8_t> bytes(r.bytes <= k_kept_whole ? r.bytes : k_kept_bytes);
    const std::uint64_t step = r.bytes <= k_kept_whole ? std::max<std::uint64_t>(1, r.bytes) : k_kept_every;
    for (std::uint64_t at = 0; at < r.bytes; at += step) {
        const std::uint64_t n = std::min<std::uint64_t>(bytes.size(), r.bytes - at);
        memory.read_bytes(r.offset + at, bytes.data(), n);
        d.update(bytes.data(), n);
    }
    return d.value();
}

void case_memory::keep_answer(std::uint32_t rank, std::uint64_t at_ps)
{
    if (rank >= results_.size() || results_[rank].bytes == 0)
        return;
    results_[rank].digest = digest_of(rank);
    results_[rank].answer_ps = at_ps;
}

std::vector<case_memory::early_answer> case_memory::early_answers() const
{
    std::vector<early_answer> early;
    for (std::uint32_t rank = 0; rank < results_.size(); ++rank)
        if (results_[rank].answer_ps != k_never_ps && digest_of(rank) != results_[rank].digest)
            early.push_back({rank, results_[rank].answer_ps});
    return early;
}

std::string case_memory::broken_guard() const
{
    for (const guard& g : guards_) {
        std::vector<std::uint8_t> bytes(g.bytes);
        machine_.chips()[g.rank]->memory.read_bytes(g.offset, bytes.data(), g.bytes);
        const std::vector<std::uint8_t> right = guard_of(g.rank, g.bytes);
        const auto at = std::mismatch(bytes.begin(), bytes.end(), right.begin()).first;
        if (at != bytes.end())
            return fmt::format("rank {} was written to {} B behind {}, which ends at {:#x} of {}", g.rank, at - bytes.begin(), g.behind, g.offset,
                               machine_.chips()[g.rank]->memory.name());
    }
    return "";
}

void case_memory::fill(const placed_case& placed, const rank_groups& groups)
{
    const collective_case& c = placed.what;
    const std::uint64_t buffer = placed.buffer_offset, element = abi::element_bytes(c.type);
    begin_fill();
    for (chip* target : machine_.chips()) {
        if (target->rank() >= machine_.data_ranks()) { // helps, and brings no data
            set(target->memory, buffer, c.count * element, 0);
            continue;
        }
        if (!groups.takes_part(target->rank()))
            continue;
        const std::uint32_t place = groups.place_of(target->rank());
        const std::uint32_t size = groups.group_size_of(target->rank());
        const abi::element_range in = input_range(c, place, size);
        set(target->memory, buffer, in.first * element, k_poison);
        each_span(target->memory, buffer + in.first * element, in.count * element,
                  [&](std::uint64_t done, std::uint8_t* to, std::uint64_t n) {
                      generate(c, placed.input_seed, target->rank(), groups, in.first + done / element, to,
                               n / element);
                  });
        const std::uint64_t end = in.first + in.count;
        set(target->memory, buffer + end * element, (c.count - end) * element, k_poison);
        const abi::element_range out = result_range(c, place, size);
        results_[target->rank()] = {(c.op == abi::collective_op::all_to_all ? output_offset_ : buffer) + out.first * element, out.count * element};
        if (buffer == 0) // else other buffers of a training step may follow
            set_guard(*target, c.count * element, output_offset_, "its buffer");
        if (c.op == abi::collective_op::all_to_all) {
            const std::uint64_t output = result_range(c, place, size).count * element;
            set(target->memory, output_offset_, output, k_poison);
            set_guard(*target, output_offset_ + output, scratch_offset_for(output_offset_, machine_.data_ranks(), c.algo), "its output");
        }
    }
}

void case_memory::write(chip_memory& memory, std::uint64_t offset, const void* from, std::uint64_t bytes)
{
    each_span(memory, offset, bytes, [from](std::uint64_t done, std::uint8_t* to, std::uint64_t n) {
        std::memcpy(to, static_cast<const std::uint8_t*>(from) + done, n);
    });
}

void case_memory::fill_tokens(const placed_case& placed, const rank_groups& groups, bool with_data)
{
    const collective_case& c = placed.what;
    begin_fill();
    const std::vector<token_lists> all = lists_of_groups(c, placed.input_seed, groups);
    const std::uint64_t element = abi::element_bytes(c.type);
    for (std::uint32_t group = 0; group < groups.groups() && !stop_requested(); ++group) {
        const token_lists& lists = all[group];
        const std::vector<std::uint32_t>& members = groups.members(group);
        const bool sends_own = c.op == abi::collective_op::dispatch;
        write_lists(c, lists, members, !with_data);
        for (std::uint32_t place = 0; place < members.size() && with_data && !stop_requested(); ++place) {
            const std::vector<std::uint64_t> numbers = token_numbers(c, lists, place);
            chip_memory& memory = machine_.chips()[members[place]]->memory;
            each_span(memory, placed.buffer_offset, numbers.size() * c.token_bytes, [&](std::uint64_t done, std::uint8_t* to, std::uint64_t n) {
                generate_tokens(c, placed.input_seed, members[place], groups, numbers, done / element, to, n / element);
            });
            const std::uint64_t results = sends_own ? lists.received_count(place) : lists.own(place).size();
            set(memory, output_offset_, results * c.token_bytes, k_poison);
            results_[members[place]] = {output_offset_, results * c.token_bytes};
            set_guard(*machine_.chips()[members[place]], output_offset_ + results * c.token_bytes, token_lists_offset_for(output_offset_, c), "its output");
        }
    }
}

/// combine has what the dispatch before has told. `as_sent`: there is all that ranks will tell each other, too.
void case_memory::write_lists(const collective_case& c, const token_lists& lists, const std::vector<std::uint32_t>& members, bool as_sent)
{
    const bool told = as_sent || c.op == abi::collective_op::combine;
    const std::uint32_t ranks = lists.ranks(), line = lists.line();
    abi::token_table table;
    table.ranks = ranks;
    table.line = line;
    table.most_runs = most_runs_of(c, line);
    table.token_bytes = c.token_bytes;
    const abi::token_places places(token_lists_offset_for(output_offset_, c), ranks, line, table.most_runs);
    // Rows: what a rank tells the others of its line of each source.
    std::vector<std::vector<std::uint32_t>> rows(ranks, std::vector<std::uint32_t>(ranks));
    for (std::uint32_t source = 0; source < ranks && !stop_requested(); ++source) {
        const std::vector<token_list_contents> all = lists.lists_of(source);
        chip_memory& memory = machine_.chips()[members[source]]->memory;
        table.own_bytes = lists.own(source).size() * c.token_bytes;
        table.received_bytes = lists.received_count(source) * c.token_bytes;
        table.check = abi::check_of(table);
        write(memory, places.table(), &table, sizeof table);
        for (std::uint32_t to = 0; to < ranks; ++to) {
            const token_list_contents& list = all[to];
            const auto put = [&](chip_memory& at, std::uint64_t offset, std::uint64_t slot, bool knows_place) {
                abi::token_list head = list.head;
                head.at = knows_place ? head.at : ~0u;
                write(at, offset, &head, sizeof head);
                if (line == 1)
                    return;
                write(at, slot, list.before.data(), list.before.size() * sizeof(std::uint32_t));
                write(at, slot + abi::token_places::runs_offset(line), list.runs.data(), list.runs.size() * sizeof(abi::token_run));
            };
            chip_memory& receiver = machine_.chips()[members[to]]->memory;
            put(memory, places.sent(to), places.sent_runs(to), told);
            if (told) {
                put(receiver, places.received(source), places.received_runs(source), true);
            } else {
                set(receiver, places.received(source), sizeof(abi::token_list), k_poison);
                set(receiver, places.received_runs(source), places.slot_bytes(), k_poison);
            }
            rows[to][source] =
                c.op == abi::collective_op::dispatch ? list.head.at : list.head.at + list.head.tokens - list.head.led() - list.head.first;
        }
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        for (std::uint32_t place = 0; place < line; ++place)
            if (chip_memory& memory = machine_.chips()[members[rank]]->memory; as_sent)
                write(memory, places.row(place), rows[rank - rank % line + place].data(), ranks * sizeof(std::uint32_t));
            else
                set(memory, places.row(place), ranks * sizeof(std::uint32_t), k_poison);
}

memory_reader case_memory::reader_of(const placed_case& placed)
{
    const bool has_output = placed.what.op == abi::collective_op::all_to_all || abi::moves_tokens(placed.what.op);
    const std::uint64_t base = has_output ? output_offset_ : placed.buffer_offset;
    return [this, base](std::uint32_t rank, std::uint64_t offset, std::uint64_t at_most) {
        std::uint64_t got = 0;
        const std::uint8_t* data = machine_.chips()[rank]->memory.span_for_read(base + offset, at_most, got);
        return memory_span{data, got};
    };
}

} // namespace weft
