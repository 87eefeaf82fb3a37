# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Curves over size, by matplotlib."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Dict, Union

import numpy as np

from .results import Result
from .sweeps import Sweep, cell
from .tables import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    "busbw_GBps": "bus bandwidth (GB/s)",
    "algbw_GBps": "size / time (GB/s)",
    "time_us": "time (us)",
    "bound_share": "share of the bound",
}


def plot(
    what: Union[Result, Sweep, Mapping],
    *,
    y: str = "busbw_GBps",
    bound: bool = True,
    ax: "Axes | None" = None,
    **where: Any,
) -> "Axes":
    """Draws a field of the results over their size, a curve for each collective, algorithm, type and group.

    what: a Result, a Sweep, or results by label: {"82 GB/s": a, "100 GB/s": b}.
    y: a numeric field of Result.table.
    bound: draw what links and memory allow as a dashed line, for bandwidths and times.
    ax: axes of matplotlib to draw into; None: new ones.
    where: only rows with these values, as Result.select() takes them: op="all_reduce".

    Returns the axes; their figure has savefig().
    """
    results = _by_label(what)
    if ax is None:
        pyplot = need("matplotlib", "a plot", "matplotlib.pyplot")
        _, ax = pyplot.subplots()
    for label, result in results.items():
        rows = result.select(**where)
        if y not in (rows.dtype.names or ()) or not np.issubdtype(rows.dtype[y], np.number):
            raise ValueError(f"'{y}' is no numeric field of results; try one of {', '.join(_LABELS)}")
        for key in dict.fromkeys(zip(*(rows[field] for field in ("op", "algorithm", "type", "redop", "group")))):
            op, algorithm, kind, redop, group = key
            chosen = rows[
                np.all([rows[f] == v for f, v in zip(("op", "algorithm", "type", "redop", "group"), key)], axis=0)
            ]
            chosen = chosen[np.argsort(chosen["size_bytes"], kind="stable")]
            name = ", ".join(part for part in (label, f"{op} {algorithm}", kind, group) if part)
            (line,) = ax.plot(chosen["size_bytes"], chosen[y], marker="o", markersize=3, label=name)
            if bound:
                _draw_bound(ax, chosen, y, line.get_color())
    ax.set_xscale("log", base=2)
    if y == "time_us":
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=0)
    ax.set_xlabel("size (B)")
    ax.set_ylabel(_LABELS.get(y, y))
    ax.grid(True, alpha=0.3)
    ax.legend(fontsize="small")
    return ax


def _by_label(what: Union[Result, Sweep, Mapping]) -> Dict[str, Result]:
    if isinstance(what, Result):
        results = {"": what}
    elif isinstance(what, Sweep):
        results = {
            ", ".join(f"{key} = {cell(value)}" for key, value in point.values.items()): point.result
            for point in what.points
            if point.ok and point.result is not None
        }
    elif isinstance(what, Mapping) and all(isinstance(value, Result) for value in what.values()):
        results = {str(label): result for label, result in what.items()}
    else:
        raise TypeError(f"a plot takes a Result, a Sweep or results by label, not {type(what).__name__}")
    if not results:
        raise ValueError("there is no result to draw")
    return results


def _draw_bound(ax: "Axes", rows: np.ndarray, y: str, color: str) -> None:
    """What would be reached at the least time that links and memory allow."""
    if y == "time_us":
        least = rows["bound_us"]
    elif y in ("busbw_GBps", "algbw_GBps"):
        least = rows[y] * rows["time_us"] / rows["bound_us"]
    else:
        return
    known = np.isfinite(least)
    if known.any():
        ax.plot(rows["size_bytes"][known], least[known], linestyle="--", linewidth=0.8, color=color)
