# SPDX-License-Identifier: Apache-2.0
"""The ways to boot a package on the emulator: loaded directly, by a boot loader, or by firmware.

Called by `prepare` and by tests. It provides the emulator's command line and the answers on its serial line;
`bulkhead.env` finds loaders and firmware.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bulkhead.env.board_firmware import board_firmware
from bulkhead.env.paths import build_dir
from bulkhead.errors import BulkheadError

ELF, IMAGE, U_BOOT, FIRMWARE = "elf", "image", "u-boot", "firmware"
WAYS = {
    ELF: "The emulator loads the ELF file and starts it at EL2, without a device tree.",
    IMAGE: "The emulator starts the raw image by Linux's boot protocol, with a device tree.",
    U_BOOT: "U-Boot reads the raw image from a disk and starts it.",
    FIRMWARE: "Firmware at EL3 starts the raw image, and serves PSCI.",
}
_BOARD = "virt"  # the board of the loader and the firmware
_FIRMWARE_PACKAGE_PA = 0x4020_0000  # as PACKAGE_PA of tests/firmware/firmware.h


class NotBootable(BulkheadError):
    """This system cannot be booted in this way; the message is for the user."""


@dataclass(frozen=True)
class Answer:
    """Text to type when the serial line shows `awaited`."""

    awaited: bytes
    typed: bytes


@dataclass(frozen=True)
class Boot:
    """Arguments of the emulator for a way to boot."""

    machine: str  # value of -machine
    arguments: tuple[str, ...]
    answers: tuple[Answer, ...] = ()


def in_one_piece(way: str) -> bool:
    """Whether everything must be in the raw image: only an ELF file can be loaded to several places."""
    return way != ELF


def boot_by(way: str, machine: str, *, elf: Path, image: Path | None, load_pa: int) -> Boot:
    """How to start `elf` or `image`, whose load area is at `load_pa`. Raises NotBootable or MissingTool."""
    if way == ELF:
        return Boot(machine, ("-kernel", str(elf)))
    assert image is not None, "built in one piece"
    if way == IMAGE:
        return Boot(machine, ("-kernel", str(image)))
    if machine.split(",")[0] != _BOARD:
        raise NotBootable(
            f"--boot {way} is possible only on the emulator's board `{_BOARD}`, not on `{machine}`"
        )
    by: dict[str, Callable[[], Boot]] = {
        U_BOOT: lambda: _by_u_boot(machine, image, load_pa),
        FIRMWARE: lambda: _by_firmware(machine, image),
    }
    return by[way]()


def _by_u_boot(machine: str, image: Path, load_pa: int) -> Boot:
    """U-Boot reads the image from a disk without file system; the commands for that are typed on the serial
    line."""
    blocks = -(-image.stat().st_size // 512)
    command = f"virtio scan; virtio read {load_pa:x} 0 {blocks:x}; booti {load_pa:x} - ${{fdtcontroladdr}}\r"
    disk = f"if=none,id=package,format=raw,readonly=on,file={_quoted(image)}"
    return Boot(
        machine,
        (
            "-bios",
            str(board_firmware("u-boot")),
            "-drive",
            disk,
            "-device",
            "virtio-blk-device,drive=package",
        ),
        (Answer(b"autoboot", b" "), Answer(b"=> ", command.encode())),
    )


def _by_firmware(machine: str, image: Path) -> Boot:
    firmware = build_dir() / "target" / "firmware" / f"{_BOARD}.bin"
    loaded = f"loader,file={_quoted(image)},addr={_FIRMWARE_PACKAGE_PA:#x},force-raw=on"
    return Boot(f"{machine},secure=on", ("-bios", str(firmware), "-device", loaded))


def _quoted(path: Path) -> str:
    """Doubles commas, which separate arguments."""
    return str(path).replace(",", ",,")


class Typist:
    """Answers questions on the serial line, each once and in order."""

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self._answers = list(answers)
        self._seen = b""

    def feed(self, data: bytes) -> bytes:
        """Takes the next bytes of the line; returns the bytes to type now."""
        typed = b""
        self._seen += data
        while self._answers and self._answers[0].awaited in self._seen:
            answer = self._answers.pop(0)
            self._seen = self._seen.partition(answer.awaited)[2]
            typed += answer.typed
        longest = max((len(answer.awaited) for answer in self._answers), default=1)
        self._seen = self._seen[-longest:]
        return typed
