# SPDX-License-Identifier: Apache-2.0
"""The part of a domain's memory that its socket device and the broker reach, if the domain has `socket_pool`.

Decides place and size of the pool before memory is allocated (docs/design/flows.md). Used by the planner,
which makes segments of it, and by crosschecks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.quantity import KIB, MIB
from bulkhead.config.system import Domain, Flow, Region, System
from bulkhead.config.ways import Way, ways_of
from bulkhead.geometry import PAGE_BYTES, ColorSpace
from bulkhead.planning.broker import sockets_of
from bulkhead.planning.model import Plan, Segment
from bulkhead.planning.space import space_for
from bulkhead.units import size_text

BLOCK_BYTES = 2 * MIB  # guests of this tool map RAM in whole blocks
_HEADER_BYTES = 44  # virtio 1.2, 5.10.6
_SLOT_BYTES = 2 * KIB  # Linux's drivers take the pool in pieces of this size (IO_TLB_SIZE)
_CONTROLS = 4  # packets without payload that are under way in one direction of a flow
_QUEUE_BYTES = 3 * 12 * KIB  # of three queues with 256 entries, each area in whole pages
_LINUX_BUFFERS = 256 * 4 * KIB  # receive buffers of Linux's driver
_BUFFERS = 160 * KIB  # receive buffers and headers of the driver in guests/socket
_STEP = 64 * KIB  # sizes of `auto` are multiples


def pool_bytes_of(system: System, domain: Domain) -> int:
    """Size of the domain's pool; 0: it has none."""
    if domain.socket_pool is None:
        return 0
    return domain.socket_pool.size or needed_bytes(system, domain)


def needed_bytes(system: System, domain: Domain) -> int:
    """Size of `auto`: queues and receive buffers of the driver, and the packets that it may have sent and not
    got back."""
    return _rounded(_least_bytes(system, domain), _STEP)


def pool_of(system: System, domain: Domain, space: ColorSpace) -> Region | None:
    """Guest-physical addresses of the pool: the end of the last region of RAM without a `spec`, in whole
    granules, and if possible in whole blocks. None: it has none, or that region has no room for it."""
    size = _rounded(pool_bytes_of(system, domain), space.granule)
    regions = sorted((one for one in domain.ram if not one.spec), key=lambda one: one.at)
    if not size or not regions:
        return None
    last = regions[-1]
    in_blocks = (last.end // BLOCK_BYTES * BLOCK_BYTES - last.at) // space.granule * space.granule
    end = in_blocks if in_blocks > size else last.size
    start = (end - size) // space.granule * space.granule
    return None if start <= 0 else Region(at=last.at + start, size=end - start)


def divided(segments: list[Segment], pool: Region | None, space: ColorSpace) -> list[Segment]:
    """The segments, divided where the pool begins and ends; those of the pool are marked."""
    if pool is None:
        return segments
    found = []
    for segment in segments:
        end = segment.ipa + segment.bytes
        edges = [segment.ipa, *(cut for cut in (pool.at, pool.end) if segment.ipa < cut < end), end]
        for start, stop in pairwise(edges):
            pa = int(segment.pages(space)[(start - segment.ipa) // PAGE_BYTES])
            inside = pool.at <= start < pool.end
            found.append(replace(segment, ipa=start, bytes=stop - start, pa=pa, socket_pool=inside))
    return found


def reach_of(plan: Plan) -> dict[str, int]:
    """Bytes of memory that the broker reaches, of each domain with a socket device."""
    ends = sockets_of(plan.system) if plan.system.flows else ()
    return {
        domain.name: sum(segment.bytes for segment in domain.reached_segments)
        for domain in plan.domains
        if domain.name in ends
    }


def check_pools(system: System, platform: Platform) -> Iterator[Finding]:
    """Findings about domains that cannot have the pool that they ask for."""
    for index, domain in enumerate(system.domains):
        if domain.socket_pool is not None:
            yield from _check(system, domain, platform, ("domains", index, "socket_pool"))


def _check(system: System, domain: Domain, platform: Platform, at: KeyPath) -> Iterator[Finding]:
    if domain.name not in sockets_of(system):
        cause = f"'{domain.name}' has no socket device"
        yield Finding(at, "conflict", cause, "a flow that names the domain, or `socket: true`")
        return
    if domain.image.kernel == "linux:debian":
        cause = (
            "the kernel linux:debian is built without CONFIG_DMA_RESTRICTED_POOL, so it would keep its "
            "buffers elsewhere and its socket device would only ask for resets"
        )
        yield Finding(at, "conflict", cause, "a kernel of your own with CONFIG_DMA_RESTRICTED_POOL=y")
    if domain.table_placement == "ocm":
        cause = "stage-2 tables that a pool needs are not counted for tables in on-chip memory"
        yield Finding(at, "conflict", cause, "`table_placement: best-effort`")
    size, least = domain.socket_pool.size if domain.socket_pool else None, _least_bytes(system, domain)
    if size is not None and size < least:
        held = "the domain's queues, its receive buffers and the packets that it may have sent"
        cause = f"{size_text(size)} cannot hold {held}"
        yield Finding(at, "out-of-range", cause, f"at least {size_text(least)}, or auto")
    elif pool_of(system, domain, space_for(system, platform)) is None:
        cause = (
            "the last region of RAM without a `spec`, where the pool is, has no room for "
            f"{size_text(pool_bytes_of(system, domain))}"
        )
        yield Finding(at, "memory-exhausted", cause, "a smaller pool, or a larger last region")


def _least_bytes(system: System, domain: Domain) -> int:
    buffers = _BUFFERS if domain.image.kernel is None else _LINUX_BUFFERS
    return _QUEUE_BYTES + buffers + _sent_bytes(system, domain)


def _sent_bytes(system: System, domain: Domain) -> int:
    """Bytes of packets that the domain may have sent along its flows and not got back."""
    return sum(_of_way(way) for way in _sends(system.flows, domain.name))


def _sends(flows: tuple[Flow, ...], name: str) -> list[Way]:
    """The directions of flows in which the domain sends; one for all receivers of a multicast flow."""
    found = {(way.key, way.answers): way for way in ways_of(flows) if way.from_ == name}
    return list(found.values())


def _of_way(way: Way) -> int:
    """A packet waits for its release and then for its deadline at most."""
    packets = -(-way.deadline // way.period) + 1
    return packets * _rounded(way.size + _HEADER_BYTES, _SLOT_BYTES) + _CONTROLS * _SLOT_BYTES


def _rounded(value: int, to: int) -> int:
    return -(-value // to) * to
