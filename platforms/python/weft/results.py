# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""results.json of a run, as arrays, frames and plain objects. docs/02_quickstart.md has the meaning of its fields."""
from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import tables
from .errors import ReportMissing, ResultError

if TYPE_CHECKING:
    from .notebook import Report

RESULTS_FILE = "results.json"
_REPORT_FILE = "report.html"
_NEEDED = ("version", "results", "digest", "config")


class Statistic(NamedTuple):
    """A number that the run has counted."""

    value: Union[int, float]
    unit: str  #: "1": a pure number
    description: str


class Training(NamedTuple):
    """Training steps of a run."""

    algorithm: str
    transposed: bool
    overlap: str
    steps: np.ndarray  #: shape (steps,); fields of tables.TRAINING_STEPS; times in us, `share` a fraction of 1
    parts: np.ndarray  #: shape (groups and exchanges of all steps,); fields of tables.TRAINING_PARTS; times in us


class Result:
    """What one run has found. Arrays are read-only; times are simulated ones, in us, unless a name says `host`."""

    def __init__(self, folder: Path, raw: Dict[str, Any], keep_alive: Any = None) -> None:
        self.folder = folder  #: where results.json stands; a temporary one lives as long as this object
        self.raw = raw  #: results.json as it stands
        self._keep_alive = keep_alive

    # ---- verdict -----------------------------------------------------------------------------------------------------

    @property
    def ok(self) -> bool:
        """The run completed, and no answer that was checked was wrong; `checked` is how many were."""
        return not self.failure and self.wrong == 0 and self.wrong_bytes == 0

    @property
    def failure(self) -> str:
        """Why the run stopped early; "": it completed."""
        return str(self.raw.get("failure", ""))

    @property
    def failed_case(self) -> Optional[Dict[str, Any]]:
        """The collective at which it stopped: op, algorithm, type, redop, size_bytes, count, start_us."""
        return self.raw.get("failed_case")

    @property
    def wrong(self) -> int:
        """Wrong elements of all results together; what carried no data has none."""
        return sum(row.get("wrong") or 0 for row in [*self.raw["results"], *self._part_rows])

    @property
    def wrong_bytes(self) -> int:
        """Wrong bytes of checkpoints and host traffic together; what carried no data has none."""
        host = self.raw.get("host", {})
        return sum(part.get("wrong_bytes") or 0 for kind in ("checkpoints", "traffic") for part in host.get(kind, []))

    @property
    def checked(self) -> int:
        """How many results were compared with the right answer, element by element. 0: the run carried no data."""
        return sum(row.get("wrong") is not None for row in [*self.raw["results"], *self._part_rows])

    @property
    def warnings(self) -> List[str]:
        """What the program warned of, one sentence each."""
        return list(self.raw.get("warnings", []))

    # ---- what was run ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Of the run, `name:` in the platform."""
        return str(self.config.get("name", ""))

    @property
    def config(self) -> Dict[str, Any]:
        """Every value in force, defaults filled in; quantities are texts with units. run() takes it again."""
        return self.raw["config"]

    @property
    def digest(self) -> str:
        """16 hex digits over all cases; equal for equal platform, seed and version."""
        return str(self.raw["digest"])

    @property
    def version(self) -> str:
        """Of the program, with the commit."""
        return str(self.raw["version"])

    @property
    def simulated_us(self) -> float:
        """Simulated time at the end of the run, us."""
        return self.raw.get("simulated_time_ps", 0) / 1e6

    @property
    def host_seconds(self) -> float:
        """Wall time of the simulation on the host, with making and checking data."""
        return float(self.raw.get("host_seconds", 0.0))

    # ---- collectives -------------------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> np.ndarray:
        """One row for each line of the program's table, shape (results,), fields of tables.RESULTS.

        Texts, "" where there is none: op, algorithm, group ("job 0" where not all ranks completed it), type, redop,
            bound_by, chosen_by, answers (16 hex digits of all answers' bytes).
        int64: size_bytes (B), count (elements), steps, train_packets (packets; 1: exact).
        float64, NaN where there is none: time_us, bound_us, min_us, max_us, standard_deviation_us (us); algbw_GBps,
            busbw_GBps (10^9 B/s); bound_share (fraction of 1); wrong (elements; NaN: the run carried no data);
            repeats (NaN: ran once).
        More fields of a newer program stand behind these.
        """
        return tables.array_of(self._columns, self._rows)

    @property
    def units(self) -> Dict[str, str]:
        """Unit of every field of `table` that has one: {"time_us": "us", ...}."""
        return tables.units_of(self._columns)

    def select(self, **where: Any) -> np.ndarray:
        """The rows of `table` whose fields have these values; a list or a set allows several.

        Raises ValueError where no row has, and says which values there are.
        """
        chosen = np.ones(len(self.table), dtype=bool)
        for field, wanted in where.items():
            if field not in (self.table.dtype.names or ()):
                raise ValueError(
                    f"results have no field '{field}'; they have {', '.join(self.table.dtype.names or ())}"
                )
            allowed = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset, np.ndarray)) else [wanted]
            matches = np.isin(self.table[field], allowed)
            if not matches.any():
                values = (value.item() for value in np.unique(self.table[field]))
                there = (
                    ", ".join("''" if value == "" else str(value) for value in values) or "none: the run has no results"
                )
                raise ValueError(f"no result has {field} = {wanted!r}; there are {there}")
            chosen &= matches
        if not chosen.any():
            text = ", ".join(f"{field} = {wanted!r}" for field, wanted in where.items())
            raise ValueError(f"no result has {text} together" if where else "the run has no results")
        return self.table[chosen]

    def time_us(self, **where: Any) -> np.ndarray:
        """Times of these results, us, in the order of the table: time_us(op="all_reduce", algorithm="ring_1d")."""
        return self.select(**where)["time_us"]

    def busbw_GBps(self, **where: Any) -> np.ndarray:
        """Bus bandwidths of these results, 10^9 B/s, in the order of the table."""
        return self.select(**where)["busbw_GBps"]

    @property
    def busbw(self) -> np.ndarray:
        """Bus bandwidth of every row of `table`, 10^9 B/s."""
        return self.table["busbw_GBps"]

    @cached_property
    def repeats_us(self) -> List[np.ndarray]:
        """For each row of `table` the times of its repeats, us; empty where it ran once."""
        return [
            np.array((row.get("repeats") or {}).get("times_us", []), dtype=np.float64) for row in self.raw["results"]
        ]

    @property
    def predicted_us(self) -> List[Dict[str, float]]:
        """For each row of `table` the predicted time by algorithm, us; empty where the platform names the algorithm."""
        return [dict(row.get("predicted_us") or {}) for row in self.raw["results"]]

    # ---- training steps, statistics ----------------------------------------------------------------------------------

    @cached_property
    def training(self) -> Optional[Training]:
        """The training steps; None: the run had none."""
        section = self.raw.get("training_step")
        if section is None:
            return None
        return Training(
            section["algorithm"],
            section["transposed"],
            section["overlap"],
            tables.array_of(tables.with_unknown(tables.TRAINING_STEPS, self._step_rows), self._step_rows),
            tables.array_of(tables.with_unknown(tables.TRAINING_PARTS, self._part_rows), self._part_rows),
        )

    @cached_property
    def statistics(self) -> Dict[str, Statistic]:
        """Everything that the run has counted, by name, with units."""
        return {s["name"]: Statistic(s["value"], s["unit"], s["description"]) for s in self.raw.get("stats", [])}

    @cached_property
    def links(self) -> np.ndarray:
        """The busiest links, the busiest first, shape (links,): name, bytes (B), utilisation_percent (%)."""
        return tables.array_of(tables.LINKS, self._link_rows)

    def frame(self, of: str = "results") -> Any:
        """A pandas.DataFrame of "results", "training_steps", "training_parts", "links" or "statistics".

        Columns are those of the arrays; `attrs["units"]` has their units. Missing texts are "", missing numbers NaN
        or <NA>.
        """
        choices = {
            "results": (self._columns, self._rows),
            "training_steps": (tables.with_unknown(tables.TRAINING_STEPS, self._step_rows), self._step_rows),
            "training_parts": (tables.with_unknown(tables.TRAINING_PARTS, self._part_rows), self._part_rows),
            "links": (tables.LINKS, self._link_rows),
            "statistics": (tables.STATISTICS, self.raw.get("stats", [])),
        }
        if of not in choices:
            raise ValueError(f"there is no frame of '{of}'; choose one of {', '.join(choices)}")
        return tables.frame_of(*choices[of])

    # ---- to look at --------------------------------------------------------------------------------------------------

    def plot(self, **options: Any) -> Any:
        """plots.plot() of this result."""
        from .plots import plot

        return plot(self, **options)

    def report(self, height: int = 800) -> "Report":
        """report.html of this run, which a notebook shows; `height` in pixels. Raises ReportMissing with a sentence."""
        from .notebook import Report
        from .program import Program

        page = self.folder / _REPORT_FILE
        if not page.is_file():
            program = Program()
            if "report" not in program.commands():
                raise ReportMissing(
                    f"{program.path} ({program.version}) has no command `report`: it makes no report.html."
                )
            ended = program.call(["report", str(self.folder)])
            if ended.code != 0 or not page.is_file():
                raise ReportMissing(f"`weft report` made no page for {self.folder}:\n{ended.stderr.strip()}")
        return Report(page, height, self)

    def __repr__(self) -> str:
        return f"<weft.Result {self.name}: {self.verdict}, digest {self.digest}>"

    @property
    def verdict(self) -> str:
        """In one line: "12 results, all right"."""
        count = len(self.raw["results"])
        parts = [f"{count} result{'' if count == 1 else 's'}"]
        if self._step_rows:
            parts.append(f"{len(self._step_rows)} training step{'' if len(self._step_rows) == 1 else 's'}")
        if self.failure:
            parts.append("stopped early")
        if self.wrong:
            parts.append(f"{self.wrong} wrong elements")
        if self.wrong_bytes:
            parts.append(f"{self.wrong_bytes} wrong bytes of checkpoints and host traffic")
        if not self.wrong and not self.wrong_bytes:
            if not self.checked:
                parts.append("answers not checked")
            elif not self.failure:
                parts.append("all right")
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        from .notebook import html_of

        return html_of(self)

    # ---- rows --------------------------------------------------------------------------------------------------------

    @cached_property
    def _rows(self) -> List[tables.Row]:
        return [tables.result_row(row) for row in self.raw["results"]]

    @cached_property
    def _columns(self) -> List[tables.Column]:
        return tables.with_unknown(tables.RESULTS, self._rows)

    @cached_property
    def _step_rows(self) -> List[tables.Row]:
        steps = (self.raw.get("training_step") or {}).get("steps", [])
        return [{key: value for key, value in step.items() if not isinstance(value, (dict, list))} for step in steps]

    @cached_property
    def _part_rows(self) -> List[tables.Row]:
        steps = (self.raw.get("training_step") or {}).get("steps", [])
        kinds: Tuple[Tuple[str, str], ...] = (("group", "groups"), ("exchange", "exchanges"))
        return [
            {"step": i, "kind": kind, **part}
            for i, step in enumerate(steps)
            for kind, where in kinds
            for part in step.get(where, [])
        ]

    @cached_property
    def _link_rows(self) -> List[tables.Row]:
        rows: Dict[str, tables.Row] = {}
        for name, statistic in self.statistics.items():
            if name.startswith("busiest_link."):
                link, _, what = name[len("busiest_link.") :].rpartition(".")
                field = "bytes" if what == "bytes" else "utilisation_percent"
                rows.setdefault(link, {"name": link})[field] = statistic.value
        return list(rows.values())


