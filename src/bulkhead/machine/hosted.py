# SPDX-License-Identifier: Apache-2.0
"""One run of the hypervisor and its guests on the simulated machine, as a process of its own.

`hosted_run` (machine/hosted/main.cpp) gets a request made of a build (package/build.py with `hosted=True`)
and the settings of the build's platform; the answer is what was counted, and the console. Used by tests.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bulkhead.config.platform import Platform
from bulkhead.env.paths import build_dir
from bulkhead.geometry import PAGE_BYTES
from bulkhead.machine.settings import Settings, settings_of
from bulkhead.package.build import Build

TARGET = "hosted_run"  # of the host build; brings the images with it
OWNERS_BEFORE_DOMAINS = 2  # nobody, the hypervisor
TIMER_HZ = 62_500_000  # the emulator's `virt`
SECOND_PS = 10**12
LONGEST_PS = 100 * SECOND_PS


class NotRun(RuntimeError):
    """The machine refused the request."""


@dataclass(frozen=True)
class HostedRun:
    """What a run has left."""

    answer: dict[str, Any]  # machine/hosted/run.h
    frames: dict[int, bytes]  # contents of the pages that were asked for, by physical address

    @property
    def console(self) -> str:
        return str(self.answer["console"])

    @property
    def digest(self) -> int:
        return int(self.answer["digest"])


def ensure_hosted() -> None:
    """Build the machine and its images if they are out of date. Raises BuildFailed or MissingTool."""
    from bulkhead.env.native import ensure_built

    ensure_built(["host"], [TARGET])


def run_hosted(
    build: Build,
    *,
    settings: Settings | None = None,
    until_ps: int = LONGEST_PS,
    frames: tuple[int, ...] = (),
) -> HostedRun:
    """Run a build until it turns the machine off, or until `until_ps`. Raises NotRun with the reason."""
    shown = build.directory / "frames.bin"
    request = _request(build, settings, until_ps) | {"frames": list(frames), "frames_file": str(shown)}
    done = subprocess.run(
        [build_dir() / "host" / "machine" / "hosted" / TARGET],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1) or not done.stdout:
        raise NotRun(f"the machine ended with {done.returncode}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise NotRun(answer["error"])
    pages = shown.read_bytes()
    found = {pa: pages[n * PAGE_BYTES : (n + 1) * PAGE_BYTES] for n, pa in enumerate(frames)}
    return HostedRun(answer, found)


def _request(build: Build, settings: Settings | None, until_ps: int) -> dict[str, Any]:
    plan, platform = build.plan, build.plan.platform
    owners = OWNERS_BEFORE_DOMAINS + len(plan.domains)
    programs = build.hypervisor_elf.parents[2]
    return {
        "settings": settings or settings_of(platform, seed=build.seed or 1, owners=owners),
        "board": _board(platform),
        "package": str(build.elf),
        "load_address": plan.load_area[0],
        "owners": str(build.owners),
        "pool_bytes": plan.pool.bytes,
        "hypervisor": str(build.hypervisor_elf),
        "domains": [
            {
                "program": str(_program(programs, build, domain.name)),
                "memory_end": max(segment.ipa + segment.bytes for segment in domain.segments),
                "several_cores": len(domain.cpus) > 1,
            }
            for domain in plan.domains
        ],
        "until_ps": until_ps,
    }


def _program(programs: Path, build: Build, name: str) -> Path:
    configured = build.plan.system.domain(name)
    assert configured is not None
    assert configured.image.elf is not None, "kernels were refused by the build"
    return programs / configured.image.elf


def _board(platform: Platform) -> dict[str, Any]:
    gic, timers, costs = platform.interrupt_controller, platform.timers, platform.costs
    uart = platform.uart
    if gic is None or uart is None or gic.redistributors is None or uart.type != "pl011":
        raise NotRun(f"platform '{platform.name}': the machine has a GICv3 and a PL011")
    return {
        "gicd_pa": gic.distributor,
        "gicr_pa": gic.redistributors,
        "uart_pa": uart.at,
        "uart_irq": uart.interrupt,
        "maintenance_irq": timers.maintenance,
        "hypervisor_timer_irq": timers.hypervisor,
        "virtual_timer_irq": timers.virtual,
        "physical_timer_irq": timers.physical,
        "timer_hz": TIMER_HZ,
        "mpidrs": platform.mpidrs(),
        "entry_ps": costs.entry or 0,
        "exit_ps": costs.exit or 0,
        "barrier_ps": costs.barrier or 0,
    }
