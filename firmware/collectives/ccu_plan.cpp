// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/ccu_plan.h"

namespace weft::firmware {

namespace {

constexpr std::uint32_t k_dies = abi::ccu::k_dies;

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }

/// Dimensions of more than one rank, outermost first; how many.
std::uint32_t dimensions_of(const abi::platform_table& table, std::uint32_t (&order)[abi::k_max_dims])
{
    std::uint32_t axes = 0;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        if (table.dims[d] > 1)
            order[axes++] = d;
    return axes;
}

/// all_to_all dimension by dimension.
bool goes_by_lines(const abi::command& command)
{
    return command.op == abi::collective_op::all_to_all && command.algo == abi::algorithm::ccu_axes;
}
bool goes_in_rounds(const abi::platform_table& table, const abi::command& command, const ccu_capacities& c)
{
    return command.op == abi::collective_op::all_to_all && !goes_by_lines(command) &&
           table.ranks > smaller(c.channels, k_ccu_channels) + 1;
}

ccu_kind kind_of(abi::collective_op op)
{
    switch (op) {
    case abi::collective_op::reduce_scatter: return ccu_kind::reduce;
    case abi::collective_op::all_gather: return ccu_kind::gather;
    case abi::collective_op::broadcast: return ccu_kind::spread;
    case abi::collective_op::reduce: return ccu_kind::collect;
    default: return ccu_kind::reduce_all;
    }
}
ccu_run run_of(abi::element_range r)
{
    ccu_run run;
    run.offset = r.first;
    run.bytes = r.count;
    return run;
}
abi::element_range half_of(abi::element_range r, std::uint32_t die)
{
    const abi::element_range half = abi::shard_of(r.count, k_dies, die);
    return {r.first + half.first, half.count};
}
/// The part of `all` that this rank takes from the root and hands on, or sums for it; the root has none.
abi::element_range part_beside_root(abi::element_range all, const ccu_job& job)
{
    if (job.group.at == job.root)
        return {};
    const abi::element_range part =
        abi::shard_of(all.count, job.group.size - 1, job.group.at - (job.group.at > job.root ? 1 : 0));
    return {all.first + part.first, part.count};
}

constexpr std::uint32_t k_fewest_engines = 2; ///< one of whole slices, one of the last

/// Of collectives by slices, the one that takes most of a unit.
ccu_kind slices_kind(const abi::command& command)
{
    return command.algo == abi::algorithm::ccu_one_shot ? ccu_kind::one_shot : ccu_kind::reduce_all;
}

/// Ranks that work together at a time, and channels that they need.
struct group_sizes {
    std::uint32_t least, most, peers;
};
group_sizes group_sizes_of(const abi::platform_table& table, const abi::command& command, const ccu_capacities& c)
{
    group_sizes g{table.ranks, table.ranks, table.ranks - 1};
    if (command.algo == abi::algorithm::ccu_axes) {
        std::uint32_t order[abi::k_max_dims] = {};
        const std::uint32_t axes = dimensions_of(table, order);
        g.peers = g.most = 0;
        for (std::uint32_t i = 0; i < axes; ++i) {
            const std::uint32_t size = table.dims[order[i]];
            g.peers += size - 1;
            g.least = smaller(g.least, size);
            g.most = larger(g.most, size);
        }
    }
    if (goes_in_rounds(table, command, c))
        g.peers = g.most = larger(1, smaller(c.channels, k_ccu_channels));
    return g;
}

} // namespace

ccu_plan::ccu_plan(const abi::platform_table& table, const abi::command& command, const ccu_capacities& capacities)
    : table_(table), command_(command), capacities_(capacities), element_(abi::element_bytes(command.type)),
      axes_(dimensions_of(table, order_))
{
}

bool ccu_plan::by_axes() const { return command_.algo == abi::algorithm::ccu_axes; }
bool ccu_plan::by_lines() const { return goes_by_lines(command_); }
bool ccu_plan::in_rounds() const { return goes_in_rounds(table_, command_, capacities_); }

