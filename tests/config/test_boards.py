# SPDX-License-Identifier: Apache-2.0
"""Platform files: interrupts that the hypervisor relies on, the load area, and the boards that exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bulkhead.admission.load import load_system
from bulkhead.config.crosscheck_platform import check_platform
from bulkhead.config.platform import Platform, Range
from bulkhead.machine.request import board_of
from bulkhead.machine.settings import NotSimulated, settings_of

ROOT = Path(__file__).parents[2]


def board(name: str) -> Platform:
    example = ROOT / "examples" / "linux-smp.yaml"
    platform = load_system(example, [f"platform={name}"]).platform
    assert platform is not None
    return platform


def findings(name: str, **changes: dict[str, Any]) -> list[str]:
    """Findings about a board after some keys of its sections were changed."""
    platform = board(name)
    sections = {
        section: getattr(platform, section).model_copy(update=keys) for section, keys in changes.items()
    }
    found = check_platform(platform.model_copy(update=sections))
    return [".".join(map(str, finding.path)) for finding in found]


@pytest.mark.parametrize(
    "name", ["qemu-virt", "qemu-virt-gicv2", "qemu-virt-smmu", "zcu102", "zcu102-smmu", "imx8mp", "rpi4"]
)
def test_the_boards_that_run_have_nothing_to_find(name: str) -> None:
    assert findings(name) == []


@pytest.mark.parametrize(
    ("name", "why"), [("imx8mp", "UART"), ("rpi4", "interconnect"), ("zcu102-smmu", "registers of 'smmu'")]
)
def test_a_board_with_more_than_the_machine_has_is_not_simulated_and_says_why(name: str, why: str) -> None:
    with pytest.raises(NotSimulated, match=f"'{name}'.*{why}"):
        board_of(board(name))


def test_a_private_l3_is_not_simulated_and_says_so() -> None:
    """Without the refusal the machine would run without this cache."""
    shared = board("mpam4")
    l3 = shared.caches["l3"]
    assert l3.shared_by and any(level["name"] == "l3" for level in settings_of(shared)["levels"])
    caches = {**shared.caches, "l3": l3.model_copy(update={"shared_by": ()})}
    with pytest.raises(NotSimulated, match="'mpam4': `l3` is private to each core"):
        settings_of(shared.model_copy(update={"caches": caches}))


@pytest.mark.parametrize(
    ("timers", "where"),
    [
        ({"hypervisor": 40}, "timers.hypervisor"),
        ({"maintenance": 26}, "timers.maintenance"),
        ({"virtual": 28}, "timers.virtual"),
        ({"physical": 27}, "timers.physical"),
    ],
)
def test_private_interrupts_are_private_distinct_and_the_guests_own(
    timers: dict[str, int], where: str
) -> None:
    assert findings("zcu102", timers=timers) == [where]


@pytest.mark.parametrize("at", [0x08FF_F000, 0x0901_0000, 0x0800_0000])
def test_a_load_area_over_a_device_is_found(at: int) -> None:
    everywhere = Range(at=0, size=0x4000_0000)
    changed = {"memory": (everywhere,), "reserved": (), "load": Range(at=at, size=0x2000)}
    found = check_platform(board("qemu-virt").model_copy(update=changed))
    assert [finding.code for finding in found if finding.path == ("load",)] == ["overlap"]


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"at": 0xFFFC_0800}, "ocm.at"),
        ({"free": 0x1800}, "ocm.free"),
        ({"free": 0x5_0000}, "ocm.free"),
        ({"at": 0x7FFF_F000}, "ocm"),  # RAM
        ({"at": 0xFF00_0000}, "ocm"),  # the UART
        ({"at": 0xFFA8_0000}, "ocm"),  # a DMA engine, which a guest can have
    ],
)
def test_b8_on_chip_memory_is_whole_pages_and_nobody_elses(changed: dict[str, int], where: str) -> None:
    assert findings("zcu102", ocm=changed) == [where]


def test_performance_monitors_have_one_private_interrupt_or_a_line_for_each_core() -> None:
    assert findings("zcu102", pmu={"interrupts": (175, 176)}) == ["pmu.interrupts"]
    assert findings("zcu102", pmu={"interrupts": (175,)}) == ["pmu.interrupts"]
    assert findings("zcu102", pmu={"interrupts": (23,)}) == []
    assert findings("zcu102", pmu={"interrupts": (175, 176, 175, 178)}) == ["pmu.interrupts.2"]
    assert findings("zcu102", pmu={"interrupts": (26,)}) == ["pmu.interrupts.0"]
    uart = board("zcu102").uart
    assert uart is not None
    assert findings("zcu102", pmu={"interrupts": (175, uart.interrupt, 177, 178)}) == ["pmu.interrupts.1"]
    assert [board("zcu102").pmu_interrupt(core) for core in range(4)] == [175, 176, 177, 178]
    assert [board("qemu-virt").pmu_interrupt(core) for core in range(4)] == [23] * 4


def test_a_device_has_no_interrupt_of_the_performance_monitors() -> None:
    taken = board("qemu-virt").devices[0].interrupts[0]
    lines = (taken + 1, taken + 2, taken, taken + 3)
    assert findings("qemu-virt", pmu={"interrupts": lines}) == ["devices.0.interrupts.0"]
