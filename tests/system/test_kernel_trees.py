# SPDX-License-Identifier: Apache-2.0
"""Platform files against the device trees of the same boards in the locked Debian kernel, and the
hypervisor's own comparison of manifest and tree with these trees.

Two parties wrote down the same facts: what a test finds here is a mistake in one of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import fdt
import pytest

from bulkhead.config.load import load_platform
from bulkhead.config.platform import Cache, Platform
from bulkhead.env.linux import linux_board_trees

from .harness import EXAMPLES, ROOT, command

pytestmark = pytest.mark.emulator

TREES = {
    "imx8mp": "freescale/imx8mp-evk.dtb",
    "rpi4": "broadcom/bcm2711-rpi-4-b.dtb",
    "zcu102": "xilinx/zynqmp-zcu102-rev1.0.dtb",
}
NEW = ("imx8mp", "rpi4")
UARTS = {"imx": "fsl,imx6q-uart", "pl011": "arm,pl011", "cadence": "cdns,uart-r1p12"}
GICS = {"gicv3": "arm,gic-v3", "gicv2": "arm,gic-400"}
LAST_COPY = 0xF000  # of a frame of 4 KiB that repeats through 64 KiB: platforms/zcu102.yaml
SPI, PPI = 0, 1
FIRST = {SPI: 32, PPI: 16}


def board(name: str) -> Platform:
    platform, _, problems = load_platform(ROOT / "platforms" / f"{name}.yaml")
    assert platform is not None and not problems
    return platform


def blob_of(name: str) -> bytes:
    return (linux_board_trees() / TREES[name]).read_bytes()


@cache
def tree_of(name: str) -> fdt.FDT:
    return fdt.parse_dtb(blob_of(name))


class Node:
    """A node with its address as the cores see it."""

    def __init__(self, node: Any, parent: Node | None = None) -> None:
        self._node, self._parent = node, parent

    def has(self, name: str) -> bool:
        return self._node.get_property(name) is not None

    def words(self, name: str) -> list[int]:
        found = self._node.get_property(name)
        return list(found.data) if isinstance(found, fdt.PropWords) else []

    def texts(self, name: str) -> list[str]:
        found = self._node.get_property(name)
        return list(found.data) if isinstance(found, fdt.PropStrings) else []

    def number(self, name: str, default: int) -> int:
        return next(iter(self.words(name)), default)

    @property
    def enabled(self) -> bool:
        return self.texts("status") in ([], ["okay"]) and (self._parent is None or self._parent.enabled)

    def below(self) -> Iterator[Node]:
        for node in self._node.nodes:
            child = Node(node, self)
            yield child
            yield from child.below()

    def child(self, name: str) -> Node:
        return next(child for child in self.below() if child.is_called(name))

    def is_called(self, name: str) -> bool:
        return str(self._node.name).split("@")[0] == name

    def is_like(self, compatible: str) -> bool:
        return compatible in self.texts("compatible")

    def frames(self) -> list[tuple[int, int]]:
        """Address and size of each entry of `reg`."""
        assert self._parent is not None
        size_cells = self._parent.number("#size-cells", 1)
        cells = self._parent.number("#address-cells", 2)
        words, found = self.words("reg"), []
        while words:
            at, size = _joined(words[:cells]), _joined(words[cells : cells + size_cells])
            found.append((self._parent._outside(at), size))
            words = words[cells + size_cells :]
        return found

    def _outside(self, at: int) -> int:
        """The address of the bus's parents for an address of this bus."""
        if self._parent is None:
            return at
        cells, size_cells = self.number("#address-cells", 2), self.number("#size-cells", 1)
        outer = self._parent.number("#address-cells", 2)
        words = self.words("ranges")
        while words:
            inner, rest = _joined(words[:cells]), words[cells:]
            outside, size = _joined(rest[:outer]), _joined(rest[outer : outer + size_cells])
            if inner <= at < inner + size:
                at += outside - inner
                break
            words = rest[outer + size_cells :]
        return self._parent._outside(at)

    def intids(self) -> list[int]:
        words = self.words("interrupts")
        return [FIRST[kind] + number for kind, number in zip(words[::3], words[1::3], strict=True)]


def _joined(words: list[int]) -> int:
    value = 0
    for word in words:
        value = value << 32 | word
    return value


