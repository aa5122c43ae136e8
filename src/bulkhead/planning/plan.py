# SPDX-License-Identifier: Apache-2.0
"""Turns a checked system into a plan: colors, the hypervisor's pool, and frames of every domain (C2).

`check`, `plan` and the builder call `plan_memory`; everything that does not fit is reported before anything
starts. The order is fixed (the pool, then domains in the file's order), so equal files always give equal
plans.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.shares import Banks, Llc
from bulkhead.config.system import Domain, System
from bulkhead.errors import BulkheadError
from bulkhead.geometry import ColorSpace, GeometryError
from bulkhead.planning.allocate import AllocatedMemory
from bulkhead.planning.colors import HYPERVISOR, TABLES, Assignment, ColorRequest, assign
from bulkhead.planning.flows import plan_brokers
from bulkhead.planning.left import Placed
from bulkhead.planning.mechanism import llc_mechanism, llc_reason
from bulkhead.planning.miscolor import miscolor as put_wrong
from bulkhead.planning.mislabel import mislabel as label_wrong
from bulkhead.planning.mislabel import misprogram as program_wrong
from bulkhead.planning.misplace import misplace as place_wrong
from bulkhead.planning.model import Choice, DomainPlan, Hooks, Plan, Pool, Segment, TableMemory
from bulkhead.planning.mpam import MpamPlan
from bulkhead.planning.mpam_planner import plan_mpam
from bulkhead.planning.pool import pool_bytes, pool_need
from bulkhead.planning.socket_pool import divided, pool_of
from bulkhead.planning.space import banks_colored, llc_colored, share_of, space_for
from bulkhead.planning.table_memory import TablePlan, color_bytes, plan_tables
from bulkhead.units import size_text


class PlanningError(BulkheadError):
    """The system does not fit. `findings` lists all requests that could not be met, with what is
    available."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.cause for finding in findings))
        self.findings = findings


def plan_memory(system: System, platform: Platform, hooks: Hooks | None = None) -> Plan:
    """Plan all memory, flows and MPAM of a system. Raises PlanningError if it does not fit."""
    hooks = hooks or Hooks()
    if platform.not_bootable is not None:
        cause = f"nothing can be booted on platform '{platform.name}': {platform.not_bootable}"
        raise PlanningError([Finding(("platform",), "not-bootable", cause)])
    try:
        space = space_for(system, platform)
    except GeometryError as error:
        raise PlanningError([Finding(("isolation",), "geometry", str(error))]) from error
    if platform.load is None:
        cause = f"platform '{platform.name}' has no load area: nothing can be booted on it"
        raise PlanningError([Finding(("platform",), "no-load-area", cause)])
    brokers, findings = plan_brokers(system, platform)
    mpam = plan_mpam(system, platform)
    findings += mpam.findings if mpam is not None else []
    try:
        plan = _Planner(system, platform, space, (platform.load.at, platform.load.size)).run(hooks.miscolor)
    except PlanningError as error:
        raise PlanningError(error.findings + findings) from error
    if findings:
        raise PlanningError(findings)
    choices = (*_mechanism_choice(system, platform), *plan.choices)
    if mpam is not None:
        choices += tuple(mpam.choices)
    for broker in brokers:
        choices += broker.choices
    planned = mpam.plan if mpam is not None else None
    wrong = _wrong_mpam(system, planned, hooks)
    plan = replace(plan, brokers=brokers, mpam=planned, wrong_mpam=wrong, choices=choices)
    if hooks.misplace is None:
        return plan
    misplaced = place_wrong(hooks.misplace, plan.domains)
    if isinstance(misplaced, Finding):
        raise PlanningError([misplaced])
    return replace(plan, wrong_domains=misplaced)


def _wrong_mpam(system: System, planned: MpamPlan | None, hooks: Hooks) -> MpamPlan | None:
    """The MPAM plan that EL2 gets instead of the right one, if a test hook is used; else None. Raises
    PlanningError."""
    wrong = planned
    for target, change in ((hooks.mislabel, label_wrong), (hooks.misprogram, program_wrong)):
        if target is not None:
            changed = change(target, system, wrong)
            if isinstance(changed, Finding):
                raise PlanningError([changed])
            wrong = changed
    return wrong if wrong is not planned else None


def _mechanism_choice(system: System, platform: Platform) -> tuple[Choice, ...]:
    if system.isolation.llc != "auto":
        return ()
    reason = llc_reason(system, platform)
    return (Choice("isolation.llc", llc_mechanism(system, platform), reason),)


