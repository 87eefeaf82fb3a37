// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// SwitchML over RDMA: a block is a message of packets_per_message packets, which takes as many consecutive slots of one
// version. The NIC converts and writes answers straight into the tensor; the core sees one completion a message.
//
// Why writing in place is safe, though a message may be sent again when part of its answer is already written: that
// part is complete at the switch, which takes nothing more into it; what is not complete has not been written.
//
// Why late requests harm nobody: both versions of a group of slots share a queue pair, so the switch sees by the
// sequence number that a request is older than one it has taken, and drops it (stale_filter). With a queue pair for
// each version a late request for the version of before would be added to its next use.
//
// Why late answers harm nobody: the NIC remembers the last two writes of a queue pair by their addresses, which are
// those of the results, so an answer that comes twice finds the conversion it was meant for and repeats what is there;
// one that is older is of integers, which all convert alike, or is dropped. Only at the end of a tensor must a core
// wait: as long as an answer to something sent twice may still be under way, the buffer is not the host's.
//
// A last message that is short goes from, and comes back to, a place of its own: the switch counts on a whole message,
// whose answer would overwrite what lies behind the tensor. float32 is filled up with zeros, which its exponent counts;
// of int32 nobody reads the sums behind the end, and the published client sends what is there (quoted). Completions are
// expected on the queue that sent.
#include "firmware/costs.h"
#include "firmware/switchml/conversion.h"
#include "firmware/switchml/worker.h"

namespace weft::firmware {

namespace {

namespace sml = abi::switchml;

constexpr std::uint32_t k_most_groups = k_switch_queues / 2;
constexpr std::uint32_t k_no_use = ~std::uint32_t{0};
constexpr std::uint16_t k_roce_source_port = 0x8000; ///< plus the worker's number

struct group_state {
    std::uint32_t use = 0;
    std::uint32_t wanted = k_no_use; ///< use that begins as soon as its block has been measured
    bool waits = false;              ///< for an answer
    bool version = false;
    bool resent = false;
    bool has_exponent = false;  ///< `exponent` is that of block `measured`
    std::uint32_t measured = 0; ///< block that the NIC was asked about last
    std::int8_t exponent = 0;
    std::int8_t sent_exponent = 0;
    std::int8_t agreed_exponent = 0; ///< of the integers under way
};

class rdma_worker : switchml_worker {
    friend switchml_worker; // serve()

public:
    rdma_worker(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command)
        : switchml_worker(hal, nic, context, command, window_messages(context.job)),
          message_bytes_(payload_bytes(context.job) * context.job.packets_per_message),
          first_pair_(context.job.core * 2 * window_)
    {
        entry_.header_bytes = sml::k_header;
        entry_.workers = static_cast<std::uint16_t>(job_.workers);
        entry_.packet_payload_bytes = static_cast<std::uint16_t>(payload_bytes(job_));
        sml::addresses a;
        a.destination_mac = job_.switch_mac;
        a.source_mac = job_.own_mac;
        a.destination_ip = job_.switch_ip;
        a.source_ip = job_.own_ip;
        a.destination_port = sml::k_udp_port_roce;
        a.source_port = static_cast<std::uint16_t>(k_roce_source_port + job_.worker);
        a.tos = 2;
        a.do_not_fragment = true;
        sml::encode(a, sml::k_bth_bytes + payload_bytes(job_) + sml::k_icrc_bytes, entry_.header);
        if (share_.count != std::uint64_t{share_.blocks} * block_elements())
            short_block_ = share_.blocks - 1;
    }

    void run(collective_result& result)
    {
        abi::status s = prepare();
        while (s.ok() && !finished())
            s = turn();
        if (s.ok())
            s = let_late_answers_come();
        finish(result, s);
    }

private:
    std::uint32_t block_elements() const { return message_bytes_ / 4; }
    std::uint64_t zeros() const { return core_area(); }
    std::uint64_t sink() const { return core_area() + message_bytes_; }
    std::uint64_t short_place() const { return core_area() + std::uint64_t{2} * message_bytes_; }
    std::uint64_t tensor_address(std::uint32_t block) const
    {
        return address_of(share_.first + std::uint64_t{block} * block_elements());
    }
    std::uint64_t offset_of(std::uint32_t block) const
    {
        return (block == short_block_ ? short_place() : tensor_address(block)) - context_.table.hbm_base;
    }
    // Both versions of a group send on one queue pair.
    std::uint32_t pair_of(std::uint32_t group) const { return first_pair_ + group; }
    // Two numbers a group, to tell answers about two blocks in a row apart; nothing is sent with the second one.
    std::uint32_t measuring_pair_of(std::uint32_t group, bool odd) const
    {
        return first_pair_ + (odd ? window_ : 0) + group;
    }