def differences(platform: Platform, tree: fdt.FDT) -> list[str]:
    """The facts in which file and tree differ."""
    root = Node(tree.root)
    enabled = [node for node in root.below() if node.enabled]
    facts = dict(_facts(platform, root, enabled))
    return [f"{key}: {ours} is not {theirs}" for key, (ours, theirs) in facts.items() if ours != theirs]


def _facts(platform: Platform, root: Node, enabled: list[Node]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Each fact as the platform file and as the tree has it."""
    uart, gic, timers, pmu = platform.uart, platform.interrupt_controller, platform.timers, platform.pmu
    assert uart is not None and gic is not None and pmu is not None
    uarts = {node.frames()[0][0]: node for node in enabled if node.is_like(UARTS[uart.type])}
    yield "uart.at", (uart.at in uarts, True)
    yield "uart.interrupt", ([uart.interrupt], uarts[uart.at].intids() if uart.at in uarts else [])

    controller = next(node for node in enabled if node.is_like(GICS[gic.type]))
    frames = [at for at, _ in controller.frames()]
    ours = [gic.distributor, gic.redistributors]
    if gic.type == "gicv2":
        ours = [gic.distributor, gic.cpu_interface, gic.hypervisor, gic.virtual_cpu]
    if platform.name == "zcu102":
        frames = [frames[0], frames[1] + LAST_COPY, frames[2], frames[3] + LAST_COPY]
    yield "interrupt_controller", (ours, frames)
    if gic.redistributors_size is not None:
        yield "redistributors_size", (gic.redistributors_size <= controller.frames()[1][1], True)
    yield "timers.maintenance", ([timers.maintenance], controller.intids())

    timer = next(node for node in enabled if node.is_like("arm,armv8-timer"))
    yield "timers", ([timers.physical, timers.virtual, timers.hypervisor], timer.intids()[1:])
    if timer.has("clock-frequency"):
        yield "timers.frequency", ([timers.frequency], timer.words("clock-frequency"))
    yield (
        "pmu",
        (
            list(pmu.interrupts),
            next(node for node in enabled if node.is_called("pmu") or node.is_called("arm-pmu")).intids(),
        ),
    )

    cores = [node for node in root.child("cpus").below() if node.is_called("cpu")]
    yield "cores.mpidr", (list(platform.mpidrs()), [node.number("reg", -1) for node in cores])
    yield (
        "cores.type",
        ({f"arm,{platform.cores.type}"}, {text for node in cores for text in node.texts("compatible")}),
    )
    for key, prefix in (("l1i", "i-cache"), ("l1d", "d-cache")):
        yield from _cache(f"caches.{key}", platform.caches[key], cores[0], prefix)  # type: ignore[index]
    for level in [node for node in enabled if node.is_like("cache") and node.has("cache-size")]:
        yield from _cache("caches.l2", platform.caches["l2"], level, "cache")

    if sizes := [(at, size) for at, size in root.child("memory").frames() if size != 0]:
        inside = all(
            any(at <= ram.at and ram.end <= at + size for at, size in sizes) for ram in platform.memory
        )
        yield "memory", (inside, True)
    for node in enabled:
        if node.has("no-map") and node.has("reg"):
            [(at, size)] = node.frames()
            kept = any(area.at <= at and at + size <= area.end for area in platform.reserved)
            used = any(ram.at < at + size and at < ram.end for ram in platform.memory)
            yield f"reserved {at:#x}", (kept or not used, True)

    monitors = [node for node in enabled if node.is_like("fsl,imx8m-ddr-pmu")]
    for node in monitors:
        wanted = f"0x{node.frames()[0][0]:X} (interrupt {node.intids()[0]})"
        yield "sources.dram.utilization", (wanted in platform.sources["dram.utilization"], True)


def _streams(node: Node) -> list[int]:
    """Stream ids of a device: each follows the phandle of its IOMMU."""
    return node.words("iommus")[1::2]


def test_d2_the_driven_smmu_and_streams_of_devices_are_those_of_the_tree() -> None:
    platform, root = board("zcu102-smmu"), Node(tree_of("zcu102").root)
    (smmu,) = platform.iommus
    (node,) = [node for node in root.below() if node.is_like("arm,mmu-500")]
    assert node.frames() == [(smmu.at, smmu.size)]
    assert set(node.intids()) == set(smmu.interrupts), "one for all faults"
    known = {at: one for one in root.below() if one.has("iommus") for at, _ in one.frames()}
    for device in platform.devices:
        found = known[device.at]
        assert (device.at, device.size) in found.frames(), device.name
        assert set(device.interrupts) == set(found.intids()), device.name
        assert list(device.streams) == _streams(found), device.name
        assert set(device.compatible) == set(found.texts("compatible")), device.name
        assert device.coherent == found.has("dma-coherent"), device.name
        assert found.enabled, device.name
    (engine,) = board("zcu102").dma
    assert engine.size is not None
    channels = [one for at, one in sorted(known.items()) if engine.at <= at < engine.at + engine.size]
    assert list(engine.streams) == [stream for one in channels for stream in _streams(one)]


def _cache(key: str, cache: Cache, node: Node, prefix: str) -> Iterator[tuple[str, tuple[Any, Any]]]:
    if not node.has(f"{prefix}-size"):
        return
    ours = (cache.size, cache.line, cache.size // cache.line // cache.ways)
    yield key, (ours, tuple(node.number(f"{prefix}-{what}", 0) for what in ("size", "line-size", "sets")))


@pytest.mark.parametrize("name", TREES)
def test_d8_a_platform_file_says_what_the_kernels_device_tree_of_the_board_says(name: str) -> None:
    assert differences(board(name), tree_of(name)) == []


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(
    ("section", "changes", "found"),
    [
        ("uart", {"interrupt": 60}, "uart.interrupt"),
        ("uart", {"at": 0x1000}, "uart.at"),
        ("interrupt_controller", {"distributor": 0x1000}, "interrupt_controller"),
        ("timers", {"maintenance": 24}, "timers.maintenance"),
        ("timers", {"hypervisor": 28}, "timers"),
        ("pmu", {"interrupts": (20,)}, "pmu"),
        ("cores", {"mpidr": (0, 1, 2, 0x100)}, "cores.mpidr"),
        ("cores", {"type": "cortex-a57"}, "cores.type"),
    ],
)
def test_a_wrong_fact_is_found(name: str, section: str, changes: dict[str, Any], found: str) -> None:
    right = board(name)
    wrong = right.model_copy(update={section: getattr(right, section).model_copy(update=changes)})
    assert found in [text.split(":")[0] for text in differences(wrong, tree_of(name))]


def test_who_serves_psci_is_known() -> None:
    """The tree of the Raspberry Pi is that for the vendor's stub; Trusted Firmware-A adds the node."""
    for name in TREES:
        root = Node(tree_of(name).root)
        methods = [node.texts("method") for node in root.below() if node.is_called("psci")]
        cores = [node for node in root.child("cpus").below() if node.is_called("cpu")]
        started = {text for node in cores for text in node.texts("enable-method")}
        expected = ([], {"spin-table"}) if name == "rpi4" else ([["smc"]], {"psci"})
        assert (methods, started) == expected, name


def _with_tree(name: str, directory: Path, blob: bytes) -> Path:
    """The board's example on a machine that hands over this tree."""
    (directory / "board.dtb").write_bytes(blob)
    platform = (ROOT / "platforms" / f"{name}.yaml").read_text()
    (directory / f"{name}.yaml").write_text(
        platform.replace("  options: [", f'  options: ["-dtb", "{directory}/board.dtb", ')
    )
    example = (EXAMPLES / f"{name}.yaml").read_text()
    (directory / "system.yaml").write_text(example.replace(f"platform: {name}", f"platform: ./{name}.yaml"))
    return directory / "system.yaml"


@pytest.mark.parametrize("name", NEW)
def test_d8_the_board_of_the_kernels_device_tree_is_accepted_and_its_example_runs(
    name: str, tmp_path: Path
) -> None:
    """imx8mp and rpi4; the emulator sets memory and PSCI in the tree to what its machine has."""
    system = _with_tree(name, tmp_path, blob_of(name))
    run = command(system, tmp_path / "run", "--boot", "image", "--for", "500ms")
    assert run.exit_code == 0, run.result["reasons"]
    assert run.result["witnesses"]["tables"]["verdict"] == "held"


def test_a_board_whose_device_tree_has_no_second_core_is_refused(tmp_path: Path) -> None:
    tree = fdt.parse_dtb(blob_of("imx8mp"))
    tree.get_node("/cpus/cpu@1").set_property("status", "fail")
    run = command(
        _with_tree("imx8mp", tmp_path, tree.to_dtb(version=17)), tmp_path / "run", "--boot", "image"
    )
    assert run.exit_code == 1
    assert any("core" in reason for reason in run.result["reasons"]), run.result["reasons"]
