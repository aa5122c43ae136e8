# SPDX-License-Identifier: Apache-2.0
"""How guests' memory is cached (T5): if the cores can force write-back, always so, whatever a guest maps; if
they cannot, and for a domain with a device that bypasses the caches, as the guest maps it.

The emulator has no caches, but it has the architecture's rule that combines the types of both stages: its own
AT instruction, executed at EL2 between two instructions of the shipped hypervisor, gives the result.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from .debugger import Debugger, NotMapped, debugged
from .harness import boot, domain, make, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.req("T5")]

WRITE_BACK, NON_CACHEABLE, DEVICE = 0xFF, 0x44, 0x04  # as MAIR_EL1 has them
HCR_FWB = 1 << 46
RTC, FW_CFG = 0x0901_0000, 0x0902_0000
PATIENCE_S = 120  # on a busy host the guest executes little between two stops
IMAGE, LAST_PAGE = 0x4008_0000, 0x1F_F000  # of the guest, of what it maps past the caches


def attacker(**keys: Any) -> dict[str, Any]:
    """It maps 2 MiB of its 16 Non-cacheable, and has a device of its own."""
    memory = [{"at": 0x4000_0000, "size": "16 MiB"}]
    return domain("hostile", "bypass", 1, **{"devices": ["rtc"], **keys}) | {"memory": memory}


def types_at(debugger: Debugger, places: Sequence[int]) -> list[int]:
    """The types when the guest, which reports that it is ready before it accesses its memory, has accessed
    all of them."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        debugger.go_on_to_el2()
        with suppress(NotMapped):
            return [debugger.memory_type(place) for place in places]
    raise AssertionError(f"not all of {places} were touched")


def places_of_exits(debugger: Debugger) -> set[int]:
    """Where the guest is at its next exits: at two places, unless it stands. On a busy host many exits in a
    row are at one place, because hardly an instruction is executed between two of EL2's interrupts."""
    found: set[int] = set()
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < 2 and time.monotonic() < deadline:
        debugger.go_on_to_el2()
        found.add(debugger.register("ELR_EL2"))
    return found


def types(
    directory: Path,
    platform: str,
    cpu: str | None = None,
    isolation: dict[str, str] | None = None,
    **keys: Any,
) -> tuple[int, list[int]]:
    """HCR_EL2.FWB, and the types of memory that the guest has mapped as usual, of memory that it has mapped
    Non-cacheable, and of a device."""
    system = write_system(directory, attacker(**keys), platform=platform, isolation=isolation or {})
    machine = make(system, directory / "run").machine
    assert machine is not None
    machine = replace(machine, cpu=cpu or machine.cpu)
    with debugged(machine, directory / "run", "bulkhead: ready") as debugger:
        console = (directory / "run" / "console.log").read_text()
        found = re.search(r"bypass: \d+ bytes from ([0-9a-f]+)", console)
        assert found, console
        area = int(found[1], 16)
        places = (IMAGE, area, area + LAST_PAGE, FW_CFG if "fw-cfg" in keys.get("devices", ()) else RTC)
        result = types_at(debugger, places)
        assert len(places_of_exits(debugger)) > 1, "the guest did not go on"
        return debugger.register("HCR_EL2") & HCR_FWB, result


@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize(
    "isolation",
    [{"llc": "none"}, {"llc": "coloring", "premap": "none"}, {"llc": "coloring", "premap": "all"}],
)
def test_t5_where_cores_can_force_it_memory_is_write_back_whatever_a_guest_maps(
    tmp_path: Path, isolation: dict[str, str], device: int
) -> None:
    forced, seen = types(tmp_path, "qemu-virt-max", isolation=isolation, params={"device": device})
    assert forced
    assert seen == [WRITE_BACK, WRITE_BACK, WRITE_BACK, DEVICE]


def test_t5_on_a_core_that_is_sold_too(tmp_path: Path) -> None:
    forced, seen = types(tmp_path, "qemu-virt-max", cpu="neoverse-v1")
    assert forced and seen == [WRITE_BACK, WRITE_BACK, WRITE_BACK, DEVICE]


@pytest.mark.parametrize("cpu", ["cortex-a53", "cortex-a57", "cortex-a72", "max"])
@pytest.mark.parametrize(("device", "past"), [(0, NON_CACHEABLE), (1, DEVICE)])
def test_t5_without_it_memory_is_as_the_guest_maps_it(
    tmp_path: Path, cpu: str, device: int, past: int
) -> None:
    """The board is `max` because the platform file does not state that its cores have it."""
    forced, seen = types(tmp_path, "qemu-virt", cpu=cpu, params={"device": device})
    assert not forced
    assert seen == [WRITE_BACK, past, past, DEVICE]


def test_t5_what_is_shared_with_a_device_that_sees_no_caches_is_as_the_guest_maps_it(tmp_path: Path) -> None:
    forced, seen = types(tmp_path, "qemu-virt-max", devices=["fw-cfg"], dma="trusted")
    assert forced
    assert seen == [WRITE_BACK, NON_CACHEABLE, NON_CACHEABLE, DEVICE]


def test_t5_cores_without_it_are_refused_where_the_platform_says_that_they_have_it(tmp_path: Path) -> None:
    system = write_system(tmp_path, attacker(), platform="qemu-virt-max")
    run = boot(system, tmp_path / "run", alter=lambda machine: replace(machine, cpu="cortex-a53"))
    assert run.result["verdict"] == "failed"
    assert run.status is not None and run.status.refusal_name == "hardware"
    assert any("`cores.s2fwb`" in reason for reason in run.result["reasons"]), run.result["reasons"]
