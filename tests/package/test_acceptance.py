# SPDX-License-Identifier: Apache-2.0
"""The hypervisor's own checker (core/manifest.c) accepts the builder's output, and refuses damaged manifests.

The checker is compiled for the machine that runs the tests; it is the same source that runs at EL2."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
import yaml

from bulkhead.admission.load import load_system
from bulkhead.env.paths import repository
from bulkhead.package.build import Build, BuildOptions, build_system
from bulkhead.package.corrupt import field_place, flipped_bit, patched_field, with_manifest
from bulkhead.planning.model import Hooks, Plan
from bulkhead.schema import Layout
from bulkhead.schema.header import c_header

Builds = Callable[..., Build]


class Check(Protocol):
    """Name and offset of the first error in a manifest, of a package of so many bytes."""

    def __call__(self, manifest: bytes, package_bytes: int = ..., /) -> tuple[str, int]: ...


PROGRAM = """
#include "core/manifest.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static _Alignas(8) unsigned char buffer[1 << 20];
    size_t bytes = fread(buffer, 1, sizeof buffer, stdin);
    unsigned char *exact = aligned_alloc(8, (bytes + 7) / 8 * 8 + 8);
    for (size_t i = 0; i < bytes; i++)
        exact[i] = buffer[i];
    struct manifest_verdict verdict = manifest_check(exact, bytes, strtoull(argv[argc - 1], 0, 0));
    printf("%u %u\\n", (unsigned)verdict.error, (unsigned)verdict.offset);
    free(exact);
    return 0;
}
"""


def _checks(path: Path) -> bool:
    """Sources of the manifest's check, without those that need others."""
    # These need others.
    exchange = (
        "virt",
        "vsock_device",
        "flow_exchange",
        "flow_group",
        "flow_inflight",
        "flow_paths",
        "packet",
        "path_",
    )
    return not path.stem.endswith(("_space_only", "_no_smmu", "_no_pci")) and not path.stem.startswith(
        exchange
    )


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory, layout: Layout) -> Path:
    """A program that reads a manifest and prints the verdict of core/manifest.c."""
    out = tmp_path_factory.mktemp("checker")
    (out / "bulkhead_layout.h").write_text(c_header(layout.schema, "manifest.yaml"))
    (out / "check.c").write_text(PROGRAM)
    root = repository()
    # All but those that replace others.
    sources = sorted(str(path) for path in root.glob("core/*.c") if _checks(path))
    flags = ["-std=c11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = [
        "gcc",
        *flags,
        f"-I{root}",
        f"-I{out}",
        "-o",
        str(out / "check"),
        str(out / "check.c"),
        *sources,
    ]
    subprocess.run(command, check=True)
    return out / "check"


@pytest.fixture
def check(checker: Path, layout: Layout) -> Check:
    def run(manifest: bytes, package_bytes: int = 1 << 24) -> tuple[str, int]:
        answer = subprocess.run(
            [checker, str(package_bytes)], input=manifest, capture_output=True, check=True
        )
        error, offset = map(int, answer.stdout.split())
        return layout.enum_name("manifest_error", error) or str(error), offset

    return run


def test_core_accepts_what_the_builder_writes(
    builder: Builds, colored: Plan, uncolored: Plan, check: Check
) -> None:
    for number, plan in enumerate((colored, uncolored)):
        assert check(builder(plan, str(number)).manifest.read_bytes()) == ("none", 0)


