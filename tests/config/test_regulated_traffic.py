# SPDX-License-Identifier: Apache-2.0
"""`saturation`, `ceiling` and B_T are traffic of the memory (B5, B6, B7): where the lines that are written
back are not counted, half as many events are allowed, because each refill can write a line back."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.admission.load import load_system
from bulkhead.planning.budgets import counted_event
from bulkhead.planning.regulation import RegulatorPlan, regulator_of

LINE = 64
SYSTEM = """
bulkhead: 1
name: traffic
platform: {platform}
regulation:
  {{ policy: {policy}, interval: 1 ms, saturation: 512 MB/s, ceiling: 256 MB/s, floor: 6.4 MB/s{more} }}
domains:
  - name: control
    criticality: rt
    cpus: [0]
    image: {{ elf: guests/periodic.elf }}
    memory: [{{ at: 0x40000000, size: 16 MiB }}]
    bandwidth: {{ budget: 64 MB/s, period: 1 ms{first} }}
  - name: hog
    cpus: [1]
    image: {{ elf: guests/hog.elf }}
    memory: [{{ at: 0x40000000, size: 16 MiB }}]
    bandwidth: {{ budget: 64 MB/s{second} }}
"""


def plan_of(
    directory: Path,
    platform: str,
    policy: str = "dynamic-turns",
    first: str = "",
    second: str = "",
    more: str = "",
) -> RegulatorPlan:
    path = directory / "system.yaml"
    path.write_text(SYSTEM.format(platform=platform, policy=policy, first=first, second=second, more=more))
    loaded = load_system(path)
    assert loaded.system is not None and loaded.platform is not None, loaded.problems
    plan = regulator_of(loaded.system, loaded.platform, counted_event(loaded.platform, emulated=False))
    assert plan is not None
    return plan


def events(rate: int, lines: int) -> int:
    return rate // 1000 // (LINE * lines)


@pytest.mark.req("B7")
@pytest.mark.parametrize(
    ("platform", "first", "second", "of_all", "of_regulated"),
    [
        ("zcu102", "", "", 1, 1),
        ("zcu102", "", ", counts: refills", 2, 2),
        ("zcu102", ", counts: refills", "", 2, 1),  # the regulated domain's own lines are all counted
        ("mpam4", "", "", 2, 2),  # it has no event for lines that are written back
    ],
)
def test_saturation_and_ceiling_hold_with_the_lines_written_back(
    tmp_path: Path, platform: str, first: str, second: str, of_all: int, of_regulated: int
) -> None:
    plan = plan_of(tmp_path, platform, first=first, second=second)
    assert plan.saturation_events == events(512_000_000, of_all)
    assert plan.ceiling_events == events(256_000_000, of_regulated)


@pytest.mark.req("B6")
@pytest.mark.parametrize(("platform", "lines"), [("zcu102", 1), ("mpam4", 2)])
def test_a_threshold_of_traffic_does_too(tmp_path: Path, platform: str, lines: int) -> None:
    plan = plan_of(tmp_path, platform, "dynamic-bandwidth", more=", threshold: 384 MB/s")
    assert plan.bandwidth_threshold_events == events(384_000_000, lines)


@pytest.mark.req("B5")
def test_a_floor_is_a_budget_of_counted_events_like_the_others(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "mpam4")
    assert plan.floor_events == events(6_400_000, 1)
    assert plan.budget_events == {0: events(64_000_000, 1), 1: events(64_000_000, 1)}


@pytest.mark.req("B10")
def test_a_floor_is_at_least_the_smallest_budget_that_can_be_enforced(tmp_path: Path) -> None:
    """The default rises to it. A floor that the file states is refused, and the message has the nearest
    one."""
    text = SYSTEM.format(
        platform="zcu102", policy="dynamic-turns", first="", second="", more=", overcommit: true"
    )
    system = tmp_path / "system.yaml"
    system.write_text(text.replace(", floor: 6.4 MB/s", ""))
    loaded = load_system(system)
    assert loaded.ok and loaded.system is not None and loaded.platform is not None, loaded.problems
    plan = regulator_of(loaded.system, loaded.platform, counted_event(loaded.platform, emulated=False))
    assert plan is not None and plan.floor_events == 50
    # Also where 1 MB/s, the default of other platforms, is no event.
    short = text.replace("interval: 1 ms", "interval: 40 us").replace(", floor: 6.4 MB/s", "")
    system.write_text(short.replace("period: 1 ms", "period: 40 us").replace("64 MB/s", "100 MB/s"))
    assert "regulation.floor" not in [one.key for one in load_system(system).problems]
    system.write_text(text.replace("6.4 MB/s", "3.1999 MB/s"))
    (problem,) = load_system(system).problems
    assert (problem.key, problem.code) == ("regulation.floor", "budget-not-workable")
    assert "49 events" in problem.text() and "at least 3.2 MB/s" in problem.text()
    system.write_text(text.replace("6.4 MB/s", "3.2 MB/s"))
    assert load_system(system).ok
