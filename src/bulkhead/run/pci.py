# SPDX-License-Identifier: Apache-2.0
"""PCI functions of the emulated machine: the arguments of the emulator, and the files of disks."""

from __future__ import annotations

from pathlib import Path

from bulkhead.config.pci import PciFunction
from bulkhead.config.platform import Platform


def pci_arguments(platform: Platform, directory: Path) -> tuple[str, ...]:
    """The emulator's arguments for the platform's functions, whether a domain has them or not. Their disks
    are sparse files in `directory` and empty at the start of each run."""
    functions = () if platform.pci is None else platform.pci.functions
    return tuple(argument for function in functions for argument in _arguments(function, directory))


def _arguments(function: PciFunction, directory: Path) -> tuple[str, ...]:
    emulated = function.emulated
    if emulated is None:
        return ()
    # `romfile=`: no firmware for a boot loader, which these machines do not have.
    device = f"{emulated.device},addr={function.slot:#x},romfile="
    if emulated.disk is None:
        return ("-device", device)
    path = directory / f"{function.name}.img"
    with path.open("wb") as file:
        file.truncate(emulated.disk)
    drive = f"if=none,id={function.name},format=raw,file={str(path).replace(',', ',,')}"
    return ("-drive", drive, "-device", f"{device},drive={function.name}")
