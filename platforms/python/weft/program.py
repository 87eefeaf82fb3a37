# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""Finding the program `weft`, and calling it: input, output, timeouts, and an end that keeps finished results."""
from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Collection, Dict, FrozenSet, Iterator, List, Optional, Sequence
from urllib.parse import unquote, urlparse

from .errors import ProgramNotFound, shortened

_DISTRIBUTION = "weft"
_SAVING_SECONDS = 60.0  # that a stopped program has to save what is finished
_DYING_SECONDS = 5.0


def _trees() -> Iterator[Path]:
    """Trees of weft that this package may belong to: its own place, and the folder from which pip has installed it."""
    parents = Path(__file__).resolve().parents
    if len(parents) > 3:
        yield parents[3]  # platforms/python/weft/program.py: run from the tree, or installed with --editable
    try:
        # What pip writes when it installs from a folder (PEP 610).
        origin = importlib.metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
        url = urlparse(json.loads(origin)["url"]) if origin else None
    except (importlib.metadata.PackageNotFoundError, ValueError, KeyError):
        url = None
    if url is not None and url.scheme == "file":
        source = Path(unquote(url.path))
        if len(source.parents) > 1:
            yield source.parents[1]


def _launcher_of(tree: Path) -> Optional[Path]:
    launcher = tree / "weft"
    is_weft = (tree / "cmake" / "debian-packages.txt").is_file() and os.access(launcher, os.X_OK) and launcher.is_file()
    return launcher if is_weft else None


def find_program() -> Path:
    """The program that runs platforms, the first of these that exists:

    1. what the environment variable WEFT names,
    2. the launcher `./weft` of the tree that this package was installed from, which builds the program if it has to,
    3. `weft` in PATH.

    Raises ProgramNotFound with a sentence.
    """
    named = os.environ.get("WEFT", "")
    if named:
        if not (os.path.isfile(named) and os.access(named, os.X_OK)):
            raise ProgramNotFound(
                f"WEFT is '{named}', which is no program. Set it to build/release/bin/weft or ./weft."
            )
        return Path(named).absolute()
    for tree in _trees():
        launcher = _launcher_of(tree)
        if launcher is not None:
            return launcher
    on_path = shutil.which("weft")
    if on_path is not None:
        return Path(on_path).absolute()
    raise ProgramNotFound(
        "There is no program weft: WEFT is not set, this package was not installed from a tree that is still there, "
        "and PATH has none. Set the environment variable WEFT to ./weft of a tree or to build/release/bin/weft."
    )


@dataclass(frozen=True)
class Finished:
    """How a call ended."""

    code: int  #: exit code; below 0: the signal that ended it
    stdout: str
    stderr: str
    timed_out: bool = False  #: stopped at the time limit
    stopped: bool = False  #: stopped because its caller was


