# SPDX-License-Identifier: Apache-2.0
"""PCI functions of domains: what the platform says of them, what is refused, where BARs are, what the
manifest and the guest's device tree have of them (D3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import fdt
import pytest

from bulkhead.check.files import check_file
from bulkhead.config.crosscheck_platform import check_platform
from bulkhead.config.pci import PciHost
from bulkhead.config.platform import Platform
from bulkhead.package.devicetree import GuestBoard, device_tree
from bulkhead.package.manifest import device_rows, pack_manifest
from bulkhead.package.memory import LoadedMemory, LoadRegion
from bulkhead.package.pci import function_rows, pci_row, pci_tree
from bulkhead.package.program import smallest_program
from bulkhead.package.smmu import stream_rows
from bulkhead.package.verdict import manifest_check
from bulkhead.run.pci import pci_arguments
from bulkhead.schema import Layout

from ..platforms import platform
from .own_platform import plan_of, two_domains

NIC: dict[str, Any] = {
    "name": "nic",
    "at": "00:03.0",
    "vendor": 0x8086,
    "device": 0x10D3,
    "bars": [{"number": 3, "size": 0x1000}, {"number": 0, "size": 0x20000}],
    "pin": "A",
}
DISK: dict[str, Any] = {
    "name": "disk",
    "at": "00:04.0",
    "vendor": 0x1B36,
    "device": 0x0010,
    "bars": [{"number": 0, "size": 0x4000, "wide": True, "prefetchable": True}],
    "pin": "A",
    "emulated": {"device": "nvme,serial=1", "disk": "1 MiB"},
}
HOST: dict[str, Any] = {
    "at": 0x3F00_0000,
    "buses": 16,
    "memory": {"at": 0x1000_0000, "size": "1 MiB"},
    "interrupts": [35, 36, 37, 38],
    "iommu": "smmu",
    "coherent": True,
    "functions": [NIC, DISK],
}


def described(**change: Any) -> Platform:
    host = PciHost.model_validate_json(json.dumps({**HOST, **change}))
    return platform("qemu-virt-smmu").model_copy(update={"pci": host})


def planned(
    directory: Path,
    one: tuple[str, ...],
    two: tuple[str, ...],
    host: Mapping[str, Any] = HOST,
    devices: list[dict[str, Any]] | None = None,
    **domain: Any,
) -> Path:
    own = {"devices": devices or [], "pci": dict(host)}
    return two_domains(directory, one, two, own, **domain)


def codes(path: Path) -> list[tuple[str, str]]:
    return [(one.code, one.allowed or "") for one in check_file(str(path)).problems]


@pytest.mark.req("D3")
def test_bars_are_aligned_to_their_sizes_and_share_no_page() -> None:
    nic, disk = described().passable()["nic"], described().passable()["disk"]
    assert [(w.at, w.bytes) for w in nic.windows] == [(0x1000_0000, 0x20000), (0x1002_0000, 0x1000)]
    assert [(w.at, w.bytes) for w in disk.windows] == [(0x1002_4000, 0x4000)]
    assert (nic.streams, nic.interrupts) == ((0x18,), (38,))
    assert (disk.streams, disk.interrupts) == ((0x20,), (35,)), "the pins go round"


@pytest.mark.req("D3")
def test_the_manifest_has_the_functions_of_domains(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, ("disk",), ("nic",)))
    assert function_rows(plan) == [
        {
            "domain": 0,
            "requester": 0x20,
            "guest_slot": 4,
            "id": 0x0010_1B36,
            "pin": 1,
            "bar_kinds": 12,
            "messages": 0,
            "flags": 0,
            "bar_pa": [0x1002_4000, 0, 0, 0, 0, 0],
            "bar_bytes": [0x4000, 0, 0, 0, 0, 0],
        },
        {
            "domain": 1,
            "requester": 0x18,
            "guest_slot": 3,
            "id": 0x10D3_8086,
            "pin": 1,
            "bar_kinds": 0,
            "messages": 0,
            "flags": 0,
            "bar_pa": [0x1000_0000, 0, 0, 0x1002_0000, 0, 0],
            "bar_bytes": [0x20000, 0, 0, 0x1000, 0, 0],
        },
    ]
    assert stream_rows(plan) == [{"domain": 0, "stream": 0x20}, {"domain": 1, "stream": 0x18}]
    assert pci_row(plan.platform) == {
        "config_pa": 0x3F00_0000,
        "config_bytes": 1 << 20,
        "others_pa": 0x3F10_0000,
        "others_bytes": 15 << 20,
    }
    two = plan.system.domain("two")
    assert two is not None
    assert device_rows(plan.platform, two) == [
        {"ipa": 0x1000_0000, "pa": 0x1000_0000, "bytes": 0x20000},
        {"ipa": 0x1002_0000, "pa": 0x1002_0000, "bytes": 0x1000},
    ]
    assert smallest_program(plan, None) == "full", "the other one has no driver"
    assert [domain.premap for domain in plan.domains] == [True, True]


@pytest.mark.req("D3")
@pytest.mark.parametrize(("pin", "register"), [(None, 0), ("A", 1), ("D", 4)])
def test_the_manifest_names_the_pin_that_the_hardware_has(
    tmp_path: Path, pin: str | None, register: int
) -> None:
    named = {} if pin is None else {"pin": pin}
    host = {**HOST, "functions": [{key: value for key, value in NIC.items() if key != "pin"} | named]}
    (row,) = function_rows(plan_of(planned(tmp_path, ("nic",), (), host)))
    assert row["pin"] == register


@pytest.mark.req("D3")
def test_a_guest_finds_a_host_bridge_with_its_own_functions(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, ("disk",), ()))
    one, two = plan.system.domains
    assert pci_tree(two, plan.platform, ()) is None
    memory = (LoadRegion(0x4000_0000, 2 << 20),)
    board = GuestBoard(
        memory, 1, "cortex-a53", 0x0800_0000, b"", gicr=0x080A_0000, pci=pci_tree(one, plan.platform, ())
    )
    tree = fdt.parse_dtb(device_tree(board))
    node = tree.get_node("/pcie@3f000000")
    assert list(node.get_property("ranges")) == [0x0200_0000, 0, 0x1002_4000, 0, 0x1002_4000, 0, 0x4000]
    assert list(node.get_property("interrupt-map")) == [0x2000, 0, 0, 1, 1, 0, 3, 4]
    assert list(node.get_property("bus-range")) == [0, 0]
    assert node.exist_property("dma-coherent") and not node.exist_property("msi-map")
    assert tree.get_node("/chosen").get_property("linux,pci-probe-only").value == 1


@pytest.mark.req("D3")
def test_a_window_above_4_gib_has_addresses_of_64_bits(tmp_path: Path) -> None:
    host = {**HOST, "memory": {"at": 1 << 33, "size": "1 MiB"}, "functions": [DISK]}
    plan = plan_of(planned(tmp_path, ("disk",), (), host))
    tree = pci_tree(plan.system.domains[0], plan.platform, ())
    memory = (LoadRegion(0x4000_0000, 2 << 20),)
    board = GuestBoard(memory, 1, "cortex-a53", 0x0800_0000, b"", gicr=0x080A_0000, pci=tree)
    node = fdt.parse_dtb(device_tree(board)).get_node("/pcie@3f000000")
    assert list(node.get_property("ranges")) == [0x0300_0000, 2, 0, 2, 0, 0, 0x4000]


@pytest.mark.req("D3")
def test_functions_with_one_interrupt_are_of_one_domain(tmp_path: Path) -> None:
    near = {**DISK, "at": "00:07.0"}
    host = {**HOST, "functions": [NIC, near]}
    ((code, allowed),) = codes(planned(tmp_path, ("nic",), ("disk",), host))
    assert code == "shared-interrupt"
    assert "00:01.0" in allowed, "the first free slot with another line"
    assert codes(planned(tmp_path, ("nic", "disk"), (), host)) == []
    assert codes(planned(tmp_path, ("nic",), (), host)) == [], "nobody has the other one"


@pytest.mark.req("D3")
def test_a_function_has_one_domain(tmp_path: Path) -> None:
    assert {code for code, _ in codes(planned(tmp_path, ("nic",), ("nic",)))} >= {"duplicate-name"}
    ((code, allowed),) = codes(planned(tmp_path, ("nik",), ()))
    assert code == "unknown-name" and "nic" in allowed


@pytest.mark.req("D3")
def test_memory_of_a_domain_with_functions_is_outside_of_the_host_bridges_window(tmp_path: Path) -> None:
    memory = [{"at": 0x4000_0000, "size": "2 MiB"}, {"at": 0x100F_F000, "size": "4 KiB"}]
    (problem,) = check_file(str(planned(tmp_path, ("nic",), (), memory=memory))).problems
    assert (problem.key, problem.code) == ("domains[0].memory[1]", "overlap")
    assert "may not pass accesses of functions of 'one' to the IOMMU" in problem.cause
    assert check_file(str(planned(tmp_path, (), ("nic",), memory=memory))).problems == ()


@pytest.mark.req("D1", "D3")
def test_a_device_that_no_domain_has_shares_no_stream_with_a_function(tmp_path: Path) -> None:
    ghost = {
        "name": "ghost",
        "at": 0x0B01_2000,
        "size": 4096,
        "dma": True,
        "iommu": "smmu",
        "streams": [0x18],
    }
    (problem,) = check_file(str(planned(tmp_path, ("nic",), (), devices=[ghost]))).problems
    assert (problem.key, problem.code) == ("domains[0].devices[0]", "shared-stream")
    assert "'ghost', which no domain has, has stream 0x18" in problem.cause
    assert check_file(str(planned(tmp_path, ("nic", "ghost"), (), devices=[ghost]))).problems == ()


@pytest.mark.req("D3")
def test_memory_of_its_domain_is_elsewhere(tmp_path: Path) -> None:
    memory = [{"at": 0x1000_0000, "size": "2 MiB"}]
    assert {code for code, _ in codes(planned(tmp_path, ("nic",), (), memory=memory))} == {"overlap"}
    memory = [{"at": 0x3F00_0000, "size": "2 MiB"}]
    assert {code for code, _ in codes(planned(tmp_path, ("nic",), (), memory=memory))} == {"overlap"}


@pytest.mark.req("D3")
@pytest.mark.parametrize("at", [0x3F00_8000, 0x3F80_0000, 0x1000_0000])
def test_configuration_space_and_bars_are_no_ordinary_device(tmp_path: Path, at: int) -> None:
    page = {"name": "page", "at": at, "size": "4 KiB", "dma": False}
    assert "overlap" in {code for code, _ in codes(planned(tmp_path, ("page",), (), devices=[page]))}


@pytest.mark.req("D3")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"at": "01:00.0"}, [("at", "not-isolated", "00:01.0")]),
        ({"at": "00:03.1"}, [("at", "not-isolated", "00:03.0")]),
        ({"at": "00:00.0"}, [("at", "not-isolated", "00:01.0")]),
        ({"at": "00:04.0"}, [("at", "duplicate-name", "00:01.0")]),
        ({"name": "disk"}, [("name", "duplicate-name", "")]),
        ({"name": "rtc"}, [("name", "duplicate-name", "")]),
        ({"bars": [{"number": 0, "size": 3000}]}, [("size", "out-of-range", "power of two")]),
        ({"bars": [{"number": 0, "size": 6 << 10}]}, [("size", "out-of-range", "power of two")]),
        ({"bars": [{"number": 0, "size": 2048}]}, [("size", "out-of-range", "from 4 KiB on")]),
        ({"vendor": 0xFFFF}, [("vendor", "out-of-range", "0xfffe")]),
        ({"bars": [{"number": 0, "size": 4096}] * 2}, [("number", "duplicate-name", "")]),
        ({"bars": [{"number": 5, "size": 4096, "wide": True}]}, [("wide", "out-of-range", "up to 4")]),
        ({"bars": [{"number": 0, "size": 1 << 20}]}, [("bars", "out-of-range", "pci.memory")]),
    ],
)
def test_what_cannot_be_given_is_refused(change: dict[str, Any], found: list[tuple[str, str, str]]) -> None:
    board = described(functions=[DISK, {**NIC, **change}])
    seen = list(check_platform(board))
    keys = [[key for key in one.path if isinstance(key, str)][-1] for one in seen]
    assert [(key, one.code) for key, one in zip(keys, seen, strict=True)] == [row[:2] for row in found]
    assert all(row[2] in (one.allowed or "") for row, one in zip(found, seen, strict=True))


@pytest.mark.req("D3")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"iommu": "smu"}, {("pci", "iommu", "unknown-name")}),
        ({"interrupts": [35, 36, 37, 37]}, {("pci", "interrupts", "duplicate-name")}),
        ({"interrupts": [33, 36, 37, 38]}, {("pci", "interrupts", "duplicate-name")}),
        ({"interrupts": [20, 36, 37, 38]}, {("pci", "interrupts", "out-of-range")}),
        ({"memory": {"at": 0x1000_0800, "size": "1 MiB"}}, {("pci", "memory", "alignment")}),
        ({"memory": {"at": 0x3F00_0000, "size": "1 MiB"}}, {("pci", "memory", "overlap")}),
        ({"memory": {"at": 0x4000_0000, "size": "1 MiB"}}, {("pci", "memory", "overlap")}),
        ({"at": 0x0900_0000}, {("pci", "at", "overlap")}),
        ({"at": 0}, {("pci", "at", "out-of-range")}),
        ({"memory": {"at": 1 << 33, "size": "1 MiB"}}, {("pci", "functions", "out-of-range")}),
    ],
)
def test_a_host_bridge_that_cannot_be_is_refused(
    change: dict[str, Any], found: set[tuple[str, str, str]]
) -> None:
    board = described(**change)
    assert {(str(one.path[0]), str(one.path[1]), one.code) for one in check_platform(board)} == found


@pytest.mark.req("D3")
def test_its_iommu_has_a_stream_for_each_function() -> None:
    board = described()
    few = board.iommus[0].model_copy(update={"stream_bits": 5})
    (found,) = check_platform(board.model_copy(update={"iommus": (few,)}))
    assert (found.path, found.code) == (("pci", "functions", 1, "at"), "out-of-range")
    assert found.allowed == "00:01.0 to 00:03.0"


@pytest.mark.req("D3")
def test_the_hypervisor_accepts_what_is_planned(
    tmp_path: Path, layout: Layout, golden: Callable[[str, bytes], None]
) -> None:
    """The fuzz target begins with this manifest, too."""
    plan = plan_of(planned(tmp_path, ("disk",), ("nic",)))
    loaded = [LoadedMemory((), 0x4000_0000, 0, b"") for _ in plan.domains]
    manifest = pack_manifest(plan, loaded, [[] for _ in plan.domains], layout)
    error, offset = manifest_check("full").verdict_on(manifest, 1 << 24)
    assert layout.enum_name("manifest_error", error) == "none", hex(offset)
    golden("../fuzz/seeds/manifest/functions", bytes((n * 13) % 256 for n in range(17)) + manifest)


@pytest.mark.req("D3")
def test_the_emulator_gets_every_function_and_an_empty_disk(tmp_path: Path) -> None:
    arguments = pci_arguments(described(), tmp_path, {})
    path = tmp_path / "disk.img"
    assert arguments == (
        "-drive",
        f"if=none,id=disk,format=raw,file={path}",
        "-device",
        "nvme,serial=1,addr=0x4,romfile=,drive=disk",
    )
    assert path.stat().st_size == 1 << 20
    path.write_bytes(b"left over")
    pci_arguments(described(), tmp_path, {})
    assert path.read_bytes() == bytes(1 << 20)


@pytest.mark.req("D3")
def test_a_disk_with_a_content_is_a_file_that_the_run_leaves_as_it_is(tmp_path: Path) -> None:
    content = tmp_path / "a,b.img"
    arguments = pci_arguments(described(), tmp_path, {"disk": content})
    assert arguments[1] == f"if=none,id=disk,format=raw,file={tmp_path}/a,,b.img,snapshot=on"
    assert not (tmp_path / "disk.img").exists()


@pytest.mark.req("D3")
def test_a_function_with_a_network_has_a_back_end(tmp_path: Path) -> None:
    card = {**NIC, "emulated": {"device": "e1000e", "netdev": "user,restrict=on"}}
    assert pci_arguments(described(functions=[card]), tmp_path, {}) == (
        "-netdev",
        "user,restrict=on,id=nic",
        "-device",
        "e1000e,addr=0x3,romfile=,netdev=nic",
    )


@pytest.mark.req("D7")
def test_contents_of_disks_are_checked(tmp_path: Path) -> None:
    """A name of the domain's own disks, and a file of whole sectors."""

    def found(**disks: str) -> list[tuple[str, str]]:
        return codes(planned(tmp_path, ("disk",), ("nic",), disks=disks))

    (tmp_path / "good.img").write_bytes(bytes(1024))
    (tmp_path / "bad.img").write_bytes(bytes(1000))
    assert found(disk="./good.img") == []
    assert [code for code, _ in found(disk="./bad.img")] == ["bad-image"]
    assert [code for code, _ in found(disk="./none.img")] == ["missing-file"]
    assert [code for code, _ in found(disk="debain")] == ["bad-reference"]
    assert found(nic="./good.img") == [("unknown-name", "disk")], "another domain's, and no disk"
