# SPDX-License-Identifier: Apache-2.0
"""Where a run's files go, and that two runs at once never share a directory.

Called by the command `run`. A later run of the same kind replaces an earlier one's files.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MOST_AT_ONCE = 64


@contextmanager
def run_directory(parent: Path, name: str) -> Iterator[Path]:
    """`parent/name`, or `parent/name.2` and so on while others run there; empty but for its lock."""
    for number in range(1, _MOST_AT_ONCE + 1):
        directory = parent / (name if number == 1 else f"{name}.{number}")
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            _clear(directory)
            yield directory
            return
    raise OSError(f"{parent / name}: {_MOST_AT_ONCE} runs at once")


def _clear(directory: Path) -> None:
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != ".lock":
            entry.unlink()
