# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""From a dict, a text or a file name to what the program reads."""
from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any, List, NamedTuple, Optional, Union

import numpy as np

#: A platform: a dict as a platform file would have it, the name of a file, or a text of more than one line.
Config = Union[Mapping, str, "os.PathLike[str]"]


class Source(NamedTuple):
    """A platform as arguments of a command, and what goes to its standard input."""

    arguments: List[str]
    text: Optional[str]


def source_of(config: Config, overrides: Optional[Mapping] = None) -> Source:
    """The arguments FILE and --set. A dict or a text goes to standard input: files that it names are looked for in
    the present folder, and messages call it <stdin>."""
    options = [part for key, value in (overrides or {}).items() for part in ("--set", override(key, value))]
    if isinstance(config, Mapping):
        return Source(["-", *options], to_yaml(config) + "\n")
    if isinstance(config, str) and "\n" in config:
        return Source(["-", *options], config)
    if not isinstance(config, (str, os.PathLike)):
        raise TypeError(f"a platform is a dict, a text or the name of a file, not {type(config).__name__}")
    name = os.fspath(config)
    if not isinstance(name, str):
        raise TypeError("the name of a platform file is a str or a Path, not bytes")
    if not name:
        raise ValueError("the name of the platform file is empty")
    if name.startswith("-"):
        name = os.path.join(os.curdir, name)  # no option, and not standard input
    return Source([name, *options], None)


def override(key: Any, value: Any) -> str:
    """The argument of --set for one value: "ici.link_rate", "100 GB/s" -> 'ici.link_rate="100 GB/s"'."""
    if not isinstance(key, str) or not key or "=" in key:
        raise ValueError(f"{key!r} is no key; write a path like 'mesh.rows' or 'workload.0.sizes'")
    return f"{key}={to_yaml(value, key, None)}"


def to_yaml(value: Any, path: str = "", indent: Optional[int] = 2) -> str:
    """`value` as JSON, which is YAML. NumPy's numbers and arrays become numbers and lists, paths and units texts."""
    # Not ASCII alone: YAML knows no pairs of surrogates.
    return json.dumps(_plain(value, path), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any, path: str) -> Any:
    where = f"{path}: " if path else ""
    if value is None or isinstance(value, (bool, str)):
        return _text(value, where) if isinstance(value, str) else value
    if isinstance(value, np.generic):
        return _plain(value.item(), path)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist(), path)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where}{value} is no value for a platform")
        return value
    if isinstance(value, os.PathLike):
        return _plain(os.fspath(value), path)
    if isinstance(value, Mapping):
        return {_key(key, where): _plain(inner, f"{path}.{key}" if path else str(key)) for key, inner in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(inner, f"{path}.{i}" if path else str(i)) for i, inner in enumerate(value)]
    raise TypeError(
        f"{where}a {type(value).__name__} is no value for a platform; write a number, a text, a list or a dict"
    )


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{where}{key!r} is no key; keys are texts")
    return _text(key, where)


def _text(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{where}{text!r} is no Unicode text") from None
    return text
