# SPDX-License-Identifier: Apache-2.0
"""Forms of a bandwidth budget in system files (B3): rates and events say the same, halves are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.config.load import Loaded, load_system
from bulkhead.config.system import Bandwidth
from bulkhead.planning.budgets import Budget, CountedEvent, budget_of, counted_event


def loaded(directory: Path, bandwidth: dict[str, Any], platform: str = "zcu102") -> Loaded:
    domain = {
        "name": "bomb",
        "cpus": [1],
        "image": {"elf": "guests/membomb.elf"},
        "memory": [{"at": 0x4000_0000, "size": "4 MiB"}],
        "bandwidth": bandwidth,
    }
    system = {"bulkhead": 1, "name": "forms", "platform": platform, "domains": [domain]}
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(system | {"isolation": {"llc": "none", "banks": "none"}}))
    return load_system(path)


def budget(directory: Path, bandwidth: dict[str, Any]) -> Budget | None:
    found = loaded(directory, bandwidth)
    assert found.ok, found.problems
    assert found.system is not None and found.platform is not None
    return budget_of(found.system.domains[0].bandwidth, 1, counted_event(found.platform, emulated=False))


def test_b3_two_budgets_are_rates_or_events(tmp_path: Path) -> None:
    """Of lines of 64 bytes in 1 ms."""
    rates = budget(tmp_path, {"read": "400 MB/s", "write": "50 MB/s"})
    assert rates is not None
    assert (rates.counts, rates.events, rates.second_events) == ("each", 6250, 781)
    assert budget(tmp_path, {"read_events": 6250, "write_events": 781}) == rates
    named = {"read_events": 6250, "write_events": 781, "counts": "each", "period": "1 ms"}
    assert budget(tmp_path, named) == rates


@pytest.mark.parametrize(
    ("bandwidth", "where", "code"),
    [
        ({"read": "1 MB/s"}, "", "missing-key"),
        ({"read_events": 10}, "", "missing-key"),
        ({"budget": "1 MB/s", "write_events": 10}, "", "missing-key"),
        ({"read": "1 MB/s", "write_events": 10}, "", "conflict"),
        ({"read": "1 MB/s", "write": "1 MB/s", "write_events": 10}, "", "conflict"),
        ({"read_events": 10, "read": "1 MB/s", "write": "1 MB/s"}, "", "conflict"),
        ({"read_events": 10, "write_events": 10, "counts": "sum"}, ".counts", "conflict"),
        ({"events": 10, "counts": "each"}, ".counts", "conflict"),
        ({"read_events": 0, "write_events": 10}, ".read_events", "out-of-range"),
    ],
)
def test_b3_halves_of_two_budgets_are_refused(
    tmp_path: Path, bandwidth: dict[str, Any], where: str, code: str
) -> None:
    found = [(problem.key, problem.code) for problem in loaded(tmp_path, bandwidth).problems]
    assert (f"domains[0].bandwidth{where}", code) in found


def test_b3_two_budgets_need_two_events_of_the_platform() -> None:
    wanted = Bandwidth.model_validate({"read_events": 10, "write_events": 10})
    fetched_only = CountedEvent("L2D_CACHE_REFILL", 0x17, 64)
    assert budget_of(wanted, 1, fetched_only) is None
    both = CountedEvent("L2D_CACHE_REFILL", 0x17, 64, 0, "L2D_CACHE_WB", 0x18)
    assert budget_of(wanted, 1, both) == Budget(10, 1_000_000, 0, "each", 10)


def test_instructions_are_the_budget_where_they_stand_in_for_memory_events(tmp_path: Path) -> None:
    """On the emulator alone: elsewhere the budget is of memory, in bytes or events."""
    both = {"events": 1000, "instructions": 70_000, "period": "2 ms"}
    found = loaded(tmp_path, both, platform="qemu-virt")
    assert found.ok and found.system is not None and found.platform is not None
    bandwidth = found.system.domains[0].bandwidth
    emulated, machine = (
        budget_of(bandwidth, 1, counted_event(found.platform, emulated=emulated))
        for emulated in (True, False)
    )
    assert emulated is not None and (emulated.events, emulated.period_ns) == (70_000, 2_000_000)
    assert machine is not None and (machine.events, machine.counts) == (1000, "sum")
    in_bytes = loaded(tmp_path, {"budget": "64 MB/s", "instructions": 70_000}, platform="qemu-virt")
    assert in_bytes.ok and not [one for one in in_bytes.notices if one.code == "not-enforced"]
