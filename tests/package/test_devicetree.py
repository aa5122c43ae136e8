# SPDX-License-Identifier: Apache-2.0
"""Device trees of domains, read back by the device tree compiler and by the library."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import fdt
import pytest

from bulkhead.env.qemu import qemu_binary
from bulkhead.package.devicetree import GuestBoard, PassedDevice, TreeConsole, device_tree, own_device_tree
from bulkhead.package.errors import PackageError
from bulkhead.package.memory import LoadRegion

BOARD = GuestBoard(
    memory=(LoadRegion(0x4000_0000, 16 << 20), LoadRegion(0x1_0000_0000, 1 << 20)),
    cpus=2,
    cpu_type="cortex-a53",
    gicd=0x800_0000,
    gicr=0x80A_0000,
    entropy=b"seed",
    console=TreeConsole(0x900_0000, 33),
    cmdline="console=ttyAMA0 quiet",
    initrd=(0x4400_0000, 0x4410_0000),
    params={"period_us": 1000, "big": (1 << 64) - 1},
)


def source_of(blob: bytes, tmp_path: Path) -> str:
    """dtc's output for the tree; dtc must not warn."""
    (tmp_path / "tree.dtb").write_bytes(blob)
    command = ["dtc", "-I", "dtb", "-O", "dts", str(tmp_path / "tree.dtb")]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    assert run.stderr == "" or "Warning" not in run.stderr, run.stderr
    return re.sub(r"\s+", " ", run.stdout)


def test_dtc_reads_it_without_a_warning_and_sees_the_whole_board(tmp_path: Path) -> None:
    source = source_of(device_tree(BOARD), tmp_path)
    for piece in (
        'compatible = "bulkhead,domain\\0linux,dummy-virt"',
        'memory@40000000 { device_type = "memory"; reg = <0x00 0x40000000 0x00 0x1000000>; }',
        'memory@100000000 { device_type = "memory"; reg = <0x01 0x00 0x00 0x100000>; }',
        'cpu@1 { device_type = "cpu"; compatible = "arm,cortex-a53"; reg = <0x01>; enable-method = "psci"; }',
        'method = "hvc"',
        'compatible = "arm,gic-v3"',
        "reg = <0x00 0x8000000 0x00 0x10000 0x00 0x80a0000 0x00 0x40000>",
        "interrupts = <0x01 0x0d 0x04 0x01 0x0e 0x04 0x01 0x0b 0x04 0x01 0x0a 0x04>",
        "interrupts = <0x00 0x01 0x04>",
        'bootargs = "console=ttyAMA0 quiet"',
        'stdout-path = "/pl011@9000000"',
        "linux,initrd-start = <0x00 0x44000000>",
        "linux,initrd-end = <0x00 0x44100000>",
        "period_us = <0x00 0x3e8>",
        "big = <0xffffffff 0xffffffff>",
    ):
        assert piece in source, piece
    assert "cpu@2" not in source


def test_a_domain_without_a_console_has_no_uart(tmp_path: Path) -> None:
    source = source_of(device_tree(replace(BOARD, console=None)), tmp_path)
    assert "pl011" not in source
    assert "apb-pclk" not in source
    assert "stdout-path" not in source


RTC = PassedDevice("rtc", ("arm,pl031", "arm,primecell"), 0x901_0000, 0x1000, (34,))


def test_a_passed_device_has_its_binding_with_interrupt_and_clock(tmp_path: Path) -> None:
    source = source_of(device_tree(replace(BOARD, devices=(RTC,))), tmp_path)
    for piece in (
        'rtc@9010000 { compatible = "arm,pl031\\0arm,primecell"; reg = <0x00 0x9010000 0x00 0x1000>;',
        'interrupts = <0x00 0x02 0x04>; clocks = <0x02>; clock-names = "apb_pclk"; };',
    ):
        assert piece in source, piece


def test_monitors_have_a_node_only_where_they_are_given(tmp_path: Path) -> None:
    assert "pmu" not in source_of(device_tree(BOARD), tmp_path)
    tree = source_of(device_tree(replace(BOARD, pmu=True)), tmp_path)
    assert 'pmu { compatible = "arm,armv8-pmuv3"; interrupts = <0x01 0x07 0x04>; };' in tree


