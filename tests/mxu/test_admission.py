# SPDX-License-Identifier: Apache-2.0
"""Admission of whole systems: promises fit the hardware for any requests, and domains are separate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkhead.admission.crosscheck_components import check_components
from bulkhead.mxu import native
from bulkhead.mxu.admit import admit
from bulkhead.mxu.costs import refill_cycles, refill_ns
from bulkhead.mxu.model import MxuAdmission, Served

from .systems import Json, admitted, board, checked, component, memory, parsed, system

KIB = 1 << 10
MOST_REGIONS, SYSTEM_REGIONS = 8, 2
MPU, MMU = "stm32f767", "zynq7020"


def of(found: MxuAdmission, component_name: str, name: str) -> Served:
    return next(one for one in found.served if (one.component, one.name) == (component_name, name))


@st.composite
def systems(draw: st.DrawFn, platform: str) -> Json:
    words = st.lists(st.sampled_from(sorted(native.SPECS)), unique=True, max_size=2)
    components = []
    for number in range(draw(st.integers(1, 4))):
        parts: list[Json] = [memory("all", 8 * KIB, shared="all")] if draw(st.booleans()) else []
        for part in range(draw(st.integers(0, 6))):
            size = draw(st.integers(1, 64)) * draw(st.sampled_from([256, KIB, 16 * KIB, 32 * KIB]))
            parts.append(memory(f"m{part}", size, *draw(words)))
        components.append(component(f"c{number}", *parts, spec=draw(words)))
    hardware: dict[str, Any] = {
        "ocm": draw(st.integers(1, 8)) * 8 * KIB,
        "locked_ways": draw(st.integers(0, 2)),
    }
    if platform == MPU:
        hardware = {"eviction": draw(st.sampled_from(native.POLICIES))}
    return system(platform, *components, hardware=hardware)


def apart(found: MxuAdmission) -> None:
    """X2: components have no byte in common except shared memory, and no allocations overlap."""
    taken: list[Served] = []
    for one in found.served:
        for other in taken:
            same = one.shared is not None and one.shared == other.shared
            assert same or one.at + one.nbytes <= other.at or other.at + other.nbytes <= one.at, (one, other)
            assert not same or (one.at, one.nbytes) == (other.at, other.nbytes)
        taken.append(one)
    frames = found.checker.kernel.frames
    assert all(frames.at <= one.at and one.at + one.nbytes <= frames.end for one in taken)


def answered_once(found: MxuAdmission, tree: Json) -> None:
    """Each allocation of the file is served, or refused with a finding that names it."""
    for index, one in enumerate(tree["components"]):
        for number, part in enumerate(one["memory"]):
            path = ("components", index, "memory", number)
            served = [entry for entry in found.served if entry.path == path]
            refused = [finding for finding in found.findings if finding.path[:4] == path]
            assert len(served) + len(refused) == 1
            assert all(f"'{one['name']}.{part['name']}'" in finding.cause for finding in refused)


@pytest.mark.req("X2")
@settings(deadline=None, max_examples=60)
@given(systems(MPU))
def test_x2_static_regions_leave_a_dynamic_one_in_each_component(tree: Json) -> None:
    read = parsed(tree)
    assert check_components(read, board(MPU)) == []
    found = admit(read, board(MPU))
    apart(found)
    answered_once(found, tree)
    for one in read.components:
        own = found.of(one.name)
        static = sum(entry.ranges for entry in own if entry.is_static)
        assert SYSTEM_REGIONS + static + found.slots[one.name] == MOST_REGIONS
        assert found.slots[one.name] >= 1
    for entry in found.served:
        wants = "deterministic" in entry.spec
        assert entry.is_static == wants and entry.is_dynamic != wants
        assert entry.independence == native.FULLY
        assert entry.cost is not None and entry.cost.cycles is not None
        assert (entry.cost.cycles == 0) == wants
        assert entry.cost.cycles % refill_cycles(board(MPU)) == 0


@pytest.mark.req("X2")
@settings(deadline=None, max_examples=60)
@given(systems(MMU))
def test_x2_entries_ocm_and_ways_are_never_promised_twice(tree: Json) -> None:
    read = parsed(tree)
    assert check_components(read, board(MMU)) == []
    found = admit(read, board(MMU))
    apart(found)
    answered_once(found, tree)
    limits = {
        native.LOCKED_ENTRIES: 4,
        native.OCM_BYTES: tree["hardware"]["ocm"],
        native.WAY_BYTES: tree["hardware"]["locked_ways"] * 64 * KIB,
    }
    for one in found.resources:
        assert one.left == one.limit - sum(amount for _, amount in one.holders) or one.number == native.FRAMES
        assert one.limit == limits.get(one.number, one.limit)
        assert one.left >= 0
    for entry in found.served:
        flags = native.spec_flags(entry.spec)
        if flags & (native.SPECS["deterministic"] | native.SPECS["l1"]):
            assert entry.mechanism == native.BY_LOCKED_ENTRY and entry.entries > 0
        elif flags:
            assert entry.mechanism in (native.BY_OCM, native.BY_LOCKED_WAY)
        else:
            assert entry.mechanism == native.BY_NOTHING
        assert entry.cost is not None and (entry.cost.cycles is None) == (not flags)
    assert sum(entry.entries for entry in found.served) <= limits[native.LOCKED_ENTRIES]


@pytest.mark.req("X9")
@settings(deadline=None, max_examples=30)
@given(systems(MMU))
def test_x9_without_promises_nothing_is_refused_but_for_lack_of_memory(tree: Json) -> None:
    for one in tree["components"]:
        one["spec"] = []
        for part in one["memory"]:
            part["spec"] = []
    assert admit(parsed(tree), board(MMU)).findings == ()


@pytest.mark.req("X8")
def test_x8_a_phase_counts_its_regions_and_the_components_data(tmp_path: Path) -> None:
    parts = [memory(name, "4 KiB") for name in ("one", "two", "three")]
    phases = [{"ranges": ["one"]}, {"ranges": ["one", "two"]}, {"ranges": ["stack"]}]
    task = component("task", *parts, period="1 ms", wcet="10 us", phases=phases)
    (job,) = admitted(tmp_path, system(MPU, task)).jobs
    assert [phase.ranges for phase in job.phases] == [2, 3, 1]  # `data` is dynamic, the stack is not
    assert job.misses == 2 + 3 + 1
    assert job.cost_ns == 6 * refill_ns(board(MPU)) and job.wcet_with_misses_ns == 10_000 + job.cost_ns
    (quiet,) = admitted(tmp_path, system(MPU, {**task, "spec": "deterministic"})).jobs
    assert quiet.misses == 1 + 2


@pytest.mark.req("X8")
def test_x8_an_allocation_of_several_regions_counts_each(tmp_path: Path) -> None:
    task = component("task", memory("tree", "256 KiB"), period="1 ms", phases=[{"ranges": ["tree"]}])
    hardware = {"region": "64 KiB"}
    found = admitted(tmp_path, system(MPU, task, hardware=hardware))
    assert of(found, "task", "tree").ranges == 4
    assert found.jobs[0].misses == 4 + 1


@pytest.mark.req("X8")
def test_x8_a_policy_without_a_bound_is_refused_and_told_how_many_ranges_it_keeps(tmp_path: Path) -> None:
    parts = [memory(name, "4 KiB") for name in ("one", "two")]
    task = component("task", *parts, period="1 ms", phases=[{"ranges": ["one", "two"]}])
    assert admitted(tmp_path, system(MPU, task)).jobs[0].misses == 3
    _, problems = checked(tmp_path, system(MPU, task, hardware={"eviction": "random"}))
    assert [(one.key, one.code) for one in problems] == [("components[0].phases[0]", "misses-unbounded")]
    assert "5, of which random is sure to keep 2" in problems[0].cause
    assert problems[0].allowed is not None and "at most 2" in problems[0].allowed
    plru = admitted(tmp_path, system(MPU, task, hardware={"eviction": "bit-plru"}))
    assert plru.jobs[0].misses == 3  # fewer ranges than slots


@pytest.mark.req("X9")
def test_x9_a_refusal_names_range_specification_and_who_has_what_is_used_up(tmp_path: Path) -> None:
    greedy = component("greedy", *(memory(f"m{i}", "4 KiB", "deterministic") for i in range(5)))
    modest = component("modest", memory("one", "4 KiB", "deterministic"))
    _, problems = checked(tmp_path, system("mps2-an500", modest, greedy))
    (problem,) = problems
    assert (problem.key, problem.code) == ("components[1].memory[4].spec", "mxu-ebusy")
    assert "'greedy.m4' (4 KiB) [deterministic] takes 1 static region" in problem.cause
    assert "the system (2), stack (1), m0 (1), m1 (1), m2 (1), m3 (1), kept for misses (1)" in problem.cause
    assert "modest" not in problem.cause  # each component has its own image
    first = component("first", memory("one", "3 MiB", "l1"))
    second = component("second", memory("two", "2 MiB", "deterministic"))
    _, problems = checked(tmp_path, system(MMU, first, second))
    assert "takes 2 locked TLB entries, and 1 of 4 are left: used up by first.one (3)" in problems[0].cause


@pytest.mark.req("X9")
def test_x9_table_nodes_go_to_ways_when_the_ocm_is_used_up(tmp_path: Path) -> None:
    parts = [component(name, memory("m", "64 KiB", "l2")) for name in ("first", "second")]
    found = admitted(tmp_path, system(MMU, *parts, hardware={"ocm": "32 KiB", "locked_ways": 1}))
    assert of(found, "first", "m").mechanism == native.BY_OCM
    assert of(found, "second", "m").mechanism == native.BY_LOCKED_WAY


@pytest.mark.req("X9")
def test_x9_costs_are_made_of_the_platforms_figures(tmp_path: Path) -> None:
    task = component(
        "task", memory("l", "1 MiB", "deterministic"), memory("o", "64 KiB", "l2"), memory("p", "1 MiB")
    )
    found = admitted(tmp_path, system(MMU, task))
    tlb, l2 = board(MMU).cores.tlb, board(MMU).caches["l2"]
    assert tlb is not None and tlb.l2 is not None and l2.latency is not None
    costs = [of(found, "task", name).cost for name in "lop"]
    assert costs[0] is not None and costs[0].cycles == tlb.l2.hit
    assert costs[1] is not None and costs[1].cycles == tlb.l2.hit + tlb.walk + tlb.levels * l2.latency
    assert costs[1].ns == -(-costs[1].cycles * 1000 // 767)
    assert any("[assumed: latency" in source for source in costs[1].sources)
    assert costs[2] is not None and costs[2].cycles is None and "alone 428 cycles" in costs[2].made_of


@pytest.mark.req("X9")
def test_x9_two_ranges_side_by_side_cost_an_access_two_refills(tmp_path: Path) -> None:
    base = board("mps2-an500").microkernel
    assert base is not None
    at = base.frames.at + (1 << 20)
    beside = component("beside", memory("a", "8 KiB", at=at), memory("b", "8 KiB", at=at + 8 * KIB))
    gap = component("gap", memory("a", "8 KiB", at=at), memory("b", "8 KiB", at=at + 16 * KIB))
    for task, refills in ((beside, 2), (gap, 1)):
        cost = of(admitted(tmp_path, system("mps2-an500", task)), task["name"], "a").cost
        assert cost is not None and cost.cycles == refills * 99


@pytest.mark.req("X9")
def test_x9_fixed_addresses_come_first_wherever_they_stand_in_the_file(tmp_path: Path) -> None:
    free = component("free", memory("m", "16 KiB"))
    at = of(admitted(tmp_path, system(MPU, free)), "free", "m").at
    both = system(MPU, free, component("fixed", memory("m", "16 KiB", at=at)))
    found = admitted(tmp_path, both)
    assert of(found, "fixed", "m").at == at != of(found, "free", "m").at


@pytest.mark.req("X9")
@pytest.mark.parametrize(("platform", "given_kib"), [(MPU, 25), (MMU, 28 + 80)])
def test_x9_what_the_kernel_keeps_of_components_is_no_memory_that_is_left(
    platform: str, given_kib: int, tmp_path: Path
) -> None:
    """The kernel's ranges and table nodes of two components and the scheduler."""
    found = admitted(tmp_path, system(platform, component("one"), component("two")))
    row = next(one for one in found.resources if one.number == native.FRAMES)
    assert row.limit - row.left - sum(amount for _, amount in row.holders) == 3 * given_kib * KIB


