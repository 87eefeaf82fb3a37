// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a recorder has seen of one run, as plain data: steps of packets, what cores did on their buses, slices of all
// other devices.
#pragma once

#include "tlm/step_sink.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Something that a core did or met, with how long it had worked until then.
struct core_mark {
    enum class kind : std::uint8_t { read, write, interrupt };
    std::uint64_t time_ps = 0;
    std::uint64_t busy_ps = 0;
    std::uint64_t memory_ps = 0; ///< of it, waiting for memory
    std::uint64_t address = 0; ///< of an interrupt: the lines that rise
    std::uint32_t value = 0;   ///< written
    kind what = kind::read;
};

/// Who made a step. `device` numbers those of the recorder.
template <class Step> struct step_at {
    Step step;
    std::uint32_t device = 0;
};
struct completion {
    std::uint64_t time_ps = 0;
    std::uint32_t device = 0;
    std::uint32_t semaphore = 0;
    std::uint32_t accepted = 0; ///< by which: its number
};
struct sent_packet {
    packet_sent step;
    std::uint64_t read_ps = 0; ///< since when it was being read
    std::uint32_t device = 0;
};

/// The last packet of a descriptor: its number; none: 0xffff'ffff.
struct last_packet {
    std::uint32_t sent = 0xffff'ffff;
    std::uint64_t read_ps = 0;
};

struct recorded_device {
    static constexpr std::uint32_t k_nobody = 0xffff'ffff;
    std::string name;
    std::uint32_t rank = k_nobody;  ///< of the chip that it is part of
    bool has_rings = false;         ///< its work comes by doorbells
    bool accepts = false;           ///< packets have come to it
    bool sends = false;             ///< it has sent packets
    std::vector<std::string> links; ///< of a fabric, by number
};
struct recorded_track {
    std::string owner, name;
    std::uint32_t rank = recorded_device::k_nobody;
};

/// Records by their numbers in the run, of which a part is here (step_store.h).
template <class T> class recorded_list {
public:
    std::uint32_t first() const { return first_; }
    std::uint32_t end() const { return first_ + static_cast<std::uint32_t>(here_.size()); }
    bool empty() const { return here_.empty(); }
    const T& operator[](std::uint32_t number) const { return here_[number - first_]; }
    void push_back(const T& record) { here_.push_back(record); }
    void clear() { hold(0, {}); }
    void drop_before(std::uint32_t number)
    {
        here_.erase(here_.begin(), here_.begin() + (number - first_));
        first_ = number;
    }
    void hold(std::uint32_t first, std::vector<T> records)
    {
        here_ = std::move(records);
        first_ = first;
    }

private:
    std::vector<T> here_;
    std::uint32_t first_ = 0;
};

/// What each packet does, the many among the records.
struct packet_steps {
    recorded_list<sent_packet> sent;
    recorded_list<step_at<link_crossing>> crossings;
    recorded_list<step_at<packet_accepted>> accepted;
    recorded_list<completion> completions;
};

struct recorded_run : packet_steps {
    /// Of core 0 of every rank, in the order of time.
    std::vector<std::vector<core_mark>> cores;
    std::vector<recorded_device> devices;
    std::vector<step_at<work_posted>> posted;
    std::vector<last_packet> last_of_posted; ///< by number of `posted`; of the whole run
    std::vector<step_at<work_woken>> woken;
    std::vector<recorded_track> tracks;
    std::vector<trace_slice> slices; ///< of devices without steps

    std::uint64_t begin_ps = 0;           ///< the command is posted
    std::uint64_t resend_timeout_ps = 0;  ///< machine::resend_timeout_ps()
    std::vector<std::uint64_t> answer_ps; ///< by rank
};

} // namespace weft
