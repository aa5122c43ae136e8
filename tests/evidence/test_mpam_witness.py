# SPDX-License-Identifier: Apache-2.0
"""M3, the witness of registers: each way in which a component can differ from the plan is found, with the
register, the PARTID and both values, and nothing else. Words are written here according to the manual (IHI
0099)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from bulkhead.config.mpam import Mpam
from bulkhead.evidence.mpam import check_mpam
from bulkhead.evidence.mpam_promise import DumpedRegister, MpamPromise, MpamWitness
from bulkhead.planning.mpam import ComponentSettings, MpamPlan, Partition, Settings

pytestmark = pytest.mark.req("M3")

CMAX, CMIN, CASSOC, CPBM = 0x108, 0x110, 0x118, 0x1000
MBW_MIN, MBW_MAX, WINWD, PBM, PROP, PRI, INTPARTID = 0x200, 0x208, 0x220, 0x2000, 0x500, 0x400, 0x600
TOP = 1 << 31  # SOFTLIM, HARDLIM, EN
HYPERVISOR, CONTROL, HOG = 1, 3, 4  # PARTIDs; the hog has two
NOBODYS = (0, 2, 6, 7)

CACHE: dict[str, Any] = {
    "cache": "l3",
    "portions": 40,
    "capacity": {"bits": 8, "maximum": True, "minimum": True, "soft": True},
    "associativity": {"bits": 5},
}
MEMORY: dict[str, Any] = {
    "memory": "dram",
    "bandwidth": {
        "bits": 8, "min": True, "max": True, "portions": 32, "proportional": True, "window": "20 us",
        "window_writable": True,
    },
    "priority": {"internal": 3, "downstream": 2, "zero_is_low": True},
}  # fmt: skip

# The requests, and the register contents computed by hand.
OF_CACHE = {
    HYPERVISOR: Settings(cache_portions=0xC0_0000_0000),
    CONTROL: Settings(cache_portions=0xFF, cmax=Fraction(1, 4), cmin=Fraction(1, 10)),
    HOG: Settings(cache_portions=0xFF00, cmax=Fraction(1, 2), cmax_soft=True, associativity=Fraction(1, 2)),
}
OF_MEMORY = {
    HYPERVISOR: Settings(),
    CONTROL: Settings(mbw_min=Fraction(1, 5), internal_priority=7, stride=3, window_us=50),
    HOG: Settings(mbw_max=Fraction(3, 10), mbw_max_hard=True, bandwidth_portions=0xF, downstream_priority=0),
}
OPEN_CACHE = {CMAX: 0xFF00, CMIN: 0x0100, CASSOC: 0xF800}
OPEN_MEMORY = {
    MBW_MIN: 0x0100,  # one step: a minimum of 0 is a known pitfall
    MBW_MAX: 0xFF00,
    PBM: 0xFFFF_FFFF,
    PROP: 0,
    WINWD: 20 << 8,
    PRI: 1 << 16 | 3,  # the middle of each
}
WORDS = {
    (0, HYPERVISOR): {CPBM: 0, CPBM + 4: 0xC0, **OPEN_CACHE},
    (0, CONTROL): {CPBM: 0xFF, CPBM + 4: 0, **OPEN_CACHE, CMAX: 0x3F00, CMIN: 0x1A00},
    (0, HOG): {CPBM: 0xFF00, CPBM + 4: 0, **OPEN_CACHE, CMAX: TOP | 0x7F00, CASSOC: 0x7800},
    (1, HYPERVISOR): OPEN_MEMORY,
    (1, CONTROL): {**OPEN_MEMORY, MBW_MIN: 0x3400, PROP: TOP | 2, PRI: 1 << 16 | 7, WINWD: 50 << 8},
    (1, HOG): {**OPEN_MEMORY, MBW_MAX: TOP | 0x4B00, PBM: 0xF, PRI: 3},
}


def owner_of(partid: int) -> int:
    """The owner whose settings it has: the hog has two PARTIDs, those without an owner have the hypervisor's
    settings."""
    return {CONTROL: CONTROL, HOG: HOG, HOG + 1: HOG}.get(partid, HYPERVISOR)


def promise_of(**component: Any) -> MpamPromise:
    made = {"name": "l3", "at": 0x2C000000, "version": "1.1", "resources": (CACHE, MEMORY), **component}
    section = {"partids": 8, "source": "a test", "components": (made,)}
    partitions = (
        Partition("hypervisor", HYPERVISOR),
        Partition("control", CONTROL),
        Partition("hog", HOG, 2),
    )
    settings = tuple(
        ComponentSettings("l3", ris, partid, of[owner_of(partid)])
        for ris, of in enumerate((OF_CACHE, OF_MEMORY))
        for partid in (HYPERVISOR, CONTROL, HOG, HOG + 1)
    )
    mpam = Mpam.model_validate(section)
    return MpamPromise(mpam, MpamPlan(partitions, settings))


Dump = dict[tuple[int, int, int], int]  # value by instance, PARTID, offset


def right() -> Dump:
    return {
        (ris, partid, offset): value
        for ris in (0, 1)
        for partid in range(8)
        for offset, value in WORDS[ris, owner_of(partid)].items()
    }


def check(dump: Dump, promise: MpamPromise | None = None, left_out: int = 0) -> MpamWitness:
    rows = [DumpedRegister(0, *place, value) for place, value in dump.items()]
    return check_mpam(promise or promise_of(), rows, left_out)


def test_registers_that_are_as_planned_hold() -> None:
    witness = check(right())
    assert witness.findings == []
    assert witness.as_json()["verdict"] == "held"
    assert (witness.registers_checked, witness.partids_checked) == (8 * (5 + 6), 16)


def test_an_empty_dump_proves_nothing() -> None:
    assert check({}).as_json()["verdict"] == "broken"
    assert not check_mpam(promise_of(), [], left_out=88).ok


@pytest.mark.parametrize(
    ("place", "value", "register", "expected", "found"),
    [
        # A neighbour's portions, fewer than planned, none; a second word.
        ((0, HOG, CPBM), 0xFFFF, "MPAMCFG_CPBM0", "0xFF00", "0xFFFF (0xFF of control)"),
        ((0, CONTROL, CPBM), 0x7F, "MPAMCFG_CPBM0", "0xFF", "0x7F"),
        ((0, CONTROL, CPBM), 0, "MPAMCFG_CPBM0", "0xFF", "0x0"),
        ((0, CONTROL, CPBM + 4), 0x80, "MPAMCFG_CPBM0", "0xFF", "0x80000000FF (0x8000000000 of hypervisor)"),
        # Limits one step above and one below the request; one that was not requested.
        ((0, CONTROL, CMAX), 0x4000, "MPAMCFG_CMAX", "at most 25 %", "25.3906 %"),
        ((0, CONTROL, CMAX), 0x3E00, "MPAMCFG_CMAX", "more than 24.6094 %", "24.6094 %"),
        ((0, CONTROL, CMAX), TOP | 0x3F00, "MPAMCFG_CMAX", "a hard limit", "a soft limit"),
        ((0, HOG, CMAX), 0x7F00, "MPAMCFG_CMAX", "a soft limit", "a hard limit"),
        ((1, CONTROL, MBW_MAX), 0xFE00, "MPAMCFG_MBW_MAX", "more than 99.6094 %", "99.6094 %"),
        ((0, HOG + 1, CASSOC), 0x8000, "MPAMCFG_CASSOC", "at most 50 %", "53.125 %"),
        ((1, HOG, MBW_MAX), TOP | 0x4C00, "MPAMCFG_MBW_MAX", "at most 30 %", "30.0781 %"),
        ((1, HOG, MBW_MAX), 0x4B00, "MPAMCFG_MBW_MAX", "a hard limit", "a soft limit"),
        # Guarantees below the request, above it, and those that were not requested.
        ((0, CONTROL, CMIN), 0x1900, "MPAMCFG_CMIN", "at least 10 %", "9.76562 %"),
        ((1, CONTROL, MBW_MIN), 0x3300, "MPAMCFG_MBW_MIN", "at least 20 %", "19.9219 %"),
        ((1, CONTROL, MBW_MIN), 0x3500, "MPAMCFG_MBW_MIN", "less than 20.3906 %", "20.7031 %"),
        ((1, HOG, MBW_MIN), 0, "MPAMCFG_MBW_MIN", "at least 0.390625 %", "0 %"),
        ((1, HOG, MBW_MIN), 0x8000, "MPAMCFG_MBW_MIN", "less than 0.78125 %", "50 %"),
        # The rest.
        ((1, HOG, PBM), 0x1F, "MPAMCFG_MBW_PBM0", "0xF", "0x1F"),
        ((1, CONTROL, PROP), 2, "MPAMCFG_MBW_PROP", "stride 3", "no stride"),
        ((1, CONTROL, PROP), TOP | 3, "MPAMCFG_MBW_PROP", "stride 3", "stride 4"),
        ((1, HOG, PROP), TOP, "MPAMCFG_MBW_PROP", "no stride", "stride 1"),
        ((1, CONTROL, WINWD), 0, "MPAMCFG_MBW_WINWD", "a window of 50 us", "none"),
        ((1, CONTROL, PRI), 1 << 16 | 6, "MPAMCFG_PRI", "internal urgency 7", "internal urgency 6"),
        ((1, HOG, PRI), 1 << 16 | 3, "MPAMCFG_PRI", "downstream urgency 0", "downstream urgency 1"),
        # A PARTID without an owner that has more than EL2's.
        ((0, 6, CPBM), 0x100, "MPAMCFG_CPBM0", "no more than the hypervisor's 0xC000000000", "0xC000000100"),
        ((1, 0, MBW_MIN), 0x200, "MPAMCFG_MBW_MIN", "no more than the hypervisor's 0.390625 %", "0.78125 %"),
        ((1, 7, PRI), 1 << 16 | 4, "MPAMCFG_PRI", "no more than the hypervisor's internal urgency 3",
         "internal urgency 4"),
        ((1, 7, PROP), TOP, "MPAMCFG_MBW_PROP", "no more than the hypervisor's no stride", "stride 1"),
    ],
)  # fmt: skip
def test_one_register_that_differs_is_found(
    place: tuple[int, int, int], value: int, register: str, expected: str, found: str
) -> None:
    witness = check(right() | {place: value})
    assert witness.as_json()["verdict"] == "broken"
    assert witness.findings_total == 1
    one = witness.findings[0]
    assert (one.component, one.instance, one.partid) == ("l3", *place[:2])
    assert (one.register, one.expected, one.found) == (register, expected, found)
    owner = {1: "hypervisor", 3: "control", 4: "hog", 5: "hog"}.get(place[1], "nobody")
    assert one.owner == owner
    assert f"PARTID {place[1]}" in one.text and register in one.text


def test_what_nobody_has_may_be_less_than_the_hypervisors() -> None:
    dump = right()
    dump |= {(0, partid, CPBM + 4): 0x40 for partid in NOBODYS}
    dump |= {(0, 2, CMAX): 0, (1, 6, MBW_MAX): 0x100, (1, 7, MBW_MIN): 0, (1, 0, PRI): 0}
    assert check(dump).findings == []


def test_unimplemented_bits_say_nothing() -> None:
    dump = right()
    dump[0, CONTROL, CMAX] |= 0xFF  # of 16 bits the upper eight are implemented
    dump[0, CONTROL, CPBM + 4] |= 0xFFFF_FF00  # of two words 40 bits
    dump[1, CONTROL, PRI] |= 0xFFF8
    assert check(dump).findings == []


def test_a_register_that_is_not_in_the_dump_is_found() -> None:
    dump = right()
    del dump[1, HOG, MBW_MAX]
    assert [(one.partid, one.register) for one in check(dump).findings] == [(HOG, "MPAMCFG_MBW_MAX")]
    gone = {place: value for place, value in right().items() if place[:2] != (0, CONTROL)}
    assert [(one.partid, one.instance) for one in check(gone).findings] == [(CONTROL, 0)]


def test_what_the_dump_had_no_room_for_may_be_nobodys_only() -> None:
    short = {place: value for place, value in right().items() if place[1] < 6}
    witness = check(short, left_out=22)
    assert witness.findings == [] and witness.as_json()["left_out"] == 22
    assert check({place: value for place, value in short.items() if place[1] != HOG}, left_out=44).findings


def test_many_findings_are_counted_and_few_are_listed() -> None:
    dump = right() | {(0, partid, offset): 0 for partid in range(8) for offset in (CPBM, CPBM + 4)}
    dump |= {(1, partid, MBW_MIN): 0xFF00 for partid in range(8)}
    dump |= {(1, partid, PBM): 0 for partid in range(8)} | {(1, partid, PRI): 0 for partid in range(8)}
    witness = check(dump)
    assert witness.findings_total > len(witness.findings) == 16


@pytest.mark.parametrize("zero_is_low", [True, False])
def test_the_urgent_end_of_priorities_is_the_components(zero_is_low: bool) -> None:
    priority = {**MEMORY["priority"], "zero_is_low": zero_is_low}
    promise = promise_of(resources=(CACHE, {**MEMORY, "priority": priority}))
    dump = right()
    if not zero_is_low:
        for partid in range(8):
            dump[1, partid, PRI] ^= 3 << 16 | 7  # the middle of 0 to 7 is 3 from the least urgent one
    assert check(dump, promise).findings == []
    dump[1, CONTROL, PRI] ^= 7
    assert [one.register for one in check(dump, promise).findings] == ["MPAMCFG_PRI"]


def narrowed(internal: dict[int, int]) -> Dump:
    """Six internal PARTIDs: rows of controls belong to them, INTPARTID belongs to each request PARTID."""
    dump = {place: value for place, value in right().items() if place[1] < 6}
    return dump | {
        (ris, partid, INTPARTID): 1 << 16 | internal.get(partid, HYPERVISOR)
        for ris in (0, 1)
        for partid in range(8)
    }


OWN_NUMBERS = {number: number for number in range(6)}


def test_narrowed_partids_are_judged_by_what_they_stand_for() -> None:
    promise = promise_of(internal_partids=6)
    assert check(narrowed(OWN_NUMBERS), promise).findings == []
    swapped = OWN_NUMBERS | {CONTROL: HOG, HOG: CONTROL}
    found = {(one.partid, one.register) for one in check(narrowed(swapped), promise).findings}
    assert {(CONTROL, "MPAMCFG_CPBM0"), (HOG, "MPAMCFG_CPBM0"), (HOG, "MPAMCFG_CMAX")} <= found


def test_two_owners_with_one_internal_partid_share_settings() -> None:
    promise = promise_of(internal_partids=6)
    found = check(narrowed(OWN_NUMBERS | {HOG: CONTROL}), promise).findings
    assert [one.found for one in found if one.register == "MPAMCFG_INTPARTID"] == ["3, that of PARTID 3"] * 2
    stray = narrowed(OWN_NUMBERS | {7: CONTROL})
    assert {one.owner for one in check(stray, promise).findings} == {"nobody"}
    dump = narrowed(OWN_NUMBERS)
    dump[0, CONTROL, INTPARTID] = CONTROL  # without INTERNAL
    assert [one.register for one in check(dump, promise).findings] == ["MPAMCFG_INTPARTID"]


def test_an_instance_of_monitors_alone_has_nothing_to_compare() -> None:
    monitors = {"memory": "dram", "bandwidth_monitors": {"count": 8}}
    promise = promise_of(resources=(CACHE, monitors))
    promise = replace(
        promise,
        plan=MpamPlan(
            promise.plan.partitions,
            tuple(replace(one, settings=Settings()) if one.ris else one for one in promise.plan.settings),
        ),
    )
    dump = {place: value for place, value in right().items() if place[0] == 0}
    assert check(dump, promise).findings == []
