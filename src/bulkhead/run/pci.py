# SPDX-License-Identifier: Apache-2.0
"""PCI functions of the emulated machine: the arguments of the emulator, and the files of disks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bulkhead.config.pci import PciBridge, PciFunction, PciHost, PciPlaced
from bulkhead.config.platform import Platform


def pci_arguments(platform: Platform, directory: Path, contents: Mapping[str, Path]) -> tuple[str, ...]:
    """The emulator's arguments for the platform's bridges and functions, whether a domain has them or not.
    `contents`: files of disks, by function. The other disks are sparse files in `directory` and empty at the
    start of each run."""
    host = platform.pci
    if host is None:
        return ()
    bridges = (argument for bridge in host.bridges for argument in _bridge(bridge))
    functions = (
        argument
        for function in host.functions
        for argument in _function(host, function, directory, contents.get(function.name))
    )
    return (*bridges, *functions)


def _bridge(bridge: PciBridge) -> tuple[str, ...]:
    """The bus behind it has the bridge's name. `chassis` must differ among root ports."""
    if bridge.emulated is None:
        return ()
    name = f"id={bridge.name},chassis={bridge.secondary}"
    return ("-device", f"{bridge.emulated.device},{name},{_place(bridge)}")


def _place(one: PciPlaced) -> str:
    number = f".{one.number:#x}" if one.number else ""
    return f"addr={one.slot:#x}{number}"


def _function(host: PciHost, function: PciFunction, directory: Path, content: Path | None) -> tuple[str, ...]:
    emulated = function.emulated
    if emulated is None:
        return ()
    bridge = host.bridge_of(function)
    bus = "" if bridge is None else f",bus={bridge.name}"
    several = "" if function.multifunction is None else ",multifunction=on"
    # `romfile=`: no firmware for a boot loader, which these machines do not have.
    device = f"{emulated.device}{bus},{_place(function)}{several},romfile="
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
