# SPDX-License-Identifier: Apache-2.0
"""What is run, and what must be known to read it afterwards.

The session, the results and the witnesses work from this alone, so that tests can make one by hand;
`bulkhead.run.prepare` makes it from a built system.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bulkhead.config.system import Expectation
from bulkhead.evidence.mpam_promise import MpamPromise
from bulkhead.evidence.portions import PortionPromise
from bulkhead.evidence.promise import Promise
from bulkhead.planning.budgets import Budget
from bulkhead.planning.mechanism import Choices
from bulkhead.planning.model import Hooks
from bulkhead.planning.regulation import RegulatorPlan
from bulkhead.run.boot import ELF
from bulkhead.run.debug import Debugger
from bulkhead.run.emulator import EmulatedMachine
from bulkhead.schema.layout import Layout

QEMU, MACHINE = "qemu", "machine"


@dataclass(frozen=True)
class DomainTarget:
    """One domain, as the user knows it."""

    name: str
    cores: tuple[int, ...]
    realtime: bool = False
    colors: tuple[int, ...] | None = None
    expected: str | None = None  # an end that is not a failure: stopped, crashed
    expects: Expectation | None = None  # what the run has to show of it
    budget: Budget | None = None  # that is enforced
    event: str | None = None  # what the budget counts
    event_bytes: int | None = None  # that an event stands for
    cpu_ns: tuple[int, int] | None = None  # on cores that it shares: CPU time of each period, the period
    limited_by_mpam: bool = False  # its maximum is a component's, in place of a budget
    raw_console: bool = False  # its output has no tags
    unconfined: tuple[str, ...] = ()  # devices that reach all memory: the domain is trusted with them


@dataclass(frozen=True)
class FlowTarget:
    """One flow between domains, as the system file has it."""

    name: str
    source: str
    destination: str
    port: int
    packet_bytes: int
    period_ns: int
    deadline_ns: int
    bound_ns: int | None = None  # what the analysis guarantees; None: the flows were not analyzed


@dataclass(frozen=True)
class Policy:
    """Who runs on a core that VCPUs share."""

    scheduler: str = "fixed-priority"
    slice_ns: int = 1_000_000
    # Of the platform: from the event that makes a VCPU the most urgent one of its core to its first
    # instruction. None: there is none, or this run's time does not show it.
    release_bound_ns: int | None = None


@dataclass(frozen=True)
class RunOptions:
    """What the user asked of the run."""

    observe: bool = False
    for_ns: int | None = None
    unprotected: bool = False
    miscolor: str | None = None
    mislabel: str | None = None
    misprogram: str | None = None
    misplace: str | None = None
    seed: int = 0
    icount: bool = False
    boot: str = ELF
    debugger: Debugger | None = None
    timeout_s: float | None = None
    overrides: tuple[str, ...] = ()
    on: str = QEMU
    page: bool = True  # draw it at the end
    repeat: tuple[str, ...] = ()  # the command with its options; empty if another command made the run

    @property
    def hooks(self) -> Hooks:
        """What is to be wrong on purpose."""
        return Hooks(self.miscolor, self.mislabel, self.misprogram, self.misplace)


@dataclass(frozen=True)
class Target:
    """A system that is ready to start."""

    system: str
    system_file: str
    platform: str
    platform_sha256: str
    package_sha256: str
    program: str  # which of the board's hypervisors
    machine: EmulatedMachine | None  # the emulated one; None: the simulated machine
    layout: Layout
    status_frames: tuple[int, ...]  # PA of the system's statistics page, then of each core's
    promise: Promise
    domains: tuple[DomainTarget, ...]
    options: RunOptions
    directory: Path
    policy: Policy = Policy()
    observer_result: Path | None = None
    color_count: int = 1
    granule_bytes: int = 4096
    miscolored_pa: int | None = None
    on_chip_frames: tuple[int, ...] = ()  # where rings of samples can be beside the pool
    request: dict[str, Any] = field(default_factory=dict)  # to the simulated machine (machine/hosted/run.h)
    regulator: RegulatorPlan | None = None  # that steps
    flows: tuple[FlowTarget, ...] = ()
    mechanism: Choices | None = None  # what divides caches and bandwidth
    mpam: MpamPromise | None = None  # what components must hold; None: the platform has none
    portions: PortionPromise | None = None  # of the last cache; None: it is not divided so
    notices: tuple[dict[str, object], ...] = ()  # what the system file asks for and this version does not do

    @property
    def watched(self) -> dict[str, tuple[str, ...]]:
        """What the consoles of domains are looked through for."""
        return {domain.name: domain.expects.texts for domain in self.domains if domain.expects is not None}

    @property
    def raw_domain(self) -> str | None:
        """The domain that has the terminal for itself."""
        return next((domain.name for domain in self.domains if domain.raw_console), None)

    @property
    def colored(self) -> bool:
        """Colors were promised, of the cache or of DRAM banks."""
        return self.promise.color_bits != 0

    @property
    def cache_colored(self) -> bool:
        """Colors of the last cache were promised, so an eviction by another domain breaks a promise."""
        return self.colored and self.promise.cache_colored
