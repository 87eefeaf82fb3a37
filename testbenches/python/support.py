# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python module share: small platforms, folders, and programs that behave badly."""
from __future__ import annotations

import contextlib
import importlib.util
import os
import stat
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, Iterator

SOURCE = Path(__file__).resolve().parents[2]


def needs(*packages: str) -> Callable:
    """Skips a test where one of the packages is missing, and says so."""
    missing = [f"python3-{name}" for name in packages if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} not installed")


def board(**more: Any) -> Dict[str, Any]:
    """Four TPU-v3 chips, and three cases that take a tenth of a second."""
    return {
        "platform": "tpu_v3",
        "name": "python_board",
        "mesh": {"rows": 2, "cols": 2},
        "workload": [
            {"op": "all_reduce", "algorithms": ["ring_1d", "two_d"], "sizes": ["64 KiB"]},
            {"op": "all_gather", "sizes": ["4 KiB"]},
        ],
        **more,
    }


def long_run(**more: Any) -> Dict[str, Any]:
    """A case of a microsecond, then one of many minutes of the host."""
    return board(
        data="off",
        burst="1 packet",
        workload=[
            {"op": "all_gather", "sizes": ["4 KiB"]},
            {"op": "all_reduce", "algorithms": ["ring_1d"], "sizes": ["4 GiB"]},
        ],
        **more,
    )


class FolderTest(unittest.TestCase):
    """A test with a folder of its own, `self.folder`, which disappears."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="weft test ü ")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def program(self, script: str, name: str = "weft") -> Path:
        """A shell script in the place of the program. It says its version by itself."""
        path = self.folder / name
        path.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && echo "weft 0, a script" && exit 0\n{script}\n', encoding="utf-8"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path


@contextlib.contextmanager
def environment(**variables: Any) -> Iterator[None]:
    """Sets variables of the environment; None: removes."""
    before = dict(os.environ)
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = str(value)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
