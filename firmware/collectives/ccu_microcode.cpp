// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/ccu_microcode.h"

namespace weft::firmware {

namespace {

using namespace ccu_steps;

constexpr std::uint32_t k_slice_bytes = abi::ccu::k_slice_bytes;
constexpr std::uint32_t k_sum_bit = 15;   ///< of an engine's first entry: a sum is done
constexpr std::uint32_t k_chain = 15;     ///< slices of an engine that adds in chains: the sum, and twice seven
constexpr std::uint32_t k_chained = abi::ccu::k_most_reduced - 1;

// Work registers. The first two arguments are the same in all programs with a frame.
enum general : std::uint32_t {
    x_token,
    x_first,    ///< argument 2 and so on, in their order
    x_label = 16,
    x_loop,
    x_one,
    x_offsets,  ///< group_offsets() of neighbouring slices
    x_zero,
    x_more_rounds, ///< of shorter pieces
    x_between,
    x_less,    ///< what is added for them: to bytes
    x_nearer,  ///< to the way from piece to piece, or to offsets of replicas
    x_no_last, ///< to iterations of the last slice
    x_part,    ///< counts long and shorter pieces
    x_sum,
    x_ahead,               ///< of forward, by length: to the own row at the receiver
    x_pitch = x_ahead + 3, ///< and from there to the next one
    x_end = x_pitch + 3,
    x_general_end = x_end
};
enum address : std::uint32_t {
    a_own,
    a_run,
    a_from,
    a_to,
    a_slices = 8, ///< of whole slices, by place
    a_last = a_slices + k_ccu_most_ranks, ///< of the last slice, by place
    a_address_end = a_last + k_ccu_most_ranks
};
static_assert(a_address_end <= k_ccu_first_bank_register && x_general_end <= k_ccu_first_bank_register, "work registers");

// Arguments of a run behind address and token, as their registers.
struct run_registers {
    std::uint32_t offset = x_first, rounds = x_first + 1;
    // Neighbouring slices: counts of both groups, iterations of the first, its way; whether the second has slices,
    // their way.
    std::uint32_t counts = x_first + 2, loop = x_first + 3, way = x_first + 4, rest_counts = x_first + 5, rest_loop = x_first + 6, rest_way = x_first + 7;
    std::uint32_t last_loop = x_first + 8, last_bytes = x_first + 9, next = x_first + 10;
    // Pieces: counts and way of the first batch and of the others; iterations, way to the last slice, offsets of
    // replicas.
    std::uint32_t piece_counts = x_first + 2, piece_way = x_first + 3, more_counts = x_first + 4, more_way = x_first + 5, piece_offsets = x_first + 6,
                  piece_loop = x_first + 7, piece_last = x_first + 8, piece_last_loop = x_first + 9, piece_last_bytes = x_first + 10;
};
constexpr run_registers k_run;
static_assert(x_first + 10 < x_label && 2 + 11 == abi::ccu::k_arguments, "arguments of a run");

bool reduces(ccu_kind k)
{
    return k == ccu_kind::reduce || k == ccu_kind::reduce_all || k == ccu_kind::collect || k == ccu_kind::one_shot;
}
/// The root only serves the others.
bool has_root(ccu_kind k) { return k == ccu_kind::spread || k == ccu_kind::collect; }

class program {
public:
    program(ccu_code& code, const ccu_job& job, const ccu_shape& shape) : c(code), job_(job), group_(job.group), shape_(shape) {}

    void write()
    {
        if (job_.follows)
            c.put(clear_bits().wait(k_ccu_turn_entry, 1u << job_.mission));
        switch (job_.kind) {
        case ccu_kind::exchange: exchange(); break;
        case ccu_kind::forward: forward(); break;
        case ccu_kind::blocks: blocks(); break;
        case ccu_kind::copy: copy(); break;
        default: slices();
        }
        if (job_.precedes)
            c.put(ccu_step(op::set_bits).set(k_ccu_turn_entry, 1u << (job_.mission ^ 1)));
    }

private:
    /// Labels of the loops of a program.
    struct loops {
        std::uint32_t slices = 0;
        std::uint32_t rest = 0; ///< the last slice, then the slices left: a pair
        std::uint32_t last = 0;
    };
    struct range {
        std::uint32_t first = 0, last = 0;
    };

