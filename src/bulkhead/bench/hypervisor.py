# SPDX-License-Identifier: Apache-2.0
"""Cost of each path into the hypervisor, in instructions, compared with the best public hypervisors.

Called by `bulkhead bench hypervisor`. The guest `paths` reads a counter of which each tick is one
instruction, so what it reports is exact and the same in every run. docs/results/benchmarks.md defines the
ends of each path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bulkhead.admission.load import Loaded
from bulkhead.config.platform import Platform
from bulkhead.errors import BulkheadError
from bulkhead.package.build import Build, BuildOptions, build_system
from bulkhead.planning.budgets import counted_event
from bulkhead.results.bench import HypervisorCostsKeys, PathCostResult
from bulkhead.run.console import ConsoleLine, ConsoleParser
from bulkhead.run.emulator import EmulatedMachine
from bulkhead.run.session import SessionPlan, run_session

SYSTEM = Path("examples") / "paths.yaml"
SHARED = Path("examples") / "paths-shared.yaml"  # two domains on one core, with budgets
ONE_VCPU = ("isolation.llc=none", "domains.paths.cpus=[0]")
# A budget that two VCPUs share, of which one is off: a sixteenth of it is drawn at each overflow, and it is
# larger than one VCPU can use in a period.
BUDGET = (
    "isolation.premap=all",
    "domains.paths.bandwidth={events: 160000, period: 200 us}",
    "domains.paths.params={budget: 1}",
)
GUEST = "paths"
# One tick of the counter is 2 ns of virtual time, which is one instruction under -icount shift=1.
_COUNTER_HZ = 500_000_000
_REPORT = "report "
_SEED_MASK = 0xFFFF_FFFF
_TIMEOUT_S = 120.0


class PathsError(BulkheadError):
    """Nothing was measured; the message says why."""


@dataclass(frozen=True)
class PathWay:
    """One way into the hypervisor and back."""

    key: str
    what: str
    best_public: int | None = None  # instructions, of the best public hypervisor on the same emulator
    goal: int | None = None  # limit: half of that, or a higher one if half is out of reach; or a price
    budget: bool = False  # only where a budget is counted on the emulator
    of_gic: str | None = None  # the public figure is of this interrupt controller, which is in the path

    def on(self, gic: str) -> PathWay:
        """The path on a board with this interrupt controller; without the public figure if that is of another
        controller."""
        return self if self.of_gic in (None, gic) else replace(self, best_public=None, goal=None)


_GICV3 = "gicv3"

# The most that a guest that is not trusted with maintenance may pay for each (`bench linux-boot`).
TLB_MAINTENANCE = PathWay("tlb_maintenance", "trapped TLBI of a domain on one core", goal=120)
CACHE_MAINTENANCE = PathWay("cache_maintenance", "trapped DC CVAU", goal=240)

WAYS = (
    PathWay("psci_version", "PSCI_VERSION by HVC", 141, 70),
    PathWay("gicd_read", "trapped read of GICD_TYPER", 228, 114),
    PathWay("timer", "virtual timer: deadline to handler", 200, 100, of_gic=_GICV3),
    PathWay("self_sgi", "SGI to itself: write to handler", 777, 388, of_gic=_GICV3),
    PathWay("cross_sgi", "SGI to another VCPU: write to handler"),
    PathWay(
        "cross_sgi_round_trip",
        "SGI to another VCPU and one back: write to handler",
        1630,
        1629,
        of_gic=_GICV3,
    ),
    PathWay("first_guest_instruction", "entry at EL2 to the guest's first instruction", 341_000, 170_000),
    PathWay("lone_loop", "what EL2 adds to a loop of 20 million instructions"),
    PathWay("first_loop", "what EL2 adds to such a loop as the first thing a guest does"),
    PathWay("psci_version_smc", "PSCI_VERSION by SMC"),
    PathWay("gicd_isenabler_write", "trapped write of GICD_ISENABLER"),
    PathWay("uart_flag_read", "trapped read of the UART's flag register"),
    PathWay("id_register_read", "trapped read of an ID register"),
    TLB_MAINTENANCE,
    CACHE_MAINTENANCE,
    PathWay("undefined_register", "register that the domain does not have: access to exception handler"),
    PathWay("timer_asleep", "virtual timer: deadline to handler, from WFI"),
    PathWay("maintenance", "end of a level interrupt, with its maintenance"),
    PathWay("lazy_map", "first touch of 64 KiB of colored memory"),
    PathWay("period", "end of a budget's period without any event", budget=True),
    PathWay("overflow", "overflow of a budget's counter with budget left to draw", budget=True),
    PathWay("vcpu_switch", "timer of a VCPU while another has its core: to handler", budget=True),
    PathWay("restart", "PSCI SYSTEM_RESET to the guest's first instruction"),
)


@dataclass(frozen=True)
class PathSample:
    """Measurements of a path: the first time, and all other times."""

    first: int
    min: int
    median: int
    max: int


@dataclass(frozen=True)
class PathRow:
    """A path and what it costs."""

    way: PathWay
    sample: PathSample

    @property
    def met(self) -> bool | None:
        return None if self.way.goal is None else self.sample.median <= self.way.goal

    @property
    def ratio(self) -> float | None:
        best = self.way.best_public
        return None if best is None else round(self.sample.median / best, 3)

    def json(self) -> PathCostResult:
        return {
            "path": self.way.key,
            "what": self.way.what,
            "instructions": self.sample.median,
            "first": self.sample.first,
            "min": self.sample.min,
            "max": self.sample.max,
            "best_public": self.way.best_public,
            "ratio": self.ratio,
            "goal": self.way.goal,
            "met": self.met,
        }


@dataclass(frozen=True)
class HypervisorCosts:
    """All paths."""

    rows: tuple[PathRow, ...]
    packet: int | None = None  # EL2's work for a packet of a flow, by bench/flows.py

    @property
    def missed(self) -> list[str]:
        """The goals that are not met, each as a sentence."""
        return [
            f"{row.way.what}: {row.sample.median:,} instructions, but the goal is at most {row.way.goal:,}"
            for row in self.rows
            if row.met is False
        ]

    def json(self) -> HypervisorCostsKeys:
        goals = [row for row in self.rows if row.met is not None]
        return {
            "instructions": {row.way.key: row.sample.median for row in self.rows}
            | ({"packet": self.packet} if self.packet is not None else {}),
            "rows": [row.json() for row in self.rows],
            "goals": {"met": len(goals) - len(self.missed), "of": len(goals), "missed": self.missed},
        }


def one_core(loaded: Loaded) -> Loaded:
    """The same system on the same board, with the first core only."""
    assert loaded.platform is not None
    return replace(loaded, platform=first_core_only(loaded.platform))


def first_core_only(platform: Platform) -> Platform:
    cores = platform.cores.model_copy(update={"count": 1, "mpidr": platform.mpidrs()[:1]})
    caches = {
        name: cache.model_copy(update={"shared_by": (0,)}) if cache.shared_by else cache
        for name, cache in platform.caches.items()
    }
    return platform.model_copy(update={"cores": cores, "caches": caches})


def measure(
    systems: Sequence[Loaded], *, binary: Path, directory: Path, seed: int, done: Callable[[int], None]
) -> HypervisorCosts:
    """Run each system; calls `done` with the number of finished runs. Raises PathsError, PackageError."""
    found: dict[str, PathSample] = {}
    for number, loaded in enumerate(systems, 1):
        place = directory / str(number)
        place.mkdir()
        built = build_system(loaded, place / "package", BuildOptions(seed=seed))
        found |= samples_of(_run(built, binary, place, seed))
        done(number)
    budgets = any(has_budget(loaded) for loaded in systems)
    ways = [way for way in WAYS if budgets or not way.budget]
    missing = [way.key for way in ways if way.key not in found]
    if missing:
        raise PathsError(f"the guest did not measure {', '.join(missing)}")
    return HypervisorCosts(tuple(PathRow(way.on(gic_of(systems[0])), found[way.key]) for way in ways))


def gic_of(loaded: Loaded) -> str:
    assert loaded.platform is not None and loaded.platform.interrupt_controller is not None
    return loaded.platform.interrupt_controller.type


def has_budget(loaded: Loaded) -> bool:
    """Whether a domain has a budget that the emulator's board counts."""
    assert loaded.system is not None and loaded.platform is not None
    limited = any(not domain.bandwidth.unlimited for domain in loaded.system.domains)
    return limited and counted_event(loaded.platform, emulated=True) is not None


