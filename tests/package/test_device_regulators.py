# SPDX-License-Identifier: Apache-2.0
"""Regulators of the interconnect in front of devices of domains: rates, registers, the manifest, and what a
platform file may say of them (D5)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.load import load_system
from bulkhead.config.crosscheck_devices import check_devices
from bulkhead.config.devices import Device
from bulkhead.config.platform import Platform
from bulkhead.config.timing import Regulator
from bulkhead.package.build import BuildOptions
from bulkhead.package.device_regulators import device_regulators_row
from bulkhead.package.manifest import pack_manifest
from bulkhead.package.memory import LoadedMemory
from bulkhead.package.program import smallest_program
from bulkhead.package.verdict import manifest_check
from bulkhead.planning.device_rates import device_rates
from bulkhead.schema import Layout, load_layout

from ..platforms import platform
from .own_platform import plan_of

QOS = 0xFE14_4000  # of zcu102's engine
STEP_MB_S = 15.625  # of each direction
MB = 10**6


def device(number: int, **keys: Any) -> dict[str, Any]:
    at = 0xF700_0000 + number * 0x1000
    return {"name": f"nic{number}", "at": at, "size": 4096, "dma": True, "qos": QOS + number * 0x1000, **keys}


def board(directory: Path, *devices: dict[str, Any]) -> Path:
    """The ZCU102 with made-up devices behind regulators of their own."""
    regulators = [{"master": one, "clock": "2 ns", "transaction": 128} for one in ("adma", *names(*devices))]
    keys = {"platform": 1, "name": "regulated", "description": "made up", "extends": "zcu102"}
    path = directory / "regulated.yaml"
    more = {
        "devices": list(devices),
        "interconnect": {"request": "40 ns", "answer": "40 ns", "regulators": regulators},
    }
    path.write_text(yaml.safe_dump({**keys, **more}))
    return path


def names(*devices: dict[str, Any]) -> list[str]:
    return [one["name"] for one in devices]


def system(directory: Path, on: str, rates: dict[str, str]) -> Path:
    plain = {"image": {"elf": "guests/hello.elf"}, "memory": [{"at": 0x4000_0000, "size": "16 MiB"}]}
    owner = {"name": "owner", "cpus": [0], **plain, "devices": list(rates), "dma": "trusted"}
    owner["device_rates"] = {name: rate for name, rate in rates.items() if rate}
    path = directory / "system.yaml"
    keys = {"bulkhead": 1, "name": "system", "platform": on, "isolation": {"llc": "none"}}
    path.write_text(json.dumps({**keys, "domains": [owner]}))
    return path


@pytest.mark.req("D5")
def test_a_declared_rate_is_split_and_charged_as_the_registers_allow(tmp_path: Path) -> None:
    plan = plan_of(system(tmp_path, "zcu102", {"adma": "320 MB/s"}))
    (rate,) = device_rates(plan.system, plan.platform)
    assert rate.register is not None
    assert (rate.register.page, rate.register.value) == (QOS, int(160 / STEP_MB_S))
    assert rate.charged == 2 * 10 * STEP_MB_S * MB
    assert rate.json()["regulated"] and rate.note == "regulated by QoS-400, not on the emulator"
    row = device_regulators_row(plan, load_layout(), None)
    assert row == {
        "page_0": QOS,
        "page_1": 0,
        "page_2": 0,
        "page_3": 0,
        "reads": [10, 0, 0, 0],
        "writes": [10, 0, 0, 0],
        "unit_events": [0] * 4,
        "most": [0] * 4,
    }
    assert smallest_program(plan, None) == "full", "the other one has no driver"


@pytest.mark.req("D5")
def test_the_emulator_has_no_regulators_and_results_say_so(tmp_path: Path) -> None:
    """The hypervisor reads the registers back, and the emulator's machine does not have them."""
    plan = plan_of(system(tmp_path, "zcu102", {"adma": "320 MB/s"}))
    rates = {key: [0] * 4 for key in ("reads", "writes", "unit_events", "most")}
    nothing = {**rates, **{f"page_{number}": 0 for number in range(4)}}
    assert device_regulators_row(plan, load_layout(), None, emulated=True) == nothing
    (rate,) = device_rates(plan.system, plan.platform)
    there = replace(rate, is_emulated=True)
    assert (there.json()["regulated"], there.charged) == (False, rate.charged)


