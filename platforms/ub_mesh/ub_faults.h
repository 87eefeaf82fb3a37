// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Faults of a UB-Mesh machine: links that fail, narrow or have bit errors, NPUs, switches and other devices that fail,
// and how the machine gets over them.
#pragma once

#include "hw/ub/ub_notice_config.h"
#include "tlm/config_fields.h"
#include "tlm/key_rules.h"
#include "tlm/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// What becomes of the job when an NPU has failed.
enum class ub_recovery : std::uint8_t { spare, mask };
template <> struct enum_names<ub_recovery> {
    static constexpr std::pair<ub_recovery, const char*> values[] = {{ub_recovery::spare, "spare"},
                                                                     {ub_recovery::mask, "mask"}};
};

struct ub_link_fault_config {
    std::string from;
    std::string to;
    duration at = duration(0);
    std::optional<duration> until = {};
    std::optional<std::uint32_t> lanes = {};
    std::optional<double> bit_error_rate = {};

    bool goes_down() const { return !lanes && !bit_error_rate; } ///< for good, or until `until`
    bool down_from_the_start() const { return goes_down() && at.value() == 0; }

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit(
            "from", self.from,
            "A device, by its name: npu(p0,r0,b1,3), leaf(p0,r0,1.2) of plane 1 and board 2, spine(p0,r0,1.1), hrs(17)",
            k_user_choice);
        visit("to", self.to, "The device at the other end", k_user_choice);
        visit("at", self.at, "When it happens; 0 ps: from the start, and routing knows", k_user_choice);
        visit("until", self.until, "When the link works again; left out: never", k_user_choice);
        visit("lanes", self.lanes, "The link goes on with this many lanes; left out: it goes down", k_user_choice,
              between(1, 8).because(", and fewer than the link has"));
        visit("bit_error_rate", self.bit_error_rate,
              "The link has this rate in place of ub.bit_error_rate, from the start", k_user_choice, real_between(0, 0.001));
    }
};

struct ub_npu_fault_config {
    std::string npu;
    duration at = duration(0);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("npu", self.npu, "The NPU that fails: npu(p0,r0,b1,3)", k_user_choice);
        visit(
            "at", self.at,
            "When; 0 ps: from the start. Later: the collective under way is lost, and the job restarts from its last checkpoint "
            "when the take-over is done: see `take_over`",
            k_user_choice);
    }
};

/// Of an LRS, HRS, CPU, NIC or spare NPU.
struct ub_device_fault_config {
    std::string device;
    duration at = duration(0);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit(
            "device", self.device,
            "The device that fails, with all of its links: leaf(p0,r0,1.2) of plane 1 and board 2, spine(p0,r0,1.1), hrs(17), cpu(p0,r0,3), "
            "nic(p0,r0,3), spare(p0,r0)",
            k_user_choice);
        visit("at", self.at,
              "When; 0 ps: from the start, and routing knows. A spare NPU that stands in then interrupts the job as an NPU does", k_user_choice);
    }
};

struct ub_faults_config : ub_notice_config {
    std::vector<ub_link_fault_config> links;
    std::vector<ub_npu_fault_config> npus;
    std::vector<ub_device_fault_config> devices;
    ub_recovery recovery = ub_recovery::spare;
    duration take_over = duration(180'000'000'000'000);
    std::optional<duration> checkpoint_load = {};

    /// A link or a device goes down or may be given up for its bit errors, so that sources must be told.
    bool links_fail_later() const;
    bool only_from_the_start() const; ///< NPUs and devices; none in mid-run

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("links", self.links, "Links that fail, narrow or have bit errors; both directions", k_user_choice);
        visit("npus", self.npus, "NPUs that fail", k_user_choice);
        visit("devices", self.devices, "Switches, CPUs, NICs and spare NPUs that fail", k_user_choice);
        visit(
            "recovery", self.recovery,
            "spare: the rack's spare NPU takes over, its peers' links are re-routed through the LRS, and where it is in use or "
            "has failed the job runs on the NPUs that are left; mask: it does so always",
            quoted("64+1: UB-Mesh, section 3.3.2"));
        visit(
            "notification", self.notification,
            "direct: the ends of a failed link tell the sources that use it; hop_by_hop: every device tells its neighbours; none",
            quoted("UB-Mesh, section 4.2"));
        visit("notice_payload", self.notice_payload,
              "Bytes of a notice or its acknowledgement behind the headers of a packet (ub.header, ub.route_header)",
              assumed("what has failed, when, and who tells; 100 B on a wire with the headers of UB (derived)"), between(data_size(1), data_size(128)));
        visit("notice_timeout", self.notice_timeout,
              "Direct: an end sends a notice again when its source has not acknowledged it for so long; doubles with every try. The second end begins then",
              assumed("as ub.rtp_timeout"), between(duration(1'000'000), duration(1'000'000'000)));
        visit("notice_tries", self.notice_tries, "Direct: tries of one end to tell one source, each by other links while there are", assumed("nothing is published"),
              between(1, 16).because(" tries"));
        visit("notice_software", self.notice_software, "Work of the source's software on a notice", assumed("nothing is published"));
        visit("table_write", self.table_write, "Writing the paths or tables that change", assumed("nothing is published"));
        visit("flood_per_hop", self.flood_per_hop, "Work of the control plane on every device",
              assumed("1 to 10 ms"));
        visit("take_over", self.take_over, "From the failure of an NPU to the restart of the job",
              quoted("3 minutes, UB-Mesh, section 6.6"));
        visit("checkpoint_load", self.checkpoint_load, "Loading the state of the job back from its checkpoint, behind `take_over`. Left out: what the packets of host.checkpoint take; without one it is part "
              "of `take_over`",
              k_user_choice);
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<ub_faults_config>> key_rules();
};

} // namespace weft
