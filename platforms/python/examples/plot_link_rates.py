#!/usr/bin/env python3
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Bus bandwidth over size of an 8-NPU board of UB-Mesh, for two rates of a lane: plot_link_rates.py [FILE.png]."""
import sys

import matplotlib

matplotlib.use("Agg")  # to a file, without a display

import weft

BOARD = {
    "platform": "ub_mesh",
    "name": "board",
    "data": "off",  # the same times, without bytes
    "mesh": {"boards": 1, "npus": 8, "backplane": False},
    "workload": [
        {"op": "all_reduce", "algorithms": ["direct"], "range": {"from": "4 KiB", "to": "4 MiB", "factor": 4}},
    ],
}


def main(file: str) -> None:
    boards = weft.sweep(BOARD, {"ub.lane_rate": ["56 Gbps", "112 Gbps"]})
    for point in boards.points:
        best = point.result.busbw.max()
        print(f"{point.values['ub.lane_rate']:>8}: up to {best:.1f} GB/s")
    axes = boards.plot(op="all_reduce")
    axes.set_title("All-reduce on a board of 8 NPUs; dashed: the bound")
    axes.figure.savefig(file, dpi=150)
    print(f"written: {file}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "link_rates.png")
