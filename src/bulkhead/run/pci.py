# SPDX-License-Identifier: Apache-2.0
"""PCI functions of the emulated machine: the arguments of the emulator, and the files of disks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bulkhead.config.pci import PciFunction
from bulkhead.config.platform import Platform


def pci_arguments(platform: Platform, directory: Path, contents: Mapping[str, Path]) -> tuple[str, ...]:
    """The emulator's arguments for the platform's functions, whether a domain has them or not. `contents`:
    files of disks, by function. The other disks are sparse files in `directory` and empty at the start of
    each run."""
    functions = () if platform.pci is None else platform.pci.functions
    return tuple(
        argument
        for function in functions
        for argument in _arguments(function, directory, contents.get(function.name))
    )


def _arguments(function: PciFunction, directory: Path, content: Path | None) -> tuple[str, ...]:
    emulated = function.emulated
    if emulated is None:
        return ()
    # `romfile=`: no firmware for a boot loader, which these machines do not have.
    device = f"{emulated.device},addr={function.slot:#x},romfile="
    if emulated.netdev is not None:
        backend = f"{emulated.netdev},id={function.name}"
        return ("-netdev", backend, "-device", f"{device},netdev={function.name}")
    if emulated.disk is None:
        return ("-device", device)
    drive = (
        f"if=none,id={function.name},format=raw,{_drive(function.name, emulated.disk, directory, content)}"
    )
    return ("-drive", drive, "-device", f"{device},drive={function.name}")


def _drive(name: str, size: int, directory: Path, content: Path | None) -> str:
    """The disk's file. With `snapshot=on` the emulator keeps what a guest writes in a temporary file, and
    `content` stays as it is."""
    if content is not None:
        return f"file={_quoted(content)},snapshot=on"
    path = directory / f"{name}.img"
    with path.open("wb") as file:
        file.truncate(size)
    return f"file={_quoted(path)}"


def _quoted(path: Path) -> str:
    """The path in an argument of the emulator, in which a comma ends a value."""
    return str(path).replace(",", ",,")
