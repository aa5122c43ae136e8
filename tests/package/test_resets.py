# SPDX-License-Identifier: Apache-2.0
"""Registers of the chip that reset devices: what the manifest has, and what a platform file may say of them
(D1, D2)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.admission.load import Loaded
from bulkhead.admission.not_reset import not_reset
from bulkhead.check.files import check_file
from bulkhead.config.crosscheck_platform import check_platform
from bulkhead.config.devices import Device
from bulkhead.config.problem import key_text
from bulkhead.package.manifest import pack_manifest
from bulkhead.package.memory import LoadedMemory
from bulkhead.package.program import smallest_program
from bulkhead.package.resets import reset_pages_row, reset_rows
from bulkhead.package.verdict import manifest_check
from bulkhead.planning.model import Plan
from bulkhead.schema import Layout, load_layout

from ..platforms import platform
from .own_platform import plan_of
from .test_smmuv2 import described

ALL = load_layout().constant("all_domains")
REGISTER = 0xFD1A_0100  # of sata on the ZCU102


def device(number: int, **reset: Any) -> Device:
    at = 0xF700_0000 + number * 0x1000
    return Device.model_validate(
        {"name": f"d{number}", "at": at, "size": 4096, "dma": False, "reset": {"mask": 1, **reset}}
    )


def with_devices(plan: Plan, *devices: Device) -> Plan:
    return replace(plan, platform=plan.platform.model_copy(update={"devices": devices, "dma": ()}))


@pytest.mark.req("D1", "D2")
def test_a_domain_s_device_is_reset_with_it(tmp_path: Path, layout: Layout) -> None:
    plan = plan_of(Path(described(tmp_path, {}, {"devices": ["sata"]})))
    assert reset_pages_row(plan) == {"page_0": REGISTER & ~0xFFF, "page_1": 0}
    row = {"page": 0, "offset": 0x100, "mask": 2, "held": 2, "hold_ns": 1000}
    assert reset_rows(plan) == [{"domain": 1, **row}]
    nobody = plan_of(Path(described(tmp_path, {}, {})))
    assert reset_rows(nobody) == [{"domain": ALL, **row}], "a boot loader may have left it running"


@pytest.mark.req("D1", "D2")
def test_the_hypervisor_accepts_resets_of_two_pages(tmp_path: Path, layout: Layout) -> None:
    plan = with_devices(
        plan_of(Path(described(tmp_path, {}))),
        device(0, at=0xFD1A_0100, mask=6),
        device(1, at=0xFF5E_0FFC, mask=1, held="zeros", hold="10 us"),
        device(2, at=0xFD1A_0104),
    )
    assert [(row["page"], row["held"], row["hold_ns"]) for row in reset_rows(plan)] == [
        (0, 6, 1000),
        (1, 0, 10_000),
        (0, 1, 1000),
    ]
    pages = reset_pages_row(plan)
    assert pages == {"page_0": 0xFD1A_0000, "page_1": 0xFF5E_0000}
    entry = plan.domains[0].segments[0].ipa
    manifest = pack_manifest(plan, [LoadedMemory((), entry, entry, b"")], [[]], layout)
    program = smallest_program(plan, None)
    error, _ = manifest_check(program).verdict_on(manifest, 1 << 24)
    assert layout.enum_name("manifest_error", error) == "none"


def faults(*devices: Device) -> list[tuple[str | int, str]]:
    board = platform("zcu102").model_copy(update={"devices": devices})
    return [(one.path[-1], one.code) for one in check_platform(board) if one.path[0] == "devices"]


@pytest.mark.req("D1")
def test_a_platform_contradicts_itself(layout: Layout) -> None:
    assert faults(device(0, at=REGISTER), device(1, at=REGISTER, mask=2)) == []
    assert faults(device(0, at=REGISTER + 2)) == [("at", "alignment")]
    assert faults(device(0, at=REGISTER, hold="11 us")) == [("hold", "out-of-range")]
    both = [device(0, at=REGISTER, mask=3), device(1, at=REGISTER, mask=2)]
    assert faults(*both) == [("mask", "conflict")], "one cannot be reset without the other"
    three = [device(number, at=REGISTER + number * 0x1000) for number in range(3)]
    assert faults(*three) == [("at", "limit")]
    assert faults(device(0, at=0xF700_0000)) == [("at", "overlap")], "a domain could reset others' devices"
    uart = platform("zcu102").uart
    assert uart is not None
    assert faults(device(0, at=uart.at))[-1] == ("at", "overlap"), "of the hypervisor's own"


def not_resets(path: Path, **changes: Any) -> list[tuple[str, str]]:
    """The notices about resets, after a change of both devices 'sata' and 'one' of the board."""
    loaded = check_file(str(path)).loaded
    assert isinstance(loaded, Loaded) and loaded.system is not None and loaded.platform is not None
    devices = [
        one.model_copy(update=changes) if one.name in ("sata", "one") else one
        for one in loaded.platform.devices
    ]
    board = loaded.platform.model_copy(update={"devices": tuple(devices)})
    return [(key_text(one.path), one.cause) for one in not_reset(loaded.system, board)]


@pytest.mark.req("D1", "D2")
def test_a_master_without_a_reset_is_noticed(tmp_path: Path) -> None:
    path = Path(described(tmp_path, {}, {"devices": ["sata", "one"]}))
    (shown,) = [one for one in check_file(str(path)).notices if one.code == "not-reset"]
    assert shown.key == "domains[1].devices[1]", "'sata' has a reset"
    ((key, cause),) = not_resets(path)
    assert (key, cause) == (shown.key, shown.cause)
    assert cause.startswith(
        "platform 'own' has no `reset` of 'one': the device goes on with what a boot loader, "
    )
    assert cause.endswith("When 'd1' runs again, the device can overwrite the memory of 'd1'")
    assert [key for key, _ in not_resets(path, reset=None)] == ["domains[1].devices[0]", shown.key]
    for _, cause in not_resets(path, reset=None, iommu=None, streams=()):
        assert cause.endswith("it can overwrite what the hypervisor loads at its start and at a restart")


@pytest.mark.req("D1", "D2")
@pytest.mark.parametrize(
    ("first", "second", "noticed"),
    [
        ({}, {}, False),
        ({}, {"restart": "on-failure"}, True),
        ({"restart": "on-failure"}, {}, False),
        ({"manager": True}, {}, True),
    ],
)
def test_registers_without_a_reset_are_noticed_if_the_domain_is_restarted(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], noticed: bool
) -> None:
    path = Path(described(tmp_path, first, {"devices": ["one"], **second}))
    found = not_resets(path, dma=False, iommu=None, streams=())
    assert [key for key, _ in found] == ["domains[1].devices[0]"] * noticed
    assert all("after a restart 'd1' finds the device as it was" in cause for _, cause in found)
