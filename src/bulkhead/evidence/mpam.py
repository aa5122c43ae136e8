# SPDX-License-Identifier: Apache-2.0
"""Witness `mpam` (M3): compares the registers of all MPAM components, as EL2 read them back at the end of a
run, with the plan.

Called after a run with the dump. It decodes registers according to the architecture's manual
(mpam_registers.py) and checks: portions are the planned ones, limits are not above the requested ones,
guarantees not below, and a PARTID without an owner is allowed no more than the hypervisor's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from bulkhead.config.mpam import MpamComponent, Resource
from bulkhead.evidence.mpam_promise import NOBODY, DumpedRegister, MpamPromise, MpamWitness, RegisterFinding
from bulkhead.evidence.mpam_registers import (
    CASSOC,
    CMAX,
    CMIN,
    CPBM,
    INTPARTID,
    MBW_MAX,
    MBW_MIN,
    MBW_PBM,
    MBW_PROP,
    MBW_WINWD,
    PRI,
    Held,
    held,
    internal_partid,
    offsets_of,
    register_name,
)
from bulkhead.planning.mpam import HYPERVISOR_PARTID, Settings
from bulkhead.units import mask_text, percent_text


def check_mpam(promise: MpamPromise, dump: Sequence[DumpedRegister], left_out: int) -> MpamWitness:
    """Compare a dump with the promise. `left_out`: number of registers for which the dump had no room."""
    witness = MpamWitness(left_out=left_out)
    rows: dict[tuple[int, int], dict[int, dict[int, int]]] = {}
    for one in dump:
        by_partid = rows.setdefault((one.component, one.instance), {})
        by_partid.setdefault(one.partid, {})[one.offset] = one.value
    for number, component in enumerate(promise.mpam.components):
        for ris, resource in enumerate(component.resources):
            _Instance(promise, witness, component, ris, resource, rows.get((number, ris), {})).check()
    return witness


class _Instance:
    """The checks of one resource instance of a component."""

    def __init__(
        self,
        promise: MpamPromise,
        witness: MpamWitness,
        component: MpamComponent,
        ris: int,
        resource: Resource,
        rows: dict[int, dict[int, int]],
    ) -> None:
        self.promise, self.witness = promise, witness
        self.component, self.ris, self.resource, self.rows = component, ris, resource, rows
        self.narrows = component.internal_partids is not None
        self.planned = {
            one.partid: one.settings
            for one in promise.plan.settings
            if one.component == component.name and one.ris == ris
        }
        self.found: dict[int, Held] = {}

    def check(self) -> None:
        if not offsets_of(self.resource):
            return  # it has only monitors
        for partid in range(self.promise.mpam.partids):
            self._read(partid)
        if self.narrows:
            self._no_shared_internal()
        for partid, what in self.found.items():
            if self.promise.owner(partid) is not None:
                self._as_planned(partid, what)
        own = self.found.get(HYPERVISOR_PARTID)
        for partid, what in self.found.items():
            if own is not None and self.promise.owner(partid) is None:
                self._no_more_than(partid, what, own)

    def _read(self, partid: int) -> None:
        words = self._words(partid)
        if words is None:
            return
        try:
            what = held(self.resource, words)
        except KeyError as error:
            self._missing(partid, int(error.args[0]))
            return
        self.witness.registers_checked += len(offsets_of(self.resource))
        self.witness.partids_checked += 1
        self.found[partid] = what

    def _words(self, partid: int) -> dict[int, int] | None:
        """The controls of a PARTID; with narrowing, those of its internal PARTID. None: not in the dump."""
        if not self.narrows:
            words = self.rows.get(partid)
            if words is None and not self._may_lack(partid):
                self._missing(partid, offsets_of(self.resource)[0])
            return words
        internal = self._internal(partid)
        return self.rows.get(internal, {}) if internal is not None else None

    def _internal(self, partid: int) -> int | None:
        words = self.rows.get(partid, {})
        if INTPARTID not in words:
            if not self._may_lack(partid):
                self._missing(partid, INTPARTID)
            return None
        internal = internal_partid(words)
        if internal is None:
            self._add(partid, INTPARTID, "an internal PARTID", f"{words[INTPARTID]:#x}")
        return internal

    def _may_lack(self, partid: int) -> bool:
        """Whether a PARTID may be missing: the dump had no room for all registers, and the PARTID has no
        owner."""
        return self.witness.left_out > 0 and self.promise.owner(partid) is None

    def _no_shared_internal(self) -> None:
        """Two partitions with the same internal PARTID would share its settings."""
        of: dict[int, int] = {}
        for partid in range(self.promise.mpam.partids):
            words = self.rows.get(partid, {})
            if self.promise.owner(partid) is None or INTPARTID not in words:
                continue
            internal = internal_partid(words)
            if internal is None:
                continue
            if (other := of.setdefault(internal, partid)) != partid:
                self._add(
                    partid, INTPARTID, "an internal PARTID of its own", f"{internal}, that of PARTID {other}"
                )

    def _as_planned(self, partid: int, what: Held) -> None:
        asked = self.planned.get(partid, Settings())
        self._cache(partid, asked, what)
        self._bandwidth(partid, asked, what)
        if (priority := self.resource.priority) is not None:
            urgencies = (asked.internal_priority, what.internal_urgency, priority.internal)
            self._urgency(partid, "internal", *urgencies)
            urgencies = (asked.downstream_priority, what.downstream_urgency, priority.downstream)
            self._urgency(partid, "downstream", *urgencies)

    def _cache(self, partid: int, asked: Settings, what: Held) -> None:
        resource = self.resource
        self._portions(partid, CPBM, asked.cache_portions, what.cache_portions, resource.portions)
        if resource.associativity is not None:
            bits = resource.associativity.bits
            self._limit(partid, CASSOC, asked.associativity, what.associativity, bits)
        if (capacity := resource.capacity) is not None:
            self._limit(partid, CMAX, asked.cmax, what.cmax, capacity.bits)
            if what.cmax is not None:
                self._same(partid, CMAX, _flag(asked.cmax_soft, "soft"), _flag(what.cmax_soft, "soft"))
            self._guarantee(partid, CMIN, asked.cmin, what.cmin, capacity.bits)

    def _bandwidth(self, partid: int, asked: Settings, what: Held) -> None:
        if (controls := self.resource.bandwidth) is None:
            return
        bits = controls.bits or 0
        self._limit(partid, MBW_MAX, asked.mbw_max, what.mbw_max, bits)
        if what.mbw_max is not None:
            self._same(partid, MBW_MAX, _flag(asked.mbw_max_hard, "hard"), _flag(what.mbw_max_hard, "hard"))
        self._guarantee(partid, MBW_MIN, asked.mbw_min, what.mbw_min, bits)
        self._portions(partid, MBW_PBM, asked.bandwidth_portions, what.bandwidth_portions, controls.portions)
        self._same(partid, MBW_PROP, _stride(asked.stride), _stride(what.stride))
        if asked.window_us is not None and what.window_us == 0:
            self._add(partid, MBW_WINWD, f"a window of {asked.window_us} us", "none")

    def _urgency(
        self, partid: int, which: str, asked: int | None, found: int | None, width: int | None
    ) -> None:
        """A priority that was not requested is the middle one, so that others can be more or less urgent."""
        if width is not None:
            wanted = ((1 << width) - 1) // 2 if asked is None else asked
            self._same(partid, PRI, f"{which} urgency {wanted}", f"{which} urgency {found}")

    def _portions(
        self, partid: int, offset: int, asked: int | None, found: int | None, portions: int | None
    ) -> None:
        if found is None or portions is None:
            return
        wanted = (1 << portions) - 1 if asked is None else asked
        if found != wanted:
            taken = self._taken(partid, offset, found & ~wanted)
            self._add(partid, offset, mask_text(wanted), mask_text(found) + taken)

    def _taken(self, partid: int, offset: int, too_many: int) -> str:
        """Text with the owners of portions that a partition must not have."""
        own = self.promise.owner(partid)
        by_owner: dict[str, int] = {}
        for other, settings in self.planned.items():
            whose = self.promise.owner(other)
            foreign = settings.cache_portions if offset == CPBM else settings.bandwidth_portions
            if whose is not None and whose != own and foreign is not None and foreign & too_many:
                by_owner[whose] = by_owner.get(whose, 0) | foreign & too_many
        parts = [f"{mask_text(portions)} of {whose}" for whose, portions in by_owner.items()]
        return f" ({', '.join(parts)})" if parts else ""

    def _limit(
        self, partid: int, offset: int, asked: Fraction | None, found: Fraction | None, bits: int
    ) -> None:
        """A limit must be the largest value that is not above the request; without a request it limits
        nothing."""
        if found is None:
            return
        wanted, step = asked if asked is not None else Fraction(1), Fraction(1, 1 << bits)
        if found > wanted:
            self._add(partid, offset, f"at most {percent_text(wanted)}", percent_text(found))
        elif found + step <= wanted:
            least = percent_text(wanted - step)
            self._add(partid, offset, f"more than {least}", percent_text(found))

    def _guarantee(
        self, partid: int, offset: int, asked: Fraction | None, found: Fraction | None, bits: int
    ) -> None:
        """A guarantee must be the smallest value that is not below the request. Without a request it is one
        step, since on some silicon a minimum of 0 leaves a throttled partition throttled for ever."""
        if found is None:
            return
        step = Fraction(1, 1 << bits)
        wanted = asked if asked else step
        if found < wanted:
            self._add(partid, offset, f"at least {percent_text(wanted)}", percent_text(found))
        elif found - step >= wanted:
            self._add(partid, offset, f"less than {percent_text(wanted + step)}", percent_text(found))

    def _same(self, partid: int, offset: int, wanted: str, found: str) -> None:
        if wanted != found:
            self._add(partid, offset, wanted, found)

    def _no_more_than(self, partid: int, what: Held, own: Held) -> None:
        """A PARTID without an owner must not be allowed more than the hypervisor's."""
        for offset, expected, found, more in _beyond(what, own):
            if more:
                self._add(partid, offset, f"no more than the hypervisor's {expected}", found)

    def _missing(self, partid: int, offset: int) -> None:
        self._add(partid, offset, "a value", "nothing: it is not in the dump")

    def _add(self, partid: int, offset: int, expected: str, found: str) -> None:
        owner, register = self.promise.owner(partid) or NOBODY, register_name(offset)
        finding = RegisterFinding(self.component.name, self.ris, partid, owner, register, expected, found)
        self.witness.add(finding)