@pytest.mark.req("D5")
def test_only_the_emulators_manifest_is_without_regulators(tmp_path: Path, layout: Layout) -> None:
    plan = plan_of(system(tmp_path, "zcu102", {"adma": "320 MB/s"}))
    loaded = [LoadedMemory((), 0x4000_0000, 0, b"")]
    for emulated, page in ((False, QOS), (True, 0)):
        manifest = pack_manifest(plan, loaded, [[]], layout, emulated=emulated)
        place = layout.offset("manifest_header", "device_regulators")
        assert int.from_bytes(manifest[place : place + 8], "little") == page
        error, offset = manifest_check("full").verdict_on(manifest, 1 << 24)
        assert layout.enum_name("manifest_error", error) == "none", hex(offset)
    options = BuildOptions(), BuildOptions(board=True), BuildOptions(hosted=True)
    assert [one.emulated for one in options] == [True, False, False]


@pytest.mark.req("D5")
def test_nothing_is_said_against_a_regulated_device_and_its_charge_is_no_more_than_the_hardware_moves(
    tmp_path: Path,
) -> None:
    on = board(tmp_path, device(1, rate="200 MB/s"))
    loaded = load_system(system(tmp_path, str(on), {"nic1": "190 MB/s"}))
    assert loaded.ok and loaded.system is not None and loaded.platform is not None, loaded.problems
    assert not [one for one in loaded.notices if "device_rates" in one.key]
    (rate,) = device_rates(loaded.system, loaded.platform)
    assert rate.charged == 2 * 6 * STEP_MB_S * MB


@pytest.mark.req("D5")
def test_a_device_without_a_declared_rate_is_not_regulated(tmp_path: Path) -> None:
    plan = plan_of(system(tmp_path, "zcu102", {"adma": ""}))
    (rate,) = device_rates(plan.system, plan.platform)
    assert (rate.register, rate.charged) == (None, None)
    assert set(device_regulators_row(plan, load_layout(), None)["reads"]) == {0}  # type: ignore[arg-type]
    assert smallest_program(plan, None) == "space"


@pytest.mark.req("D5")
def test_a_rate_below_a_unit_of_the_register_is_refused(tmp_path: Path) -> None:
    (problem,) = load_system(system(tmp_path, "zcu102", {"adma": "31 MB/s"})).problems
    assert (problem.key, problem.code) == ("domains[0].device_rates.adma", "out-of-range")
    assert "at least 31.25 MB/s" in problem.text()
    assert load_system(system(tmp_path, "zcu102", {"adma": "31.25 MB/s"})).ok


@pytest.mark.req("D5")
def test_the_largest_setting_is_that_of_the_register(tmp_path: Path) -> None:
    plan = plan_of(system(tmp_path, "zcu102", {"adma": "900 GB/s"}))
    (rate,) = device_rates(plan.system, plan.platform)
    assert rate.register is not None and rate.register.value == 4095


@pytest.mark.req("D5")
def test_one_more_regulated_device_than_the_hypervisor_has_room_for_is_refused(tmp_path: Path) -> None:
    devices = [device(number) for number in range(1, 6)]
    on = board(tmp_path, *devices)
    assert load_system(system(tmp_path, str(on), dict.fromkeys(names(*devices[:4]), "64 MB/s"))).ok
    (problem,) = load_system(system(tmp_path, str(on), dict.fromkeys(names(*devices), "64 MB/s"))).problems
    assert (problem.key, problem.code) == ("domains[0].device_rates.nic5", "out-of-range")


def described(*devices: dict[str, Any], regulators: tuple[str, ...] = ("adma", "nic1", "nic2")) -> Platform:
    found = platform("zcu102")
    assert found.interconnect is not None
    masters = tuple(
        Regulator.model_validate({"master": one, "clock": "2 ns", "transaction": 128}) for one in regulators
    )
    update = {
        "devices": tuple(Device.model_validate_json(json.dumps(one)) for one in devices),
        "interconnect": found.interconnect.model_copy(update={"regulators": masters}),
    }
    return found.model_copy(update=update)


@pytest.mark.req("D5")
@pytest.mark.parametrize(
    ("qos", "code"),
    [
        (QOS + 0x1100, "alignment"),
        (1 << 39, "out-of-range"),
        (QOS, "overlap"),
        (0xF901_0000, "overlap"),  # the interrupt controller's
        (0xF700_1000, "overlap"),  # the device's own registers
        (0x1000_0000, "overlap"),  # memory
    ],
)
def test_a_regulators_page_belongs_to_nothing_else(qos: int, code: str) -> None:
    assert code in {one.code for one in check_devices(described(device(1, qos=qos)))}
    assert not list(check_devices(described(device(1))))


@pytest.mark.req("D5")
def test_a_regulator_without_a_clock_and_one_of_two_devices_are_refused() -> None:
    (found,) = check_devices(described(device(1), regulators=("adma",)))
    assert (found.path, found.code) == (("devices", 0, "qos"), "missing-key")
    shared = list(check_devices(described(device(1), device(2, qos=QOS + 0x1000))))
    assert {one.code for one in shared} == {"overlap"}
