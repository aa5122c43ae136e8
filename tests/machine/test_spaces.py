# SPDX-License-Identifier: Apache-2.0
"""Programs of experiments are translated: by blocks if memory is contiguous, by pages if it is colored, by
the platform's tables, with the time of their walks (S2, S7 'translation')."""

from __future__ import annotations

from typing import Any

import pytest

from bulkhead.machine.point import run_point
from bulkhead.machine.spaces import FIRST_ADDRESS, BadTranslation, identity_of, is_translated, runs_of
from bulkhead.results.components_run import CoreCounts

from ..platforms import platform

pytestmark = pytest.mark.usefixtures("workloads_built")

KIB = 1024
MIB = KIB * KIB
PAGE = 4096
MAIN_TLB = 256  # entries of rpi2's
FEW = 8  # walks: of text and tables


def reader(nbytes: int, **more: Any) -> dict[str, Any]:
    return {"name": "reader", "core": 0, "memory_bytes": nbytes, "kind": "read", "walks": 4, **more}


def core(part: dict[str, Any], on: str = "rpi2") -> CoreCounts:
    return run_point({"platform": on, "parts": [part]})["cores"][0]


def walks(part: dict[str, Any], on: str = "rpi2") -> int:
    return int(core(part, on)["events"]["l2_tlb_refill"])


def test_pages_that_follow_each_other_become_one_run() -> None:
    assert runs_of([0x8000, 0x9000, 0x20000, 0xA000], mapped=2 * MIB) == [
        (FIRST_ADDRESS, 0x8000, 0x2000),
        (FIRST_ADDRESS + 0x2000, 0x20000, 0x1000),
        (FIRST_ADDRESS + 0x3000, 0xA000, 0x1000),
    ]
    assert runs_of([0x200000, 0x201000], mapped=2 * MIB) == [(FIRST_ADDRESS, 0x200000, 2 * MIB)]
    assert identity_of([5, 0x3000, 0x3FFF], 0x1000) == [(0, 0, 0x1000), (0x3000, 0x3000, 0x1000)]


def test_contiguous_memory_is_walked_for_by_blocks_and_colored_memory_by_pages() -> None:
    """The cost of coloring: pages beyond the main TLB are walked for each time, blocks never again."""
    size = 2 * MAIN_TLB * PAGE
    pages = size // PAGE
    assert walks(reader(size)) <= FEW
    colored = core(reader(size, colors=[0, 1, 2, 3]))
    assert 4 * pages <= colored["events"]["l2_tlb_refill"] <= 4 * pages + FEW
    assert colored["stall_ps"]["walk"] > 4 * pages * 10_000, "each walk reads tables"


def test_pages_within_the_main_tlb_are_walked_for_once() -> None:
    pages = MAIN_TLB // 2
    assert pages <= walks(reader(pages * PAGE, colors=[0, 1, 2, 3])) <= pages + FEW
    assert walks(reader(pages * PAGE, translation="pages")) == pytest.approx(pages, abs=FEW)


def test_without_translation_there_are_no_walks_and_no_tables() -> None:
    free = core(reader(2 * MIB, colors=[0, 1], translation="none"))
    assert free["events"]["l1_tlb_refill"] == free["stall_ps"]["walk"] == 0


def test_what_cannot_be_translated_so_is_refused() -> None:
    board = platform("rpi2")
    assert is_translated(board, reader(PAGE))
    assert not is_translated(platform("stm32f767"), reader(PAGE)), "it has an MPU"
    with pytest.raises(BadTranslation, match="'huge' is not one of"):
        is_translated(board, reader(PAGE, translation="huge"))
    with pytest.raises(BadTranslation, match="'far' are neither"):
        is_translated(board, reader(PAGE, tables="far"))


def test_every_program_has_the_walk_that_a_fact_is_measured_with() -> None:
    """Of two levels on the Cortex-A9: what a flushed TLB costs a chase, each page beyond them costs."""
    chase = {"kind": "chase", "instructions": 1, "translation": "pages", "tables": "uncached"}
    flushed = core(reader(PAGE, **chase, flush_tlb=True), "zynq7020")
    per_walk = flushed["stall_ps"]["walk"] / flushed["events"]["l2_tlb_refill"]
    many = core(reader(1 * MIB, **chase), "zynq7020")
    assert many["events"]["l2_tlb_refill"] >= 4 * 256
    assert many["stall_ps"]["walk"] / many["events"]["l2_tlb_refill"] == pytest.approx(per_walk, rel=0.2)


@pytest.mark.parametrize("colors", [None, [0, 1, 2, 3]])
def test_workloads_are_translated_too(colors: list[int] | None) -> None:
    part = {"name": "latency", "workload": "latency", "core": 0, "memory_bytes": 4 * MIB, "colors": colors}
    part["params"] = {"size_kib": 2048, "iterations": 3}
    found = core(part)
    if colors is None:
        assert found["events"]["l2_tlb_refill"] <= 4 * FEW
    else:
        assert found["events"]["l2_tlb_refill"] > 3 * 512
        assert found["stall_ps"]["walk"] > 0


def test_the_same_job_gives_the_same_run() -> None:
    part = reader(MIB, colors=[0, 1], shuffled=True)
    assert run_point({"platform": "rpi2", "parts": [part]}) == run_point(
        {"platform": "rpi2", "parts": [part]}
    )
