# SPDX-License-Identifier: Apache-2.0
"""EL2's instructions and interrupts in an interval of each regulator, on the emulator under -icount.

Called by `bulkhead bench regulators`. The emulator's plugin lists each core's visits to EL2, with those of
the functions below that each visit has called. This tells which interrupt it was
(docs/results/regulation-cost.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from bulkhead.admission.load import Loaded
from bulkhead.bench.counted import Count, CountError, Events, Visit, count_run
from bulkhead.config.devices import Device
from bulkhead.config.platform import Platform
from bulkhead.config.system import System
from bulkhead.package.build import Build, BuildOptions, build_system
from bulkhead.package.elf import read_elf
from bulkhead.results.bench import (
    InterruptCostResult,
    IntervalCostResult,
    PolicyCostResult,
    RegulatorCostsKeys,
)
from bulkhead.run.emulator import EmulatedMachine

SYSTEM = Path("examples") / "paths-regulated.yaml"
REAL_TIME_CORE = 0
PERIOD, STEP, LOAD, STOP = 1, 2, 4, 8  # bits of the marks
_MARKS = ("bandwidth_period", "regulation_complete", "load_regulated", "pmu_stop")
KINDS = ("period", "step", "message", "overflow")
_SETTLED_INTERVALS = 20  # which are not counted: programs start, and budgets settle
_DONE = "done"
_COUNTER_HZ = 500_000_000  # a tick of the counter is one instruction
_SEED_MASK = 0xFFFF_FFFF
_TIMEOUT_S = 300.0
FLASH = "counting-flash"  # the guest's page of the emulator's second flash
_FLASH_AT, _PAGE_BYTES = 0x04000000, 4096  # QEMU hw/arm/virt.c, base_memmap: the second half of VIRT_FLASH

_KEYS = "interval: 200 us"
POLICIES = {
    "static": (),
    "dynamic": ("threshold: 80 %",),
    "dynamic-bandwidth": ("threshold: 950 MB/s",),
    "dynamic-delay": ("threshold: 5 %", "delay: 58 ns", "cluster_delay: 247 ns", "least: 411 MB/s"),
    "dynamic-turns": (),
    "dynamic-phases": ("threshold: 80 %",),
}
# While nobody competes: no budget is spent, although the emulator counts the instructions of all cores as
# those of each core.
_QUIET = {
    "dynamic-bandwidth": ("threshold: 5 GB/s",),
    "dynamic-turns": ("ceiling: 3 GB/s",),
}
_QUIET_FLOOR = "floor: 700 MB/s"
_OTHERS = ("one", "two", "three")


def overrides(policy: str, *, competing: bool) -> list[str]:
    """Settings of a run. While nobody competes, the best-effort programs sleep."""
    keys = POLICIES[policy]
    budget = "20 MB/s" if competing else "700 MB/s"
    found = []
    if not competing:
        keys = _QUIET.get(policy, keys)
        keys = (*keys, _QUIET_FLOOR) if policy != "static" else keys
        found = [f"domains.{name}.params={{rest_us: 1000000}}" for name in _OTHERS]
    regulation = ", ".join((f"policy: {policy}", _KEYS, *keys))
    return [
        f"regulation={{{regulation}}}",
        *(f"domains.{name}.bandwidth={{budget: {budget}, period: 200 us}}" for name in _OTHERS),
        *found,
    ]


def for_regulators(platform: Platform) -> Platform:
    """The same board, on which each instruction stands for a byte of traffic, and words of a flash for the
    memory controller's counters. The emulator has neither memory events nor a memory controller, but the
    guest can change what EL2 reads from the flash."""
    emulator, dram = platform.emulator, platform.dram
    assert emulator is not None and emulator.event is not None
    assert dram is not None and dram.utilization is not None
    page = Device(name=FLASH, at=_FLASH_AT, size=_PAGE_BYTES, dma=False)
    counters = dram.utilization.model_copy(update={"at": _FLASH_AT + _PAGE_BYTES})
    event = emulator.event.model_copy(update={"bytes": 1})
    return platform.model_copy(
        update={
            "devices": (*platform.devices, page),
            "emulator": emulator.model_copy(update={"event": event}),
            "dram": dram.model_copy(update={"utilization": counters}),
        }
    )


def with_flash(system: System) -> System:
    """The same system, in which the real-time domain has the page of the flash."""
    first, *rest = system.domains
    return system.model_copy(update={"domains": (first.model_copy(update={"devices": (FLASH,)}), *rest)})


def kind_of(visit: Visit) -> str | None:
    """The interrupt: `step` is a period's end on the last core of an interval. None: it is another one."""
    for marks, kind in ((STEP, "step"), (PERIOD, "period"), (LOAD, "message"), (STOP, "overflow")):
        if visit.marks & marks:
            return kind
    return None


@dataclass(frozen=True)
class InterruptCost:
    """Instructions of visits of one kind."""

    count: int
    mean: float
    longest: int

    def json(self) -> InterruptCostResult:
        return {"count": self.count, "mean": round(self.mean, 1), "longest": self.longest}


def cost_of(visits: Sequence[Visit]) -> InterruptCost | None:
    """None: there is no such visit."""
    taken = [visit.instructions for visit in visits]
    return InterruptCost(len(taken), fmean(taken), max(taken)) if taken else None


@dataclass(frozen=True)
class Interval:
    """A core's share of an interval."""

    interrupts: float
    instructions: float

    def json(self) -> IntervalCostResult:
        return {"interrupts": round(self.interrupts, 2), "instructions": round(self.instructions, 1)}


