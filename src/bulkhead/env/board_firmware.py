# SPDX-License-Identifier: Apache-2.0
"""Firmware for the emulator's `virt` board from Debian's packages: U-Boot, which also starts packages (`run --boot
u-boot`), and EDK2.

Called by `package` and `run`. The packages are for any architecture; they are fetched by a private apt and
only unpacked.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.lock import Package
from bulkhead.env.progress import Update

SUITE = "bookworm"


@dataclass(frozen=True)
class _Firmware:
    package: str
    file: str  # of it, which the board has in its flash


_FIRMWARE = {
    "u-boot": _Firmware("u-boot-qemu", "usr/lib/u-boot/qemu_arm64/u-boot.bin"),
    "edk2": _Firmware("qemu-efi-aarch64", "usr/share/qemu-efi-aarch64/QEMU_EFI.fd"),
}
NAMES = tuple(_FIRMWARE)


def firmware_is_here(name: str) -> bool:
    """Whether it need not be fetched."""
    return store.find(name) is not None


@cache
def board_firmware(name: str) -> Path:
    """The code of one of `NAMES`, as it is in flash at 0; fetched on first use. Raises MissingTool."""
    firmware = _FIRMWARE[name]

    def fill(request: store.Request, content: Path, update: Update) -> list[Package]:
        package = firmware.package
        root = aptroot.create(
            request.apt, [SUITE], "arm64", like_machine=False, what=package, pins=request.pins
        )
        root.update_lists(update)
        return store.unpack(root.download(package, update), content, update)

    def key_files(directory: Path) -> list[Path]:
        return sorted(directory.glob(firmware.file))

    return key_files(store.obtain(store.Fetch(name, firmware.package, key_files, fill)))[0]
