# SPDX-License-Identifier: Apache-2.0
"""Message interrupts of PCI functions: what the platform says of the ITS, what is refused, what the manifest
and the guest's device tree have of them (D4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import fdt
import numpy as np
import pytest

from bulkhead.check.files import check_file
from bulkhead.config.crosscheck_platform import check_platform
from bulkhead.config.pci import PciFunction, PciHost
from bulkhead.config.platform import InterruptController, Platform
from bulkhead.config.regions import ram_of
from bulkhead.package.devicetree import GuestBoard, device_tree
from bulkhead.package.manifest import pack_manifest
from bulkhead.package.memory import LoadedMemory, LoadRegion
from bulkhead.package.owners import HYPERVISOR, observe_config, owners_map
from bulkhead.package.pci import function_rows, its_row, pci_tree
from bulkhead.package.verdict import manifest_check
from bulkhead.planning.model import Plan
from bulkhead.schema import Layout, load_layout

from ..platforms import platform
from .own_platform import plan_of, two_domains


def without(mapping: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name != key}


GIC: dict[str, Any] = {
    "type": "gicv3",
    "distributor": 0x0800_0000,
    "redistributors": 0x080A_0000,
    "its": {"at": 0x0808_0000, "pending": 0x4010_0000},
}
CARD: dict[str, Any] = {
    "name": "card",
    "at": "00:03.0",
    "vendor": 0x8086,
    "device": 0x10D3,
    "bars": [{"number": 0, "size": 0x20000}],
    "pin": "A",
    "messages": 5,
}
DISK: dict[str, Any] = {**CARD, "name": "disk", "at": "00:04.0", "messages": 8}
HOST: dict[str, Any] = {
    "at": 0x3F00_0000,
    "buses": 16,
    "memory": {"at": 0x1000_0000, "size": "1 MiB"},
    "interrupts": [35, 36, 37, 38],
    "iommu": "smmu",
    "coherent": True,
    "functions": [CARD, DISK],
}
OLD: dict[str, Any] = {**without(GIC, "its"), "messages": {"at": 0x0808_0000, "size": "128 KiB"}}
NO_ITS = {"pa": 0, "pending_pa": 0, "pending_bytes": 0}


def planned(
    directory: Path,
    one: tuple[str, ...],
    two: tuple[str, ...],
    own: Mapping[str, Any] | None = None,
    **domain: Any,
) -> Path:
    return two_domains(
        directory, one, two, {"interrupt_controller": GIC, "pci": HOST, **(own or {})}, **domain
    )


def codes(path: Path) -> list[str]:
    return [one.code for one in check_file(str(path)).problems]


def blob_of(plan: Plan, number: int) -> bytes:
    domain = plan.system.domains[number]
    host = pci_tree(domain, plan.platform, plan.system.shared_cores())
    memory = (LoadRegion(0x4000_0000, 2 << 20),)
    board = GuestBoard(memory, 1, "cortex-a53", 0x0800_0000, b"", gicr=0x080A_0000, pci=host)
    return device_tree(board)


def tree_of(plan: Plan, number: int) -> Any:
    return fdt.parse_dtb(blob_of(plan, number))


@pytest.mark.req("D4")
def test_the_manifest_has_the_its_and_each_functions_messages(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, ("disk",), ("card",)))
    assert its_row(plan.platform) == {
        "pa": 0x0808_0000,
        "pending_pa": 0x4010_0000,
        "pending_bytes": 4 << 16,
    }
    assert [row["messages"] for row in function_rows(plan)] == [8, 5]


@pytest.mark.req("D4")
def test_without_an_its_the_record_is_empty() -> None:
    assert its_row(platform("qemu-virt")) == NO_ITS
    with_its = platform("qemu-virt-smmu")
    assert its_row(with_its.model_copy(update={"pci": None})) == NO_ITS, "no PCI is driven"
    assert its_row(with_its) != NO_ITS


@pytest.mark.req("D4")
def test_a_domain_on_a_shared_core_has_lines_instead(tmp_path: Path) -> None:
    path = planned(tmp_path, ("disk",), ("card",), cpus=[1, 2])
    plan = plan_of(path)
    assert [row["messages"] for row in function_rows(plan)] == [0, 0]
    for number in range(2):
        tree = tree_of(plan, number)
        assert not tree.exist_node("/interrupt-controller@8000000/msi-controller@8080000")
        assert not tree.get_node("/pcie@3f000000").exist_property("msi-map")


@pytest.mark.req("D4")
def test_a_domain_has_no_more_messages_than_its_its_has_room_for(tmp_path: Path) -> None:
    card = {**without(CARD, "pin"), "messages": 32}
    many = [{**card, "name": f"card{n}", "at": f"00:0{n}.0"} for n in (1, 2, 3)]
    host = {"pci": {**HOST, "functions": many}}
    assert codes(planned(tmp_path, ("card1", "card2"), ("card3",), host)) == []
    assert codes(planned(tmp_path, ("card1", "card2", "card3"), (), host)) == ["out-of-range"]


@pytest.mark.req("D4")
def test_a_function_on_a_shared_core_needs_a_pin(tmp_path: Path) -> None:
    host = {"pci": {**HOST, "functions": [without(CARD, "pin")]}}
    assert codes(planned(tmp_path, ("card",), (), host)) == []
    assert codes(planned(tmp_path, ("card",), (), host, cpus=[1, 2])) == ["conflict"]


@pytest.mark.req("D4")
def test_a_guest_finds_the_its_and_sends_its_messages_there(tmp_path: Path) -> None:
    tree = tree_of(plan_of(planned(tmp_path, ("disk",), ("card",))), 0)
    gic = tree.get_node("/interrupt-controller@8000000")
    its = tree.get_node("/interrupt-controller@8000000/msi-controller@8080000")
    pci = tree.get_node("/pcie@3f000000")
    assert [gic.get_property(name).value for name in ("#address-cells", "#size-cells")] == [2, 2]
    assert gic.exist_property("ranges"), "its children have the addresses of its parent"
    assert its.get_property("compatible").value == "arm,gic-v3-its"
    assert its.exist_property("msi-controller")
    assert its.get_property("#msi-cells").value == 1
    assert list(its.get_property("reg")) == [0, 0x0808_0000, 0, 0x20000]
    handle = its.get_property("phandle").value
    assert handle not in (gic.get_property("phandle").value, 0)
    assert list(pci.get_property("msi-map")) == [0, handle, 0, 0x10000]


@pytest.mark.req("D4")
def test_an_interrupt_pin_names_the_controllers_address_in_its_cells(tmp_path: Path) -> None:
    """An entry of `interrupt-map` has as many cells for the parent's address as the parent's children."""
    plan = plan_of(planned(tmp_path, ("disk",), ("card",)))
    tree = tree_of(plan, 0)
    gic = tree.get_node("/interrupt-controller@8000000").get_property("phandle").value
    assert list(tree.get_node("/pcie@3f000000").get_property("interrupt-map")) == [
        *(4 << 11, 0, 0, 1),  # slot and pin
        *(gic, 0, 0),
        *(0, 3, 4),  # shared, 35, level-triggered
    ]


@pytest.mark.req("D4")
def test_the_tree_of_a_domain_without_messages_is_that_of_a_board_without_an_its(tmp_path: Path) -> None:
    trees = []
    for number, (gic, card) in enumerate(((GIC, CARD), (OLD, without(CARD, "messages")))):
        directory = tmp_path / str(number)
        directory.mkdir()
        own = {"interrupt_controller": gic, "pci": {**HOST, "functions": [card, without(DISK, "messages")]}}
        trees.append(blob_of(plan_of(planned(directory, ("disk",), ("card",), own)), 0))
    assert trees[0] == trees[1]


@pytest.mark.req("D4")
def test_the_redistributors_memory_is_no_ram_of_the_manifest(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, ("disk",), ("card",)))
    end = 0x4000_0000 + (2 << 30)
    assert ram_of(plan.platform) == [(0x4000_0000, 1 << 20), (0x4014_0000, end - 0x4014_0000)]
    assert ram_of(platform("qemu-virt")) == [(0x4000_0000, 2 << 30)]
    owners = owners_map(plan)
    pages = slice((1 << 20) >> 12, (5 << 18) >> 12)
    assert np.all(owners[pages] == HYPERVISOR)
    assert owners[pages.stop] != HYPERVISOR and owners[pages.start - 1] != HYPERVISOR


@pytest.mark.req("D4", "C5")
def test_the_observer_is_told_that_the_redistributors_memory_is_not_cached(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, ("disk",), ("card",)))
    told = observe_config(plan, "owners.bin", start_pa=0x4000_0000, seed=1)
    assert told["uncached"] == {"pa": 0x4010_0000, "bytes": 4 << 16}


@pytest.mark.req("D3", "C5")
def test_the_observer_is_told_where_configuration_space_is(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, ("disk",), ("card",)))
    told = observe_config(plan, "owners.bin", start_pa=0x4000_0000, seed=1)
    assert plan.platform.pci is not None
    assert told["configuration_space"] == {
        "pa": plan.platform.pci.at,
        "bytes": plan.platform.pci.config_bytes,
    }


@pytest.mark.req("D4")
def test_memory_at_the_start_of_ram_leaves_one_range() -> None:
    board = described(gic={**GIC, "its": {"at": 0x0808_0000, "pending": 0x4000_0000}})
    assert ram_of(board) == [(0x4004_0000, (2 << 30) - 0x4_0000)]


@pytest.mark.req("D4")
def test_the_hypervisor_accepts_what_is_planned(
    tmp_path: Path, layout: Layout, golden: Callable[[str, bytes], None]
) -> None:
    """The fuzz target begins with this manifest, too."""
    plan = plan_of(planned(tmp_path, ("disk",), ("card",)))
    loaded = [LoadedMemory((), 0x4000_0000, 0, b"") for _ in plan.domains]
    manifest = pack_manifest(plan, loaded, [[] for _ in plan.domains], layout)
    error, offset = manifest_check("full").verdict_on(manifest, 1 << 24)
    assert layout.enum_name("manifest_error", error) == "none", hex(offset)
    golden("../fuzz/seeds/manifest/messages", bytes((n * 13) % 256 for n in range(17)) + manifest)


@pytest.mark.req("D4")
@pytest.mark.parametrize("at", [0x0808_0000, 0x0809_F000, 0x4010_0000])
def test_no_device_is_there(tmp_path: Path, at: int) -> None:
    page = {"name": "page", "at": at, "size": "4 KiB", "dma": False}
    assert "overlap" in codes(planned(tmp_path, ("page",), (), {"devices": [page]}))


@pytest.mark.req("D4")
def test_memory_of_a_guest_is_elsewhere(tmp_path: Path) -> None:
    for at, found in ((0x0800_0000, ["overlap"]), (0x0A20_0000, [])):
        memory = [{"at": at, "size": "2 MiB"}, {"at": 0x4000_0000, "size": "2 MiB"}]
        assert sorted(set(codes(planned(tmp_path, (), (), memory=memory)))) == found
    registers = [{"at": 0x0808_0000, "size": "128 KiB"}, {"at": 0x4000_0000, "size": "2 MiB"}]
    assert set(codes(planned(tmp_path, (), (), memory=registers))) == {"overlap"}


def described(
    gic: Mapping[str, Any] = GIC, functions: tuple[Mapping[str, Any], ...] = (CARD, DISK), **change: Any
) -> Platform:
    host = PciHost.model_validate_json(json.dumps({**HOST, "functions": functions}))
    controller = InterruptController.model_validate_json(json.dumps(gic))
    own = {"pci": host, "interrupt_controller": controller, **change}
    return platform("qemu-virt-smmu").model_copy(update=own)


def its(**change: Any) -> dict[str, Any]:
    return {**GIC, "its": {**GIC["its"], **change}}


@pytest.mark.req("D4")
@pytest.mark.parametrize(
    ("gic", "found"),
    [
        (GIC, set()),
        ({**GIC, "messages": {"at": 0x0900_1000, "size": 4096}}, {("messages", "conflict")}),
        (its(at=0x0B00_1000), {("at", "alignment")}),
        (its(at=0x0807_8000), {("at", "alignment")}),
        (its(at=0x0809_0000), {("at", "overlap")}),
        (its(at=0), {("at", "out-of-range")}),
        (its(pending=0x4010_8000), {("pending", "alignment")}),
        (its(pending=0x401C_0000), set()),
        (its(pending=0x401D_0000), {("pending", "out-of-range"), ("load", "overlap")}),
        (its(pending=0x4400_0000), {("pending", "out-of-range"), ("load", "overlap")}),
        (its(pending=0x4800_0000), {("pending", "out-of-range")}),
        (OLD, {("messages", "conflict")}),
    ],
)
def test_an_its_that_cannot_be_driven_is_refused(gic: dict[str, Any], found: set[tuple[str, str]]) -> None:
    seen = check_platform(described(gic))
    assert {([key for key in one.path if isinstance(key, str)][-1], one.code) for one in seen} == found


@pytest.mark.req("D4")
def test_redistributors_write_to_memory() -> None:
    board = described(its(pending=0x0C00_0000))
    hole = board.reserved[0].model_copy(update={"at": 0x0C00_0000, "size": 0x20_0000})
    (found,) = check_platform(board.model_copy(update={"reserved": (hole,)}))
    assert (found.path[-1], found.code) == ("pending", "out-of-range")
    assert "is not memory" in found.cause


@pytest.mark.req("D4")
def test_messages_need_an_its_and_an_its_a_host_bridge() -> None:
    with_lines = described(OLD, (CARD, without(DISK, "messages")))
    (found,) = check_platform(with_lines)
    assert (found.path, found.code) == (("pci", "functions", 0, "messages"), "conflict")
    assert "'card'" in found.cause and found.allowed is not None and "its" in found.allowed
    assert list(check_platform(described(OLD, (without(DISK, "messages"),)))) == []
    (found,) = check_platform(described().model_copy(update={"pci": None}))
    assert (found.path, found.code) == (("interrupt_controller", "its"), "conflict")
    assert "host bridge" in found.cause


@pytest.mark.req("D4")
def test_a_gicv2_has_no_its() -> None:
    board = platform("qemu-virt-gicv2")
    assert board.interrupt_controller is not None
    own = board.interrupt_controller.model_copy(
        update={"messages": None, "its": described().interrupt_controller.its}  # type: ignore[union-attr]
    )
    found = check_platform(board.model_copy(update={"interrupt_controller": own}))
    assert "a gicv2 has no ITS" in {one.cause for one in found}


@pytest.mark.req("D4")
def test_a_function_has_as_many_messages_as_the_hypervisor_has_room_for() -> None:
    most = load_layout().constant("max_messages")
    assert PciFunction.model_validate_json(json.dumps({**CARD, "messages": most})).messages == most
    for wrong in (0, most + 1):
        with pytest.raises(ValueError, match="messages"):
            PciFunction.model_validate_json(json.dumps({**CARD, "messages": wrong}))


@pytest.mark.req("D4")
def test_functions_of_the_emulators_board_have_messages() -> None:
    board = platform("qemu-virt-smmu")
    assert board.pci is not None
    messages = {device.name: device.messages for device in board.pci.devices()}
    on_bus_0 = {"edu": 0, "nvme": 8, "nvme2": 8, "net": 5, "net2": 5}
    assert messages == on_bus_0 | {"edu2": 0, "nvme3": 8, "nvme4": 8, "nvme5": 8, "vblk": 5, "vnet": 4}
