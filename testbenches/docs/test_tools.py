#!/usr/bin/env python3
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""run_commands.py, check_names.py and check_sentences.py find what is wrong, in pages made for it and with a program of a few lines of sh."""
from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import List, Tuple
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import check_names
import check_sentences
import run_commands

PAGE = """# A page

    ./weft quiet --option      # an explanation

Text.

    NAME=value

    $ ./weft greet "$NAME" \\
        --loudly
    hello value --loudly
    Host time        2.71 s, of which 2.14 s of CPU

    $ ./weft lines | tail -n 3
    ...
    five

More text.

    not a command, the output of something
"""

PROGRAM = """#!/bin/sh
case $1 in
    greet) echo "hello $2 $3"; echo "Host time        9.99 s, of which 1.00 s of CPU" ;;
    lines) printf 'three\\nfour\\nfive\\n' ;;
    quiet) test -e configs ;;
    fail) echo "a problem" >&2; exit 3 ;;
esac
"""


class Commands(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("configs", "firmware", "docs", "rtl", "testbenches/docs"):
            (self.root / name).mkdir(parents=True)
        self.program = self.root / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.exceptions("")

    def exceptions(self, text: str) -> None:
        (self.root / "testbenches/docs/exceptions.yaml").write_text(text)

    def run_page(self, text: str, how_much: str = "all", update: bool = False) -> Tuple[int, str]:
        (self.root / "page.md").write_text(text)
        out = io.StringIO()
        environment = {key: value for key, value in os.environ.items() if key != "WEFT_UPDATE_EXPECTED"}
        if update:
            environment["WEFT_UPDATE_EXPECTED"] = "1"
        with mock.patch.object(run_commands, "SOURCE", self.root), mock.patch.object(
            sys, "argv", ["run_commands.py", str(self.program), "page.md", how_much]
        ), mock.patch.dict(os.environ, environment, clear=True), contextlib.redirect_stdout(out):
            try:
                code = run_commands.main()
            except SystemExit as stopped:
                code = 1
                print(stopped)
        return code, out.getvalue()

    def test_a_true_page_passes_and_host_times_do_not_count(self) -> None:
        code, said = self.run_page(PAGE)
        self.assertEqual(code, 0, said)
        self.assertIn("4 commands run, 2 outputs compared", said)
        code, said = self.run_page(PAGE, "fast")
        self.assertEqual(code, 0, said)
        self.assertIn("3 commands run, 2 outputs compared", said)

    def test_every_broken_line_of_an_output_is_found(self) -> None:
        lines = PAGE.splitlines()
        outputs: List[int] = [i for i, line in enumerate(lines) if line.strip() in ("hello value --loudly", "five")]
        self.assertEqual(len(outputs), 2)
        for at in outputs:
            for change in ("", lines[at] + "!", lines[at] + "\n" + lines[at], None):
                if lines[at - 1].strip() == "..." and not (change or "").strip():
                    continue  # it stands for the last lines, too
                broken = lines[:at] + ([] if change is None else [change]) + lines[at + 1 :]
                code, said = self.run_page("\n".join(broken) + "\n", "fast")
                self.assertEqual(code, 1, f"{lines[at]} -> {change}\n{said}")

    def test_a_command_that_fails_is_found_in_a_night(self) -> None:
        page = PAGE + "\nText.\n\n    ./weft fail\n"
        self.assertEqual(self.run_page(page, "fast")[0], 0)
        code, said = self.run_page(page)
        self.assertEqual(code, 1)
        self.assertIn("page.md:24: ./weft fail\n    ends with exit code 3, not 0:\n    a problem", said)

    def test_exceptions_need_a_reason_and_a_command(self) -> None:
        page = PAGE + "\nText.\n\n    ./weft fail\n"
        self.exceptions("page.md:\n  - command: ./weft fail  # it fails\n")
        self.assertEqual(self.run_page(page)[0], 0)
        self.assertEqual(self.run_page(PAGE)[0], 1)  # the command is gone
        self.exceptions("page.md:\n  - command: ./weft fail\n")
        self.assertEqual(self.run_page(page)[0], 1)
        self.exceptions("page.md:\n  - before: exit 3\n")
        self.assertEqual(self.run_page(page)[0], 1)

    def test_a_failure_that_a_page_shows_must_be_one(self) -> None:
        page = PAGE + "\nText.\n\n    ./weft fail 1\n"
        self.exceptions("page.md:\n  - fails: ./weft fail 1  # the page shows it\n")
        code, said = self.run_page(page)
        self.assertEqual(code, 1, said)
        self.assertIn("ends with exit code 3, not 1", said)
        self.exceptions("page.md:\n  - fails: ./weft fail 1\n")
        self.assertEqual(self.run_page(page)[0], 1)
        self.exceptions("page.md:\n  - fails: (exit 1); ./weft fail  # no such command\n")
        self.assertEqual(self.run_page(page)[0], 1)

    def test_an_update_writes_what_is_printed_and_keeps_the_rest(self) -> None:
        wrong = PAGE.replace("hello value --loudly", "good bye")
        code, said = self.run_page(wrong, "fast", update=True)
        self.assertEqual(code, 0, said)
        made = (self.root / "page.md").read_text()
        self.assertEqual(made, PAGE.replace("2.71 s, of which 2.14 s", "9.99 s, of which 1.00 s"))


class Names(unittest.TestCase):
    def check(self, text: str) -> List[str]:
        with tempfile.TemporaryDirectory(dir=check_names.SOURCE / "docs") as folder:
            page = Path(folder) / "page.md"
            page.write_text(text)
            return check_names.check(page, check_names.keys())[1]

    def test_wrong_names_are_found(self) -> None:
        for text in (
            "`ici.link_rat` is a key",
            "`workload.N.size` is a key",
            "`mesh.rows.more`",
            "    ./weft run FILE --set ici.lnk_rate=1",
            "see `platforms/config/nothing.cpp`",
            "    ./weft run configs/ub_mesh/bord.yaml",
            "log in /home/somebody/weft/build.log",
            "copied to somebody@build-host:/data",
        ):
            self.assertEqual(len(self.check(text)), 1, text)

    def test_right_names_pass(self) -> None:
        text = "`ici.link_rate`, `workload.0.sizes`, `workload.N.op`, `dma.bytes_sent`, `platforms/config/suggest.h`, `hw/fabric_test`\n"
        self.assertEqual(
            self.check(text + "    ./weft run configs/ub_mesh/board.yaml --set workload.0.op=broadcast"), []
        )

    def test_all_platforms_have_keys(self) -> None:
        self.assertGreaterEqual(len(check_names.PLATFORMS), 5)


class Sentences(unittest.TestCase):
    LONG = " ".join(["word"] * check_sentences.MOST_WORDS)

    def found(self, text: str) -> List[str]:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(text)
            return list(check_sentences.problems(page))

    def test_long_sentences_are_found_with_their_line(self) -> None:
        for text in (
            f"Short.\n\n{self.LONG} more.\n",
            f"* an entry\n* {self.LONG}\n  more\n",
            f"Short.\n\nAnd more {self.LONG}.\n",
            f"Short.\n\n{self.LONG} `a b c` (`x_test`).\n",
        ):
            found = self.found(text)
            self.assertEqual(len(found), 1, text)
            self.assertIn("page.md:2:" if text.startswith("*") else "page.md:3:", found[0])

    def test_what_is_no_sentence_passes(self) -> None:
        for text in (
            f"{self.LONG}. {self.LONG}; {self.LONG}: {self.LONG}.\n",
            f"# {self.LONG} more\n\n| {self.LONG} more |\n\n    {self.LONG} more\n\n```\n{self.LONG} more\n```\n",
            f"{self.LONG} (`a_test`, `b_test`), - + 1.\n".replace(", - + 1", " - +"),
        ):
            self.assertEqual(self.found(text), [], text)

    def test_pages_that_commands_write_are_left_out(self) -> None:
        docs = check_sentences.SOURCE / "docs"
        self.assertFalse(check_sentences.is_written_by_hand(docs / "04_config.md"))
        self.assertTrue(check_sentences.is_written_by_hand(docs / "23_reports.md"))


if __name__ == "__main__":
    unittest.main()