@dataclass(frozen=True)
class PolicyCosts:
    """Costs of a policy."""

    policy: str
    period: InterruptCost | None  # end of an interval on a core that is not the last one
    step: InterruptCost | None  # on the last one, which steps the regulator and sends messages
    message: InterruptCost | None  # the new budgets, on the other cores
    overflow: InterruptCost | None  # a budget is spent
    regulated: Interval  # of a core that competes, the mean of all
    others: Interval  # of the real-time core beside cores that compete
    quiet_regulated: Interval  # while nobody competes
    quiet_others: Interval

    def json(self) -> PolicyCostResult:
        def cost(of: InterruptCost | None) -> InterruptCostResult | None:
            return of.json() if of is not None else None

        return {
            "policy": self.policy,
            "period": cost(self.period),
            "step": cost(self.step),
            "message": cost(self.message),
            "overflow": cost(self.overflow),
            "regulated": self.regulated.json(),
            "others": self.others.json(),
            "quiet_regulated": self.quiet_regulated.json(),
            "quiet_others": self.quiet_others.json(),
        }


def settled(visits: Sequence[Visit]) -> list[Visit]:
    """Visits of budgets after the first intervals, up to the last complete interval."""
    visits = [visit for visit in visits if kind_of(visit) is not None]
    ends = [at for at, visit in enumerate(visits) if visit.core != REAL_TIME_CORE and visit.marks & PERIOD]
    cores = len({visits[at].core for at in ends})
    if cores == 0 or len(ends) <= _SETTLED_INTERVALS * cores:
        raise CountError("no interval was counted")
    last = len(ends) - len(ends) % cores - 1
    return list(visits[ends[_SETTLED_INTERVALS * cores - 1] + 1 : ends[last] + 1])


def interval_of(visits: Sequence[Visit], intervals: int, cores: int) -> Interval:
    shares = intervals * cores
    return Interval(len(visits) / shares, sum(visit.instructions for visit in visits) / shares)


def intervals_of(visits: Sequence[Visit]) -> tuple[Interval, Interval]:
    """Of a regulated core, and of the others."""
    regulated = [visit for visit in visits if visit.core != REAL_TIME_CORE]
    cores = len({visit.core for visit in regulated})
    intervals = sum(bool(visit.marks & PERIOD) for visit in regulated) // cores
    others = [visit for visit in visits if visit.core == REAL_TIME_CORE]
    return interval_of(regulated, intervals, cores), interval_of(others, intervals, 1)


def costs_of(policy: str, competing: Sequence[Visit], quiet: Sequence[Visit]) -> PolicyCosts:
    """Costs of a policy from the visits of both runs. Raises CountError."""
    competing, quiet = settled(competing), settled(quiet)
    both = [*competing, *quiet]
    costs = {kind: cost_of([visit for visit in both if kind_of(visit) == kind]) for kind in KINDS}
    regulated, others = intervals_of(competing)
    quiet_regulated, quiet_others = intervals_of(quiet)
    return PolicyCosts(
        policy,
        costs["period"],
        costs["step"],
        costs["message"],
        costs["overflow"],
        regulated,
        others,
        quiet_regulated,
        quiet_others,
    )


def json_of(costs: Sequence[PolicyCosts]) -> RegulatorCostsKeys:
    return {"policies": [one.json() for one in costs]}


def count(loaded: Loaded, *, binary: Path, counter: Path, directory: Path, seed: int) -> tuple[Visit, ...]:
    """The visits of a run. Raises CountError, PackageError."""
    directory.mkdir()
    assert loaded.platform is not None and loaded.system is not None
    ready = replace(loaded, platform=for_regulators(loaded.platform), system=with_flash(loaded.system))
    built = build_system(ready, directory / "package", BuildOptions(seed=seed))
    return asyncio.run(_count(built, binary, counter, directory, seed)).visits


async def _count(build: Build, binary: Path, counter: Path, directory: Path, seed: int) -> Count:
    plan = build.plan
    platform = plan.platform
    assert platform.emulator is not None and platform.uart is not None
    program = read_elf(build.hypervisor_elf, symbols=True)
    events = Events(
        from_=None,
        match=_DONE,
        uart=platform.uart.at,
        # EL2 executes nothing but its image, which is linked at the start of its memory.
        visits=(min(segment.virtual for segment in program.segments), plan.pool.bytes),
        marks=tuple(program.symbols[name] for name in _MARKS),
    )
    out = directory / "visits.json"
    machine = EmulatedMachine(
        binary=binary,
        machine=platform.emulator.machine,
        cpu=f"{platform.emulator.cpu or platform.cores.type},cntfrq={_COUNTER_HZ}",
        cores=platform.cores.count,
        ram_bytes=sum(ram.size for ram in platform.memory),
        kernel=build.elf,
        observer=events.plugin(counter, out),
        icount=True,
        seed=seed & _SEED_MASK,
    )
    return await count_run(machine, out, directory, _TIMEOUT_S)


def measure(
    systems: dict[str, tuple[Loaded, Loaded]],
    *,
    binary: Path,
    counter: Path,
    directory: Path,
    seed: int,
    done: Callable[[int], None],
) -> list[PolicyCosts]:
    """Run each policy, while others compete and while they do not; calls `done` with the number of finished
    runs. Raises CountError, PackageError."""
    found = []
    for number, (policy, pair) in enumerate(systems.items()):
        visits = []
        for loaded, how in zip(pair, ("competing", "quiet"), strict=True):
            place = directory / f"{policy}-{how}"
            visits.append(count(loaded, binary=binary, counter=counter, directory=place, seed=seed))
            done(2 * number + len(visits))
        found.append(costs_of(policy, *visits))
    return found
