# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Many runs of one platform, each a process, and their results in one table."""
from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import warnings as python_warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import tables
from .config import Config, override, source_of, to_yaml
from .errors import InputWarning, Interrupted, ResultError, RunFailed, SweepFailed, SweepWarning, WeftError, shortened
from .folders import TemporaryFolder
from .program import Program
from .results import Result
from .running import run_until

#: Values by key, of which every combination is a point; or the points one by one.
Grid = Union[Mapping, Sequence]


@dataclass
class Point:
    """One run of a sweep."""

    values: Dict[str, Any]  #: by key
    folder: Path  #: of its results
    result: Optional[Result] = None  #: what was finished, also before a failure
    error: Optional[WeftError] = None  #: why it did not complete; None with `result` None: it was not begun

    @property
    def ok(self) -> bool:
        return self.result is not None and self.error is None

    @property
    def reason(self) -> str:
        """Why there is no whole result, in one line; "" where there is one."""
        if self.ok:
            return ""
        if self.error is None:
            return "was not begun"
        errors = [str(problem) for problem in getattr(self.error, "problems", ()) if problem.level == "error"]
        return errors[0] if errors else str(self.error).partition("\n")[0]


class Sweep:
    """The points of a sweep, in the order of its grid, and their results together."""

    def __init__(self, points: List[Point], keys: List[str]) -> None:
        self.points = points
        self.keys = keys  #: that were swept

    @property
    def failures(self) -> List[Point]:
        """Points without a whole result; `reason` of each says why."""
        return [point for point in self.points if not point.ok]

    @property
    def results(self) -> List[Result]:
        """Results of the points that completed."""
        return [point.result for point in self.points if point.ok and point.result is not None]

    @property
    def table(self) -> np.ndarray:
        """All rows of all completed points, shape (rows,): `point` (from 0), a field for each key, then those of
        Result.table.

        A field of a key is a number where all its values are, else a text as it stands in the platform.
        """
        columns, rows = self._rows()
        return tables.array_of(columns, rows)

    def frame(self) -> Any:
        """The same as a pandas.DataFrame. Points that failed have no row: `failures` has them."""
        columns, rows = self._rows()
        return tables.frame_of(columns, rows)

    def plot(self, **options: Any) -> Any:
        """plots.plot() of all points that completed."""
        from .plots import plot

        return plot(self, **options)

    def __repr__(self) -> str:
        failed = len(self.failures)
        return f"<weft.Sweep of {', '.join(self.keys)}: {len(self.points)} points, {failed or 'none'} failed>"

    def _repr_html_(self) -> str:
        from .notebook import html_of_sweep

        return html_of_sweep(self)

    def _rows(self) -> Tuple[List[tables.Column], List[tables.Row]]:
        rows: List[tables.Row] = []
        for i, point in enumerate(self.points):
            if point.ok and point.result is not None:
                values = {key: cell(point.values[key]) for key in self.keys if key in point.values}
                rows += [{"point": i, **values, **row} for row in point.result._rows]
        swept = [tables.Column("point", "count", ""), *(tables.Column(key, self._kind(key), "") for key in self.keys)]
        known = {column.name for column in swept}
        return tables.with_unknown([*swept, *(c for c in tables.RESULTS if c.name not in known)], rows), rows

    def _kind(self, key: str) -> str:
        values = [cell(point.values.get(key)) for point in self.points]
        if all(isinstance(value, int) for value in values):
            return "count"
        return "number" if all(isinstance(value, (int, float)) for value in values) else "text"


