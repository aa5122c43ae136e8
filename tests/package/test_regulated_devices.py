# SPDX-License-Identifier: Apache-2.0
"""Devices that a dynamic regulator changes: what a file may ask for, what is admitted, the manifest (B11)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bulkhead.admission.load import load_system
from bulkhead.config.platform import Platform
from bulkhead.config.system import System
from bulkhead.package.device_regulators import device_regulators_row
from bulkhead.package.manifest import pack_manifest
from bulkhead.package.memory import LoadedMemory
from bulkhead.package.program import smallest_program
from bulkhead.package.verdict import manifest_check
from bulkhead.planning.budgets import counted_event
from bulkhead.planning.demands import admission_of
from bulkhead.planning.device_rates import device_rates
from bulkhead.planning.model import Plan
from bulkhead.planning.regulation import RegulatorPlan, bandwidth_threshold, regulator_of, saturation_of
from bulkhead.schema import Layout, load_layout

from .own_platform import plan_of
from .test_device_regulators import QOS, board, device, names

MB = 10**6
LINES = 1000 * 64  # bytes/s of an event in each interval
UNIT_EVENTS = 488_282  # 2 x 15.625 MB/s, in events of 64 bytes, rounded up
pytestmark = pytest.mark.req("B11")


def system(
    directory: Path,
    on: str = "zcu102",
    rates: dict[str, str] | None = None,
    constant: dict[str, str] | None = None,
    copier: dict[str, Any] | None = None,
    **regulation: Any,
) -> Path:
    """A real-time domain beside one whose devices are regulated (`rates`), or have a constant rate."""
    rates = {"adma": "320 MB/s"} if rates is None else rates
    declared = {name: rate for name, rate in (rates | (constant or {})).items() if rate}
    plain = {"image": {"elf": "guests/hello.elf"}, "memory": [{"at": 0x4000_0000, "size": "16 MiB"}]}
    owner = {"name": "owner", "cpus": [1], **plain, "dma": "trusted", "device_rates": declared}
    owner |= {"devices": [*(constant or {}), *rates], **(copier or {})}
    control = {"name": "control", "criticality": "rt", "cpus": [0], **plain}
    keys = {"bulkhead": 1, "name": "system", "platform": on, "isolation": {"llc": "none"}}
    keys["regulation"] = {"policy": "dynamic-bandwidth", "devices": list(rates), **regulation}
    path = directory / "system.yaml"
    path.write_text(json.dumps({**keys, "domains": [control, owner]}))
    return path


def found(plan: Plan) -> RegulatorPlan:
    regulator = regulator_of(plan.system, plan.platform, counted_event(plan.platform, emulated=False))
    assert regulator is not None
    return regulator


def loaded(path: Path) -> tuple[System, Platform]:
    found = load_system(path)
    assert found.system is not None and found.platform is not None, found.problems
    return found.system, found.platform


def test_a_device_is_a_master_behind_the_cores(tmp_path: Path) -> None:
    regulator = found(plan_of(system(tmp_path)))
    assert regulator.members == {0, 1}, "devices post nothing"
    assert regulator.regulated == {1, 4}
    (one,) = regulator.devices
    assert (one.name, one.place, one.page, one.unit_events) == ("adma", 4, QOS, UNIT_EVENTS)
    assert regulator.budget_events[4] == one.budget_events == 320 * MB // LINES
    assert regulator.floor_events == 489, "the least that its registers hold, above the default of 1 MB/s"
    assert one.most == -(-2133 * 8 * 4096 // (2 * 64_000)), "the data bus, half of it in each direction"


def test_without_a_declared_rate_it_begins_as_a_core_does(tmp_path: Path) -> None:
    (one,) = found(plan_of(system(tmp_path, rates={"adma": ""}))).devices
    assert one.budget_events == 50 * MB // LINES


def test_it_is_charged_with_its_rate_at_the_start_and_its_traffic_is_in_the_threshold(tmp_path: Path) -> None:
    path = system(tmp_path, saturation="800 MB/s", ceiling="500 MB/s", policy="dynamic-turns")
    file = json.loads(path.read_text())
    file["domains"][0]["bandwidth"] = {"budget": "64 MB/s", "period": "1 ms"}
    path.write_text(json.dumps(file))
    own, platform = loaded(path)
    (rate,) = device_rates(own, platform)
    assert rate.charged == 320 * MB and rate.note.startswith("at the start")
    assert rate.json()["dynamic"] and rate.json()["regulated"]
    assert admission_of(own, platform).bounded == (320 + 64) * MB + 781 * LINES
    assert saturation_of(own, platform) == 800 * MB
    assert bandwidth_threshold(own, platform) == 960 * MB


def test_under_another_policy_the_same_file_has_a_constant_rate(tmp_path: Path) -> None:
    plan = plan_of(system(tmp_path, policy="static"))
    (rate,) = device_rates(plan.system, plan.platform)
    assert (rate.dynamic, rate.charged) == (False, 312_500_000)
    row = device_regulators_row(plan, load_layout(), None)
    assert (row["reads"], row["unit_events"]) == ([10, 0, 0, 0], [0] * 4)
    free = plan_of(system(tmp_path, rates={"adma": ""}, policy="none"))
    assert device_regulators_row(free, load_layout(), None)["page_0"] == 0


def test_the_manifest_has_changing_devices_first_and_is_accepted(
    tmp_path: Path, layout: Layout, golden: Callable[[str, bytes], None]
) -> None:
    devices = [device(1), device(2)]
    on = str(board(tmp_path, *devices))
    rates, constant = {"adma": "320 MB/s", "nic2": ""}, {"nic1": "64 MB/s"}
    plan = plan_of(system(tmp_path, on, rates, constant))
    event = counted_event(plan.platform, emulated=False)
    row = device_regulators_row(plan, layout, event)
    assert [row[f"page_{n}"] for n in range(4)] == [QOS, QOS + 0x2000, QOS + 0x1000, 0]
    assert row["reads"] == row["writes"] == [10, 1, 2, 0]
    assert row["unit_events"] == [UNIT_EVENTS, UNIT_EVENTS, 0, 0]
    assert [one.place for one in found(plan).devices] == [4, 5]
    assert smallest_program(plan, event) == "full"
    empty = [LoadedMemory((), 0x4000_0000, 0, b"")] * 2
    manifest = pack_manifest(plan, empty, [[], []], layout, event=event)
    header: Any = layout.unpack("manifest_header", manifest)
    assert (header["regulation"]["members"], header["regulation"]["regulated"]) == (0b11, 0b110010)
    assert header["bandwidth"]["limit_bytes_per_s"] == 960 * MB - 62_500_000, (
        "without the constant rate alone"
    )
    error, offset = manifest_check("full").verdict_on(manifest, 1 << 24)
    assert layout.enum_name("manifest_error", error) == "none", hex(offset)
    golden("../fuzz/seeds/manifest/device", bytes((n * 13) % 256 for n in range(17)) + manifest)


@pytest.mark.parametrize("rate", ["31.3 MB/s", "62.5 MB/s", "312.5 MB/s", "313 MB/s", "5 GB/s", "900 GB/s"])
@pytest.mark.parametrize("interval", ["100 us", "1 ms", "7 ms"])
def test_tool_and_hypervisor_agree_on_the_rate_at_the_start(
    tmp_path: Path, layout: Layout, rate: str, interval: str
) -> None:
    """EL2 refuses a manifest whose registers do not begin with the budget."""
    path = system(tmp_path, rates={"adma": rate}, interval=interval, overcommit=True, threshold="900 MB/s")
    checked = load_system(path)
    if not checked.ok:
        assert rate == "31.3 MB/s" and interval == "100 us", checked.problems
        return
    plan = plan_of(path)
    event = counted_event(plan.platform, emulated=False)
    empty = [LoadedMemory((), 0x4000_0000, 0, b"")] * 2
    manifest = pack_manifest(plan, empty, [[], []], layout, event=event)
    error, offset = manifest_check("full").verdict_on(manifest, 1 << 24)
    assert layout.enum_name("manifest_error", error) == "none", hex(offset)


def problem_of(path: Path) -> tuple[str, str, str]:
    found = load_system(path)
    (one,) = found.problems
    return one.key, one.code, one.text()


def test_only_a_best_effort_device_behind_a_regulator_can_be_regulated(tmp_path: Path) -> None:
    key, code, text = problem_of(system(tmp_path, rates={"adma": "320 MB/s"}, devices=["admma"]))
    assert (key, code) == ("regulation.devices[0]", "unknown-name") and "adma" in text
    key, code, _ = problem_of(system(tmp_path, devices=["adma", "adma"]))
    assert (key, code) == ("regulation.devices[1]", "duplicate-name")
    bare = {"name": "nic1", "at": 0xF700_1000, "size": 4096, "dma": True}
    key, code, _ = problem_of(system(tmp_path, str(board(tmp_path, bare)), {"nic1": "64 MB/s"}))
    assert (key, code) == ("regulation.devices[0]", "not-on-platform")
    path = system(tmp_path, constant={"adma": "320 MB/s"}, rates={}, copier={"criticality": "rt"})
    file = json.loads(path.read_text())
    file["regulation"]["devices"] = ["adma"]
    file["domains"][0]["criticality"] = "best-effort"
    path.write_text(json.dumps(file))
    assert problem_of(path)[:2] == ("regulation.devices[0]", "conflict")


def test_a_floor_is_a_rate_that_the_registers_hold(tmp_path: Path) -> None:
    key, code, text = problem_of(system(tmp_path, floor="30 MB/s"))
    assert (key, code) == ("regulation.floor", "out-of-range") and "at least 31.296 MB/s" in text
    assert load_system(system(tmp_path, floor="31.296 MB/s")).ok
    key, code, _ = problem_of(
        system(
            tmp_path, floor="64 MB/s", rates={"adma": "32 MB/s"}, copier={"bandwidth": {"budget": "64 MB/s"}}
        )
    )
    assert (key, code) == ("regulation.devices[0]", "out-of-range")


def test_a_delay_beside_the_device_has_to_be_stated(tmp_path: Path) -> None:
    delay: dict[str, Any] = {"policy": "dynamic-delay", "threshold": "5 %"}
    assert problem_of(system(tmp_path, **delay))[:2] == ("regulation", "missing-key")
    plan = plan_of(system(tmp_path, delay="200 ns", **delay))
    assert found(plan).event_delays_ps == {1: 200_000, 4: 200_000}


def test_more_devices_than_places_behind_the_cores_are_refused(tmp_path: Path) -> None:
    devices = [device(number) for number in range(1, 5)]
    on = str(board(tmp_path, *devices))
    four = dict.fromkeys(names(*devices), "64 MB/s")
    assert load_system(system(tmp_path, on, four)).ok
    found = load_system(system(tmp_path, on, {"adma": "64 MB/s", **four}))
    assert ("regulation.devices", "out-of-range") in [(one.key, one.code) for one in found.problems]