std::uint32_t ccu_plan::stride_of(std::uint32_t d) const
{
    std::uint32_t stride = 1;
    while (++d < table_.dim_count)
        stride *= table_.dims[d];
    return stride;
}
std::uint32_t ccu_plan::member(std::uint32_t d, std::uint32_t p) const
{
    return table_.rank + (p - table_.coord[d]) * stride_of(d); // unsigned: wraps back
}

ccu_group ccu_plan::group_of(std::uint32_t size, std::uint32_t at, std::uint32_t channel, std::uint32_t first_register,
                             std::uint32_t first_entry, std::uint32_t entries_of_kind) const
{
    ccu_group g;
    g.size = size;
    g.at = at;
    g.channels = channel;
    g.registers = table_.semaphore_bank * k_ccu_bank_registers + first_register;
    g.address_entries = table_.semaphore_bank * k_ccu_bank_entries + first_entry;
    g.token_entries = g.address_entries + entries_of_kind;
    g.end_entries = g.token_entries + entries_of_kind;
    return g;
}
ccu_group ccu_plan::all_ranks() const { return group_of(table_.ranks, table_.rank, 0, 0, 0, k_ccu_flat_entries); }

ccu_group ccu_plan::line_of(std::uint32_t d) const
{
    std::uint32_t channel = 0, first_register = k_ccu_most_ranks, entry = 3 * k_ccu_flat_entries;
    for (std::uint32_t i = 0; order_[i] != d; ++i) {
        const std::uint32_t size = table_.dims[order_[i]];
        channel += size - 1;
        first_register += size;
        entry += (size + abi::ccu::k_bits_of_entry - 1) / abi::ccu::k_bits_of_entry;
    }
    return group_of(table_.dims[d], table_.coord[d], channel, first_register, entry, k_ccu_axes_entries);
}

/// Step `step` of `die`. A skipped step is one of others.
ccu_plan::next ccu_plan::step(std::uint32_t die, std::uint32_t number, ccu_job& job, abi::status& status) const
{
    job.type = command_.type;
    job.redop = command_.redop;
    ccu_run run;
    next found = next::task;
    if (command_.op == abi::collective_op::all_to_all)
        return plan_exchange(die, number, job);
    if (by_axes())
        found = plan_axis(die, number, job, run);
    else if (number == 0)
        plan_flat(die, job, run);
    else
        return next::end;
    if (found != next::task)
        return found;
    run.offset *= element_;
    run.stride *= element_;
    run.bytes *= element_;
    job.add(command_.buffer_offset);
    job.add(k_ccu_token);
    if (!add_run(job, run, shape_of(job.kind, job.group.size, capacities_)))
        status = {abi::status_code::unsupported, "more data than CCU loops count", run.bytes};
    return next::task;
}

void ccu_plan::plan_flat(std::uint32_t die, ccu_job& job, ccu_run& run) const
{
    job.group = all_ranks();
    job.kind = kind_of(command_.op);
    if (command_.algo == abi::algorithm::ccu_one_shot) {
        job.kind = ccu_kind::one_shot;
        run = run_of(half_of({0, command_.count}, die));
    } else if (abi::has_root(command_.op)) {
        job.root = command_.root;
        run = run_of(part_beside_root(half_of({0, command_.count}, die), job));
    } else {
        run = run_of(half_of(abi::shard_of(command_.count, table_.ranks, table_.rank), die));
    }
}

/// Dimension that a die takes as number `level`.
std::uint32_t ccu_plan::axis(std::uint32_t die, std::uint32_t level) const
{
    return order_[die == 0 ? axes_ - 1 - level : level];
}

