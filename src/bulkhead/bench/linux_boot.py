# SPDX-License-Identifier: Apache-2.0
"""Instructions of a Linux boot, from the kernel's entry to the shell prompt: bare, and under the hypervisor.

Called by `bulkhead bench linux-boot`. Kernel, RAM disk and device tree are the same bytes at the same
addresses in both; under the hypervisor all instructions of all cores count, at EL2 too
(docs/results/benchmarks.md).

The limit applies to the hypervisor's own work. Maintenance that the system file traps is requested, and has a
price of its own: the number of traps, times the limit of `bench hypervisor` for each.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bulkhead.admission.load import Loaded as LoadedSystem
from bulkhead.bench.bare import bare_machine, bare_program, bare_ram_bytes
from bulkhead.bench.counted import Count, Events, count_run
from bulkhead.bench.hypervisor import CACHE_MAINTENANCE, TLB_MAINTENANCE
from bulkhead.env import paths
from bulkhead.package.build import Build
from bulkhead.package.elf import read_elf
from bulkhead.package.images import Surroundings, load_domain
from bulkhead.package.memory import LoadedMemory as Images
from bulkhead.package.memory import regions_of
from bulkhead.results.bench import BootComparisonKeys, BootSpreadResult
from bulkhead.run.emulator import EmulatedMachine
from bulkhead.schema.layout import Layout

SYSTEM = Path("examples") / "linux-smp.yaml"
ONE_VCPU = "domains.linux.cpus=[0]"
LIMIT = 1.01  # times the bare emulator's instructions
# Values of `domains[].maintenance`, and the largest allowed cost of an exit for that reason.
TRAPPED_REASONS = {
    "tlb_maintenance": TLB_MAINTENANCE.goal or 0,
    "tlb_broadcast": TLB_MAINTENANCE.goal or 0,
    "cache_maintenance": CACHE_MAINTENANCE.goal or 0,
    "cache_broadcast": CACHE_MAINTENANCE.goal or 0,
}
_PROMPT = "~ # "
_STATUS_SYMBOL = "status_pages"
_SEED_MASK = 0xFFFF_FFFF  # times of the emulator
_TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Side:
    """One of the two machines to compare."""

    machine: EmulatedMachine
    out: Path  # of the counter


@dataclass(frozen=True)
class Setup:
    """Both machines, and how to evaluate their counts."""

    bare: Side
    hypervisor: Side
    layout: Layout
    cores: int
    maintenance: str  # as in the system file


@dataclass(frozen=True)
class BootComparison:
    """All runs of both."""

    bare: tuple[int, ...]
    hypervisor: tuple[int, ...]
    at_el2: tuple[int, ...]
    exits: dict[str, int] = field(default_factory=dict)  # of the last run, all cores
    maintenance: str = "auto"  # of the domain; the default traps are within the limit

    @property
    def traps(self) -> int:
        """Exits for maintenance that the file traps."""
        asked = self.maintenance in ("translations", "trapped")
        return sum(self.exits.get(reason, 0) for reason in TRAPPED_REASONS) if asked else 0

    @property
    def allowed_for_traps(self) -> int:
        """The most instructions that these exits may take."""
        if not self.traps:
            return 0
        return sum(self.exits.get(reason, 0) * most for reason, most in TRAPPED_REASONS.items())

    @property
    def limit(self) -> float:
        """Multiple of the bare emulator's instructions."""
        return LIMIT + self.allowed_for_traps / min(self.bare)

    @property
    def limit_text(self) -> str:
        if not self.traps:
            return f"{LIMIT}"
        return (
            f"{self.limit:.4f}: {LIMIT}, and {self.allowed_for_traps:,} instructions for {self.traps:,} traps"
            f" of `maintenance: {self.maintenance}`"
        )

    @property
    def ratio(self) -> float:
        """The largest ratio of all runs."""
        return max(self.hypervisor) / min(self.bare)

    @property
    def spread(self) -> BootSpreadResult:
        """Most minus least; 0 if every run was the same."""
        return {
            "bare": max(self.bare) - min(self.bare),
            "hypervisor": max(self.hypervisor) - min(self.hypervisor),
        }

    @property
    def reasons(self) -> list[str]:
        """Why the comparison failed; empty if it passed."""
        if self.ratio <= self.limit:
            return []
        return [
            f"Linux takes {self.ratio:.4f} times the bare emulator's instructions to its prompt;"
            f" at most {self.limit_text}"
        ]

    def json(self) -> BootComparisonKeys:
        return {
            "instructions": {
                "bare": max(self.bare),
                "hypervisor": max(self.hypervisor),
                "at_el2": max(self.at_el2),
            },
            "ratio": round(self.ratio, 6),
            "limit": round(self.limit, 6),
            "maintenance": {
                "asked_for": self.maintenance,
                "traps": self.traps,
                "instructions_allowed": self.allowed_for_traps,
            },
            "spread": self.spread,
            "exits": self.exits,
            "runs": [
                {"bare": bare, "hypervisor": hypervisor, "at_el2": at_el2}
                for bare, hypervisor, at_el2 in zip(self.bare, self.hypervisor, self.at_el2, strict=True)
            ],
        }