    std::uint32_t place(std::uint32_t k) const { return (group_.at + k) % group_.size; } ///< k places behind this rank
    std::uint32_t address_register(std::uint32_t p) const { return k_ccu_first_bank_register + group_.registers + p; }
    std::uint32_t token_register(std::uint32_t p) const { return address_register(p); } // as many of both kinds

    // ---- frame
    void load_arguments()
    {
        c.put(load_arg_a(a_own, 0));
        const bool spares = job_.shorter.any && !job_.by_pieces; // arguments that the program knows, for others
        for (std::uint32_t i = 1; i < job_.arguments; ++i) {
            const std::uint32_t x = x_token + i - 1;
            c.put(load_arg_x(!spares                ? x
                             : x == x_token         ? std::uint32_t{x_more_rounds}
                             : x == k_run.rest_loop ? std::uint32_t{x_between}
                                                    : x,
                             i));
        }
        if (spares) {
            c.put(load_x(x_token, job_.token));
            c.put(load_x(k_run.rest_loop, abi::ccu::loop_parameter(job_.has_rest ? 1 : 0, 0)));
        }
        if (!job_.shorter.any)
            return;
        c.put(load_x(x_zero, 0));
        c.put(load_x(x_less, 0 - std::uint64_t{job_.shorter.bytes}));
        c.put(load_x(x_nearer, 0 - std::uint64_t{job_.shorter.stride}));
        c.put(load_x(x_no_last, job_.shorter.no_last ? 0 - abi::ccu::loop_parameter(1, 0) : 0));
        c.put(load_x(x_part, 0));
    }
    /// From the long pieces to the shorter ones, once.
    void go_on_with_shorter(std::uint32_t label, std::uint32_t bytes, std::uint32_t way, std::uint32_t last)
    {
        c.put(add_xx(bytes, bytes, x_less));
        c.put(add_xx(way, way, x_nearer));
        c.put(add_xx(last, last, x_no_last));
        c.put(add_xx(x_part, x_part, x_one));
        c.put(load_x(x_loop, label));
        c.put(jump(x_loop, x_part, 2));
    }
    void begin()
    {
        const ccu_bit own_address(group_.address_entries, group_.at), own_token(group_.token_entries, group_.at);
        for (std::uint32_t k = 1; k < group_.size; ++k) {
            const std::uint32_t p = place(k);
            const ccu_bit sent(k_ccu_sent_entries, p), sent_token(k_ccu_sent_entries + k_ccu_flat_entries, p);
            c.put(send_a(group_.channel(p), address_register(group_.at), a_own, own_address.entry, own_address.mask).set(sent.entry, sent.mask));
            c.put(send_x(group_.channel(p), token_register(group_.at), x_token, own_token.entry, own_token.mask).set(sent_token.entry, sent_token.mask));
        }
        c.await(group_.address_entries, group_.size, group_.at);
        c.await(group_.token_entries, group_.size, group_.at);
    }
    void tell_end()
    {
        c.await(k_ccu_sent_entries, group_.size, group_.at);
        const ccu_bit own(group_.end_entries, group_.at);
        for (std::uint32_t k = 1; k < group_.size; ++k) {
            const std::uint32_t p = place(k);
            const ccu_bit sent(k_ccu_sent_entries, p);
            c.put(send_bits(group_.channel(p), own.entry, own.mask).set(sent.entry, sent.mask));
        }
    }
    void await_ends()
    {
        c.await(group_.end_entries, group_.size, group_.at);
        c.await(k_ccu_sent_entries, group_.size, group_.at);
        c.await(k_ccu_sent_entries + k_ccu_flat_entries, group_.size, group_.at);
    }

