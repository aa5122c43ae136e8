# SPDX-License-Identifier: Apache-2.0
"""Firmware for the emulator's `virt` board from Debian's packages: U-Boot, which can also boot packages (`run
--boot u-boot`), and EDK2.

Called by `package` and `run`. The packages are independent of the architecture; a private apt fetches them,
and they are only unpacked.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.lock import LockedPackage
from bulkhead.env.progress import Update

SUITE = "bookworm"


def _fill(package: str, request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
    root = aptroot.create(request.apt, [SUITE], "arm64", like_machine=False, what=package, pins=request.pins)
    root.update_lists(update)
    return store.unpack(root.download(package, update), content, update)


def _code(file: str) -> Callable[[Path], Sequence[Path]]:
    return lambda directory: sorted(directory.glob(file))


_FETCHES = (
    store.Fetch(
        "u-boot",
        "u-boot-qemu",
        _code("usr/lib/u-boot/qemu_arm64/u-boot.bin"),
        partial(_fill, "u-boot-qemu"),
    ),
    store.Fetch(
        "edk2",
        "qemu-efi-aarch64",
        _code("usr/share/qemu-efi-aarch64/QEMU_EFI.fd"),
        partial(_fill, "qemu-efi-aarch64"),
    ),
)
_BY_NAME = {fetch.name: fetch for fetch in _FETCHES}
NAMES = tuple(_BY_NAME)


def firmware_is_here(name: str) -> bool:
    """Whether the firmware is in the cache."""
    return store.find(name) is not None


@cache
def board_firmware(name: str) -> Path:
    """The file of one of `NAMES`, as it is placed in flash at 0; fetched on first use. Raises MissingTool."""
    fetch = _BY_NAME[name]
    return fetch.key_files(store.obtain(fetch))[0]
