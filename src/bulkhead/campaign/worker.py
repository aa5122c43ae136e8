# SPDX-License-Identifier: Apache-2.0
"""A worker's handling of a task: it passes the task to a serving process (serve.py), and returns the answer.

Runs in a process of this machine, or at a worker of a cluster, whose Python need not have Bulkhead: this
file comes with the archive of the code (archive.py) and uses the standard library alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import zipfile
from pathlib import Path

FILES = "@files@"  # in a task: the directory in which the archive of files was unpacked
ABI_FILE = "abi"  # of the archive of the code: for which Python and processor its modules were compiled
STARTS = 2  # of a serving process for one task: one that dies without an answer is replaced once

_unpacking = threading.Lock()
_free: dict[Path, list[_Server]] = {}  # serving processes that have no task, by where their code is


def run(task: str, code: Path | None = None, files: Path | None = None) -> str:
    """The answer to `task`, both lines of JSON. `code`, `files`: archives that lie at this worker; without
    `code`, the code is the one that this file belongs to."""
    source, where = (own_source(), "") if code is None else (_unpacked(code), f" at {socket.gethostname()}")
    if code is not None and (wrong := _wrong_abi(source)):
        return json.dumps({"error": wrong})
    if files is not None:
        task = task.replace(FILES, json.dumps(str(_unpacked(files)))[1:-1])
    return _served(task, source, where)


def own_source() -> Path:
    """The directory that this file's package lies in. Not for the copy that runs at a cluster's worker, which
    is in no file."""
    return Path(__file__).resolve().parents[2]


def _served(task: str, source: Path, where: str) -> str:
    said = ""
    for _ in range(STARTS):
        server = _free_server(source)
        try:
            line = server.answer(task)
        except BaseException:
            server.kill()
            raise
        if line:
            _free[source].append(server)
            return line
        said = server.kill()
    return json.dumps({"error": f"its process{where} ended without an answer{said}"})


def _free_server(source: Path) -> _Server:
    """A serving process without a task: one that still runs, or a new one."""
    free = _free.setdefault(source, [])
    while True:
        try:
            server = free.pop()
        except IndexError:
            return _Server(source)
        if server.process.poll() is None:
            return server
        server.kill()


def _unpacked(archive: Path) -> Path:
    """The directory with the content of an archive, beside it. Its name is its content's."""
    place = archive.with_suffix("")
    with _unpacking:
        if not place.is_dir():
            part = Path(tempfile.mkdtemp(prefix=place.name, dir=place.parent))
            try:
                with zipfile.ZipFile(archive) as packed:
                    for info in packed.infolist():
                        Path(packed.extract(info, part)).chmod(info.external_attr >> 16 & 0o777)
                part.rename(place)
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                if not place.is_dir():  # another process may have been first
                    raise
    return place


def _wrong_abi(source: Path) -> str:
    wanted = (source / ABI_FILE).read_text(encoding="utf-8")
    here = str(sysconfig.get_config_var("EXT_SUFFIX"))
    if here == wanted:
        return ""
    return f"the machine is compiled for {wanted}, and {sys.executable} at {socket.gethostname()} is {here}"


class _Server:
    """A serving process, which one thread uses at a time."""

    def __init__(self, source: Path) -> None:
        path = os.pathsep.join([str(source), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process lives
        self.process = subprocess.Popen(
            # -P: not the code of the directory that a worker was started in.
            [sys.executable, "-P", "-m", "bulkhead.campaign.serve", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
            start_new_session=True,  # an interrupt is for the command, which ends its workers
        )

    def answer(self, task: str) -> str:
        """A line, or nothing: the process has died."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(task + "\n")
            self.process.stdin.flush()
            return self.process.stdout.readline()
        except BrokenPipeError:
            return ""

    def kill(self) -> str:
        """With the process of its task. What it wrote last on its standard error, for an error's text."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f": {last}" if last else ""
