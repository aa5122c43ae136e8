# SPDX-License-Identifier: Apache-2.0
"""Where files live: the checkout, its build tree, and the cache of downloads.

Everything that the tool writes goes beneath the build or the cache directory; whoever writes asks here.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def repository() -> Path:
    """The root of the checkout that this program runs from."""
    return Path(__file__).resolve().parents[3]


def is_checkout() -> bool:
    """Whether there is anything to build from."""
    return (repository() / "CMakePresets.json").is_file()


def build_dir() -> Path:
    return repository() / "build"


def cache_dir() -> Path:
    """Downloads that any checkout can use: `$BULKHEAD_CACHE`, or in the build tree."""
    configured = os.environ.get("BULKHEAD_CACHE")
    return Path(configured).absolute() if configured else build_dir() / "cache"


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold an exclusive lock that other processes of this user respect; waits for them, and says so."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            from bulkhead.env.progress import progress

            with progress(f"wait for another process, which has {file}"):
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
