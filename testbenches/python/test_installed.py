# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""What pip has installed, and which program it finds."""
from __future__ import annotations

import contextlib
import importlib.metadata
import io
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import weft
import weft.program

from support import SOURCE, FolderTest, board, environment

PACKAGE = SOURCE / "platforms" / "python"


class Installed(FolderTest):
    def test_the_tests_meet_the_installed_module_and_not_the_sources(self) -> None:
        self.assertNotIn(SOURCE / "platforms", Path(weft.__file__).resolve().parents)
        self.assertTrue((Path(weft.__file__).parent / "py.typed").is_file())

    def test_the_version_is_that_of_the_program(self) -> None:
        cmake = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertEqual(importlib.metadata.version("weft"), re.search(r"project\(weft VERSION ([0-9.]+)", cmake)[1])
        self.assertTrue(weft.run(board()).version.startswith(importlib.metadata.version("weft")))

    def test_plain_pip_needs_no_network_and_leaves_nothing_in_the_tree(self) -> None:
        before = {path for path in PACKAGE.rglob("*")}
        for option in ([], ["--editable"]):
            with self.subTest(option=option):
                python = self.folder / "env" / "bin" / "python"
                subprocess.run(
                    [
                        "/usr/bin/env",
                        sys.executable,
                        "-m",
                        "venv",
                        "--clear",
                        "--without-pip",
                        "--system-site-packages",
                        str(python.parents[1]),
                    ],
                    check=True,
                )
                pip = [
                    str(python),
                    "-m",
                    "pip",
                    "--disable-pip-version-check",
                    "install",
                    "--no-index",
                    *option,
                    str(PACKAGE),
                ]
                ended = subprocess.run(pip, capture_output=True, text=True, check=False)
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertEqual({path for path in PACKAGE.rglob("*")} - before, set())
                code = "import weft; print(weft.__file__); print(weft.find_program())"
                without = {name: value for name, value in os.environ.items() if name != "WEFT"}
                place, program = subprocess.run(
                    [str(python), "-B", "-c", code],
                    capture_output=True,
                    text=True,
                    check=True,
                    cwd=self.folder,
                    env=without,
                ).stdout.split("\n")[:2]
                self.assertEqual(PACKAGE in Path(place).resolve().parents, bool(option))
                self.assertEqual(Path(program), SOURCE / "weft")

    def test_WEFT_comes_before_the_tree_and_the_tree_before_PATH(self) -> None:
        named = self.program("exit 0", "a weft")
        on_path = self.program("exit 0")
        with environment(WEFT=named, PATH=f"{self.folder}:{os.environ['PATH']}"):
            self.assertEqual(weft.find_program(), named)
            os.environ.pop("WEFT")
            self.assertEqual(weft.find_program(), SOURCE / "weft")
            with mock.patch.object(weft.program, "_trees", return_value=iter(())):
                self.assertEqual(weft.find_program(), on_path)

    def test_a_missing_program_is_a_sentence(self) -> None:
        with environment(WEFT=self.folder / "none"), self.assertRaisesRegex(
            weft.ProgramNotFound, "WEFT is '.*none', which is no program"
        ):
            weft.run(board())
        with environment(WEFT=None, PATH=str(self.folder)), mock.patch.object(
            weft.program, "_trees", return_value=iter(())
        ):
            with self.assertRaisesRegex(weft.ProgramNotFound, "Set the environment variable WEFT"):
                weft.check(board())

    def test_a_program_that_does_not_start_is_a_sentence(self) -> None:
        broken = self.folder / "broken"
        broken.write_text("#!/bin/sh\necho weft: the build failed >&2\nexit 1\n", encoding="utf-8")
        broken.chmod(0o755)
        with environment(WEFT=broken), self.assertRaisesRegex(
            weft.ProgramNotFound, "exit code 1(.|\n)*the build failed"
        ):
            weft.run(board())

    def test_another_program_of_that_name_is_refused(self) -> None:
        other = self.folder / "weft"
        other.write_text("#!/bin/sh\necho a loom 3.1\n", encoding="utf-8")
        other.chmod(0o755)
        with environment(WEFT=other), self.assertRaisesRegex(weft.ProgramNotFound, "`--version` says 'a loom 3.1'"):
            weft.run(board())

    def test_the_launcher_of_a_tree_tells_what_it_builds(self) -> None:
        launcher = self.program("exit 2")
        launcher.write_text("#!/bin/sh\necho building >&2\necho weft 1\n", encoding="utf-8")
        (self.folder / "cmake").mkdir()
        (self.folder / "cmake" / "debian-packages.txt").touch()
        out, err = io.StringIO(), io.StringIO()
        with environment(WEFT=None), mock.patch.object(weft.program, "_trees", return_value=iter([self.folder])):
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                self.assertEqual(weft.program.Program().version, "weft 1")
        self.assertEqual((out.getvalue(), err.getvalue()), ("", "building\n"))

    def test_a_folder_called_weft_is_no_launcher(self) -> None:
        (self.folder / "weft").mkdir()
        with environment(WEFT=None, PATH=str(self.folder)), mock.patch.object(
            weft.program, "_trees", return_value=iter([self.folder])
        ):
            self.assertRaises(weft.ProgramNotFound, weft.find_program)


if __name__ == "__main__":
    unittest.main()
