# SPDX-License-Identifier: Apache-2.0
"""Places of files: the checkout or the installed package, the build directory, and the cache of downloads.

The tool runs from a checkout, or as an installed package that contains the files that commands read. One
function for each kind of file returns its place in both cases. The tool writes only below the build directory
or the cache directory, which are defined here.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bulkhead.env.errors import NeedsCheckout

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parents[1]
_PACKAGE_DATA = _PACKAGE / "data"  # written by cmake/wheel.cmake


def checkout() -> Path | None:
    """The root of the checkout that this program runs from; None: it is an installed package."""
    inside = _PACKAGE == _CHECKOUT / "src" / "bulkhead" and (_CHECKOUT / "CMakePresets.json").is_file()
    return _CHECKOUT if inside else None


def is_checkout() -> bool:
    """Whether the program runs from a checkout, from which parts can be built."""
    return checkout() is not None


def repository(what: str = "This") -> Path:
    """The root of the checkout, for callers that need sources. Raises NeedsCheckout, which names `what`."""
    root = checkout()
    if root is None:
        raise NeedsCheckout(what)
    return root


def _read_only(name: str) -> Path:
    """A directory or file that is only read: the checkout's, else the package's."""
    return (checkout() or _PACKAGE_DATA) / name


def platforms_dir() -> Path:
    """Platform files."""
    return _read_only("platforms")


def experiments_dir() -> Path:
    """Files of experiments."""
    return _read_only("experiments")


def validation_dir() -> Path:
    """Published measurements of boards."""
    return _read_only("validation")


def published_file() -> Path:
    """Figures that others published."""
    return _read_only("published/figures.yaml")


def examples_dir() -> Path:
    """System files that the documentation uses."""
    return _read_only("examples")


def recordings_dir() -> Path:
    """Sources of the traces of recorded programs."""
    return _read_only("workloads/traces")


def layout_file() -> Path:
    """The layout of the manifest and its limits."""
    return _read_only("schema/manifest.yaml")


def commit_file() -> Path:
    """File with the commit that an installed package was built from."""
    return _PACKAGE_DATA / "commit"


def host_dir() -> Path:
    """Binaries for this machine: the build of preset `host`, or those that the package contains."""
    root = checkout()
    return root / "build" / "host" if root is not None else _PACKAGE / "native"


def build_dir() -> Path:
    """Output of the tool: `build` in the checkout, or in the current directory for an installed package."""
    return (checkout() or Path.cwd()) / "build"


def cache_dir() -> Path:
    """Downloads for all checkouts: `$BULKHEAD_CACHE`, else a directory in the build directory."""
    configured = os.environ.get("BULKHEAD_CACHE")
    return Path(configured).absolute() if configured else build_dir() / "cache"


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold an exclusive lock between processes. Waits for the others, and shows that."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            from bulkhead.env.progress import progress

            with progress(f"wait for another process, which has {file}"):
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
