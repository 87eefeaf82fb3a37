#!/usr/bin/env python3
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Every limit of a key that page 04 states is legal: a run with it gives right answers, or says why it does not.

    key_limits.py PROGRAM

Each key is set to its least and to its largest value on a small machine, and three algorithms run. A run may end with
exit code 0, 1 or 2, the last two with a reason; a crash, a bug of weft or a run of more than 60 s is a failure.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# File, algorithms of an all_reduce, further settings.
MACHINES = {
    "tpu_v3": ("configs/tpu_v3/mesh_4x4.yaml", "ring_1d, two_d, row_pair", []),
    "switchml": ("configs/switchml/rack_4x10g.yaml", "switchml, ring_1d, halving_doubling", []),
    "ub_mesh": ("configs/ub_mesh/board.yaml", "ring_1d, multi_axis, hierarchical", []),
    "trainium": ("configs/trainium/trn2.yaml", "device_mesh, kangaring, rdh", ["node.rows=2", "node.cols=2"]),
    "ipu_pod": ("configs/ipu_pod/pod16.yaml", "clockwise, meet_in_the_middle", []),
}
# Sizes of machines, whose largest take minutes, and sections that these files do not have.
LEFT_OUT = {"mesh", "node", "pod", "training_step", "faults", "host", "workload"}
LONGEST_S = 60


def limits(page):
    """(platform, key, value) of each limit in the tables of page 04."""
    platform = None
    for line in page.read_text().splitlines():
        if line.startswith("## platform: "):
            platform = line[len("## platform: "):]
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if platform is None or len(cells) < 3 or not cells[0].startswith("`"):
            continue
        key = cells[0].strip("`")
        if ".N." in key or key.split(".")[0] in LEFT_OUT:
            continue
        both = re.search(r", (.+?) to (.+?)( and .*)?$", cells[1])
        one = re.search(r", at (?:most|least) (.+?)( and .*)?$", cells[1])
        for value in both.groups()[:2] if both else one.groups()[:1] if one else ():
            yield platform, key, value


def failure_of(program, folder, platform, key, value):
    """What is wrong with a run; "" for nothing."""
    file, algorithms, settings = MACHINES[platform]
    workload = f"workload=[{{op: all_reduce, algorithms: [{algorithms}], sizes: [4 KiB]}}]"
    command = [program, "run", str(ROOT / file), "--quiet", "--out", str(folder / "out")]
    for setting in settings + [workload, f"{key}={value}"]:
        command += ["--set", setting]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return f"takes more than {LONGEST_S} s"
    if run.returncode not in (0, 1, 2):
        return f"ends with {run.returncode}: {run.stderr[-300:]}"
    if run.returncode != 0 and not run.stderr.strip():
        return f"ends with {run.returncode} and gives no reason"
    results = folder / "out/results.json"
    rows = json.loads(results.read_text())["results"] if run.returncode != 2 and results.exists() else []
    wrong = sum(row.get("wrong") or 0 for row in rows)
    return f"has {wrong} wrong elements" if wrong else ""


def main():
    os.environ["SC_COPYRIGHT_MESSAGE"] = "DISABLE"
    tried = 0
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for platform, key, value in limits(ROOT / "docs/04_config.md"):
            tried += 1
            if wrong := failure_of(sys.argv[1], pathlib.Path(folder), platform, key, value):
                failures.append(f"{platform}: {key}: {value} {wrong}")
    print(f"{tried} limits")
    print("\n".join(failures))
    return 1 if failures or tried < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