    // `bytes` from `from`, 0: none; of float32 then zeros up to the size of a message.
    abi::status fill(std::uint64_t to, std::uint64_t from, std::uint32_t bytes)
    {
        bool clear = false;
        const std::uint32_t end = float_ ? message_bytes_ : bytes;
        for (std::uint32_t at = 0; at < end; at += sizeof room_) {
            const std::uint32_t left = bytes > at ? bytes - at : 0;
            const std::uint32_t copied = left < sizeof room_ ? left : static_cast<std::uint32_t>(sizeof room_);
            if (copied != sizeof room_ && !clear) {
                __builtin_memset(room_, 0, sizeof room_);
                charge(costs::k_switchml_clear);
            }
            clear = copied == 0;
            if (copied != 0)
                hal_.copy_in(room_, from + at, copied);
            const std::uint32_t rest = message_bytes_ - at;
            hal_.copy_out(to + at, room_, rest < sizeof room_ ? rest : static_cast<std::uint32_t>(sizeof room_));
            charge(costs::k_switchml_piece);
        }
        return nic_.bus_status("NIC.TX_BUFFER");
    }

    abi::status prepare()
    {
        if (short_block_ != k_no_use) {
            const std::uint32_t bytes = elements_of(short_block_, block_elements()) * 4;
            if (abi::status s = fill(short_place(), tensor_address(short_block_), bytes); !s.ok())
                return s;
        }
        return float_ && share_.blocks != 0 ? fill(zeros(), 0, 0) : abi::status{};
    }

    abi::status turn()
    {
        for (std::uint32_t i = 0; i < k_message_batch && begun_ < first_uses_; ++i, ++begun_) {
            const std::uint32_t position = (context_.shift + begun_) % (2 * window_);
            const bool second = position >= window_;
            const std::uint32_t group = position - (second ? window_ : 0);
            groups_[group].version = !second; // begin() turns it
            if (float_)
                if (abi::status s = measure(group, begun_); !s.ok())
                    return s;
            if (abi::status s = begin(group, begun_); !s.ok())
                return s;
        }
        return serve(*this, timers_, true);
    }

    // Asks for the exponent of the block whose integers use `block` + window will carry.
    abi::status measure(std::uint32_t group, std::uint32_t block)
    {
        charge(costs::k_switchml_measure);
        group_state& g = groups_[group];
        g.has_exponent = false;
        g.measured = block;
        entry_.what = abi::nic_send::measure;
        entry_.payload_bytes = message_bytes_;
        entry_.payload_offset = offset_of(block);
        entry_.queue_pair = measuring_pair_of(group, block / window_ % 2 != 0);
        return nic_.post(entry_, command_.timeout_ns);
    }

    // Begins a use of a group, or leaves that to the NIC's answer about its block.
    abi::status begin(std::uint32_t group, std::uint32_t use)
    {
        group_state& g = groups_[group];
        if (float_ && use < share_.blocks && !g.has_exponent) {
            g.wanted = use;
            charge(costs::k_switchml_defer);
            timers_.start(group, now_ns_); // the NIC's answer finds no room where the receive ring is full
            return {};
        }
        g.wanted = k_no_use;
        g.use = use;
        g.version = !lossless_ && !g.version;
        g.waits = true;
        g.resent = false;
        g.sent_exponent = float_ ? (use < share_.blocks ? g.exponent : abi::k_min_exponent) : std::int8_t{0};
        if (abi::status s = send(group); !s.ok())
            return s;
        // One block ahead, so that the exponent is there when the answer comes.
        const std::uint32_t next = use + window_;
        return float_ && next < share_.blocks ? measure(group, next) : abi::status{};
    }

    abi::status send(std::uint32_t group)
    {
        charge(costs::k_switchml_write);
        const group_state& g = groups_[group];
        const bool bare = exponent_only(g.use);
        entry_.what = abi::nic_send::write;
        entry_.send_format = entry_.receive_format =
            bare ? abi::nic_format::as_is : (float_ ? abi::nic_format::quantised : abi::nic_format::swap32);
        entry_.payload_bytes = message_bytes_;
        entry_.payload_offset = bare ? zeros() - context_.table.hbm_base : offset_of(block_of(g.use));
        entry_.remote_address = bare ? sink() - context_.table.hbm_base : entry_.payload_offset;
        entry_.remote_key = (first_slot(job_) + group * job_.packets_per_message) << 1 | (g.version ? 1 : 0);
        entry_.queue_pair = pair_of(group);
        entry_.remote_queue_pair = sml::switch_queue_pair(job_.worker, entry_.queue_pair);
        entry_.immediate = sml::immediate(tag_of(g.use) & 0xffff, g.sent_exponent, g.sent_exponent);
        entry_.scale = bare || !float_ ? 1.0f : float_scale_of(g.agreed_exponent, job_.workers);
        ++sent_;
        if (!lossless_)
            timers_.start(group, now_ns_);
        return nic_.post(entry_, command_.timeout_ns);
    }

