# SPDX-License-Identifier: Apache-2.0
"""Devices that master memory: refused unless the domain is trusted, and then every report states that
(D1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.load import Loaded, load_system
from bulkhead.admission.load_components import LoadedComponents
from bulkhead.check.files import check_file
from bulkhead.config.crosscheck_platform import check_platform
from bulkhead.config.devices import Device, Iommu
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_names, platform_path
from bulkhead.package.manifest import device_rows
from bulkhead.planning.resolve import resolved_text
from bulkhead.run.prepare import make_promise

from ..command_line import invoked, run_json
from ..platforms import platform

ROOT = Path(__file__).parents[2]
BAD = ROOT / "examples" / "bad"
DMA = BAD / "device-dma.yaml"
TRUSTED = ("--set", "domains.linux.dma=trusted")
SAYS = "'linux' is trusted with 'fw-cfg', which masters memory and is not behind an IOMMU"

NIC = {"name": "nic", "at": 0x0B00_0000, "size": 4096, "dma": True, "iommu": "smmu", "streams": (16, 17)}
SMMU = {"name": "smmu", "type": "smmuv2", "at": 0x0B10_0000, "size": 0x20000}


def given(directory: Path, described: list[dict[str, Any]], **domain: Any) -> Path:
    """A system whose only domain has all these devices, on a platform file of its own."""
    platform = {
        "platform": 1,
        "name": "own",
        "description": "own",
        "extends": "qemu-virt",
        "devices": described,
    }
    (directory / "own.yaml").write_text(yaml.safe_dump(platform))
    memory = [{"at": 0x4000_0000, "size": "2 MiB"}]
    domain = {"name": "one", "cpus": [0], "image": {"elf": "guests/hello.elf"}, "memory": memory, **domain}
    system = {"bulkhead": 1, "name": "system", "platform": "./own.yaml", "domains": [domain]}
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(system))
    return path


@pytest.mark.parametrize("name", platform_names())
def test_d1_each_platform_says_what_its_devices_master_and_why(name: str) -> None:
    path = platform_path(name)
    assert path is not None
    platform, _, problems = load_platform(path)
    assert platform is not None, problems
    assert all("dma:" in (device.source or "") for device in platform.devices)
    assert all(one.iommu is None or one.streams for one in platform.passable().values())


def test_d1_trust_is_said_by_check_plan_and_as_json() -> None:
    for command in ("check", "plan"):
        done = invoked(command, DMA, *TRUSTED)
        assert done.exit_code == 0
        assert SAYS in " ".join(done.stderr.split())
        assert "trusted: linux reaches all memory with the DMA of fw-cfg" in done.stdout
    _, result = run_json("check", DMA, *TRUSTED)
    notices, domains = result["files"][0]["notices"], result["files"][0]["promised"]["domains"]
    assert ("domains[0].dma", "dma-trusted") in [(notice["key"], notice["code"]) for notice in notices]
    assert [domain["unconfined_devices"] for domain in domains] == [["fw-cfg"], []]
    _, result = run_json("plan", DMA, *TRUSTED)
    assert [domain["unconfined_devices"] for domain in result["domains"]] == [["fw-cfg"], []]
    assert "dma-trusted" in [notice["code"] for notice in result["notices"]]


def test_d1_what_is_refused_is_refused_by_every_command() -> None:
    for command in ("check", "plan", "build", "run"):
        done = invoked(command, DMA)
        assert done.exit_code == 1
        assert "'fw-cfg' masters memory and is not behind an IOMMU" in " ".join(done.stderr.split())


def test_d1_an_iommu_that_nothing_drives_confines_nothing() -> None:
    (problem,) = check_file(str(BAD / "device-dma-colored.yaml")).problems
    assert "behind the IOMMU 'smmu', which the hypervisor does not drive" in problem.cause
    overrides = ["isolation.llc=none", "domains.linux.llc=auto", "domains.control.llc=auto"]
    assert [one.code for one in check_file(str(BAD / "device-dma-colored.yaml"), overrides).problems] == [
        "dma-unconfined"
    ]


def about_dma(loaded: Loaded | LoadedComponents) -> list[str]:
    return [one.code for one in loaded.notices if one.key == "domains[0].dma"]


def test_d1_trust_survives_a_resolved_file_and_unprotected(tmp_path: Path) -> None:
    for unprotected in (False, True):
        checked = check_file(str(DMA), ["domains.linux.dma=trusted"], unprotected=unprotected)
        assert checked.plan is not None
        assert about_dma(checked.loaded) == ["dma-trusted"]
        resolved = tmp_path / "resolved.yaml"
        resolved.write_text(resolved_text(checked.plan, beside=BAD, target=tmp_path))
        assert about_dma(check_file(str(resolved)).loaded) == ["dma-trusted"]
    assert [one.code for one in check_file(str(DMA), unprotected=True).problems] == ["dma-unconfined"]


def test_trust_without_a_master_is_noticed() -> None:
    overrides = ["domains.linux.dma=trusted", "domains.linux.devices=[rtc]"]
    assert about_dma(load_system(DMA, overrides)) == ["no-effect"]


@pytest.mark.parametrize(
    ("nic", "where"),
    [
        ({}, []),
        ({"iommu": "smu"}, [("iommu", "unknown-name")]),
        ({"streams": ()}, [("iommu", "missing-key")]),
        ({"iommu": None}, [("streams", "conflict")]),
        ({"dma": False}, [("iommu", "conflict")]),
        ({"streams": (16, 1 << 16)}, [("streams", "out-of-range")]),
        ({"streams": (16, 16)}, [("streams", "duplicate-name")]),
        ({"name": "smmu"}, [("name", "duplicate-name")]),
        ({"at": 0x4000_0000 - 64, "size": 128}, [(0, "overlap")]),
        ({"interrupts": (187,)}, [("interrupts", "duplicate-name")]),
    ],
)
def test_d1_a_platform_contradicts_itself(nic: dict[str, Any], where: list[tuple[str | int, str]]) -> None:
    changed = {
        "devices": (Device.model_validate({**NIC, **nic}),),
        "iommus": (Iommu.model_validate({**SMMU, "interrupts": (187,)}),),
    }
    found = check_platform(platform("qemu-virt").model_copy(update=changed))
    assert [
        (next((part for part in one.path[2:3]), one.path[1]), one.code)
        for one in found
        if one.path[0] in ("devices", "iommus")
    ] == where


def test_d1_a_device_over_the_registers_of_an_iommu_is_refused(tmp_path: Path) -> None:
    path = given(tmp_path, [{"name": "a", "at": 0x0B20_0000, "size": "64 KiB", "dma": False}], devices=["a"])
    text = (tmp_path / "own.yaml").read_text()
    (tmp_path / "own.yaml").write_text(text + yaml.safe_dump({"iommus": [{**SMMU, "at": 0x0B20_F000}]}))
    (problem,) = check_file(str(path)).problems
    assert (problem.code, problem.allowed) == ("shared-page", "a device with pages of its own")


def test_d1_devices_of_one_page_are_mapped_once(tmp_path: Path) -> None:
    """The slots have 512 bytes and belong to one domain: each page is named once, and the witness allows no
    other."""
    slots = [
        {"name": f"slot-{number}", "at": 0x0A00_2E00 + 512 * number, "size": "512 B", "dma": False}
        for number in range(4)
    ]
    path = given(tmp_path, slots, devices=[slot["name"] for slot in reversed(slots)])
    checked = check_file(str(path))
    assert checked.plan is not None, checked.problems
    rows = device_rows(checked.plan.platform, checked.plan.system.domains[0])
    assert [(row["ipa"], row["pa"], row["bytes"]) for row in rows] == [
        (0x0A00_2000, 0x0A00_2000, 0x1000),
        (0x0A00_3000, 0x0A00_3000, 0x1000),
    ]
    allowed = make_promise(checked.plan).domains[0].devices
    assert {(window.pa, window.bytes) for window in allowed} == {(row["pa"], row["bytes"]) for row in rows}


@pytest.mark.req("F1")
@pytest.mark.parametrize(
    ("device", "key"),
    [({"at": 0x0A00_0000}, "at"), ({"at": 0x0B00_0000, "interrupts": (48,)}, "interrupt")],
)
def test_no_device_is_where_the_emulated_socket_is(device: dict[str, Any], key: str) -> None:
    board = platform("qemu-virt")
    assert board.socket is not None and (board.socket.at, board.socket.interrupt) == (0x0A00_0000, 48)
    own = Device.model_validate({"name": "own", "size": 64, "dma": False, "source": "own", **device})
    (found,) = check_platform(board.model_copy(update={"devices": (own,)}))
    assert found.path == ("socket", key)
    assert "'own'" in found.cause
