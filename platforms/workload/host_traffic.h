// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What hosts do beside collectives and training steps: messages between CPUs and chips at a rate, and checkpoints, the
// state of every chip through NICs to storage and back. Configuration, results, and the devices as the host of a run
// knows them; a platform with hosts implements these.
//
//   checkpoint  each chip sends `state` bytes in messages of `message` to NICs of its rack; done when the last byte is
//               in the storage
//   load        the same bytes the other way, after a restart; done when the last byte is in the memory of its chip
//   bound       the largest of the times that one resource needs for its part of the bytes
//
// The state that is written is that of the moment in which the checkpoint begins: chips are taken to copy on write.
// Storing the copy costs nothing.
#pragma once

#include "tlm/config_fields.h"
#include "tlm/key_rules.h"
#include "tlm/mem_socket.h"
#include "tlm/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace weft {

enum class host_direction : std::uint8_t { to_npus, from_npus };
template <> struct enum_names<host_direction> {
    static constexpr std::pair<host_direction, const char*> values[] = {{host_direction::to_npus, "to_npus"}, {host_direction::from_npus, "from_npus"}};
};

/// Messages at even intervals between every chip and a CPU of its rack.
struct host_stream_config {
    static constexpr std::uint32_t k_outstanding = 4; ///< messages of one chip; the next one waits for the oldest

