# SPDX-License-Identifier: Apache-2.0
"""PCI functions behind bridges, and devices of several functions: what is refused, where their BARs are, what
the manifest and the guest's device tree have of them (D3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fdt
import pytest

from bulkhead.config.crosscheck_platform import check_platform
from bulkhead.package.devicetree import GuestBoard, device_tree
from bulkhead.package.manifest import pack_manifest
from bulkhead.package.memory import LoadedMemory, LoadRegion
from bulkhead.package.pci import bridge_rows, function_rows, pci_row, pci_tree
from bulkhead.package.smmu import stream_rows
from bulkhead.package.verdict import manifest_check
from bulkhead.run.pci import pci_arguments
from bulkhead.schema import Layout

from .own_platform import plan_of
from .test_pci import DISK, HOST, NIC, codes, described, planned

PORT: dict[str, Any] = {
    "name": "port",
    "at": "00:08.0",
    "vendor": 0x1B36,
    "device": 0x000C,
    "secondary": 1,
    "isolates": True,
    "emulated": {"device": "pcie-root-port"},
}
OTHER: dict[str, Any] = {**PORT, "name": "other", "at": "00:09.1", "secondary": 2}
FAR: dict[str, Any] = {**NIC, "name": "far", "at": "02:00.0"}
NEAR: dict[str, Any] = {**DISK, "name": "near", "at": "01:00.0"}
# `disk` is on bus 0, `far` and `near` are behind ports.
BRIDGED: dict[str, Any] = {
    **HOST,
    "memory": {"at": 0x1000_0000, "size": "64 MiB"},
    "bridges": [PORT, OTHER],
    "functions": [DISK, FAR, NEAR],
}
MIB = 1 << 20


def pair(first: str | None, second: str | None) -> dict[str, Any]:
    """The functions `one` and `two` of the device behind `port`."""
    one = {**DISK, "name": "one", "at": "01:00.0", "multifunction": first}
    two = {**DISK, "name": "two", "at": "01:00.1", "multifunction": second, "pin": "B"}
    both = [{key: value for key, value in each.items() if value is not None} for each in (one, two)]
    return {**BRIDGED, "functions": both}


@pytest.mark.req("D3")
def test_functions_behind_bridges_have_windows_of_their_own() -> None:
    host = described(**BRIDGED).pci
    assert host is not None
    disk, far, near = host.devices()
    assert (disk.at, near.at, far.at) == (0x1000_0000, 0x1010_0000, 0x1020_0000), "by bus"
    port, other = host.bridges
    assert (host.window(port).at, host.window(port).bytes) == (0x1010_0000, MIB)
    assert (host.window(other).at, host.window(other).bytes) == (0x1020_0000, MIB)
    assert (near.streams, far.streams) == ((0x100,), (0x200,))
    assert (disk.guest_slot, far.guest_slot, near.guest_slot) == (4, 1, 2), "the lowest that are left"


@pytest.mark.req("D3")
@pytest.mark.parametrize(
    ("at", "pin", "intid"),
    [("00:08.0", "A", 35), ("00:08.0", "B", 36), ("00:09.1", "A", 36), ("00:09.1", "D", 35)],
)
def test_the_pins_behind_a_bridge_go_to_the_lines_of_its_slot(at: str, pin: str, intid: int) -> None:
    functions = [{**NIC, "at": "01:00.0", "pin": pin}]
    board = described(bridges=[{**PORT, "at": at}], functions=functions)
    assert board.passable()["nic"].interrupts == (intid,)


@pytest.mark.req("D3")
def test_the_manifest_has_the_bridges_of_domains_functions(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, ("disk", "far"), (), BRIDGED))
    assert bridge_rows(plan) == [
        {
            "requester": 0x49,
            "id": 0x000C_1B36,
            "bus": 2,
            "reserved": 0,
            "memory_pa": 0x1020_0000,
            "memory_bytes": MIB,
        }
    ], "what is behind the other one is held in reset"
    rows = [(row["requester"], row["guest_slot"], row["flags"]) for row in function_rows(plan)]
    assert rows == [(0x20, 4, 0), (0x200, 1, 0)]
    assert stream_rows(plan) == [{"domain": 0, "stream": 0x20}, {"domain": 0, "stream": 0x200}]
    assert pci_row(plan.platform) == {
        "config_pa": 0x3F00_0000,
        "config_bytes": 3 * MIB,
        "others_pa": 0x3F30_0000,
        "others_bytes": 13 * MIB,
    }


@pytest.mark.req("D3")
def test_a_guest_finds_its_functions_on_one_bus(tmp_path: Path) -> None:
    plan = plan_of(planned(tmp_path, ("far",), (), BRIDGED))
    tree = pci_tree(plan.system.domains[0], plan.platform, ())
    memory = (LoadRegion(0x4000_0000, 2 << 20),)
    board = GuestBoard(memory, 1, "cortex-a53", 0x0800_0000, b"", gicr=0x080A_0000, pci=tree)
    node = fdt.parse_dtb(device_tree(board)).get_node("/pcie@3f000000")
    assert list(node.get_property("bus-range")) == [0, 0]
    assert list(node.get_property("interrupt-map"))[:4] == [1 << 11, 0, 0, 1]


@pytest.mark.req("D3")
def test_the_hypervisor_accepts_what_is_planned(
    tmp_path: Path, layout: Layout, golden: Callable[[str, bytes], None]
) -> None:
    """The fuzz target begins with this manifest, too."""
    host = {**BRIDGED, "functions": [DISK, FAR, {**NEAR, "pin": "C"}]}
    plan = plan_of(planned(tmp_path, ("disk", "far"), ("near",), host))
    loaded = [LoadedMemory((), 0x4000_0000, 0, b"") for _ in plan.domains]
    manifest = pack_manifest(plan, loaded, [[] for _ in plan.domains], layout)
    error, offset = manifest_check("full").verdict_on(manifest, 1 << 24)
    assert layout.enum_name("manifest_error", error) == "none", hex(offset)
    golden("../fuzz/seeds/manifest/bridges", bytes((n * 11) % 256 for n in range(17)) + manifest)


@pytest.mark.req("D3")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"at": "03:00.0"}, [("at", "out-of-range", "00:01.0")]),
        ({"at": "00:00.0"}, [("at", "out-of-range", "00:01.0")]),
        ({"at": "00:09.1"}, [("at", "duplicate-name", "00:01.0")]),
        ({"at": "00:04.0"}, [("at", "duplicate-name", "00:01.0")]),
        ({"at": "00:04.1"}, [("at", "not-isolated", "00:01.0")]),
        ({"name": "other"}, [("name", "duplicate-name", "")]),
        ({"name": "disk"}, [("name", "duplicate-name", "")]),
        ({"name": "rtc"}, [("name", "duplicate-name", "")]),
        ({"vendor": 0xFFFF}, [("vendor", "out-of-range", "0xfffe")]),
        ({"secondary": 2}, [("secondary", "duplicate-name", "1"), ("at", "not-isolated", "bus 2")]),
        ({"secondary": 16}, [("secondary", "out-of-range", "1 to 15"), ("at", "not-isolated", "00:01.0")]),
        ({"isolates": False}, [("at", "not-isolated", "bus 2 behind 'other'")]),
    ],
)
def test_a_bridge_that_cannot_be_is_refused(
    change: dict[str, Any], found: list[tuple[str, str, str]]
) -> None:
    board = described(**{**BRIDGED, "bridges": [OTHER, {**PORT, **change}], "functions": [DISK, NEAR]})
    seen = sorted(check_platform(board), key=lambda one: str(one.path[1]))
    keys = [[key for key in one.path if isinstance(key, str)][-1] for one in seen]
    assert [(key, one.code) for key, one in zip(keys, seen, strict=True)] == [row[:2] for row in found]
    assert all(row[2] in (one.allowed or "") for row, one in zip(found, seen, strict=True))


@pytest.mark.req("D3")
@pytest.mark.parametrize(
    ("change", "code", "allowed"),
    [
        ({"at": "03:00.0"}, "not-isolated", "bus 1 behind 'port'"),
        ({"at": "01:01.0"}, "out-of-range", "01:00.0"),
        ({"at": "00:08.1"}, "not-isolated", "00:01.0"),
        ({"at": "00:08.1", "multifunction": "isolated"}, "not-isolated", "00:01.0"),
        ({"at": "00:08.1", "multifunction": "together"}, "not-isolated", "00:01.0"),
        ({"at": "00:08.0"}, "duplicate-name", "00:01.0"),
    ],
)
def test_a_function_that_no_bridge_isolates_is_refused(
    change: dict[str, Any], code: str, allowed: str
) -> None:
    board = described(**{**BRIDGED, "functions": [{**NEAR, **change}]})
    (found,) = check_platform(board)
    assert (found.path[-1], found.code) == ("at", code)
    assert allowed in (found.allowed or "")


@pytest.mark.req("D3")
def test_the_window_of_a_bridge_is_below_4_gib() -> None:
    board = described(**{**BRIDGED, "memory": {"at": 1 << 33, "size": "16 MiB"}, "functions": [NEAR]})
    (found,) = check_platform(board)
    assert (found.code, found.allowed) == ("out-of-range", "a memory window below 4 GiB")


@pytest.mark.req("D3")
def test_a_guest_has_a_slot_for_each_function() -> None:
    functions = [
        {
            **NIC,
            "name": f"n{number}",
            "at": f"{1 + number // 8:02x}:00.{number % 8}",
            "multifunction": "together",
        }
        for number in range(32)
    ]
    ports = [{**PORT, "name": f"p{n}", "at": f"00:{n:02x}.0", "secondary": n} for n in range(1, 5)]
    memory = {"at": 0x1000_0000, "size": "64 MiB"}
    found = list(check_platform(described(bridges=ports, functions=functions, memory=memory)))
    assert [(one.path, one.allowed) for one in found] == [(("pci", "functions"), "up to 31 functions")]
    assert not list(check_platform(described(bridges=ports, functions=functions[1:], memory=memory)))


@pytest.mark.req("D3")
def test_a_device_of_several_functions_says_so() -> None:
    for first, second, keys in (
        ("together", "together", []),
        ("isolated", "isolated", []),
        (None, "together", [0]),
        ("together", None, [1]),
    ):
        found = list(check_platform(described(**pair(first, second))))
        assert [(one.path[2], one.code) for one in found] == [(key, "not-isolated") for key in keys]
        assert all("multifunction" in (one.allowed or "") for one in found)


@pytest.mark.req("D3")
@pytest.mark.parametrize(
    ("first", "second", "refused"),
    [
        ("isolated", "isolated", False),
        ("isolated", "together", True),
        ("together", "together", True),
    ],
)
def test_two_domains_have_functions_of_one_device_if_it_isolates_them(
    tmp_path: Path, first: str, second: str, refused: bool
) -> None:
    host = pair(first, second)
    expected = [("not-isolated", "both functions for one domain, or only one of them")] if refused else []
    assert codes(planned(tmp_path, ("one",), ("two",), host)) == expected
    assert codes(planned(tmp_path, ("one", "two"), (), host)) == []
    assert codes(planned(tmp_path, ("one",), (), host)) == []
    flags = {"isolated": 3, "together": 1}
    rows = function_rows(plan_of(planned(tmp_path, ("one", "two"), (), host)))
    assert [(row["requester"], row["flags"]) for row in rows] == [
        (0x100, flags[first]),
        (0x101, flags[second]),
    ]


@pytest.mark.req("D3")
def test_the_emulator_gets_bridges_before_what_is_behind_them(tmp_path: Path) -> None:
    card = {**FAR, "at": "02:00.1", "multifunction": "together", "emulated": {"device": "e1000e"}}
    arguments = pci_arguments(described(bridges=[PORT, OTHER], functions=[card]), tmp_path, {})
    assert arguments == (
        "-device",
        "pcie-root-port,id=port,chassis=1,addr=0x8",
        "-device",
        "pcie-root-port,id=other,chassis=2,addr=0x9.0x1",
        "-device",
        "e1000e,bus=other,addr=0x0.0x1,multifunction=on,romfile=",
    )
