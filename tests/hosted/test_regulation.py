# SPDX-License-Identifier: Apache-2.0
"""Kinds of budgets and the dynamic regulators under the hosted hypervisor (B3 to B7): a writer that bypasses
the caches is limited, and bandwidth that the real-time domain leaves is not wasted."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.machine.hosted import run_hosted
from bulkhead.planning.regulation import BY_TRAFFIC, DYNAMIC
from bulkhead.run.status import BudgetStatus, SystemStatus, read_status

from .systems import MS, built_from, domain, said

FOR_MS = 20
LINE = 64
PERIODS_PER_S = 1000


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    ensure_built(
        ["host"], ["hosted_run", "hosted_guest_membomb", "hosted_guest_latency", "hosted_guest_tuner"]
    )


@dataclass(frozen=True)
class Seen:
    status: SystemStatus
    answer: dict[str, Any]

    def budget(self, core: int) -> BudgetStatus:
        found = next(one.budget for one in self.status.cores if one.core == core)
        assert found is not None
        return found

    def instructions(self, core: int) -> int:
        return int(self.answer["cores"][core]["instructions"])

    def lines(self, core: int) -> int:
        """Lines moved between the caches and the DRAM because of this core."""
        return int(self.answer["cores"][core]["events"]["bus_access"])


def run(directory: Path, *domains: dict[str, Any], **keys: Any) -> Seen:
    build = built_from(directory, *domains, for_ns=FOR_MS * MS, **keys)
    done = run_hosted(build, frames=build.status_pages)
    assert done.answer["ending"] == "off", done.answer["trouble"]
    status = read_status(build.layout, [done.frames[pa] for pa in build.status_pages])
    assert isinstance(status, SystemStatus), status
    return Seen(status, done.answer)


def bomb(core: int, name: str = "bomb", **keys: Any) -> dict[str, Any]:
    """Writes lines one after the other, for ever."""
    memory = [{"at": 0x4000_0000, "size": "64 MiB"}]
    return domain(name, "membomb", [core], memory=memory, params={"iterations": 0}, **keys)


def events(rate_mb_per_s: int) -> int:
    return rate_mb_per_s * 10**6 // PERIODS_PER_S // LINE


@pytest.mark.parametrize("platform", ["zcu102", "s32v234"])
def test_b3_a_writer_that_streams_past_the_caches_is_held(tmp_path: Path, platform: str) -> None:
    """Write-backs count; budgets of refills alone would not count it at all."""
    budget = {"budget": "100 MB/s", "period": "1 ms"}
    held = run(tmp_path / "sum", bomb(1, bandwidth=budget), platform=platform)
    one, limit = held.budget(1), events(100)
    assert one.throttled_periods >= FOR_MS - 2
    assert one.max_per_period <= limit + limit // 32 + 32
    assert held.lines(1) <= FOR_MS * (limit + limit // 32 + 32) + 2000, "with what was moved before the start"
    unseen = run(tmp_path / "refills", bomb(1, bandwidth={**budget, "counts": "refills"}), platform=platform)
    assert unseen.lines(1) > 1.3 * held.lines(1)
    assert unseen.budget(1).throttled_periods == 0
    assert unseen.budget(1).events < 0.1 * unseen.lines(1)


def test_b3_reads_and_writes_have_a_budget_each(tmp_path: Path) -> None:
    """The budget that is spent first stops it: here that of write-backs."""
    apart = {"read": "400 MB/s", "write": "50 MB/s", "period": "1 ms"}
    seen = run(tmp_path, bomb(1, bandwidth=apart), platform="s32v234")
    one = seen.budget(1)
    assert one.throttled_periods >= FOR_MS - 2
    assert one.events <= FOR_MS * (events(50) + 300)


def test_b4_what_one_domain_leaves_another_one_draws(tmp_path: Path) -> None:
    budget = {"budget": "100 MB/s", "period": "1 ms"}
    idle = domain("idle", "busy", [0], bandwidth=dict(budget))
    drawn = {}
    for reclaim in (False, True):
        regulation = {"policy": "static", "reclaim": reclaim}
        seen = run(tmp_path / str(reclaim), idle, bomb(1, bandwidth=budget), regulation=regulation)
        drawn[reclaim] = seen.budget(1).events
    assert drawn[True] > 1.5 * drawn[False]
    assert drawn[True] <= 2 * FOR_MS * (events(100) + 64)
    given, taken = seen.budget(0).reclaim, seen.budget(1).reclaim
    assert given is not None and taken is not None
    assert given.given > 0 and taken.drawn > 0
    assert given.violations == 0
    real_time = {**idle, "criticality": "rt"}
    seen = run(tmp_path / "rt", real_time, bomb(1, bandwidth=budget), regulation=regulation)
    assert seen.budget(0).reclaim is None, "a real-time domain gives nothing away"
    assert seen.budget(1).events <= 1.1 * drawn[False]


def vision(core: int) -> dict[str, Any]:
    memory = [{"at": 0x4000_0000, "size": "64 MiB"}]
    return domain("vision", "latency", [core], criticality="rt", memory=memory, params={"iterations": 0})


def test_b5_a_dynamic_regulator_spares_the_real_time_core_and_wastes_less(tmp_path: Path) -> None:
    """On the chip of the publication it is near its solo time, and the other gets more than with a static
    budget."""
    on = {"platform": "s32v234", "isolation": {"llc": "none"}}
    static = bomb(2, bandwidth={"budget": "50 MB/s", "period": "1 ms"})
    dynamic = {"policy": "dynamic", "interval": "1 ms", "threshold": "80 %"}
    alone = run(tmp_path / "alone", vision(0), **on)
    beside = run(tmp_path / "none", vision(0), bomb(2), **on)
    held = run(tmp_path / "static", vision(0), static, **on)
    regulated = run(tmp_path / "dynamic", vision(0), bomb(2), regulation=dynamic, **on)
    work = {name: one.instructions(0) / alone.instructions(0) for name, one in
            (("none", beside), ("static", held), ("dynamic", regulated))}  # fmt: skip
    assert work["dynamic"] > work["none"] + 0.02
    assert work["dynamic"] > 0.97
    assert regulated.lines(2) > 1.5 * held.lines(2)
    found, limits = regulated.status.regulation, regulated.budget(2).limits
    assert found is not None and limits is not None
    assert (found.missed, found.given_up, found.unusable) == (0, 0, 0)
    assert found.samples >= FOR_MS - 1
    assert found.load_mean < 0.9
    assert limits.least < limits.mean < limits.most


# Parameters that each policy needs beside its defaults, on a platform that has all counters and delays.
POLICIES: dict[str, dict[str, str]] = {
    "dynamic": {},
    "dynamic-bandwidth": {},
    "dynamic-delay": {},
    "dynamic-turns": {},
    "dynamic-phases": {},
}


@pytest.fixture(scope="module")
def unregulated(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    on = {"platform": "s32v234", "isolation": {"llc": "none"}}
    return run(tmp_path_factory.mktemp("unregulated"), vision(0), bomb(2), bomb(3, "second"), **on)


@pytest.mark.req("B11")
@pytest.mark.parametrize("policy", POLICIES)
def test_b11_each_policy_of_the_system_file_spares_the_real_time_core_at_el2(
    tmp_path: Path, unregulated: Seen, policy: str
) -> None:
    """The same object file as on Linux and on bare simulated cores. Budgets change from interval to interval,
    and the real-time core counts only where the policy needs its traffic. Of two cores that take turns one
    writes at full speed, which is hardly less than both do: this policy wins little beside two."""
    regulation = {"policy": policy, "interval": "1 ms", **POLICIES[policy]}
    on = {"platform": "s32v234", "isolation": {"llc": "none"}}
    seen = run(tmp_path, vision(0), bomb(2), bomb(3, "second"), regulation=regulation, **on)
    takes_turns = policy == "dynamic-turns"
    assert seen.instructions(0) > (1.0 if takes_turns else 1.02) * unregulated.instructions(0)
    found = seen.status.regulation
    assert found is not None
    assert (found.missed, found.given_up, found.unusable) == (0, 0, 0)
    assert found.samples >= FOR_MS - 1
    for core in (2, 3):
        limits = seen.budget(core).limits
        assert limits is not None and limits.least < limits.most, core
        assert takes_turns or seen.lines(core) < 0.98 * unregulated.lines(core)
    counted = [core.core for core in seen.status.cores if core.budget is not None]
    assert counted == ([0, 2, 3] if policy in BY_TRAFFIC else [2, 3])


def test_every_policy_is_tried_at_el2() -> None:
    assert tuple(POLICIES) == DYNAMIC


def test_b8_a_manager_changes_the_threshold_and_reads_what_comes_of_it(tmp_path: Path) -> None:
    """The regulated core gets less under the lower threshold, by the samples that its manager reads and by
    its traffic; invalid values are refused (`wrong`)."""
    dynamic = {"policy": "dynamic", "interval": "1 ms", "threshold": "80 %"}
    done: dict[int, dict[str, Any]] = {}
    for percent in (80, 20):
        params = {"core": 2, "after_ms": 12, "threshold_percent": percent, "settle_ms": 8, "end_ms": 40}
        manager = domain("tuner", "tuner", [1], criticality="rt", manager=True, params=params)
        build = built_from(
            tmp_path / str(percent), vision(0), manager, bomb(2), bomb(3, "second"), regulation=dynamic,
            platform="s32v234", isolation={"llc": "none"}, for_ns=55 * MS,
        )  # fmt: skip
        console = run_hosted(build).console
        found = re.search(r"^report (.*)", said(console, "tuner"), re.MULTILINE)
        assert found is not None, console
        done[percent] = json.loads(found[1])
        assert done[percent]["wrong"] == 0, console
    before, after = done[20]["before"], done[20]["after"]
    assert before == done[80]["before"]
    assert before["samples"] >= 10
    assert after["samples"] >= 10
    assert after["events"] < 0.7 * done[80]["after"]["events"]
    assert after["global"] < 0.7 * done[80]["after"]["global"]
    assert after["utilization_percent"] < done[80]["after"]["utilization_percent"]
