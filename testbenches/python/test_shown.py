# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Data frames, plots, and what a notebook shows."""
from __future__ import annotations

import html
import io
import sys
import unittest
import warnings
from html.parser import HTMLParser
from unittest import mock

import numpy as np

import weft

from support import FolderTest, board, environment, needs


class Frames(FolderTest):
    @needs("pandas")
    def test_columns_have_types_and_units(self) -> None:
        result = weft.run(board(), {"workload.0.repeats": 2})
        frame = result.frame()
        self.assertEqual(list(frame.columns), list(result.table.dtype.names))
        kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
        self.assertEqual(
            [kinds[name] for name in ("op", "size_bytes", "time_us", "wrong", "repeats", "bound_by", "min_us")],
            ["string", "int64", "float64", "Int64", "Int64", "string", "float64"],
        )
        self.assertEqual(frame.attrs["units"], result.units)
        np.testing.assert_array_equal(frame["time_us"], result.table["time_us"])
        self.assertEqual(list(frame["repeats"].isna()), [False, False, True])
        self.assertEqual(frame["wrong"].sum(), 0)

    @needs("pandas")
    def test_unchecked_answers_are_missing_and_not_zero(self) -> None:
        self.assertTrue(weft.run(board(data="off")).frame()["wrong"].isna().all())

    @needs("pandas")
    def test_there_are_frames_of_everything(self) -> None:
        config = board(training_step={"compute": "20 us", "groups": [{"bytes": "4 KiB"}]})
        del config["workload"]
        result = weft.run(config)
        for of, rows in (
            ("results", 0),
            ("training_steps", 1),
            ("training_parts", 1),
            ("links", len(result.links)),
            ("statistics", len(result.statistics)),
        ):
            self.assertEqual(len(result.frame(of)), rows, of)
        self.assertEqual(result.frame().dtypes["size_bytes"], "int64")  # also of an empty frame
        self.assertEqual(result.frame("training_parts")["name"][0], "gradients")
        self.assertGreater(len(result.statistics), 10)
        self.assertRaisesRegex(ValueError, "no frame of 'link'; choose one of results", result.frame, "link")

    def test_a_missing_package_is_a_sentence(self) -> None:
        result = weft.run(board())
        with mock.patch.dict(sys.modules, {"pandas": None}), self.assertRaisesRegex(
            weft.MissingPackage, "apt-get install python3-pandas"
        ):
            result.frame()
        with mock.patch.dict(sys.modules, {"matplotlib.pyplot": None}), self.assertRaisesRegex(
            weft.MissingPackage, "python3-matplotlib"
        ):
            result.plot()
        self.assertTrue(issubclass(weft.MissingPackage, ImportError))


class Plots(FolderTest):
    @needs("matplotlib")
    def test_curves_are_the_results_and_bounds_lie_above(self) -> None:
        result = weft.run(board(), {"workload.0.sizes": ["256 KiB", "4 KiB", "64 KiB"]})
        axes = result.plot(op="all_reduce")
        ring, ring_bound, two_d, _ = axes.get_lines()
        np.testing.assert_array_equal(ring.get_xdata(), [4096, 65536, 262144])  # in the order of sizes
        np.testing.assert_array_equal(two_d.get_ydata(), result.busbw_GBps(algorithm="two_d")[[1, 2, 0]])
        shares = ring.get_ydata() / ring_bound.get_ydata()
        np.testing.assert_allclose(
            shares, result.select(op="all_reduce", algorithm="ring_1d")["bound_share"][[1, 2, 0]]
        )
        self.assertEqual(axes.get_ylabel(), "bus bandwidth (GB/s)")
        self.assertEqual(
            [text.get_text() for text in axes.get_legend().get_texts()],
            ["all_reduce ring_1d, int32", "all_reduce two_d, int32"],
        )
        picture = io.BytesIO()
        axes.figure.savefig(picture, format="png")
        self.assertEqual(picture.getvalue()[:4], b"\x89PNG")

    @needs("matplotlib")
    def test_times_sweeps_and_labels_can_be_drawn(self) -> None:
        sweep = weft.sweep(board(), {"ici.link_rate": ["50 GB/s", "100 GB/s"]})
        axes = sweep.plot(y="time_us", bound=False, op="all_gather")
        self.assertEqual(
            [line.get_label() for line in axes.get_lines()],
            [
                "ici.link_rate = 50 GB/s, all_gather ring_1d, int32",
                "ici.link_rate = 100 GB/s, all_gather ring_1d, int32",
            ],
        )
        again = weft.plot({"slow": sweep.results[0], "fast": sweep.results[1]}, ax=axes, y="time_us", op="all_gather")
        self.assertIs(again, axes)
        self.assertEqual(len(axes.get_lines()), 2 + 4)

    @needs("matplotlib")
    def test_what_cannot_be_drawn_is_a_sentence(self) -> None:
        result = weft.run(board())
        self.assertRaisesRegex(ValueError, "'op' is no numeric field", result.plot, y="op")
        self.assertRaisesRegex(ValueError, "no result has op = 'x'", result.plot, op="x")
        self.assertRaisesRegex(TypeError, "not list", weft.plot, [result])
        self.assertRaisesRegex(ValueError, "no result to draw", weft.plot, {})


