// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long heads have waited at the outputs of a fabric, and for what. Two times per output, which never overlap:
//   starved    it was idle, a head waited, and none that waited had the credits of its VL
//   contended  it transmitted, and a head from another rank waited for its turn
// Only heads that wait touch it: a packet that finds its output idle, and credits, costs nothing here.
#pragma once

#include "tlm/timeline.h"

#include <cstdint>
#include <vector>

namespace weft {

class output_waits {
public:
    void set_outputs(std::size_t links, std::uint32_t vls)
    {
        vls_ = vls;
        outputs_.resize(links);
        starved_ps_.resize(links * vls, 0);
    }

    /// An arbitration at `now_ps` has found no head with credits; one of `vl` lacks them. `busy_until_ps`: end of
    /// the last transmission.
    void begin_starving(std::uint32_t link, std::uint32_t vl, std::uint64_t busy_until_ps, std::uint64_t now_ps)
    {
        output& o = outputs_[link];
        if (is_starving(o, busy_until_ps))
            return;
        o.since_ps = now_ps;
        o.vl = vl;
    }
    /// A head goes after an idle time.
    void end_starving(std::uint32_t link, std::uint64_t busy_until_ps, std::uint64_t now_ps)
    {
        output& o = outputs_[link];
        if (is_starving(o, busy_until_ps)) {
            o.starved_ps += now_ps - o.since_ps;
            starved_ps_[std::size_t{link} * vls_ + o.vl] += now_ps - o.since_ps;
        }
        o.since_ps = k_never_ps;
    }
    /// Nobody waits any more, and none of them went.
    void forget(std::uint32_t link) { outputs_[link].since_ps = k_never_ps; }
    /// A head from another rank waits from `now_ps` on, while the output transmits until `busy_until_ps`.
    /// A transmission counts once, whatever number of heads waits.
    void contend(std::uint32_t link, std::uint64_t now_ps, std::uint64_t busy_until_ps)
    {
        output& o = outputs_[link];
        if (o.contended_until_ps >= busy_until_ps)
            return;
        o.contended_ps += busy_until_ps - now_ps;
        o.contended_until_ps = busy_until_ps;
    }

    std::uint64_t contended_ps(std::uint32_t link) const { return outputs_[link].contended_ps; }
    /// Up to `now_ps`, what has not ended included.
    std::uint64_t starved_ps(std::uint32_t link, std::uint64_t busy_until_ps, std::uint64_t now_ps) const
    {
        const output& o = outputs_[link];
        return o.starved_ps + (is_starving(o, busy_until_ps) ? now_ps - o.since_ps : 0);
    }
    std::uint64_t starved_ps(std::uint32_t link, std::uint32_t vl, std::uint64_t busy_until_ps,
                             std::uint64_t now_ps) const
    {
        const output& o = outputs_[link];
        return starved_ps_[std::size_t{link} * vls_ + vl] +
               (is_starving(o, busy_until_ps) && o.vl == vl ? now_ps - o.since_ps : 0);
    }
    std::uint64_t bytes() const
    {
        return outputs_.capacity() * sizeof(output) + starved_ps_.capacity() * 8;
    } ///< of the host

private:
    struct output {
        std::uint64_t since_ps = k_never_ps; ///< it starves since then, unless it has transmitted since
        std::uint64_t starved_ps = 0;
        std::uint64_t contended_ps = 0;
        std::uint64_t contended_until_ps = 0; ///< end of the last transmission that was contended
        std::uint32_t vl = 0; ///< for whose credits
    };
    static bool is_starving(const output& o, std::uint64_t busy_until_ps)
    {
        return o.since_ps != k_never_ps && o.since_ps >= busy_until_ps;
    }

    std::vector<output> outputs_;
    std::vector<std::uint64_t> starved_ps_; ///< by link and VL
    std::uint32_t vls_ = 1;
};

} // namespace weft