@pytest.mark.req("X4")
def test_x4_a_heap_can_be_dynamic_beside_static_variables(tmp_path: Path) -> None:
    of_component = {"heap": "64 KiB", "spec": "deterministic"}
    both = admitted(tmp_path, system(MPU, component("one", **of_component)))
    assert of(both, "one", "data").is_static
    assert of(both, "one", "heap").is_static
    half = admitted(tmp_path, system(MPU, component("one", **of_component, heap_spec=[])))
    assert of(half, "one", "data").is_static
    assert not of(half, "one", "heap").is_static


@pytest.mark.req("X1")
def test_x1_memory_is_shared_by_those_who_name_it_alike_and_counted_once(tmp_path: Path) -> None:
    first = component("first", memory("a", "8 KiB", shared="left"), memory("b", "8 KiB", shared="right"))
    second = component("second", memory("b", "8 KiB", shared="right"), memory("c", "8 KiB", shared="third"))
    found = admitted(tmp_path, system(MPU, first, second))
    places = [
        of(found, *key).at for key in (("first", "a"), ("first", "b"), ("second", "b"), ("second", "c"))
    ]
    assert places[1] == places[2] and len(set(places)) == 3
    row = dict(next(one for one in found.resources if one.number == native.FRAMES).holders)
    assert row["first"] - row["second"] == 8 * KIB


