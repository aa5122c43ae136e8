# SPDX-License-Identifier: Apache-2.0
"""Performance monitors under the hosted hypervisor: EL2's counters stop a guest at their budget (B1, the part
of the hardware), those below belong to the guest, or trap."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.machine.hosted import HostedRun, ensure_hosted, run_hosted
from bulkhead.machine.settings import settings_of
from bulkhead.package.build import Build

from .systems import MS, built_from, domain

# tests/hosted/el2_budget.c: budgets of cores 0 to 3, and the number of checks of each.
BUDGETS = (100, 1000, 5000, 250)
OVERFLOWS = 50
LINE = re.compile(r"budget (\d+): (\d+) overflows, seen (\d+) to (\d+) events later")


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with the hypervisor with budgets, and the guests, for the builder."""
    ensure_hosted()
    ensure_built(["host"], ["hosted_hypervisor_budget"])
    directory = tmp_path_factory.mktemp("budget")
    (directory / "hypervisor").symlink_to(build_dir() / "host" / "hosted-budget" / "hypervisor")
    (directory / "guests").symlink_to(build_dir() / "host" / "hosted" / "guests")
    return directory


def interrupted_after(latency_ps: int, build: Build) -> HostedRun:
    settings = settings_of(build.plan.platform, owners=3)
    settings["signals"]["interrupt_ps"] = latency_ps
    run = run_hosted(build, settings=settings)
    assert run.answer["ending"] == "off", run.answer["trouble"]
    return run


@pytest.mark.parametrize("latency_ps", [0, 2_000_000])
def test_a_guest_is_stopped_behind_its_budget_by_what_it_causes_in_the_latency(
    tmp_path: Path, counting: Path, latency_ps: int
) -> None:
    """B1: on four cores at once, each with its own budget; two runs are equal."""
    hog = domain("hog", "hog", [0, 1, 2, 3], params={"buffer_kib": 2048})
    build = built_from(tmp_path, hog, target_dir=counting, for_ns=80 * MS)
    run = interrupted_after(latency_ps, build)
    seen = {
        int(budget): (int(n), int(least), int(most)) for budget, n, least, most in LINE.findall(run.console)
    }
    assert sorted(seen) == sorted(BUDGETS), run.console
    hz = build.plan.platform.cores.frequency
    assert hz is not None
    for counts, budget in zip(run.answer["cores"], BUDGETS, strict=True):
        times, least, most = seen[budget]
        executed_ps = counts["cycles"] * 10**12 / hz
        later = latency_ps * counts["events"]["l2d_refill"] / executed_ps  # at its mean rate
        assert times == OVERFLOWS
        assert 0 <= least <= most
        assert least <= later + 1, "not all are later than that"
        assert later - 1 <= most <= 2 * later + 12, "and what the entry to EL2 itself fetches"
    assert interrupted_after(latency_ps, build).digest == run.digest


def test_the_counters_below_are_the_guests(tmp_path: Path, counting: Path) -> None:
    """HPMN is five of six; they count at EL1."""
    user = domain("user", "crash", [1], params={"kind": 5})
    run = run_hosted(built_from(tmp_path, user, target_dir=counting))
    counted = re.search(r"crash: (\d+) counters, (\d+) instructions", run.console)
    assert counted is not None, run.console
    counters, instructions = map(int, counted.groups())
    assert counters == 5
    assert 2000 < instructions < 20000, "a loop of a thousand rounds"


def test_without_any_they_are_undefined(tmp_path: Path) -> None:
    ensure_hosted()
    run = run_hosted(built_from(tmp_path, domain("user", "crash", [1], params={"kind": 5})))
    assert "undefined" in run.console
    assert "counters" not in run.console
