# SPDX-License-Identifier: Apache-2.0
"""Results of `bench`: a type for each benchmark."""

from __future__ import annotations

from typing import Literal

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope
from bulkhead.results.run import PathPartResult

Unit = Literal["ns", "instructions"]


@with_config(CLOSED)
class PathCostResult(TypedDict):
    """Instructions of one path into the hypervisor and back."""

    path: str
    """Name of the path."""
    what: str
    """The path, in words."""
    instructions: int
    """Median."""
    first: int
    """Of the first time."""
    min: int
    """The fewest."""
    max: int
    """The most."""
    best_public: int | None
    """The best published figure of another hypervisor; null: none is known."""
    ratio: float | None
    """Median by that figure."""
    goal: int | None
    """Most instructions that it may take; null: there is no goal."""
    met: bool | None
    """The goal is met; null: there is none."""


@with_config(CLOSED)
class GoalsResult(TypedDict):
    """Goals of all paths."""

    met: int
    """How many are met."""
    of: int
    """How many there are."""
    missed: list[str]
    """Those that are missed, in words."""


@with_config(CLOSED)
class HypervisorCostsKeys(TypedDict):
    """What was measured."""

    instructions: dict[str, int]
    """Median of each path, by name; `packet`: EL2's parts of the path of a flow's packet."""
    rows: list[PathCostResult]
    """The paths."""
    goals: GoalsResult
    """Their goals."""


@with_config(CLOSED)
class BenchHypervisorResult(Envelope, HypervisorCostsKeys):
    """Instructions of each path into the hypervisor and back."""


@with_config(CLOSED)
class InterruptCostResult(TypedDict):
    """Instructions of one kind of interrupt, from its entry to the return or to the wait for the next one."""

    count: int
    """Number of interrupts."""
    mean: float
    """Mean."""
    longest: int
    """The most."""


@with_config(CLOSED)
class IntervalCostResult(TypedDict):
    """What a core does at EL2 for budgets in an interval; means over intervals and cores."""

    interrupts: float
    """Number of interrupts."""
    instructions: float
    """Instructions of these interrupts."""


@with_config(CLOSED)
class PolicyCostResult(TypedDict):
    """Cost of one policy."""

    policy: str
    """Name of the policy."""
    period: InterruptCostResult | None
    """End of an interval, on all cores but the last one; null: there was none."""
    step: InterruptCostResult | None
    """End of an interval on its last core, which computes the budgets and interrupts the other cores."""
    message: InterruptCostResult | None
    """Interrupt with which a core takes its new budget."""
    overflow: InterruptCostResult | None
    """Interrupt of a core that has spent its budget."""
    regulated: IntervalCostResult
    """Of a regulated core that spends its budget in each interval."""
    others: IntervalCostResult
    """Of the real-time core beside such cores."""
    quiet_regulated: IntervalCostResult
    """Of a regulated core whose program sleeps."""
    quiet_others: IntervalCostResult
    """Of the real-time core beside such cores."""


@with_config(CLOSED)
class RegulatorCostsKeys(TypedDict):
    """What was measured."""

    policies: list[PolicyCostResult]
    """The policies."""


@with_config(CLOSED)
class BenchRegulatorsResult(Envelope, RegulatorCostsKeys):
    """Instructions and interrupts at EL2 in an interval of each regulator."""


@with_config(CLOSED)
class PublishedPartCostResult(TypedDict):
    """Published cost of one part, in ns."""

    min: int | None
    """The smallest; null: not published."""
    avg: int | None
    """The mean."""
    max: int | None
    """The largest."""
    median: int | None
    """The median."""


@with_config(CLOSED)
class FlowCostsKeys(TypedDict):
    """What was measured."""

    unit: Unit
    """`ns` on the simulated machine, `instructions` on the emulator."""
    flow_costs: dict[str, PathPartResult]
    """The parts, by name."""
    published: dict[str, PublishedPartCostResult]
    """Published costs of the parts, on a board."""


@with_config(CLOSED)
class BenchFlowsResult(Envelope, FlowCostsKeys):
    """What the parts of a packet's path cost."""


@with_config(CLOSED)
class SpreadResult(TypedDict):
    """Several measurements of one figure."""

    min: float
    """The smallest."""
    median: float
    """The median."""
    max: float
    """The largest."""


@with_config(CLOSED)
class SpeedResult(SpreadResult):
    """Several measurements of one kind of access."""

    accesses: int
    """Number of accesses of a measurement."""
    l1_miss_share: float
    """Share of them that missed the first level."""
    dram_read_share: float
    """Share of them that DRAM served."""
    simulated_ns: int
    """Simulated time of a measurement."""


