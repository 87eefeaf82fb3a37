# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of results.json as structured NumPy arrays and as data frames, with the unit of every column."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

from .errors import MissingPackage

Row = Dict[str, Any]


class Column(NamedTuple):
    """One column. Kinds: text; count, an int64; number, a float64, NaN where there is none; flag; maybe_count, a whole
    number that may be missing: a float64 with NaN in arrays, pandas' Int64 in frames."""

    name: str
    kind: str
    unit: str  #: "" for texts and pure numbers


RESULTS = (
    Column("op", "text", ""),
    Column("algorithm", "text", ""),
    Column("group", "text", ""),
    Column("type", "text", ""),
    Column("redop", "text", ""),
    Column("size_bytes", "count", "B"),
    Column("count", "count", "elements"),
    Column("time_us", "number", "us"),
    Column("algbw_GBps", "number", "GB/s"),
    Column("busbw_GBps", "number", "GB/s"),
    Column("wrong", "maybe_count", "elements"),
    Column("answers", "text", ""),
    Column("steps", "count", ""),
    Column("train_packets", "count", "packets"),
    Column("bound_us", "number", "us"),
    Column("bound_share", "number", ""),
    Column("bound_by", "text", ""),
    Column("chosen_by", "text", ""),
    Column("repeats", "maybe_count", ""),
    Column("min_us", "number", "us"),
    Column("max_us", "number", "us"),
    Column("standard_deviation_us", "number", "us"),
)
TRAINING_STEPS = (
    Column("time_us", "number", "us"),
    Column("compute_us", "number", "us"),
    Column("communication_us", "number", "us"),
    Column("exposed_us", "number", "us"),
    Column("share", "number", ""),
    Column("input_us", "number", "us"),
    Column("samples", "maybe_count", "samples"),
    Column("samples_per_second", "number", "samples/s"),
    Column("law_samples_per_second", "number", "samples/s"),
    Column("links_samples_per_second", "number", "samples/s"),
)
TRAINING_PARTS = (
    Column("step", "count", ""),
    Column("kind", "text", ""),
    Column("name", "text", ""),
    Column("type", "text", ""),
    Column("size_bytes", "count", "B"),
    Column("count", "count", "elements"),
    Column("ranks_per_group", "maybe_count", "ranks"),
    Column("calls", "count", ""),
    Column("ready_us", "number", "us"),
    Column("start_us", "number", "us"),
    Column("time_us", "number", "us"),
    Column("wrong", "maybe_count", "elements"),
)
LINKS = (
    Column("name", "text", ""),
    Column("bytes", "count", "B"),
    Column("utilisation_percent", "number", "%"),
)
STATISTICS = (
    Column("name", "text", ""),
    Column("value", "number", ""),
    Column("unit", "text", ""),
    Column("description", "text", ""),
)

_DTYPES = {"count": np.int64, "number": np.float64, "maybe_count": np.float64, "flag": np.bool_}
_FRAME_DTYPES = {"text": "string", "count": "int64", "number": "float64", "maybe_count": "Int64", "flag": "bool"}


def result_row(row: Row) -> Row:
    """An object of `results`, with the numbers of its `repeats` beside the others. What else is nested has no
    column."""
    flat = {key: value for key, value in row.items() if not isinstance(value, (dict, list))}
    repeats = row.get("repeats")
    if isinstance(repeats, dict):
        flat.update({key: value for key, value in repeats.items() if not isinstance(value, (dict, list))})
        flat["count"] = row.get("count")
        flat["repeats"] = repeats.get("count")
    return flat


def with_unknown(columns: Sequence[Column], rows: Sequence[Row]) -> List[Column]:
    """`columns`, and behind them those that a newer program writes."""
    all_columns = list(columns)
    known = {column.name for column in columns}
    for row in rows:
        for name in row:
            if name not in known:
                known.add(name)
                all_columns.append(Column(name, _kind_of([r.get(name) for r in rows]), ""))
    return all_columns


def _kind_of(values: Sequence[Any]) -> str:
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return "flag" if len(present) == len(values) else "text"
    if present and all(isinstance(value, int) and not isinstance(value, bool) for value in present):
        return "count" if len(present) == len(values) else "maybe_count"
    return (
        "number"
        if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present)
        else "text"
    )


def array_of(columns: Sequence[Column], rows: Sequence[Row]) -> np.ndarray:
    """Shape (len(rows),), one field a column; read-only."""
    parts = [(column.name, _values(column, rows)) for column in columns]
    table = np.empty(len(rows), dtype=[(name, values.dtype) for name, values in parts])
    for name, values in parts:
        table[name] = values
    table.setflags(write=False)
    return table


def _values(column: Column, rows: Sequence[Row]) -> np.ndarray:
    values = [row.get(column.name) for row in rows]
    if column.kind == "text":
        texts = np.array(["" if value is None else str(value) for value in values], dtype=np.str_)
        return texts if len(rows) else texts.astype("U1")
    if column.kind in ("number", "maybe_count"):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values, dtype=_DTYPES[column.kind])


def frame_of(columns: Sequence[Column], rows: Sequence[Row]) -> Any:
    """A pandas.DataFrame; its `attrs["units"]` has the units of its columns."""
    pandas = need("pandas", "a data frame")
    frame = pandas.DataFrame(
        {column.name: pandas.array(_frame_values(column, rows), dtype=_FRAME_DTYPES[column.kind]) for column in columns}
    )
    frame.attrs["units"] = units_of(columns)
    return frame


def _frame_values(column: Column, rows: Sequence[Row]) -> Any:
    if column.kind == "maybe_count":
        return [row.get(column.name) for row in rows]
    values = _values(column, rows)
    return [str(value) for value in values] if column.kind == "text" else values


def units_of(columns: Sequence[Column]) -> Dict[str, str]:
    """Unit of every column that has one."""
    return {column.name: column.unit for column in columns if column.unit}


def need(package: str, purpose: str, module: Optional[str] = None) -> Any:
    """The package, or MissingPackage with a sentence."""
    import importlib

    try:
        return importlib.import_module(module or package)
    except ImportError as e:
        raise MissingPackage(
            f"{purpose} needs {package}, which cannot be imported ({e}). On Debian: apt-get install python3-{package}; "
            f"elsewhere: pip install {package}."
        ) from e