def load(folder: Union[str, "os.PathLike[str]"]) -> Result:
    """The result in a folder of a run, or in a file that `weft run --json` wrote.

    Raises ResultError with a sentence: no such file, not complete, not of weft.
    """
    path = Path(folder)
    file = path / RESULTS_FILE if path.is_dir() else path
    return read_result(file, file.parent.absolute())


def read_result(file: Path, folder: Path, keep_alive: Any = None) -> Result:
    """The result in `file`; its object keeps `keep_alive`, a temporary folder, alive."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ResultError(_missing(file)) from None
    except UnicodeDecodeError as e:
        raise ResultError(f"{file} is no results.json of weft: byte {e.start} is no UTF-8.") from None
    except OSError as e:
        raise ResultError(f"{file} cannot be read: {e.strerror}.") from None
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as e:
        at_end = not text[e.pos :].strip() or e.msg.startswith("Unterminated string")
        why = "it ends too early, as a copy that was cut off does" if at_end else e.msg
        raise ResultError(
            f"{file}:{e.lineno}:{e.colno}: this is not the whole JSON of a run: {why}. Copy it or run again."
        ) from None
    if not isinstance(raw, dict) or any(key not in raw for key in _NEEDED):
        missing = [key for key in _NEEDED if not isinstance(raw, dict) or key not in raw]
        raise ResultError(f"{file} is no results.json of a run: it has no {', '.join(missing)}.")
    return Result(folder, raw, keep_alive)


def _missing(file: Path) -> str:
    if not file.parent.is_dir():
        return f"{file.parent} does not exist; give the folder of a run (--out)."
    previous = file.with_name(f"{file.stem}.previous{file.suffix}")
    if previous.is_file():
        return f"{file} does not exist: its run did not get that far. {previous.name} is of the run before."
    return f"{file} does not exist; give a folder that `weft run --out` has written."