def samples_of(lines: Sequence[str]) -> dict[str, PathSample]:
    """All reports of the guest, from all of its lives."""
    found: dict[str, PathSample] = {}
    for line in lines:
        if not line.startswith(_REPORT):
            continue
        try:
            report = json.loads(line.removeprefix(_REPORT))
            found |= {str(name): PathSample(**values) for name, values in report.items()}
        except (AttributeError, TypeError, ValueError) as error:
            raise PathsError(f"the guest's report cannot be read: {error}") from error
    return found


def _run(build: Build, binary: Path, directory: Path, seed: int) -> list[str]:
    """The guest's console output."""
    platform = build.plan.platform
    assert platform.emulator is not None
    machine = EmulatedMachine(
        binary=binary,
        machine=platform.emulator.machine,
        cpu=f"{platform.emulator.cpu or platform.cores.type},cntfrq={_COUNTER_HZ}",
        cores=platform.cores.count,
        ram_bytes=sum(ram.size for ram in platform.memory),
        kernel=build.elf,
        icount=True,
        seed=seed & _SEED_MASK,
    )
    plan = SessionPlan(machine, directory, (GUEST,), build.status_pages, _TIMEOUT_S, attach=False)
    outcome = run_session(plan, _NoView())
    lines = list(outcome.console.domains[GUEST].lines) if outcome.console else []
    if outcome.how != "shutdown":
        raise PathsError(f"{outcome.how}: {outcome.detail}; its last lines: {' / '.join(lines[-3:])}")
    return lines


class _NoView:
    """Shows nothing of a run."""

    def line(self, line: ConsoleLine) -> None: ...

    def raw(self, data: bytes) -> None: ...

    def tick(self, parser: ConsoleParser) -> None: ...
