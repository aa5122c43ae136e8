# SPDX-License-Identifier: Apache-2.0
"""Translation takes time: addresses of a hosted program are looked up in its core's TLBs, and on a miss the
hypervisor's tables are walked, through the caches (S1, S2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.machine.settings import settings_of
from bulkhead.package.build import Build

from .systems import built_from, domain

pytestmark = pytest.mark.usefixtures("hosted_built")

STEPS = 10
HYPERVISOR = 1  # owner of the tables
TLB_PAGES = 512  # of the second TLB of a Cortex-A53
LEVELS = 3  # of stage 2


def walker(directory: Path, pages: int, **keys: Any) -> Build:
    """Accesses this number of pages in order, repeatedly."""
    params = {"step_us": 1000, "memory_kib": 4 * pages, "print_every": 0, "steps": STEPS}
    memory = [{"at": 0x4000_0000, "size": "8 MiB"}]
    return built_from(directory, domain("witness", "witness", [0], params=params, memory=memory), **keys)


def core(run: HostedRun) -> dict[str, Any]:
    assert run.answer["ending"] == "off", run.answer["trouble"]
    found: dict[str, Any] = run.answer["cores"][0]
    return found


def test_pages_beyond_the_tlbs_are_walked_for_each_time(tmp_path: Path) -> None:
    """The least recently used entry is always the one that is needed next."""
    pages = TLB_PAGES * 3 // 2
    walks = core(run_hosted(walker(tmp_path, pages)))["events"]["l2_tlb_refill"]
    assert (STEPS - 1) * pages <= walks <= (STEPS + 3) * pages


def test_pages_within_the_tlbs_are_walked_for_once(tmp_path: Path) -> None:
    pages = TLB_PAGES // 2
    events = core(run_hosted(walker(tmp_path, pages)))["events"]
    assert pages <= events["l2_tlb_refill"] <= 3 * pages
    assert events["l1_tlb_refill"] >= STEPS * pages, "of whose ten entries none is the right one"


def test_memory_without_colors_is_walked_for_by_blocks(tmp_path: Path) -> None:
    """Stage 2 has blocks of 2 MiB there, which the main TLB keeps whole; coloring costs these blocks.

    The first level keeps them in pieces of 4 KiB.
    """
    pages = TLB_PAGES * 3 // 2
    events = core(run_hosted(walker(tmp_path, pages, isolation={"llc": "none"})))["events"]
    assert events["l2_tlb_refill"] < pages <= events["l1_tlb_refill"]


def test_a_walk_is_accesses_to_the_tables_and_time(tmp_path: Path) -> None:
    """The run is compared with one on a machine whose translation takes no time."""
    build = walker(tmp_path, TLB_PAGES * 3 // 2)
    usual = settings_of(build.plan.platform, seed=build.seed or 1, owners=3)
    walked = run_hosted(build, settings=usual)
    free = json.loads(json.dumps(usual))
    for one in free["cores"]:
        one["mmu"] = {}
    unwalked = run_hosted(build, settings=free)

    def busy_ps(run: HostedRun) -> int:
        return int(core(run)["clock_ps"] - core(run)["idle_ps"])

    def of_tables(run: HostedRun) -> int:
        return int(run.answer["levels"]["l2"]["owners"][HYPERVISOR]["accesses"])

    walks = core(walked)["events"]["l2_tlb_refill"]
    assert core(unwalked)["events"]["l2_tlb_refill"] == 0
    read = of_tables(walked) - of_tables(unwalked)
    assert read == pytest.approx(LEVELS * walks, rel=0.05), "stage 2 has no walk cache"
    waited = core(walked)["stall_ps"]["walk"]
    assert waited > 0
    assert busy_ps(walked) - busy_ps(unwalked) == pytest.approx(waited, rel=0.25)