    abi::status receive()
    {
        charge(costs::k_switchml_completion);
        abi::nic_completion c;
        nic_.take(&c, sizeof c);
        if (abi::status s = nic_.bus_status("NIC.RX_RING"); !s.ok())
            return s;
        const std::uint32_t pair = c.queue_pair - first_pair_;
        if (pair >= 2 * window_)
            return {};
        const bool second = pair >= window_;
        const std::uint32_t group = pair - (second ? window_ : 0);
        if (c.what == abi::nic_event::measured)
            return on_measured(group, second, static_cast<std::int32_t>(c.immediate));
        if (c.what != abi::nic_event::message || second)
            return {};
        const group_state& g = groups_[group];
        if (!g.waits || c.immediate >> 16 != (tag_of(g.use) & 0xffff))
            return {}; // late, or come twice
        return on_message(group, static_cast<std::int8_t>(c.immediate >> 8 & 0xff));
    }

    abi::status on_measured(std::uint32_t group, bool odd, std::int32_t exponent)
    {
        group_state& g = groups_[group];
        if (g.has_exponent || odd != (g.measured / window_ % 2 != 0))
            return {}; // come twice
        progress_ns_ = now_ns_;
        g.exponent = static_cast<std::int8_t>(exponent);
        g.has_exponent = true;
        if (g.wanted == k_no_use)
            return {};
        timers_.stop(group);
        return begin(group, g.wanted);
    }

    abi::status on_message(std::uint32_t group, std::int8_t agreed)
    {
        group_state& g = groups_[group];
        g.waits = false;
        if (!lossless_)
            timers_.stop(group);
        on_answer();
        if (!exponent_only(g.use) && block_of(g.use) == short_block_) {
            const std::uint32_t bytes = elements_of(short_block_, block_elements()) * 4;
            for (std::uint32_t at = 0; at < bytes; at += sizeof room_) {
                const std::uint32_t left = bytes - at;
                const std::uint32_t piece = left < sizeof room_ ? left : static_cast<std::uint32_t>(sizeof room_);
                hal_.copy_in(room_, short_place() + at, piece);
                hal_.copy_out(tensor_address(short_block_) + at, room_, piece);
                charge(costs::k_switchml_piece);
            }
            if (abi::status s = nic_.bus_status("NIC.RX_BUFFER"); !s.ok())
                return s;
        }
        g.agreed_exponent = agreed;
        return g.use + window_ < last_use_ ? begin(group, g.use + window_) : abi::status{};
    }

    abi::status send_late_ones_again(bool& resent)
    {
        while (!timers_.none()) {
            const std::uint32_t group = timers_.oldest();
            if (timers_.started_ns(group) + timeout_.ns() > now_ns_)
                break;
            if (!resent)
                if (abi::status s = nic_.take_error(); !s.ok())
                    return s;
            if (now_ns_ - progress_ns_ >= command_.timeout_ns)
                return give_up();
            resent = true;
            timers_.stop(group);
            if (const std::uint32_t wanted = groups_[group].wanted; wanted != k_no_use) {
                if (abi::status s = measure(group, wanted); !s.ok())
                    return s;
                timers_.start(group, now_ns_);
                continue;
            }
            groups_[group].resent = true;
            timeout_.on_timeout();
            if (abi::status s = send(group); !s.ok())
                return s;
        }
        pay();
        return nic_.doorbell();
    }

    abi::status let_late_answers_come()
    {
        std::uint64_t until_ns = 0;
        for (std::uint32_t i = 0; i < first_uses_; ++i) {
            const std::uint32_t group = (context_.shift + i) % window_;
            const std::uint64_t end_ns = timers_.started_ns(group) + timeout_.ns();
            if (groups_[group].resent && end_ns > until_ns)
                until_ns = end_ns;
        }
        while (now_ns_ < until_ns) {
            pay();
            if (abi::status s = nic_.wait(until_ns - now_ns_); !s.ok())
                return s;
            std::uint32_t news = 0;
            if (abi::status s = nic_.look(news); !s.ok())
                return s;
            abi::nic_completion c;
            for (; news != 0; --news)
                nic_.take(&c, sizeof c);
            if (abi::status s = nic_.release(); !s.ok())
                return s;
            now_ns_ = hal_.now_ns();
        }
        return {};
    }

    const std::uint32_t message_bytes_;
    const std::uint32_t first_pair_;
    std::uint32_t short_block_ = k_no_use;
    abi::nic_send_entry entry_; ///< what is the same in all stays
    send_timers<k_most_groups> timers_;
    group_state groups_[k_most_groups];
    alignas(8) std::uint8_t room_[k_max_payload_bytes];
};

} // namespace

void run_rdma(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command,
              collective_result& result)
{
    rdma_worker(hal, nic, context, command).run(result);
}

} // namespace weft::firmware
