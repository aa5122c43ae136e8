# SPDX-License-Identifier: Apache-2.0
"""The files of a small Debian for arm64, from which the tool makes the disk `debian`.

Called by `package`. A private apt fetches the packages, with those that they depend on. The packages are only
unpacked: their maintainer scripts do not run.
"""

from functools import cache
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.linux import SUITE
from bulkhead.env.lock import LockedPackage
from bulkhead.env.progress import Update

MAIN_PACKAGE = "base-files"  # its version is the release of Debian
# init is System V's, which starts only what its table names: an emulated core boots that in seconds.
PACKAGES = (
    *("base-passwd", "bash", "coreutils", "dash", "grep", "iproute2", "login", "mount", "sed", "stress-ng"),
    *("sysvinit-core", "util-linux"),
)
_KEY_FILES = ("sbin/init", "bin/bash", "bin/login", "sbin/agetty", "usr/bin/stress-ng")


def _fill(request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
    root = aptroot.create(
        request.apt, [SUITE], "arm64", like_machine=False, what=MAIN_PACKAGE, pins=request.pins
    )
    root.update_lists(update)
    debs = root.download_with_libraries(MAIN_PACKAGE, SUITE, update, PACKAGES)
    main_first = sorted(debs, key=lambda deb: not deb.name.startswith(f"{MAIN_PACKAGE}_"))
    return store.unpack(main_first, content, update)


def _key_files(directory: Path) -> list[Path]:
    return [directory / name for name in _KEY_FILES]


def debian_is_here() -> bool:
    """Whether the packages are in the cache; they may still be damaged."""
    return store.find("debian") is not None


@cache
def debian_root() -> Path:
    """The directory with the unpacked packages; fetched on first use. Raises MissingTool."""
    return store.obtain(store.Fetch("debian", MAIN_PACKAGE, _key_files, _fill))
