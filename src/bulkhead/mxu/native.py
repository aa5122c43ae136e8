# SPDX-License-Identifier: Apache-2.0
"""core/'s policy of memory access control, compiled: builds the module when it is out of date, and loads it.

It repeats the numbers of core/mxu.h, core/mxu_eviction.h and core/mxu_mpu.h that the module uses. Nothing is
decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Protocol, cast

from bulkhead.env.compiled import compiled_path, core_modules, load_compiled

MODULE = "_mxu"
NO_BOUND = (1 << 64) - 1

SPECS = {"deterministic": 1, "l1": 2, "l2": 4, "l3": 8, "independent": 16}  # MXU_DETERMINISTIC, ...
RIGHTS = {"r": 1, "rw": 3, "rx": 5, "rwx": 7}  # MXU_READ, MXU_WRITE, MXU_EXECUTE

# enum mxu_status
OK, ENOHW, EBUSY, ENOMEM, EINVAL, EEXIST, EMISMATCH, ENOENT = range(8)

# enum mxu_mechanism
BY_NOTHING, BY_STATIC_REGION, BY_DYNAMIC_REGION, BY_LOCKED_ENTRY, BY_OCM, BY_LOCKED_WAY, BY_COLOR = range(7)

# enum mxu_independence
DISTURBED, IN_PART, FULLY = range(3)

# enum mxu_resource
REGIONS, LOCKED_ENTRIES, OCM_BYTES, WAY_BYTES, COLORED_BYTES, ASIDS, TLB_SETS, RESOURCES = range(8)
NODES, RECORDS, FRAMES, NO_RESOURCE = range(7, 11)

POLICIES = ("round-robin", "random", "bit-plru")  # enum mxu_policy


class NativeHardware(Protocol):
    mmu: bool
    limits: Sequence[int]
    system_regions: int

    def levels(self, *, ocm: int, way: int, color: int) -> None: ...


class NativeRequest(Protocol):
    spec: int
    regions: int
    regions_used: int
    locked_entries: int
    node_bytes: int
    ocm_node_bytes: int
    tlb_sets: int
    has_tlb_sets: bool
    has_asid: bool


class MxuAnswer(Protocol):
    mechanism: int
    independence: int
    taken: Sequence[int]  # by resource
    lacking: int
    needed: int
    left: int


class NativeAccount(Protocol):
    def admit(self, request: NativeRequest) -> tuple[int, MxuAnswer]: ...
    def release(self, answer: MxuAnswer) -> None: ...
    def left(self, resource: int) -> int: ...


class NativeMemory(Protocol):
    """The memory manager's records; allocations and components by number."""

    def mpu(self, policy: int, most_region_bits: int) -> None: ...
    def mmu(self, entry_sizes: int) -> None: ...
    def malloc(
        self,
        component: int,
        *,
        bytes: int,  # noqa: A002 - as core/ names it
        spec: int,
        rights: int,
        shared: int = 0,
        address: int | None = None,
    ) -> tuple[int, MxuAnswer, int | None]: ...
    def give(self, frames: int) -> bool: ...
    def span(self, allocation: int) -> tuple[int, int]: ...
    def ranges(self, allocation: int) -> int: ...
    def nodes_taken(self, component: int) -> MxuAnswer: ...
    def dynamic_slots(self, component: int) -> int: ...
    def needed_at_once(self, component: int) -> int: ...
    def left(self, resource: int) -> int: ...
    def free_frames(self) -> int: ...
    def is_sound(self) -> bool: ...


class NativeDynamic(Protocol):
    """struct mxu_dynamic: slots, policy, cost of a refill."""


class Mxu(Protocol):
    """The module (bindings/mxu). Values out of range raise ValueError."""

    def Hardware(self) -> NativeHardware: ...  # noqa: N802
    def Request(self) -> NativeRequest: ...  # noqa: N802
    def Account(self, hardware: NativeHardware) -> NativeAccount: ...  # noqa: N802
    def Dynamic(self, slots: int, policy: int, refill_ns: int) -> NativeDynamic: ...  # noqa: N802
    def Memory(  # noqa: N802
        self,
        hardware: NativeHardware,
        *,
        first: int,
        frame_bits: int,
        frame_count: int,
        components: int,
        allocations: int,
        ranges: int,
        nodes: int,
    ) -> NativeMemory: ...
    def regions(self, first: int, last: int, most_bits: int) -> list[tuple[int, int]]: ...
    def fit(self, nbytes: int, /) -> tuple[int, int, int]: ...
    def locked_entries(self, virtual_first: int, physical_first: int, bytes: int, sizes: int) -> int: ...  # noqa: A002
    def armv7a_table_bytes(self, spans: Sequence[tuple[int, int]]) -> int: ...
    def aarch64_table_bytes(
        self, spans: Sequence[tuple[int, int, int]], *, first_level: int, root_bits: int
    ) -> int: ...
    def admit_job(
        self, phases: Sequence[tuple[int, int, int]], dynamic: NativeDynamic, wcet_ns: int, budget_ns: int
    ) -> tuple[int, int, int, int]: ...
    def instruction_misses(self, touch: int, dynamic: NativeDynamic) -> int: ...
    def kept(self, policy: int, slots: int) -> int: ...
    def check_description(self, content: bytes) -> str | None: ...
    def status_name(self, status: int, /) -> str: ...
    def mechanism_name(self, mechanism: int, /) -> str: ...
    def resource_name(self, resource: int, /) -> str: ...


@cache
def mxu() -> Mxu:
    """Raises BuildFailed, or MissingTool if it cannot be built."""
    core_modules()
    path = compiled_path("bindings/mxu", MODULE)
    return cast(
        "Mxu", load_compiled(path, MODULE, "the compiled policy of memory access control", "was not built")
    )


def spec_flags(words: Sequence[str]) -> int:
    return sum(SPECS[word] for word in words)
