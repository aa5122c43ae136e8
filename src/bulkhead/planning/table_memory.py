# SPDX-License-Identifier: Apache-2.0
"""Places of stage-2 tables that have a specification (X5, docs/design/mxu.md).

Decides with core's admission, before colors are assigned: which regions have their tables in colored memory
of their own, which domains have them on the chip, and what is refused. plan.py allocates that memory. Tables
without a specification are in the hypervisor's pool.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.regions import gic_window
from bulkhead.config.system import Domain, Hypervisor, Region, System
from bulkhead.geometry import PAGE_BYTES
from bulkhead.mxu import native
from bulkhead.planning.broker import is_broker
from bulkhead.planning.budgets import counted_event
from bulkhead.planning.regulation import budget_in
from bulkhead.planning.space import color_count, llc_colored, share_of
from bulkhead.planning.table_refusal import Holder, Refused, refusal
from bulkhead.results.check import TableRegionResult, TableResourceResult

Where = Literal["pool", "colored", "on_chip"]

_BY_BLOCKS = 21  # log2 of the largest entries for aligned contiguous memory
_BY_PAGES = 12
_VMIDS = 255  # 8 bits; 0 is not used by domains
_LOCKED = native.SPECS["deterministic"] | native.SPECS["l1"]
_CODES = {native.ENOHW: "mxu-enohw", native.EBUSY: "mxu-ebusy"}

# Names for messages.
WHERE: dict[Where, str] = {"pool": "the pool", "colored": "colors of their own", "on_chip": "on-chip memory"}
INDEPENDENCE = ("can slow it down", "push its TLB entries out", "do not reach it")  # enum mxu_independence

Span = tuple[int, int, int]  # first and last address, log2 of the largest entry that the alignment allows


@dataclass(frozen=True)
class PlacedRegion:
    """A region whose translations have a specification, and where its tables are."""

    domain: str
    number: int  # in the file's order
    at: int
    bytes: int
    spec: tuple[str, ...]
    where: Where
    node_bytes: int  # bytes of tables in addition to those of the domain's earlier regions
    independence: int  # enum mxu_independence

    def json(self, *, past_caches: bool) -> TableRegionResult:
        return {
            "domain": self.domain,
            "number": self.number,
            "at": self.at,
            "bytes": self.bytes,
            "spec": list(self.spec),
            "where": self.where,
            "node_bytes": self.node_bytes,
            "independence": self.independence,
            "past_caches": past_caches,
        }


@dataclass(frozen=True)
class TableResource:
    """A kind of memory for tables, and its users."""

    name: str
    limit: int
    left: int
    holders: tuple[Holder, ...]

    def json(self) -> TableResourceResult:
        return {"name": self.name, "limit": self.limit, "left": self.left, "holders": dict(self.holders)}


@dataclass(frozen=True)
class TablePlan:
    """The decisions, still without addresses."""

    regions: tuple[PlacedRegion, ...] = ()
    resources: tuple[TableResource, ...] = ()
    findings: tuple[Finding, ...] = ()
    llc_colored: bool = False

    @property
    def on_chip_cached(self) -> bool:
        """Whether walks of tables on the chip use the caches. Their lines may be in sets of all colors, and
        others may evict them. Walks therefore bypass the caches if the cache is colored or a region is
        `independent`."""
        placed = [one for one in self.regions if one.where == "on_chip"]
        alone = self.llc_colored or any("independent" in one.spec for one in placed)
        return bool(placed) and not alone

    @property
    def colored_bytes(self) -> int:
        return self._bytes("colored")

    @property
    def on_chip_bytes(self) -> int:
        return self._bytes("on_chip")

    def past_caches(self, region: PlacedRegion) -> bool:
        return region.where == "on_chip" and not self.on_chip_cached

    def where(self, domain: str) -> Where:
        return next((one.where for one in self.regions if one.domain == domain), "pool")

    def is_marked(self, domain: str, at: int) -> bool:
        """Whether the tables of the domain's region at this address have a specification."""
        return any(one.domain == domain and one.at <= at < one.at + one.bytes for one in self.regions)

    def _bytes(self, where: Where) -> int:
        return sum(one.node_bytes for one in self.regions if one.where == where)


def color_bytes(platform: Platform) -> int:
    """Bytes in the last-level cache's sets of one color."""
    assert platform.llc is not None
    return platform.llc.size // color_count(platform)