    // ---- bodies of loops: engine 0 works on slices from `slice` on, with entries from `entry` on
    struct engine {
        std::uint32_t slice, entry;
        std::uint32_t addresses; ///< a_slices or a_last
        std::uint32_t bytes;     ///< register, or k_no_length
    };
    /// The engine of the last slice is the first one, replicas of the others follow it.
    engine last_engine(std::uint32_t bytes) const { return {0, k_ccu_engine_entries, a_last, bytes}; }
    engine slice_engine() const { return {shape_.slices, k_ccu_engine_entries + shape_.entries, a_slices, abi::ccu::k_no_length}; }

    ccu_step read(const engine& e, std::uint32_t p, std::uint32_t slice, std::uint32_t bit) const
    {
        ccu_step s = p == group_.at ? mem_to_ms(e.slice + slice, e.addresses + p)
                                    : remote_mem_to_ms(group_.channel(p), e.slice + slice, e.addresses + p, token_register(p));
        return s.length(e.bytes).set(e.entry, 1u << bit);
    }
    ccu_step write(const engine& e, std::uint32_t p, std::uint32_t number) const
    {
        ccu_step s = p == group_.at ? ms_to_mem(e.addresses + p, e.slice)
                                    : ms_to_remote_mem(group_.channel(p), e.addresses + p, token_register(p), e.slice);
        const ccu_bit done(e.entry, number);
        return s.length(e.bytes).set(done.entry, done.mask);
    }

    /// Ranks of a batch of a chain: `first` to `end`, into slices from `slice` on.
    struct batch {
        std::uint32_t first, end, slice;
        std::uint32_t mask() const { return ((1u << (end - first)) - 1) << slice; }
    };
    batch batch_of(std::uint32_t b) const
    {
        if (b == 0)
            return {0, group_.size < abi::ccu::k_most_reduced ? group_.size : abi::ccu::k_most_reduced, 0};
        const std::uint32_t first = abi::ccu::k_most_reduced + (b - 1) * k_chained;
        return {first, group_.size < first + k_chained ? group_.size : first + k_chained, b % 2 != 0 ? 1 + k_chained : 1};
    }
    void read_batch(const engine& e, const batch& b, bool behind_sum)
    {
        const std::uint32_t n = b.end - b.first;
        for (std::uint32_t k = 0; k < n; ++k) { // from this rank on, so that not all begin with the same one
            const std::uint32_t i = (k + group_.at) % n;
            ccu_step s = read(e, b.first + i, b.slice + i, b.slice + i);
            c.put(behind_sum && k == 0 ? s.wait(e.entry, 1u << k_sum_bit) : s);
        }
    }
    /// The sum of all in the engine's first slice; the bit of the sum tells when.
    void sum(const engine& e)
    {
        batch now = batch_of(0);
        read_batch(e, now, false);
        for (std::uint32_t b = 0;; ++b) {
            const bool is_last = now.end == group_.size;
            const batch next = is_last ? now : batch_of(b + 1);
            if (!is_last) // slices of the batch before the present one are free when it is summed
                read_batch(e, next, b > 0);
            const std::uint32_t before = is_last && b > 0 ? 1u << k_sum_bit : 0;
            const std::uint32_t more = b == 0 ? 0 : 1;
            c.put(reduce(job_.redop, job_.type, now.end - now.first + more, e.slice, e.slice + (b == 0 ? 1 : now.slice))
                      .length(e.bytes)
                      .wait(e.entry, now.mask() | before)
                      .set(e.entry, 1u << k_sum_bit));
            if (is_last)
                return;
            now = next;
        }
    }
    /// Waits for bit `ready`, writes the first slice to places that `wanted` takes, and waits until it is there.
    template <class Wanted> void write_all(const engine& e, std::uint32_t ready, Wanted wanted)
    {
        std::uint32_t number = 0;
        for (std::uint32_t k = 1; k <= group_.size; ++k) {
            const std::uint32_t p = place(k);
            if (!wanted(p))
                continue;
            ccu_step s = write(e, p, number);
            c.put(number == 0 ? s.wait(e.entry, 1u << ready) : s);
            ++number;
        }
        c.await(e.entry, number);
    }
    range body(const engine& e)
    {
        const std::uint32_t first = c.here();
        switch (job_.kind) {
        case ccu_kind::reduce:
            sum(e);
            write_all(e, k_sum_bit, [&](std::uint32_t p) { return p == group_.at; });
            break;
        case ccu_kind::reduce_all:
            sum(e);
            write_all(e, k_sum_bit, [](std::uint32_t) { return true; });
            break;
        case ccu_kind::collect:
            sum(e);
            write_all(e, k_sum_bit, [&](std::uint32_t p) { return p == job_.root; });
            break;
        case ccu_kind::one_shot:
            sum(e);
            c.put(clear_bits().wait(e.entry, 1u << k_sum_bit));
            break;
        case ccu_kind::gather:
            c.put(read(e, group_.at, 0, k_sum_bit));
            write_all(e, k_sum_bit, [&](std::uint32_t p) { return p != group_.at; });
            break;
        default: // spread
            c.put(read(e, job_.root, 0, k_sum_bit));
            write_all(e, k_sum_bit, [&](std::uint32_t p) { return p != job_.root; });
        }
        return {first, c.here() - 1};
    }
    /// Slices of one_shot, when all have read.
    range late_body(const engine& e)
    {
        const std::uint32_t first = c.here();
        c.put(write(e, group_.at, 0));
        c.await(e.entry, 1);
        return {first, c.here() - 1};
    }
    loops write_loops(range slices, range last)
    {
        loops l;
        if (job_.by_pieces) {
            l.slices = c.here();
            c.put(loop(slices.first, slices.last, k_run.piece_loop));
            l.last = c.here();
            c.put(loop(last.first, last.last, k_run.piece_last_loop));
            return l;
        }
        l.slices = c.here();
        c.put(loop(slices.first, slices.last, k_run.loop));
        l.rest = c.here();
        c.put(loop(last.first, last.last, k_run.last_loop));
        c.put(loop(slices.first, slices.last, k_run.rest_loop));
        return l;
    }

