# SPDX-License-Identifier: Apache-2.0
"""core/'s policy in Python: its numbers are those of the headers, and its answers those of simple models."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkhead.mxu import hardware, native

ROOT = Path(__file__).parents[2]
LOADS_FIRST = settings(deadline=None)  # the first call builds and loads the module
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
ADDRESSES = st.integers(0, (1 << 27) - 1).map(lambda granule: granule * 32)


def members(header: str, enum: str) -> list[str]:
    """Members of an enumeration whose first member is 0 and whose others follow."""
    text = (ROOT / "core" / header).read_text()
    body = re.search(rf"enum {enum} {{(.*?)}};", text, re.DOTALL)
    assert body is not None
    plain = re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL)
    return [word.split("=")[0].strip().removeprefix("MXU_") for word in plain.split(",") if word.strip()]


@pytest.mark.parametrize(
    ("enum", "names"),
    [
        ("mxu_status", ("OK", "ENOHW", "EBUSY", "ENOMEM", "EINVAL", "EEXIST", "EMISMATCH", "ENOENT")),
        (
            "mxu_mechanism",
            (
                "BY_NOTHING",
                "BY_STATIC_REGION",
                "BY_DYNAMIC_REGION",
                "BY_LOCKED_ENTRY",
                "BY_OCM",
                "BY_LOCKED_WAY",
                "BY_COLOR",
            ),
        ),
        ("mxu_independence", ("DISTURBED", "IN_PART", "FULLY")),
    ],
)
def test_x9_numbers_are_those_of_the_header(enum: str, names: tuple[str, ...]) -> None:
    assert members("mxu.h", enum) == list(names)
    assert [getattr(native, name) for name in names] == list(range(len(names)))


def test_x9_resources_policies_rights_and_specifications_are_those_of_the_headers() -> None:
    resources = members("mxu.h", "mxu_resource")
    counted = resources[: resources.index("RESOURCES")]
    assert [getattr(native, name) for name in counted] == list(range(len(counted)))
    after = resources[resources.index("RESOURCES") + 1 :]
    assert [getattr(native, name) for name in after] == [native.RESOURCES + i for i in range(len(after))]
    policies = [name.lower().replace("_", "-") for name in members("mxu_eviction.h", "mxu_policy")]
    assert tuple(policies) == native.POLICIES
    text = (ROOT / "core/mxu.h").read_text() + (ROOT / "core/mxu_mpu.h").read_text()
    for word, flag in native.SPECS.items():
        assert re.search(rf"#define MXU_{word.upper()}\b[\s\\]+{flag}u", text), word
    for right, flag in (("READ", 1), ("WRITE", 2), ("EXECUTE", 4)):
        assert f"MXU_{right} = {flag}" in text
        letter = {"READ": "r", "WRITE": "w", "EXECUTE": "x"}[right]
        assert all((letter in word) == bool(value & flag) for word, value in native.RIGHTS.items())


def test_x9_tables_have_the_sizes_of_the_memory_managers() -> None:
    header = ROOT / "microkernel/manager/manager.h"
    if not header.is_file():
        pytest.skip("the microkernel is not in this tree")
    text = header.read_text()
    for name in ("MOST_RANGES", "MOST_NODES", "MOST_ALLOCATIONS"):
        assert re.search(rf"#define {name}\s+{getattr(hardware, name)}u", text), name


@LOADS_FIRST
@given(ADDRESSES, st.integers(1, 4096), st.integers(5, 32))
def test_x4_regions_cover_a_range_and_nothing_more(first: int, granules: int, most_bits: int) -> None:
    last = min(first + granules * 32, 1 << 32) - 1
    regions = native.mxu().regions(first, last, most_bits)
    at = first
    for low, high in regions:
        assert low == at and high - low < 1 << most_bits
        at = high + 1
    assert at == last + 1


@LOADS_FIRST
@given(st.integers(1, GIB))
def test_x4_what_is_said_to_fit_takes_one_region(nbytes: int) -> None:
    size, align, block = native.mxu().fit(nbytes)
    assert nbytes <= size < 2 * nbytes + 32
    at = block if size == block else align
    assert len(native.mxu().regions(at, at + size - 1, 32)) == 1


@LOADS_FIRST
@given(st.lists(st.tuples(st.integers(0, 4095), st.integers(0, 255), st.integers(1, 600)), max_size=6))
def test_x3_table_nodes_are_a_root_and_one_for_each_mib_in_pages(parts: list[tuple[int, int, int]]) -> None:
    spans, pages, end = [], set(), 0
    for section, page, count in sorted(parts):
        first = section * MIB + page * 4096
        last = first + count * 4096 - 1
        if first >= end and last < 1 << 32:
            spans.append((first, last))
            end = last + 1
            whole = range(-(-first // MIB), (last + 1) // MIB)
            pages |= {at // MIB for at in range(first, last, 4096)} - set(whole)
    bytes_needed = (16 * KIB + len(pages) * KIB) if spans else 0
    assert native.mxu().armv7a_table_bytes(spans) == bytes_needed


@LOADS_FIRST
@given(st.integers(0, 1 << 12), st.integers(1, 1 << 12))
def test_x5_locked_entries_are_sections_where_they_fit(first: int, pages: int) -> None:
    at, end = first * 4096, (first + pages) * 4096
    count = 0
    while at < end:
        step = MIB if at % MIB == 0 and end - at >= MIB else 4096
        at, count = at + step, count + 1
    assert native.mxu().locked_entries(first * 4096, first * 4096, pages * 4096, MIB | 4096) == count


def fifo_misses(accesses: list[int], slots: int, loaded: list[int]) -> int:
    """Misses with round robin, whatever is loaded before."""
    held, turn, misses = list(loaded), 0, 0
    for one in accesses:
        if one not in held:
            held[turn], turn, misses = one, (turn + 1) % slots, misses + 1
    return misses


@LOADS_FIRST
@given(st.data(), st.integers(1, 6))
def test_x8_round_robin_never_misses_more_often_than_admitted(data: st.DataObject, slots: int) -> None:
    ranges = data.draw(st.integers(1, 8))
    accesses = data.draw(st.lists(st.integers(0, ranges - 1), min_size=1, max_size=60))
    before = data.draw(st.permutations(range(-slots, ranges)))[:slots]
    changes = sum(a != b for a, b in pairwise(accesses))
    dynamic = native.mxu().Dynamic(slots, 0, 100)
    status, misses, cost, total = native.mxu().admit_job(
        [(ranges, 1, changes)], dynamic, 7, native.NO_BOUND - 1
    )
    assert status == native.OK
    assert fifo_misses(accesses, slots, list(before)) <= misses
    assert (cost, total) == (misses * 100, misses * 100 + 7)


def test_what_core_does_not_take_is_a_value_error() -> None:
    module = native.mxu()
    limits = module.Hardware()
    calls: tuple[Callable[[], object], ...] = (
        lambda: setattr(limits, "limits", [1]),
        lambda: limits.levels(ocm=4, way=0, color=0),
        lambda: module.Dynamic(17, 0, 1),
        lambda: module.Dynamic(1, 3, 1),
        lambda: module.regions(0, 31, 4),
        lambda: module.Account(limits).left(native.RESOURCES),
        lambda: module.armv7a_table_bytes([(4096, 8191), (0, 4095)]),
    )
    for wrong in calls:
        with pytest.raises(ValueError, match="out of range"):
            wrong()


@LOADS_FIRST
@given(st.lists(st.tuples(st.sampled_from([1, 2, 4, 8, 16, 20]), st.integers(1, 3), st.integers(1, 40))))
def test_x2_what_was_taken_is_given_back_and_never_more_than_there_is(
    asked: list[tuple[int, int, int]],
) -> None:
    module = native.mxu()
    limits = module.Hardware()
    limits.mmu = True
    limits.limits = [0, 4, 64 * KIB, 128 * KIB, 0, 3, 0]
    limits.levels(ocm=2, way=2, color=0)
    account = module.Account(limits)
    answers = []
    for spec, entries, nodes in asked:
        request = module.Request()
        request.spec, request.locked_entries, request.node_bytes = spec, entries, nodes * KIB
        status, answer = account.admit(request)
        if status == native.OK:
            answers.append(answer)
        else:
            assert status == native.ENOHW or (status == native.EBUSY and answer.needed > answer.left)
    for resource, limit in enumerate(limits.limits):
        taken = sum(answer.taken[resource] for answer in answers)
        if resource != native.REGIONS:
            assert account.left(resource) == limit - taken >= 0
    for answer in answers:
        account.release(answer)
    assert all(account.left(i) == limits.limits[i] for i in range(1, native.RESOURCES))
