# SPDX-License-Identifier: Apache-2.0
"""The compiled machine: builds it when it is out of date, and loads it into this process.

Commands that measure call `built_machine`; the process of a point calls only `load_machine`, since its parent
has built the machine. One process runs one machine at a time.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Protocol

from bulkhead.env.compiled import compiled_path, load_compiled
from bulkhead.env.paths import host_dir

TARGET = "bulkhead_python"
WORKLOADS = "workload_machine"
MODULE = "_machine"


class SimulatedMachine(Protocol):
    """One simulated machine (machine/python/module.cpp). Rejected values raise ValueError."""

    def own(self, owner: int, pages: list[int], page_bytes: int = 4096) -> None:
        """Assigns pages to `owner`; other pages have owner 0 (nobody)."""

    def walk(self, core: int, description: str) -> None:
        """Puts a generator (machine/generator.h), described as JSON, on an unused core."""

    def dma(self, description: str) -> None:
        """Adds a DMA engine that copies chunk after chunk (machine/python/dma_load.h), described as JSON."""

    def device(self, description: str) -> None:
        """Adds a device that masters memory (machine/python/device_load.h), described as JSON."""

    def program(
        self,
        core: int,
        file: str,
        memory: list[tuple[int, int, int]],
        arguments: list[str],
        endless: bool,
        start_ps: int = 0,
        space: str = "",
    ) -> None:
        """Puts an instrumented program on a core, starting at `start_ps`. `memory`: runs of guest address,
        physical address and bytes; `space`: its tables (machine/address_space.h) as JSON, or nothing."""

    def trace(
        self,
        core: int,
        file: str,
        frames: list[int],
        replays: int,
        endless: bool,
        start_ps: int = 0,
        space: str = "",
    ) -> None:
        """Puts a recorded program on a core, in frames of 4 KiB. `replays` 0: without end."""

    def regulate(self, description: str) -> None:
        """Starts budgets and regulators (machine/regulation/settings.h), described as JSON."""

    def label(self, core: int, partid: int, group: int = 0) -> None:
        """Sets MPAM's label of the core's further requests to memory."""

    def component_read(self, component: int, offset: int, nbytes: int = 4) -> int:
        """Reads a register of an MPAM component now."""

    def component_write(self, component: int, offset: int, value: int) -> None:
        """Writes a 32-bit register of an MPAM component."""

    def run(self, until_ps: int) -> str:
        """Runs until all finite walks are done ("stopped"), nothing is left ("idle"), or `until_ps`
        ("reached")."""

    def results(self) -> str:
        """All counts, as JSON."""


def built_machine(*, workloads: bool = False) -> Path:
    """The module's file, rebuilt if it is out of date. Raises BuildFailed or MissingTool."""
    from bulkhead.env.native import ensure_built

    ensure_built(["host"], [TARGET, WORKLOADS] if workloads else [TARGET])
    return module_path()


def module_path() -> Path:
    return compiled_path("machine/python", MODULE)


def workload_image() -> Path:
    """All workloads as one instrumented program."""
    return host_dir() / "workloads" / "workload_machine.image"


def load_machine(settings: str) -> SimulatedMachine:
    """A machine with these settings (JSON). Raises ValueError with the reason if they are not possible."""
    machine: SimulatedMachine = _module().Machine(settings)
    return machine


def table_frames(space: str) -> int:
    """Number of frames that the tables of an address space need. Raises ValueError if it is not possible."""
    return int(_module().table_frames(space))


def dram_alone(
    settings: str, requests: list[tuple[int, int, int]], until_ps: int
) -> tuple[list[int], int, int]:
    """Runs DRAM alone (machine/python/dram_requests.h). `requests`: time in ps, address, and 1 for a write.

    Returns the duration of each read in ps (0 if it was not done by `until_ps`), and the bytes read and
    written. Raises ValueError.
    """
    found: tuple[list[int], int, int] = _module().dram_alone(settings, requests, until_ps)
    return found


def _module() -> ModuleType:
    advice = "is not built: run `bulkhead bench machine`"
    return load_compiled(module_path(), MODULE, "the compiled machine", advice)
