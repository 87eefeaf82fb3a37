# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Wrong input, warnings, and programs that end badly."""
from __future__ import annotations

import contextlib
import io
import json
import unittest
import warnings

import numpy as np

import weft

from support import SOURCE, FolderTest, board, environment


class Input(FolderTest):
    def test_a_wrong_key_of_a_dict_has_line_and_column(self) -> None:
        config = board(mesh={"rows": 2, "columns": 2})
        lines = json.dumps(config, indent=2).splitlines()
        with self.assertRaises(weft.InputError) as caught:
            weft.run(config)
        (problem,) = caught.exception.problems
        self.assertEqual((problem.file, problem.level), ("<stdin>", "error"))
        self.assertIn('"columns"', lines[problem.line - 1])
        self.assertEqual(problem.column, lines[problem.line - 1].index('"columns"') + 1)
        self.assertEqual(problem.message, "mesh.columns: unknown key; legal here: 'rows', 'cols', 'wrap'")
        self.assertIn(str(problem), str(caught.exception))
        self.assertIsInstance(caught.exception, ValueError)

    def test_all_problems_of_a_file_come_with_its_name(self) -> None:
        file = self.folder / "wrong: one.yaml"
        file.write_text(
            "platform: tpu_v3\nmesh: {rows: 2, cols: none}\nworkload:\n  - {op: all_reduse, sizes: [4 KiB]}\n",
            encoding="utf-8",
        )
        with self.assertRaises(weft.InputError) as caught:
            weft.check(file)
        problems = caught.exception.problems
        self.assertEqual([(p.file, p.line, p.column) for p in problems], [(str(file), 2, 23), (str(file), 4, 10)])

    def test_wrong_values_of_set_and_missing_files_are_the_programs_sentences(self) -> None:
        self.assertRaisesRegex(
            weft.InputError, "--set: error: mesh.rows: is 0, must be 1 to 256", weft.run, board(), {"mesh.rows": 0}
        )
        self.assertRaisesRegex(
            weft.InputError, "none.yaml: error: there is no such file", weft.run, self.folder / "none.yaml"
        )
        self.assertRaisesRegex(weft.InputError, "error: .*not valid YAML", weft.run, "platform: [\n}")
        self.assertRaisesRegex(weft.InputError, "platform: is missing", weft.run, {})
        self.assertRaisesRegex(weft.InputError, "is empty", weft.run, "\n")
        self.assertRaisesRegex(
            weft.InputError, "mesh.cols: has no value", weft.run, board(mesh={"rows": 2, "cols": None})
        )
        self.assertRaisesRegex(weft.InputError, "--no-such-option", weft.run, board(), arguments=["--no-such-option"])

    def test_nothing_is_written_for_refused_input_and_older_results_stay(self) -> None:
        digest = weft.run(board(), out=self.folder / "out").digest
        self.assertRaises(weft.InputError, weft.run, board(mesh=1), out=self.folder / "out")
        self.assertEqual(weft.load(self.folder / "out").digest, digest)

    def test_what_is_no_platform_is_refused_before_anything_runs(self) -> None:
        for config, error, sentence in (
            (7, TypeError, "a dict, a text or the name of a file, not int"),
            (b"x.yaml", TypeError, "not bytes"),
            ("", ValueError, "the name of the platform file is empty"),
            (board(seed={1, 2}), TypeError, "seed: a set is no value"),
            (board(ici={"link_rate": float("nan")}), ValueError, "ici.link_rate: nan is no value"),
            (board(workload=[{"op": b"x"}]), TypeError, "workload.0.op: a bytes is no value"),
            (board(seed=np.array([np.inf])), ValueError, "seed.0: inf"),
            ({1: 2}, TypeError, "1 is no key"),
            (board(name="\udc80"), ValueError, "name: .* is no Unicode text"),
        ):
            with self.subTest(sentence), environment(WEFT=self.folder / "none"), self.assertRaisesRegex(
                error, sentence
            ):
                weft.run(config)
        with environment(WEFT=self.program(f"touch '{self.folder}/begun'")):
            self.assertRaises(TypeError, weft.run, board(), timeout="5")
        self.assertFalse((self.folder / "begun").exists())
        for key in ("", "mesh=rows", 3):
            self.assertRaisesRegex(ValueError, "is no key; write a path", weft.run, board(), {key: 1})

    def test_a_key_that_nothing_uses_is_a_warning(self) -> None:
        config = board(ici={"cable_propagation": "30 ns"})
        with self.assertWarnsRegex(weft.InputWarning, "ici.cable_propagation: is set, but nothing uses it") as caught:
            result = weft.run(config)
        self.assertEqual(caught.filename, __file__)  # it points to the caller
        self.assertEqual(len(result.warnings), 1)
        (problem,) = weft.check(config).warnings
        self.assertIn("ici.cable_propagation", problem.message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            weft.run(board())

    def test_the_table_is_repeated_when_the_run_is_not_quiet(self) -> None:
        out, err = io.StringIO(), io.StringIO()
        config = board(ici={"cable_propagation": "30 ns"})
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("error")
            result = weft.run(config, quiet=False)
            weft.run(board())
        self.assertEqual(out.getvalue().count("Digest"), 1)
        self.assertIn(result.digest, out.getvalue())
        self.assertEqual(err.getvalue().count("nothing uses it"), 1)  # told once, and not as an InputWarning, too

    def test_further_options_reach_the_program(self) -> None:
        weft.run(board(), arguments=["--trace", str(self.folder / "t r.json")])
        self.assertIn("traceEvents", json.loads((self.folder / "t r.json").read_text(encoding="utf-8")))

    def test_check_tells_what_a_platform_means(self) -> None:
        checked = weft.check(SOURCE / "configs" / "tpu_v3" / "mesh_4x4.yaml", {"mesh.rows": 2})
        self.assertIn("2 x 4 mesh of 8 chips", checked.text)
        self.assertIn("deadlock-free", str(checked))
        self.assertEqual(checked.warnings, ())


class Ends(FolderTest):
    def test_every_exit_code_has_its_exception(self) -> None:
        for script, error, sentence in (
            ("echo 'the host lost its way' >&2; exit 3", weft.Bug, "the host lost its way"),
            ("kill -SEGV $$", weft.Bug, "crashed: SIGSEGV"),
            ("kill -KILL $$", weft.RunFailed, "ended by SIGKILL; where nobody sent it, the host had no memory left"),
            ("echo stopped >&2; exit 143", weft.RunFailed, "somebody sent SIGTERM to the program\nstopped"),
            ("exit 1", weft.RunFailed, "exit code 1"),
            (
                "printf '%s\\n' 'a.yaml:1:2: warning: x: y' '    x: 1' '    ^' 'it failed' '    here' >&2; exit 1",
                weft.RunFailed,
                "^it failed\n    here$",
            ),
            ("exit 0", weft.Bug, "wrote no .*results.json"),
            ("for i in $(seq 50); do echo line $i >&2; done; exit 1", weft.RunFailed, "line 12\n... and 38 more lines"),
        ):
            with self.subTest(script), environment(WEFT=self.program(script)), self.assertRaisesRegex(
                error, sentence
            ) as caught:
                weft.run(board())
            self.assertIsNone(getattr(caught.exception, "result", None))

    def test_results_of_an_earlier_run_are_not_taken_for_those_of_a_failed_one(self) -> None:
        weft.run(board(), out=self.folder / "out")
        with environment(WEFT=self.program("exit 1", "fails")), self.assertRaises(weft.RunFailed) as caught:
            weft.run(board(), out=self.folder / "out")
        self.assertIsNone(caught.exception.result)

    def test_a_program_that_reads_nothing_and_writes_much_does_not_hang(self) -> None:
        script = "head -c 3000000 /dev/zero | tr '\\0' 'x'; head -c 3000000 /dev/zero | tr '\\0' 'y' >&2; exit 2"
        with environment(WEFT=self.program(script)), self.assertRaises(weft.InputError) as caught:
            weft.run(board(notes=["x" * 1000] * 1000))
        self.assertEqual(len(caught.exception.stderr), 3000000)


if __name__ == "__main__":
    unittest.main()
