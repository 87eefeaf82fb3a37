# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""One run, or one check, of a platform by the program."""
from __future__ import annotations

import os
import signal
import threading
import warnings as python_warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, List, Optional, Sequence, Tuple, Union

from .config import Config, source_of
from .errors import (
    Bug,
    InputError,
    InputWarning,
    Interrupted,
    Problem,
    RunFailed,
    TimedOut,
    problems_in,
    shortened,
    without_warnings,
)
from .folders import TemporaryFolder
from .program import Finished, Program, _Interrupted
from .results import RESULTS_FILE, Result, read_result

_BUG = 3
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
_BY_SIGNAL = {130: "SIGINT", 143: "SIGTERM"}


@dataclass(frozen=True)
class Checked:
    """A platform that can be run: what it means, in the words of `weft check`."""

    text: str
    warnings: Tuple[Problem, ...]

    def __str__(self) -> str:
        return self.text


def run(
    config: Config,
    set: Optional[Mapping] = None,
    *,
    out: Union[str, "os.PathLike[str]", None] = None,
    quiet: bool = True,
    timeout: Optional[float] = None,
    report: bool = False,
    arguments: Sequence[str] = (),
) -> Result:
    """Runs a platform and returns its results, all answers checked.

    config: a dict as a platform file would have it, with units in texts ("82 GB/s"); or the name of a file; or a text
        of more than one line.
    set: values that replace those of `config`, by path: {"mesh.rows": 4, "workload.0.sizes": ["1 MiB"]}.
    out: folder for results.json and firmware.log; None: a temporary one, which lives as long as the result.
    quiet: False repeats the program's table.
    timeout: seconds of the host, then the run is stopped.
    report: also write what Result.report() shows.
    arguments: further options of `weft run`, for example ["--trace", "run.json"].

    Raises InputError (the platform cannot be run: the program's sentences with line and column), RunFailed (it did not
    complete, or an answer was wrong: `result` has what was finished), TimedOut, Bug, ProgramNotFound; Interrupted, a
    KeyboardInterrupt, when Ctrl-C ended it. Warnings of the program are an InputWarning each, unless they are printed.
    """
    return run_until(None, config, set, out=out, quiet=quiet, timeout=timeout, report=report, arguments=arguments)


def run_until(
    stop: Optional[threading.Event],
    config: Config,
    overrides: Optional[Mapping],
    *,
    out: Union[str, "os.PathLike[str]", None] = None,
    quiet: bool = True,
    timeout: Optional[float] = None,
    report: bool = False,
    arguments: Sequence[str] = (),
    keep_alive: Any = None,
    warn: bool = True,
) -> Result:
    """run(), which another thread can stop by `stop`: it then raises RunFailed with what was finished."""
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout is {timeout}, but must be more than 0 seconds")
    source = source_of(config, overrides)
    program = Program()
    if out is None:
        keep_alive = TemporaryFolder("weft_")
        out = keep_alive.path
    folder = Path(out).absolute()
    options = [
        "--out",
        str(folder),
        *(["--quiet"] if quiet else []),
        *(["--report"] if report else []),
        *arguments,
    ]
    before = _identity(folder / RESULTS_FILE)
    interrupted = False
    try:
        ended = program.call(
            ["run", *source.arguments, *options],
            text=source.text,
            timeout=timeout,
            show=() if quiet else ("stdout", "stderr"),
            stop=stop,
        )
    except _Interrupted as e:
        ended, interrupted = e.finished, True
    result = None
    if _identity(folder / RESULTS_FILE) not in (None, before):
        result = read_result(folder / RESULTS_FILE, folder, keep_alive)
    if interrupted:
        raise Interrupted(_how_far(result), result)
    if ended.code != 0 or ended.timed_out or ended.stopped:
        raise _failure(ended, result, timeout)
    if result is None:
        raise Bug(f"The program ended well and wrote no {folder / RESULTS_FILE}.\n{ended.stderr}")
    if quiet and warn:
        for text in result.warnings:
            python_warnings.warn(text, InputWarning, stacklevel=3)
    return result


def check(config: Config, set: Optional[Mapping] = None) -> Checked:
    """What a platform means: machine, links, proof that its routes cannot deadlock, cases. Builds and writes nothing.

    Raises InputError with all problems where it cannot be run.
    """
    source = source_of(config, set)
    try:
        ended = Program().call(["check", *source.arguments], text=source.text)
    except _Interrupted:
        raise Interrupted("interrupted") from None
    if ended.code != 0:
        raise _failure(ended, None, None)
    return Checked(ended.stdout, tuple(problem for problem in problems_in(ended.stderr) if problem.level == "warning"))


def _identity(file: Path) -> Optional[Tuple[int, int]]:
    """What tells a file from the one that stood there before."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _how_far(result: Optional[Result]) -> str:
    return (
        "interrupted; nothing was finished"
        if result is None
        else f"interrupted; `result` has what was finished: {result.verdict}"
    )


def _failure(ended: Finished, result: Optional[Result], timeout: Optional[float]) -> Exception:
    if ended.timed_out:
        return TimedOut(f"stopped after {timeout:g} s: {_how_far(result)}", ended.stderr, result)
    if ended.stopped:
        return RunFailed(_how_far(result), ended.stderr, result)
    if ended.code == 2:
        return InputError(ended.stderr)
    if ended.code == _BUG or -ended.code in _CRASHES:
        return Bug(ended.stderr or f"The program crashed: {signal.Signals(-ended.code).name}.")
    if ended.code < 0:
        name = signal.Signals(-ended.code).name
        hint = "; where nobody sent it, the host had no memory left" if name == "SIGKILL" else ""
        return RunFailed(f"the program was ended by {name}{hint}", ended.stderr, result)
    text: List[str] = [shortened(without_warnings(ended.stderr)) or f"The program ended with exit code {ended.code}."]
    if ended.code in _BY_SIGNAL:
        text.insert(0, f"somebody sent {_BY_SIGNAL[ended.code]} to the program")
    return RunFailed("\n".join(text), ended.stderr, result)
