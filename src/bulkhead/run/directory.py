# SPDX-License-Identifier: Apache-2.0
"""Where a run's files go, and that two runs at once never share a directory.

Called by the commands `run`, `bench` and `top`. A later run of the same kind replaces an earlier one's
files; a directory that is not a run's is never emptied, because it may hold what somebody needs.
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
_LOCK = ".lock"  # also tells a run's directory from any other
_ASKED_S = 0.02  # whoever asks whether a run has the directory holds the lock for far less


class NotUsable(BulkheadError):
    """No run can go there; the message is for the user."""


@contextmanager
def run_directory(parent: Path, name: str) -> Iterator[Path]:
    """`parent/name`, or `parent/name.2` and so on while others run there; empty but for its lock.

    Raises NotUsable.
    """
    for number in range(1, _MOST_AT_ONCE + 1):
        directory = parent / (name if number == 1 else f"{name}.{number}")
        with _lock_file(directory) as lock:
            if not _taken(lock):
                continue
            _clear(directory)
            yield directory
            return
    raise NotUsable(f"{parent / name}: {_MOST_AT_ONCE} runs at once")


def _taken(lock: TextIO) -> bool:
    """Whether the lock is ours now. Twice refused, another run has it: `is_in_use` holds it for a moment."""
    for pause_s in (_ASKED_S, 0.0):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(pause_s)
        else:
            return True
    return False


def is_in_use(directory: Path) -> bool:
    """Whether a run has the directory now. It has until its process ends, however that ends."""
    try:
        with (directory / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # given back at once, by the closing
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock_file(directory: Path) -> TextIO:
    """Open its lock, if it is new, empty, or was a run's before."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / _LOCK).is_file() and next(directory.iterdir(), None) is not None:
            raise NotUsable(
                f"{directory} is not empty and not the directory of a run: name a new or an empty one"
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
