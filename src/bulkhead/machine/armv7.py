# SPDX-License-Identifier: Apache-2.0
"""One run of an image of a 32-bit Arm board on the simulated machine, as a process of its own.

`machine_armv7` (machine/armv7/runner/run.h) executes the image's machine code. Its settings of the board come
from the platform file. Used by `run --on machine` and by tests.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bulkhead.config.platform import Platform
from bulkhead.env.child import die_with_parent
from bulkhead.env.paths import host_dir
from bulkhead.errors import BulkheadError
from bulkhead.machine.settings import PICOSECONDS_PER_S, NotSimulated, Settings, settings_of

TARGET = "machine_armv7"  # of the host build
PROFILES = {"cortex-a9": "armv7-a", "cortex-m7": "armv7-m"}  # by type of the cores

OF_THE_CORE = ("mpcore", "pl310")  # peripherals that are part of the cores' cluster
OUTER_LEVEL = "l2"  # name of the level that a PL310 controls

Json = dict[str, Any]


class Armv7NotRun(BulkheadError):
    """The machine refused the request."""


@dataclass(frozen=True)
class TimedLine:
    """A line of the console, and the simulated time at which its end was sent."""

    text: str
    at_ps: int


@dataclass(frozen=True)
class Armv7Run:
    """Results of a run."""

    lines: tuple[TimedLine, ...]
    answer: Json  # machine/armv7/runner/run.h
    marks: tuple[Json, ...] = ()  # counts at each mark of the program (DBG)

    @staticmethod
    def of(kept: Json) -> Armv7Run:
        """A run from its `dataclasses.asdict` form."""
        return Armv7Run(
            tuple(TimedLine(**line) for line in kept["lines"]), kept["answer"], tuple(kept["marks"])
        )

    @property
    def console(self) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines)

    @property
    def digest(self) -> int:
        return int(self.answer["digest"])


def executable() -> Path:
    return host_dir() / "machine" / "armv7" / TARGET


def ensure_armv7() -> None:
    """Build the machine if it is out of date. Raises BuildFailed or MissingTool."""
    from bulkhead.env.native import ensure_built

    ensure_built(["host"], [TARGET])


def request_of(
    platform: Platform,
    image: Path,
    *,
    until_ps: int | None = None,
    until_line: str | None = None,
    timed: bool = True,
) -> Json:
    """The request for `machine_armv7`. Raises NotSimulated if the platform file states too little.

    `until_line`: a regular expression (ECMAScript); the run ends with the first line that matches. `timed`
    False: on a machine in which each instruction takes one cycle and nothing else takes time.
    """
    profile = PROFILES.get(platform.cores.type)
    if profile is None:
        raise NotSimulated(
            f"platform '{platform.name}': the simulated machine cannot execute code of a "
            f"{platform.cores.type}"
        )
    if not platform.peripherals:
        raise NotSimulated(f"platform '{platform.name}' does not list its peripherals")
    timed = timed and platform.dram is not None
    request: Json = {
        "profile": profile,
        "settings": settings_of(platform) if timed else untimed_settings(platform),
        "core": _a_core(platform) if profile == "armv7-a" else _m_core(platform),
        "memory": [{"at": ram.at, "size_bytes": ram.size} for ram in (*platform.memory, *_ocm(platform))],
        "devices": [
            {"type": one.type, "at": one.at, "interrupt": one.interrupt}
            | ({} if one.clock is None else {"clock_hz": one.clock})
            for one in platform.peripherals
            if one.type not in OF_THE_CORE
        ],
        "image": str(image),
    }
    if until_ps is not None:
        request["until_ps"] = until_ps
    if until_line is not None:
        request["until_line"] = until_line
    return request


def untimed_settings(platform: Platform) -> Settings:
    """Settings of a machine without timing: an instruction takes a cycle, all else takes none.

    All memory is on the chip and has no latency. The DRAM that a machine must have is a page behind all
    memory, which no image uses.
    """
    frequency = platform.cores.frequency
    if frequency is None:
        raise NotSimulated(f"platform '{platform.name}' does not state the frequency of its cores")
    # A cycle of whole picoseconds, so that accesses do not round.
    frequency = PICOSECONDS_PER_S // round(PICOSECONDS_PER_S / frequency)
    none = {"size_bytes": 32, "ways": 1, "line_bytes": 32}
    beyond = max(ram.end for ram in platform.memory)
    tlb = platform.cores.tlb
    lockable = 0 if tlb is None or tlb.l2 is None else tlb.l2.lockable
    mmu = {"l1": {"entries": 1}, "l2": {"entries": 1, "lockable_entries": lockable}}
    return {
        "cores": [
            {"frequency_hz": frequency, "l1d": none, "mmu": mmu, "path": [], "master": "core-0"},
        ],
        "masters": [{"name": "core-0", "request_ps": 0, "answer_ps": 0}],
        "levels": [{"name": OUTER_LEVEL, "cache": none}],  # without any accesses
        "device_ps": 0,
        "regions": [
            {"name": f"memory-{number}", "base": ram.at, "size_bytes": ram.size, "latency_ps": 0}
            for number, ram in enumerate((*platform.memory, *_ocm(platform)))
        ],
        "dram": {
            "shape": {"banks": 1, "rows": 1, "columns": 128, "burst_bytes": 32},
            "map": {"column": [1 << bit for bit in range(5, 12)]},
            "base": beyond,
            "bytes": 4096,
            "timings": dict.fromkeys(("burst", "cl", "rcd", "rp", "ras", "ccd_s", "ccd_l"), 1)
            | {"period_fs": 1_000_000},
            "how": {},
        },
    }


def run(request: Json, started: Callable[[subprocess.Popen[str]], None] = lambda _process: None) -> Armv7Run:
    """Runs a request to its end in a process that is passed to `started`. Raises Armv7NotRun with the
    reason."""
    with subprocess.Popen(
        [executable()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,
    ) as process:
        started(process)
        output, errors = process.communicate(json.dumps(request))
    if process.returncode not in (0, 1) or not output:
        raise Armv7NotRun(f"the machine ended with {process.returncode}: {errors.strip()}")
    *told, answer = (json.loads(line) for line in output.splitlines())
    if "error" in answer:
        raise Armv7NotRun(answer["error"])
    return Armv7Run(
        tuple(TimedLine(one["console"], one["simulated_ps"]) for one in told if "console" in one),
        answer,
        tuple(one for one in told if "mark" in one),
    )


def _ocm(platform: Platform) -> tuple[Any, ...]:
    return () if platform.ocm is None else (platform.ocm,)


def _a_core(platform: Platform) -> Json:
    by_type = {one.type: one for one in platform.peripherals}
    private, outer = by_type.get("mpcore"), by_type.get("pl310")
    if private is None:
        raise NotSimulated(
            f"platform '{platform.name}' does not state the address of its cores' private region"
        )
    core: Json = {"peripherals_at": private.at, "peripherals_hz": private.clock}
    if outer is not None:
        core["outer_cache"] = {"at": outer.at, "level": OUTER_LEVEL}
    return core


def _m_core(platform: Platform) -> Json:
    cores = platform.cores
    if cores.nvic is None:
        raise NotSimulated(f"platform '{platform.name}' does not describe its NVIC")
    costs = cores.exceptions
    return {
        "interrupts": cores.nvic.interrupts,
        "priority_bits": cores.nvic.priority_bits,
        "mpu_regions": cores.mpu.regions if cores.mpu is not None else 0,
        "caches": platform.l1d is not None,
        "words_per_cycle": cores.pipeline.words_per_cycle if cores.pipeline is not None else 0,
        "entry_cycles": costs.entry if costs is not None else 0,
        "exit_cycles": costs.exit if costs is not None else 0,
        "tail_chain_cycles": costs.tail_chain if costs is not None else 0,
    }
