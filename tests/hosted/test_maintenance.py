# SPDX-License-Identifier: Apache-2.0
"""T5: maintenance that a domain broadcasts costs others no more than its budget, and nothing if the domain
has one core; the hypervisor's work for it uses the domain's own CPU time (T4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine.hosted import run_hosted
from bulkhead.run.status import SystemStatus, read_status

from .systems import MS, built_from, domain

ATTACKER, OTHER = 0, 1
CPU_SHARE = 0.3
FOR_MS = 40
BROADCAST_EVENTS = 3 + 100  # of translations and of instruction caches, as platforms/qemu-virt.yaml has them
pytestmark = [pytest.mark.req("T5"), pytest.mark.usefixtures("hosted_built")]


def attacker(cpus: list[int], **keys: Any) -> dict[str, Any]:
    params = {"attack": 10, "storm_after_us": 1000}
    return domain("attacker", "hostile", cpus, params=params, **{"maintenance": "trapped", **keys})


def run(directory: Path, *domains: dict[str, Any], **keys: Any) -> SystemStatus:
    keys = {"isolation": {"premap": "all"}, **keys}
    build = built_from(directory, *domains, for_ns=FOR_MS * MS, **keys)
    done = run_hosted(build, frames=build.status_pages)
    assert done.answer["ending"] == "off", done.answer["trouble"]
    status = read_status(build.layout, [done.frames[pa] for pa in build.status_pages])
    assert isinstance(status, SystemStatus), status
    return status


def exits(status: SystemStatus, core: int) -> dict[str, int]:
    return status.cores[core].exits


def test_t5_a_domain_on_one_core_broadcasts_nothing(tmp_path: Path) -> None:
    seen = exits(run(tmp_path, domain("other", "busy", [0]), attacker([1])), 1)
    assert seen["tlb_maintenance"] > 1000
    assert seen["cache_maintenance"] > 1000
    assert "tlb_broadcast" not in seen and "cache_broadcast" not in seen


def test_t5_a_domain_on_several_cores_broadcasts_what_its_budget_allows(tmp_path: Path) -> None:
    """The limit is what its budget can pay, in each period that has begun."""
    events, period_ms = 8000, 2
    budget = {"events": events, "period": f"{period_ms} ms", "counts": "refills"}
    seen = exits(run(tmp_path, domain("other", "busy", [0]), attacker([1, 2], bandwidth=budget)), 1)
    both = seen["tlb_broadcast"] + seen["cache_broadcast"]
    most = 2 * (FOR_MS // period_ms + 1) * (events // BROADCAST_EVENTS + 1)
    assert most / 4 < both <= most
    free = exits(run(tmp_path / "free", domain("other", "busy", [0]), attacker([1, 2])), 1)
    assert free["tlb_broadcast"] + free["cache_broadcast"] > 4 * most, "it is the budget that holds it"


@pytest.mark.req("T4")
def test_t4_what_is_decided_about_a_broadcast_is_of_the_time_of_who_sent_it(tmp_path: Path) -> None:
    """A reservation of CPU time cannot be extended by operations that make EL2 decide again."""
    status = run(
        tmp_path,
        attacker(
            [1, 2],
            priority=0,
            cpu={"budget": f"{int(CPU_SHARE * 1000)} us", "period": "1 ms"},
            bandwidth={"events": 400_000, "period": "2 ms", "counts": "refills"},
        ),
        domain("other", "busy", [1], priority=1),
    )
    core = status.cores[1]
    share = [vcpu.run_ns / (FOR_MS * MS) for vcpu in core.shared]
    assert exits(status, 1)["tlb_broadcast"] > 500
    assert share[ATTACKER] < CPU_SHARE * 1.02
    assert share[OTHER] > (1 - CPU_SHARE) * 0.965, "the rest is the other's, but for the switches"
