# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""A folder for results that nobody has given a place."""
from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path


class TemporaryFolder:
    """A new folder, which disappears with the last object that holds this one, or with Python."""

    def __init__(self, prefix: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def __deepcopy__(self, memo: dict) -> "TemporaryFolder":
        return self  # a copy would not keep the folder
