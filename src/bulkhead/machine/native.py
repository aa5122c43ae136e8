# SPDX-License-Identifier: Apache-2.0
"""The compiled machine: builds it when it is out of date, and loads it into this process.

Commands that measure call `built_machine`; the process of one point calls `load_machine` alone,
because whoever started it has built. One process runs one machine at a time.
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
    """One simulated machine (machine/python/module.cpp). What is refused is a ValueError."""

    def own(self, owner: int, pages: list[int], page_bytes: int = 4096) -> None:
        """These pages belong to `owner`; without it they are nobody's, number 0."""

    def walk(self, core: int, description: str) -> None:
        """Put a generator (machine/generator.h), described as JSON, on a core that has nothing to do."""

    def dma(self, description: str) -> None:
        """A DMA engine that copies chunk after chunk (machine/python/dma_load.h), described as JSON."""

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
        """Put an instrumented program on a core, where it begins at `start_ps`. `memory`: runs of guest and
        physical address and bytes; `space`: its tables (machine/address_space.h), as JSON, or nothing."""

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
        """Put a recorded program on a core, in frames of 4 KiB; 0 replays: without end."""

    def regulate(self, description: str) -> None:
        """Budgets and regulators (machine/regulation/settings.h), described as JSON, from now on."""

    def label(self, core: int, partid: int, group: int = 0) -> None:
        """MPAM's label of all that the core asks memory for from now on."""

    def component_read(self, component: int, offset: int, nbytes: int = 4) -> int:
        """A register of an MPAM component, now."""

    def component_write(self, component: int, offset: int, value: int) -> None:
        """The same, of 32 bits."""

    def run(self, until_ps: int) -> str:
        """Until all walks that have an end are done ("stopped"), nothing is left ("idle"), or "reached"."""

    def results(self) -> str:
        """What was counted, as JSON."""


def built_machine(*, workloads: bool = False) -> Path:
    """The module's file, built now if it is out of date. Raises BuildFailed or MissingTool."""
    from bulkhead.env.native import ensure_built

    ensure_built(["host"], [TARGET, WORKLOADS] if workloads else [TARGET])
    return module_path()


def module_path() -> Path:
    return compiled_path("machine/python", MODULE)


def workload_image() -> Path:
    """All workloads as one instrumented program."""
    return host_dir() / "workloads" / "workload_machine.image"


def load_machine(settings: str) -> SimulatedMachine:
    """A machine made of settings (JSON). Raises ValueError with the reason where they are impossible."""
    machine: SimulatedMachine = _module().Machine(settings)
    return machine


def table_frames(space: str) -> int:
    """How many frames the tables of an address space need. Raises ValueError where it cannot be."""
    return int(_module().table_frames(space))


def dram_alone(
    settings: str, requests: list[tuple[int, int, int]], until_ps: int
) -> tuple[list[int], int, int]:
    """DRAM by itself (machine/python/dram_requests.h): `requests` of time in ps, address and 1 for a write.

    What each read took in ps, 0 if it was not done by `until_ps`, and the bytes that were read and written.
    Raises ValueError.
    """
    found: tuple[list[int], int, int] = _module().dram_alone(settings, requests, until_ps)
    return found


def _module() -> ModuleType:
    advice = "is not there: run `./bulkhead bench machine`"
    return load_compiled(module_path(), MODULE, "the compiled machine", advice)