    // ---- collectives of slices
    void slices()
    {
        const bool works = !has_root(job_.kind) || group_.at != job_.root;
        const std::uint32_t ahead = c.jump_ahead(x_label);
        loops l, late;
        if (works) {
            const engine last = last_engine(job_.by_pieces ? k_run.piece_last_bytes : k_run.last_bytes);
            const range slice_body = body(slice_engine());
            l = write_loops(slice_body, body(last));
            if (job_.kind == ccu_kind::one_shot) {
                const range late_slices = late_body(slice_engine());
                late = write_loops(late_slices, late_body(last));
            }
        }
        c.land(ahead, x_label);
        load_arguments();
        begin();
        if (works) {
            for (std::uint32_t p = 0; p < group_.size; ++p)
                c.put(add_ax(a_slices + p, p == group_.at ? std::uint32_t{a_own} : address_register(p), k_run.offset));
            c.put(load_x(x_one, 1));
            const std::uint64_t neighbours = abi::ccu::group_offsets(k_slice_bytes, static_cast<std::uint16_t>(shape_.slices),
                                                                     static_cast<std::uint16_t>(shape_.entries));
            c.put(load_x(x_offsets, neighbours));
            if (job_.by_pieces)
                run_pieces(l);
            else
                run_neighbours(l);
        }
        tell_end();
        await_ends();
        if (job_.kind == ccu_kind::one_shot)
            c.put(group(2, late.rest, k_run.rest_counts, x_offsets));
    }
    void advance(std::uint32_t to, std::uint32_t from, std::uint32_t way)
    {
        for (std::uint32_t p = 0; p < group_.size; ++p)
            c.put(add_ax(to + p, from + p, way));
    }
    /// `rounds` counts up to 0.
    void again(std::uint32_t label)
    {
        c.put(add_xx(k_run.rounds, k_run.rounds, x_one));
        c.put(load_x(x_loop, label));
        c.put(jump(x_loop, k_run.rounds, 0));
    }
    void run_neighbours(const loops& l)
    {
        const std::uint32_t label = c.here();
        if (job_.kind != ccu_kind::one_shot) {
            c.put(group(1, l.slices, k_run.counts, x_offsets));
            advance(a_slices, a_slices, k_run.way);
        }
        advance(a_last, a_slices, k_run.rest_way);
        c.put(group(2, l.rest, k_run.rest_counts, x_offsets));
        if (job_.kind == ccu_kind::one_shot)
            return;
        advance(a_slices, a_slices, k_run.next);
        again(label);
        if (!job_.shorter.any)
            return;
        advance(a_slices, a_slices, x_between);
        c.put(add_xx(k_run.rounds, x_more_rounds, x_zero));
        go_on_with_shorter(label, k_run.last_bytes, k_run.next, k_run.last_loop);
    }
    void run_pieces(const loops& l)
    {
        c.put(load_x(x_zero, 0));
        const std::uint32_t label = c.here();
        c.put(group(1, l.slices, k_run.piece_counts, k_run.piece_offsets));
        advance(a_last, a_slices, k_run.piece_last);
        c.put(group(1, l.last, k_run.piece_counts, k_run.piece_offsets));
        advance(a_slices, a_slices, k_run.piece_way);
        if (job_.shorter.any) { // one batch of either
            c.put(add_xx(k_run.piece_counts, k_run.more_counts, x_zero));
            go_on_with_shorter(label, k_run.piece_last_bytes, k_run.piece_offsets, k_run.piece_last_loop);
            return;
        }
        c.put(add_xx(k_run.piece_counts, k_run.more_counts, x_zero));
        c.put(add_xx(k_run.piece_way, k_run.more_way, x_zero));
        again(label);
    }

