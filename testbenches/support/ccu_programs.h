// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Random microcode of random phases: transfers, reductions, exchanges with peers, groups of loops, counted loops, jumps forward. The same seed gives the same text.
// Every second program is written with care; the others have slips, which the checker finds, or which do no harm.
//
// Who runs one gives each of its `ranks` ranks: argument 0, an address with k_memory_bytes behind it, the same on all ranks; argument 1, the token of all
// memories; argument 2, `rounds`; argument 3, loop(iterations, step) with at most 4 iterations of 4 KiB. Channel c leads to rank + 1 + c modulo ranks.
#pragma once

#include "tlm/draw.h"

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace weft::testing {

struct random_ccu_program {
    static constexpr std::uint64_t k_memory_bytes = std::uint64_t{2} << 20;
    static constexpr std::uint32_t k_most_rounds = 5; ///< argument 2 is 1 to this
    std::string text;
    std::uint32_t ranks = 0;
};

class ccu_program_generator {
public:
    explicit ccu_program_generator(std::uint64_t seed) : state_(mixed(seed ^ 0x6363'7521ull)) {}

    random_ccu_program operator()()
    {
        ranks_ = 2 + below(4);
        slips_ = below(2) == 0;
        head();
        for (std::uint64_t n = 1 + below(5); n > 0; --n)
            phase(0);
        tail();
        return {text_, ranks_};
    }

private:
    std::uint64_t next() { return mixed(state_ += k_draw_step); }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }

    void raw(const std::string& line) { text_ += line + "\n"; }
    /// An instruction, perhaps with a slip.
    void emit(std::string line)
    {
        if (slips_ && below(12) == 0) {
            const auto drop = [&](const std::string& word) {
                if (const std::size_t at = line.find(word); at != std::string::npos)
                    line.erase(at, word.size());
            };
            switch (below(4)) {
            case 0: return; // forgotten
            case 1: drop(" clear"); break;
            case 2:
                if (const std::size_t at = line.find(":0x1"); at != std::string::npos)
                    line[at + 3] = '2';
                break;
            default:
                if (const std::size_t at = line.find(" m1"); at != std::string::npos)
                    line[at + 2] = '0';
            }
        }
        raw("    " + line);
    }
    std::string name(const char* what) { return fmt::format("{}_{}", what, ++names_); }

    void head()
    {
        raw(fmt::format(".ranks {}", ranks_));
        raw(fmt::format(".argument 2 1..{}", random_ccu_program::k_most_rounds));
        for (const char* line : {"load_arg_a a0 0", "load_arg_x x0 1", "load_arg_x x1 2", "load_arg_x x2 3", "load_x x3 -1", "load_x x4 1", "load_x x5 64 KiB",
                                 "load_x x6 2048", "load_x x7 40 KiB", "add_ax a1 a0 x5", "add_ax a2 a1 x5", "add_ax a3 a2 x5"})
            raw(std::string("    ") + line);
    }

    std::string address() { return fmt::format("a{}", below(4)); }
    std::string channel() { return fmt::format("c{}", below(ranks_ - 1)); }
    std::string length() { return below(3) == 0 ? " len x6" : ""; }
    std::string bit(unsigned b) const { return fmt::format("{}:{:#x}", entry_, 1u << b); }
    std::string type()
    {
        static const char* const names[] = {"int32", "float32", "float16", "bfloat16", "int8", "uint8", "int16"};
        return names[below(7)];
    }
    std::string load(std::uint32_t slice, unsigned b)
    {
        return below(3) == 0 ? fmt::format("remote_mem_to_ms {} m{} {} x0{} set {}", channel(), slice, address(), length(), bit(b))
                             : fmt::format("mem_to_ms m{} {}{} set {}", slice, address(), length(), bit(b));
    }
    std::string store(std::uint32_t slice, unsigned b, const std::string& words)
    {
        return below(3) == 0 ? fmt::format("ms_to_remote_mem {} {} x0 m{}{}{} set {}", channel(), address(), slice, length(), words, bit(b))
                             : fmt::format("ms_to_mem {} m{}{}{} set {}", address(), slice, length(), words, bit(b));
    }
    void wait(unsigned mask) { emit(fmt::format("clear_bits wait {}:{:#x}", entry_, mask)); }

    void copies()
    {
        const unsigned n = 1 + below(4);
        for (unsigned i = 0; i < n; ++i)
            emit(load(i, i));
        for (unsigned i = 0; i < n; ++i)
            emit(store(i, 8 + i, fmt::format(" wait {} clear", bit(i))));
        wait(((1u << n) - 1) << 8);
    }

    void memories()
    {
        const std::string reduction = below(2) == 0 ? fmt::format(" type {} op {}", type(), below(2) == 0 ? "sum" : "max") : "";
        switch (below(3)) {
        case 0: emit(fmt::format("mem_to_mem a2 a0 len x7{} set {}", reduction, bit(0))); break;
        case 1: emit(fmt::format("remote_mem_to_mem {} a3 a1 x0 len x7{} set {}", channel(), reduction, bit(0))); break;
        default: emit(fmt::format("mem_to_remote_mem {} a2 x0 a0 len x7{} set {}", channel(), reduction, bit(0))); break;
        }
        wait(1);
    }

    void reduction()
    {
        const unsigned n = 2 + below(7);
        std::string slices;
        for (unsigned i = 0; i < n; ++i) {
            emit(load(i, i));
            slices += fmt::format(" m{}", i);
        }
        static const char* const names[] = {"reduce_add", "reduce_max", "reduce_min"};
        emit(fmt::format("{}{} type {}{} wait {}:{:#x} clear set {}", names[below(3)], slices, type(), length(), entry_, (1u << n) - 1, bit(8)));
        emit(store(0, 9, fmt::format(" wait {} clear", bit(8))));
        wait(1u << 9);
    }

    /// Every rank tells every other one; twice, so that it may be repeated.
    void barrier()
    {
        const unsigned all = (1u << (ranks_ - 1)) - 1;
        const std::uint32_t entry = below(4) == 0 ? 40 : 40 + 2 * ++exchanges_;
        for (unsigned half = 0; half < 2; ++half) {
            for (std::uint32_t c = 0; c + 1 < ranks_; ++c)
                emit(fmt::format("send_bits c{} {}:{:#x}", c, entry + half, 1u << c));
            emit(fmt::format("clear_bits wait {}:{:#x}", entry + half, all));
        }
    }

    /// One bit along one channel: right once, wrong when it is repeated with nothing in between.
    void token()
    {
        const std::uint32_t entry = 40 + 2 * ++exchanges_;
        const std::string c = channel();
        emit(fmt::format("send_bits {} {}:0x1", c, entry));
        emit(fmt::format("clear_bits wait {}:0x1", entry));
    }

    void values(bool repeated)
    {
        const std::uint32_t entry = 40 + 2 * ++exchanges_;
        const unsigned reg = 20 + exchanges_;
        emit(fmt::format("send_x c0 x{} x6 {}:0x1", reg, entry));
        emit(fmt::format("clear_bits wait {}:0x1", entry));
        emit(fmt::format("add_ax a{} a0 x{}", reg, reg));
        if (repeated)
            barrier();
    }

    void slice_to_peer(bool repeated)
    {
        const std::uint32_t entry = 40 + 2 * ++exchanges_;
        const unsigned slice = 900 + exchanges_;
        emit(load(1, 0));
        emit(fmt::format("ms_to_remote_ms c0 m{} m1 {}:0x1 wait {} clear set {}", slice, entry, bit(0), bit(1)));
        emit(fmt::format("ms_to_mem a3 m{} wait {}:0x1 clear set {}", slice, entry, bit(2)));
        wait(6);
        if (repeated)
            barrier();
    }

    void group()
    {
        const std::string end = name("end"), loops = name("loops"), bodies = name("body");
        const unsigned replicas = below(6), n = 1 + below(2), first = below(n);
        const bool tight = slips_ && below(3) == 0;
        raw(fmt::format("    load_x x10 counts({}, {})", first, replicas));
        raw(fmt::format("    load_x x11 offsets({}, {}, {})", 4096, tight ? 1 : 4 * n, n));
        raw(fmt::format("    load_x x12 loop({}, 4 KiB)", below(4)));
        emit(fmt::format("group {} {} x10 x11", n, loops));
        raw(fmt::format("    load_x x13 {}", end));
        raw("    jump x13 x4 0");
        raw(loops + ":");
        for (unsigned l = 0; l < n; ++l)
            raw(fmt::format("    loop {0}_{1} {0}_{1}_end x{2}", bodies, l, below(2) == 0 ? 2 : 12));
        const std::uint32_t entry = entry_;
        for (unsigned l = 0; l < n; ++l) {
            raw(fmt::format("{}_{}:", bodies, l));
            entry_ = 400 + l;
            const unsigned base = 300 + 4 * l, count = 1 + below(3);
            unsigned mask = 0;
            for (unsigned i = 0; i < count; ++i, mask = mask << 1 | 1)
                emit(load(base + i, i));
            if (count > 1) {
                std::string slices;
                for (unsigned i = 0; i < count; ++i)
                    slices += fmt::format(" m{}", base + i);
                emit(fmt::format("reduce_add{} type {} wait {}:{:#x} clear set {}", slices, type(), entry_, mask, bit(8)));
                emit(store(base, 9, fmt::format(" wait {} clear", bit(8))));
            } else {
                emit(store(base, 9, fmt::format(" wait {} clear", bit(0))));
            }
            raw(fmt::format("{}_{}_end:", bodies, l));
            raw(fmt::format("    clear_bits wait {}", bit(9)));
        }
        entry_ = entry;
        raw(end + ":");
    }

    void counted_loop(unsigned depth)
    {
        const std::string head = name("round");
        const unsigned counter = 14 + depth, target = 17 + depth;
        const bool by_argument = depth == 0 && below(2) == 0;
        const unsigned rounds = 1 + below(9);
        if (by_argument)
            emit(fmt::format("load_arg_x x{} 2", counter));
        else
            emit(fmt::format("load_x x{} {}", counter, rounds));
        emit(fmt::format("load_x x{} {}", target, head));
        raw(head + ":");
        for (std::uint32_t n = 1 + below(3); n > 0; --n)
            phase(depth + 1);
        emit(fmt::format("add_xx x{0} x{0} x3", counter));
        emit(fmt::format("jump x{} x{} {}", target, counter, slips_ && below(8) == 0 ? 12 : 0));
    }

    void skipped(unsigned depth)
    {
        const std::string behind = name("behind");
        emit(fmt::format("load_x x13 {}", behind));
        emit(fmt::format("jump x13 x{} {}", below(2) == 0 ? 1 : 4, below(4)));
        phase(depth + 1);
        raw(behind + ":");
    }

    void phase(unsigned depth)
    {
        entry_ = below(3);
        const bool repeated = depth != 0;
        switch (below(depth < 2 ? 12 : 8)) {
        case 0: copies(); break;
        case 1: memories(); break;
        case 2: reduction(); break;
        case 3: barrier(); break;
        case 4: values(repeated); break;
        case 5: slice_to_peer(repeated); break;
        case 6:
            if (!repeated || slips_)
                token();
            else
                barrier();
            break;
        case 7:
        case 8: group(); break;
        case 9: skipped(depth); break;
        default: counted_loop(depth); break;
        }
    }

    /// All ranks have come to the end before one of them begins anew.
    void tail()
    {
        slips_ = false;
        barrier();
    }

    std::uint64_t state_;
    std::string text_;
    std::uint32_t ranks_ = 2;
    bool slips_ = false;
    std::uint32_t entry_ = 0;
    std::uint32_t exchanges_ = 0;
    std::uint32_t names_ = 0;
};

inline random_ccu_program make_ccu_program(std::uint64_t seed) { return ccu_program_generator(seed)(); }

} // namespace weft::testing
