# SPDX-License-Identifier: Apache-2.0
"""Where files live: the checkout or the installed package, the build directory, and the cache of downloads.

The tool runs from a checkout, or as an installed package that brings along what commands read. One function
for each kind of file says where it is in both. Everything that the tool writes goes beneath the build or the
cache directory; whoever writes asks here.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bulkhead.env.errors import NeedsCheckout

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parents[1]
_PACKAGE_DATA = _PACKAGE / "data"  # cmake/wheel.cmake puts it there


def checkout() -> Path | None:
    """The root of the checkout that this program runs from; None: it is an installed package."""
    inside = _PACKAGE == _CHECKOUT / "src" / "bulkhead" and (_CHECKOUT / "CMakePresets.json").is_file()
    return _CHECKOUT if inside else None


def is_checkout() -> bool:
    """Whether there is anything to build from."""
    return checkout() is not None


def repository(what: str = "This") -> Path:
    """The root of the checkout, for what needs its sources. Raises NeedsCheckout: `what` does."""
    root = checkout()
    if root is None:
        raise NeedsCheckout(what)
    return root


def _read_only(name: str) -> Path:
    """A directory or file that only is read: the checkout's, else the package's."""
    return (checkout() or _PACKAGE_DATA) / name


def platforms_dir() -> Path:
    """Platform files."""
    return _read_only("platforms")


def experiments_dir() -> Path:
    """Files of experiments."""
    return _read_only("experiments")


def validation_dir() -> Path:
    """What was measured on boards and published."""
    return _read_only("validation")


def examples_dir() -> Path:
    """System files that documentation names."""
    return _read_only("examples")


def recordings_dir() -> Path:
    """What the traces of recorded programs are made of."""
    return _read_only("workloads/traces")


def layout_file() -> Path:
    """The layout of the manifest and its limits."""
    return _read_only("schema/manifest.yaml")


def commit_file() -> Path:
    """The commit that an installed package was built from."""
    return _PACKAGE_DATA / "commit"


def host_dir() -> Path:
    """What was compiled for this machine: the build of preset `host`, or the package's parts of it."""
    root = checkout()
    return root / "build" / "host" if root is not None else _PACKAGE / "native"


def build_dir() -> Path:
    """What the tool makes: `build` in the checkout, or in the current directory of an installed package."""
    return (checkout() or Path.cwd()) / "build"


def cache_dir() -> Path:
    """Downloads that any checkout can use: `$BULKHEAD_CACHE`, or in the build directory."""
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