def cell(value: Any) -> Any:
    """A swept value in a table: numbers and texts as they are, others as they stand in the platform."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, (int, float, str)) else to_yaml(value, indent=None)


def sweep(
    config: Config,
    grid: Grid,
    *,
    set: Optional[Mapping] = None,
    jobs: int = 2,
    out: Union[str, "os.PathLike[str]", None] = None,
    timeout: Optional[float] = None,
    quiet: bool = True,
    arguments: Sequence = (),
) -> Sweep:
    """Runs a platform at every point of a grid, `jobs` processes at a time, and returns all results together.

    config, set, arguments: as for run().
    grid: {"mesh.rows": [2, 4], "ici.link_rate": ["82 GB/s", "100 GB/s"]}, of which every combination is a point, the
        last key fastest; or a list of points, each a dict.
    out: in this folder each point gets one, point_000 and so on, with results.json and its values in point.json; None:
        a temporary one, which lives as long as the results.
    timeout: seconds of the host for each point.
    quiet: False tells on stderr what is done.

    A point that fails does not stop the others: Sweep.failures has its reason, and a SweepWarning tells of it. Raises
    SweepFailed when no point completes; Interrupted with what was finished at Ctrl-C.
    """
    points, keys = _points_of(grid)
    if not isinstance(jobs, int) or jobs < 1:
        raise ValueError(f"jobs is {jobs!r}; give a whole number from 1")
    source_of(config, set)  # what is wrong with it would be wrong at every point
    Program()  # a tree's program is built once, before the points
    keep_alive = None
    if out is None:
        keep_alive = TemporaryFolder("weft_sweep_")
        out = keep_alive.path
    for i, point in enumerate(points):
        point.folder = Path(out).absolute() / f"point_{i:03d}"
    stop = threading.Event()

    def run_point(point: Point) -> None:
        if stop.is_set():
            return
        try:
            point.folder.mkdir(parents=True, exist_ok=True)
            (point.folder / "point.json").write_text(to_yaml(point.values) + "\n", encoding="utf-8")
            point.result = run_until(
                stop,
                config,
                {**(set or {}), **point.values},
                out=point.folder,
                timeout=timeout,
                arguments=arguments,
                keep_alive=keep_alive,
                warn=False,
            )
        except RunFailed as e:
            point.result, point.error = e.result, e
        except WeftError as e:
            point.error = e
        except OSError as e:
            point.error = ResultError(f"{point.folder} cannot be written: {e.strerror}.")

    done = Sweep(points, keys)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        waiting = {pool.submit(run_point, point): point for point in points}
        try:
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    future.result()  # what is none of the failures above
                    point = waiting.pop(future)
                    if not quiet:
                        _tell(point, len(points) - len(waiting), len(points))
        except KeyboardInterrupt:
            stop.set()
            for future in waiting:
                future.cancel()
            wait(waiting)
            raise Interrupted(
                f"interrupted; `sweep` has {len(done.results)} of {len(points)} points", sweep=done
            ) from None
        except BaseException:
            stop.set()
            raise
    _tell_warnings(done)
    _tell_failures(done)
    return done


def _points_of(grid: Grid) -> Tuple[List[Point], List[str]]:
    if isinstance(grid, Mapping):
        for key, values in grid.items():
            if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
                raise ValueError(f"grid['{key}'] is {values!r}; give a list of values")
        lists = [list(values) for values in grid.values()]
        chosen = [dict(zip(grid, values)) for values in itertools.product(*lists)] if grid else []
    else:
        chosen = [dict(values) for values in grid]
    for values in chosen:
        for key, value in values.items():
            override(key, value)  # refuses what cannot be a key or a value before anything runs
    if not chosen or any(not values for values in chosen):
        raise ValueError("a sweep needs at least one point, and each point at least one key with a value")
    keys = list(dict.fromkeys(key for values in chosen for key in values))
    return [Point(values, Path()) for values in chosen], keys


def _tell(point: Point, done: int, of: int) -> None:
    values = ", ".join(f"{key} = {cell(value)}" for key, value in point.values.items())
    verdict = point.result.verdict if point.ok and point.result is not None else f"failed: {point.reason}"
    print(f"weft: {done} of {of} points; {values}: {verdict}", file=sys.stderr)


def _tell_warnings(done: Sweep) -> None:
    """Each warning once, however many points have it."""
    texts = dict.fromkeys(text for result in done.results for text in result.warnings)
    for text in texts:
        python_warnings.warn(text, InputWarning, stacklevel=3)


def _tell_failures(done: Sweep) -> None:
    failures = done.failures
    if not failures:
        return
    lines = [
        f"point {i} ({json.dumps(p.values, default=str, ensure_ascii=False)}): {p.reason}"
        for i, p in enumerate(done.points)
        if not p.ok
    ]
    text = f"{len(failures)} of {len(done.points)} points failed:\n" + shortened("\n".join(lines))
    if len(failures) == len(done.points):
        raise SweepFailed(text, done)
    python_warnings.warn(text, SweepWarning, stacklevel=3)