def plan_tables(system: System, platform: Platform) -> TablePlan:
    """Admits all regions with a specification, in the order of the file."""
    if not any(_spec_of(domain, region) for domain in system.domains for region in domain.memory):
        return TablePlan()
    planner = _TableMemoryPlanner(system, platform)
    for index, domain in enumerate(system.domains):
        planner.admit(index, domain)
    findings = (*planner.findings, *_too_many(planner.placed))
    return TablePlan(tuple(planner.placed), tuple(planner.resources()), findings, planner.colored)


def table_bytes(spans: Iterable[Span]) -> int:
    """Bytes of all stage-2 tables that map these spans, as core/ counts. With 39 address bits the root is one
    table."""
    ordered = sorted(spans)
    return native.mxu().aarch64_table_bytes(ordered, first_level=1, root_bits=9) if ordered else 0


def _spec_of(domain: Domain, region: Region) -> tuple[str, ...]:
    return region.spec or (("l3",) if domain.table_placement == "ocm" else ())


@dataclass
class _TableMemoryPlanner:
    system: System
    platform: Platform
    placed: list[PlacedRegion] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.colored = llc_colored(self.system, self.platform)
        self.samples = sample_bytes(self.system, self.platform)
        self.limits = {native.OCM_BYTES: self._on_chip(), native.COLORED_BYTES: self._colored()}
        hardware = native.mxu().Hardware()
        hardware.mmu = True
        hardware.limits = [self.limits.get(one, 0) for one in range(native.RESOURCES)]
        hardware.limits = [
            _VMIDS if one == native.ASIDS else limit for one, limit in enumerate(hardware.limits)
        ]
        hardware.levels(ocm=self._on_chip_level(), way=0, color=self._color_level())
        self.account = native.mxu().Account(hardware)

    def _on_chip_level(self) -> int:
        """Level of on-chip memory: 3 (slower than L2) behind the interconnect, 2 beside the cores as on the
        Zynq-7000."""
        ocm = self.platform.ocm
        return 0 if ocm is None else 3 if ocm.cached else 2

    def _color_level(self) -> int:
        return 0 if not self.colored else 3 if self.platform.llc_name == "l3" else 2

    def _on_chip(self) -> int:
        if self.platform.ocm is None:
            return 0
        left = self.platform.ocm.free_bytes - self.samples
        return max(0, min(left // PAGE_BYTES, limits()["max_table_frames"])) * PAGE_BYTES

    def _colored(self) -> int:
        """Bytes of colored memory for tables: of the colors that the file gives, else of those that no owner
        needs."""
        if not self.colored:
            return 0
        own = self.system.hypervisor.tables.colors
        if own is None:
            holders: list[Hypervisor | Domain] = [self.system.hypervisor, *self.system.domains]
            everything = color_count(self.platform)
            named = {color for holder in holders for color in holder.llc.colors or ()}
            shares = [share_of(holder.llc, self.platform) for holder in holders if not holder.llc.colors]
            asked = sum(1 if share is None else math.ceil(share * everything) for share in shares)
            count = everything - len(named) - asked
        else:
            count = len(own)
        return min(max(0, count) * color_bytes(self.platform), limits()["max_table_frames"] * PAGE_BYTES)

    def admit(self, index: int, domain: Domain) -> None:
        """Admits the regions of a domain. All its walks have one type of memory (VTCR_EL2), so its
        specifications combine."""
        asked = [(number, region, _spec_of(domain, region)) for number, region in enumerate(domain.memory)]
        asked = sorted((one for one in asked if one[2]), key=lambda one: one[1].at)
        if asked and is_broker(self.system, domain.name):
            cause = (
                f"the broker '{domain.name}' maps memory of other domains, and tables for it are not counted"
            )
            self.findings.append(Finding(("domains", index), "mxu-enohw", cause, "no `spec`"))
            return
        together = 0
        for _, _, spec in asked:
            flags = native.spec_flags(spec)
            together |= 0 if flags & _LOCKED else flags
        spans: list[Span] = []
        for number, region, spec in asked:
            flags = native.spec_flags(spec)
            path: KeyPath = ("domains", index, "memory", number, "spec")
            if not region.spec:
                path = ("domains", index, "table_placement")
            self._admit_region(domain, number, region, spec, flags | together, spans, path)

    def _admit_region(
        self,
        domain: Domain,
        number: int,
        region: Region,
        spec: tuple[str, ...],
        flags: int,
        spans: list[Span],
        path: KeyPath,
    ) -> None:
        before = table_bytes(spans)
        own = self._region_span(region)
        on_chip = any(one.domain == domain.name and one.where == "on_chip" for one in self.placed)
        everything = table_bytes(self._all_spans(domain))
        request = native.mxu().Request()
        request.spec = flags
        request.node_bytes = table_bytes([*spans, own]) - before
        request.ocm_node_bytes = 0 if on_chip else everything
        if on_chip:
            request.node_bytes = 0  # all tables of the domain are on the chip already
        request.has_asid = True  # the ASID is a VMID here
        # A core that no other domain shares has only this domain's TLB entries.
        request.has_tlb_sets = not self.system.shared_cores().intersection(domain.cpus)
        status, answer = self.account.admit(request)
        where = _where(answer) if status == native.OK else "pool"
        if status == native.OK and domain.table_placement == "ocm" and where != "on_chip":
            self.account.release(answer)
            status = self._lacks_on_chip(everything)
            lacking = (native.OCM_BYTES, everything, self.account.left(native.OCM_BYTES))
        else:
            lacking = (answer.lacking, answer.needed, answer.left)
        if status != native.OK:
            refused = Refused(domain, region, spec, self.platform, *lacking)
            text = refusal(refused, list(self.resources()), llc_is_colored=self.colored)
            self.findings.append(Finding(path, _CODES.get(status, "mxu-einval"), *text))
            return
        spans.append(own)
        taken = answer.taken[native.OCM_BYTES if where == "on_chip" else native.COLORED_BYTES]
        self.placed.append(
            PlacedRegion(domain.name, number, region.at, region.size, spec, where, taken, answer.independence)
        )

    def _lacks_on_chip(self, needed: int) -> int:
        return native.EBUSY if needed <= self.limits[native.OCM_BYTES] else native.ENOHW

    def _region_span(self, region: Region) -> Span:
        """Colored memory is mapped by pages; contiguous memory of at least one block is aligned for
        blocks."""
        blocks = not self._paged() and region.size >= 1 << _BY_BLOCKS
        return region.at, region.end - 1, _BY_BLOCKS if blocks else _BY_PAGES

    def _paged(self) -> bool:
        return self.colored or self.system.isolation.banks == "coloring"

    def _all_spans(self, domain: Domain) -> list[Span]:
        spans = [self._region_span(region) for region in domain.memory]
        passable = self.platform.passable()
        windows = [w for name in domain.devices if name in passable for w in passable[name].windows]
        if (gic := gic_window(self.platform)) is not None:
            windows.append(gic)
        end = 0
        for window in sorted(windows, key=lambda one: one.at):
            start = max(end, window.at)
            end = max(end, window.end)
            if start < end:
                spans.append((start, end - 1, _BY_PAGES))
        return spans

    def resources(self) -> Iterator[TableResource]:
        """The kinds of memory for tables that exist."""
        for number, where, name in (
            (native.OCM_BYTES, "on_chip", "on-chip memory"),
            (native.COLORED_BYTES, "colored", "colored memory for tables"),
        ):
            limit = self.limits[number]
            holders = {
                domain: sum(one.node_bytes for one in self.placed if (one.domain, one.where) == key)
                for domain in dict.fromkeys(one.domain for one in self.placed)
                if (key := (domain, where))
            }
            held = [(f"domain '{name}'", nbytes) for name, nbytes in holders.items() if nbytes]
            if number == native.OCM_BYTES and self.samples:
                limit += self.samples
                held.insert(0, ("samples of budgets", self.samples))
            if limit:
                yield TableResource(name, limit, self.account.left(number), tuple(held))


def _where(answer: native.MxuAnswer) -> Where:
    return "on_chip" if answer.mechanism == native.BY_OCM else "colored"


def _too_many(placed: list[PlacedRegion]) -> Iterator[Finding]:
    frames = sum(one.node_bytes for one in placed) // PAGE_BYTES
    if frames > (most := limits()["max_table_frames"]):
        cause = f"{frames} frames of stage-2 tables have a `spec`, which are more than the hypervisor maps"
        yield Finding(("domains",), "limit", cause, f"at most {most}")


def sample_bytes(system: System, platform: Platform) -> int:
    """Bytes of the sample rings, one for each core with a budget. They are in on-chip memory, if there is
    any."""
    events = [counted_event(platform, emulated=emulated) for emulated in (False, True)]
    cores = {
        core
        for domain in system.domains
        if any(budget_in(system, domain, event) is not None for event in events)
        for core in domain.cpus
    }
    return 0 if platform.ocm is None else len(cores) * limits()["sample_frames"] * PAGE_BYTES