class _Planner:
    """The state of one planning run."""

    def __init__(self, system: System, platform: Platform, space: ColorSpace, load: tuple[int, int]) -> None:
        self.system, self.platform, self.space, self.load = system, platform, space, load
        holes = [load, *((hole.at, hole.size) for hole in platform.reserved)]
        self.memory = AllocatedMemory(space, ((ram.at, ram.size) for ram in platform.memory), holes)
        self.findings: list[Finding] = []
        self.choices: list[Choice] = []
        self.tables = TablePlan()

    def run(self, target: str | None) -> Plan:
        pool_size = self._pool_size()
        self.tables = plan_tables(self.system, self.platform)
        self.findings += self.tables.findings
        colors = self._colors(pool_size)
        self._stop_if_wrong()
        untouched = self.memory.copy()
        pool = self._pool(pool_size, colors[HYPERVISOR])
        tables = self._table_memory(colors.get(TABLES))
        domains = tuple(self._domain(i, d, colors[i]) for i, d in enumerate(self.system.domains))
        self._stop_if_wrong()
        assert pool is not None
        miscolored = None
        if target is not None:
            changed = put_wrong(target, domains, self.memory)
            if isinstance(changed, Finding):
                raise PlanningError([changed])
            domains, miscolored = changed
        self._check_limits(domains)
        self._stop_if_wrong()
        placed = Placed(self.system, self.platform, untouched, self.memory, pool.bytes, colors)
        return Plan(
            self.system,
            self.platform,
            self.space,
            pool,
            domains,
            self.load,
            tuple(self.choices),
            miscolored,
            tables=tables,
            placed=placed,
        )

    def _stop_if_wrong(self) -> None:
        if self.findings:
            raise PlanningError(self.findings)

    def _pool_size(self) -> int:
        colored = self.space.bits != 0
        need = pool_bytes(self.system, self.platform, colored=colored)
        asked = self.system.hypervisor.memory
        if asked is None:
            parts = ", ".join(
                f"{what} {size_text(size)}"
                for what, size in pool_need(self.system, self.platform, colored=colored).items()
            )
            self.choices.append(
                Choice("hypervisor.memory", size_text(need), f"at least 8 MiB; needed: {parts}")
            )
            return need
        least = sum(pool_need(self.system, self.platform, colored=colored).values())
        if asked < least:
            cause = (
                f"the hypervisor needs {size_text(least)} for this system, but {size_text(asked)} are given"
            )
            self.findings.append(
                Finding(("hypervisor", "memory"), "out-of-range", cause, f"at least {size_text(least)}")
            )
        return asked

    def _colors(self, pool_size: int) -> dict[int, frozenset[int] | None]:
        """Combined colors of every domain and of the hypervisor. None as a value: not colored."""
        owners = [HYPERVISOR, *range(len(self.system.domains))]
        if not self.space.bits:
            return dict.fromkeys(owners)
        llc, banks = Assignment(), Assignment()
        if llc_colored(self.system, self.platform):
            count = 1 << len(self.space.llc_bits)
            everything = frozenset(range(count))
            room = self.memory.capacity_of(None) // count
            requests = [self._request(o, "llc", room, pool_size, everything) for o in owners]
            requests += self._tables_request(everything)
            llc = assign(requests, count, "LLC")
        if banks_colored(self.system):
            count = 1 << len(self.space.bank_bits)
            requests = []
            for owner in owners:
                within = self.space.combine(llc.colors.get(owner), None)
                candidates = frozenset(self.space.bank_color_of(color) for color in within)
                room = self.memory.capacity_of(within) // max(1, len(candidates))
                requests.append(self._request(owner, "banks", room, pool_size, candidates))
            banks = assign(requests, count, "bank")
        self.findings += llc.findings + banks.findings
        self.choices += llc.choices + banks.choices
        if self.findings:
            return {}
        combined: dict[int, frozenset[int] | None] = {}
        for owner in owners:
            colors = self.space.combine(llc.colors.get(owner), banks.colors.get(owner))
            if not colors:
                self._no_colors(owner)
            combined[owner] = colors
        if TABLES in llc.colors:  # tables use the hypervisor's banks
            combined[TABLES] = self.space.combine(llc.colors[TABLES], banks.colors.get(HYPERVISOR))
            if not combined[TABLES]:
                self._no_colors(TABLES)
        return combined

    def _no_colors(self, owner: int) -> None:
        cause = (
            f"no memory has both the LLC and the bank colors of {self._name(owner)}: they share address bits"
        )
        self.findings.append(Finding(self._path(owner), "no-colors", cause))

    def _tables_request(self, everything: frozenset[int]) -> list[ColorRequest]:
        """Requests as many colors for tables as hold all of them in the cache at once, so that they do not
        evict each other."""
        nbytes = self.tables.colored_bytes
        if not nbytes:
            return []
        own = self.system.hypervisor.tables.colors
        least = -(-nbytes // color_bytes(self.platform))
        path: KeyPath = ("hypervisor", "tables")
        return [ColorRequest(TABLES, "stage-2 tables", path, own, None, least, False, everything)]

    def _request(
        self, owner: int, key: str, room: int, pool_size: int, candidates: frozenset[int]
    ) -> ColorRequest:
        """An owner's request to one mechanism. `room`: bytes of memory that one color has for this owner."""
        holder = self.system.hypervisor if owner == HYPERVISOR else self.system.domains[owner]
        asked: Llc | Banks = holder.llc if key == "llc" else holder.banks
        nbytes = holder.memory_bytes if isinstance(holder, Domain) else pool_size
        return ColorRequest(
            owner,
            self._name(owner),
            (*self._path(owner), key),
            asked.colors,
            _share_of(asked, self.platform),
            least=math.ceil(nbytes / max(1, room)),
            realtime=isinstance(holder, Domain) and holder.criticality == "rt",
            candidates=candidates,
        )

    def _pool(self, nbytes: int, colors: frozenset[int] | None) -> Pool | None:
        taken = self.memory.take(nbytes, colors, unbroken=True)
        if taken is None:
            self._exhausted(("hypervisor",), "the hypervisor", nbytes, colors)
            return None
        return Pool(taken.pieces[0].pa, nbytes, colors)

    def _table_memory(self, colors: frozenset[int] | None) -> TableMemory | None:
        """Memory for tables. On the chip it is the end of the free memory; samples of budgets use the
        beginning."""
        if not self.tables.regions:
            return None
        colored = None
        if nbytes := self.tables.colored_bytes:
            taken = self.memory.take(nbytes, colors, unbroken=True)
            if taken is None:
                self._exhausted(("hypervisor", "tables"), "memory for stage-2 tables", nbytes, colors)
                return None
            colored = Pool(taken.pieces[0].pa, nbytes, colors)
        ocm = self.platform.ocm
        on_chip_pa = 0
        if self.tables.on_chip_bytes and ocm is not None:
            on_chip_pa = ocm.at + ocm.free_bytes - self.tables.on_chip_bytes
        return TableMemory(self.tables, on_chip_pa, colored)

    def _domain(self, index: int, domain: Domain, colors: frozenset[int] | None) -> DomainPlan:
        segments: list[Segment] = []
        maps = fragmented = 0
        order = sorted(range(len(domain.memory)), key=lambda i: domain.memory[i].at)
        for number in order:
            region = domain.memory[number]
            taken = self.memory.take(region.size, colors, region.at)
            if taken is None:
                path: KeyPath = ("domains", index, "memory", number, "size")
                self._exhausted(path, f"domain '{domain.name}'", region.size, colors)
                continue
            ipa = region.at
            for piece in taken.pieces:
                marked = self.tables.is_marked(domain.name, region.at)
                flash = region.flash is not None
                segments.append(
                    Segment(ipa, piece.bytes, piece.pa, colors, marked, flash, region.programmable)
                )
                ipa += piece.bytes
            maps += taken.maps
            fragmented += taken.fragmented_bytes
        # What a socket device reaches is one run of segments (core/socket_reach.h).
        segments.sort(key=lambda one: one.read_only)
        segments = divided(segments, pool_of(self.system, domain, self.space), self.space)
        premap = self._premap(domain)
        return DomainPlan(
            domain.name,
            index,
            domain.cpus,
            domain.criticality,
            colors,
            tuple(segments),
            premap,
            maps,
            self.tables.where(domain.name),
            fragmented,
        )

    def _premap(self, domain: Domain) -> bool:
        if self.platform.confined(domain.devices):
            reason = "the hypervisor cannot map a page when a device touches it"
            self.choices.append(Choice(f"domains.{domain.name}.premap", "true", reason))
            return True
        asked = self.system.isolation.premap
        if asked == "auto":
            premap = domain.criticality == "rt"
            reason = "real-time: no fault after start" if premap else "best-effort: mapped when first touched"
            self.choices.append(Choice(f"domains.{domain.name}.premap", str(premap).lower(), reason))
            return premap
        return asked == "all"

    def _exhausted(self, path: KeyPath, who: str, nbytes: int, colors: frozenset[int] | None) -> None:
        if colors is None:
            have = f"the largest free piece of memory is {size_text(self.memory.largest_free_run())}"
        else:
            listed = ", ".join(str(color) for color in sorted(colors))
            free, capacity = self.memory.free_of(colors), self.memory.capacity_of(colors)
            have = f"its colors [{listed}] hold {size_text(capacity)}, {size_text(free)} of it free"
        self.findings.append(
            Finding(path, "memory-exhausted", f"{who} asks for {size_text(nbytes)}, but {have}")
        )

    def _check_limits(self, domains: tuple[DomainPlan, ...]) -> None:
        segments, most = sum(len(domain.segments) for domain in domains), limits()["max_segments"]
        if segments > most:
            cause = f"memory falls into {segments} segments, which are more than the hypervisor's tables hold"
            self.findings.append(Finding(("domains",), "limit", cause, f"at most {most}"))

    def _name(self, owner: int) -> str:
        special = {HYPERVISOR: "hypervisor", TABLES: "stage-2 tables"}
        return special.get(owner) or self.system.domains[owner].name

    def _path(self, owner: int) -> KeyPath:
        return ("hypervisor",) if owner in (HYPERVISOR, TABLES) else ("domains", owner)


def _share_of(asked: Llc | Banks, platform: Platform) -> Fraction | None:
    return share_of(asked, platform) if isinstance(asked, Llc) and asked.colors is None else asked.share