    // ---- all_to_all. Arguments: output, token, then shard behind the own one and first shard of the input; each by
    // long and short: bytes of a shard, offset in a shard, offset in the output, bytes of a block.
    void exchange()
    {
        constexpr std::uint32_t k_behind = 2, k_input = 3; // arguments
        constexpr std::uint32_t k_shard = x_first, k_in = x_first + 2, k_out = x_first + 4, k_bytes = x_first + 6;
        c.put(load_arg_a(a_own, 0));
        c.put(load_arg_x(x_token, 1));
        for (std::uint32_t i = k_input + 1; i < job_.arguments; ++i)
            c.put(load_arg_x(k_shard + i - k_input - 1, i));
        begin();
        c.put(load_arg_a(a_run, k_behind));
        std::uint32_t sent = 0;
        for (std::uint32_t k = 1; k <= group_.size; ++k) {
            const std::uint32_t p = place(k);
            const std::uint32_t shorter = p < job_.longer ? 0 : 1; // its blocks
            if (p == 0 && k != 1)
                c.put(load_arg_a(a_run, k_input));
            if (!(shorter != 0 ? job_.no_short : job_.no_long)) {
                const ccu_bit done(k_ccu_engine_entries, sent++);
                const bool own = p == group_.at;
                c.put(add_ax(a_from, a_run, k_in + shorter));
                c.put(add_ax(a_to, own ? std::uint32_t{a_own} : address_register(p), k_out + shorter));
                ccu_step s = own ? mem_to_mem(a_to, a_from, k_bytes + shorter)
                                 : mem_to_remote_mem(group_.channel(p), a_to, token_register(p), a_from, k_bytes + shorter);
                c.put(s.set(done.entry, done.mask));
            }
            c.put(add_ax(a_run, a_run, k_shard + shorter));
        }
        c.await(k_ccu_engine_entries, sent);
        tell_end();
        await_ends();
    }

