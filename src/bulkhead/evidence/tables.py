# SPDX-License-Identifier: Apache-2.0
"""Table witness (C5): checks every frame that the translation tables of a finished run map.

Called after a run with an image of the hypervisor's pool and the roots of all trees. It detects what the
observer cannot: table walks, and mappings that were never used. It must not rely on the hypervisor for the
meaning of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bulkhead.evidence.matching import check_contexts
from bulkhead.evidence.messages import check_messages
from bulkhead.evidence.promise import (
    DomainPromise,
    ItsPromise,
    Promise,
    PromisedWindow,
    SmmuPromise,
    Smmuv2Promise,
    TablePromise,
    color_table,
    colors_of,
    within,
)
from bulkhead.evidence.streams import (
    REGISTERS,
    Kind,
    StreamEntry,
    UnreadableTable,
    entries,
    stream_table,
)
from bulkhead.evidence.translations import ReadFrame, its_registers
from bulkhead.evidence.vmsa import (
    FRAME_BYTES,
    S1_READ_ONLY,
    S1_XN,
    S2_FWB_AS_STAGE_1,
    S2_FWB_WRITE_BACK,
    S2_WRITE,
    S2_WRITE_BACK,
    Translation,
    Words,
    root_address,
    stage2_device,
    stage2_type,
    walk,
    walks_are,
)
from bulkhead.results.witness import TableWitnessResult

_LISTED_PER_KIND = 8  # findings of one kind and tree that are listed; further ones are only counted


@dataclass(frozen=True)
class TableFinding:
    """One broken promise. `address` is a physical address."""

    kind: str
    where: str
    address: int
    text: str


@dataclass
class TableWitness:
    """Numbers of checks, and the findings."""

    colored: bool
    frames_checked: int = 0
    frames_planned: int = 0  # frames of domains that are not mapped yet
    tables_checked: int = 0
    tables_placed: int = 0  # those of them whose place a specification states
    device_frames_checked: int = 0
    streams_checked: int = 0  # stream ids that can have an entry at the SMMU
    messages_checked: int = 0  # message interrupts of domains' functions, in the ITS's tables
    findings_total: int = 0
    findings: list[TableFinding] = field(default_factory=list)
    frames_by_color: dict[str, dict[int, int]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether there are no findings and tables were checked: an empty tree proves nothing."""
        return self.findings_total == 0 and self.tables_checked > 0

    def as_json(self, not_bound: list[str]) -> TableWitnessResult:
        return {
            "verdict": "held" if self.ok else "broken",
            "colored": self.colored,
            "frames_checked": self.frames_checked,
            "frames_planned": self.frames_planned,
            "device_frames_checked": self.device_frames_checked,
            "tables_checked": self.tables_checked,
            "tables_placed": self.tables_placed,
            "streams_checked": self.streams_checked,
            "messages_checked": self.messages_checked,
            "findings_total": self.findings_total,
            "findings": [
                {"kind": f.kind, "where": f.where, "address": f"{f.address:#x}", "text": f.text}
                for f in self.findings
            ],
            "frames_by_color": {
                who: {str(color): n for color, n in sorted(by_color.items())}
                for who, by_color in self.frames_by_color.items()
            },
            "not_bound": not_bound,
        }


def check_tables(
    promise: Promise,
    read_frame: Callable[[int], Words | None],
    vttbr: dict[str, int],
    ttbr0_el2: int,
    vtcr: dict[str, int] | None = None,
    smmu: Mapping[int, int] | None = None,
    its: Mapping[int, int] | None = None,
) -> TableWitness:
    """Walk stage 2 of each domain named in `vttbr` and stage 1 of EL2, and check them against the promise.

    `read_frame` returns the words of a frame of the pool or of the memory for tables, None for any other.
    `vtcr` is VTCR_EL2 of each domain; without it the type of walks is not checked. `smmu` has the SMMU's
    registers by offset, if the promise has an SMMU. `its` has those of the ITS and the redistributors by
    address, if the promise has an ITS. If one of these registers is missing, that is a finding. A domain of
    the promise without a root (it never started) is not walked.
    """
    checker = _Checker(promise, TableWitness(colored=promise.color_bits != 0))
    mapped: dict[str, Words] = {}
    for domain in promise.domains:
        if root := root_address(vttbr.get(domain.name, 0)):
            mapped[domain.name] = checker.stage2(domain, walk(read_frame, root))
            if vtcr is not None:
                checker.walks(domain, vtcr.get(domain.name, 0))
    for domain in promise.domains:
        checker.still_to_be_mapped(domain, mapped.get(domain.name, _array([])))
    checker.no_shared_frames(mapped)
    checker.el2(walk(read_frame, root_address(ttbr0_el2)))
    if promise.smmu is not None:
        checker.smmu(promise.smmu, smmu or {}, read_frame, vttbr, vtcr or {})
    if promise.its is not None:
        checker.messages(promise.its, its, read_frame)
    return checker.witness


