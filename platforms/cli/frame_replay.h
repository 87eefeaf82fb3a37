// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Captured frames in place of a workload: what workers have sent comes out of their cables again, whole or damaged, at
// the time at which it did, and what the switch answers is compared with the answers in the same files. No worker sends
// anything itself.
//
// Which frames: an interface of a file stands for the wire of its name ("cable_0 up"). Frames of a wire that leads away
// from a rank are fed, but for those whose comment begins with "lost". All others are answers. Where a comment says
// "start N draw D", as a capture does when a case begins on a reset machine, the machine is reset first. Files are read
// as the simulation goes on, and answers are compared when they come: memory does not grow with them.
#pragma once

#include "hw/ethernet/ethernet_link.h"
#include "platforms/cli/replay_files.h"
#include "platforms/workload/machine.h"
#include "tlm/packet_tap.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft::cli {

class frame_replay final : public sc_core::sc_module, private packet_tap {
public:
    /// Reads the files, or the .pcapng files of a folder, and taps the machine. `also`: another tap, which hears all
    /// that is told; may be nullptr.
    /// Throws user_error where a file cannot be read or is of another machine.
    frame_replay(const sc_core::sc_module_name& name, machine& m, const std::vector<std::string>& files,
                 packet_tap* also);
    SC_HAS_PROCESS(frame_replay);

    /// Simulates until all has been answered, or until the user stops it. Call once.
    void run();
    /// What was fed, and how the answers compare; lines.
    std::string summary() const { return summary_; }
    /// Answers differ from those in the files, or it could not be fed to its end. A sentence; "" when all is well.
    const std::string& failure() const { return failure_; }

private:
    /// A frame that the machine has sent, until nothing can come before it any more.
    struct sent_frame {
        std::uint64_t time_ps;
        std::uint64_t number; ///< of equal times, the order in which they were told
        replayed_frame frame;
    };
    struct wire_state {
        ethernet_link* link = nullptr; ///< nullptr: a wire of a fabric
        std::uint32_t end = 0;         ///< at which frames enter it
        std::string name;
        bool fed = false;
        std::uint32_t also;                                 ///< number at the other tap
        std::uint64_t expected = 0, seen = 0, compared = 0; ///< answers
        std::vector<sent_frame> heap;
    };

    std::uint32_t add_wire(const component& owner, std::uint32_t wire, wire_protocol protocol) override;
    void on_packet(std::uint32_t wire, const packet& p, std::uint64_t now_ps, std::uint64_t time_ps, wire_fate fate,
                   const char* remark) override;
    void on_reset(std::uint32_t wire, std::uint32_t draw) override;
    std::uint32_t wire_of(const std::string& file, const pcapng_interface& i) const;
    void feed();
    void feed_all();
    bool come_to_rest(std::uint64_t until_ps);
    void put_out(const replayed_frame& f);
    /// Compares what `w` has sent before `until_ps`.
    void compare(wire_state& w, std::uint64_t until_ps);
    void compare(wire_state& w, const replayed_frame& is);
    void note_difference(std::uint64_t time_ps, const std::string& what);
    void conclude();

    machine& machine_;
    packet_tap* also_;
    std::vector<wire_state> wires_;
    std::optional<replay_files> files_;
    std::set<std::string> cables_; ///< over which frames were fed
    std::uint64_t fed_ = 0, damaged_ = 0, lost_ = 0, late_ = 0;
    std::uint64_t same_bytes_ = 0, same_ = 0, next_number_ = 0;
    std::uint64_t first_ps_ = 0; ///< when the first answer came that differs
    std::string first_;
    std::uint32_t starts_ = 0;
    bool done_ = false;
    std::string summary_, failure_;
};

/// Throws user_error when captures in the folder `pcap` would replace files that are replayed beside them.
void refuse_captures_over(const std::vector<std::string>& replayed, const std::string& pcap);

} // namespace weft::cli
