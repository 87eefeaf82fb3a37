// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Records of a run, found by message, link, port, work and device: what a path goes back along (critical_path.h).
#pragma once

#include "platforms/explain/step_recorder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

/// Numbers of records by a key, in the order of time.
using index_lists = std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>;
/// The same, where all lists are walked: their order must be the same everywhere.
using ordered_lists = std::map<std::uint64_t, std::vector<std::uint32_t>>;

template <class Lists> const std::vector<std::uint32_t>& list_at(const Lists& lists, std::uint64_t key)
{
    static const std::vector<std::uint32_t> none;
    const auto found = lists.find(key);
    return found == lists.end() ? none : found->second;
}

std::uint64_t key_of(const step_packet& p);

class path_index {
protected:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    explicit path_index(const recorded_run& run);
    /// Once more for the steps of packets, of which others are here now.
    void index_steps();

    static std::uint64_t place(std::uint32_t device, std::uint32_t number)
    {
        return std::uint64_t{device} << 32 | number;
    }
    std::uint32_t rank_of(std::uint64_t device) const { return run_.devices[device].rank; }
    /// Position behind the last of `list` whose time is not after `at_ps`.
    template <class TimeOf>
    static std::size_t up_to(const std::vector<std::uint32_t>& list, std::uint64_t at_ps, TimeOf&& time_of)
    {
        return static_cast<std::size_t>(
            std::upper_bound(list.begin(), list.end(), at_ps,
                             [&](std::uint64_t t, std::uint32_t i) { return t < time_of(i); }) -
            list.begin());
    }
    /// The last of `list` with a time up to `at_ps` that fits; k_none: none.
    template <class TimeOf, class Fits>
    static std::uint32_t last_of(const std::vector<std::uint32_t>& list, std::uint64_t at_ps, TimeOf&& time_of,
                                 Fits&& fits)
    {
        for (std::size_t i = up_to(list, at_ps, time_of); i-- > 0;)
            if (fits(list[i]))
                return list[i];
        return k_none;
    }
    static bool any(std::uint32_t) { return true; }
    /// What a frame is of, by its name: "slot 3.1", or "slot 3" without version; of RDMA "qp 5", the queue by which
    /// all workers send to a slot and get its results. "" for other frames.
    static std::string slot_of(const std::string& name, bool with_version);
    /// A frame that left a card: the frame that began its message, and when the card has sent that message before, the
    /// frame that began it then.
    std::pair<std::uint32_t, std::uint32_t> sent_before(std::uint32_t number) const;
    /// As the fabric calls it.
    std::string link_name(const step_at<link_crossing>& c) const;
    std::string port_name(std::uint32_t sent) const;
    /// The last mark up to `at_ps` by which the first core of `rank` wrote to a device that is neither mailbox, DMA nor
    /// sync unit; k_none: none.
    std::uint32_t last_write_to_other_device(std::uint32_t rank, std::uint64_t at_ps) const;
    /// A track of a cable: of no rank, and of no switch.
    bool is_wire_track(std::uint32_t track) const { return run_.tracks[track].rank == recorded_device::k_nobody && !is_switch_track(track); }
    /// A track of a switch, which belongs to no rank.
    bool is_switch_track(std::uint32_t track) const;

    const recorded_run& run_;
    index_lists crossings_of_message_, crossings_of_link_, crossings_of_buffer_, sent_of_message_, posted_of_work_,
        woken_of_work_, slices_of_flow_, slices_of_wire_, frames_of_rank_, switch_slices_of_slot_, syncs_of_rank_, syncs_of_zone_;
    index_lists frames_from_rank_;
    /// Of frames that left a card: where frames of a message follow each other; and what tells a message from others,
    /// of the frame that begins it. A frame of UDP is a message.
    std::unordered_map<std::uint32_t, std::uint64_t> streams_, message_texts_;
    ordered_lists sent_of_port_, accepted_of_device_, completions_of_device_;
    ordered_lists posted_of_device_;
    std::vector<std::uint32_t> doorbell_of_posted_; ///< marks of the device's core
    std::vector<std::uint32_t> woken_of_posted_;
    std::uint32_t posted_of_sent(std::uint32_t sent) const { return posted_of_sent_[sent - run_.sent.first()]; }

private:
    void note_slice(std::uint32_t number);
    void note_sent_frame(std::uint32_t number);
    void sort_slices();
    void match_doorbells();
    void match_works();
    std::uint32_t work_at(std::uint32_t device, std::uint64_t work, std::uint64_t at_ps) const;

    std::vector<std::uint32_t> posted_of_sent_; ///< of those that are here
};

} // namespace weft
