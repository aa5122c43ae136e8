# SPDX-License-Identifier: Apache-2.0
"""The emulated Cortex-A9's images on the simulated Zynq-7020 (X5, X6).

They print the same as on the emulator, and locked entries stay, which an emulator cannot show.
"""

from __future__ import annotations

import re

import pytest

from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.machine import armv7
from tests.microkernel.core_names import MECHANISMS, STATUSES
from tests.microkernel.harness import ZYNQ, ZYNQ_MACHINE, Board, Output, request_of, run, simulated

pytestmark = pytest.mark.emulator

ENDS = {
    "first": "after two ticks",
    "apart": "executor killed",
    "ranges": "many killed",
    "asking": "asker: done",
    "heap": "heap killed",
    "calls": "clean the cache",
    "kinds": "owner killed",
    "turns": "dispatch of itself",
}
CLOCK = re.compile(r"(clock of .* = )\d+")


def without_clocks(board: Board, system: str) -> list[str]:
    return [CLOCK.sub(r"\1", line) for line in run(board, system, ENDS[system]).lines]


@pytest.mark.req("X6", "X8")
@pytest.mark.parametrize("system", ENDS)
def test_a_system_prints_what_it_prints_on_the_emulator(system: str) -> None:
    assert simulated(ZYNQ_MACHINE, system, ENDS[system]).answer["not_implemented"] == []
    expected, found = without_clocks(ZYNQ, system), without_clocks(ZYNQ_MACHINE, system)
    if system == "apart":  # the victim counts as long as it may run
        assert set(found) == set(expected)
    else:
        assert found == expected


def locked() -> Output:
    return run(ZYNQ_MACHINE, "locked", "locker: done")


@pytest.mark.req("X5")
def test_one_lockable_entry_maps_a_page_a_large_page_or_a_supersection() -> None:
    assert [locked().value("locker", f"a {size}") for size in ("page", "large page", "supersection")] == [
        1
    ] * 3
    assert locked().value("locker", "entries left") == 1
    entries = simulated(ZYNQ_MACHINE, "locked", "locker: done").answer["locked"]
    assert [entry["size_bytes"] for entry in entries] == [4 << 10, 64 << 10, 16 << 20]


@pytest.mark.req("X5")
@pytest.mark.parametrize("after", ["flushed", "evicted"])
def test_a_locked_translation_stays_where_another_one_is_walked_for(after: str) -> None:
    """An access to locked memory waits only for the cycles of a hit in the main TLB."""
    hit = locked().value("locker", "main TLB, at first, locked")
    assert hit > 0
    assert locked().value("locker", f"walk, {after}, locked") == 0
    assert locked().value("locker", f"main TLB, {after}, locked") == hit
    assert locked().value("locker", f"walk, {after}, other") > 2 * hit
    assert locked().value("locker", f"main TLB, {after}, other") == 0


@pytest.mark.req("X5")
@pytest.mark.parametrize("size", ["large page", "supersection"])
def test_any_page_of_a_locked_mapping_is_translated_by_its_entry(size: str) -> None:
    assert locked().value("locker", f"walk, evicted, in a {size}") == 0
    assert locked().value("locker", f"main TLB, evicted, in a {size}") > 0


@pytest.mark.req("X5")
def test_table_nodes_in_a_locked_way_are_read_at_the_speed_of_the_outer_cache() -> None:
    """A walk takes two reads that hit there and its own cycles, whatever was cached before."""
    found = run(ZYNQ_MACHINE, "nodes", "walker: done")
    assert MECHANISMS[found.value("walker", "mechanism")] == "MXU_BY_LOCKED_WAY"
    assert STATUSES[found.value("walker", "placed")] == "MXU_OK"
    path = platform_path("zynq7020")
    assert path is not None
    platform = load_platform(path)[0]
    assert platform is not None
    tlb, outer = platform.cores.tlb, platform.caches["l2"]
    assert tlb is not None and outer.latency is not None
    bound = tlb.walk + tlb.levels * outer.latency
    assert found.value("walker", "walk, placed") == bound
    assert found.value("walker", "walk, plain") > bound


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("peripherals_hz", 0, "core.peripherals_hz"),
        ("interrupts", 33, "core.interrupts"),
        ("outer_cache", {"at": 0xF8F02000, "level": "l9"}, "core.outer_cache.level"),
        ("peripherals_at", None, "the request is not understood"),
    ],
)
def test_a_core_that_cannot_be_is_refused(key: str, value: object, reason: str) -> None:
    request = request_of(ZYNQ_MACHINE, "first", "hello: runs")
    armv7.ensure_armv7()
    request["core"][key] = value
    with pytest.raises(armv7.Armv7NotRun, match=reason):
        armv7.run(request)
