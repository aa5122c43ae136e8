# SPDX-License-Identifier: Apache-2.0
"""Debian's kernels for arm64, as they are, with the tool's RAM disk: of several releases, also PREEMPT_RT."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.errors import MissingTool
from bulkhead.env.lock import Package
from bulkhead.env.progress import Update
from guests.case import Case

SUITE = "Debian"
RELEASES = ("bookworm", "bookworm-backports", "trixie", "sid")
METAPACKAGES = ("linux-image-arm64", "linux-image-rt-arm64")
PROMPT_WITHIN_S = 20
_KINDS = ("linux-binary-", "linux-image-")


def cases() -> Iterator[Case]:
    """Of each release and variant that the mirror has; fetched when they are asked for."""
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

    def fill(request: store.Request, content: Path, update: Update) -> list[Package]:
        suites = sorted({release.removesuffix("-backports"), release})
        root = aptroot.create(
            request.apt, suites, "arm64", like_machine=False, what=metapackage, pins=request.pins
        )
        root.update_lists(update)
        closure = root.closure(metapackage, release)
        # Since 7.x the kernel itself is in a package beside the one that is named after it.
        wanted = [
            one.name
            for kind in _KINDS
            for one in closure
            if one.name.startswith(kind) and one.name not in METAPACKAGES
        ]
        return store.unpack(root.download(f"{wanted[0]}/{release}", update), content, update)

    def kernels(directory: Path) -> list[Path]:
        return sorted([*directory.glob("boot/vmlinuz-*"), *directory.glob("usr/lib/**/vmlinuz*")])[:1]

    fetch = store.Fetch(f"guest-{release}-{metapackage}", metapackage, kernels, fill)
    try:
        return next(iter(kernels(store.obtain(fetch))), None)
    except MissingTool:
        return None
