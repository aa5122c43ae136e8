# SPDX-License-Identifier: Apache-2.0
"""An IOMMU that the hypervisor drives: what the platform says of it, which devices it confines, and what the
manifest has of it (D1, D2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.masters import unconfined
from bulkhead.check.files import check_file
from bulkhead.config.crosscheck_interrupts import check_interrupts
from bulkhead.config.crosscheck_platform import check_platform
from bulkhead.config.devices import Device, Iommu
from bulkhead.config.platform import Platform
from bulkhead.package.program import smallest_program
from bulkhead.package.smmu import smmu_row, stream_rows
from bulkhead.run.status_smmu import read_smmu
from bulkhead.schema import load_layout

from ..platforms import platform
from .own_platform import SMMU, plan_of, two_domains

NIC: dict[str, Any] = {
    "name": "nic",
    "at": 0x0B20_0000,
    "size": 4096,
    "dma": True,
    "iommu": "smmu",
    "streams": [0x10, 0x8],
    "coherent": True,
}
V2: dict[str, Any] = {
    "type": "smmuv2",
    "interrupts": [106],
    "stream_bits": 15,
    "stream_entries": 48,
    "context_banks": 16,
}
DISK = {**NIC, "name": "disk", "at": 0x0B21_0000, "streams": [0x20]}


def described(iommus: list[dict[str, Any]], devices: list[dict[str, Any]]) -> Platform:
    update = {
        "iommus": tuple(Iommu.model_validate_json(json.dumps(one)) for one in iommus),
        "devices": tuple(Device.model_validate_json(json.dumps(one)) for one in devices),
    }
    return platform("qemu-virt").model_copy(update=update)


def planned(directory: Path, *devices: str, smmu: Mapping[str, Any] = SMMU, **domain: Any) -> Path:
    own = {"devices": [NIC, DISK], "iommus": [dict(smmu)]}
    return two_domains(directory, devices, ["disk"], own, **domain)


@pytest.mark.req("D1", "D2")
def test_a_device_behind_it_needs_no_trust(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, "nic"))
    assert [unconfined(domain, plan.platform) for domain in plan.system.domains] == [[], []]
    assert plan.platform.board == "qemu-virt-smmu"
    assert smallest_program(plan, None) == "full", "the other one has no driver"


@pytest.mark.req("D1")
def test_a_device_behind_an_iommu_that_is_not_driven_needs_trust(tmp_path: Path) -> None:
    path = planned(tmp_path, "nic", smmu={**SMMU, "driven": False})
    assert {one.code for one in check_file(str(path)).problems} == {"dma-unconfined"}


@pytest.mark.req("D2")
def test_a_board_whose_hypervisor_has_no_driver_is_refused(tmp_path: Path) -> None:
    """EL2 would refuse the manifest at boot."""
    path = two_domains(tmp_path, (), (), {"hypervisor": "qemu-virt"})
    (problem,) = check_file(str(path)).problems
    assert (problem.key, problem.code) == ("platform", "refused")
    assert "`iommus.type` is smmuv3" in problem.cause
    assert "'zcu102-smmu'" in str(problem.allowed)


@pytest.mark.req("D2")
def test_the_manifest_has_each_stream_once_with_its_domain(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, "nic"))
    assert stream_rows(plan) == [
        {"domain": 0, "stream": 0x8},
        {"domain": 0, "stream": 0x10},
        {"domain": 1, "stream": 0x20},
    ]
    assert smmu_row(plan.platform) == {
        "pa": 0x0905_0000,
        "stream_bits": 16,
        "event_irq": 106,
        "error_irq": 109,
        "version": 3,
    }


@pytest.mark.req("D2")
@pytest.mark.parametrize("asked", ["auto", "none"])
def test_a_domain_with_such_a_device_is_mapped_from_the_start(tmp_path: Path, asked: str) -> None:
    """The hypervisor cannot map a page when a device touches it."""
    path = planned(tmp_path)
    system = yaml.safe_load(path.read_text())
    system["isolation"] = {"premap": asked}
    path.write_text(json.dumps(system))
    assert [domain.premap for domain in plan_of(path).domains] == [False, True]


@pytest.mark.req("D1")
def test_its_registers_are_no_domains(tmp_path: Path) -> None:
    path = planned(tmp_path, "nic")
    own = yaml.safe_load((tmp_path / "own.yaml").read_text())
    own["devices"][0]["at"] = 0x0906_0000
    (tmp_path / "own.yaml").write_text(json.dumps(own))
    assert "overlap" in {one.code for one in check_file(str(path)).problems}


@pytest.mark.req("D1")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"size": 4096}, [("size", "out-of-range")]),
        ({"interrupts": [106]}, [("interrupts", "conflict")]),
        ({"interrupts": [106, 106]}, [("interrupts", "duplicate-name")]),
        ({"interrupts": [27, 106]}, [("interrupts", "out-of-range")]),
        ({"interrupts": [33, 106]}, [("interrupts", "duplicate-name")]),
        ({"stream_bits": None}, [("driven", "missing-key")]),
        ({"stream_bits": 4}, [("streams", "out-of-range")]),
        ({"at": 0x0800_0000}, [("at", "overlap")]),
        ({"at": 0}, [("at", "out-of-range")]),
        ({"at": 0, "driven": False}, []),
        (V2, []),
        ({**V2, "interrupts": [106, 109]}, [("interrupts", "conflict")]),
        ({**V2, "interrupts": []}, [("interrupts", "conflict")]),
        ({**V2, "stream_bits": 16}, [("stream_bits", "out-of-range")]),
        ({**V2, "stream_entries": None}, [("driven", "missing-key")]),
        ({**V2, "context_banks": None}, [("driven", "missing-key")]),
        ({**V2, "size": 0x40000}, [("size", "out-of-range")]),
    ],
)
def test_what_the_driver_needs_is_checked(change: dict[str, Any], found: list[tuple[str, str]]) -> None:
    board = described([{**SMMU, **change}], [NIC])
    seen = []
    for one in check_platform(board):
        keys = [key for key in one.path if isinstance(key, str)]
        seen.append((keys[-1], one.code))
    assert seen == found


@pytest.mark.req("D2")
@pytest.mark.parametrize(("change", "found"), [({}, []), (V2, ["conflict"])])
def test_an_smmuv2_cannot_force_how_memory_is_cached(change: dict[str, Any], found: list[str]) -> None:
    board = described([{**SMMU, **change}], [NIC])
    forced = board.model_copy(update={"cores": board.cores.model_copy(update={"s2fwb": True})})
    assert [one.code for one in check_platform(forced) if one.path[0] == "iommus"] == found


@pytest.mark.req("D1")
def test_no_other_device_of_the_hypervisor_has_its_interrupts() -> None:
    engine = platform("zcu102").dma[0].model_copy(update={"interrupts": (106,)})
    board = described([SMMU], []).model_copy(update={"dma": (engine,)})
    (found,) = check_interrupts(board)
    assert (found.path, found.code) == (("iommus", 0, "interrupts", 0), "duplicate-name")
    mpam = platform("mpam4").mpam
    assert mpam is not None
    first = mpam.components[0].model_copy(update={"error_interrupt": 109, "overflow_interrupt": None})
    board = described([SMMU], []).model_copy(
        update={"mpam": mpam.model_copy(update={"components": (first,)})}
    )
    (found,) = check_interrupts(board)
    assert (found.path, found.code) == (("iommus", 0, "interrupts", 1), "duplicate-name")


@pytest.mark.req("D1")
def test_streams_beyond_the_hypervisors_table_are_refused() -> None:
    for stream, codes in ((0x7FFF, []), (0x8000, ["out-of-range"])):
        board = described([SMMU], [{**NIC, "streams": [stream]}])
        assert [one.code for one in check_platform(board)] == codes
    second = {**SMMU, "name": "other", "at": 0x0B30_0000, "interrupts": [110, 111]}
    board = described([SMMU, second], [])
    assert [one.code for one in check_platform(board)] == ["conflict"], "one is driven"


@pytest.mark.req("D2")
def test_what_the_hypervisor_counted_is_read() -> None:
    layout = load_layout()
    raw = layout.unpack("status_smmu", bytes(layout.size("status_smmu")))
    raw |= {"refused": [5, 0, 7, 0, 0, 0, 0, 0], "nobody": 3, "overflows": 1, "unanswered": 2}
    page = layout.pack("status_smmu", raw)
    found = read_smmu(layout, 1, [0x1000, 0x2000], {0x2000: page}.get)
    assert found is not None
    assert found.refused[:3] == (5, 0, 7)
    assert found.as_json() == {
        "unowned_accesses": 3,
        "failed_accesses": 0,
        "overflows": 1,
        "global_errors": 0,
        "interrupts": 0,
        "unanswered": 2,
    }
    assert read_smmu(layout, 0, [0x1000], lambda _: page) is None
