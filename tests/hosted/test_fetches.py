# SPDX-License-Identifier: Apache-2.0
"""S7, instruction side: EL2's and guests' code is fetched through L1I and the shared level, from its own
memory; code that stays in L1I is fetched once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.machine.settings import settings_of

from .systems import built_from, domain

HYPERVISOR, WITNESS = 1, 2  # owners
STEPS = 20

pytestmark = [pytest.mark.req("S7"), pytest.mark.usefixtures("hosted_built")]


def run(directory: Path, *, steps: int = STEPS, code: bool = True, code_kib: int | None = None) -> HostedRun:
    """A task that wakes up each millisecond. `code`: size of the cores' L1I, or None."""
    params = {"step_us": 1000, "memory_kib": 16, "print_every": 0, "steps": steps}
    build = built_from(directory, domain("witness", "witness", [0], params=params), platform="zcu102")
    settings = json.loads(json.dumps(settings_of(build.plan.platform, seed=1, owners=3)))
    for one in settings["cores"]:
        if code_kib is not None:
            one["l1i"]["size_bytes"] = code_kib * 1024
        if not code:
            del one["l1i"]
    return run_hosted(build, settings=settings)


def core(run: HostedRun) -> dict[str, Any]:
    assert run.answer["ending"] == "off", run.answer["trouble"]
    found: dict[str, Any] = run.answer["cores"][0]
    return found


def asked_for(run: HostedRun, owner: int) -> int:
    return int(run.answer["levels"]["l2"]["owners"][owner]["accesses"])


def test_code_of_el2_and_of_a_guest_comes_from_memory_of_their_own(tmp_path: Path) -> None:
    """The run is compared with one without an L1I: the shared level has as many more accesses as lines were
    fetched."""
    fetched, free = run(tmp_path / "fetched"), run(tmp_path / "free", code=False)
    assert core(free)["events"]["l1i_refill"] == core(free)["stall_ps"]["fetch"] == 0
    refills = core(fetched)["events"]["l1i_refill"]
    more = {owner: asked_for(fetched, owner) - asked_for(free, owner) for owner in (HYPERVISOR, WITNESS)}
    assert more[HYPERVISOR] > 100, "what EL2 executes from its start on"
    assert more[WITNESS] > 10
    assert sum(more.values()) == pytest.approx(refills, rel=0.25), "and walks for them"
    assert core(fetched)["instructions"] == pytest.approx(core(free)["instructions"], rel=0.01)
    assert core(fetched)["stall_ps"]["fetch"] > 50_000 * refills / 2, "half of them or more from memory"


def test_code_that_stays_in_l1i_is_fetched_once(tmp_path: Path) -> None:
    """32 KiB hold all code that a wake-up executes at EL2 and in the guest; with 1 KiB it is fetched each
    time."""

    def of_a_step(code_kib: int) -> float:
        few = run(tmp_path / f"few-{code_kib}", code_kib=code_kib)
        many = run(tmp_path / f"many-{code_kib}", steps=3 * STEPS, code_kib=code_kib)
        more = int(core(many)["events"]["l1i_refill"]) - int(core(few)["events"]["l1i_refill"])
        return more / (2 * STEPS)

    assert of_a_step(32) < 1
    assert of_a_step(1) > 20
