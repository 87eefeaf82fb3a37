# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are stopped, by Ctrl-C, a time limit or with their Python: what was finished stays, no program is left."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Callable

import weft

from support import FolderTest, environment, long_run

WAIT_SECONDS = 60.0

RUN = """
import sys
sys.path.insert(0, {here!r})
import weft
from support import long_run
try:
    weft.run(long_run(), out="out")
except weft.Interrupted as e:
    print("interrupted", e.result is not None and list(e.result.table["op"]), flush=True)
    raise
"""
SWEEP = """
import sys
sys.path.insert(0, {here!r})
import weft
from support import board, long_run
try:
    weft.sweep(long_run(), {{"seed": [1, 2, 3, 4], "workload.1.sizes": [["4 GiB"]]}}, jobs=2, out="out")
except weft.Interrupted as e:
    print("interrupted", [point.reason for point in e.sweep.points], flush=True)
    raise
"""


def until(what: Callable[[], bool]) -> bool:
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


def programs_in(folder: Path) -> list:
    """Processes whose present folder this is, without those that have ended."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state = (process / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
            if Path(os.readlink(process / "cwd")) == folder and state != "Z":
                found.append((int(process.name), (process / "cmdline").read_bytes().split(b"\0")))
        except OSError:
            continue
    return found


class Interrupted(FolderTest):
    def start(self, script: str) -> subprocess.Popen:
        """Python with this script, in a group of its own."""
        self.python = subprocess.Popen(
            [sys.executable, "-c", script.format(here=str(Path(__file__).parent))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            start_new_session=True,
        )
        self.addCleanup(self.end)
        return self.python

    def end(self) -> None:
        self.python.kill()
        self.python.communicate()
        for pid, _ in programs_in(self.folder.resolve()):
            os.kill(pid, signal.SIGKILL)

    def simulating(self, count: int = 1) -> bool:
        """So many programs have computed for so long that they have finished the first, short case."""
        busy = [
            pid for pid, command in programs_in(self.folder.resolve()) if b"run" in command and seconds_of(pid) > 1.5
        ]
        return len(busy) >= count

    def test_ctrl_c_keeps_what_was_finished(self) -> None:
        for to_all in (False, True):  # a notebook interrupts Python alone, a terminal the whole group
            with self.subTest(to_all=to_all):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                python = self.start(RUN)
                self.assertTrue(until(self.simulating))
                os.killpg(python.pid, signal.SIGINT) if to_all else python.send_signal(signal.SIGINT)
                out, err = python.communicate(timeout=WAIT_SECONDS)
                self.assertEqual(out, "interrupted ['all_gather']\n", err)
                self.assertIn(
                    "weft.errors.Interrupted: interrupted; `result` has what was finished: 1 result, stopped early", err
                )
                self.assertNotEqual(python.returncode, 0)
                result = weft.load(self.folder / "out")
                self.assertIn("interrupted", result.failure)
                self.assertFalse(result.ok)
                self.assertEqual(programs_in(self.folder.resolve()), [])

    def test_ctrl_c_stops_all_points_of_a_sweep(self) -> None:
        python = self.start(SWEEP)
        self.assertTrue(until(lambda: self.simulating(2)))
        python.send_signal(signal.SIGINT)
        out, err = python.communicate(timeout=WAIT_SECONDS)
        self.assertEqual(out.count("interrupted; `result` has what was finished: 1 result"), 2, out + err)
        self.assertEqual(out.count("was not begun"), 2, out + err)
        self.assertEqual(len(weft.load(self.folder / "out" / "point_001").table), 1)
        self.assertEqual(programs_in(self.folder.resolve()), [])

    @unittest.skipIf(shutil.which("setpriv") is None, "setpriv, of Debian's util-linux, is missing")
    def test_no_program_survives_its_python(self) -> None:
        python = self.start(RUN)
        self.assertTrue(until(self.simulating))
        python.kill()
        python.communicate()
        self.assertTrue(until(lambda: not programs_in(self.folder.resolve())))
        self.assertIn("SIGTERM", weft.load(self.folder / "out").failure)

    def test_a_time_limit_keeps_what_was_finished(self) -> None:
        seconds = 1.0
        while True:  # the first case takes a moment, longer on a busy host
            with self.assertRaisesRegex(weft.TimedOut, f"stopped after {seconds:g} s") as caught:
                weft.run(long_run(), timeout=seconds)
            if caught.exception.result is not None and len(caught.exception.result.table):
                break
            seconds *= 2
            self.assertLess(seconds, WAIT_SECONDS)
        self.assertIsInstance(caught.exception, weft.RunFailed)
        self.assertEqual(list(caught.exception.result.table["op"]), ["all_gather"])
        self.assertIn("interrupted", caught.exception.result.failure)

    def test_a_program_that_does_not_end_is_killed(self) -> None:
        import weft.program

        before = weft.program._SAVING_SECONDS, weft.program._DYING_SECONDS
        weft.program._SAVING_SECONDS = weft.program._DYING_SECONDS = 0.3
        self.addCleanup(setattr, weft.program, "_SAVING_SECONDS", before[0])
        self.addCleanup(setattr, weft.program, "_DYING_SECONDS", before[1])
        with environment(WEFT=self.program("trap '' INT; while :; do sleep 0.1; done")), self.assertRaises(
            weft.TimedOut
        ) as caught:
            begun = time.monotonic()
            weft.run(long_run(), timeout=0.5)
        self.assertLess(time.monotonic() - begun, 20)
        self.assertIsNone(caught.exception.result)


def seconds_of(pid: int) -> float:
    """CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    unittest.main()
