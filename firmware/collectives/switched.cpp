// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// all_reduce between ranks on a switched network, where every rank is as near as every other: what SwitchML is compared
// with.
//
// halving_doubling, n = 2^m ranks. Recursive halving: in round k = m-1 .. 0 rank r sends rank r ^ 2^k the half of the
// shards it still works on that the partner's bit k stands for, and adds what it gets to the other half; then it has
// the sum of shard r. Recursive doubling goes the same way back. Every rank sends and receives 2|U|(n-1)/n.
//   A partner that is ahead adds to shards that this rank keeps anyway, and overwrites in the doubling only what has
//   gone into the very sums it brings, so a rank only has to have entered before its partners send to it: `ready`, once
//   a round.
//
// parameter_server. Shard j of S is summed by server j: on rank j itself, S = n (table.servers == 0), or on a machine
// of its own: the last S = table.servers ranks are servers, the others work. Every worker sends every server its shard,
// added on arrival; every server sends every worker the sum. It goes chunk by chunk, as the packets of SwitchML do:
// chunk t of all shards counts on semaphores t mod W, and a worker sends chunk t + W when it has all sums of chunk t,
// so a count belongs to one chunk. Colocated 2|U|(n-1)/n sent and received by each where one program is both, 2|U|
// where two programs meet through the NIC; else 2|U| in all by a worker.
// Where table.packet_cores says so, cores make, take and sum the packets, as the program over DPDK does that SwitchML
// was compared with (Sapio et al., NSDI 2021, section 6.1: 256 elements a packet, servers of eight cores). The DMA
// engine still moves the data; this core is charged what one of those cores does meanwhile. Worker and server on one
// machine are two programs: the rank's own shard costs its cores the same and goes through the NIC both ways, so that
// each sends and receives 2|U|: "the effective bandwidth per node is halved" (footnote 4). Its sum is in place already,
// so these messages end in a buffer of their own behind those of the NIC.
// Cores share packets one by one, whatever pieces they come in; the slower of two programs counts (packet_work).
// Messages are the work of this core alone.
// What is in the buffer of a server of its own is added too: the host clears it. It keeps its shard of the result.
//   Additions may arrive as soon as all have entered: the barrier of all_to_all.
#include "firmware/collectives/collectives.h"
#include "firmware/collectives/exchange.h"
#include "firmware/switchml/switchml_job.h"
#include "hw/abi/nic.h"

namespace weft::firmware {

namespace {

/// Shards [first, first + shards) of n.
abi::element_range shards_of(std::uint64_t count, std::uint32_t n, std::uint32_t first, std::uint32_t shards)
{
    const abi::element_range head = abi::shard_of(count, n, first);
    const abi::element_range tail = abi::shard_of(count, n, first + shards - 1);
    return {head.first, tail.first + tail.count - head.first};
}

abi::status halve_and_double(exchange& x)
{
    const std::uint32_t rank = x.context.table.rank;
    const std::uint32_t n = x.context.table.ranks;
    const std::uint64_t count = x.command.count;
    sender out(x);
    for (std::uint32_t k = 0; 1u << k < n; ++k) {
        ++x.context.expected[k_sem_partner_ready + k];
        x.peer = rank ^ 1u << k;
        if (abi::status s = x.notify(x.peer, k_sem_partner_ready + k); !s.ok())
            return s;
    }
    std::uint32_t rounds = 0;
    while (1u << rounds < n)
        ++rounds;
    // In round k a rank works on the 2^(k+1) shards whose numbers agree with its own in the bits above k.
    const auto kept = [&](std::uint32_t k) { return shards_of(count, n, rank & ~((1u << k) - 1), 1u << k); };
    const auto given = [&](std::uint32_t k) {
        return shards_of(count, n, (rank ^ 1u << k) & ~((1u << k) - 1), 1u << k);
    };
    for (std::uint32_t k = rounds; k-- != 0; ++x.step) {
        x.context.expected[k_sem_halving + k] += out.chunks(kept(k));
        x.peer = rank ^ 1u << k;
        if (abi::status s = x.wait_expected(k_sem_partner_ready + k); !s.ok())
            return s;
        if (abi::status s = out.send(given(k), rank ^ 1u << k, k_sem_halving + k, true); !s.ok())
            return s;
        if (abi::status s = x.wait_expected(k_sem_halving + k); !s.ok())
            return s;
    }
    for (std::uint32_t k = 0; k < rounds; ++k, ++x.step) {
        x.context.expected[k_sem_doubling + k] += out.chunks(given(k));
        if (abi::status s = out.send(kept(k), rank ^ 1u << k, k_sem_doubling + k, false); !s.ok())
            return s;
        if (abi::status s = x.wait_expected(k_sem_doubling + k); !s.ok())
            return s;
    }
    return {};
}

constexpr std::uint32_t k_packet_elements = 256; ///< section 6.1
constexpr std::uint32_t k_packet_bytes = k_packet_elements * 4;
constexpr std::uint32_t k_packets_at_a_time = 32; ///< appendix B

/// What cores do for packets: the steps of SwitchML's worker over UDP, and additions.
/// Worker and server of one machine have cores of their own and work at the same time, while this core does one after
/// the other: so a program is not charged what fits into the turn of the other one before it.
class packet_work {
public:
    /// `cores` of a program share its packets, none the state: every packet is one core's.
    packet_work(exchange& x, std::uint32_t cores)
        : x_(x), cores_(cores), column_(costs::column_of(x.hal.charged_as())),
          float_(x.command.type == abi::element_type::float32)
    {
    }