class Program:
    """The program at `path`. Its first call makes sure that it starts, which builds a tree's program: that may take
    minutes."""

    _started: Dict[Path, str] = {}
    _starting = threading.Lock()

    def __init__(self, path: Optional[Path] = None) -> None:
        self.path = find_program() if path is None else path
        with Program._starting:
            if self.path not in Program._started:
                Program._started[self.path] = self._start()

    @property
    def version(self) -> str:
        """As `weft --version` says it."""
        return Program._started[self.path]

    def commands(self) -> FrozenSet[str]:
        """Names of the commands that this program has: {"run", "check", ...}."""
        text = self.call(["--help"]).stdout.partition("Subcommands:")[2].partition("\n\n")[0]
        return frozenset(re.findall(r"^  ([a-z]+) ", text, re.MULTILINE))

    def call(
        self,
        arguments: Sequence[str],
        *,
        text: Optional[str] = None,
        timeout: Optional[float] = None,
        show: Collection[str] = (),
        stop: Optional[threading.Event] = None,
    ) -> Finished:
        """Runs the program and waits for it.

        text: its standard input; None: empty.
        timeout: seconds, after which it is stopped as by Ctrl-C.
        show: which of "stdout" and "stderr" Python repeats as it comes.
        stop: when it is set, by another thread, the program is stopped.

        Raises _Interrupted, with what came until then, when a KeyboardInterrupt reaches this thread.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        process = _started_process(self.path, arguments)
        streams = _Streams(process, text, show)
        timed_out = stopped = False
        try:
            while not streams.ended(_seconds_to_wait(deadline, stop)):
                if stop is not None and stop.is_set():
                    stopped = True
                elif deadline is not None and time.monotonic() >= deadline:
                    timed_out = True
                else:
                    continue
                _stop(process, streams)
                break
        except KeyboardInterrupt:
            _stop(process, streams)
            raise _Interrupted(streams.finished(stopped=True)) from None
        return streams.finished(timed_out=timed_out, stopped=stopped)

    def _start(self) -> str:
        try:
            # All of it is built here: what a build tells is no part of a run, and files reach it by its standard input.
            ended = self.call(["build"], show=["stderr"]) if _is_launcher(self.path) else None
            if ended is None or ended.code == 0:
                ended = self.call(["--version"])
        except OSError as e:
            raise ProgramNotFound(f"{self.path} cannot be started: {e.strerror}.") from None
        if ended.code != 0:
            raise ProgramNotFound(f"{self.path} cannot be used (exit code {ended.code}):\n{shortened(ended.stderr)}")
        version = ended.stdout.strip()
        if not version.startswith("weft "):
            said = version.partition("\n")[0]
            raise ProgramNotFound(f"{self.path} is another program than weft's: `--version` says '{said}'. Set WEFT.")
        return version


class _Interrupted(KeyboardInterrupt):
    """Ctrl-C during a call; `finished` is how the program then ended."""

    def __init__(self, finished: Finished) -> None:
        super().__init__()
        self.finished = finished


def _is_launcher(path: Path) -> bool:
    return _launcher_of(path.resolve().parent) == path.resolve()


def _seconds_to_wait(deadline: Optional[float], stop: Optional[threading.Event]) -> Optional[float]:
    if deadline is None and stop is None:
        return None
    step = 0.1 if stop is not None else 3600.0
    return step if deadline is None else max(0.0, min(step, deadline - time.monotonic()))


def _started_process(path: Path, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
    command = [str(path), *arguments]
    # A Python that is killed must not leave a simulation behind: the kernel then tells the program.
    setpriv = shutil.which("setpriv")
    if setpriv is not None:
        command = [setpriv, "--pdeathsig", "TERM", "--", *command]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "SC_COPYRIGHT_MESSAGE": "DISABLE"},
        # A session of its own: Ctrl-C at a terminal reaches Python alone, which passes it on. Twice would lose results.
        start_new_session=True,
    )


class _Streams:
    """Standard streams of a process, each served by a thread, so that none can fill up and stop it."""

    def __init__(self, process: "subprocess.Popen[bytes]", text: Optional[str], show: Collection[str]) -> None:
        self._process = process
        self._read: List[List[str]] = [[], []]
        assert process.stdout is not None and process.stderr is not None
        pipes = {"stdout": process.stdout, "stderr": process.stderr}
        self._readers = [
            threading.Thread(
                target=_collect, args=(pipe, into, getattr(sys, name) if name in show else None), daemon=True
            )
            for (name, pipe), into in zip(pipes.items(), self._read)
        ]
        self._writer = threading.Thread(target=self._write, args=((text or "").encode(),), daemon=True)
        for thread in [*self._readers, self._writer]:
            thread.start()

    def _write(self, data: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        for step in (lambda: pipe.write(data), pipe.close):
            try:
                step()
            except BrokenPipeError:
                pass  # it ended before it had read all, and says why

    def ended(self, seconds: Optional[float]) -> bool:
        """Waits up to `seconds`, None: without a limit, until the process has ended."""
        deadline = None if seconds is None else time.monotonic() + seconds
        for reader in self._readers:
            reader.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
            if reader.is_alive():
                return self._process.poll() is not None
        self._process.wait()
        return True

    def finished(self, timed_out: bool = False, stopped: bool = False) -> Finished:
        for thread in [*self._readers, self._writer]:
            thread.join(_DYING_SECONDS)
        out, err = ("".join(part) for part in self._read)
        return Finished(self._process.wait(), out, err, timed_out, stopped)


def _collect(pipe: IO[bytes], into: List[str], echo: Optional[IO[str]]) -> None:
    with pipe:
        for line in pipe:
            text = line.decode(errors="replace")
            into.append(text)
            if echo is not None:
                echo.write(text)
                echo.flush()


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    try:
        os.killpg(process.pid, number)  # it leads its session
    except ProcessLookupError:
        pass


def _stop(process: "subprocess.Popen[bytes]", streams: _Streams) -> None:
    """Ends the process as Ctrl-C does: once, so that it saves what is finished. A second Ctrl-C ends it at once."""
    _signal(process, signal.SIGINT)
    try:
        if streams.ended(_SAVING_SECONDS):
            return
    except KeyboardInterrupt:
        pass
    _signal(process, signal.SIGINT)
    try:
        if streams.ended(_DYING_SECONDS):
            return
    except KeyboardInterrupt:
        pass
    _signal(process, signal.SIGKILL)
    process.wait()