def test_the_clock_of_a_primecell_device_is_there_without_a_console(tmp_path: Path) -> None:
    without_console = replace(BOARD, console=None, bus_clock_hz=24_000_000)
    assert "clock-frequency = <0x16e3600>" in source_of(
        device_tree(replace(without_console, devices=(RTC,))), tmp_path
    )
    plain = replace(RTC, compatible=("vendor,plain",), intids=())
    source = source_of(device_tree(replace(without_console, devices=(plain,))), tmp_path)
    assert 'rtc@9010000 { compatible = "vendor,plain"; reg = <0x00 0x9010000 0x00 0x1000>; };' in source
    assert "fixed-clock" not in source


def test_seeds_follow_the_run_and_nothing_else(tmp_path: Path) -> None:
    blob = device_tree(BOARD)
    assert device_tree(BOARD) == blob, "the same inputs give the same bytes"
    assert device_tree(replace(BOARD, entropy=b"other")) != blob
    chosen = fdt.parse_dtb(blob).get_node("/chosen")
    assert len(bytes(chosen.get_property("rng-seed").to_dtb("", 0, 17)[0])) >= 64


def test_the_blob_says_its_own_size_in_whole_words() -> None:
    for params in ({}, {"a": 1}, {"ab": 1}, {"abcdef": 7}):
        blob = device_tree(replace(BOARD, params=params))
        assert int.from_bytes(blob[4:8], "big") == len(blob)
        assert len(blob) % 8 == 0


def test_a_gicv2_has_its_cpu_interface_and_says_which_cpus_its_private_interrupts_reach(
    tmp_path: Path,
) -> None:
    board = replace(
        BOARD, gicr=None, gicd=0xF901_0000, gicc=0xF902_F000, console=TreeConsole(0xFF00_0000, 53)
    )
    source = source_of(device_tree(board), tmp_path)
    for piece in (
        'compatible = "arm,gic-400\\0arm,cortex-a15-gic"',
        "reg = <0x00 0xf9010000 0x00 0x1000 0x00 0xf902f000 0x00 0x2000>",
        "interrupts = <0x01 0x0d 0x304 0x01 0x0e 0x304 0x01 0x0b 0x304 0x01 0x0a 0x304>",
        "interrupts = <0x00 0x15 0x04>",
    ):
        assert piece in source, piece
    assert "redistributor" not in source


def test_a_tree_of_ones_own_gets_what_the_loader_knows_and_keeps_the_rest(tmp_path: Path) -> None:
    own = device_tree(replace(BOARD, cmdline="before"))
    assert own_device_tree(own, None, None) == own
    source = source_of(own_device_tree(own, "after", (0x4400_0000, 0x4410_0000)), tmp_path)
    assert 'bootargs = "after"' in source and "before" not in source
    assert "linux,initrd-start = <0x00 0x44000000>" in source
    assert "linux,initrd-end = <0x00 0x44100000>" in source
    assert 'compatible = "arm,gic-v3"' in source


@pytest.mark.parametrize("length", [0, 3, 4, 39, 60, 200])
def test_what_is_no_tree_is_refused(length: int) -> None:
    with pytest.raises(PackageError, match="device tree"):
        own_device_tree(device_tree(BOARD)[:length], "after", None)


def compatible_lists(blob: bytes) -> dict[str, list[str]]:
    """Lists by path of the node."""
    tree = fdt.parse_dtb(blob)
    return {
        f"{path}/{node.name}": list(node.get_property("compatible").data)
        for path, nodes, _ in tree.walk()
        for node in nodes
        if node.get_property("compatible") is not None
    }


@pytest.mark.emulator
@pytest.mark.parametrize("version", [2, 3])
def test_d7_nodes_have_all_compatible_strings_of_the_emulators_board(version: int, tmp_path: Path) -> None:
    """Drivers and test programs search for one of them, and any of them must be found."""
    dump = tmp_path / "board.dtb"
    machine = f"virt,virtualization=on,gic-version={version},dumpdtb={dump}"
    command = [str(qemu_binary()), "-M", machine, "-cpu", "cortex-a53", "-nographic", "-nic", "none"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    board = list(compatible_lists(dump.read_bytes()).values())
    own = replace(BOARD, pmu=True) if version == 3 else replace(BOARD, gicr=None, gicc=0x801_0000, pmu=True)
    kinds = 0
    for node, strings in compatible_lists(device_tree(own)).items():
        for theirs in board:
            if set(theirs) & set(strings) - {"arm,primecell", "simple-bus"}:
                kinds += 1
                assert set(theirs) <= set(strings), node
    assert kinds >= 5, "processors, PSCI, timer, interrupt controller, UART"
