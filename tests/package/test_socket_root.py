# SPDX-License-Identifier: Apache-2.0
"""A socket device on a virtual PCI root (D3): what `check` refuses, and what the manifest and the guest's
device tree say. One domain of the system has it, the other has virtio-mmio."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fdt

from bulkhead.check.files import check_file
from bulkhead.package.devicetree import GuestBoard, device_tree
from bulkhead.package.manifest import _socket
from bulkhead.package.memory import LoadRegion
from bulkhead.package.pci import socket_root

from .own_platform import plan_of

ROOT, DEVICE, INTID, BUS_BYTES = 0x0A10_0000, 0x0A00_0000, 48, 0x0010_0000


def system(
    directory: Path, *, flows: bool = True, platform: dict[str, Any] | None = None, **domain: Any
) -> Path:
    """`domain`: keys of the domain on PCI. `platform`: keys beside those of qemu-virt."""
    own = {"platform": 1, "name": "own", "description": "own", "extends": "qemu-virt", **(platform or {})}
    (directory / "own.yaml").write_text(json.dumps(own))
    plain = {"image": {"elf": "guests/hello.elf"}, "memory": [{"at": 0x4000_0000, "size": "2 MiB"}]}
    frames = {"name": "frames", "from": "one", "to": "two", "port": 5000}
    frames |= {"size": "1 KiB", "period": "10 ms", "deadline": "10 ms"}
    wanted = {
        "bulkhead": 1,
        "name": "system",
        "platform": "./own.yaml",
        "domains": [
            {"name": "one", "cpus": [0], **plain, "socket_transport": "pci", **domain},
            {"name": "two", "cpus": [1], **plain},
        ],
        **({"broker": {"cpu": 3}, "flows": [frames]} if flows else {}),
    }
    path = directory / "system.yaml"
    path.write_text(json.dumps(wanted))
    return path


def problems(path: Path) -> list[tuple[str, str]]:
    return [(one.code, one.allowed or "") for one in check_file(str(path)).problems]


def test_d3_a_domain_without_a_socket_device_is_refused(tmp_path: Path) -> None:
    ((code, allowed),) = problems(system(tmp_path, flows=False))
    assert code == "conflict"
    assert "socket: true" in allowed


def test_d3_a_platform_without_a_place_for_the_root_is_refused(tmp_path: Path) -> None:
    socket = {"at": DEVICE, "interrupt": INTID}
    ((code, allowed),) = problems(system(tmp_path, platform={"socket": socket}))
    assert code == "missing-key"
    assert "socket.root" in allowed


def test_d3_memory_or_a_device_at_the_root_is_refused_for_this_domain_only(tmp_path: Path) -> None:
    memory = [{"at": 0x4000_0000, "size": "2 MiB"}, {"at": ROOT + BUS_BYTES - 0x1000, "size": "4 KiB"}]
    ((code, _),) = problems(system(tmp_path, memory=memory))
    assert code == "overlap"
    assert not problems(system(tmp_path, memory=memory, socket_transport="mmio"))
    timer = {"name": "timer", "at": ROOT, "size": "4 KiB", "dma": False, "interrupts": [60]}
    ((code, _),) = problems(system(tmp_path, devices=["timer"], platform={"devices": [timer]}))
    assert code == "overlap"


def test_d3_a_root_is_a_whole_bus_beside_the_device(tmp_path: Path) -> None:
    for root, wrong in (
        (ROOT + 0x1000, "misaligned"),
        (DEVICE, "overlap"),
        (0, "out-of-range"),
        (1 << 39, "out-of-range"),
    ):
        socket = {"at": DEVICE, "interrupt": INTID, "root": root}
        assert [code for code, _ in problems(system(tmp_path, platform={"socket": socket}))] == [wrong]


def test_d3_the_manifest_has_the_root_for_its_domain_only(tmp_path: Path) -> None:
    plan = plan_of(system(tmp_path))
    assert _socket(plan, "one") == {
        "socket_ipa": DEVICE,
        "socket_root_ipa": ROOT,
        "socket_cid": 3,
        "socket_irq": INTID,
        "socket_broker": 0,
        "interrupted_ns": plan.brokers[0].model.costs.interrupts.ends["one"],  # by the console
    }
    assert _socket(plan, "two")["socket_root_ipa"] == 0
    assert _socket(plan, "broker")["socket_root_ipa"] == 0


def test_d3_the_tree_has_a_host_bridge_with_the_devices_line(tmp_path: Path) -> None:
    root = socket_root(plan_of(system(tmp_path)).platform)
    memory = (LoadRegion(0x4000_0000, 0x20_0000),)
    board = GuestBoard(memory, 1, "cortex-a53", 0x0800_0000, b"", gicr=0x080A_0000, socket_root=root)
    tree = fdt.parse_dtb(device_tree(board))
    node = tree.get_node(f"/pcie@{ROOT:x}")
    assert node.get_property("compatible").value == "pci-host-ecam-generic"
    assert node.get_property("reg").data == [0, ROOT, 0, 1 << 20]
    assert node.get_property("ranges").data == [0x0200_0000, 0, DEVICE, 0, DEVICE, 0, 0x1000]
    assert node.get_property("interrupt-map").data == [0, 0, 0, 1, 1, 0, INTID - 32, 4]
    assert node.exist_property("dma-coherent")
    assert not node.exist_property("msi-map")
    assert tree.get_node("/chosen").get_property("linux,pci-probe-only").value == 1
    assert not [one for one in tree.root.nodes if one.name.startswith("virtio_mmio")]