    /// A stage of all_to_all by lines. Arguments: output, token, input, bytes of an input row; by length, all of a
    /// part: its bytes, where the die's share of it begins, bytes of that. Input rows are those of the ranks that this
    /// rank has data of, and hold a part for each of the line. Output rows hold one part, and those of the line's ranks
    /// take turns.
    void forward()
    {
        constexpr std::uint32_t k_input = 2; // argument
        constexpr std::uint32_t k_row = x_first, k_bytes = x_first + 1, k_begin = x_first + 2, k_count = x_first + 3,
                                k_fields = 3;
        constexpr std::uint32_t k_lengths = 3;
        const auto length_of = [&](std::uint32_t p) {
            return p < job_.longer ? 0u : p == job_.longer && job_.has_mixed ? 1u : 2u;
        };
        const bool empty[k_lengths] = {job_.no_long, job_.no_mixed, job_.no_short};
        c.put(load_arg_a(a_own, 0));
        c.put(load_arg_x(x_token, 1));
        for (std::uint32_t i = k_input + 1; i < job_.arguments; ++i)
            c.put(load_arg_x(k_row + i - k_input - 1, i));
        begin();
        for (std::uint32_t l = 0; l < k_lengths; ++l) { // no unit multiplies
            c.put(load_x(x_sum, 0));
            for (std::uint32_t p = 0; p < group_.size; ++p) {
                if (p == group_.at)
                    c.put(add_xx(x_ahead + l, x_sum, k_begin + k_fields * l));
                c.put(add_xx(p + 1 < group_.size ? std::uint32_t{x_sum} : x_pitch + l, x_sum, k_bytes + k_fields * l));
            }
        }
        c.put(load_arg_a(a_run, k_input));
        for (std::uint32_t p = 0; p < group_.size; ++p) {
            const std::uint32_t l = length_of(p);
            c.put(add_ax(a_slices + p, a_run, k_begin + k_fields * l));
            c.put(add_ax(a_last + p, p == group_.at ? std::uint32_t{a_own} : address_register(p), x_ahead + l));
            c.put(add_ax(a_run, a_run, k_bytes + k_fields * l));
        }
        std::uint32_t sent = 0;
        for (std::uint32_t row = 0; row < job_.rows; ++row)
            for (std::uint32_t k = 1; k <= group_.size; ++k) {
                const std::uint32_t p = place(k), l = length_of(p);
                if (empty[l])
                    continue;
                const ccu_bit done(k_ccu_engine_entries, sent++);
                ccu_step s = p == group_.at ? mem_to_mem(a_last + p, a_slices + p, k_count + k_fields * l)
                                            : mem_to_remote_mem(group_.channel(p), a_last + p, token_register(p),
                                                                a_slices + p, k_count + k_fields * l);
                c.put(s.set(done.entry, done.mask));
                if (row + 1 == job_.rows)
                    continue;
                c.put(add_ax(a_slices + p, a_slices + p, k_row));
                c.put(add_ax(a_last + p, a_last + p, x_pitch + l));
            }
        c.await(k_ccu_engine_entries, sent);
        tell_end();
        await_ends();
    }

    /// Arguments: input, token, output, bytes from one block to the next, bytes of a block. Ranks have met, and meet
    /// again.
    void blocks()
    {
        c.put(load_arg_a(a_from, 0));
        c.put(load_arg_x(x_token, 1));
        c.put(load_arg_a(a_to, 2));
        c.put(load_arg_x(x_first, 3));
        c.put(load_arg_x(x_first + 1, 4));
        for (std::uint32_t k = 0; k < group_.size; ++k) {
            const ccu_bit done(k_ccu_engine_entries, k);
            c.put(mem_to_remote_mem(k, a_to, x_token, a_from, x_first + 1).set(done.entry, done.mask));
            c.put(add_ax(a_from, a_from, x_first));
        }
        c.await(k_ccu_engine_entries, group_.size);
    }

