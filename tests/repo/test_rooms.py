# SPDX-License-Identifier: Apache-2.0
"""The directories of hypervisor/ have an order; a file includes headers of its own directory or of an earlier
one."""

import re
from collections.abc import Iterator
from pathlib import Path

from checks.common import ROOT

HYPERVISOR = ROOT / "hypervisor"
ROOMS = (
    *("base", "memory", "vm", "vgic", "console", "time", "flow", "mpam", "iommu", "pci", "its"),
    *("run", "trap", "boot"),
)
OUTSIDE = {"arch", "platform"}  # directories of a single architecture or board


def layer_of(header: str) -> float:
    """Position of a header in the order; headers with state only come before the directory that has the
    objects."""
    room, _, name = header.partition("/")
    if name.endswith("_state.h"):
        return ROOMS.index("vm") - 0.5
    return ROOMS.index(room)


def upward_includes(root: Path) -> Iterator[str]:
    for source in sorted(root.glob("*/*.[ch]")):
        room = source.parent.name
        if room in OUTSIDE:
            continue
        name = f"{room}/{source.name}"
        for header in re.findall(r'^#include "([a-z_]+/[a-z_0-9]+\.h)"', source.read_text(), re.MULTILINE):
            if header.split("/")[0] in ROOMS and layer_of(header) > layer_of(name):
                yield f"{name} includes {header}"


def test_each_directory_is_a_room() -> None:
    rooms = {path.name for path in HYPERVISOR.iterdir() if path.is_dir()}
    assert rooms - OUTSIDE == set(ROOMS)


def test_no_room_includes_a_later_one() -> None:
    assert list(upward_includes(HYPERVISOR)) == []


def test_an_include_of_a_later_room_is_found(tmp_path: Path) -> None:
    for room in ROOMS:
        (tmp_path / room).mkdir()
    (tmp_path / "memory/pool.c").write_text('#include "memory/pool.h"\n#include "run/irq.h"\n')
    (tmp_path / "vm/cpu.h").write_text('#include "time/time_state.h"\n#include "time/pmu.h"\n')
    assert list(upward_includes(tmp_path)) == [
        "memory/pool.c includes run/irq.h",
        "vm/cpu.h includes time/pmu.h",
    ]


def arrays_of_cores(root: Path) -> list[str]:
    """Data that a source keeps for each core: arrays of BH_MAX_CORES, also in structures."""
    found = []
    for source in sorted(root.glob("**/*.c")):
        if "hosted" not in source.parts:
            name = source.relative_to(root)
            found += [
                f"{name}: {array}" for array in re.findall(r"(\w+)\[BH_MAX_CORES\]", source.read_text())
            ]
    return found


def test_what_is_kept_of_a_core_is_in_struct_cpu() -> None:
    assert arrays_of_cores(HYPERVISOR) == ["vm/cpu.c: cpus"]


def test_an_array_of_cores_is_found(tmp_path: Path) -> None:
    (tmp_path / "flow").mkdir()
    (tmp_path / "flow/stamps.c").write_text("static struct recorder recorders[BH_MAX_CORES];\n")
    assert arrays_of_cores(tmp_path) == ["flow/stamps.c: recorders"]
