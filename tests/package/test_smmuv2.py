# SPDX-License-Identifier: Apache-2.0
"""The ZCU102's SMMU-500, which the hypervisor drives: what its manifest has, how many streams and domains are
possible behind it, and which memory their devices reach beside a GICv2 (D1, D2)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.admission.masters import unconfined
from bulkhead.check.files import check_file
from bulkhead.config.crosscheck_platform import check_platform
from bulkhead.config.platform import Platform
from bulkhead.evidence.contexts import Places
from bulkhead.evidence.promise import Smmuv2Promise
from bulkhead.package.manifest import pack_manifest
from bulkhead.package.memory import LoadedMemory
from bulkhead.package.program import smallest_program
from bulkhead.package.smmu import smmu_row, stream_rows
from bulkhead.package.verdict import manifest_check
from bulkhead.planning.model import Plan
from bulkhead.run.prepare import make_promise
from bulkhead.schema import Layout

from ..platforms import platform

LIMIT = 0x8000_0000
# Made-up devices of the full-power domain, with three streams together.
MADE_UP = [
    {"name": "one", "at": 0xFD60_0000, "size": 4096, "dma": True, "iommu": "smmu", "streams": [0xC01]},
    {"name": "two", "at": 0xFD60_1000, "size": 4096, "dma": True, "iommu": "smmu", "streams": [0xC02, 0xC03]},
]


def described(directory: Path, *domains: dict[str, Any], own: dict[str, Any] | None = None) -> str:
    """A system of domains with one core each, on a board like zcu102-smmu with made-up devices and `own` keys
    of its SMMU."""
    board = platform("zcu102-smmu")
    iommu = board.iommus[0].model_dump(mode="json", exclude_none=True)
    keys = {"platform": 1, "name": "own", "description": "own", "extends": "zcu102", "emulator": []}
    devices = [one.model_dump(mode="json", exclude_unset=True) for one in board.devices]
    more = {"iommus": [{**iommu, **(own or {})}], "devices": devices + MADE_UP, "dma": []}
    (directory / "own.yaml").write_text(json.dumps({**keys, "hypervisor": board.name, **more}))
    name = "./own.yaml"
    plain = {"image": {"elf": "guests/hello.elf"}, "memory": [{"at": 0x4000_0000, "size": "2 MiB"}]}
    rows = [
        {"name": f"d{number}", "cpus": [number], **plain, **domain} for number, domain in enumerate(domains)
    ]
    system = {"bulkhead": 1, "name": "system", "platform": name, "domains": rows}
    path = directory / "system.yaml"
    path.write_text(json.dumps(system))
    return str(path)


def plan_of(path: str) -> Plan:
    checked = check_file(path)
    assert checked.plan is not None, [one.cause for one in checked.problems]
    return checked.plan


def problems(path: str) -> list[tuple[str, str]]:
    return [(one.key or "", one.code) for one in check_file(path).problems]


@pytest.mark.req("D1", "D2")
def test_devices_behind_it_need_no_trust_and_are_in_the_manifest(tmp_path: Path) -> None:
    plan = plan_of(described(tmp_path, {"devices": ["sata"]}, {"devices": ["one", "two"]}))
    assert [unconfined(domain, plan.platform) for domain in plan.system.domains] == [[], []]
    assert plan.platform.board == "zcu102-smmu"
    assert smallest_program(plan, None) == "full", "the other one has no driver"
    assert [domain.premap for domain in plan.domains] == [True, True]
    assert stream_rows(plan) == [
        *({"domain": 0, "stream": stream} for stream in (0x4C0, 0x4C1, 0x4C2, 0x4C3)),
        *({"domain": 1, "stream": stream} for stream in (0xC01, 0xC02, 0xC03)),
    ]
    assert smmu_row(plan.platform) == {
        "pa": 0xFD80_0000,
        "stream_bits": 15,
        "event_irq": 187,
        "error_irq": 187,
        "version": 2,
    }


@pytest.mark.req("D2")
def test_the_witness_is_told_of_streams_places_and_addresses(tmp_path: Path) -> None:
    plan = plan_of(described(tmp_path, {"devices": ["sata"]}, {"devices": ["one"]}))
    owners = {**dict.fromkeys((0x4C0, 0x4C1, 0x4C2, 0x4C3), "d0"), 0xC01: "d1"}
    places = Places(size=128 << 10, entries=48, banks=16)
    promised = Smmuv2Promise(0xFD80_0000, owners, places, LIMIT.bit_length() - 1)
    assert make_promise(plan).smmu == promised
    gic = plan.platform.interrupt_controller
    assert gic is not None and gic.cpu_interface is not None
    other = plan.platform.model_copy(
        update={"interrupt_controller": gic.model_copy(update={"type": "gicv3"})}
    )
    found = make_promise(replace(plan, platform=other)).smmu
    assert found == replace(promised, input_bits=48), "stage 2 maps no interrupt registers for VCPUs"


@pytest.mark.req("D2")
def test_the_hypervisor_accepts_what_is_planned(tmp_path: Path, layout: Layout) -> None:
    plan = plan_of(described(tmp_path, {"devices": ["sata"]}, {"devices": ["one", "two"]}))
    loaded = [LoadedMemory((), 0x4000_0000, 0, b"") for _ in plan.domains]
    manifest = pack_manifest(plan, loaded, [[] for _ in plan.domains], layout)
    for program, verdict in (("full", "none"), ("space", "not_in_image")):
        error, offset = manifest_check(program).verdict_on(manifest, 1 << 24)
        assert layout.enum_name("manifest_error", error) == verdict, hex(offset)


@pytest.mark.req("D1")
def test_on_the_board_itself_only_devices_that_always_pass_it_can_be_given() -> None:
    """Those of the low-power domain can bypass it, by a register that no program here writes."""
    board = platform("zcu102-smmu")
    assert [*board.passable()] == ["sata"]
    assert all(0xFD00_0000 <= one.at < 0xFE00_0000 for one in board.passable().values())


@pytest.mark.req("D2")
@pytest.mark.parametrize(
    ("own", "found"),
    [
        ({}, []),
        ({"stream_entries": 7}, []),
        ({"stream_entries": 6}, [("domains[1].devices", "out-of-range")]),
        ({"context_banks": 2}, []),
        ({"context_banks": 1}, [("domains[1].devices", "out-of-range")]),
    ],
)
def test_more_streams_or_domains_than_it_has_are_refused(
    tmp_path: Path, own: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    domains: tuple[dict[str, Any], ...] = {"devices": ["sata"]}, {"devices": ["one", "two"]}, {}
    assert problems(described(tmp_path, *domains, own=own)) == found


@pytest.mark.req("D2")
def test_memory_that_devices_do_not_reach_is_refused(tmp_path: Path) -> None:
    for start, found in (
        (LIMIT - 0x20_0000, []),
        (LIMIT - 0x10_0000, [("domains[0].memory[1]", "out-of-range")]),
    ):
        memory = [{"at": 0x4000_0000, "size": "2 MiB"}, {"at": start, "size": "2 MiB"}]
        assert problems(described(tmp_path, {"devices": ["one"], "memory": memory})) == found
        assert problems(described(tmp_path, {"memory": memory})) == [], "a domain without such a device"


@pytest.mark.req("D2")
def test_interrupt_registers_of_guests_are_beyond_what_devices_reach() -> None:
    board = platform("zcu102-smmu")
    gic = board.interrupt_controller
    assert gic is not None

    def found(at: int) -> list[str]:
        low: Platform = board.model_copy(
            update={"interrupt_controller": gic.model_copy(update={"cpu_interface": at})}
        )
        return [one.code for one in check_platform(low) if one.path[0] == "iommus"]

    assert found(LIMIT) == []
    assert found(LIMIT - 0x1000) == ["conflict"]
