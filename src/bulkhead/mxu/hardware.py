# SPDX-License-Identifier: Apache-2.0
"""The hardware that a platform and a system file give all components together, in core/'s form; the manager's
records."""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.config.components import SYSTEM_REGIONS, ComponentSystem
from bulkhead.config.microkernel import Microkernel
from bulkhead.config.platform import Platform
from bulkhead.mxu import native

# Sizes of the memory manager's tables: microkernel/manager/manager.h, kernel/config.h.
MOST_RANGES = 80  # of a component
MOST_NODES = 160
MOST_ALLOCATIONS = 256
KERNEL_BYTES = MOST_RANGES * (24 + 4 * 72)  # for a component's ranges in the kernel: manager/apply.c
OWN_COMPONENTS = 2  # memory manager and scheduler, before the system's own

CACHE_LEVEL = 2  # of OCM and of locked ways: both answer at the speed of L2 (X5)
ANY_REGION_BITS = 32


@dataclass(frozen=True)
class Checker:
    """The hardware that checks accesses, and its resources for all components."""

    mmu: bool
    limits: tuple[int, ...]  # by resource
    system_regions: int
    policy: int
    most_region_bits: int
    entry_sizes: int
    kernel: Microkernel

    @property
    def policy_name(self) -> str:
        return native.POLICIES[self.policy]

    def native(self) -> native.NativeHardware:
        found = native.mxu().Hardware()
        found.mmu = self.mmu
        found.limits = list(self.limits)
        found.system_regions = self.system_regions
        found.levels(ocm=CACHE_LEVEL, way=CACHE_LEVEL, color=0)
        return found


def checker_of(system: ComponentSystem, platform: Platform) -> Checker:
    """The checker of a system that was cross-checked with its platform."""
    kernel, asked = platform.microkernel, system.hardware
    assert kernel is not None
    limits = [0] * native.RESOURCES
    mpu, tlb = platform.cores.mpu, platform.cores.tlb
    if mpu is not None:
        limits[native.REGIONS] = mpu.regions
    else:
        lockable = tlb.l2.lockable if tlb is not None and tlb.l2 is not None else 0
        l2 = platform.caches.get("l2")
        ocm = platform.ocm.size - kernel.own_ocm if platform.ocm is not None else 0
        limits[native.LOCKED_ENTRIES] = lockable if asked.locked_entries is None else asked.locked_entries
        limits[native.OCM_BYTES] = ocm if asked.ocm is None else asked.ocm
        limits[native.WAY_BYTES] = (asked.locked_ways or 0) * (l2.size // l2.ways) if l2 is not None else 0
        limits[native.ASIDS] = kernel.asids
    return Checker(
        mmu=mpu is None,
        limits=tuple(limits),
        system_regions=(asked.system_regions or SYSTEM_REGIONS) if mpu is not None else 0,
        policy=native.POLICIES.index(asked.eviction or native.POLICIES[0]),
        most_region_bits=_bits(asked.region if mpu is not None else asked.page),
        entry_sizes=sum(kernel.entries),
        kernel=kernel,
    )


def _bits(most: int | None) -> int:
    return ANY_REGION_BITS if most is None else most.bit_length() - 1


def books_of(checker: Checker, components: int) -> native.NativeMemory:
    """Records without any allocation. `components`: those of the system file."""
    kernel = checker.kernel
    found = native.mxu().Memory(
        checker.native(),
        first=kernel.frames.at,
        frame_bits=kernel.frame.bit_length() - 1,
        frame_count=kernel.frames.size // kernel.frame,
        components=components + OWN_COMPONENTS,
        allocations=MOST_ALLOCATIONS,
        ranges=MOST_RANGES,
        nodes=MOST_NODES,
    )
    if checker.mmu:
        found.mmu(checker.entry_sizes)
    else:
        found.mpu(checker.policy, checker.most_region_bits)
    return found
