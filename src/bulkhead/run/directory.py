# SPDX-License-Identifier: Apache-2.0
"""Directories of runs: two concurrent runs never share one.

Runs of systems, benchmarks and the command `top` use them. A later run of the same kind replaces an earlier
run's files. A directory that is not a run's is never emptied, since it may hold a user's files.
"""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from bulkhead.errors import BulkheadError

_MOST_AT_ONCE = 64
_LOCK = ".lock"  # also marks a directory as a run's
_ASKED_S = 0.02  # longer than a query of the lock holds it


class NotUsable(BulkheadError):
    """The directory cannot be used for a run; the message is for the user."""


@contextmanager
def run_directory(parent: Path, name: str) -> Iterator[Path]:
    """`parent/name`, or `parent/name.2` and so on while other runs use it; empty except for its lock. Raises
    NotUsable."""
    for number in range(1, _MOST_AT_ONCE + 1):
        directory = parent / (name if number == 1 else f"{name}.{number}")
        with _lock_file(directory) as lock:
            if not _taken(lock):
                continue
            _clear(directory)
            yield directory
            return
    raise NotUsable(f"{parent / name}: {_MOST_AT_ONCE} runs use it at the same time, which is the limit")


def _taken(lock: TextIO) -> bool:
    """Tries to take the lock. A query by `is_in_use` holds it only briefly, so it is tried twice before
    another run is assumed."""
    for pause_s in (_ASKED_S, 0.0):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(pause_s)
        else:
            return True
    return False


def is_in_use(directory: Path) -> bool:
    """Whether a run uses the directory now. The lock is released when the run's process ends for any
    reason."""
    try:
        with (directory / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # closing the file releases it at once
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock_file(directory: Path) -> TextIO:
    """Opens the lock file of a directory that is new, empty, or a run's. Raises NotUsable."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / _LOCK).is_file() and next(directory.iterdir(), None) is not None:
            raise NotUsable(
                f"{directory} is neither empty nor the directory of a run: name a new or an empty directory"
            )
        return (directory / _LOCK).open("w")
    except OSError as error:
        raise NotUsable(f"{directory}: cannot be the directory of a run: {error.strerror}") from error


def _clear(directory: Path) -> None:
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != _LOCK:
            entry.unlink()