    /// A worker: from the tensor to frames. float32 is read once more, for its exponent.
    void send(abi::element_range piece)
    {
        const std::uint32_t work = float_ ? 2 * column_.float_block + loop(column_.exponent + column_.quantise)
                                          : column_.swap_block + loop(column_.swap);
        charge(made, piece, 1, costs::k_switchml_send + work, float_ ? 3 : 2);
    }
    /// And from the frames of sums to the tensor.
    void take_sums(abi::element_range piece)
    {
        const std::uint32_t work = float_ ? column_.float_block + loop(column_.dequantise)
                                          : column_.swap_block + loop(column_.swap);
        charge(taken, piece, 1, costs::k_switchml_receive + work, 2);
    }
    /// A server: frames of `workers` to sums, which are read and written.
    void add(abi::element_range piece, std::uint32_t workers)
    {
        charge(added, piece, workers, costs::k_switchml_receive + column_.swap_block + loop(column_.add), 3);
    }
    /// And sums to the frames for `workers`.
    void answer(abi::element_range piece, std::uint32_t workers)
    {
        charge(answered, piece, workers, costs::k_switchml_send + column_.swap_block + loop(column_.swap), 2);
    }

private:
    static constexpr std::uint32_t loop(std::uint32_t of_eight)
    {
        return k_packet_elements / costs::k_switchml_elements * of_eight;
    }
    enum program : std::uint8_t { worker, server };
    enum step : std::uint8_t { made, taken, added, answered, k_steps };
    struct load {
        std::uint64_t instructions = 0;
        std::uint64_t streams = 0; ///< of the elements of a packet
        std::uint64_t entries = 0; ///< of the NIC's send ring
    };

    void turn_of(program p)
    {
        if (p == running_)
            return;
        running_ = p;
        credit_ = turn_;
        turn_ = {};
    }
    /// Takes from `credit` what it covers; the rest is charged.
    static std::uint64_t uncovered(std::uint64_t amount, std::uint64_t& credit)
    {
        const std::uint64_t covered = amount < credit ? amount : credit;
        credit -= covered;
        return amount - covered;
    }

    /// `work` instructions and `accesses` to its elements for each packet, `times` over; one that is sent needs an
    /// entry of the NIC.
    void charge(step s, abi::element_range piece, std::uint32_t times, std::uint32_t work, std::uint32_t accesses)
    {
        if (cores_ == 0 || piece.count == 0)
            return;
        turn_of(s == made || s == taken ? worker : server);
        // Of this step's packets, numbered from the start, this core has every cores_-th.
        const std::uint64_t before = (packets_[s] + cores_ - 1) / cores_;
        packets_[s] += (piece.count + k_packet_elements - 1) / k_packet_elements * times;
        const std::uint64_t own = (packets_[s] + cores_ - 1) / cores_ - before;
        const load now{uncovered(own * (work + costs::k_switchml_turn / k_packets_at_a_time), credit_.instructions),
                       uncovered(own * accesses, credit_.streams),
                       uncovered(s == made || s == answered ? own : 0, credit_.entries)};
        turn_.instructions += now.instructions;
        turn_.streams += now.streams;
        turn_.entries += now.entries;
        constexpr std::uint64_t k_most = 1u << 31; // of one call
        for (std::uint64_t left = now.instructions; left != 0;) {
            const std::uint64_t part = left < k_most ? left : k_most;
            x_.hal.compute(static_cast<std::uint32_t>(part));
            left -= part;
        }
        const std::uint64_t somewhere = x_.context.table.hbm_base + x_.command.buffer_offset;
        if (now.streams != 0)
            x_.hal.charge_streams(somewhere, k_packet_bytes, now.streams); // the headers of a frame, 68 B, do not count
        if (now.entries != 0)
            x_.hal.charge_copies(somewhere, abi::k_nic_send_entry_bytes, now.entries);
    }

    exchange& x_;
    const std::uint32_t cores_;
    const costs::element_costs& column_;
    const bool float_;
    std::uint64_t packets_[k_steps] = {};
    program running_ = worker;
    load turn_;   ///< charged since the other program ran
    load credit_; ///< of the other one's last turn, what this one has not used
};

/// One collective of parameter_server, as worker, server or both.
struct server_job {
    explicit server_job(exchange& e)
        : x(e), out(e), rank(e.context.table.rank), dedicated(e.context.table.servers),
          servers(dedicated != 0 ? dedicated : e.context.table.ranks),
          workers(dedicated != 0 ? e.context.table.ranks - dedicated : e.context.table.ranks),
          first_server(dedicated != 0 ? workers : 0),
          // The first shard is the longest.
          rounds(out.chunks(shard(first_server))),
          cores(e, e.context.table.packet_cores),
          two_programs(dedicated == 0 && e.context.table.packet_cores != 0 && present(e.context.job))
    {
    }

