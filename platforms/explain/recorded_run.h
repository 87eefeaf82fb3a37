// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a recorder has seen of one run, as plain data: steps of packets, what cores did on their buses, slices of all
// other devices.
#pragma once

#include "tlm/step_sink.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Something that a core did or met, with how long it had worked until then.
struct core_mark {
    enum class kind : std::uint8_t { read, write, interrupt };
    std::uint64_t time_ps = 0;
    std::uint64_t busy_ps = 0;
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
    std::uint32_t accepted = 0; ///< by which: index
};
struct sent_packet {
    packet_sent step;
    std::uint64_t read_ps = 0; ///< since when it was being read
    std::uint32_t device = 0;
};

struct recorded_device {
    static constexpr std::uint32_t k_nobody = 0xffff'ffff;
    std::string name;
    std::uint32_t rank = k_nobody;  ///< of the chip that it is part of
    bool has_rings = false;         ///< its work comes by doorbells
    std::vector<std::string> links; ///< of a fabric, by number
};
struct recorded_track {
    std::string owner, name;
    std::uint32_t rank = recorded_device::k_nobody;
};

struct recorded_run {
    /// Of core 0 of every rank, in the order of time.
    std::vector<std::vector<core_mark>> cores;
    std::vector<recorded_device> devices;
    std::vector<step_at<work_posted>> posted;
    std::vector<step_at<work_woken>> woken;
    std::vector<sent_packet> sent;
    std::vector<step_at<link_crossing>> crossings;
    std::vector<step_at<packet_accepted>> accepted;
    std::vector<completion> completions;
    std::vector<recorded_track> tracks;
    std::vector<trace_slice> slices; ///< of devices without steps

    std::uint64_t begin_ps = 0;           ///< the command is posted
    std::vector<std::uint64_t> answer_ps; ///< by rank
};

} // namespace weft
