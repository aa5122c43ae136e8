# SPDX-License-Identifier: Apache-2.0
"""`dynamic-phases` (B11) needs counters of busy cycles, and counts all cores."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.admission.load import load_system
from bulkhead.planning.budgets import counted_event
from bulkhead.planning.regulation import highest_phase, regulator_of

POLICY = "regulation={policy: dynamic-phases, interval: 1 ms}"
SYSTEM = """
bulkhead: 1
name: phases
platform: {platform}
domains:
  - name: control
    criticality: rt
    cpus: [0]
    image: {{ elf: guests/periodic.elf }}
    memory: [{{ at: 0x40000000, size: 16 MiB }}]
  - name: hog
    cpus: [1]
    image: {{ elf: guests/hog.elf }}
    memory: [{{ at: 0x40000000, size: 16 MiB }}]
"""


def system(directory: Path, platform: str) -> Path:
    path = directory / "system.yaml"
    path.write_text(SYSTEM.format(platform=platform))
    return path


@pytest.mark.req("B11")
def test_all_cores_count_and_phases_are_parts_of_the_guaranteed_bandwidth(tmp_path: Path) -> None:
    loaded = load_system(system(tmp_path, "s32v234"), [POLICY])
    assert loaded.system is not None and loaded.platform is not None, loaded.problems
    event = counted_event(loaded.platform, emulated=False)
    plan = regulator_of(loaded.system, loaded.platform, event)
    assert plan is not None and loaded.platform.dram is not None and event is not None
    assert plan.members == {0, 1}
    assert plan.regulated == {1}
    assert loaded.platform.dram.guaranteed is not None
    assert plan.bandwidth_threshold_events == loaded.platform.dram.guaranteed // 1000 // (event.bytes or 0)


@pytest.mark.req("B11")
def test_a_platform_without_counters_of_busy_cycles_is_refused(tmp_path: Path) -> None:
    (problem,) = load_system(system(tmp_path, "zcu102"), [POLICY]).problems
    assert (problem.key, problem.code) == ("regulation.policy", "not-on-platform")
    assert "no counters of busy cycles" in problem.cause


@pytest.mark.req("B11")
def test_where_nothing_is_guaranteed_phases_are_parts_of_what_the_data_bus_moves(tmp_path: Path) -> None:
    loaded = load_system(system(tmp_path, "qemu-virt"), [POLICY])
    assert loaded.platform is not None and loaded.platform.dram is not None, loaded.problems
    dram = loaded.platform.dram
    assert dram.guaranteed is None
    assert highest_phase(loaded.platform) == dram.speed * dram.width * dram.channels * 125_000