    /// Arguments: input, output, bytes.
    void copy()
    {
        c.put(load_arg_a(a_from, 0));
        c.put(load_arg_a(a_to, 1));
        c.put(load_arg_x(x_first, 2));
        c.put(mem_to_mem(a_to, a_from, x_first).set(k_ccu_engine_entries, 1));
        c.await(k_ccu_engine_entries, 1);
    }

    ccu_code& c;
    const ccu_job& job_;
    const ccu_group& group_;
    const ccu_shape& shape_;
};

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }

} // namespace

ccu_key ccu_job::key() const
{
    static_assert(abi::k_element_types <= 16 && static_cast<unsigned>(abi::reduce_op::min) < 4, "four bits of a type, two of an operation");
    const bool sums = reduces(kind);
    ccu_key k;
    k.what = std::uint64_t{static_cast<std::uint8_t>(kind)} | std::uint64_t{by_pieces} << 4 |
             std::uint64_t{sums ? static_cast<std::uint8_t>(type) : 0u} << 5 |
             std::uint64_t{sums ? static_cast<std::uint8_t>(redop) : 0u} << 9 | std::uint64_t{group.size} << 16 |
             std::uint64_t{group.at} << 32 | std::uint64_t{root} << 40 | std::uint64_t{group.registers} << 48;
    k.which = longer | std::uint64_t{no_long} << 32 | std::uint64_t{no_short} << 33 | std::uint64_t{follows} << 34 |
              std::uint64_t{precedes} << 35 | std::uint64_t{mission} << 36;
    if (kind == ccu_kind::forward)
        k.which |= std::uint64_t{has_mixed} << 37 | std::uint64_t{no_mixed} << 38 | std::uint64_t{rows} << 40;
    if (shorter.any)
        k.which |= shorter.stride | std::uint64_t{1} << 37 | std::uint64_t{shorter.no_last} << 38 |
                   std::uint64_t{has_rest} << 39 | std::uint64_t{shorter.bytes} << 40;
    return k;
}

// Engines of a reduce that takes several rounds. Each has one transfer under way to the root: what it reads there, then
// its sum. A channel carries `outstanding` of them, the oldest first. Sums of more engines would wait behind reads of
// all others, and the root would get nothing for that long. Measured on a board of eight with 64 outstanding, 127
// engines against 64: 8 MiB 43.6 -> 34.3 us, 16 MiB 68.5 -> 59.1, 64 MiB 218.4 -> 209.0; with 16, 64 engines against
// 32: 8 MiB 46.1 -> 39.3 us, 64 MiB 243.4 -> 215.5. Fewer than 32 do not fill the links while each of them reads, sums
// and writes for 2.6 us: with 8 outstanding, 8 engines 57.9 us for 8 MiB, 32 engines 53.4.
constexpr std::uint32_t k_fewest_to_root = 32;

ccu_shape shape_of(ccu_kind kind, std::uint32_t ranks, const ccu_capacities& c)
{
    ccu_shape s;
    if (reduces(kind))
        s.slices = ranks <= k_chain ? ranks : k_chain;
    if (kind == ccu_kind::reduce_all || kind == ccu_kind::gather || kind == ccu_kind::spread) // a bit for each write
        s.entries = (ranks + abi::ccu::k_bits_of_entry - 1) / abi::ccu::k_bits_of_entry;
    const std::uint32_t entries = smaller(c.check_entries, k_ccu_usable_entries);
    const std::uint32_t places = smaller(c.slices / s.slices, entries > k_ccu_engine_entries ? (entries - k_ccu_engine_entries) / s.entries : 0);
    const std::uint32_t all = smaller(c.loop_engines, places);
    s.engines = all == 0 ? 0 : smaller(k_ccu_most_engines, all - 1); // one more for the last slice
    s.engines_to_root = smaller(s.engines, larger(c.outstanding, k_fewest_to_root));
    return s;
}

namespace {

/// What fits into one round stays there: nothing is read behind it.
std::uint32_t engines_for(ccu_kind kind, std::uint64_t slices, const ccu_shape& shape)
{
    const bool in_rounds = slices > shape.engines && slices / shape.engines_to_root <= abi::ccu::k_most_iterations;
    return kind == ccu_kind::collect && in_rounds ? shape.engines_to_root : shape.engines;
}

} // namespace

