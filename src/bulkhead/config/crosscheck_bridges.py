# SPDX-License-Identifier: Apache-2.0
"""Checks of PCI bridges: where they are, and which functions behind them can be given to domains.

crosscheck_pci.py calls this.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from bulkhead.config.locate import limits
from bulkhead.config.pci import SLOTS, PciFunction, PciHost
from bulkhead.config.problem import Finding, KeyPath

Findings = Iterator[Finding]

_NO_VENDOR = 0xFFFF


def free_slot(host: PciHost) -> str:
    """An example of a slot on bus 0 where the file has nothing, as the end of a sentence."""
    taken = {one.slot for one in (*host.bridges, *host.functions) if one.bus == 0}
    found = next((slot for slot in range(1, SLOTS) if slot not in taken), None)
    return "" if found is None else f", for example 00:{found:02x}.0"


def check_bridges(host: PciHost, names: Set[str]) -> Findings:
    """`names`: those of other devices."""
    places: dict[int, str] = {}
    buses: dict[int, str] = {}
    most = limits()["max_bridges"]
    if len(host.bridges) > most:
        cause = f"{len(host.bridges)} bridges"
        yield Finding(("pci", "bridges"), "out-of-range", cause, f"up to {most}; others may be left out")
    for index, bridge in enumerate(host.bridges):
        path: KeyPath = ("pci", "bridges", index)
        if bridge.name in names or bridge.name in places.values():
            yield Finding((*path, "name"), "duplicate-name", f"a second device is named '{bridge.name}'")
        if bridge.vendor == _NO_VENDOR:
            cause = f"'{bridge.name}' has vendor 0xffff, which says that no function is there"
            yield Finding((*path, "vendor"), "out-of-range", cause, "0 to 0xfffe")
        if bridge.bus != 0:
            cause = f"'{bridge.name}' is on bus {bridge.bus}, behind another bridge"
            yield Finding((*path, "at"), "out-of-range", cause, f"a bridge on bus 0{free_slot(host)}")
        elif bridge.slot == 0:
            cause = f"'{bridge.name}' is in slot 0, where the host bridge is"
            yield Finding((*path, "at"), "out-of-range", cause, f"another slot{free_slot(host)}")
        elif bridge.requester in places:
            cause = f"'{places[bridge.requester]}' is at {bridge.at}, too"
            yield Finding((*path, "at"), "duplicate-name", cause, f"another slot{free_slot(host)}")
        if bridge.secondary >= host.buses:
            cause = f"bus {bridge.secondary} has no configuration space: bus {host.buses - 1} is the last one"
            allowed = f"1 to {host.buses - 1}" if host.buses > 1 else "no bridge"
            yield Finding((*path, "secondary"), "out-of-range", cause, allowed)
        elif bridge.secondary in buses:
            cause = f"bus {bridge.secondary} is behind '{buses[bridge.secondary]}', too"
            free = next((bus for bus in range(1, host.buses) if bus not in buses), None)
            yield Finding(
                (*path, "secondary"),
                "duplicate-name",
                cause,
                "a bus of its own" if free is None else f"a bus of its own, for example {free}",
            )
        places.setdefault(bridge.requester, bridge.name)
        buses.setdefault(bridge.secondary, bridge.name)


def check_behind(path: KeyPath, function: PciFunction, host: PciHost) -> Findings:
    """A function on another bus than 0. Behind a bridge that isolates there is a link with one device."""
    bridge = host.bridge_of(function)
    others = [one for one in host.bridges if one.isolates]
    behind = f"bus {others[0].secondary} behind '{others[0].name}', which isolates, or " if others else ""
    nearest = f"a function on {behind}bus 0{free_slot(host)}"
    if bridge is None:
        cause = f"'{function.name}' is on bus {function.bus}, behind a bridge that the file does not describe"
        yield Finding(path, "not-isolated", cause, nearest)
    elif not bridge.isolates:
        cause = (
            f"'{function.name}' is behind '{bridge.name}', which lets it reach other functions past the IOMMU"
        )
        yield Finding(path, "not-isolated", cause, nearest)
    elif function.slot != 0:
        cause = (
            f"'{function.name}' is in slot {function.slot}, and the link of '{bridge.name}' has slot 0 only"
        )
        yield Finding(path, "out-of-range", cause, f"{function.bus:02x}:00.{function.number}")
