# SPDX-License-Identifier: Apache-2.0
"""Disk-like and network-like devices as parts of a job: what they move, and how their SMMU translates.

Keys of a job's `devices[]`: `kind` (disk, network); `port` (name in the platform's `dma`, whose port of the
interconnect and whose IOMMU the device uses); `translation` (none, blocks, pages) [none]; `colors` [none:
contiguous memory], or `memory_of`, a part in whose memory the device's is; `outstanding_lines` [16];
`line_ps` [4000]; `rate_bytes_per_s` [0: no limit]; `seed` [1]. Of a disk: `memory_bytes`, `command_bytes`
[128 KiB], `queue_depth` [4], `reads_memory` [false]. Of a network: `buffer_count` [256], `packet_bytes`
[1514], `line_rate_bytes_per_s`.

Addresses are those of a domain: stage 2 maps contiguous memory in blocks of 2 MiB, and colored memory in
pages of 4 KiB. `pages` maps contiguous memory in pages, so that nothing else differs. Colored memory needs a
translation. Tables of the SMMU are in contiguous memory in each case.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from bulkhead.config.devices import Dma
from bulkhead.config.platform import Platform
from bulkhead.config.timing import IommuTiming, TlbLevel
from bulkhead.errors import InvalidInput
from bulkhead.geometry import PAGE_BYTES
from bulkhead.machine.placement import Colors, PlacedMemory
from bulkhead.machine.spaces import BLOCK_BYTES, FIRST_ADDRESS, AddressSpace, runs_of, with_tables

BusDevice = dict[str, Any]

KINDS = ("disk", "network")
TRANSLATIONS = ("none", "blocks", "pages")
DESCRIPTOR_BYTES = 16
SHARED = {
    "kind": None,
    "port": None,
    "translation": "none",
    "colors": None,
    "memory_of": None,
    "outstanding_lines": 16,
    "line_ps": 4000,
    "rate_bytes_per_s": 0,
    "seed": 1,
}
_OPTIONAL = ("colors", "memory_of")
_OWN = {
    "disk": {"memory_bytes": None, "command_bytes": 128 << 10, "queue_depth": 4, "reads_memory": False},
    "network": {"buffer_count": 256, "packet_bytes": 1514, "line_rate_bytes_per_s": None},
}


class BadDevice(InvalidInput):
    """A device that is not possible."""


Pages = Callable[[str, int, Colors], list[int]]
"""Allocates memory of these colors, or contiguous memory: its name, bytes and colors."""


def described(
    device: BusDevice,
    platform: Platform,
    pages: Pages,
    parts: Mapping[str, PlacedMemory],
    count: Callable[[str], int],
    owner: int,
) -> tuple[str, list[int]]:
    """The device's description for the machine, as JSON, and the device's pages. `parts`: memory of the job's
    parts. Raises BadDevice."""
    made = _complete(device)
    kind, translation = made["kind"], made["translation"]
    port = next((one for one in platform.dma if one.name == made["port"]), None)
    if port is None:
        raise BadDevice(f"platform '{platform.name}' has no port '{made['port']}' in `dma`")
    memory = _memory(made, pages, parts)
    own = list(memory.pages) if made["memory_of"] is None else []
    pieces = runs_of(*memory)
    if len(pieces) > 1 and translation == "none":
        raise BadDevice(f"memory of a {kind} is in {len(pieces)} pieces, so it needs a translation")
    smmu, base = None, memory.pages[0]
    if translation != "none":
        base = FIRST_ADDRESS
        space: AddressSpace = {
            "stages": 2,
            "levels": 3,
            "blocks": translation == "blocks",
            "pieces": pieces,
            "instructions": base,
        }

        def frames(number: int) -> list[int]:
            found = pages(f"tables of a {kind}", number * PAGE_BYTES, None)
            own.extend(found)
            return found

        smmu = {"space": with_tables(space, count, frames), **_smmu_timing(platform, port)}
    wanted = {
        "master": port.name,
        "owner": owner,
        "start_at_ps": 0,
        "coherent": port.coherent,
        **{key: made[key] for key in ("line_ps", "outstanding_lines", "rate_bytes_per_s")},
        kind: {**_places(kind, base, made), "seed": made["seed"]},
        "smmu": smmu,
    }
    return json.dumps(wanted), own


def _complete(device: BusDevice) -> BusDevice:
    """The device with its defaults. Raises BadDevice."""
    kind = device.get("kind")
    if kind not in KINDS:
        raise BadDevice(f"'{kind}' is not one of {', '.join(KINDS)}")
    known = SHARED | _OWN[kind]
    if unknown := device.keys() - known.keys():
        raise BadDevice(f"'{min(unknown)}' is not a key of a {kind}")
    made = known | device
    if missing := sorted(key for key, value in made.items() if value is None and key not in _OPTIONAL):
        raise BadDevice(f"a {kind} needs '{missing[0]}'")
    if made["translation"] not in TRANSLATIONS:
        raise BadDevice(f"translation '{made['translation']}' is not one of {', '.join(TRANSLATIONS)}")
    return made


def _memory(made: BusDevice, pages: Pages, parts: Mapping[str, PlacedMemory]) -> PlacedMemory:
    """Memory of the device. Contiguous memory is whole blocks. Raises BadDevice."""
    kind, nbytes = made["kind"], _memory_bytes(made)
    if (name := made["memory_of"]) is not None:
        if made["colors"] is not None:
            raise BadDevice(f"a {kind} in memory of '{name}' has the colors of that part")
        if (found := parts.get(name)) is None:
            raise BadDevice(f"there is no part '{name}', in whose memory that of a {kind} could be")
        if len(found.pages) * PAGE_BYTES < nbytes:
            raise BadDevice(f"a {kind} needs {nbytes} bytes, and '{name}' has less")
        return found
    if made["colors"] is not None:
        return PlacedMemory(pages(f"memory of a {kind}", nbytes, made["colors"]), nbytes)
    whole = -(-nbytes // BLOCK_BYTES) * BLOCK_BYTES
    taken = pages(
        f"memory of a {kind}", whole + BLOCK_BYTES, None
    )  # a block more, so that whole ones are aligned
    begin = -(-taken[0] // BLOCK_BYTES) * BLOCK_BYTES
    return PlacedMemory(list(range(begin, begin + whole, PAGE_BYTES)), whole)


def memory_bytes(device: BusDevice) -> int:
    """Bytes that the device uses. Raises BadDevice."""
    return _memory_bytes(_complete({"port": "", **device}))


def _memory_bytes(made: BusDevice) -> int:
    if made["kind"] == "disk":
        return int(made["memory_bytes"])
    return _ring_bytes(made) + int(made["buffer_count"]) * PAGE_BYTES


def _ring_bytes(made: BusDevice) -> int:
    return -(-int(made["buffer_count"]) * DESCRIPTOR_BYTES // PAGE_BYTES) * PAGE_BYTES


def _places(kind: str, base: int, made: BusDevice) -> BusDevice:
    own = {key: made[key] for key in _OWN[kind]}
    if kind == "disk":
        return {"base": base, **own}
    return {"ring": base, "buffers": base + _ring_bytes(made), **own}


def _smmu_timing(platform: Platform, port: Dma) -> BusDevice:
    timing = smmu_of(platform, port)
    if timing is None:
        raise BadDevice(f"'{port.name}' of platform '{platform.name}' has no IOMMU whose `timing` is stated")
    return {
        "tlb": _tlb(timing.tlb),
        "main": _tlb(timing.main),
        "walk_cache": _tlb(timing.walk_cache),
        "hit_ps": timing.hit,
        "request_ps": timing.request,
    }


def smmu_of(platform: Platform, port: Dma) -> IommuTiming | None:
    """Timing of the IOMMU that this engine's accesses pass; None: not stated, so they are not translated."""
    return next((one.timing for one in platform.iommus if one.name == port.iommu), None)


def _tlb(level: TlbLevel | None) -> dict[str, int]:
    return {"entries": 0, "ways": 0} if level is None else {"entries": level.entries, "ways": level.ways or 0}
