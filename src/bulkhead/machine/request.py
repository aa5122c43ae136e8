# SPDX-License-Identifier: Apache-2.0
"""The request of a hosted run (machine/hosted/run.h), made from a built system.

Called for `bulkhead.run.simulator` and for tests. A platform with missing data, or with something that the
machine does not model, is refused before anything starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bulkhead.config.devices import Dma
from bulkhead.config.platform import InterruptController, Platform
from bulkhead.geometry import PAGE_BYTES
from bulkhead.machine.settings import NotSimulated, engine_timing, settings_of
from bulkhead.package.build import Build
from bulkhead.planning.broker import is_broker

Json = dict[str, Any]

MMDC_PROFILE = (0x418, 0x41C, 0x410, 32)  # as in machine/devices/mmdc_profile.h
UARTS = ("pl011", "cadence")  # as uart_kind in machine/hosted/peripherals.h
FIRST_DOMAIN_OWNER = 2  # in the owners map, after nobody and the hypervisor


def request_of(build: Build, programs: Sequence[Path], frames: Sequence[int], frames_file: Path) -> Json:
    """The request. `programs`: the image of each domain; `frames` are written to `frames_file` at the end.
    Raises NotSimulated."""
    plan = build.plan
    window = build.layout.constant("broker_window")
    return {
        "settings": settings_of(
            plan.platform, seed=build.seed or 1, owners=FIRST_DOMAIN_OWNER + len(plan.domains)
        ),
        "board": board_of(plan.platform),
        "package": str(build.elf),
        "load_address": plan.load_area[0],
        "owners": str(build.owners),
        "pool_bytes": plan.pool.bytes,
        "hypervisor": str(build.hypervisor_elf),
        "domains": [
            {
                "program": str(program),
                "memory_end": max(segment.ipa + segment.bytes for segment in domain.segments),
                "others_at": window if is_broker(plan.system, domain.name) else 0,
            }
            for domain, program in zip(plan.domains, programs, strict=True)
        ],
        "frames": list(frames),
        "frames_file": str(frames_file),
    }


def board_of(platform: Platform) -> Json:
    """The board's devices and their addresses. Raises NotSimulated if the platform does not state them."""
    gic, uart, timers, costs = (
        platform.interrupt_controller,
        platform.uart,
        platform.timers,
        platform.costs,
    )
    maintenance = platform.maintenance
    if gic is None or uart is None:
        raise NotSimulated(f"platform '{platform.name}' does not describe its interrupt controller and UART")
    if uart.type not in UARTS:
        raise NotSimulated(f"platform '{platform.name}': the simulated machine does not model its UART")
    if (driven := platform.driven_iommu) is not None:
        cause = f"the simulated machine has no registers of '{driven.name}', which the hypervisor drives"
        raise NotSimulated(f"platform '{platform.name}': {cause}")
    settings_of(platform)  # raises if its memory system is not described
    return {
        "gic": gic.type,
        **_frames_of(platform.name, gic),
        "uart": uart.type,
        "uart_pa": uart.at,
        "uart_irq": uart.interrupt,
        "maintenance_irq": timers.maintenance,
        "hypervisor_timer_irq": timers.hypervisor,
        "virtual_timer_irq": timers.virtual,
        "physical_timer_irq": timers.physical,
        "timer_hz": timers.frequency,
        "event_counters": platform.pmu.counters if platform.pmu is not None else 0,
        "overflow_irqs": [platform.pmu_interrupt(core) for core in range(platform.cores.count)],
        "mpidrs": platform.mpidrs(),
        "s2fwb": platform.cores.s2fwb,
        "dram_profile_pa": _dram_profile(platform),
        "entry_ps": costs.entry or 0,
        "exit_ps": costs.exit or 0,
        "barrier_ps": costs.barrier or 0,
        "broadcast_stall_ps": maintenance.stall if maintenance is not None else 0,
        "broadcast_wait_ps": maintenance.wait if maintenance is not None else 0,
        "dma": [_dma_of(platform.name, dma) for dma in platform.dma],
        "qos": [{"at": dma.qos, "master": dma.name} for dma in platform.dma if dma.qos is not None],
    }


def _dram_profile(platform: Platform) -> int:
    """Address of the memory controller's profiling counters; 0: it has none. Raises NotSimulated for other
    kinds than that of the machine."""
    counters = platform.dram.utilization if platform.dram is not None else None
    if counters is None:
        return 0
    if (counters.cycles, counters.busy, counters.control, counters.width) != MMDC_PROFILE:
        raise NotSimulated(
            f"platform '{platform.name}': the simulated machine does not model counters as in "
            "`dram.utilization`"
        )
    return counters.at


def _dma_of(platform: str, dma: Dma) -> Json:
    """An engine with consecutive channels and an interrupt for each. Raises NotSimulated."""
    timing = engine_timing(platform, dma)
    if len(dma.interrupts) != dma.channels:
        raise NotSimulated(f"platform '{platform}': '{dma.name}' needs one interrupt for each channel")
    return {
        "at": dma.at,
        "channel_bytes": (dma.size or PAGE_BYTES * dma.channels) // dma.channels,
        "interrupts": list(dma.interrupts),
        "master": dma.name,
        **timing,
    }


def _frames_of(name: str, gic: InterruptController) -> Json:
    """The register frames of the interrupt controller's version. Raises NotSimulated."""
    found = (
        {"gicd_pa": gic.distributor, "gicr_pa": gic.redistributors}
        if gic.type == "gicv3"
        else {
            "gicd_pa": gic.distributor,
            "gicc_pa": gic.cpu_interface,
            "gich_pa": gic.hypervisor,
            "gicv_pa": gic.virtual_cpu,
        }
    )
    if None in found.values():
        raise NotSimulated(
            f"platform '{name}' does not state the addresses of all registers of its {gic.type}"
        )
    return found
