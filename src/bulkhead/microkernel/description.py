# SPDX-License-Identifier: Apache-2.0
"""The description of a system as the kernel reads it: struct boot_system of microkernel/kernel/boot.h.

The kernel's own check (microkernel/kernel/description.c) is run on the result before an image is made.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

MAGIC, VERSION = 0x53584D42, 1
MOST_COMPONENTS, MOST_MEMORY = 10, 64
NAME_BYTES, MEMORY_NAME_BYTES = 12, 32
MOST_CALLS = 4
RESOURCES = 7  # MXU_RESOURCES
_HEAD = struct.Struct("<IIII")
_REST = struct.Struct("<4IQII7I4B")
_COMPONENT = struct.Struct(f"<{NAME_BYTES}sIQQI4B{MOST_CALLS}BI")
_MEMORY = struct.Struct(f"<{MEMORY_NAME_BYTES}sIIII6B2x")
BYTES = 80 + MOST_COMPONENTS * _COMPONENT.size + MOST_MEMORY * _MEMORY.size

TAGS = 1  # SYSTEM_TAGS
FIXED, ADMITTED, HEAP = 1, 2, 4  # MEMORY_*

# enum sys_hardware: rights on hardware by the name in a system file, and those of the scheduler and the
# manager.
CONTROLS = {
    "console": 1 << 0,
    "clean-cache": 1 << 1,
    "flush-check": 1 << 2,
    "lock-ways": 1 << 3,
    "end": 1 << 5,
}
SET_TICK, END = 1 << 4, 1 << 5


@dataclass(frozen=True)
class DescribedComponent:
    name: str
    code_at: int
    period_ns: int
    budget_ns: int
    spec: int
    priority: int
    hardware: int
    serves: bool
    calls: tuple[int, ...]


@dataclass(frozen=True)
class DescribedMemory:
    name: str
    at: int
    nbytes: int
    spec: int
    shared: int
    component: int
    rights: int
    flags: int
    mechanism: int
    independence: int


@dataclass(frozen=True)
class Description:
    components: tuple[DescribedComponent, ...]
    memory: tuple[DescribedMemory, ...]
    clock_hz: int
    timer_hz: int
    run_ns: int
    limits: Sequence[int]  # by resource
    system_regions: int
    eviction: int
    most_region_bits: int
    table_frames: int
    flags: int = TAGS


def packed(system: Description) -> bytes:
    """struct boot_system."""
    rest = _REST.pack(
        len(system.components),
        len(system.memory),
        system.clock_hz,
        system.timer_hz,
        system.run_ns,
        system.flags,
        0,
        *system.limits,
        system.system_regions,
        system.eviction,
        system.most_region_bits,
        system.table_frames,
    )
    components = b"".join(_component(one) for one in system.components)
    memory = b"".join(_memory(one) for one in system.memory)
    content = (
        rest.ljust(80 - _HEAD.size, b"\0")
        + components.ljust(MOST_COMPONENTS * _COMPONENT.size, b"\0")
        + memory.ljust(MOST_MEMORY * _MEMORY.size, b"\0")
    )
    return _HEAD.pack(MAGIC, VERSION, BYTES, zlib.crc32(content)) + content


def _component(one: DescribedComponent) -> bytes:
    calls = (*one.calls, *[0] * (MOST_CALLS - len(one.calls)))
    counts = (one.priority, one.hardware, int(one.serves), len(one.calls))
    name = one.name.encode()
    return _COMPONENT.pack(name, one.code_at, one.period_ns, one.budget_ns, one.spec, *counts, *calls, 0)


def _memory(one: DescribedMemory) -> bytes:
    words = (one.at, one.nbytes, one.spec, one.shared)
    return _MEMORY.pack(
        one.name.encode(), *words, one.component, one.rights, 0, one.flags, one.mechanism, one.independence
    )
