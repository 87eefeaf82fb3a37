# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the Python module as a user would meet it, installed by pip in a fresh virtual environment.

    run.py install ENVIRONMENT      makes it anew
    run.py test_x ENVIRONMENT       runs testbenches/python/test_x.py in it

Exit code 77, skipped: this Python has no NumPy, pip or setuptools. WEFT names the program.
"""
from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

SKIPPED = 77
HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "platforms" / "python"


def files_of_package() -> set:
    return {path.relative_to(PACKAGE) for path in PACKAGE.rglob("*")}


def install(folder: Path) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    # pip is Debian's: a copy of it for this environment would take half of the time.
    venv.create(folder, system_site_packages=True, with_pip=False)
    before = files_of_package()
    pip = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--no-build-isolation",
        "--no-index",
    ]
    ended = subprocess.run([*pip, str(PACKAGE)], check=False)
    left = sorted(str(path) for path in files_of_package() - before)
    if left:
        print(f"pip has left in {PACKAGE}: {', '.join(left)}")
    return 1 if ended.returncode != 0 or left else 0


def main(what: str, folder: Path) -> int:
    missing = [name for name in ("numpy", "pip", "setuptools", "wheel") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {sys.executable} has no {', '.join(missing)} (Debian: python3-numpy, python3-pip)")
        return SKIPPED
    if what == "install":
        return install(folder)
    os.chdir(HERE)
    python = str(folder / "bin" / "python")
    os.execv(python, [python, "-B", "-W", "error::ResourceWarning", "-m", "unittest", "-v", what])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
