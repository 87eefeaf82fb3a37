// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How the sources of a UB machine learn that a link is down, or works again (UB-Mesh, section 4.2, Fig. 12): packets
// from control processor to control processor (hw/ub/ub_management.h). An end of a link knows when the link is declared
// dead, or works again.
//
//   direct      Two ends, the nearest to a source at zero load, have the source in a precomputed list. The nearest
//               sends it a notice at once; the source acknowledges to both. An end without an acknowledgement sends
//               (the second one for the first time) after notice_timeout, and again with twice the time, notice_tries
//               times in all, each time by links that it has not tried. No way leads over links that are down from the
//               start, that the news is about, or that the end itself sees dead.
//   hop_by_hop  A device that hears a news for the first time works on it for flood_per_hop and passes it on over all
//               links that it does not see dead, but for those to whom it has it from. When a link works again its ends
//               tell each other what they know.
//
// A source works on what it hears (notice_software, or flood_per_hop), writes its table (table_write), and from then on
// its controllers use other paths. What is older than what a source has heard of the same link changes nothing.
// Of a device that fails every neighbour is an end.
//
// Fallback sets. A source that makes a path set anew because links are down may take links that it did not use before.
// It tells their ends, which from then on count it among those that they notify, also of a failure that lies back. That
// message is a time and no packet: the way at zero load (assumed). A flood needs none: everybody hears.
// Source of the mechanisms: the paper (quoted); of acknowledgements, repeats and times: assumed, see ub_notice_config.
#pragma once

#include "hw/ub/ub_fabric.h"
#include "hw/ub/ub_notice_times.h"
#include "tlm/slots.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace weft {

class ub_notices final : public component, public ub_fall_back_if, private ub_management_if, private timeline_client {
public:
    /// `fabric` is managed. `down`: links that are down from the start. `unforeseen`: links may fail of which expect()
    /// learns when they do; then who has fallen back to which link is kept.
    ub_notices(ub_fabric& fabric, timeline& time, const ub_config& ub, const ub_notice_config& notice,
               const std::vector<bool>& down, bool unforeseen);

    /// The part fails at `at_ps` and works again at `until_ps` (k_never_ps: never). `affected`: sources that are to be
    /// told, sorted.
    void expect(const ub_failed_part& part, std::uint64_t at_ps, std::uint64_t until_ps,
                const std::vector<std::uint32_t>& affected);
    /// Called when the router of a source has written its table because the part has failed.
    using source_knows = std::function<void(std::uint32_t router, const ub_failed_part& part)>;
    void when_known(source_knows listener) { knows_ = std::move(listener); }
    /// Its sending end sees that the link (of the plan) is dead, or works again. Of links that nobody expects nobody is
    /// told.
    void link_down(std::uint32_t link);
    void link_up(std::uint32_t link);
    /// Sources that have fallen back to the link or its reverse, in order.
    std::vector<std::uint32_t> users_of(std::uint32_t link) const;
    void falls_back_to(std::uint32_t source, const std::vector<std::uint32_t>& links) override;

    const ub_notice_times& times() const { return times_; }
    /// Whether this source, or with hop_by_hop any router, has heard of the news in the order of expect().
    bool has_heard(std::uint32_t number, std::uint32_t router, bool works = false) const
    {
        return news_.at(number).phases[works ? 1 : 0].heard[router];
    }

    std::string stat_prefix() const override { return "notices"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }

    stat_group stats{"notices"};
    counter notices;          ///< packets, repeats included
    counter repeats;          ///< direct: of what was not acknowledged
    counter acknowledgements; ///< direct
    counter duplicates;       ///< notices of what had been heard before
    maximum slowest;          ///< from a failure or its end until a source has heard, ps

private:
    enum event_kind : std::uint8_t { k_apply, k_repeat, k_forward, k_tell_neighbour, k_registered, k_restored };
    enum phase_name : std::uint8_t { k_down, k_works };
    static constexpr std::uint32_t k_none = ub_topology::k_none;

    struct phase {
        bool begun = false;               ///< an end knows
        std::vector<bool> heard, applied; ///< by router
        std::vector<std::uint32_t> know;  ///< ends
        std::vector<std::uint32_t> tellings;
    };
    struct news {
        ub_failed_part part;
        std::vector<std::uint32_t> links, ends; ///< sorted
        std::uint64_t at_ps, until_ps;
        std::vector<std::uint32_t> affected; ///< direct: sources, sorted
        std::set<std::uint32_t> registered;  ///< direct: and those whose message is under way
        phase phases[2];
    };
    /// Direct: an end that has to tell a source.
    struct telling {
        std::uint32_t news, source, end;
        std::uint8_t phase;
        bool first; ///< of the two ends
        bool acknowledged = false;
        std::uint32_t tries = 0;
        ub_management_way way;            ///< of the last try
        std::vector<std::uint32_t> tried; ///< links
    };
    struct job {
        std::uint32_t news, router, other;
        std::uint8_t phase;
    };

    void heard(const ub_message& m) override;
    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void link_changes(std::uint32_t link, phase_name which);
    void end_knows(std::uint32_t number, phase_name which, std::uint32_t end);
    bool still_down(std::uint32_t link) const;
    bool holds(const news& n, std::uint32_t link) const;
    static std::uint32_t about(std::uint32_t number, std::uint8_t which) { return number * 2 + which; }
    void schedule(std::uint64_t at_ps, std::uint32_t a, event_kind kind);
    void schedule(std::uint64_t at_ps, const job& j, event_kind kind);
    bool hear(std::uint32_t number, std::uint8_t which, std::uint32_t router);
    void apply(const job& j);
    // Direct.
    std::vector<std::uint32_t> make_tellings(std::uint32_t number, std::uint8_t which,
                                             const std::vector<std::uint32_t>& sources);
    void begin_telling(std::uint32_t index);
    void tell(std::uint32_t index);
    void repeat(std::uint32_t index);
    void acknowledge(const telling& t);
    ub_management_ways::link_toll seen_dead(const news& n, std::uint8_t which,
                                            const std::vector<std::uint32_t>& ends) const;
    void note_registered(const job& j);
    // Hop by hop.
    void pass_on(const job& j);
    void send_to_neighbour(const job& j, std::uint32_t link);
    void set_up_statistics();

    ub_fabric& fabric_;
    timeline& time_;
    const ub_plan& plan_;
    const ub_notice_config& notice_;
    const std::vector<bool>& down_;
    ub_notice_times times_;
    source_knows knows_;
    bool direct_, unforeseen_;
    std::vector<std::vector<std::uint32_t>> out_; ///< links of each router
    std::vector<news> news_;
    std::vector<telling> tellings_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t>
        telling_of_; ///< (about, source, end)
    slots<job> jobs_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> users_; ///< (link, source)
    std::uint32_t actor_, sequence_ = 0;
};

} // namespace weft