def prepare(loaded: LoadedSystem, build: Build, *, binary: Path, counter: Path, directory: Path) -> Setup:
    """Both machines for a built system with one domain. Raises PackageError."""
    images = _images(loaded, build)
    program = directory / "bare.elf"
    program.write_bytes(bare_program(images))
    return Setup(
        bare=_bare(build, images, program, binary, counter, directory / "bare.json"),
        hypervisor=_hypervisor(build, images, binary, counter, directory / "hypervisor.json"),
        layout=build.layout,
        cores=build.plan.platform.cores.count,
        maintenance=_maintenance_of(build),
    )


def _maintenance_of(build: Build) -> str:
    configured = build.plan.system.domain(build.plan.domains[0].name)
    assert configured is not None
    return configured.maintenance


def _images(loaded: LoadedSystem, build: Build) -> Images:
    """The domain's images, from the package."""
    plan, domain = build.plan, build.plan.domains[0]
    configured = plan.system.domain(domain.name)
    assert configured is not None
    assert loaded.path is not None
    target_dir = paths.build_dir() / "target"
    around = Surroundings(
        plan.platform,
        loaded.path.parent,
        target_dir,
        build.seed,
        plan.system.name,
        shared_cores=plan.system.shared_cores(),
    )
    images = load_domain(configured, regions_of(domain), around)
    # Compare the bytes themselves, not only their origin.
    assert images.device_tree == build.device_trees[domain.name].read_bytes()
    return images


def _bare(build: Build, images: Images, program: Path, binary: Path, counter: Path, out: Path) -> Side:
    plan, domain = build.plan, build.plan.domains[0]
    assert plan.platform.emulator is not None
    assert plan.platform.uart is not None
    events = Events(from_=images.entry_ipa, match=_PROMPT, uart=plan.platform.uart.at)
    machine = EmulatedMachine(
        binary=binary,
        machine=bare_machine(plan.platform.emulator.machine),
        cpu=plan.platform.emulator.cpu,
        cores=len(domain.cpus),
        ram_bytes=bare_ram_bytes(plan, regions_of(domain)),
        kernel=program,
        observer=events.plugin(counter, out),
        icount=True,
        seed=build.seed & _SEED_MASK,
    )
    return Side(machine, out)


def _hypervisor(build: Build, images: Images, binary: Path, counter: Path, out: Path) -> Side:
    plan, layout = build.plan, build.layout
    assert plan.platform.emulator is not None
    assert plan.platform.uart is not None
    page, cores = layout.constant("page_bytes"), plan.platform.cores.count
    program = read_elf(build.hypervisor_elf, symbols=True)
    phase = build.status_pages[0] + layout.offset("status_system", "phase")
    events = Events(
        from_=images.entry_ipa,
        match=_PROMPT,
        uart=plan.platform.uart.at,
        start=(phase, layout.enum_value("phase", "started")),
        # EL2 executes nothing but its image, which is linked at the start of its memory.
        within=(min(segment.virtual for segment in program.segments), plan.pool.bytes),
        read=(program.symbols[_STATUS_SYMBOL] + page, cores * page),
    )
    machine = EmulatedMachine(
        binary=binary,
        machine=plan.platform.emulator.machine,
        cpu=plan.platform.emulator.cpu,
        cores=cores,
        ram_bytes=sum(ram.size for ram in plan.platform.memory),
        kernel=build.elf,
        observer=events.plugin(counter, out),
        icount=True,
        seed=build.seed & _SEED_MASK,
    )
    return Side(machine, out)


def measure(setup: Setup, directory: Path, runs: int, done: Callable[[int], None]) -> BootComparison:
    """Run both, `runs` times; calls `done` with the number of finished runs. Raises CountError."""
    pairs: list[tuple[Count, Count]] = []
    for number in range(runs):
        pairs.append(asyncio.run(_both(setup, directory)))
        done(number + 1)
    last = pairs[-1][1]
    return BootComparison(
        bare=tuple(bare.instructions for bare, _ in pairs),
        hypervisor=tuple(hypervisor.instructions for _, hypervisor in pairs),
        at_el2=tuple(hypervisor.within or 0 for _, hypervisor in pairs),
        exits=exits_of(setup.layout, last.memory, setup.cores),
        maintenance=setup.maintenance,
    )


async def _both(setup: Setup, directory: Path) -> tuple[Count, Count]:
    """Side by side: the counts do not depend on the host's speed."""
    try:
        async with asyncio.TaskGroup() as group:
            bare, hypervisor = (
                group.create_task(count_run(side.machine, side.out, directory, _TIMEOUT_S))
                for side in (setup.bare, setup.hypervisor)
            )
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return bare.result(), hypervisor.result()


def exits_of(layout: Layout, memory: bytes, cores: int) -> dict[str, int]:
    """Exits to EL2 by reason, from the cores' statistics pages; empty if these were not read."""
    page = layout.constant("page_bytes")
    names = {value: name for name, value in layout.enum("exit_reason").items()}
    total: Counter[str] = Counter()
    for core in range(cores if len(memory) >= cores * page else 0):
        record: Mapping[str, Any] = layout.unpack("status_core", memory, core * page)
        exits = record["exits"]
        total.update({names.get(reason, f"reason_{reason}"): n for reason, n in enumerate(exits) if n})
    return dict(total.most_common())
