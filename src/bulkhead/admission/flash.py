# SPDX-License-Identifier: Apache-2.0
"""Checks size and place of flash that takes commands.

The same rules as in core/manifest_flash.c, which checks the manifest; this module reports the key of the file
and what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.regions import guest_windows
from bulkhead.config.system import Domain, Region, System

_BLOCK_BYTES, _MOST_BYTES = 256 << 10, 64 << 20
_ENTRY_BYTES = 2 << 20  # of a stage-2 entry, which EL2 hides for commands


def wrong_flash(system: System, platform: Platform) -> Iterator[Finding]:
    """Findings about size, alignment and neighbours of programmable flash."""
    for index, domain in enumerate(system.domains):
        given = platform.passable()
        devices = [(f"'{name}'", given[name].at, given[name].end) for name in domain.devices if name in given]
        for number, region in enumerate(domain.memory):
            if region.programmable:  # overlaps of devices' windows with any memory are found elsewhere
                windows = [w for w in guest_windows(platform) if w.at >= region.end]
                near = [*devices, *((f"the {w.name} at {w.at:#x}", w.at, w.end) for w in windows)]
                yield from _of(("domains", index, "memory", number), region, domain, near)


def _of(at: KeyPath, flash: Region, domain: Domain, devices: list[tuple[str, int, int]]) -> Iterator[Finding]:
    if not _BLOCK_BYTES <= flash.size <= _MOST_BYTES or flash.size & (flash.size - 1):
        cause = f"programmable flash of {flash.size:#x} bytes"
        yield Finding((*at, "size"), "out-of-range", cause, "256 KiB to 64 MiB, a power of two")
        return
    alone = max(flash.size, _ENTRY_BYTES)
    if flash.at % alone:
        cause = f"programmable flash of {flash.size:#x} bytes is at {flash.at:#x}"
        yield Finding((*at, "at"), "misaligned", cause, f"a multiple of {alone:#x}")
        return
    if domain.programmable is not flash:
        yield Finding(at, "conflict", f"'{domain.name}' has programmable flash already", "one such region")
    others = [(f"memory at {r.at:#x}", r.at, r.end) for r in domain.memory if r is not flash]
    for name, start, end in (*others, *devices):
        if start < flash.at + alone and flash.at < end:
            cause = f"{name} is in the same {alone:#x} bytes as the programmable flash at {flash.at:#x}"
            yield Finding(at, "conflict", cause, "at least 2 MiB that only the flash uses")