@pytest.mark.parametrize(
    ("example", "unprotected", "wrong"),
    [
        ("mixed-criticality", False, False),
        ("mixed-criticality", True, False),
        ("mixed-criticality", False, True),
        ("linux-smp", False, False),
        ("linux-smp", True, False),
    ],
)
def test_core_accepts_the_examples_unprotected_and_miscolored_too(
    example: str, unprotected: bool, wrong: bool, images: Path, target_dir: Path, tmp_path: Path, check: Check
) -> None:
    """C5: a miscolored plan must boot, or no witness could detect it. The images are stand-ins."""
    target = tmp_path / "target"
    shutil.copytree(target_dir / "hypervisor" / "small", target / "hypervisor" / "qemu-virt")
    (target / "guests").mkdir()
    for name in ("periodic", "hog"):
        shutil.copy(images / "control.elf", target / "guests" / f"{name}.elf")
    file = repository() / "examples" / f"{example}.yaml"
    names = [domain["name"] for domain in yaml.safe_load(file.read_text())["domains"]]
    place = f"domains.{names.index('linux')}.image"
    settings = [f"{place}.kernel={images / 'Image'}", f"{place}.initrd={images / 'initrd'}"]
    loaded = load_system(file, settings, unprotected=unprotected)
    assert loaded.ok, loaded.problems
    options = BuildOptions(target_dir=target)
    build = build_system(loaded, tmp_path / "out", options, Hooks(miscolor="linux" if wrong else None))
    assert check(build.manifest.read_bytes(), build.package_bytes) == ("none", 0)
    assert (build.plan.miscolored_pa is not None) == wrong


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        ("magic", 0, "magic"),
        ("version", 99, "version"),
        ("layout_hash", 1, "layout"),
        ("total_bytes", 8, "size"),
        ("cpus.offset", 4, "table"),
        ("domains.count", 9, "table"),
        ("platform.gic_version", 7, "platform"),
        ("platform.access_event", 1 << 16, "platform"),
        ("platform.s2fwb", 2, "platform"),
        ("platform.color_bits", 0xFFFF_F000, "color_bits"),
        ("cpus/1.mpidr", 0, "cpu"),
        ("ram/0.pa", 0x4000_0001, "ram"),
        ("color_sets/0.word[3]", 1 << 63, "color_set"),
        ("hypervisor.pool_pa", 0, "pool"),
        ("hypervisor.console_core", 200, "console"),
        ("domains/0.flags", 1 << 31, "domain"),
        ("vcpus/1.core", 200, "vcpu"),
        ("hypervisor.scheduler", 2, "scheduler"),
        ("segments/0.pa", 0x4000_4000, "segment"),
        ("images/0.ipa", 16, "image"),
        ("irqs/0.intid", 33, "irq"),
        ("devices/0.pa", 0x900_0000, "device"),
        ("tables.on_chip_bytes", 0x1000, "platform"),
        ("tables.colored_pa", 0x4000_0000, "tables"),
        ("domains/0.table_memory", 1, "tables"),
    ],
)
def test_core_refuses_a_damaged_field_by_name(
    builder: Builds, colored: Plan, check: Check, layout: Layout, path: str, value: int, error: str
) -> None:
    damaged = patched_field(builder(colored).manifest.read_bytes(), layout, path, value)
    assert check(damaged)[0] == error


def test_any_flipped_bit_breaks_the_checksum_or_an_earlier_check(
    builder: Builds, colored: Plan, check: Check, layout: Layout
) -> None:
    manifest = builder(colored).manifest.read_bytes()
    early = {"magic", "version", "layout", "size", "truncated", "checksum"}
    for offset in range(0, len(manifest), 97):
        assert check(flipped_bit(manifest, layout, offset, offset % 8))[0] in early


def test_a_truncated_manifest_is_refused(builder: Builds, colored: Plan, check: Check) -> None:
    manifest = builder(colored).manifest.read_bytes()
    for length in (0, 7, 200, len(manifest) - 1):
        assert check(manifest[:length])[0] == "truncated"


def test_a_package_can_carry_a_damaged_manifest_for_boot_tests(
    builder: Builds, colored: Plan, layout: Layout
) -> None:
    build = builder(colored)
    manifest = build.manifest.read_bytes()
    damaged = patched_field(manifest, layout, "segments/0.bytes", 1)
    package = with_manifest(build.elf.read_bytes(), manifest, damaged)
    assert damaged in package
    assert manifest not in package
    offset, size = field_place(manifest, layout, "segments/0.bytes")
    assert damaged[offset : offset + size] == (1).to_bytes(size, "little")