    /// Between worker and server of one machine.
    abi::status send_to_itself(abi::element_range piece, std::uint32_t semaphore)
    {
        const abi::switchml::table& job = x.context.job;
        return out.send_to_itself(piece, semaphore, job.nic_area - x.context.table.hbm_base + own_shard_offset(job),
                                  k_own_shard_bytes);
    }

    abi::element_range shard(std::uint32_t server) const
    {
        return abi::shard_of(x.command.count, servers, server - first_server);
    }
    /// Chunk `round` of the shard of `server`; empty behind its end.
    abi::element_range piece(std::uint32_t server, std::uint32_t round) const
    {
        const abi::element_range all = shard(server);
        const std::uint64_t first = round * out.chunk_elements;
        if (first >= all.count)
            return {all.first, 0};
        const std::uint64_t left = all.count - first;
        return {all.first + first, left < out.chunk_elements ? left : out.chunk_elements};
    }
    /// Servers that have something in this round, without that on the rank itself if it gets nothing through the NIC.
    std::uint32_t busy_servers(std::uint32_t round) const
    {
        std::uint32_t busy = 0;
        for (std::uint32_t s = first_server; s < first_server + servers; ++s)
            busy += (s != rank || two_programs) && piece(s, round).count != 0 ? 1 : 0;
        return busy;
    }

    // Staggered, so that no server is everybody's target at once.
    abi::status contribute(std::uint32_t round)
    {
        if (round >= k_server_window)
            if (abi::status s = collect(round - k_server_window); !s.ok())
                return s;
        x.context.expected[k_sem_from_server + round % k_server_window] += busy_servers(round);
        for (std::uint32_t i = 1; i <= servers; ++i) {
            const std::uint32_t server = first_server + (rank + i) % servers;
            cores.send(piece(server, round));
            if (server == rank && !two_programs)
                continue;
            const std::uint32_t semaphore = k_sem_to_server + round % k_server_window;
            if (abi::status s = server == rank ? send_to_itself(piece(server, round), semaphore)
                                               : out.send(piece(server, round), server, semaphore, true);
                !s.ok())
                return s;
        }
        return {};
    }

    /// All sums of a round.
    abi::status collect(std::uint32_t round)
    {
        if (abi::status s = x.wait_expected(k_sem_from_server + round % k_server_window); !s.ok())
            return s;
        for (std::uint32_t server = first_server; server < first_server + servers; ++server)
            cores.take_sums(piece(server, round));
        return {};
    }

    abi::status serve(std::uint32_t round)
    {
        const abi::element_range mine = piece(rank, round);
        if (mine.count == 0)
            return {};
        const std::uint32_t others = workers - (dedicated != 0 || two_programs ? 0 : 1);
        x.context.expected[k_sem_to_server + round % k_server_window] += others;
        x.peer = x.context.table.ranks; // whoever is late is not known by one counter
        if (abi::status s = x.wait_expected(k_sem_to_server + round % k_server_window); !s.ok())
            return s;
        cores.add(mine, workers);
        cores.answer(mine, workers);
        for (std::uint32_t i = 1; i <= workers; ++i) {
            const std::uint32_t worker = (rank + i) % workers;
            const std::uint32_t semaphore = k_sem_from_server + round % k_server_window;
            if (worker == rank && !two_programs)
                continue;
            if (abi::status s =
                    worker == rank ? send_to_itself(mine, semaphore) : out.send(mine, worker, semaphore, false);
                !s.ok())
                return s;
        }
        return {};
    }

    abi::status run()
    {
        if (abi::status s = x.meet_everybody(); !s.ok())
            return s;
        const bool works = rank < workers;
        const bool serves = rank >= first_server;
        // Who does both sends some rounds ahead of what it serves, so that neither waits for the other.
        const std::uint32_t ahead = works && serves ? k_server_window / 2 : 0;
        for (std::uint32_t round = 0; round < rounds + ahead; ++round, ++x.step) {
            if (works && round < rounds)
                if (abi::status s = contribute(round); !s.ok())
                    return s;
            if (serves && round >= ahead)
                if (abi::status s = serve(round - ahead); !s.ok())
                    return s;
        }
        x.peer = x.context.table.ranks;
        for (std::uint32_t round = rounds > k_server_window ? rounds - k_server_window : 0; works && round < rounds; ++round)
            if (abi::status s = collect(round); !s.ok())
                return s;
        return {};
    }

    exchange& x;
    sender out;
    std::uint32_t rank;
    std::uint32_t dedicated;
    std::uint32_t servers;
    std::uint32_t workers;
    std::uint32_t first_server;
    std::uint32_t rounds;
    packet_work cores;
    bool two_programs; ///< worker and server on one machine, which meet through the NIC
};

} // namespace

void run_halving_doubling(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                          collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command);
    const abi::status status = halve_and_double(x);
    x.finish(result, status);
}

void run_parameter_server(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                          collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command);
    const abi::status status = server_job(x).run();
    x.finish(result, status);
}

} // namespace weft::firmware
