# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Sweeps: every point is a run of its own, and one that fails does not stop the others."""
from __future__ import annotations

import contextlib
import io
import json
import os
import unittest
import warnings

import numpy as np

import weft

from support import FolderTest, board, environment, needs


class Sweeps(FolderTest):
    def test_one_of_three_points_fails(self) -> None:
        with self.assertWarnsRegex(weft.SweepWarning, "1 of 3 points failed:\npoint 1 .*mesh.rows: is 0") as caught:
            sweep = weft.sweep(board(), {"mesh.rows": [2, 0, 4]}, out=self.folder)
        self.assertEqual(caught.filename, __file__)
        self.assertEqual([point.ok for point in sweep.points], [True, False, True])
        (failed,) = sweep.failures
        self.assertEqual(failed.values, {"mesh.rows": 0})
        self.assertIsInstance(failed.error, weft.InputError)
        self.assertIn("mesh.rows: is 0, must be 1 to 256", failed.reason)
        table = sweep.table
        self.assertEqual(sorted(set(table["point"])), [0, 2])
        self.assertEqual(table["mesh.rows"].dtype, np.int64)
        for point in (0, 2):
            alone = weft.run(board(), {"mesh.rows": sweep.points[point].values["mesh.rows"]})
            self.assertEqual(alone.digest, sweep.points[point].result.digest)
            np.testing.assert_array_equal(table["time_us"][table["point"] == point], alone.table["time_us"])
            self.assertEqual(weft.load(self.folder / f"point_{point:03d}").digest, alone.digest)
        self.assertEqual(
            json.loads((self.folder / "point_001" / "point.json").read_text(encoding="utf-8")), {"mesh.rows": 0}
        )
        self.assertIn("3 points, 1 failed", repr(sweep))

    @needs("pandas")
    def test_the_frame_is_the_table(self) -> None:
        grid = {"ici.link_rate": ["82 GB/s", "100 GB/s"], "workload.0.sizes": [["4 KiB"], ["8 KiB"]], "seed": [1, 2]}
        sweep = weft.sweep(board(), grid, jobs=3)
        frame = sweep.frame()
        self.assertEqual(len(sweep.points), 8)
        self.assertEqual(sweep.points[1].values, {"ici.link_rate": "82 GB/s", "workload.0.sizes": ["4 KiB"], "seed": 2})
        self.assertEqual(len(frame), 8 * 3)
        self.assertEqual(
            [str(frame.dtypes[name]) for name in ("point", "ici.link_rate", "workload.0.sizes", "seed")],
            ["int64", "string", "string", "int64"],
        )
        self.assertEqual(set(frame["workload.0.sizes"]), {'["4 KiB"]', '["8 KiB"]'})
        np.testing.assert_array_equal(frame["time_us"], sweep.table["time_us"])
        faster = frame[frame["ici.link_rate"] == "100 GB/s"].groupby("algorithm")["time_us"].max()
        slower = frame[frame["ici.link_rate"] == "82 GB/s"].groupby("algorithm")["time_us"].max()
        self.assertTrue((faster < slower).all())

    def test_points_may_be_listed_with_different_keys(self) -> None:
        sweep = weft.sweep(board(), [{"mesh.rows": 4}, {"mesh.cols": 4}], set={"data": "off"})
        self.assertEqual(sweep.keys, ["mesh.rows", "mesh.cols"])
        self.assertEqual([point.result.config["mesh"]["cols"] for point in sweep.points], [2, 4])
        self.assertEqual(set(sweep.table["mesh.rows"][sweep.table["point"] == 1]), {""})
        self.assertEqual({point.result.config["data"] for point in sweep.points}, {"off"})

    def test_a_sweep_without_any_result_is_an_error(self) -> None:
        with self.assertRaisesRegex(weft.SweepFailed, "2 of 2 points failed:(.|\n)*mesh.columns") as caught:
            weft.sweep(board(), {"mesh.columns": [2, 4]})
        self.assertEqual(len(caught.exception.sweep.failures), 2)

    def test_a_wrong_grid_is_refused_before_anything_runs(self) -> None:
        for grid, sentence in (
            ({"ici.link_rate": "82 GB/s"}, "grid\\['ici.link_rate'\\] is '82 GB/s'; give a list"),
            ({"mesh.rows": 3}, "give a list"),
            ({}, "at least one point"),
            ({"mesh.rows": []}, "at least one point"),
            ([], "at least one point"),
            ([{}], "at least one key"),
            ({"a=b": [1]}, "is no key"),
            ({"seed": [float("inf")]}, "inf is no value"),
        ):
            with self.subTest(sentence), environment(WEFT=self.folder / "none"), self.assertRaisesRegex(
                ValueError, sentence
            ):
                weft.sweep(board(), grid)
        self.assertRaisesRegex(ValueError, "jobs is 0", weft.sweep, board(), {"seed": [1]}, jobs=0)

    def test_points_run_at_the_same_time_but_no_more_than_asked_for(self) -> None:
        script = (
            f'cd "{self.folder}"; mkdir running.$$; ls -d running.* | wc -l >> counts; sleep 0.5; '
            "rmdir running.$$; echo no >&2; exit 1"
        )
        with environment(WEFT=self.program(script)), self.assertRaises(weft.SweepFailed):
            weft.sweep(board(), {"seed": [1, 2, 3, 4, 5]}, jobs=2)
        counts = [int(line) for line in (self.folder / "counts").read_text(encoding="utf-8").split()]
        self.assertEqual((len(counts), max(counts)), (5, 2))

    def test_a_folder_that_cannot_be_written_is_a_reason(self) -> None:
        (self.folder / "point_001").write_text("a file", encoding="utf-8")
        with self.assertWarnsRegex(weft.SweepWarning, "point_001 cannot be written: File exists"):
            sweep = weft.sweep(board(), {"seed": [1, 2]}, out=self.folder)
        self.assertEqual(len(sweep.results), 1)

    def test_a_point_that_stops_keeps_what_it_has_finished(self) -> None:
        jobs = {
            "platform": "switchml",
            "name": "jobs",
            "workers": 8,
            "network": {"rate": "10 Gbps"},
            "firmware_timeout": "5 ms",
            "job": {"transport": "udp", "jobs": 2, "slots": 128},
            "workload": [{"op": "all_reduce", "algorithms": ["switchml"], "sizes": ["1 MiB"]}],
        }
        with self.assertWarns(weft.SweepWarning):
            sweep = weft.sweep(jobs, {"faults.outages": [[], [{"worker": 5, "from": "100 us"}]]})
        self.assertIsInstance(sweep.points[1].error, weft.RunFailed)
        self.assertEqual(list(sweep.points[1].result.table["group"]), ["job 0"])
        self.assertEqual(set(sweep.table["point"]), {0})

    def test_a_warning_of_all_points_is_told_once(self) -> None:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            weft.sweep(board(ici={"cable_propagation": "30 ns"}), {"seed": [1, 2, 3]})
        self.assertEqual([warning.category for warning in told], [weft.InputWarning])
        self.assertEqual(told[0].filename, __file__)

    def test_a_reason_is_an_error_and_not_the_warning_before_it(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sweep = weft.sweep(board(ici={"cable_propagation": "30 ns"}), {"mesh.rows": [2, 0]})
        self.assertEqual(sweep.points[1].reason, "--set: error: mesh.rows: is 0, must be 1 to 256.")

    def test_progress_is_told_when_it_is_not_quiet(self) -> None:
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            weft.sweep(board(), {"seed": [1, 2]}, quiet=False)
        self.assertRegex(err.getvalue(), "(?m)^weft: 1 of 2 points; seed = [12]: 3 results, all right$")
        self.assertRegex(err.getvalue(), "(?m)^weft: 2 of 2 points; ")

    def test_temporary_folders_disappear_with_the_sweep(self) -> None:
        sweep = weft.sweep(board(), {"seed": [1]})
        folder = sweep.points[0].folder
        self.assertTrue(os.path.isdir(folder))
        del sweep
        self.assertFalse(os.path.exists(folder.parent))


if __name__ == "__main__":
    unittest.main()