bool add_run(ccu_job& job, const ccu_run& run, const ccu_shape& shape)
{
    const bool empty = run.bytes == 0 || run.pieces == 0;
    const std::uint64_t whole = empty ? 0 : run.bytes / k_slice_bytes;
    const std::uint64_t last = empty ? 0 : run.bytes % k_slice_bytes;
    const std::uint64_t pieces = empty ? 1 : run.pieces;
    const std::uint32_t engines = engines_for(job.kind, whole, shape);
    const auto group_of = [](std::uint64_t replicas, std::uint32_t first) { return abi::ccu::group_counts(first, replicas != 0 ? static_cast<std::uint32_t>(replicas - 1) : 0); };
    const std::uint64_t last_loop = abi::ccu::loop_parameter(last != 0 ? 1 : 0, 0);
    const bool at_once = job.kind == ccu_kind::one_shot; // sums of all slices stay in their engines
    const std::uint64_t steps = at_once ? 0 : whole / engines, rest = whole - steps * engines;
    job.bytes = run.bytes * pieces;
    // Pieces at once, slice after slice, where that takes fewer steps than slices at once, piece after piece.
    const std::uint64_t batches = (pieces + engines - 1) / engines;
    const std::uint64_t tail_steps = rest != 0 || last != 0 ? 1 : 0;
    job.by_pieces = !at_once && pieces > 1 && run.stride <= 0xffff'ffff && whole <= abi::ccu::k_most_iterations &&
                    batches * (whole + (last != 0 ? 1 : 0)) < pieces * (steps + tail_steps);
    if (!empty && run.shorter_pieces != 0) {
        job.shorter = run.shorter;
        job.by_pieces = job.by_pieces && batches == 1 && run.shorter_pieces <= engines;
        job.bytes += run.shorter_pieces * (run.bytes - run.shorter.bytes);
    }
    job.add(run.offset);
    if (job.by_pieces) {
        const std::uint64_t first = pieces - (batches - 1) * engines;
        const std::uint64_t more = job.shorter.any ? run.shorter_pieces : engines;
        job.add(0 - batches);
        job.add(group_of(first, 0));
        job.add(first * run.stride + (job.shorter.any ? run.between : 0));
        job.add(group_of(more, 0));
        job.add(more * run.stride);
        job.add(abi::ccu::group_offsets(static_cast<std::uint32_t>(run.stride),
                                        static_cast<std::uint16_t>(shape.slices),
                                        static_cast<std::uint16_t>(shape.entries)));
        job.add(abi::ccu::loop_parameter(static_cast<std::uint32_t>(whole), k_slice_bytes));
        job.add(whole * k_slice_bytes);
        job.add(last_loop);
        job.add(last);
        return true;
    }
    if (steps > abi::ccu::k_most_iterations || rest > engines)
        return false;
    const std::uint64_t way = steps * engines * k_slice_bytes;
    job.add(0 - pieces);
    job.add(group_of(steps != 0 ? engines : 0, 0));
    job.add(abi::ccu::loop_parameter(static_cast<std::uint32_t>(steps), engines * k_slice_bytes));
    job.add(way);
    job.add(group_of(rest, 1));
    job.add(job.shorter.any ? run.between : abi::ccu::loop_parameter(rest != 0 ? 1 : 0, 0));
    job.add(rest * k_slice_bytes);
    job.add(last_loop);
    job.add(last);
    job.add(run.stride - way);
    if (job.shorter.any) {
        job.has_rest = rest != 0;
        job.token = static_cast<std::uint32_t>(job.argument[1]);
        job.argument[1] = 0 - run.shorter_pieces;
    }
    return true;
}

void write_program(ccu_code& code, const ccu_job& job, const ccu_shape& shape) { program(code, job, shape).write(); }

} // namespace weft::firmware
