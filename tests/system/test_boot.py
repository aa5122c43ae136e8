# SPDX-License-Identifier: Apache-2.0
"""The same package starts in every way: loaded by the emulator, by Linux's boot protocol, by U-Boot from
a disk, and by firmware at EL3 that leaves garbage in registers and memory and serves PSCI itself.

A board that the package was not built for is refused by its device tree, before anything is overwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.run.boot import WAYS, Answer
from bulkhead.run.emulator import EmulatedMachine

from .harness import MIB, MS, Run, boot, control, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

RUN_NS = 45 * MS
LOADED = [way for way in WAYS if way != "elf"]  # with a device tree


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two domains on two cores; the hypervisor must turn on the second core."""
    return write_system(tmp_path_factory.mktemp("boot"), control(), domain("hog", "hog", 1))


def booted(
    system: Path,
    directory: Path,
    way: str,
    alter: Callable[[EmulatedMachine], EmulatedMachine] | None = None,
    **asked: Any,
) -> Run:
    return boot(system, directory, alter=alter, boot=way, icount=True, for_ns=RUN_NS, **asked)


def expect_refusal(run: Run, said: str, explained: str) -> None:
    """Expects one line on the console, a sentence in the result, that no domain ran, and that the power is
    off."""
    lines = run.lines()
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"refused: {said}"), lines
    assert run.result["ended"] == "shutdown"
    assert run.result["verdict"] == "failed"
    assert any(lines[0] in reason and explained in reason for reason in run.result["reasons"]), run.result
    assert run.lines("control") == run.lines("hog") == []


@pytest.mark.parametrize("platform", ["qemu-virt", "qemu-virt-gicv2"])
@pytest.mark.parametrize("way", WAYS)
def test_a_system_starts_in_every_way(tmp_path: Path, way: str, platform: str) -> None:
    """Both interrupt controllers are tested: above firmware, EL2 has the non-secure view of each."""
    system = write_system(tmp_path, control(), domain("hog", "hog", 1), platform=platform)
    run = booted(system, tmp_path / "run", way)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.result["options"]["boot"] == way
    assert run.status is not None
    assert run.status.phase == "ended"
    assert run.domain("control")["report"]["missed"] == 0
    assert run.domain("hog")["ready_ns"] is not None
    assert run.result["witnesses"]["tables"]["verdict"] == "held"


@pytest.mark.parametrize("way", WAYS)
def test_an_uncolored_system_starts_in_every_way(system: Path, tmp_path: Path, way: str) -> None:
    """Its images are at their own addresses in an ELF file; a raw image contains them to be copied."""
    run = booted(system, tmp_path, way, unprotected=True)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.domain("control")["report"]["releases"] > 0


@pytest.mark.parametrize("way", LOADED)
def test_a_board_with_less_memory_is_refused(system: Path, tmp_path: Path, way: str) -> None:
    run = booted(system, tmp_path, way, lambda machine: replace(machine, ram_bytes=128 * MIB))
    expect_refusal(run, "board memory (error 28)", "less memory than the platform file says")


@pytest.mark.parametrize("way", LOADED)
def test_a_board_with_fewer_cores_is_refused(system: Path, tmp_path: Path, way: str) -> None:
    run = booted(system, tmp_path, way, lambda machine: replace(machine, cores=3))
    expect_refusal(run, "board core (error 30)", "does not list all cores")


# Commands with which a boot loader may change a board's description, typed at U-Boot's prompt before it
# starts the package.
RESERVE = (
    "fdt mknode / reserved-memory; fdt set /reserved-memory '#address-cells' <2>;"
    " fdt set /reserved-memory '#size-cells' <2>; fdt mknode /reserved-memory firmware@48000000;"
    " fdt set /reserved-memory/firmware@48000000 reg <0 0x48000000 0 0x10000>;"
    " fdt set /reserved-memory/firmware@48000000 no-map;"
)
TREES = [
    ("fdt set /psci method hvc;", "board psci (error 31)", "PSCI"),
    ("fdt rm /psci;", "board psci (error 31)", "PSCI"),
    ("fdt rsvmem add 48000000 10000;", "board reserved (error 29)", "reserves memory"),
    (RESERVE, "board reserved (error 29)", "reserves memory"),
]


@pytest.mark.parametrize(("edit", "said", "explained"), TREES, ids=["hvc", "no-psci", "memreserve", "no-map"])
def test_what_a_boot_loader_says_of_the_board_counts(
    system: Path, tmp_path: Path, edit: str, said: str, explained: str
) -> None:
    def edited(machine: EmulatedMachine) -> EmulatedMachine:
        stop, start = machine.answers
        prepare = f"fdt addr ${{fdtcontroladdr}} 110000; fdt resize 1000; {edit}\r".encode()
        # A line at a time: the loader's own lines are of limited length.
        pieces = [piece.strip() + b"\r" for piece in prepare.split(b";") if piece.strip()]
        return replace(machine, answers=(stop, *(Answer(b"=> ", piece) for piece in pieces), start))

    expect_refusal(booted(system, tmp_path, "u-boot", edited), said, explained)


def test_memory_that_the_firmware_reserves_elsewhere_is_no_reason(system: Path, tmp_path: Path) -> None:
    """Otherwise the refusals above would prove nothing: the same edits, of memory that is not used."""

    def edited(machine: EmulatedMachine) -> EmulatedMachine:
        stop, start = machine.answers
        lines = (b"fdt addr ${fdtcontroladdr}\r", b"fdt resize 1000\r", b"fdt rsvmem add b0000000 10000\r")
        return replace(machine, answers=(stop, *(Answer(b"=> ", line) for line in lines), start))

    run = booted(system, tmp_path, "u-boot", edited)
    assert run.result["verdict"] == "ok", run.result["reasons"]


def test_started_at_el1_it_says_so(system: Path, tmp_path: Path) -> None:
    """Then it waits: at EL1 it is not known how to turn the machine off."""

    def without_el2(machine: EmulatedMachine) -> EmulatedMachine:
        return replace(machine, machine=machine.machine.replace("virtualization=on", "virtualization=off"))

    run = booted(system, tmp_path, "image", without_el2, timeout_s=5.0)
    assert run.lines() == ["refused: entered at EL1, must be started at EL2"]
    assert run.result["ended"] == "timeout"
    assert any("on a machine with virtualization" in reason for reason in run.result["reasons"])


def test_without_a_device_tree_missing_memory_is_reported_when_it_is_touched(
    system: Path, tmp_path: Path
) -> None:
    """Without a device tree the memory is not known to be missing; the abort, with the MMU off, is
    reported."""
    run = booted(system, tmp_path, "elf", lambda machine: replace(machine, ram_bytes=128 * MIB))
    lines = run.lines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("panic: EL2 exception 4"), lines
    assert run.result["ended"] == "shutdown"
    assert any(lines[0] in reason for reason in run.result["reasons"]), run.result["reasons"]
