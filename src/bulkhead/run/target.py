# SPDX-License-Identifier: Apache-2.0
"""The target of a run: what is started, and the data to evaluate it afterwards.

The session, the results and the witnesses use only this, so that tests can make one by hand;
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
from bulkhead.planning.device_rates import DeviceRate
from bulkhead.planning.mechanism import Choices
from bulkhead.planning.model import Hooks
from bulkhead.planning.regulation import RegulatorPlan
from bulkhead.results.problem import ProblemResult
from bulkhead.run.boot import ELF
from bulkhead.run.debug import Debugger
from bulkhead.run.emulator import EmulatedMachine
from bulkhead.schema.layout import Layout

QEMU, MACHINE = "qemu", "machine"


@dataclass(frozen=True)
class DomainTarget:
    """One domain with the properties that the user knows."""

    name: str
    cores: tuple[int, ...]
    realtime: bool = False
    colors: tuple[int, ...] | None = None
    expected: str | None = None  # an end that is not a failure: stopped, crashed
    expects: Expectation | None = None  # what the run has to show
    budget: Budget | None = None  # the enforced budget
    event: str | None = None  # the event that the budget counts
    event_bytes: int | None = None  # bytes that an event stands for
    cpu_ns: tuple[int, int] | None = None  # on shared cores: CPU time in each period, length of the period
    limited_by_mpam: bool = False  # MPAM enforces its maximum instead of a budget
    raw_console: bool = False  # its output has no tags
    unconfined: tuple[str, ...] = ()  # devices that reach all memory; the domain is trusted with them
    device_rates: tuple[DeviceRate, ...] = ()  # memory bandwidth of its devices


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
    bound_ns: int | None = None  # bound by the analysis; None: the flows were not analyzed
    broker: int = 0  # number of the broker that moves its packets


@dataclass(frozen=True)
class ChainTarget:
    """A request to a server with its answer, and how long both take at most together."""

    name: str
    client: str
    server: str
    number: int  # of the request's flow, among those that begin at the client
    bound_ns: int
    deadline_ns: int


@dataclass(frozen=True)
class Policy:
    """Scheduling of shared cores."""

    scheduler: str = "fixed-priority"
    slice_ns: int = 1_000_000
    # The platform's bound from the event that makes a VCPU the most urgent one of its core to its first
    # instruction. None: there is none, or this run's time does not show it.
    release_bound_ns: int | None = None


@dataclass(frozen=True)
class RunOptions:
    """The user's options for the run."""

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
    page: bool = True  # the command writes the report page at the end
    repeat: tuple[str, ...] = ()  # the command with its options; empty if `run` was not the command

    @property
    def hooks(self) -> Hooks:
        """The test hooks with their domains."""
        return Hooks(self.miscolor, self.mislabel, self.misprogram, self.misplace)


@dataclass(frozen=True)
class Target:
    """A system that is ready to start."""

    system: str
    system_file: str
    platform: str
    platform_sha256: str
    package_sha256: str
    program: str  # hypervisor variant of the board
    machine: EmulatedMachine | None  # None: the simulated machine
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
    on_chip_frames: tuple[int, ...] = ()  # possible places of sample rings besides the pool
    packet_frames: tuple[tuple[int, ...], ...] = ()  # in order, of each broker's record of packets
    request: dict[str, Any] = field(default_factory=dict)  # for the simulated machine (machine/hosted/run.h)
    regulator: RegulatorPlan | None = None  # a dynamic regulator
    flows: tuple[FlowTarget, ...] = ()
    chains: tuple[ChainTarget, ...] = ()
    mechanism: Choices | None = None  # mechanisms that divide caches and bandwidth
    mpam: MpamPromise | None = None  # settings that components must hold; None: no MPAM
    portions: PortionPromise | None = None  # of the last-level cache; None: not divided by portions
    notices: tuple[ProblemResult, ...] = ()  # keys of the system file that this version does not enforce

    @property
    def watched(self) -> dict[str, tuple[str, ...]]:
        """Texts to search for in the consoles of domains."""
        return {domain.name: domain.expects.texts for domain in self.domains if domain.expects is not None}

    @property
    def raw_domain(self) -> str | None:
        """The domain with a raw console."""
        return next((domain.name for domain in self.domains if domain.raw_console), None)

    @property
    def colored(self) -> bool:
        """Whether colors were promised, of the cache or of DRAM banks."""
        return self.promise.color_bits != 0

    @property
    def cache_colored(self) -> bool:
        """Whether colors of the last-level cache were promised, so that an eviction by another domain breaks
        a promise."""
        return self.colored and self.promise.cache_colored
