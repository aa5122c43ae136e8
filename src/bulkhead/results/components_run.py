# SPDX-License-Identifier: Apache-2.0
"""The result of a run of a system of components: what `run --json` prints, and report.json."""

from __future__ import annotations

from typing import Literal

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.admitted import AdmittedResult
from bulkhead.results.build import ImageComponentResult
from bulkhead.results.envelope import CLOSED, PART, Envelope
from bulkhead.results.problem import ProblemResult


@with_config(CLOSED)
class ComponentOptionsResult(TypedDict):
    """What the user asked of the run."""

    for_ns: int
    """Time after which the run ends (`--for`)."""
    unprotected: bool
    """Isolation was off (`--unprotected`)."""
    set: list[str]
    """Keys that were overridden (`--set`)."""


@with_config(PART)
class JobCounts(TypedDict, total=False):
    """What the scheduler reports about the jobs of a component."""

    starting: int
    """Periods before the first call of `rt_end_job()`."""
    releases: int
    """Jobs that were released."""
    ended: int
    """Jobs that ended."""
    late: int
    """How often a job had not ended when the next one was released."""
    overruns: int
    """Jobs that were stopped because their budget was spent."""
    response_most_ns: int
    """Longest time from a release to the job's end."""
    response_mean_ns: int
    """Mean time from a release to the job's end."""
    execution_most_ns: int
    """Longest execution time of a job."""
    most_refills: int
    """Most refills of a job."""


@with_config(PART)
class ComponentCounts(TypedDict, total=False):
    """What the scheduler reports about a component."""

    busy_ns: int
    """Time for which it ran."""
    refills: int
    """Refills of its dynamic regions."""


@with_config(CLOSED)
class JobResult(JobCounts):
    """The jobs of a component. Without a report of the scheduler, its counts are left out."""

    period_ns: int
    """Time between two releases."""
    budget_ns: int
    """Processor time that each job has."""
    misses_admitted: int | None
    """Misses that a job was admitted with; null: they are not counted."""


@with_config(CLOSED)
class ComponentResult(ComponentCounts):
    """A component of the run. Without a report of the scheduler, its counts are left out."""

    name: str
    """Name in the system file."""
    priority: int
    """Its priority."""
    violation: str | None
    """Violation for which the kernel killed it; null: none."""
    expected: Literal["killed"] | None
    """What `expect` of the system file asks for."""
    report: dict[str, object] | None
    """The object that it printed last after `report`; null: it printed none."""
    killed: bool | None
    """The scheduler reports it as killed; null: the scheduler did not report."""
    job: JobResult | None
    """Its jobs; null: it has none."""


@with_config(CLOSED)
class MpuCounts(TypedDict):
    """Misses of the MPU on the simulated machine, of all components together."""

    faults: int
    """Accesses that no region allows."""
    misses: int
    """Faults for which software loaded a region."""
    miss_cycles: int
    """Cycles of all misses, from the fault to the return."""
    longest_miss_cycles: int
    """Cycles of the longest miss."""
    miss_costs: list[list[int]]
    """Pairs of cycles and number of misses."""


@with_config(CLOSED)
class CoreCounts(TypedDict):
    """What the simulated machine counts of a core."""

    instructions: int
    """Instructions that were executed."""
    cycles: int
    """Cycles in which it did not wait for an interrupt."""
    idle_ps: int
    """Time in which it waited for an interrupt."""
    clock_ps: int
    """Time of its clock."""
    events: dict[str, int]
    """Events of its PMU, by name."""
    stall_ps: dict[str, int]
    """Time in which it waited, by cause."""


@with_config(CLOSED)
class ComponentMachineResult(TypedDict):
    """What the simulated machine counted."""

    ending: str | None
    """How it ended: `line`, `time`, `idle`, `stopped`, `halted`, `lockup` or `reset`."""
    trouble: str | None
    """What the program did that the machine does not model; empty: nothing."""
    cores: list[CoreCounts] | None
    """The cores."""
    exceptions: dict[str, int] | None
    """Exceptions that were taken, by name."""
    not_implemented: list[str] | None
    """Instructions that were executed and that the machine does not implement."""


@with_config(CLOSED)
class SimulatedKeys(TypedDict, total=False):
    """Keys of a run on the simulated machine."""

    digest: int | None
    """Of all that the machine did: equal runs have equal digests."""
    simulated_ns: int
    """Simulated time, boot included."""
    mpu: MpuCounts | None
    """Misses of the MPU; null: the platform has an MMU."""
    machine: ComponentMachineResult
    """Counts of the whole run, boot included."""


@with_config(CLOSED)
class ComponentsRunKeys(SimulatedKeys):
    """The command's own keys."""

    options: ComponentOptionsResult
    """What the user asked of the run."""
    notices: list[ProblemResult]
    """Empty."""
    notes: list[str]
    """What a reader of the result has to know, in words."""
    ended: str
    """`end` (by itself), `halted` (by the kernel), `timeout`, `interrupted` or `died`."""
    guest_ns: int
    """Time from the start to the end of the run."""
    guest_ns_by: Literal["machine", "kernel"]
    """Whose clock that is."""
    domains: list[dict[str, object]]
    """Empty: the system has no domains."""
    components: list[ComponentResult]
    """The components."""
    admitted: AdmittedResult
    """What the system was admitted with."""
    image: list[ImageComponentResult]
    """Components of the image."""
    console: dict[str, list[str]]
    """Lines of the console, by who printed them."""


@with_config(CLOSED)
class ComponentsRunResult(Envelope, ComponentsRunKeys):
    """The result of a run of a system of components."""


@with_config(CLOSED)
class ComponentsNotRunResult(Envelope):
    """A system of components was not run."""

    components: list[ComponentResult]
    """Empty."""
