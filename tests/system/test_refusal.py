# SPDX-License-Identifier: Apache-2.0
"""An invalid manifest is refused: the hypervisor reports why and where, and powers the board off.

The package of a valid system is built once; each test damages its manifest and boots it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bulkhead.package.build import Build
from bulkhead.package.corrupt import field_place, flipped_bit, patched_field, write_with_manifest

from .harness import MS, Run, boot, control, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

Damage = Callable[[bytes, Build], bytes]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    task = {**control(), "devices": ["rtc"]}
    return write_system(tmp_path_factory.mktemp("refusal"), task, domain("hog", "hog", 1))


def refused(system: Path, directory: Path, damage: Damage) -> Run:
    def change(built: Build) -> None:
        manifest = built.manifest.read_bytes()
        write_with_manifest(built.elf, built.elf, manifest, damage(manifest, built))

    return boot(system, directory, change, icount=True, for_ns=5 * MS)


def expect_refusal(run: Run, name: str, number: int) -> None:
    """Expects that the hypervisor reports it once, the tool gives it as the reason, no domain ran, and the
    power is off."""
    said = re.compile(rf"refused: {name} \(error {number}\) at offset \d+ of the manifest")
    lines = run.lines()
    assert len(lines) == 1, lines
    assert said.fullmatch(lines[0]), lines
    assert run.result["ended"] == "shutdown"
    assert run.result["verdict"] == "failed"
    assert any(lines[0] in reason for reason in run.result["reasons"]), run.result["reasons"]
    assert run.lines("control") == run.lines("hog") == []


def test_the_undamaged_package_boots(system: Path, tmp_path: Path) -> None:
    """Otherwise the refusals below would prove nothing."""
    run = refused(system, tmp_path, lambda manifest, built: manifest)
    assert run.result["verdict"] == "ok", run.result["reasons"]
    assert run.status is not None
    assert run.status.phase == "ended"


def test_a_flipped_bit_breaks_the_checksum(system: Path, tmp_path: Path) -> None:
    def damage(manifest: bytes, built: Build) -> bytes:
        offset, _ = field_place(manifest, built.layout, "domains/1.entry_ipa")
        return flipped_bit(manifest, built.layout, offset, 3)

    expect_refusal(refused(system, tmp_path, damage), "checksum", 6)


# Errors in a manifest whose checksum is right.
NONSENSE = [
    ("magic", 0, "magic", 2),
    ("version", 99, "version", 3),
    ("layout_hash", 1, "layout", 4),
    ("platform.gic_version", 7, "platform", 8),
    ("color_sets/0.word[1]", 1, "color set", 12),
    ("vcpus/1.core", 4, "vcpu", 16),
    ("segments/0.ipa", 0x4000_0800, "segment", 17),
    ("images/0.ipa", 0x8000_0000, "image", 20),
    ("images/0.offset", 0x7000_0000, "image", 20),
    ("irqs/0.intid", 33, "irq", 21),
    ("devices/0.pa", 0x4800_0000, "device", 22),
    ("platform.uart_pa", 0x0902_0000, "hardware", 24),
]


@pytest.mark.parametrize(("path", "value", "name", "number"), NONSENSE, ids=[row[0] for row in NONSENSE])
def test_sealed_nonsense_is_refused_by_name(
    system: Path, tmp_path: Path, path: str, value: int, name: str, number: int
) -> None:
    def damage(manifest: bytes, built: Build) -> bytes:
        return patched_field(manifest, built.layout, path, value)

    expect_refusal(refused(system, tmp_path, damage), name, number)


# Features that are missing in the hypervisor that the builder chose for a system without time isolation. The
# full hypervisor would refuse a budget or monitors on a core without their interrupt as such.
OF_TIME = [
    ("domains/1.flags", "budget"),
    ("domains/1.flags", "reclaim"),
    ("domains/1.flags", "pmu"),
    ("regulation.members", None),
    ("vcpus/1.core", None),
]


@pytest.mark.parametrize(("path", "flag"), OF_TIME, ids=[flag or path for path, flag in OF_TIME])
def test_the_hypervisor_of_space_refuses_what_it_has_not(
    system: Path, tmp_path: Path, path: str, flag: str | None
) -> None:
    def damage(manifest: bytes, built: Build) -> bytes:
        assert built.program == "space"
        offset, size = field_place(manifest, built.layout, path)
        value = int.from_bytes(manifest[offset : offset + size], "little")
        if flag is not None:
            value |= built.layout.enum_value("domain_flag", flag)
        else:  # a member; the other domain's core
            value ^= 1
        return patched_field(manifest, built.layout, path, value)

    expect_refusal(refused(system, tmp_path, damage), "not in image", 36)


def test_a_frame_with_two_owners_is_refused(system: Path, tmp_path: Path) -> None:
    """The second domain's memory is placed at the first one's, with its colors."""

    def damage(manifest: bytes, built: Build) -> bytes:
        damaged = manifest
        for field in ("pa", "color_set"):
            offset, size = field_place(manifest, built.layout, f"segments/0.{field}")
            value = int.from_bytes(manifest[offset : offset + size], "little")
            damaged = patched_field(damaged, built.layout, f"segments/1.{field}", value)
        return damaged

    expect_refusal(refused(system, tmp_path, damage), "frame shared", 19)


def test_a_package_for_another_interrupt_controller_is_refused(system: Path, tmp_path: Path) -> None:
    """A GICv2 is valid, but is not the controller of this board."""

    def damage(manifest: bytes, built: Build) -> bytes:
        damaged = patched_field(manifest, built.layout, "platform.gic_version", 2)
        for field, at in (("gicc_pa", 0x0801_0000), ("gich_pa", 0x0803_0000), ("gicv_pa", 0x0804_0000)):
            damaged = patched_field(damaged, built.layout, f"platform.{field}", at)
        return damaged

    expect_refusal(refused(system, tmp_path, damage), "hardware", 24)
