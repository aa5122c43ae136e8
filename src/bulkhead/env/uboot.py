# SPDX-License-Identifier: Apache-2.0
"""The boot loader that packages are started with on the emulator: Debian's U-Boot for the `virt` board.

Called by `run --boot u-boot`. The package is for any architecture; it is fetched by a private apt and only
unpacked.
"""

from functools import cache
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.lock import Package
from bulkhead.env.progress import Update

SUITE = "bookworm"
PACKAGE = "u-boot-qemu"
BOARD = "qemu_arm64"


def _fill(request: store.Request, content: Path, update: Update) -> list[Package]:
    root = aptroot.create(request.apt, [SUITE], "arm64", like_machine=False, what=PACKAGE, pins=request.pins)
    root.update_lists(update)
    return store.unpack(root.download(PACKAGE, update), content, update)


def _key_files(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"usr/lib/u-boot/{BOARD}/u-boot.bin"))


def u_boot_is_here() -> bool:
    """Whether it need not be fetched."""
    return store.find("u-boot") is not None


@cache
def u_boot() -> Path:
    """What the board starts from its flash; fetched on first use. Raises MissingTool."""
    return _key_files(store.obtain(store.Fetch("u-boot", PACKAGE, _key_files, _fill)))[0]
