# SPDX-License-Identifier: Apache-2.0
"""A small board with two domains, a stand-in for the hypervisor, and images, for tests of the builder.

The board has 16 colors (address bits 12 to 15). The stand-in has the headers and symbols of the real
hypervisor and no code that could run; what the builder does with either is the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bulkhead.config.platform import Platform
from bulkhead.config.system import System
from bulkhead.geometry import UNCOLORED, color_space
from bulkhead.package.build import Build, BuildOptions, build_plan
from bulkhead.package.elfout import ElfChunk, write_elf
from bulkhead.planning.model import DomainPlan, Plan, Pool, Segment
from bulkhead.schema import Layout, load_layout

MIB = 1 << 20
RAM = 0x4000_0000

HYPERVISOR_SOURCE = """
    .section .text
    .globl _start
_start:
    b       code
    .org    56
    .ascii  "ARM\\x64"
    .org    64
    .long   {magic}, {version}
    .quad   0, 0, 0
code:
    b       .
    .section .data
    .ascii  "data of the hypervisor"
    .section .bss
    .balign 4096
    .skip   64
    .balign 4096
    .globl  status_pages
status_pages:
    .skip   5 * 4096
"""
HYPERVISOR_LINK = """
ENTRY(_start)
PHDRS { text PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }
SECTIONS
{
    . = 0x8000000000;
    .text : { *(.text) } :text
    . = ALIGN(4096);
    .data : { *(.data) } :data
    .bss (NOLOAD) : { *(.bss) } :data
    /DISCARD/ : { *(.note*) }
}
"""


@pytest.fixture(scope="session")
def layout() -> Layout:
    return load_layout()


@pytest.fixture(scope="session")
def target_dir(tmp_path_factory: pytest.TempPathFactory, layout: Layout) -> Path:
    """A build tree of the preset `target` with the stand-in as both hypervisors of platform `small`."""
    root = tmp_path_factory.mktemp("target")
    out = root / "hypervisor" / "small"
    out.mkdir(parents=True)
    names = {"magic": layout.constant("package_magic"), "version": layout.constant("package_version")}
    (root / "hypervisor.S").write_text(HYPERVISOR_SOURCE.format(**names))
    (root / "hypervisor.ld").write_text(HYPERVISOR_LINK)
    link = ["-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,-z,max-page-size=4096", "-T", "hypervisor.ld"]
    command = ["aarch64-linux-gnu-gcc", *link, "-o", str(out / "bulkhead.elf"), "hypervisor.S"]
    subprocess.run(command, cwd=root, check=True)
    shutil.copy(out / "bulkhead.elf", out / "bulkhead-space.elf")
    return root


@pytest.fixture(scope="session")
def platform() -> Platform:
    cache = {"ways": 4, "line": 64, "index": "plain"}
    return Platform.model_validate(
        {
            "platform": 1,
            "name": "small",
            "description": "four cores and 64 MiB",
            "cores": {"count": 4, "type": "cortex-a53"},
            "memory": ({"at": RAM, "size": 64 * MIB},),
            "load": {"at": RAM + 48 * MIB, "size": 16 * MIB},
            "interrupt_controller": {
                "type": "gicv3",
                "distributor": 0x800_0000,
                "redistributors": 0x80A_0000,
            },
            "uart": {"type": "pl011", "at": 0x900_0000, "interrupt": 33},
            "pmu": {"counters": 6, "interrupts": (23,)},
            "caches": {
                "l1d": {"size": 4096 * 4, **cache},
                "l2": {"size": 64 * 1024 * 4, "replacement": "random", **cache},
            },
            "devices": ({"name": "rtc", "at": 0x901_0000, "size": 4096, "interrupts": (34,), "dma": False},),
        }
    )


@pytest.fixture(scope="session")
def system() -> System:
    return System.model_validate(
        {
            "bulkhead": 1,
            "name": "two",
            "platform": "small",
            "domains": (
                {
                    "name": "control",
                    "criticality": "rt",
                    "cpus": (0,),
                    "image": {"elf": "control.elf"},
                    "memory": ({"at": RAM, "size": 2 * MIB},),
                    "console": True,
                    "params": {"period_us": 1000},
                    "devices": ("rtc",),
                },
                {
                    "name": "linux",
                    "cpus": (2, 1),
                    "image": {"kernel": "Image", "initrd": "initrd", "cmdline": "console=ttyAMA0"},
                    "memory": ({"at": RAM, "size": 8 * MIB},),
                    "console": True,
                    "manager": True,
                },
            ),
        }
    )


def program(*segments: tuple[int, bytes], entry: int | None = None) -> bytes:
    """A bare-metal program with the given (address, content) segments."""
    return write_elf(
        segments[0][0] if entry is None else entry, [ElfChunk(at, data) for at, data in segments]
    )


def kernel_image(payload: bytes, *, text_offset: int = 0, image_bytes: int | None = None) -> bytes:
    """An arm64 Image with a valid header."""
    size = len(payload) + 64 if image_bytes is None else image_bytes
    header = bytes(8) + b"".join(n.to_bytes(8, "little") for n in (text_offset, size, 0xA)) + bytes(24)
    return header + b"ARM\x64" + bytes(4) + payload


@pytest.fixture(scope="session")
def make_program() -> Callable[..., bytes]:
    return program


@pytest.fixture(scope="session")
def make_kernel() -> Callable[..., bytes]:
    return kernel_image


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """The directory of a system file with the images of both domains."""
    base = tmp_path / "system"
    base.mkdir()
    (base / "control.elf").write_bytes(program((RAM + 0x80000, b"text" * 40), (RAM + 0x81008, b"data" * 3)))
    (base / "Image").write_bytes(kernel_image(b"kernel" * 1000, image_bytes=0x8000))
    (base / "initrd").write_bytes(b"initrd" * 500)
    return base


def domain_plans(colors: list[frozenset[int] | None], places: list[int]) -> tuple[DomainPlan, ...]:
    control, linux = (
        Segment(RAM, size, place, chosen)
        for size, place, chosen in zip((2 * MIB, 8 * MIB), places, colors, strict=True)
    )
    return (
        DomainPlan("control", 0, (0,), "rt", colors[0], (control,), premap=True),
        DomainPlan("linux", 1, (2, 1), "best-effort", colors[1], (linux,), premap=False),
    )


@pytest.fixture
def colored(platform: Platform, system: System) -> Plan:
    """Colors 0 to 3 for `control`, 4 to 11 for `linux`, 12 to 15 for the hypervisor."""
    space = color_space(range(12, 16))
    sets = [frozenset(range(4)), frozenset(range(4, 12))]
    pool = Pool(RAM + 12 * 4096, 2 * MIB, frozenset(range(12, 16)))
    domains = domain_plans(list(sets), [RAM, RAM + 4 * 4096])
    return Plan(system, platform, space, pool, domains, (RAM + 48 * MIB, 16 * MIB))


@pytest.fixture
def uncolored(colored: Plan) -> Plan:
    """The same system without colors: everything is contiguous."""
    domains = domain_plans([None, None], [RAM + 8 * MIB, RAM + 16 * MIB])
    return replace(colored, space=UNCOLORED, pool=Pool(RAM + 4 * MIB, 2 * MIB, None), domains=domains)


@dataclass(frozen=True)
class Builder:
    """Builds plans with the stand-in hypervisor, each into a directory of its own."""

    images: Path
    target_dir: Path
    out: Path

    def __call__(self, plan: Plan, name: str = "out", **options: Any) -> Build:
        chosen = BuildOptions(target_dir=self.target_dir, **options)
        return build_plan(plan, self.images, self.out / name, chosen)


@pytest.fixture
def builder(images: Path, target_dir: Path, tmp_path: Path) -> Callable[..., Build]:
    return Builder(images, target_dir, tmp_path)


@pytest.fixture
def golden() -> Callable[[str, bytes], None]:
    """Compares with a file of tests/golden, or writes it if BULKHEAD_WRITE_GOLDEN is set."""

    def check(name: str, content: bytes) -> None:
        path = Path(__file__).resolve().parents[1] / "golden" / name
        if os.environ.get("BULKHEAD_WRITE_GOLDEN"):
            path.write_bytes(content)
        again = f"{path} differs; if that is meant: BULKHEAD_WRITE_GOLDEN=1 pytest tests/package"
        assert path.exists(), again
        assert path.read_bytes() == content, again

    return check