@pytest.mark.req("X5")
def test_x5_table_nodes_of_a_component_move_together_and_all_its_ranges_say_so(tmp_path: Path) -> None:
    small = memory("small", "64 KiB", "l2", at=0x01800000)
    hardware = {"ocm": "17 KiB", "locked_ways": 1}
    alone = admitted(tmp_path, system(MMU, component("task", small, data="4 KiB"), hardware=hardware))
    assert of(alone, "task", "small").mechanism == native.BY_OCM
    other = memory("other", "64 KiB", "l2", at=0x01900000)
    both = admitted(tmp_path, system(MMU, component("task", small, other), hardware=hardware))
    assert {of(both, "task", name).mechanism for name in ("small", "other")} == {native.BY_LOCKED_WAY}


@pytest.mark.req("X4")
def test_x4_a_static_range_that_leaves_an_access_too_few_dynamic_regions_is_refused_for_that(
    tmp_path: Path,
) -> None:
    at = 0x60800000
    beside = [memory("front", "8 KiB", at=at), memory("back", "8 KiB", at=at + 8 * KIB)]
    statics = [memory(f"s{i}", "4 KiB", "deterministic") for i in range(4)]
    apart_by_a_gap = [memory("front", "8 KiB", at=at), memory("back", "8 KiB", at=at + 16 * KIB)]
    quiet = {"spec": "deterministic", "data": "4 KiB"}
    admitted(tmp_path, system(MPU, component("task", *apart_by_a_gap, *statics[:3], **quiet)))
    _, problems = checked(tmp_path, system(MPU, component("task", *beside, *statics[:3], **quiet)))
    (problem,) = problems
    assert problem.key == "components[0].memory[4].spec"
    assert "can need 2 dynamic regions at once, and round-robin is sure to keep only 1" in problem.cause
    _, problems = checked(tmp_path, system(MPU, component("task", *apart_by_a_gap, *statics, **quiet)))
    assert ["takes 1 static region, and 0 of 8 are left" in one.cause for one in problems] == [True]
