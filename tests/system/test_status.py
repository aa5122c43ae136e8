# SPDX-License-Identifier: Apache-2.0
"""The statistics pages can be read from outside while the system runs, and their counts never decrease."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from bulkhead.run import emulator as emu
from bulkhead.run import memory
from bulkhead.run.emulator import RunningEmulator
from bulkhead.run.status import CoreStatus, SystemStatus, read_status
from bulkhead.run.target import Target

from .harness import control, domain, make, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

READINGS = 8
BETWEEN_READINGS_S = 0.1
START_S = 120


async def _read(emulator: RunningEmulator, target: Target) -> SystemStatus | str:
    scratch = target.directory / "memory.tmp"
    image = await memory.fetch(emulator, target.status_frames, scratch)
    return read_status(target.layout, [image.bytes_at(pa) for pa in target.status_frames])


async def _watch(target: Target) -> tuple[list[SystemStatus], object]:
    """Several readings of a running machine, and whether it ran all the time."""
    readings: list[SystemStatus] = []
    assert target.machine is not None
    async with emu.start(target.machine.arguments(), target.directory / "emulator.log") as emulator:
        drain = asyncio.ensure_future(emulator.serial_in.read())
        await emulator.command("cont")
        for _ in range(START_S * 10):
            now = await _read(emulator, target)
            if isinstance(now, SystemStatus) and now.phase == "started":
                break
            await asyncio.sleep(0.1)
        while len(readings) < READINGS:
            now = await _read(emulator, target)
            assert isinstance(now, SystemStatus), now
            readings.append(now)
            await asyncio.sleep(BETWEEN_READINGS_S)
        state = await emulator.command("query-status")
        drain.cancel()
        await emulator.quit()
    return readings, state


def _counts(core: CoreStatus) -> dict[str, int]:
    return {**core.exits, "injected": core.injected, "list_register_full": core.list_register_full}


def test_counts_grow_and_never_shrink_while_the_system_runs(tmp_path: Path) -> None:
    system = write_system(tmp_path, control(), domain("crash", "crash", 1, restart="on-failure"))
    target = make(system, tmp_path / "run")
    readings, state = asyncio.run(_watch(target))
    assert isinstance(state, dict)
    assert state["running"] is True
    assert all(reading.phase == "started" for reading in readings)
    assert all(reading.domains[0].state == "running" for reading in readings)
    for earlier, later in itertools.pairwise(readings):
        assert len(earlier.cores) == len(later.cores) == 4
        for before, after in zip(earlier.cores, later.cores, strict=True):
            now = _counts(after)
            assert all(now[name] >= count for name, count in _counts(before).items())
        assert later.domains[1].restarts >= earlier.domains[1].restarts
    timers = [reading.cores[0].exits.get("irq_timer", 0) for reading in readings]
    assert timers[-1] > timers[0], "the task's timer goes on, and the count with it"
    assert readings[-1].domains[1].restarts > readings[0].domains[1].restarts
