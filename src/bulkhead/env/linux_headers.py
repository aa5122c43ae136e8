# SPDX-License-Identifier: Apache-2.0
"""Debian's headers of exactly the guests' kernel, to build a module for it.

Called by `linux_module`. The headers are arm64 packages, the programs that kbuild runs are this machine's; a
private apt fetches both, and they are only unpacked and not changed.
"""

import subprocess
from functools import cache
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.linux import KERNEL_METAPACKAGE, SUITE, linux_modules
from bulkhead.env.lock import LockedPackage
from bulkhead.env.progress import Update

HEADERS_METAPACKAGE = "linux-headers-arm64"


def kernel_release() -> str:
    """Output of `uname -r` in the guests."""
    return linux_modules().name


def _kernel_directory() -> Path:
    return next(parent for parent in linux_modules().parents if (parent / store.MANIFEST).exists())


def _kernel_version() -> str:
    """Version of the kernel's package."""
    return store.packages_in(_kernel_directory())[0].version


def _other_version(release: str, found: str) -> aptroot.AptFailed:
    return aptroot.AptFailed(
        f"The kernel in the cache is {release} ({_kernel_version()}), the mirror has headers of {found}.\n"
        f"Remove {_kernel_directory()} and repeat the command: it then fetches the mirror's "
        f"{KERNEL_METAPACKAGE} and its headers."
    )


def _download_headers(root: aptroot.AptRoot, release: str, update: Update) -> list[Path]:
    package = f"linux-headers-{release}"
    present = [name for name in root.dependencies(HEADERS_METAPACKAGE) if name.startswith("linux-headers-")]
    needed = root.dependencies(package)
    if not needed:
        raise _other_version(release, ", ".join(present) or "none")
    root.download(package, update)
    debs: list[Path] = []
    for name in needed:
        if name.endswith("-common"):
            debs = root.download(name, update)
    main_first = sorted(debs, key=lambda deb: not deb.name.startswith(f"{package}_"))
    version = store.describe_deb(main_first[0]).version
    if version != _kernel_version():
        raise _other_version(release, version)
    return main_first


def _kbuild_of(root: aptroot.AptRoot, release: str) -> str:
    """The package with kbuild's programs on which the headers depend."""
    needed = root.dependencies(f"linux-headers-{release}")
    return next(name for name in needed if name.startswith("linux-kbuild-"))


def _fill(request: store.FetchRequest, content: Path, update: Update, release: str) -> list[LockedPackage]:
    pins = [pin for pin in request.pins if pin.version == _kernel_version()]
    arm64 = aptroot.create(
        request.apt / "arm64", [SUITE], "arm64", like_machine=False, what=HEADERS_METAPACKAGE, pins=pins
    )
    arm64.update_lists(update)
    headers = _download_headers(arm64, release, update)
    shown = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    architecture = shown.stdout.strip()
    native = aptroot.create(
        request.apt / "native", [SUITE], architecture, like_machine=False, what="linux-kbuild", pins=pins
    )
    native.update_lists(update)
    return store.unpack([*headers, *native.download(_kbuild_of(arm64, release), update)], content, update)


def _key_files(directory: Path) -> list[Path]:
    patterns = ("usr/src/linux-headers-*-arm64/Module.symvers", "usr/lib/linux-kbuild-*/scripts/mod/modpost")
    return [file for pattern in patterns for file in directory.glob(pattern)]


@cache
def linux_headers() -> tuple[Path, Path]:
    """Source and object directory of the kernel (`-C` and `O=` of its make). Raises MissingTool."""
    release = kernel_release()
    directory = store.obtain(
        store.Fetch(
            f"linux-headers-{release}",
            f"linux-headers-{release}",
            _key_files,
            lambda request, content, update: _fill(request, content, update, release),
            native=True,
            locked_as="linux-headers",
        )
    )
    sources = directory / "usr/src"
    return next(sources.glob("linux-headers-*-common")), sources / f"linux-headers-{release}"
