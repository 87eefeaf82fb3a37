# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""How results and reports look in a notebook: HTML that needs no network."""
from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Sequence

if TYPE_CHECKING:
    from .results import Result
    from .sweeps import Sweep

_ROWS_SHOWN = 20


class Report:
    """report.html of a run. A notebook shows it; `path` is the file, for a browser. It lives as long as its result."""

    def __init__(self, path: Path, height: int = 800, keep_alive: Any = None) -> None:
        self.path = path
        self.height = height  #: of the frame, pixels
        self._keep_alive = keep_alive

    @property
    def html(self) -> str:
        """The whole page."""
        return self.path.read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        # The page stands in the notebook itself: a frame with the name of a file would be refused or break when it is
        # moved.
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="Report of weft" sandbox="allow-scripts" '
            f'style="width:100%;height:{int(self.height)}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<weft.Report {self.path}>"


def html_of(result: "Result") -> str:
    """A small table of a result."""
    parts = [_line(result.name, f"{result.verdict}; digest {result.digest}")]
    if result.failure:
        parts.append(_warning("Stopped: " + result.failure.partition("\n")[0]))
    parts += [_warning(text) for text in result.warnings]
    if len(result.table):
        fields = ["op", "algorithm", "type", "size_bytes", "time_us", "busbw_GBps", "bound_share", "wrong"]
        names = ["op", "algorithm", "type", "size (B)", "time (us)", "busbw (GB/s)", "bound (%)", "#wrong"]
        if any(result.table["group"]):
            fields.insert(2, "group")
            names.insert(2, "group")
        parts.append(_table(names, [[_cell(field, row[field]) for field in fields] for row in result.table]))
    if result.training is not None and len(result.training.steps):
        fields = ["time_us", "compute_us", "communication_us", "exposed_us", "share"]
        names = ["step", "time (us)", "compute (us)", "communication (us)", "exposed (us)", "share (%)"]
        steps = result.training.steps
        parts.append(_table(names, [[str(i), *(_cell(f, row[f]) for f in fields)] for i, row in enumerate(steps)]))
    return "<div>" + "".join(parts) + "</div>"


def html_of_sweep(sweep: "Sweep") -> str:
    """A small table of the points of a sweep."""
    from .sweeps import cell

    rows = [
        [
            str(i),
            *(str(cell(point.values.get(key, ""))) for key in sweep.keys),
            point.result.verdict if point.ok and point.result is not None else "failed: " + point.reason,
        ]
        for i, point in enumerate(sweep.points)
    ]
    done = len(sweep.points) - len(sweep.failures)
    return (
        "<div>"
        + _line("Sweep", f"{done} of {len(rows)} points completed")
        + _table(["point", *sweep.keys, ""], rows)
        + "</div>"
    )


def _cell(field: str, value: Any) -> str:
    if field in ("bound_share", "share"):
        return "-" if value != value else f"{100 * value:.1f}"
    if field == "wrong":
        return "n/a" if value != value else f"{int(value)}"
    return f"{value:.6g}" if field.endswith(("_us", "_GBps")) else str(value)


def _line(name: str, text: str) -> str:
    return f"<p><b>{escape(name)}</b>: {escape(text)}</p>"


def _warning(text: str) -> str:
    return f"<p>&#9888; {escape(text)}</p>"


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body: List[str] = [
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows[:_ROWS_SHOWN]
    ]
    if len(rows) > _ROWS_SHOWN:
        body.append(f'<tr><td colspan="{len(names)}">... and {len(rows) - _ROWS_SHOWN} more rows</td></tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