def _beyond(what: Held, own: Held) -> Iterator[tuple[int, str, str, bool]]:
    """(register, the hypervisor's value, the value found, whether the latter allows more)."""
    for offset, theirs, ours in (
        (CPBM, what.cache_portions, own.cache_portions),
        (MBW_PBM, what.bandwidth_portions, own.bandwidth_portions),
    ):
        if theirs is not None and ours is not None:
            yield offset, mask_text(ours), mask_text(theirs), bool(theirs & ~ours)
    for offset, share, most in (
        (CMAX, what.cmax, own.cmax),
        (CMIN, what.cmin, own.cmin),
        (CASSOC, what.associativity, own.associativity),
        (MBW_MIN, what.mbw_min, own.mbw_min),
        (MBW_MAX, what.mbw_max, own.mbw_max),
    ):
        if share is not None and most is not None:
            yield offset, percent_text(most), percent_text(share), share > most
    yield CMAX, _flag(own.cmax_soft, "soft"), _flag(what.cmax_soft, "soft"), what.cmax_soft > own.cmax_soft
    hard, theirs_hard = (_flag(one.mbw_max_hard, "hard") for one in (own, what))
    yield MBW_MAX, hard, theirs_hard, own.mbw_max_hard > what.mbw_max_hard
    yield MBW_PROP, _stride(own.stride), _stride(what.stride), _goes_first(what.stride, own.stride)
    for which, urgent, most_urgent in (
        ("internal", what.internal_urgency, own.internal_urgency),
        ("downstream", what.downstream_urgency, own.downstream_urgency),
    ):
        if urgent is not None and most_urgent is not None:
            yield PRI, f"{which} urgency {most_urgent}", f"{which} urgency {urgent}", urgent > most_urgent


def _flag(on: bool, name: str) -> str:
    other = {"soft": "hard", "hard": "soft"}[name]
    return f"a {name} limit" if on else f"a {other} limit"


def _stride(stride: int | None) -> str:
    return "no stride" if stride is None else f"stride {stride}"


def _goes_first(stride: int | None, than: int | None) -> bool:
    """Whether `stride` is preferred over `than`: a smaller stride has a larger share. A partition without a
    stride is not ordered by shares."""
    return stride != than and (stride is None or than is None or stride < than)
