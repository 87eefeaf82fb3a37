# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""docs/25_python.md: every example runs and prints what the page says. WEFT_UPDATE_EXPECTED=1 writes the page anew."""
from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

from support import SOURCE, needs

PAGE = SOURCE / "docs" / "25_python.md"
EXAMPLE = SOURCE / "platforms" / "python" / "examples" / "plot_link_rates.py"
# An example, and the output below it, if it has one.
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?", re.DOTALL)


class Page(unittest.TestCase):
    @needs("pandas", "matplotlib")
    def test_every_example_prints_what_the_page_says(self) -> None:
        text = PAGE.read_text(encoding="utf-8")
        names: dict = {}
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(SOURCE / "configs", Path(folder) / "configs")
            os.chdir(folder)
            try:
                made = BLOCK.sub(lambda block: self.with_output(block, names), text)
            finally:
                os.chdir(here)
        if os.environ.get("WEFT_UPDATE_EXPECTED"):
            PAGE.write_text(made, encoding="utf-8")
        self.assertGreaterEqual(len(BLOCK.findall(text)), 10)
        changes = "\n".join(
            difflib.unified_diff(
                text.splitlines(), made.splitlines(), str(PAGE), "what the examples print", lineterm="", n=1
            )
        )
        if changes:
            self.fail(f"\n{changes}\nWEFT_UPDATE_EXPECTED=1 writes the page anew.")

    def with_output(self, block: re.Match, names: dict) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(
                compile(block["code"], f"{PAGE.name}:{block.string.count(chr(10), 0, block.start()) + 2}", "exec"),
                names,
            )
        below = "" if block["output"] is None and not out.getvalue() else f"\n```text\n{out.getvalue()}```\n"
        return f"```python\n{block['code']}```\n{below}"

    @needs("matplotlib")
    def test_the_example_of_link_rates_draws_a_picture(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "rates.png"
            ended = subprocess.run(
                [sys.executable, str(EXAMPLE), str(picture)], capture_output=True, text=True, check=False
            )
            self.assertEqual(ended.returncode, 0, ended.stderr)
            rates = [float(number) for number in re.findall(r"up to ([0-9.]+) GB/s", ended.stdout)]
            self.assertEqual(len(rates), 2, ended.stdout)
            self.assertGreater(rates[1], 1.5 * rates[0])  # twice the rate of a lane
            self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