    std::string name = "samples";
    host_direction direction = host_direction::to_npus;
    bandwidth rate = bandwidth(8'000'000'000);
    data_size message = data_size(64 << 10);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("name", self.name, "Name in the results", k_user_choice);
        visit("direction", self.direction, "to_npus: from the memory of CPUs, as samples; from_npus: to it", k_user_choice);
        visit("rate", self.rate, "Payload of one NPU: a message is due when the one before takes its time at this rate, and waits where four are under way",
              assumed("1 GB/s"), between(bandwidth(1'000), bandwidth(100'000'000'000'000)).because("; write for example \"1 GB/s\", or leave the entry out"));
        visit("message", self.message, "Bytes of a message", assumed("64 KiB"), between(data_size(8), data_size(256 << 20)).multiple_of(8));
    }
    std::vector<config_problem> validate() const { return limit_problems(*this); }
};

enum class checkpoint_mode : std::uint8_t { overlapped, blocking };
template <> struct enum_names<checkpoint_mode> {
    static constexpr std::pair<checkpoint_mode, const char*> values[] = {{checkpoint_mode::overlapped, "overlapped"}, {checkpoint_mode::blocking, "blocking"}};
};
enum class nic_choice : std::uint8_t { all, own };
template <> struct enum_names<nic_choice> {
    static constexpr std::pair<nic_choice, const char*> values[] = {{nic_choice::all, "all"}, {nic_choice::own, "own"}};
};

struct checkpoint_config {
    data_size state = data_size(0);
    std::uint32_t every = 1;
    checkpoint_mode mode = checkpoint_mode::overlapped;
    duration after = duration(0);
    nic_choice nics = nic_choice::all;
    data_size message = data_size(256 << 10);

    static checkpoint_config example()
    {
        checkpoint_config c;
        c.state = data_size(64 << 20);
        return c;
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("state", self.state, "Bytes of one NPU: weights, optimiser, what a restart needs", k_user_choice,
              between(data_size(8), data_size(1ull << 40)).multiple_of(8).because("; write the bytes that one NPU saves, for example \"64 MiB\""));
        visit("every", self.every, "Training steps from one checkpoint to the next. Without training_step each collective of workload has one", k_user_choice,
              at_least(1));
        visit("mode", self.mode,
              "overlapped: the next steps, or the collective, go on meanwhile, and the next checkpoint waits for the one before; blocking: they wait for its end", k_user_choice);
        visit("after", self.after, "From the end of the step, or the start of the collective, to the first byte", k_user_choice, at_most(duration(1'000'000'000'000)));
        visit("nics", self.nics, "all: message i of NPU n of a rack goes to NIC (n + i) modulo NICs; own: all of them to NIC n modulo NICs", assumed("the paper tells none"));
        visit("message", self.message, "Bytes of a message; what a NIC that fails has not taken whole is sent to another one", assumed("256 KiB"),
              between(data_size(8), data_size(1 << 30)).multiple_of(8));
    }
    std::vector<config_problem> validate() const { return limit_problems(*this); }
    static std::vector<key_rule<checkpoint_config>> key_rules()
    {
        return {{"after", "with mode: overlapped", [](const checkpoint_config& c) { return c.mode == checkpoint_mode::overlapped; }}};
    }
    std::uint64_t messages() const { return (state.value() + message.value() - 1) / message.value(); } ///< of one chip
};

struct host_config {
    std::vector<host_stream_config> traffic;
    std::optional<checkpoint_config> checkpoint;
    bool compare = true;

    static host_config example()
    {
        host_config c;
        c.checkpoint = checkpoint_config::example();
        return c;
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("traffic", self.traffic, "Messages between NPUs and CPUs while collectives and training steps run", k_user_choice);
        visit("checkpoint", self.checkpoint, "State that NPUs write to the DCN", k_user_choice);
        visit("compare", self.compare, "Each collective, and one training step, runs without any of it before (a step by CCUs twice: the first one writes their microcode), so that results tell what it costs. Times of faults count from "
              "the start of the run, and so of what runs before", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    bool any() const { return !traffic.empty() || checkpoint.has_value(); }
    /// Of one chip's memory, beside the buffers of collectives: state, and what streams need.
    std::uint64_t memory_bytes() const;
};

/// A checkpoint, or its way back.
struct checkpoint_result {
    std::uint32_t number = 0;      ///< of the checkpoint, from 0
    bool load = false;
    std::uint64_t start_ps = 0;    ///< kernel time
    std::uint64_t time_ps = 0;     ///< until the last byte was in place
    std::uint64_t waited_ps = 0;   ///< that the job waited for it
    std::uint64_t bytes = 0;       ///< of all chips
    double bound_us = 0;
    std::string bound_by;          ///< "DCN of NICs"
    std::string busiest;           ///< "DCN of nic(p0,r0,1)": in use for the largest part of the time
    double busiest_share = 0;      ///< 0..1
    std::uint64_t resent = 0;      ///< messages that went to another NIC
    bool checked = false;
    std::uint64_t wrong_bytes = 0; ///< of what has arrived
    std::uint64_t checksum = 0;    ///< of what has arrived; 0 with data off

    double rate_GBps() const { return time_ps == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(time_ps) * 1e3; }
    double share() const { return time_ps == 0 ? 0 : bound_us * 1e6 / static_cast<double>(time_ps); }
};

/// A stream over the whole run.
struct host_stream_result {
    std::string name;
    host_direction direction = host_direction::to_npus;
    std::uint64_t asked_bps = 0;     ///< of all chips
    std::uint64_t bytes = 0;         ///< arrived
    std::uint64_t messages = 0;      ///< arrived
    std::uint64_t late = 0;          ///< messages that waited for earlier ones
    std::uint64_t lost = 0;          ///< messages that never arrived
    std::uint64_t active_ps = 0;     ///< time that it was on
    std::uint64_t latency_sum_ps = 0; ///< from when a message was due
    std::uint64_t latency_max_ps = 0;
    bool checked = false;
    std::uint64_t wrong_bytes = 0;

    double rate_GBps() const { return active_ps == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(active_ps) * 1e3; }
};

/// CPUs, NICs and what moves data between them and chips, as the host of a run asks for it. Calls come between two
/// steps of the simulation.
class host_devices {
public:
    /// Streams begin, and end: no message is posted any more.
    virtual void begin_traffic() = 0;
    virtual void end_traffic() = 0;
    /// Checkpoint `number` begins `after_ps` from now; or its bytes come back. Not while busy().
    virtual void begin_checkpoint(std::uint32_t number, std::uint64_t after_ps) = 0;
    virtual void begin_load(std::uint32_t number) = 0;
    /// The last complete one, whatever hardware wrote it.
    virtual std::optional<std::uint32_t> last_checkpoint() const = 0;
    virtual bool busy() const = 0; ///< a checkpoint or a load is under way
    /// Why what is under way cannot end, as a sentence; "" while it can.
    virtual std::string failure() = 0;
    /// Nothing but what is still to come by itself can go on: a failure that is not known yet, say.
    virtual bool expects_more() const = 0;
    virtual sc_core::sc_event& done() = 0; ///< notified when it ends or cannot go on
    virtual checkpoint_result result() const = 0; ///< of the last one that has ended
    virtual std::string progress() const = 0;     ///< "12 of 64 messages to nic(p0,r0,1) have arrived"
    virtual std::vector<host_stream_result> streams() const = 0;
    /// A run without hosts goes on here: what is left is not sent.
    virtual void give_up() = 0;
    /// Grows with every byte of a checkpoint or a load that NICs send or get, and with its messages; streams leave it
    /// alone.
    virtual std::uint64_t moved() const = 0;
    virtual std::uint64_t began_ps() const = 0; ///< kernel time of the first byte of what is under way

protected:
    ~host_devices() = default;
};

/// Of a chip's state.
std::uint64_t host_state_key(std::uint64_t seed, std::uint32_t position, std::uint32_t checkpoint);
/// Of a message of a stream.
std::uint64_t host_message_key(std::uint64_t seed, std::uint32_t number);

/// `bytes`, a multiple of 8, at `offset` of `memory` become those of `key` from word `first_word` on; and whether they
/// are.
void write_contents(memory_if& memory, std::uint64_t offset, std::uint64_t bytes, std::uint64_t key, std::uint64_t first_word);
struct found_contents {
    std::uint64_t wrong_bytes = 0; ///< in words that differ
    std::uint64_t checksum = 0;    ///< sum of all words, each mixed with its place: in whatever order parts come
};
found_contents contents_of(const memory_if& memory, std::uint64_t offset, std::uint64_t bytes, std::uint64_t key, std::uint64_t first_word);

} // namespace weft
