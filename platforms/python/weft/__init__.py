# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""weft in Python: runs platforms with the program `weft` and reads what it writes.

    import weft
    result = weft.run("configs/ub_mesh/board.yaml", set={"data": "off"})
    result.table["busbw_GBps"]      # NumPy
    result.frame()                  # pandas

There is no second simulator here: every number comes from `results.json` of the program. docs/25_python.md has
examples.
"""
from .errors import (
    Bug,
    InputError,
    InputWarning,
    Interrupted,
    MissingPackage,
    Problem,
    ProgramNotFound,
    ReportMissing,
    ResultError,
    RunFailed,
    SweepFailed,
    SweepWarning,
    TimedOut,
    WeftError,
)
from .notebook import Report
from .plots import plot
from .program import find_program
from .results import Result, Statistic, Training, load
from .running import Checked, check, run
from .sweeps import Point, Sweep, sweep

__all__ = [
    "Bug",
    "Checked",
    "InputError",
    "InputWarning",
    "Interrupted",
    "MissingPackage",
    "Point",
    "Problem",
    "ProgramNotFound",
    "Report",
    "ReportMissing",
    "Result",
    "ResultError",
    "RunFailed",
    "Statistic",
    "Sweep",
    "SweepFailed",
    "SweepWarning",
    "TimedOut",
    "Training",
    "WeftError",
    "check",
    "find_program",
    "load",
    "plot",
    "run",
    "sweep",
]
