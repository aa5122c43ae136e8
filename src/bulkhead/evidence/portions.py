# SPDX-License-Identifier: Apache-2.0
"""Witness `portions` (M4): where lines of each domain were placed in the last-level cache, on the simulated
machine.

The machine counts lines by the owner of the physical frame and by the place in the cache (way and set),
independent of labels: a core that still has its neighbour's PARTID places lines in the neighbour's portions,
and this witness detects that whatever the registers contain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bulkhead.config.mpam import Resource
from bulkhead.results.witness import PortionWitnessResult
from bulkhead.units import mask_text

Json = dict[str, object]


@dataclass(frozen=True)
class PortionPromise:
    """Portions of the last-level cache, as bitmaps; portion n is bit n."""

    level: str  # name of the cache in the platform file
    resource: Resource
    domains: Mapping[str, int]  # allowed for each domain's lines, including EL2's accesses to its memory
    own: Mapping[str, int]  # each owner's own portions, including the hypervisor's

    def owners_of(self, portion: int) -> list[str]:
        return [name for name, bitmap in self.own.items() if bitmap >> portion & 1]


@dataclass(frozen=True)
class ForeignLines:
    """Lines of a domain that were placed in portions of others."""

    domain: str
    owners: tuple[str, ...]  # owners of these portions; empty: they have none
    portions: int
    lines: int

    @property
    def text(self) -> str:
        whose = " and ".join(self.owners) or "nobody"
        return f"{self.lines} lines of {self.domain} went into portions {mask_text(self.portions)} of {whose}"


@dataclass
class PortionWitness:
    """Numbers of lines, and the findings."""

    lines: int = 0  # lines of domains that were placed
    foreign: int = 0  # those of them in others' portions
    findings: list[ForeignLines] = field(default_factory=list)

    def as_json(self) -> PortionWitnessResult:
        return {
            "verdict": "broken" if self.foreign else "held" if self.lines else "nothing promised",
            "lines": self.lines,
            "foreign_lines": self.foreign,
            "findings_total": len(self.findings),
            "findings": [
                {
                    "domain": one.domain,
                    "owners": list(one.owners),
                    "portions": mask_text(one.portions),
                    "lines": one.lines,
                    "text": one.text,
                }
                for one in self.findings
            ],
        }


def check_portions(
    promise: PortionPromise, owners: Sequence[str], placed: Sequence[Sequence[Sequence[int]]]
) -> PortionWitness:
    """Checks `placed`: lines placed by owner, way and part of the sets, as the machine counts them."""
    witness = PortionWitness()
    for name, ways in zip(owners, placed, strict=True):
        if name in promise.domains:
            _check_domain(promise, name, _by_portion(promise.resource, ways), witness)
    witness.findings.sort(key=lambda one: -one.lines)
    return witness


def _check_domain(
    promise: PortionPromise, name: str, by_portion: Mapping[int, int], witness: PortionWitness
) -> None:
    foreign: dict[tuple[str, ...], tuple[int, int]] = {}  # portions and lines, by owners of the portions
    for portion, lines in by_portion.items():
        witness.lines += lines
        if lines and not promise.domains[name] >> portion & 1:
            whose = tuple(one for one in promise.owners_of(portion) if one != name)
            portions, before = foreign.get(whose, (0, 0))
            foreign[whose] = (portions | 1 << portion, before + lines)
    for whose, (portions, lines) in foreign.items():
        witness.foreign += lines
        witness.findings.append(ForeignLines(name, whose, portions, lines))


def _by_portion(resource: Resource, ways: Sequence[Sequence[int]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for way, parts in enumerate(ways):
        for part, lines in enumerate(parts):
            portion = _portion(resource, len(ways), way, len(parts), part)
            found[portion] = found.get(portion, 0) + lines
    return found


def _portion(resource: Resource, ways: int, way: int, parts: int, part: int) -> int:
    """Number of the portion. Portions are equal parts of the ways or of the sets; with more portions than
    ways, a way has several."""
    portions = resource.portions or 1
    if resource.portions_are == "sets":
        return part
    return way * parts + part if portions >= ways else way * portions // ways
