#!/usr/bin/env python3
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page and compares what they print with what the page says.

    run_commands.py PROGRAM PAGE fast|all      exit code 0: as the page says

A page is README.md or a file of docs. Its indented blocks hold commands:

    $ ./weft ...         with the output below it, up to the next "$": run and compared; "..." stands for any lines, and
                         at the beginning of a line for any beginning
    ./weft ...           without output: run with `all` only, and must end with exit code 0
    NAME=..., sed ...    other lines of a paragraph with a command: always run, they prepare what follows

A command that ends in a backslash goes on in the next line. All of a page run in one shell and one empty folder, in which
./weft, configs, firmware, hw and rtl are what they are in the repository. Host times, versions and addresses of code are masked.
What cannot run here, or shows a failure, stands in exceptions.yaml with its reason. WEFT_UPDATE_EXPECTED=1 writes outputs without "..." anew.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

SOURCE = Path(__file__).resolve().parents[2]
TIMEOUT_S = 3000
MARK = "-- weft docs --"

# What differs between two hosts, two versions of one behaviour, or two runs.
MASKS = [
    (r"^Host time .*", "Host time <masked>"),
    (r"^Host      (at least )?about .*", "Host      <masked>"),
    (r"\d+\.\d+\.\d+\+[0-9.]*g[0-9a-f]+(\.modified)?", "<version>"),
    (r"\d+\.\d+ million per CPU second", "<rate> per CPU second"),
    (r"in \d+(\.\d+)? s of host time", "in <time> of host time"),
    (r"(results|cases) in \d+(\.\d+)? (s|min|h)", r"\1 in <time>"),
    (r"; about \d+(\.\d+)? (s|min|h) left", "; <time> left"),
    (r"about \d+(\.\d+)? (s|min|h) with \d+ at a time", "<time> with <jobs> at a time"),
    (r"with \d+(\.\d+)? [kMG]?B of memory", "with <memory>"),
    (r"pc [a-z0-9_]+\+0x[0-9a-f]+(, [\w/.]+:\d+)?", "pc <place>"),
    (r"\x1b\[[0-9;]*m", ""),
]


class Command(NamedTuple):
    line: int  # in the page, from 1
    text: str  # for the shell
    compared: bool
    output: List[str]  # as the page has it
    output_lines: Tuple[int, int]  # where that stands, from, up to


def masked(line: str) -> str:
    for pattern, by in MASKS:
        line = re.sub(pattern, by, line)
    return line.rstrip()


def matches(wanted: List[str], found: List[str]) -> bool:
    """Whether `found` is `wanted`, in which "..." stands for any number of lines."""
    if not wanted:
        return not found
    if wanted[0].strip() == "...":
        return any(matches(wanted[1:], found[i:]) for i in range(len(found) + 1))
    if not found:
        return False
    first = wanted[0].strip()
    same = found[0].endswith(first[3:]) if first.startswith("...") else found[0] == wanted[0]
    return same and matches(wanted[1:], found[1:])


def blocks(lines: List[str]) -> List[Tuple[int, int]]:
    """Indented blocks, blank lines in them included: from, up to, as indices."""
    found = []
    at = 0
    while at < len(lines):
        begins = lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip())
        if not begins:
            at += 1
            continue
        end = at
        while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
            end += 1
        last = end
        while not lines[last - 1].strip():
            last -= 1
        found.append((at, last))
        at = end
    return found


def without_comment(text: str) -> str:
    """The page explains some commands behind two blanks and '#'."""
    return re.sub(r"\s{2,}#\s.*$", "", text)


def commands_of(lines: List[str]) -> List[Command]:
    found: List[Command] = []
    for begin, end in blocks(lines):
        at = begin
        paragraph_runs = False
        while at < end:
            text = lines[at][4:]
            if text.startswith("$ "):
                first = at
                command = text[2:]
                while command.endswith("\\") and at + 1 < end:
                    at += 1
                    command = command[:-1] + " " + lines[at].strip()
                at += 1
                stop = at
                while stop < end and not lines[stop].startswith("    $ "):
                    stop += 1
                shown = [line[4:].rstrip() for line in lines[at:stop]]
                while shown and not shown[-1]:
                    shown.pop()
                found.append(Command(first + 1, without_comment(command), True, shown, (at, at + len(shown))))
                at = stop
                continue
            if not text.strip():
                paragraph_runs = False
                at += 1
                continue
            is_first = at == begin or not lines[at - 1].strip()
            if is_first:
                stop = at
                while stop < end and lines[stop].strip():
                    stop += 1
                paragraph_runs = any(re.match(r"    (\./weft |sed |export |[A-Z]+=)", line) for line in lines[at:stop])
            if not paragraph_runs:
                at += 1
                continue
            first = at
            command = text
            while command.endswith("\\") and at + 1 < end:
                at += 1
                command = command[:-1] + " " + lines[at].strip()
            at += 1
            found.append(Command(first + 1, without_comment(command), False, [], (at, at)))
    return found