ccu_plan::next ccu_plan::plan_axis(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const
{
    switch (command_.op) {
    case abi::collective_op::all_reduce: return plan_axis_all_reduce(die, step, job, run);
    case abi::collective_op::broadcast:
    case abi::collective_op::reduce: return plan_axis_rooted(die, step, job, run);
    default: return plan_axis_shards(die, step, job, run);
    }
}
ccu_plan::next ccu_plan::plan_axis_all_reduce(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const
{
    if (step >= 2 * axes_ - 1)
        return next::end;
    const std::uint32_t level = step < axes_ ? step : 2 * (axes_ - 1) - step;
    abi::element_range mine = half_of({0, command_.count}, die);
    for (std::uint32_t i = 0; i <= level; ++i) {
        const std::uint32_t d = axis(die, i);
        const abi::element_range part = abi::shard_of(mine.count, table_.dims[d], table_.coord[d]);
        mine = {mine.first + part.first, part.count};
    }
    run = run_of(mine);
    job.group = line_of(axis(die, level));
    job.kind = step + 1 < axes_ ? ccu_kind::reduce : step + 1 == axes_ ? ccu_kind::reduce_all : ccu_kind::gather;
    return next::task;
}
/// After `level` dimensions of a broadcast, ranks have it that differ from the root in these only. A reduce goes the
/// same way back.
ccu_plan::next ccu_plan::plan_axis_rooted(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const
{
    if (step >= axes_)
        return next::end;
    const bool reduces = abi::reduces(command_.op);
    const std::uint32_t level = reduces ? axes_ - 1 - step : step;
    const auto of_root = [&](std::uint32_t d) { return command_.root / stride_of(d) % table_.dims[d]; };
    for (std::uint32_t i = level + 1; i < axes_; ++i)
        if (const std::uint32_t d = axis(die, i); table_.coord[d] != of_root(d))
            return next::skip;
    const std::uint32_t d = axis(die, level);
    job.group = line_of(d);
    job.kind = kind_of(command_.op);
    job.root = of_root(d);
    run = run_of(part_beside_root(half_of({0, command_.count}, die), job));
    return next::task;
}
/// Shards of ranks. Those of a block lie side by side, or as far apart as the ranks of inner dimensions; the first ones
/// may be longer by an element.
ccu_plan::next ccu_plan::plan_axis_shards(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const
{
    if (step >= axes_)
        return next::end;
    const std::uint64_t length = command_.count / table_.ranks;
    const auto longer = static_cast<std::uint32_t>(command_.count % table_.ranks);
    const bool gathers = command_.op == abi::collective_op::all_gather;
    const std::uint32_t d = axis(die, gathers ? axes_ - 1 - step : step);
    const abi::element_range of_long = abi::shard_of(length + 1, k_dies, die),
                             of_short = abi::shard_of(length, k_dies, die);
    if ((longer != 0 ? of_long : of_short).count == 0)
        return next::skip; // on all ranks
    // Ranks with the coordinates of this one in all dimensions up to this level.
    std::uint32_t first = 0, apart = 1, pieces = 0;
    if (die == 0) {
        apart = stride_of(d) * table_.dims[d];
        first = table_.rank % apart;
        pieces = table_.ranks / apart;
    } else {
        pieces = stride_of(d);
        first = table_.rank - table_.rank % pieces;
    }
    const std::uint32_t long_pieces = longer > first ? smaller((longer - first + apart - 1) / apart, pieces) : 0;
    const std::uint32_t short_pieces = of_short.count != 0 ? pieces - long_pieces : 0;
    const auto begin_of = [&](std::uint32_t rank) { return abi::shard_of(command_.count, table_.ranks, rank).first; };
    const bool has_long = long_pieces != 0 && of_long.count != 0;
    const abi::element_range& part = has_long ? of_long : of_short;
    run.pieces = has_long ? long_pieces : short_pieces;
    run.stride = apart * (length + (has_long ? 1 : 0));
    run.offset = run.pieces != 0 ? begin_of(has_long ? first : first + long_pieces * apart) + part.first : 0;
    run.bytes = part.count;
    if (has_long && short_pieces != 0) {
        run.shorter_pieces = short_pieces;
        run.shorter.any = true;
        run.shorter.bytes = static_cast<std::uint32_t>((of_long.count - of_short.count) * element_);
        run.shorter.stride = static_cast<std::uint32_t>(apart * element_);
        const std::uint64_t bytes = of_long.count * element_;
        run.shorter.no_last = bytes % abi::ccu::k_slice_bytes == run.shorter.bytes && run.shorter.bytes != 0;
        run.between = (begin_of(first + long_pieces * apart) + of_short.first - run.offset - long_pieces * run.stride) *
                      element_; // unsigned: wraps
    }
    job.group = line_of(d);
    job.kind = gathers ? ccu_kind::gather : ccu_kind::reduce;
    return next::task;
}

/// Blocks longer than a transfer go in pieces.
std::uint32_t ccu_plan::pieces_of_blocks() const
{
    const std::uint64_t longest =
        abi::shard_of(abi::shard_of(command_.count, table_.ranks, 0).count, k_dies, 0).count * element_;
    return static_cast<std::uint32_t>((longest + k_ccu_longest_block - 1) / k_ccu_longest_block);
}
/// Of a block of `count` elements.
abi::element_range ccu_plan::part_of_block(std::uint64_t count, std::uint32_t die, std::uint32_t piece) const
{
    const abi::element_range half = abi::shard_of(count, k_dies, die),
                             part = abi::shard_of(half.count, pieces_of_blocks(), piece);
    return {half.first + part.first, part.count};
}
ccu_plan::next ccu_plan::plan_exchange(std::uint32_t die, std::uint32_t step, ccu_job& job) const
{
    if (step >= pieces_of_blocks())
        return next::end;
    const std::uint64_t length = command_.count / table_.ranks;
    job.kind = ccu_kind::exchange;
    job.group = all_ranks();
    job.longer = static_cast<std::uint32_t>(command_.count % table_.ranks);
    const std::uint32_t behind = table_.rank + 1 < table_.ranks ? table_.rank + 1 : 0;
    const abi::element_range parts[2] = {part_of_block(length + 1, die, step), part_of_block(length, die, step)};
    job.no_long = parts[0].count == 0;
    job.no_short = parts[1].count == 0;
    job.add(command_.output_offset);
    job.add(k_ccu_token);
    job.add(command_.buffer_offset + abi::shard_of(command_.count, table_.ranks, behind).first * element_);
    job.add(command_.buffer_offset);
    job.add((length + 1) * element_);
    job.add(length * element_);
    for (const abi::element_range& part : parts)
        job.add(part.first * element_);
    job.add((table_.rank * (length + 1) + parts[0].first) * element_);
    job.add((table_.rank * length + parts[1].first) * element_);
    for (const abi::element_range& part : parts)
        job.add(part.count * element_);
    job.bytes = parts[0].count * element_ * table_.ranks;
    return next::task;
}

// ---- all_to_all along one line after the other, the outermost first: what goes far goes in few long messages. Before
// stage i, rows are those of the ranks that differ from this one in dimensions before it, in their order; each holds
// what its rank has for those that differ from this one in dimension i or a later one. The dies share each part, and
// meet before the next stage, which sends what both have brought.
std::uint64_t ccu_plan::begin_of_block(std::uint32_t rank) const
{
    return rank < table_.ranks ? abi::shard_of(command_.count, table_.ranks, rank).first : command_.count;
}
/// Two take turns: who begins a stage has ended the one before, and then nobody reads what it overwrites.
std::uint64_t ccu_plan::room(std::uint32_t stage) const
{
    return command_.scratch_offset +
           (stage % 2) * abi::shard_of(command_.count, table_.ranks, 0).count * table_.ranks * element_;
}
std::uint32_t ccu_plan::rows_before(std::uint32_t stage) const
{
    std::uint32_t rows = 1;
    for (std::uint32_t i = 0; i < stage; ++i)
        rows *= table_.dims[order_[i]];
    return rows;
}
void ccu_plan::plan_line(std::uint32_t die, std::uint32_t stage, ccu_job& job) const
{
    const std::uint32_t d = order_[stage];
    const std::uint32_t ranks = stride_of(d); // that a part is for
    const std::uint32_t first = table_.rank - table_.rank % (ranks * table_.dims[d]);
    const auto longer = static_cast<std::uint32_t>(command_.count % table_.ranks);
    const std::uint64_t length = command_.count / table_.ranks;
    job.kind = ccu_kind::forward;
    job.group = line_of(d);
    job.rows = rows_before(stage);
    const std::uint32_t beyond = longer > first ? longer - first : 0;
    job.longer = smaller(beyond / ranks, job.group.size);
    job.has_mixed = job.longer < job.group.size && beyond % ranks != 0;
    const std::uint64_t bytes[] = {(length + 1) * ranks, length * ranks + beyond % ranks, length * ranks};
    bool* const empty[] = {&job.no_long, &job.no_mixed, &job.no_short};
    job.add(stage + 1 == axes_ ? command_.output_offset : room(stage));
    job.add(k_ccu_token);
    job.add(stage == 0 ? command_.buffer_offset : room(stage - 1));
    job.add((begin_of_block(first + ranks * job.group.size) - begin_of_block(first)) * element_);
    for (std::uint32_t l = 0; l < 3; ++l) {
        const abi::element_range part = abi::shard_of(bytes[l], k_dies, die);
        *empty[l] = part.count == 0;
        job.add(bytes[l] * element_);
        job.add(part.first * element_);
        job.add(part.count * element_);
    }
    job.bytes = job.rows * job.group.size * bytes[0] * element_ / k_dies;
}

// ---- all_to_all of more ranks than channels
bool ccu_plan::plan_blocks(std::uint32_t die, std::uint32_t first, std::uint32_t ranks, std::uint32_t piece,
                           ccu_job& job) const
{
    const abi::element_range shard = abi::shard_of(command_.count, table_.ranks, first);
    const abi::element_range part = part_of_block(shard.count, die, piece);
    job.kind = ranks != 0 ? ccu_kind::blocks : ccu_kind::copy;
    job.group.size = ranks;
    job.add(command_.buffer_offset + (shard.first + part.first) * element_);
    if (ranks != 0)
        job.add(k_ccu_token);
    job.add(command_.output_offset + (table_.rank * shard.count + part.first) * element_);
    if (ranks != 0)
        job.add(shard.count * element_);
    job.add(part.count * element_);
    job.bytes = part.count * element_ * (ranks != 0 ? ranks : 1);
    return part.count != 0;
}
bool ccu_plan::next_round(ccu_round& round) const
{
    round.done += round.ranks;
    if (round.done >= table_.ranks)
        return false;
    const auto longer = static_cast<std::uint32_t>(command_.count % table_.ranks);
    round.first =
        table_.rank + round.done < table_.ranks ? table_.rank + round.done : table_.rank + round.done - table_.ranks;
    const std::uint32_t end = round.first < longer ? longer : table_.ranks;
    round.ranks =
        smaller(smaller(end - round.first, table_.ranks - round.done), smaller(capacities_.channels, k_ccu_channels));
    return true;
}

// ---- programs
std::uint32_t ccu_plan::dimension_of(const ccu_group& line) const
{
    std::uint32_t i = 0;
    while (i + 1 < axes_ && line_of(order_[i]).registers != line.registers)
        ++i;
    return order_[i];
}

abi::status ccu_plan::plan_more(std::uint32_t die, ccu_lane& l) const
{
    abi::status status;
    while (!l.all_planned && l.planned < 2 && status.ok()) {
        ccu_job& job = l.jobs[l.planned];
        job = ccu_job{};
        const next n = step(die, l.step, job, status);
        ++l.step;
        l.planned += n == next::task ? 1 : 0;
        l.all_planned = n == next::end;
    }
    return status;
}

ccu_use ccu_plan::use_of(std::uint32_t die) const
{
    ccu_use use;
    const abi::status status = each_program(die, [&](const ccu_job& job) {
        const ccu_key key = job.key();
        for (std::uint32_t i = 0; i < use.programs && i < k_ccu_programs; ++i)
            if (use.keys[i] == key)
                return abi::status{};
        if (use.programs < k_ccu_programs)
            use.keys[use.programs] = key;
        ++use.programs;
        ccu_code code;
        write_program(code, job, shape_of(job.kind, job.group.size, capacities_));
        use.instructions += code.here();
        return abi::status{};
    });
    return status.ok() ? use : ccu_use{};
}

ccu_lacks ccu_lacks_of(const abi::platform_table& table, const abi::command& command, const ccu_capacities& c)
{
    ccu_lacks lacks;
    const std::uint32_t registers = k_ccu_first_bank_register + (table.semaphore_bank + 1) * k_ccu_bank_registers;
    lacks.need("address_registers", "too few CCU address registers", registers, c.address_registers);
    lacks.need("general_registers", "too few CCU general registers", registers, c.general_registers);
    const group_sizes groups = group_sizes_of(table, command, c);
    const bool by_slices = command.op != abi::collective_op::all_to_all && groups.least > 1;
    const ccu_shape shape = by_slices ? shape_of(slices_kind(command), groups.most, c) : ccu_shape{};
    std::uint32_t entries = k_ccu_flat_entries; // behind those of banks
    if (goes_by_lines(command))
        entries = larger(entries, (table.ranks + abi::ccu::k_bits_of_entry - 1) / abi::ccu::k_bits_of_entry);
    if (by_slices)
        entries = larger(entries, k_fewest_engines * shape.entries);
    lacks.need("check_entries", "too few CCU check-bit entries", k_ccu_engine_entries + entries, c.check_entries);
    lacks.need("missions", "too few CCU missions", k_ccu_missions, c.missions);
    lacks.need("channels", "too few CCU channels", groups.peers, smaller(c.channels, k_ccu_channels));
    lacks.need("instructions", "CCU instruction store too small",
               most_instructions(groups.most, goes_by_lines(command) ? table.ranks : 0), c.instructions);
    if (by_slices) {
        lacks.need("slices", "too few CCU slices", k_fewest_engines * shape.slices, c.slices);
        lacks.need("loop_engines", "too few CCU loop engines", k_fewest_engines, c.loop_engines);
    }
    return lacks;
}

// Answers carry 47 characters of a reason.
abi::status ccu_refusal(const abi::platform_table& table, const abi::command& command, const ccu_capacities& c)
{
    constexpr auto k_no = abi::status_code::unsupported;
    if (table.semaphore_bank >= k_ccu_banks)
        return {k_no, "more process groups than CCU entries have banks", table.semaphore_bank};
    if (const ccu_lacks lacks = ccu_lacks_of(table, command, c); lacks.count != 0)
        return {k_no, lacks.of[0].text, lacks.of[0].has};
    const group_sizes groups = group_sizes_of(table, command, c);
    if (goes_by_lines(command) &&
        command.count / k_dies / groups.least * abi::element_bytes(command.type) + table.ranks * 8 > k_ccu_longest_block)
        return {k_no, "blocks too long for ccu_axes; use ccu", command.count};
    if (command.op == abi::collective_op::all_to_all || groups.least < 2)
        return {};
    const std::uint64_t element = abi::element_bytes(command.type);
    const ccu_shape shape = shape_of(slices_kind(command), groups.most, c);
    const std::uint64_t bytes = abi::shard_of(command.count, k_dies, 0).count * element;
    if (command.algo == abi::algorithm::ccu_one_shot && bytes > most_in_slices(shape))
        return {k_no, "sums do not fit in CCU slices; use ccu", k_dies * most_in_slices(shape)};
    if (bytes / (groups.least - 1) + element > abi::ccu::k_most_iterations * most_in_slices(shape))
        return {k_no, "more data than CCU loops count", command.count};
    return {};
}

} // namespace weft::firmware
