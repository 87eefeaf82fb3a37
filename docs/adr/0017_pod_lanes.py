#!/usr/bin/env python3
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""The model of ADR 0017, item 29: an all_reduce of 64 MiB on a pod of UB-Mesh, 16 racks of 8x8 NPUs, by lanes of direct
exchanges.

All ranks do the same, so one stands for all: it makes messages one after the other, each waits in the queue of its link,
and a phase has ended when the last of its messages, as long as this rank sends them, has come. Times are us, rates bytes
per us. `python3 0017_pod_lanes.py` takes half a minute.
"""

import itertools

SIZES = (8, 8, 4, 4)  # ranks of a line: X, Y, rows of racks, columns of racks
LANE = 12.22e3  # payload of a lane of 112 Gb/s
LINK = (4 * LANE, 4 * LANE, 2 * LANE, 2 * LANE)  # to each neighbour; four more lanes lead to pod switches
BYTES = 64 << 20
BOUND = 2 * BYTES * 1023 / 1024 / (72 * LANE)
WAKE, START = 0.5, 8.0  # of the core: after a phase, before the first message


class Lane:
    """One part of the data: a reduce-scatter along the dimensions in this order, and an all-gather back."""

    def __init__(self, share, order):
        out, part = [], BYTES * share
        for dimension in order:
            part /= SIZES[dimension]
            out.append((dimension, part))
        self.phases = out + out[::-1]
        self.at, self.sent, self.ready, self.arrived = 0, 0, START, 0.0

    def done(self):
        return self.at == len(self.phases)


def time_of(lanes, latency, message, waits_for_sums, later_first):
    """`lanes`: (share, order); `latency`: by dimension; `message`: what one takes of the core."""
    work = [Lane(share, order) for share, order in lanes]
    half = len(SIZES)
    free, now, turn, end = {}, START, 0, 0.0
    while not all(w.done() for w in work):
        candidates = [j for j, w in enumerate(work) if not w.done()]
        if waits_for_sums:  # no lane gathers before all have summed
            all_summed = all(w.at > half or (w.at == half and w.ready <= now) for w in work)
            candidates = [j for j in candidates if work[j].at != half or all_summed] or candidates
        ready = [j for j in candidates if work[j].ready <= now]
        if not ready:
            now = min(work[j].ready for j in candidates)
            continue
        chosen = min(ready, key=lambda j: (-work[j].at if later_first else 0, (j - turn) % len(work)))
        turn = chosen + 1
        w = work[chosen]
        dimension, size = w.phases[w.at]
        now += message
        link = (dimension, w.sent)
        free[link] = max(free.get(link, 0.0), now) + size / LINK[dimension]
        w.arrived = max(w.arrived, free[link] + latency[dimension])
        w.sent += 1
        if w.sent == SIZES[dimension] - 1:
            w.at, w.sent, w.ready = w.at + 1, 0, w.arrived + WAKE
            end = max(end, w.arrived)
    return end


def in_turns(lanes, turns):
    return [(share / turns, order) for share, order in lanes for _ in range(turns)]


def best(shapes, latency, message):
    return min(
        time_of(in_turns(lanes, turns), latency, message, sums, later)
        for lanes, turns, sums, later in itertools.product(shapes, (1, 2, 3, 4, 6, 8), (False, True), (False, True))
    )


FAST = [[(0.5, (0, 1, 2, 3)), (0.5, (1, 0, 2, 3))]]
SLOW_TOO = [
    [(0.5 - f, (0, 1, 2, 3)), (0.5 - f, (1, 0, 3, 2)), (f, third), (f, fourth)]
    for f in (0.03, 0.04, 0.05, 0.06, 0.07, 0.075, 0.08, 0.085, 0.09, 0.095, 0.1, 0.11)
    for third, fourth in (((2, 3, 0, 1), (3, 2, 1, 0)), ((2, 0, 1, 3), (3, 1, 0, 2)), ((2, 0, 3, 1), (3, 1, 2, 0)))
]

if __name__ == "__main__":
    of_links = (2.5, 2.5, 4, 4)
    for what, shapes, latency, message in (
        ("lanes along X and Y first, as today", FAST, of_links, 0.35),
        ("lanes for all dimensions", SLOW_TOO, of_links, 0.35),
        ("the same, a message 0.05 us", SLOW_TOO, of_links, 0.05),
        ("the same, messages for nothing", SLOW_TOO, of_links, 0.0),
        ("the same, and no latency", SLOW_TOO, (0, 0, 0, 0), 0.0),
    ):
        us = best(shapes, latency, message)
        print(f"{what:40} {us:6.1f} us, {100 * BOUND / us:.1f} % of the bound of {BOUND:.1f} us", flush=True)
