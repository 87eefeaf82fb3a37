# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, by exit code of the program, and the problems that it tells."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Tuple

if TYPE_CHECKING:
    from .results import Result
    from .sweeps import Sweep

_LINES_SHOWN = 12


class Problem(NamedTuple):
    """One sentence of the program about its input."""

    file: str  #: "<stdin>" for a dict or a text
    line: Optional[int]  #: from 1; None: of the whole file
    column: Optional[int]  #: from 1
    level: str  #: "error" or "warning"
    message: str  #: with the key in front: "mesh.rows: ..."

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}:{self.column}"
        return f"{place}: {self.level}: {self.message}"


_PROBLEM = re.compile(r"^(?P<file>.+?)(?::(?P<line>\d+):(?P<column>\d+))?: (?P<level>error|warning): (?P<message>.*)$")


def problems_in(text: str) -> Tuple[Problem, ...]:
    """The problems in what the program wrote to stderr, in their order."""
    found: List[Problem] = []
    for match in map(_PROBLEM.match, text.splitlines()):
        if match is not None and not match["file"].startswith(" "):
            line, column = (None if number is None else int(number) for number in match.group("line", "column"))
            found.append(Problem(match["file"], line, column, match["level"], match["message"]))
    return tuple(found)


def without_warnings(text: str) -> str:
    """What the program wrote to stderr, without its warnings and the lines of the file that they quote."""
    kept: List[str] = []
    in_warning = False
    for line in text.splitlines():
        problem = _PROBLEM.match(line)
        in_warning = problem["level"] == "warning" if problem is not None else in_warning and line.startswith("    ")
        if not in_warning:
            kept.append(line)
    return "\n".join(kept)


def shortened(text: str, lines: int = _LINES_SHOWN) -> str:
    """The first `lines` lines of `text`, and how many follow."""
    all_lines = text.strip().splitlines()
    if len(all_lines) <= lines:
        return "\n".join(all_lines)
    return "\n".join(
        all_lines[:lines] + [f"... and {len(all_lines) - lines} more lines, in `stderr` of this exception"]
    )


class WeftError(Exception):
    """Base of all exceptions of this module but Interrupted."""


class ProgramNotFound(WeftError):
    """There is no program `weft`, or it cannot be built or started."""


class MissingPackage(WeftError, ImportError):
    """A function needs pandas or matplotlib, which are not installed."""


class ReportMissing(WeftError):
    """There is no report.html of a run, and this program or this folder cannot give one."""


class ResultError(WeftError):
    """A folder holds no results, or they cannot be read."""


class InputError(WeftError, ValueError):
    """Exit code 2: the program cannot use its input; nothing was run. The text is the program's, with lines and
    columns."""

    def __init__(self, stderr: str) -> None:
        super().__init__(stderr.strip())
        self.stderr = stderr
        self.problems = problems_in(stderr)


class RunFailed(WeftError):
    """Exit code 1: the run did not complete, or an answer was wrong.

    `result` holds what was finished before; None: nothing was written. `stderr` is all that the program said.
    """

    def __init__(self, message: str, stderr: str = "", result: Optional["Result"] = None) -> None:
        super().__init__(message)
        self.stderr = stderr
        self.result = result


class TimedOut(RunFailed):
    """The run was stopped by the `timeout` of its caller; `result` holds what was finished."""


class Bug(WeftError):
    """Exit code 3, or a crash: a bug of weft. The text says where; please report it with the platform file."""

    def __init__(self, stderr: str) -> None:
        super().__init__(shortened(stderr))
        self.stderr = stderr


class SweepFailed(WeftError):
    """Not one point of a sweep has a result; `sweep` holds their reasons."""

    def __init__(self, message: str, sweep: "Sweep") -> None:
        super().__init__(message)
        self.sweep = sweep


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run or a sweep. `result` or `sweep` holds what was finished, None where nothing was."""

    def __init__(self, message: str, result: Optional["Result"] = None, sweep: Optional["Sweep"] = None) -> None:
        super().__init__(message)
        self.result = result
        self.sweep = sweep


class InputWarning(UserWarning):
    """What the program warns of: a key that nothing uses here, a fault that it went around."""


class SweepWarning(UserWarning):
    """Some points of a sweep failed; the others have results."""
