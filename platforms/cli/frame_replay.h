// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Captured frames in place of a workload: what workers have sent comes out of their cables again, whole or damaged, at
// the time at which it did, and what the switch answers is compared with the answers in the same files. No worker sends
// anything itself.
//
// Which frames: an interface of a file stands for the wire of its name ("cable_0 up"). Frames of a wire that leads away
// from a rank are fed, but for those whose comment begins with "lost". All others are answers. Where a comment says
// "start N draw D", as a capture does when a case begins on a reset machine, the machine is reset first.
#pragma once

#include "hw/ethernet/ethernet_link.h"
#include "platforms/report/pcapng_file.h"
#include "platforms/workload/machine.h"
#include "tlm/packet_tap.h"

#include <map>
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
    struct frame {
        std::uint64_t time_ps;
        std::string bytes;
        std::uint32_t original_bytes;
        bool damaged, lost;
        std::uint32_t wire;
        std::uint32_t start, draw; ///< where the comment tells; 0: it does not
    };
    struct wire_state {
        ethernet_link* link = nullptr; ///< nullptr: a wire of a fabric
        std::uint32_t end = 0;         ///< at which frames enter it
        std::string name;
        bool fed = false;
        std::uint32_t also; ///< number at the other tap
        bool in_files = false;
        std::vector<frame> expected, seen;
    };

    std::uint32_t add_wire(const component& owner, std::uint32_t wire, wire_protocol protocol) override;
    void on_packet(std::uint32_t wire, const packet& p, std::uint64_t now_ps, std::uint64_t time_ps, wire_fate fate,
                   const char* remark) override;
    void on_reset(std::uint32_t wire, std::uint32_t draw) override;
    void read(const std::string& file);
    void take(const std::string& file, std::size_t number, const pcapng_packet& p, wire_state& wire);
    void feed();
    bool come_to_rest(std::uint64_t until_ps);
    void put_out(const frame& f);
    void compare();

    machine& machine_;
    packet_tap* also_;
    std::vector<wire_state> wires_;
    std::vector<frame> frames_; ///< to be fed, by time
    std::uint64_t fed_ = 0, damaged_ = 0, lost_ = 0, late_ = 0;
    std::uint32_t starts_ = 0;
    bool done_ = false;
    std::string summary_, failure_;
};

/// Throws user_error when captures in the folder `pcap` would replace files that are replayed beside them.
void refuse_captures_over(const std::vector<std::string>& replayed, const std::string& pcap);

} // namespace weft::cli