@with_config(CLOSED)
class SpeedGoalResult(TypedDict):
    """What a figure has to reach."""

    aim: int
    """Accesses a second that are aimed at."""
    least: int | None
    """Accesses a second below which the verdict is `failed`."""
    met: bool
    """The best measurement reaches the aim."""


@with_config(CLOSED)
class PeerSpeedResult(TypedDict):
    """Another simulator on the same requests (`--against`)."""

    command: str
    """Its command."""
    format: str
    """Format of the trace."""
    requests: int
    """Number of requests."""
    cpu_s: SpreadResult
    """Processor time."""
    requests_per_s: int
    """Requests in a second of processor time."""
    ratio: float
    """Speed of the simulated machine by that."""


@with_config(CLOSED)
class SpeedsKeys(TypedDict):
    """Accesses in a second of processor time."""

    private_hits_per_s: SpeedResult
    """Loads that hit the first level."""
    llc_hits_per_s: SpeedResult
    """Loads that hit the shared level."""
    dram_random_per_s: SpeedResult
    """Loads from DRAM at random."""
    dram_sequential_per_s: SpeedResult
    """Loads from DRAM in order."""
    goals: dict[str, SpeedGoalResult]
    """Goals, by figure."""
    against: PeerSpeedResult | None
    """The other simulator; null without `--against`."""


@with_config(CLOSED)
class BenchMachineResult(Envelope, SpeedsKeys):
    """Speed of the simulated machine on one core."""


@with_config(CLOSED)
class RefillBoundKeys(TypedDict):
    """Cycles of a refill of an MPU region."""

    bound_cycles: int
    """Computed bound."""
    parts: dict[str, int]
    """Parts of the bound, in words."""
    file_cycles: int | None
    """Bound in the platform file (`cores.mpu.bound`); null: there is none."""
    longest_seen_cycles: int
    """Longest refill of a run."""
    refills_seen: int
    """Refills of that run."""


@with_config(CLOSED)
class BenchRefillBoundResult(Envelope, RefillBoundKeys):
    """The most cycles of a refill of an MPU region."""


@with_config(CLOSED)
class BootInstructionsResult(TypedDict):
    """Instructions of Linux to its prompt."""

    bare: int
    """On the bare emulator."""
    hypervisor: int
    """Under the hypervisor."""
    at_el2: int
    """Those of them at EL2."""


@with_config(CLOSED)
class BootSpreadResult(TypedDict):
    """The most instructions minus the fewest; 0: every run was the same."""

    bare: int
    """On the bare emulator."""
    hypervisor: int
    """Under the hypervisor."""


@with_config(CLOSED)
class BootMaintenanceResult(TypedDict):
    """Instructions of cache and TLB maintenance that trap."""

    asked_for: str
    """`maintenance` of the system file."""
    traps: int
    """How often they trapped."""
    instructions_allowed: int
    """Instructions by which the limit is larger for that."""


@with_config(CLOSED)
class BootComparisonKeys(TypedDict):
    """A boot of Linux, bare and under the hypervisor."""

    instructions: BootInstructionsResult
    """The most of all runs."""
    ratio: float
    """Most instructions under the hypervisor by the fewest on the bare emulator."""
    limit: float
    """Largest ratio that is allowed."""
    maintenance: BootMaintenanceResult
    """Maintenance that traps."""
    spread: BootSpreadResult
    """Difference between runs."""
    exits: dict[str, int]
    """Entries into EL2 by reason."""
    runs: list[BootInstructionsResult]
    """The runs."""


@with_config(CLOSED)
class BenchLinuxBootResult(Envelope, BootComparisonKeys):
    """A boot of Linux to its prompt, compared with the bare emulator's."""


@with_config(CLOSED)
class ProjectedResult(TypedDict):
    """Duration of a large campaign."""

    workers: int
    """Number of workers."""
    point_s: float
    """Time that a point simulates."""
    hours: float
    """Wall time of the campaign."""


@with_config(CLOSED)
class PointCostKeys(TypedDict):
    """What a point costs besides its simulation; means over all points."""

    points: int
    """Number of points."""
    workers: int
    """Number of workers."""
    wall_ms: float
    """Wall time of a point."""
    client_ms: float
    """Processor time of the command for a point."""
    kept_ms: float
    """Wall time of a point whose result is kept."""
    client_kib: float
    """Memory of the command for a point."""
    worker_ms: float
    """Time of a worker for a point."""
    campaign_points: int
    """Points of the projected campaigns."""
    projected: list[ProjectedResult]
    """The projected campaigns."""


@with_config(CLOSED)
class BenchCampaignResult(Envelope, PointCostKeys):
    """What a campaign's point costs besides its simulation."""