class Cells(HTMLParser):
    """Texts of the cells of a table, and whether all tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list = []
        self.rows: list = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


class Notebook(FolderTest):
    def test_a_result_shows_a_small_table(self) -> None:
        result = weft.run(board(name="<b> & co"))
        text = result._repr_html_()
        cells = Cells(text)
        self.assertEqual(cells.open, [])
        self.assertEqual(len(cells.rows), 1 + 3)
        self.assertEqual(cells.rows[1][:4], ["all_reduce", "ring_1d", "int32", "65536"])
        self.assertEqual(float(cells.rows[1][4]), float(f"{result.table['time_us'][0]:.6g}"))
        self.assertIn("&lt;b&gt; &amp; co", text)
        self.assertIn(result.digest, text)

    def test_long_tables_are_cut_and_say_so(self) -> None:
        result = weft.run(board(data="off"), {"workload.0.sizes": [f"{2 ** i} B" for i in range(2, 14)]})
        cells = Cells(result._repr_html_())
        self.assertEqual(len(cells.rows), 1 + 20 + 1)
        self.assertEqual(cells.rows[-1], ["... and 5 more rows"])

    def test_warnings_failures_and_steps_are_shown(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = weft.run(
                board(
                    ici={"cable_propagation": "30 ns"},
                    training_step={"compute": "20 us", "groups": [{"bytes": "4 KiB"}]},
                )
            )
        result.raw["failure"] = "a wait timed out\nand more"
        text = result._repr_html_()
        self.assertIn("ici.cable_propagation", text)
        self.assertIn("Stopped: a wait timed out<", text)
        self.assertEqual(Cells(text).rows[-2][:2], ["step", "time (us)"])

    def test_a_sweep_shows_its_points(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sweep = weft.sweep(board(), {"mesh.rows": [2, 0]})
        rows = Cells(sweep._repr_html_()).rows
        self.assertEqual(rows[1], ["0", "2", "3 results, all right"])
        self.assertEqual(rows[2][:2], ["1", "0"])
        self.assertIn("failed: --set: error: mesh.rows", rows[2][2])

    def test_a_report_stands_in_the_notebook_itself(self) -> None:
        result = weft.run(board(), out=self.folder / "out")
        page = '<!doctype html><title>A "report" & <more></title><script>1 < 2</script>'
        (self.folder / "out" / "report.html").write_text(page, encoding="utf-8")
        report = result.report(height=400)
        self.assertEqual((report.html, report.path), (page, self.folder / "out" / "report.html"))
        shown = report._repr_html_()
        source = shown.partition('srcdoc="')[2].partition('"')[0]
        self.assertEqual(html.unescape(source), page)
        self.assertIn("height:400px", shown)

    def test_the_program_is_asked_for_a_report(self) -> None:
        result = weft.run(board(), out=self.folder / "out")
        old = "--help) printf 'Subcommands:\\n  run   Run\\n  check  Check\\n\\nExit codes:\\n  report x\\n';;"
        new = old.replace("  run ", "  report   Make\\n  run ")
        with environment(WEFT=self.program(f'case "$1" in {old} esac', "old")):
            self.assertRaisesRegex(weft.ReportMissing, "has no command `report`", result.report)
        with environment(
            WEFT=self.program(f'case "$1" in {new} report) echo "run it with --report" >&2; exit 2;; esac', "refuses")
        ):
            self.assertRaisesRegex(weft.ReportMissing, "made no page for .*:\nrun it with --report", result.report)
        with environment(
            WEFT=self.program(f'case "$1" in {new} report) echo a page > "$2/report.html";; esac', "makes")
        ):
            self.assertEqual(result.report().html, "a page\n")

    def test_a_run_that_keeps_its_activity_has_a_report(self) -> None:
        report = weft.run(board(), report=True).report()
        self.assertIn("<html", report.html)
        self.assertIn("all_reduce", report.html)


if __name__ == "__main__":
    unittest.main()
