# SPDX-License-Identifier: Apache-2.0
"""Debian's kernels for arm64, as they are, with the tool's RAM disk: of several releases, also PREEMPT_RT.

Fetched kernels are kept in build/guests/kernels until they are removed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.progress import progress
from checks.common import BUILD
from guests.case import Case

SUITE = "Debian"
RELEASES = ("bookworm", "bookworm-backports", "trixie", "sid")
METAPACKAGES = ("linux-image-arm64", "linux-image-rt-arm64")
PROMPT_WITHIN_S = 20
_KERNELS = BUILD / "guests" / "kernels"
# Since 7.x the kernel itself is in a package beside the one that is named after it.
_KINDS = ("linux-binary-", "linux-image-")


def cases() -> Iterator[Case]:
    """A case for each release and variant that the mirror has; fetched when it is requested."""
    for release in RELEASES:
        for metapackage in METAPACKAGES:
            kernel = _kernel(release, metapackage)
            if kernel is not None:
                version = kernel.name.removeprefix("vmlinuz-")
                name = f"Linux {kernel.parent.name if version == 'vmlinuz' else version} ({release})"
                image = {"kernel": str(kernel), "initrd": "busybox", "cmdline": "console=ttyAMA0"}
                expect = {"ready": f"{PROMPT_WITHIN_S} s", "no_line": "Kernel panic"}
                yield Case(SUITE, name, {"image": image, "cpus": [1, 2]}, PROMPT_WITHIN_S, expect=expect)


def _kernel(release: str, metapackage: str) -> Path | None:
    """None: the mirror has no such release, or the release no such kernel."""
    place = _KERNELS / f"{release}-{metapackage}"
    if not (place / "complete").exists():
        shutil.rmtree(place, ignore_errors=True)
        try:
            _fetch(release, metapackage, place)
        except aptroot.AptFailed:
            return None
        (place / "complete").touch()
    found = [*place.glob("boot/vmlinuz-*"), *place.glob("usr/lib/**/vmlinuz*")]
    return min(found, default=None)


def _fetch(release: str, metapackage: str, place: Path) -> None:
    apt = place / "apt"
    apt.mkdir(parents=True)
    suites = sorted({release.removesuffix("-backports"), release})
    with progress(f"fetch {metapackage} of {release}") as update:
        root = aptroot.create(apt, suites, "arm64", like_machine=False, what=metapackage)
        root.update_lists(update)
        names = [one.name for one in root.closure(metapackage, release) if one.name not in METAPACKAGES]
        image = next(name for kind in _KINDS for name in names if name.startswith(kind))
        store.unpack(root.download(f"{image}/{release}", update), place, update)
    shutil.rmtree(apt)
