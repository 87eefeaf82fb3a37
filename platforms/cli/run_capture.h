// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Packets of a run in pcapng files, one a cable: an interface for each direction. A file appears with its first packet;
// its packets stand in the order of their times. All files together have a bound of size; what is beyond is counted, in
// the file, too.
#pragma once

#include "platforms/cli/trace_filter.h"
#include "platforms/report/output_file.h"
#include "platforms/report/pcapng_file.h"
#include "platforms/report/replaced_files.h"
#include "platforms/workload/machine.h"
#include "tlm/packet_tap.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::cli {

struct capture_options {
    std::string dir;
    std::uint64_t limit_bytes = std::uint64_t{1} << 30; ///< of all files
    std::uint32_t longest = 0;                          ///< bytes of a packet that are kept; 0: all
    std::string platform = {};                          ///< whose fabrics these are
};

class run_capture final : public packet_tap {
public:
    /// Of wires that `filter` shows. `on_file`: called with the name of each file that is begun. All outlive it, and it
    /// outlives the run.
    run_capture(const capture_options& options, const trace_filter& filter,
                std::function<void(const std::string&)> on_file);
    run_capture(const run_capture&) = delete;
    run_capture& operator=(const run_capture&) = delete;

    /// Taps all wires of the machine. Somebody who does so himself calls add_wire() for each.
    void attach(machine& m);
    /// When all wires are known. Throws user_error where `filter` leaves none, or where the host cannot open as many
    /// files. Those of an earlier run that will be written again go to `replaced`, which outlives this object.
    void check_wires(replaced_files& replaced);
    /// Completes the files. Throws output_lost.
    void close();
    /// Leaves its room on a full disk to what is worth more: close() will fail.
    void give_up();
    /// "8 files, 1204 packets", and what is not among them.
    std::string summary() const;
    /// The filter has left nothing of what there was.
    bool is_cut() const { return left_out_ > 0; } ///< by --pcap-limit
    bool shows_nothing() const { return packets_ + left_out_ == 0 && filtered_ != 0; }

    std::uint32_t add_wire(const component& owner, std::uint32_t wire, wire_protocol protocol) override;
    void on_packet(std::uint32_t wire, const packet& p, std::uint64_t now_ps, std::uint64_t time_ps, wire_fate fate,
                   const char* remark) override;
    void on_reset(std::uint32_t wire, std::uint32_t draw) override;

private:
    struct waiting {
        std::uint64_t time_ps;
        std::uint64_t number; ///< of equal times, the order in which they were told
        std::string block;
    };
    struct cable {
        std::string name; ///< of the file; until check_wires() of its ends
        std::vector<std::uint32_t> wires;
        std::unique_ptr<output_file> file;
        std::vector<waiting> heap; ///< packets that are still to cross
    };
    struct wire_state {
        std::uint32_t cable = 0;
        std::uint32_t interface = 0; ///< in the file of the cable
        wire_protocol protocol = wire_protocol::ethernet;
        pcapng_interface description;
        std::uint64_t seen = 0, left_out = 0;
        std::uint32_t starts = 0; ///< how often the machine began anew
        std::string mark;         ///< for the comment of the next packet
    };
    std::uint32_t cable_of(const component& owner, const wire_ends& ends, const std::string& name);
    void name_files();
    void begin_file(cable& c);
    static void release(cable& c, std::uint64_t until_ps);
    bool takes(wire_state& w, std::size_t bytes);

    capture_options options_;
    const trace_filter& filter_;
    std::function<void(const std::string&)> on_file_;
    std::vector<cable> cables_;
    std::vector<wire_state> wires_;
    std::map<std::pair<const component*, std::pair<std::string, std::string>>, std::vector<std::uint32_t>> by_ends_;
    std::uint64_t bytes_ = 0, packets_ = 0, left_out_ = 0, filtered_ = 0;
    std::uint64_t next_number_ = 0;
    std::uint32_t files_ = 0, removed_ = 0;
    replaced_files* replaced_ = nullptr; ///< from check_wires() on
    pcapng_packet scratch_;
};

} // namespace weft::cli
