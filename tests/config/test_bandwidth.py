# SPDX-License-Identifier: Apache-2.0
"""Forms of a bandwidth budget in system files (B3): rates and events are equivalent, incomplete budgets are
refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.load import Loaded, load_system
from bulkhead.config.load import load_platform
from bulkhead.config.shares import Bandwidth
from bulkhead.planning.budgets import Budget, CountedEvent, budget_of, counted_event
from bulkhead.planning.delays import DelaysOfCores, delays_of
from bulkhead.planning.demands import admission_of
from bulkhead.planning.regulation import lines_of

ROOT = Path(__file__).parents[2]


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
    """Both are of lines of 64 bytes in 1 ms."""
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
    """This applies to the emulator only: elsewhere the budget is of memory, in bytes or events."""
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


def test_t5_a_budget_of_accesses_stands_beside_one_of_refills(tmp_path: Path) -> None:
    """Without it there are refills only, since the second counter is in use."""
    found = budget(tmp_path, {"budget": "64 MB/s", "accesses": 5000})
    assert found == Budget(1000, 1_000_000, 0, "accesses", 5000)
    assert budget(tmp_path, {"events": 1000, "accesses": 5000, "counts": "refills"}) == found
    refills_only = CountedEvent("L2D_CACHE_REFILL", 0x17, 64, 0, "L2D_CACHE_WB", 0x18)
    wanted = Bandwidth.model_validate({"events": 1000, "accesses": 5000})
    assert budget_of(wanted, 1, refills_only) is None
    instructions = Bandwidth.model_validate({"events": 1000, "accesses": 5000, "instructions": 70_000})
    stand_in = CountedEvent("INST_RETIRED", 0x08, None, 8)
    assert budget_of(instructions, 1, stand_in) == Budget(70_000, 1_000_000, 0)


def beside_realtime(
    directory: Path, bandwidth: dict[str, Any] | None = None, platform: str = "qemu-virt", **keys: Any
) -> Loaded:
    """A real-time domain, and a best-effort one with a budget."""
    control = {"name": "control", "criticality": "rt", "cpus": [0], "image": {"elf": "guests/periodic.elf"}}
    regulation = {"regulation": keys.pop("regulation")} if "regulation" in keys else {}
    hog: dict[str, Any] = {"name": "hog", "cpus": [1], "image": {"elf": "guests/hog.elf"}, **keys}
    hog["bandwidth"] = bandwidth or {"events": 1000, "accesses": 4000}
    domains = [one | {"memory": [{"at": 0x4000_0000, "size": "4 MiB"}]} for one in (control, hog)]
    path = directory / "system.yaml"
    system = {"bulkhead": 1, "name": "beside", "platform": platform, "domains": domains, **regulation}
    path.write_text(yaml.safe_dump(system))
    return load_system(path)


def uncounted(loaded: Loaded) -> list[tuple[str, str, str]]:
    assert loaded.ok, loaded.problems
    return [(one.key, one.cause, one.allowed or "") for one in loaded.notices if one.code == "uncounted"]


def test_t5_a_budget_that_can_be_got_around_is_named_with_what_closes_it(tmp_path: Path) -> None:
    ((key, cause, allowed),) = uncounted(beside_realtime(tmp_path, {"events": 1000}))
    assert key == "domains[1].bandwidth"
    assert (
        "counts L2D_CACHE_REFILL + L2D_CACHE_WB, but no accesses to memory that 'hog' maps as Non-cacheable"
        in cause
    )
    assert "'control' can wait for these without a bound" in cause
    assert "of BUS_ACCESS: `accesses`" in allowed
    dynamic = {"policy": "dynamic"}
    ((_, _, allowed),) = uncounted(beside_realtime(tmp_path, {"events": 2000}, regulation=dynamic))
    assert "a policy that does not regulate it" in allowed


def test_t5_what_closes_it_leaves_nothing_to_name(tmp_path: Path) -> None:
    assert uncounted(beside_realtime(tmp_path)) == []
    assert uncounted(beside_realtime(tmp_path, {"events": 1000}, platform="qemu-virt-max")) == []
    rt = beside_realtime(tmp_path, {"events": 1000}, criticality="rt")
    assert uncounted(rt) == [], "nobody who is best-effort"


def test_t5_s2fwb_closes_it_but_for_who_has_a_device_that_sees_no_caches(tmp_path: Path) -> None:
    given = {"devices": ["fw-cfg"], "dma": "trusted"}
    loaded = beside_realtime(tmp_path, {"events": 1000}, platform="qemu-virt-max", **given)
    assert [key for key, _, _ in uncounted(loaded)] == ["domains[1].bandwidth"]


@pytest.mark.parametrize(
    ("bandwidth", "mb_per_s"),
    [
        ({"events": 1000}, 64),  # refills and write-backs together
        ({"events": 1000, "counts": "refills"}, 128),
        # Each line that is filled or written back is at least one access on the bus, and each other access
        # moves at most one line.
        ({"events": 1000, "accesses": 4000}, 256),
        ({"events": 1000, "accesses": 500}, 32),
    ],
)
def test_t5_what_accesses_can_ask_of_the_memory_is_admitted(
    tmp_path: Path, bandwidth: dict[str, Any], mb_per_s: int
) -> None:
    found = beside_realtime(tmp_path, bandwidth, platform="zcu102")
    assert found.system is not None and found.platform is not None
    demand = admission_of(found.system, found.platform).demands[1]
    assert demand.bytes_per_s == mb_per_s * 10**6
    expected = bandwidth.get("accesses")
    assert (demand.accesses.events if demand.accesses else None) == expected


def test_t5_an_event_of_other_accesses_alone_adds_to_refills(tmp_path: Path) -> None:
    event = CountedEvent("L2D_CACHE_REFILL", 0x17, 64, 0, None, 0, "EXT_MEM_REQ_NC", 0xC1, 64)
    wanted = budget_of(Bandwidth.model_validate({"events": 1000, "accesses": 500}), 1, event)
    assert wanted is not None
    assert lines_of(wanted, event) == 1500
    bus = replace(event, access_name="BUS_ACCESS", access_counts_lines=True)
    assert lines_of(wanted, bus) == 500


REGULATED = {"name": "rt", "criticality": "rt", "cpus": [0], "image": {"elf": "guests/mser.elf"}}


def delays_file(directory: Path, platform: str, *cores: int, **regulation: Any) -> Path:
    """A system with `dynamic-delay`, for best-effort domains on these cores beside a real-time one on core
    0."""
    bombs = [
        {"name": f"bomb-{core}", "cpus": [core], "image": {"elf": "guests/membomb.elf"}} for core in cores
    ]
    domains = [{**one, "memory": [{"at": 0x4000_0000, "size": "4 MiB"}]} for one in (REGULATED, *bombs)]
    system = {"bulkhead": 1, "name": "delays", "platform": platform, "domains": domains}
    system |= {"isolation": {"llc": "none"}, "regulation": {"policy": "dynamic-delay", **regulation}}
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(system))
    return path


def delays(directory: Path, platform: str, *cores: int, **regulation: Any) -> DelaysOfCores | None:
    found = load_system(delays_file(directory, platform, *cores, **regulation))
    assert found.ok, found.problems
    assert found.system is not None and found.platform is not None and found.system.regulation is not None
    return delays_of(found.system.regulation, found.platform, cores, [0])


def test_b11_a_core_of_the_same_cluster_delays_by_more(tmp_path: Path) -> None:
    found = delays(tmp_path, "s32v234", 1, 2, 3)
    assert found is not None
    assert found.event_ps == {1: 273_000, 2: 170_000, 3: 170_000}
    assert (found.least, found.horizon_intervals) == (252_000_000, 100)


def test_b11_the_system_may_say_delays_of_its_own(tmp_path: Path) -> None:
    found = delays(tmp_path, "s32v234", 1, 2, delay="10 ns", least="1 GB/s", horizon="20 ms")
    assert found == DelaysOfCores({1: 273_000, 2: 10_000}, 10**9, 20), "core 1 shares the L2: as measured"
    found = delays(tmp_path, "s32v234", 1, 2, delay="400 ns")
    assert found is not None and found.event_ps == {1: 400_000, 2: 400_000}
    found = delays(tmp_path, "s32v234", 1, 2, delay="10 ns", cluster_delay="90 ns")
    assert found is not None and found.event_ps == {1: 90_000, 2: 10_000}


def assumed(directory: Path, platform: str, *cores: int, **regulation: Any) -> list[tuple[str, str]]:
    """Where the delay of a core of the same cluster is left to the platform."""
    found = load_system(delays_file(directory, platform, *cores, **regulation))
    assert found.ok, found.problems
    return [(one.key, one.cause) for one in found.notices if one.code == "cluster-delay"]


@pytest.mark.parametrize(
    ("regulation", "ns"), [({}, 273), ({"delay": "10 ns"}, 273), ({"delay": "400 ns"}, 400)]
)
def test_b11_a_delay_that_the_platform_states_for_cores_of_one_cluster_is_said(
    tmp_path: Path, regulation: dict[str, str], ns: int
) -> None:
    """Programs that wait for each line are delayed more (docs/design/bandwidth.md)."""
    ((key, cause),) = assumed(tmp_path, "s32v234", 2, 1, **regulation)
    assert key == "regulation.policy"
    assert f"counts {ns} ns for each line that 'rt' waits for beside core 1 of 'bomb-1'" in cause


@pytest.mark.parametrize(
    ("platform", "cores", "regulation"),
    [
        ("s32v234", (2, 3), {}),
        ("s32v234", (1, 2), {"cluster_delay": "1 us"}),
        ("zcu102", (1, 2), {}),
        ("s32v234", (1, 2), {"policy": "dynamic"}),
        ("s32v234", (1, 2), {"policy": "none"}),
    ],
    ids=["other cluster", "stated", "one cluster", "another policy", "no regulation"],
)
def test_b11_a_delay_of_the_same_cluster_is_said_only_where_the_promise_depends_on_it(
    tmp_path: Path, platform: str, cores: tuple[int, ...], regulation: dict[str, str]
) -> None:
    assert assumed(tmp_path, platform, *cores, **regulation) == []


def test_b11_where_all_cores_share_one_cache_there_is_one_delay(tmp_path: Path) -> None:
    found = delays(tmp_path, "zcu102", 1, 3, cluster_delay="1 us")
    assert found is not None and found.event_ps == {1: 128_000, 3: 128_000}


@pytest.mark.parametrize(
    ("key", "value", "cause"),
    [
        ("least", "1 kB/s", "is 0 events of 64 bytes in an interval"),
        ("threshold", "99.9993 %", "is 100 % of the time or more, in steps of 1/65536"),
        ("delay", "5 ms", "is longer than 4 ms"),
    ],
)
def test_b11_values_that_a_manifest_cannot_hold_are_refused_at_their_key(
    tmp_path: Path, key: str, value: str, cause: str
) -> None:
    (found,) = load_system(delays_file(tmp_path, "s32v234", 1, **{key: value})).problems
    assert (found.key, found.code, found.cause) == (f"regulation.{key}", "out-of-range", cause)


def test_b11_the_largest_values_are_accepted(tmp_path: Path) -> None:
    assert delays(tmp_path, "s32v234", 1, threshold="99.999 %", delay="4 ms", least="1 MB/s") is not None


@pytest.mark.parametrize("key", ["apart", "cluster"])
def test_b11_a_platform_has_delays_that_a_manifest_can_hold(tmp_path: Path, key: str) -> None:
    path = tmp_path / "mine.yaml"
    text = (ROOT / "platforms" / "s32v234.yaml").read_text()
    path.write_text(re.sub(rf"(delays: .*{key}: )\d+ ns", r"\1 10 ms", text))
    _, _, (found,) = load_platform(path)
    assert (found.key, found.code) == (f"dram.delays.{key}", "out-of-range")
    assert found.cause == "is 10000000 ns, longer than 4 ms"
