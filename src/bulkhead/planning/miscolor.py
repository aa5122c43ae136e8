# SPDX-License-Identifier: Apache-2.0
"""A test hook: places one frame of a domain in another domain's colors, deliberately (C5).

`bulkhead run --miscolor` uses it to show that the witnesses detect this. plan.py calls it last, and only if
the option is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bulkhead.config.problem import Finding, nearest_of, quoted
from bulkhead.geometry import PAGE_BYTES, ColorSpace
from bulkhead.planning.allocate import AllocatedMemory
from bulkhead.planning.model import DomainPlan, Segment


def miscolor(
    target: str, domains: Sequence[DomainPlan], memory: AllocatedMemory
) -> tuple[tuple[DomainPlan, ...], int] | Finding:
    """Swap one granule of `target` ("name" or "name:page") for a free one of another domain's colors.

    Returns the domains, one of them changed, and the physical address of the wrong granule; or a finding.
    """
    name, colon, page_text = target.partition(":")
    victim = next((domain for domain in domains if domain.name == name), None)
    if victim is None:
        names = [domain.name for domain in domains]
        return _finding(f"there is no domain {quoted(name)}", ", ".join(names), nearest_of(name, names))
    if victim.colors is None:
        return _finding("memory is not colored in this system, so there is no wrong color")
    pages = victim.bytes // PAGE_BYTES
    if colon and not (page_text.isdecimal() and len(page_text) < 12 and int(page_text) < pages):
        return _finding(f"{quoted(page_text)} is not a page of {quoted(name)}", f"0 to {pages - 1}")
    page = int(page_text) if colon else pages // 2
    others = [domain for domain in domains if domain is not victim and domain.colors]
    donor = next((domain for domain in others if domain.realtime), others[0] if others else None)
    foreign = (donor.colors or frozenset()) - victim.colors if donor is not None else frozenset()
    wrong_pa = memory.take_granule(foreign) if foreign else None
    if wrong_pa is None:
        return _finding("no granule of another domain's colors is free")
    changed = replace(victim, segments=_swapped(victim.segments, page, wrong_pa, memory))
    return tuple(changed if domain is victim else domain for domain in domains), wrong_pa


def _swapped(
    segments: Sequence[Segment], page: int, wrong_pa: int, memory: AllocatedMemory
) -> tuple[Segment, ...]:
    """The segments with the granule of `page` at `wrong_pa`; its segment is split into up to three."""
    changed: list[Segment] = []
    for segment in segments:
        count = segment.bytes // PAGE_BYTES
        if 0 <= page < count:
            changed += _split(segment, page, wrong_pa, memory)
        else:
            changed.append(segment)
        page -= count
    return tuple(changed)


def _split(segment: Segment, page: int, wrong_pa: int, memory: AllocatedMemory) -> list[Segment]:
    space: ColorSpace = memory.space
    assert segment.colors is not None
    granule = page * PAGE_BYTES // space.granule
    start, end = granule * space.granule, min((granule + 1) * space.granule, segment.bytes)
    right = [int(pa) for pa in space.granules(segment.pa, granule + 2, segment.colors)[granule:]]
    memory.give_granule(right[0])
    wrong_colors = frozenset({space.color_of(wrong_pa)})
    parts = [
        replace(segment, bytes=start),
        replace(segment, ipa=segment.ipa + start, bytes=end - start, pa=wrong_pa, colors=wrong_colors),
        replace(segment, ipa=segment.ipa + end, bytes=segment.bytes - end, pa=right[1]),
    ]
    return [part for part in parts if part.bytes]


def _finding(cause: str, allowed: str | None = None, nearest: str | None = None) -> Finding:
    return Finding(("miscolor",), "bad-miscolor", cause, allowed, nearest)
