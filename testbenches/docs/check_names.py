#!/usr/bin/env python3
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Names in the pages: keys of platform files, files of the repository, and nothing of the machine that made a page.

    check_names.py [PAGE...]      default: README.md, CONTRIBUTING.md and all of docs; exit code 0: all names are right

Keys: `ici.link_rate` in back quotes, and --set KEY=, where the first word is a section of some platform, by the JSON Schemas in
docs. Files: `a/b.ext` and configs/... in commands. Links are the matter of pages_test.cpp.
"""
from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

SOURCE = Path(__file__).resolve().parents[2]
FOLDERS = {path.name for path in SOURCE.iterdir() if path.is_dir() and not path.name.startswith(".")} - {"build", "out"}
PLATFORMS = sorted(path for path in (SOURCE / "docs").glob("*.schema.json") if path.name != "results.schema.json")
# Of the machine that made a page: folders of users, of temporary files, and names of hosts.
FOREIGN = re.compile(
    r"(?<![\w/.-])/(home|root|work|tmp|mnt|Users|builds|workspace)/\S*|\b\w+@[\w-]+:[~/]|https?://(localhost|10\.|192\.168\.)\S*"
)
# What pages say of temporary folders and devices in general.
ALLOWED = re.compile(r"^/tmp(/[a-z_]+)?/?[`'\").,;]*$")
# Written like keys or files of ours, and none, with the reason.
OTHERS = {
    "host.memory": "part of a machine in C++, page 07",
    "nic.bad_frames": "a statistic",
    "host.traffic.0.samples.rate": "a statistic",
    "ici.chip_0_1": "a name of SystemC",
    "extends": "no key of a platform, ADR 0030",
    "configs/ring/ring_8.yaml": "of the platform that page 08 makes",
    "configs/NAME": "NAME is any",
}


def is_file(name: str) -> bool:
    """Also of a test without its folder and ending, and of a header without its ending."""
    return any(
        (SOURCE / path).exists() for path in (name, f"{name}.h", f"testbenches/{name}.cpp", f"testbenches/{name}")
    )


def section(schema: dict) -> dict:
    """The members of a section, or of the entries of a list of sections."""
    while schema.get("type") == "array":
        schema = schema["items"]
    return schema.get("properties", {})


def keys() -> List[dict]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in PLATFORMS]


def is_key(path: str, schemas: List[dict]) -> bool:
    """Whether some platform has it; numbers and N are entries of lists."""
    for schema in schemas:
        at = schema
        known = True
        for part in path.split("."):
            if part == "N" or part.isdigit():
                known = at.get("type") == "array"
                at = at.get("items", {})
            else:
                members = section(at)
                known = part in members
                at = members.get(part, {})
            if not known:
                break
        if known:
            return True
    return False


def names_in(text: str) -> Iterator[Tuple[int, str, str]]:
    """(line, kind, name)"""
    for number, line in enumerate(text.splitlines(), 1):
        for found in re.finditer(r"--set +[\"']?([a-z_]+(?:\.[a-z0-9_]+)*)=", line):
            yield number, "key", found[1]
        for quoted in re.finditer(r"`([^`]+)`", line):
            name = quoted[1]
            if re.fullmatch(r"[a-z_0-9]+(\.([a-z_0-9]+|N))+", name):
                yield number, "dotted", name
            if re.fullmatch(r"[\w.-]+(/[\w.-]+)+", name):
                yield number, "path", name
        for found in re.finditer(r"(?<![\w/.])configs/[\w./-]+\.yaml", line):
            yield number, "path", found[0]
        for found in FOREIGN.finditer(line):
            if not ALLOWED.match(found[0]):
                yield number, "foreign", found[0]


def check(page: Path, schemas: List[dict]) -> Tuple[int, List[str]]:
    sections = {name for schema in schemas for name in schema["properties"]}
    count, wrong = 0, []
    for line, kind, name in names_in(page.read_text(encoding="utf-8")):
        where = f"{page.relative_to(SOURCE)}:{line}"
        if name in OTHERS or name.endswith((".yaml", ".json")) and kind == "dotted":
            continue
        first = name.split(".")[0]
        if kind == "foreign":
            wrong.append(f"{where}: {name} is of the machine that made the page")
        elif kind == "key" or (kind == "dotted" and first in sections and not (SOURCE / name).exists()):
            count += 1
            if not is_key(name, schemas):
                wrong.append(f"{where}: no platform has the key {name}")
        elif kind == "path" and name.split("/")[0] in FOLDERS:
            count += 1
            if not is_file(name):
                wrong.append(f"{where}: there is no {name}")
    return count, wrong


def main() -> int:
    pages = [Path(name).resolve() for name in sys.argv[1:]] or sorted(
        [
            SOURCE / "README.md",
            SOURCE / "CONTRIBUTING.md",
            SOURCE / "CHANGELOG.md",
            *(SOURCE / "docs").glob("*.md"),
            *(SOURCE / "docs/adr").glob("*.md"),
        ]
    )
    schemas = keys()
    counts: Dict[str, int] = {}
    failures: List[str] = []
    for page in pages:
        count, wrong = check(page, schemas)
        counts[page.name] = count
        failures += wrong
    print("\n".join(failures))
    print(f"{sum(counts.values())} names in {len(pages)} pages, {len(failures)} of them wrong")
    return 1 if failures or (len(sys.argv) == 1 and sum(counts.values()) < 200) else 0


if __name__ == "__main__":
    sys.exit(main())
