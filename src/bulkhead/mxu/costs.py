# SPDX-License-Identifier: Apache-2.0
"""Worst-case cost of the check of an access, besides the access, by the platform file's figures.

Each cost states its parts and the source of its figures. A check that other components can disturb has no
bound: then `cycles` is None.
"""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.config.timing import Section
from bulkhead.mxu import native
from bulkhead.results.admitted import CheckCostResult

NS_PER_S = 10**9
PS_PER_NS = 1000


@dataclass(frozen=True)
class Cost:
    cycles: int | None
    ns: int | None  # rounded up; also None if the platform does not state its clock
    made_of: str
    sources: tuple[str, ...] = ()

    def json(self) -> CheckCostResult:
        return {
            "cycles": self.cycles,
            "ns": self.ns,
            "made_of": self.made_of,
            "sources": list(self.sources),
        }


def refill_cycles(platform: Platform) -> int:
    """Cycles of a refill of one dynamic region for the admission of jobs: the computed bound, else the file's
    figure."""
    mpu = platform.cores.mpu
    assert mpu is not None
    return mpu.fault if mpu.bound is None else mpu.bound


def refill_ns(platform: Platform) -> int:
    """The same, rounded up."""
    return _ns(platform, refill_cycles(platform)) or 0


def refill_figures(platform: Platform) -> str:
    """The sources of the figures: computed, measured on the simulated machine, published or assumed."""
    mpu = platform.cores.mpu
    assert mpu is not None
    figures = [f"{mpu.fault} {'assumed' if 'fault' in mpu.assumed else 'published'}"]
    if mpu.bound is not None:
        figures.insert(0, f"{mpu.bound} the computed bound")
    measured = [one for one in platform.calibration if one.fact == "load-region-miss" and one.measured]
    figures += [f"{int(one.measured or 0)} measured, with warm caches" for one in measured]
    return f"cycles of a refill: {', '.join(figures)}; jobs are admitted with {refill_cycles(platform)}"


def region_cost(platform: Platform, mechanism: int, misses: int) -> Cost:
    """Cost of an access to a static region, or to a dynamic one, which can have that many misses."""
    mpu = platform.cores.mpu
    assert mpu is not None
    if mechanism == native.BY_STATIC_REGION:
        return Cost(0, 0, "the MPU has the region loaded")
    each = refill_cycles(platform)
    cycles = misses * each
    kind = "figure of the platform file" if mpu.bound is None else "bound"
    made_of = f"{misses} refill{'s' if misses != 1 else ''} of {each} cycles ({kind})"
    return Cost(cycles, _ns(platform, cycles), made_of, _sources(("cores.mpu", mpu)))


def translation_cost(platform: Platform, mechanism: int) -> Cost:
    """Cost of an access through an MMU whose micro-TLB misses. Other cores are off: components have one
    core."""
    tlb = platform.cores.tlb
    assert tlb is not None
    main = tlb.l2.hit if tlb.l2 is not None else 0
    if mechanism == native.BY_LOCKED_ENTRY:
        return Cost(
            main, _ns(platform, main), f"main TLB {main}, for each page", _sources(("cores.tlb.l2", tlb.l2))
        )
    if mechanism not in (native.BY_OCM, native.BY_LOCKED_WAY):
        return Cost(None, None, *_alone(platform))
    l2, ocm = platform.caches.get("l2"), platform.ocm
    node = l2.latency if l2 is not None else None
    used: list[tuple[str, Section | None]] = [("cores.tlb", tlb), ("caches.l2", l2)]
    if (
        mechanism == native.BY_OCM
        and ocm is not None
        and ocm.latency is not None
        and platform.cores.frequency
    ):
        node = -(-ocm.latency * platform.cores.frequency // (NS_PER_S * PS_PER_NS))
        used = [("cores.tlb", tlb), ("ocm", ocm)]
    if node is None:
        return Cost(None, None, "the platform states no time for a table read there")
    cycles = main + tlb.walk + tlb.levels * node
    made_of = f"main TLB {main} + walk {tlb.walk} + {tlb.levels} reads of {node}, for each page"
    return Cost(cycles, _ns(platform, cycles), made_of, _sources(*used))


def _alone(platform: Platform) -> tuple[str, tuple[str, ...]]:
    """A walk in DRAM has no bound; the cost measured without others is stated."""
    facts = {one.fact: one for one in platform.calibration}
    miss, hit = facts.get("load-tlb-miss"), facts.get("load-hit")
    if miss is None or hit is None or miss.target is None or hit.target is None:
        return "no bound: the tables are in DRAM, and others can delay reads of DRAM", ()
    text = (
        "no bound: the tables are in DRAM, and others can delay reads of DRAM (alone "
        f"{int(miss.target - hit.target)} cycles)"
    )
    return text, (f"calibration load-tlb-miss less load-hit: {miss.source}",)


def _ns(platform: Platform, cycles: int) -> int | None:
    frequency = platform.cores.frequency
    return None if frequency is None else -(-cycles * NS_PER_S // frequency)


def _sources(*sections: tuple[str, Section | None]) -> tuple[str, ...]:
    """The sources, with the values that are assumed or fitted, which not every source mentions."""
    found = []
    for name, section in sections:
        if section is not None and section.source is not None:
            marks = [("assumed", section.assumed), ("fitted", section.fitted)]
            shown = "".join(f" [{mark}: {_marks(keys)}]" for mark, keys in marks if keys)
            found.append(f"{name}: {section.source}{shown}")
    return tuple(found)


def _marks(keys: str | tuple[str, ...]) -> str:
    return keys if isinstance(keys, str) else ", ".join(keys)