class _Checker:
    """The individual checks, and the tables seen so far."""

    def __init__(self, promise: Promise, witness: TableWitness) -> None:
        self.promise = promise
        self.witness = witness
        self._table_user: dict[int, str] = {}

    def stage2(self, domain: DomainPromise, tree: Translation) -> Words:
        """Check one domain. Returns the RAM frames that it can access."""
        where = f"domain {domain.name}"
        self._tables(where, tree, domain.tables)
        ipa, pa, descriptor = tree.frames()
        is_ram = within(pa, self.promise.ram)
        self._devices(where, "IPA", ipa[~is_ram], pa[~is_ram], domain.devices)
        self._types(domain, ipa, pa, descriptor, is_ram)
        self._flash(domain, ipa, pa, descriptor)
        ipa, pa = ipa[is_ram], pa[is_ram]
        self.witness.frames_checked += len(pa)
        ipa, pa = self._without_window(domain, ipa, pa)
        self._colors(where, "IPA", ipa, pa, domain.colors)
        wrong = ~np.isin(pa, domain.frames)
        self._add(
            "foreign_frame",
            where,
            pa[wrong],
            (
                f"{where}: IPA {source:#x} -> PA {target:#x}: {self._owner_of(target)}, not its own frame"
                for source, target in _pairs(ipa[wrong], pa[wrong])
            ),
        )
        return np.unique(pa)

    def walks(self, domain: DomainPromise, vtcr: int) -> None:
        """Checks whether walks use the caches. They must, unless the tables are in on-chip memory, whose
        lines would be in sets of all colors."""
        expected = "cached" if domain.tables is None or domain.tables.cached else "uncached"
        found = walks_are(vtcr)
        where = f"domain {domain.name}"
        wrong = [] if found == expected else [vtcr]
        text = f"{where}: VTCR_EL2 {vtcr:#x}: walks of stage 2 are {found}, not {expected}"
        self._add("walk_type", where, _array(wrong), [text])

    def _without_window(self, domain: DomainPromise, ipa: Words, pa: Words) -> tuple[Words, Words]:
        """The domain's own mappings. A broker's window, which maps the memory of the domains that it serves
        at fixed places, is checked and left out."""
        exchange = next((one for one in self.promise.exchanges if one.broker == domain.name), None)
        if exchange is None:
            return ipa, pa
        window = np.uint64(exchange.window)
        behind = ipa >= window
        right = behind & (ipa - window == pa) & np.isin(pa, exchange.frames)
        wrong = behind & ~right
        where = f"domain {domain.name}"
        self._add(
            "frame_of_no_flow",
            where,
            pa[wrong],
            (
                f"{where}: IPA {source:#x} -> PA {target:#x}: {self._owner_of(target)}, "
                "which no socket device of this broker reaches"
                for source, target in _pairs(ipa[wrong], pa[wrong])
            ),
        )
        return ipa[~behind], pa[~behind]

    def still_to_be_mapped(self, domain: DomainPromise, mapped: Words) -> None:
        """Checks the colors of frames that will be mapped at their first access."""
        if not self.promise.color_bits:
            return
        later = np.setdiff1d(domain.frames, mapped)
        self.witness.frames_planned += len(later)
        color = colors_of(later, self.promise.color_bits)
        wrong = ~color_table(domain.colors, self.promise.color_bits)[color]
        where = f"domain {domain.name}"
        self._add(
            "planned_frame_color",
            where,
            later[wrong],
            (
                f"{where}: PA {pa:#x}, not mapped yet: color {c} is not among its colors "
                f"{_set(domain.colors)}"
                for pa, c in _pairs(later[wrong], color[wrong])
            ),
        )

    def el2(self, tree: Translation) -> None:
        """Check stage 1 of EL2: only pool and allowed devices, no page writable and executable."""
        where = "hypervisor"
        self._tables(where, tree)
        va, pa, descriptor = tree.frames()
        is_ram = within(pa, self.promise.ram)
        self._devices(where, "VA", va[~is_ram], pa[~is_ram], self.promise.hypervisor_devices)
        self.witness.frames_checked += int(is_ram.sum())
        for exchange in self.promise.exchanges:
            # EL2 also maps queues of sockets, and the broker's word.
            is_ram &= ~np.isin(pa, exchange.frames)
            is_ram &= ~np.isin(pa, exchange.broker_frames)
        is_ram &= ~np.isin(pa, self.promise.table_frames)  # have colors of their own
        self._colors(where, "VA", va[is_ram], pa[is_ram], self.promise.hypervisor_colors)
        foreign = is_ram & ~np.isin(pa, self.promise.pool_frames)
        self._add(
            "el2_maps_foreign_frame",
            where,
            pa[foreign],
            (
                f"{where}: VA {source:#x} -> PA {target:#x}: {self._owner_of(target)}, not the pool"
                for source, target in _pairs(va[foreign], pa[foreign])
            ),
        )
        loose = (descriptor & np.uint64(S1_READ_ONLY | S1_XN)) == 0
        self._add(
            "writable_and_executable",
            where,
            pa[loose],
            (
                f"{where}: VA {source:#x} -> PA {target:#x} is writable and executable"
                for source, target in _pairs(va[loose], pa[loose])
            ),
        )

    def no_shared_frames(self, mapped: dict[str, Words]) -> None:
        """Checks that no RAM frame is mapped by two domains."""
        for first, second in combinations(mapped, 2):
            both = np.intersect1d(mapped[first], mapped[second], assume_unique=True)
            self._add(
                "frame_of_two_domains",
                f"domain {first}",
                both,
                (f"PA {pa:#x} is mapped by domain {first} and by domain {second}" for pa in both.tolist()),
            )

    def smmu(
        self,
        promise: SmmuPromise | Smmuv2Promise,
        registers: Mapping[int, int],
        read_frame: Callable[[int], Words | None],
        vttbr: dict[str, int],
        vtcr: dict[str, int],
    ) -> None:
        """Checks the SMMU, if all registers that this needs were read."""
        needed = REGISTERS if isinstance(promise, SmmuPromise) else promise.places.registers()
        if not registers.keys() >= set(needed):
            self._wrong_smmu("smmu_unreadable", promise.registers, "its registers could not be read")
        elif isinstance(promise, SmmuPromise):
            self.streams(promise, registers, read_frame, vttbr, vtcr)
        else:
            self.contexts(promise, registers, vttbr, vtcr)

    def contexts(
        self,
        promise: Smmuv2Promise,
        registers: Mapping[int, int],
        vttbr: dict[str, int],
        vtcr: dict[str, int],
    ) -> None:
        """Checks that each stream of an SMMUv2 is a fault or has the tables of the stream's domain."""
        found = check_contexts(promise, registers, vttbr, vtcr)
        for kind, text in found.findings:
            self._wrong_smmu(kind, promise.registers, text)
        self.witness.streams_checked += found.checked

    def streams(
        self,
        promise: SmmuPromise,
        registers: Mapping[int, int],
        read_frame: Callable[[int], Words | None],
        vttbr: dict[str, int],
        vtcr: dict[str, int],
    ) -> None:
        """Checks that the SMMU is enabled, uses the pool only, and that each entry of its stream table aborts
        or has the tables of the stream's domain. A stopped domain's entry aborts, and keeps the rest."""
        table = stream_table(registers)
        if not table.enabled:
            self._wrong_smmu("smmu_disabled", promise.registers, "it is not enabled")
        if table.trusts_translated:
            text = "accesses that devices say are translated pass unchecked (CR0.ATSCHK is 0)"
            self._wrong_smmu("smmu_unchecked", promise.registers, text)
        for name, pa in table.queues.items():
            if read_frame(pa - pa % FRAME_BYTES) is None:
                self._wrong_smmu(
                    "smmu_outside_pool", pa, f"its {name} queue is at PA {pa:#x}: not in the pool"
                )
        for name, pa in table.messages.items():
            if pa:
                self._wrong_smmu("smmu_outside_pool", pa, f"it writes messages of {name} to PA {pa:#x}")
        left = dict(promise.streams)
        try:
            for stream, entry in entries(table, read_frame):
                owner = left.pop(stream, None)
                if owner is not None:
                    self._stream_of(owner, stream, entry, vttbr.get(owner, 0), vtcr.get(owner))
                elif entry.kind is not Kind.ABORT:
                    text = f"stream {stream:#x}, which no domain has: its entry {entry.kind.value}"
                    self._wrong_smmu("stream_of_nobody", entry.pa, text)
        except UnreadableTable as bad:
            self._wrong_smmu(
                "smmu_outside_pool", bad.pa, f"its stream table is at PA {bad.pa:#x}: not in the pool"
            )
            return
        for stream, owner in left.items():
            text = f"stream {stream:#x} of domain {owner} has no entry"
            self._wrong_smmu("stream_without_entry", table.base, text)
        self.witness.streams_checked += table.stream_ids

    def _stream_of(self, owner: str, stream: int, entry: StreamEntry, vttbr: int, vtcr: int | None) -> None:
        about = f"stream {stream:#x} of domain {owner}: "
        wrong = []
        if not entry.valid or entry.kind is Kind.OTHER:
            wrong.append(f"its entry {entry.kind.value if entry.valid else 'is invalid'}")
        if entry.root != root_address(vttbr):
            wrong.append(
                f"its tables are at PA {entry.root:#x}, those of the domain at {root_address(vttbr):#x}"
            )
        if entry.vmid != vttbr >> 48:
            wrong.append(f"its VMID is {entry.vmid}, that of the domain {vttbr >> 48}")
        if not entry.aarch64 or (vtcr is not None and entry.vtcr != vtcr & 0x7FFFF):
            wrong.append(f"its format of tables ({entry.vtcr:#x}) is not that of the domain")
        if entry.takes_translated:
            wrong.append("accesses that the device says are translated pass")
        for text in wrong:
            self._wrong_smmu("stream_entry", entry.pa, about + text)

    def _wrong_smmu(self, kind: str, pa: int, text: str) -> None:
        self._add(kind, "SMMU", _array([pa]), [f"SMMU: {text}"])

    def messages(
        self, promise: ItsPromise, registers: Mapping[int, int] | None, read_frame: ReadFrame
    ) -> None:
        """Checks that the ITS and the redistributors use their own memory only, and that the ITS maps the
        messages of domains' functions, each to its place, and nothing else."""
        needed = its_registers(promise.registers, promise.redistributors, promise.cores)
        if registers is None or not registers.keys() >= set(needed):
            text = "ITS: its registers could not be read"
            self._add("its_unreadable", "ITS", _array([promise.registers]), [text])
            return
        found = check_messages(promise, registers, self._in_pool(read_frame))
        for finding in found.findings:
            self._add(finding.kind, "ITS", _array([finding.pa]), [finding.text])
        if self.promise.color_bits:
            self._table_colors("ITS", _array(sorted(found.frames)), self.promise.hypervisor_colors)
        self.witness.messages_checked += found.checked

    def _in_pool(self, read_frame: ReadFrame) -> ReadFrame:
        """The same, for frames of the pool only."""
        pool = frozenset(self.promise.pool_frames.tolist())
        return lambda pa: read_frame(pa) if pa in pool else None

    def _tables(self, where: str, tree: Translation, promised: TablePromise | None = None) -> None:
        self._add(
            "table_outside_pool",
            where,
            _array([bad.table_pa for bad in tree.bad_tables]),
            (
                f"{where}: the level-{bad.level} table for input address {bad.input_address:#x} is at "
                f"PA {bad.table_pa:#x}: not a frame of the hypervisor's pool"
                for bad in tree.bad_tables
            ),
        )
        self.witness.tables_checked += len(tree.tables)
        placed = np.array([promised is not None and promised.holds(span) for span in tree.spans], np.bool_)
        self.witness.tables_placed += int(placed.sum())
        own = promised.frames if promised is not None else _array([])
        tables = _array(tree.tables)
        wrong = np.isin(tables, own) != placed
        self._add(
            "table_misplaced",
            where,
            tables[wrong],
            (
                f"{where}: table at PA {pa:#x} for input addresses from {span.start:#x}: "
                + (
                    "not in the memory that its `spec` demands"
                    if out
                    else "no `spec` asks for this placement"
                )
                for pa, span, bad, out in zip(tree.tables, tree.spans, wrong, placed, strict=True)
                if bad
            ),
        )
        if self.promise.color_bits:
            self._table_colors(where, tables[~placed], self.promise.hypervisor_colors)
            if promised is not None and not promised.on_chip:
                self._table_colors(where, tables[placed], self.promise.table_colors)
        shared = [pa for pa in tree.tables if self._table_user.setdefault(pa, where) != where]
        self._add(
            "table_of_two_trees",
            where,
            _array(shared),
            (
                f"{where}: table at PA {pa:#x} also belongs to the tables of {self._table_user[pa]}"
                for pa in shared
            ),
        )

    def _table_colors(self, where: str, tables: Words, allowed: frozenset[int]) -> None:
        color = colors_of(tables, self.promise.color_bits)
        wrong = ~color_table(allowed, self.promise.color_bits)[color]
        self._add(
            "table_color",
            where,
            tables[wrong],
            (
                f"{where}: table at PA {pa:#x}: color {c} "
                f"is not one of the hypervisor's colors {_set(allowed)}"
                for pa, c in _pairs(tables[wrong], color[wrong])
            ),
        )

    def _colors(self, where: str, space: str, source: Words, pa: Words, allowed: frozenset[int]) -> None:
        bits = self.promise.color_bits
        if not bits:
            return
        color = colors_of(pa, bits)
        count = np.bincount(color, minlength=1 << bits.bit_count())
        self.witness.frames_by_color[where.removeprefix("domain ")] = {
            int(c): int(count[c]) for c in np.flatnonzero(count)
        }
        wrong = ~color_table(allowed, bits)[color]
        self._add(
            "frame_color",
            where,
            pa[wrong],
            (
                f"{where}: {space} {src:#x} -> PA {target:#x}: color {c} is not among its colors "
                f"{_set(allowed)}"
                for (src, target), c in zip(
                    _pairs(source[wrong], pa[wrong]), color[wrong].tolist(), strict=True
                )
            ),
        )

    def _devices(
        self, where: str, space: str, source: Words, pa: Words, allowed: tuple[PromisedWindow, ...]
    ) -> None:
        self.witness.device_frames_checked += len(pa)
        wrong = ~within(pa, allowed)
        self._add(
            "device",
            where,
            pa[wrong],
            (
                f"{where}: {space} {src:#x} -> PA {target:#x}: not RAM, and not a device of its own"
                for src, target in _pairs(source[wrong], pa[wrong])
            ),
        )

    def _flash(self, domain: DomainPromise, ipa: Words, pa: Words, descriptor: Words) -> None:
        where = f"domain {domain.name}"
        wrong = np.zeros(len(ipa), dtype=np.bool_)
        for flash in domain.flash:
            wrong |= (ipa >= np.uint64(flash.start)) & (ipa < np.uint64(flash.stop))
        wrong &= (descriptor & np.uint64(S2_WRITE)) != 0
        self._add(
            "writable_flash",
            where,
            pa[wrong],
            (
                f"{where}: IPA {source:#x} -> PA {target:#x} is flash, and the guest can write it"
                for source, target in _pairs(ipa[wrong], pa[wrong])
            ),
        )

    def _types(
        self, domain: DomainPromise, ipa: Words, pa: Words, descriptor: Words, is_ram: NDArray[np.bool_]
    ) -> None:
        """Checks memory types. A guest must not be able to bypass the caches, whose refills budgets count."""
        where = f"domain {domain.name}"
        found = stage2_type(descriptor)
        expected = S2_WRITE_BACK
        if self.promise.s2fwb:
            expected = S2_FWB_AS_STAGE_1 if domain.own_attributes else S2_FWB_WRITE_BACK
        wrong = is_ram & (found != np.uint64(expected))
        self._add(
            "memory_type",
            where,
            pa[wrong],
            (
                f"{where}: IPA {source:#x} -> PA {target:#x}: memory type {kind:#06b}, not {expected:#06b}"
                for (source, target), kind in zip(
                    _pairs(ipa[wrong], pa[wrong]), found[wrong].tolist(), strict=True
                )
            ),
        )
        wrong = ~is_ram & ~stage2_device(descriptor)
        self._add(
            "memory_type",
            where,
            pa[wrong],
            (
                f"{where}: IPA {source:#x} -> PA {target:#x}: not RAM, and mapped as Normal memory"
                for source, target in _pairs(ipa[wrong], pa[wrong])
            ),
        )

    def _owner_of(self, pa: int) -> str:
        here = _array([pa])
        for domain in self.promise.domains:
            if np.isin(here, domain.frames)[0]:
                return f"a frame of domain {domain.name}"
        if np.isin(here, self.promise.pool_frames)[0]:
            return "a frame of the hypervisor's pool"
        if self.promise.load_area and self.promise.load_area.contains(here)[0]:
            return "in the load area"
        return "a frame without an owner"

    def _add(self, kind: str, where: str, addresses: Words, texts: Iterable[str]) -> None:
        """Count a finding for each address; `texts` is evaluated for the first ones only."""
        self.witness.findings_total += len(addresses)
        for address, text in zip(addresses[:_LISTED_PER_KIND].tolist(), texts, strict=False):
            self.witness.findings.append(TableFinding(kind, where, address, text))


def _array(addresses: list[int]) -> Words:
    return np.array(addresses, dtype=np.uint64)


def _pairs(first: Words, second: NDArray[np.integer[Any]]) -> Iterator[tuple[int, int]]:
    return zip(first.tolist(), second.tolist(), strict=True)


def _set(colors: frozenset[int]) -> str:
    return "{" + ", ".join(str(c) for c in sorted(colors)) + "}"
