# SPDX-License-Identifier: Apache-2.0
"""The memory that the hypervisor itself needs (see 'Hypervisor memory' in docs/design/architecture.md).

The planner sizes the pool by this. The numbers are upper bounds. If they were too small, the hypervisor would
refuse to start, because its tables would not fit.
"""

from __future__ import annotations

from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.quantity import GIB, KIB, MIB
from bulkhead.config.regions import guest_windows
from bulkhead.config.system import Domain, System
from bulkhead.geometry import PAGE_BYTES
from bulkhead.planning.broker import cids_of
from bulkhead.planning.socket_pool import pool_bytes_of
from bulkhead.planning.space import space_for

DEFAULT_POOL_BYTES = 8 * MIB
IMAGE_BYTES = 256 * KIB
STACK_BYTES = 16 * KIB  # per core
CONSOLE_RING_BYTES = 64 * KIB  # per domain
SOCKET_BYTES = 16 * KIB  # for the device of each domain with a socket
EVENT_TABLES_IN_A_PAGE = 8  # of the ITS, hypervisor/its/its.c
ADDED_FLOWS_BYTES = 4 * KIB  # for the flows that managers add
BLOCK_BYTES = 2 * MIB  # mapped by one last-level table


def stage2_table_pages(domain: Domain, platform: Platform, *, colored: bool) -> int:
    """Table pages of one domain: the root, one for each GiB in use, and one for each 2 MiB that is mapped by
    pages."""
    pages = 16  # a concatenated root of the largest size
    spans = [
        (region.at, region.end, colored or _needs_pages(region.at, region.size)) for region in domain.memory
    ]
    spans += [(window.at, window.end, True) for window in guest_windows(platform)]
    if domain.socket_pool is not None:
        pages += 2  # its two ends may be inside blocks
    passable = platform.passable()
    for name in domain.devices:
        device = passable.get(name)
        if device is not None:
            spans.append((device.pages.at, device.pages.end, True))
    for start, end, by_pages in spans:
        pages += _touched(start, end, GIB)
        pages += _touched(start, end, BLOCK_BYTES) if by_pages else 0
    return pages


def pool_need(system: System, platform: Platform, *, colored: bool) -> dict[str, int]:
    """Bytes that the hypervisor needs, by purpose. `pool_bytes` is the sum, rounded up."""
    cores = platform.cores.count
    need = {
        "image": IMAGE_BYTES,
        "manifest": limits()["max_manifest_bytes"],
        "stacks": cores * STACK_BYTES,
        "status": (1 + cores) * PAGE_BYTES,
        "shared cores": (cores + sum(len(domain.cpus) for domain in system.domains)) * PAGE_BYTES,
        "console rings": len(system.domains) * CONSOLE_RING_BYTES,
        "stage-2 tables": PAGE_BYTES
        * sum(stage2_table_pages(domain, platform, colored=colored) for domain in system.domains),
    }
    if system.flows:
        ends = [domain for domain in system.domains if domain.name in cids_of(system)]
        need["socket devices"] = len(ends) * SOCKET_BYTES
        if any(domain.manager for domain in system.domains):
            need["flows that managers add"] = ADDED_FLOWS_BYTES
        need["broker's tables"] = PAGE_BYTES * sum(
            _window_pages(system, platform, domain, space_for(system, platform).count if colored else 1)
            for domain in ends
        )
    if platform.mpam is not None:
        need["MPAM's registers, read back"] = (1 + limits()["mpam_dump_frames"]) * PAGE_BYTES
    if platform.driven_iommu is not None:
        # Status; of an SMMUv3 level 1 of the stream table, command queue and event queue, and a leaf for each
        # stream at most.
        streams = sum(len(device.streams) for device in platform.passable().values())
        tables = 3 + min(streams, limits()["max_streams"])
        need["SMMU"] = (1 + (tables if platform.driven_iommu.type == "smmuv3" else 0)) * PAGE_BYTES
    if platform.interrupt_controller is not None and platform.interrupt_controller.its is not None:
        # Two tables, command queue, properties, tables of events, parts of the table of devices for functions
        # behind bridges; each domain's ITS, and a table of stage 2.
        events = -(-limits()["max_functions"] // EVENT_TABLES_IN_A_PAGE)
        parts = 1 + len(platform.pci.bridges) if platform.pci is not None and platform.pci.bridges else 0
        need["ITS"] = (4 + events + parts + 2 * len(system.domains)) * PAGE_BYTES
    # The hypervisor's own tables map the pool by pages, and a few device registers.
    own_tables = 16 + _touched(0, sum(need.values()) + DEFAULT_POOL_BYTES, BLOCK_BYTES)
    need["own tables"] = own_tables * PAGE_BYTES
    need["slack"] = sum(need.values()) // 4 + 256 * KIB
    return need


def _window_pages(system: System, platform: Platform, domain: Domain, colors: int) -> int:
    """Table pages by which the broker maps a domain's memory, or its pool; colored memory is spread over more
    of them."""
    everywhere = sum(_touched(ram.at, ram.at + ram.size, BLOCK_BYTES) for ram in platform.memory)
    reach = pool_bytes_of(system, domain)
    blocks = 2 * len(domain.memory) + (reach or domain.memory_bytes) // BLOCK_BYTES
    # With one of n colors, memory is spread n times as far. Colors of `auto` are not known yet: assume an
    # eighth.
    given = len(domain.llc.colors) if domain.llc.colors is not None else max(1, colors // 8)
    return min(everywhere, blocks * max(1, colors // given)) + 8 * len(platform.memory)


def pool_bytes(system: System, platform: Platform, *, colored: bool) -> int:
    """Size of the hypervisor's memory in bytes, if the system file does not give it."""
    need = sum(pool_need(system, platform, colored=colored).values())
    return max(DEFAULT_POOL_BYTES, -(-need // MIB) * MIB)


def _needs_pages(at: int, size: int) -> bool:
    return at % BLOCK_BYTES != 0 or size % BLOCK_BYTES != 0


def _touched(start: int, end: int, unit: int) -> int:
    return (end - 1) // unit - start // unit + 1