def exceptions_of(page: str) -> Tuple[Dict[str, str], Dict[str, str], List[str]]:
    """Commands of the page that do not run and those that must end with exit code 1, both with reasons, and what is run before all.
    A subset of YAML: no library is needed."""
    left_out: Dict[str, str] = {}
    failing: Dict[str, str] = {}
    before: List[str] = []
    current = None
    for raw in (SOURCE / "testbenches/docs/exceptions.yaml").read_text(encoding="utf-8").splitlines():
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        if not raw.startswith(" "):
            current = raw.rstrip(":").strip()
        elif current == page:
            kind, _, rest = raw.strip()[2:].partition(": ")
            if kind == "before":
                before.append(rest)
            elif kind in ("command", "fails"):
                command, _, reason = rest.partition("  # ")
                if not reason:
                    raise SystemExit(f"exceptions.yaml: no reason for {command}")
                (left_out if kind == "command" else failing)[command] = reason
            else:
                raise SystemExit(f"exceptions.yaml: unknown kind {kind}")
    return left_out, failing, before


def run_all(program: str, commands: List[str]) -> List[Tuple[int, List[str]]]:
    """Exit code and output of each, in one shell in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        for name in ("configs", "firmware", "hw", "rtl"):
            os.symlink(SOURCE / name, here / name)
        shutil.copytree(SOURCE / "docs", here / "docs")  # `weft validate` writes pages
        (here / "weft").write_text(f'#!/bin/sh\nexec "{program}" "$@"\n', encoding="utf-8")
        (here / "weft").chmod(0o755)
        script = "".join(f"{c}\nprintf '\\n{MARK} %d\\n' $?\n" for c in commands)
        (here / ".script").write_text(script, encoding="utf-8")
        ended = subprocess.run(
            ["bash", ".script"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
            env={**os.environ, "COLUMNS": "500"},
        )
    results = []
    rest = ended.stdout
    for command in commands:
        text, mark, rest = rest.partition(f"\n{MARK} ")
        if not mark:
            raise SystemExit(f"the shell ended in: {command}\n{text}")
        code, _, rest = rest.partition("\n")
        results.append((int(code), text.splitlines()))
    return results


def main() -> int:
    program, page, how_much = sys.argv[1], sys.argv[2], sys.argv[3]
    path = SOURCE / page
    lines = path.read_text(encoding="utf-8").splitlines()
    left_out, failing, before = exceptions_of(page)
    commands = commands_of(lines)
    unknown = (set(left_out) | set(failing)) - {c.text for c in commands}
    if unknown:
        print(f"exceptions.yaml: {page} has no such command: {sorted(unknown)}")
        return 1
    is_weft = re.compile(r"(^|[;&|(] *|do )\./weft ")
    chosen = [
        c
        for c in commands
        if c.text not in left_out and (c.compared or how_much == "all" or not is_weft.search(c.text))
    ]
    results = run_all(program, before + [c.text for c in chosen])
    for text, (code, output) in zip(before, results):
        if code != 0:
            print(f"exceptions.yaml: {text} ends with exit code {code}:\n" + "\n".join(output))
            return 1
    failures = 0
    update = bool(os.environ.get("WEFT_UPDATE_EXPECTED"))
    changes: List[Tuple[Tuple[int, int], List[str]]] = []
    for command, (code, output) in zip(chosen, results[len(before) :]):
        output = [line.rstrip() for line in output]
        while output and not output[-1]:
            output.pop()
        if not command.compared:
            wanted = 1 if command.text in failing else 0
            if code != wanted:
                failures += 1
                print(
                    f"{page}:{command.line}: {command.text}\n    ends with exit code {code}, not {wanted}:\n    "
                    + "\n    ".join(output[-15:])
                )
            continue
        if matches([masked(line) for line in command.output], [masked(line) for line in output]):
            continue
        if update and not any(line.strip().startswith("...") for line in command.output):
            changes.append((command.output_lines, output))
            continue
        failures += 1
        print(f"{page}:{command.line}: $ {command.text}\n  the page says:")
        print("\n".join("    " + line for line in command.output))
        print(f"  it prints (exit code {code}):")
        print("\n".join("    " + line for line in output[:200]))
    for (begin, end), output in reversed(changes):
        lines[begin:end] = ["    " + line if line else "" for line in output]
    if changes:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(
        f"{page}: {len(chosen)} commands run, {sum(c.compared for c in chosen)} outputs compared, {len(left_out)} left out"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
