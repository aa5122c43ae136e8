# SPDX-License-Identifier: Apache-2.0
"""The result of a run of domains: what `bulkhead run --json` prints, and report.json of the run's directory.

Times end with `_ns`, sizes with `_bytes`. Where nothing was counted, a value is null.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from bulkhead.results.device_rate import DeviceRateResult
from bulkhead.results.envelope import CLOSED, Envelope
from bulkhead.results.flow_plan import Sender
from bulkhead.results.problem import ProblemResult
from bulkhead.results.witness import WitnessResults


@with_config(CLOSED)
class MinMeanMaxResult(TypedDict):
    """A summary in ns; null where there is none."""

    min: int | None
    """The smallest."""
    mean: int | None
    """The mean, rounded down."""
    max: int | None
    """The largest."""


@with_config(CLOSED)
class OptionsResult(TypedDict):
    """Options of the run."""

    for_ns: int | None
    """Guest time after which the run ends (`--for`)."""
    observe: bool
    """Each access was followed through a cache (`--observe`)."""
    unprotected: bool
    """Isolation, regulation and budgets were off (`--unprotected`)."""
    miscolor: str | None
    """Domain with a page of a wrong color, to test the witnesses."""
    mislabel: str | None
    """Domain with a neighbour's MPAM labels, to test the witnesses."""
    misprogram: str | None
    """Domain with a neighbour's MPAM settings, to test the witnesses."""
    misplace: str | None
    """Domain whose stage-2 tables are at a wrong place, to test the witnesses."""
    icount: bool
    """Guest time is counted in instructions (`--icount`)."""
    boot: str
    """How the hypervisor was started (`--boot`)."""
    set: list[str]
    """Keys that were overridden (`--set`)."""


@with_config(CLOSED)
class VcpuResult(TypedDict):
    """A VCPU of a domain. Counts of exits are null on a core that VCPUs share."""

    vcpu: int
    """Number within its domain."""
    core: int
    """Core that it runs on."""
    exits: int | None
    """Entries into EL2."""
    injected: int | None
    """Interrupts that EL2 delivered to it."""
    list_register_full: int | None
    """Number of interrupts that found all list registers in use."""
    idle: bool
    """Whether it was never started, or has ended."""


@with_config(CLOSED)
class LlcResult(TypedDict):
    """Accesses to the last-level cache, in lines."""

    accesses: int
    """Accesses that reached the last-level cache."""
    misses: int
    """Accesses that went on to memory."""
    evicted_by_others: int
    """Lines of this owner that other domains evicted."""
    evicted_by_hypervisor: int
    """Lines of this owner that the hypervisor evicted."""


@with_config(CLOSED)
class ActivityResult(TypedDict):
    """What the cores of a domain did, on the simulated machine; time at EL2 is included."""

    instructions: int
    """Instructions that were executed."""
    busy_ns: int
    """Time in which its cores did not wait for an interrupt, all cores together."""
    idle_ns: int
    """Time in which its cores waited for an interrupt."""
    stall_ns: dict[str, int]
    """Part of the busy time in which the cores were stalled, by cause."""
    bus_accesses: int
    """Reads and writes on the bus."""


@with_config(CLOSED)
class VcpuEventsResult(TypedDict):
    """How one VCPU kept to the budget."""

    vcpu: int
    """Number within its domain."""
    events: int
    """Events that were counted."""
    max_per_period: int
    """Largest number of events in a period."""
    overshoot_max: int
    """Largest number of events beyond the budget in a period."""
    periods: int
    """Periods that have ended."""
    throttled_periods: int
    """Periods in which the budget was spent and the VCPU was stopped."""
    throttled_ns: int
    """Time for which the VCPU was stopped."""
    budget_min: NotRequired[int]
    """Smallest budget of a regulated core."""
    budget_mean: NotRequired[float]
    """Mean budget of a regulated core."""
    budget_max: NotRequired[int]
    """Largest budget of a regulated core."""
    given: NotRequired[int]
    """Unused budget, in events, that the core lent to others (reclaiming)."""
    drawn: NotRequired[int]
    """Events that the core took from budget that others lent."""
    violations: NotRequired[int]
    """Periods in which the core did not get its guaranteed budget."""
    shortfall: NotRequired[int]
    """Events that were missing in those periods."""


@with_config(CLOSED)
class BudgetResult(TypedDict):
    """A budget and its period."""

    budget: int
    """Events in each period."""
    period_ns: int
    """Length of a period."""


@with_config(CLOSED)
class AccessesResult(TypedDict):
    """A second budget, of accesses on the bus."""

    budget: int
    """Accesses in each period."""
    events: int
    """Accesses that were counted."""
    max_per_period: int
    """Largest number of accesses in a period."""


@with_config(CLOSED)
class EventsResult(TypedDict):
    """How a domain kept to its bandwidth budget; sums and maxima over its VCPUs."""

    event: str | None
    """Event that the budget counts."""
    budget: int | None
    """Events in each period, as the system file has it; null: events are only counted."""
    write_budget: NotRequired[int]
    """Budget of writes, if reads and writes have a budget each."""
    accesses: NotRequired[AccessesResult]
    """The second budget, if there is one."""
    period_ns: int
    """Length of a period."""
    changes: int
    """Number of times that a manager changed the budget."""
    latest: NotRequired[BudgetResult]
    """The budget at the end, if a manager changed it."""
    shared: bool
    """Whether all VCPUs of the domain spend one budget."""
    events: int
    """Events that were counted."""
    max_per_period: int
    """Largest number of events in a period."""
    overshoot_max: int
    """Largest number of events beyond the budget in a period."""
    overshoot_mean: float
    """Mean number of events beyond the budget, over the periods that exceeded it."""
    periods: int
    """Periods that have ended."""
    late_periods: int
    """Periods whose end was handled after the end of the next one."""
    throttled_periods: int
    """Periods in which the budget was spent and a VCPU was stopped."""
    throttled_ns: int
    """Time for which VCPUs were stopped."""
    vcpus: list[VcpuEventsResult]
    """Each VCPU."""


@with_config(CLOSED)
class FaultResult(TypedDict):
    """Registers of the fault that ended a domain, in hexadecimal."""

    pc: str
    """Address of the instruction."""
    syndrome: str
    """ESR_EL2."""
    address: str
    """Address that was accessed."""


@with_config(CLOSED)
class MonitoredResult(TypedDict):
    """What MPAM's monitors of one resource say of an owner."""

    resource: str
    """Name of the resource in the platform file."""
    kind: str
    """`storage` or `bandwidth`."""
    bytes: int
    """Bytes that the partition holds, or that were transferred."""
    most_bytes: NotRequired[int]
    """Largest number of bytes that the partition held at a time."""
    flags: list[str]
    """Why the value may be wrong: overflow, or the monitor was not ready."""


@with_config(CLOSED)
class DomainResult(TypedDict):
    """A domain of the run."""

    name: str
    """Name in the system file."""
    criticality: Literal["rt", "best-effort"]
    """Criticality in the system file."""
    state: str
    """State at the end of the run: `running`, `stopped`, `crashed` …"""
    exit_reasons: dict[str, int]
    """Entries into EL2 by reason."""
    ready_ns: int | None
    """Guest time of its first report or prompt, which means ready; null: it was not ready."""
    prompt_ns: int | None
    """Guest time of its first shell prompt."""
    vcpus: list[VcpuResult]
    """Its VCPUs."""
    report: dict[str, object] | None
    """The object that the guest printed last after `report`; null: it printed none."""
    seen: dict[str, int | None]
    """Guest time at which each line that `expect` names was first printed; null: never."""
    console_lines: int
    """Number of lines on its console."""
    colors: list[int] | None
    """Colors of the last-level cache that it has; null: it has all."""
    restarts: int
    """Number of times that it was restarted."""
    socket_failures: int
    """How often its socket device asked the driver for a reset, after invalid input."""
    unconfined_devices: list[str]
    """Devices of the domain whose DMA no hardware confines."""
    device_rates: list[DeviceRateResult]
    """Memory bandwidth of its devices that master memory."""
    events: NotRequired[EventsResult]
    """Its events compared with its budget, if it has one."""
    end: NotRequired[str]
    """Why it ended, if it did."""
    ended_ns: NotRequired[int | None]
    """When it ended."""
    fault: NotRequired[FaultResult]
    """The fault that ended it, if it crashed."""
    llc: NotRequired[LlcResult]
    """Its use of the last-level cache, if a witness observed the cache."""
    mpam: NotRequired[list[MonitoredResult]]
    """Values of MPAM's monitors, on a platform that has them."""
    refused_accesses: NotRequired[int]
    """Accesses of its devices that the SMMU refused, on a platform whose SMMU the hypervisor drives."""
    activity: NotRequired[ActivityResult]
    """Activity of its cores, on the simulated machine."""
    slowdown: NotRequired[float]
    """Time per instruction beside the other domains, divided by the time per instruction alone (`--solo`)."""


@with_config(CLOSED)
class ExpectedResult(TypedDict):
    """One thing that `expect` asks for."""

    domain: str
    """Domain to which the expectation applies."""
    what: str
    """`ready`, `throttled`, `slowdown`, `release_delay`, `report`, `line` or `no_line`."""
    expected: str
    """What was expected, in words."""
    seen: str
    """What was seen, in words."""
    met: bool | None
    """Whether the expectation was met; null: this run cannot show it."""


@with_config(CLOSED)
class ReleaseDelayResult(TypedDict):
    """From an event that made a VCPU the most urgent one of its core to its first instruction."""

    releases: int
    """Number of such events."""
    mean_ns: int
    """Mean delay."""
    max_ns: int
    """Longest delay."""


@with_config(CLOSED)
class CpuReservationResult(TypedDict):
    """How a VCPU kept to its reservation of CPU time."""

    budget_ns: int
    """CPU time in each period."""
    period_ns: int
    """Length of a period."""
    max_ns: int
    """Longest CPU time in a period."""
    periods: int
    """Periods that have ended."""
    throttled_periods: int
    """Periods in which it was stopped."""


@with_config(CLOSED)
class SharedVcpuResult(TypedDict):
    """A VCPU that shares its core."""

    domain: str
    """Its domain."""
    vcpu: int
    """Number within its domain."""
    priority: int
    """Priority; 0 is the most urgent."""
    state: str
    """State at the end of the run."""
    dispatches: int
    """Number of times that it was dispatched."""
    blocks: int
    """Number of times that it gave up the core to wait for an interrupt."""
    run_ns: int
    """Time for which it had the core."""
    out_of_order: int
    """Dispatches while a VCPU of a higher priority was ready: a broken promise."""
    release_delay: NotRequired[ReleaseDelayResult]
    """Its release delays, if the scheduler uses fixed priorities."""
    cpu: NotRequired[CpuReservationResult]
    """Its reservation of CPU time, if it has one."""
    budget: NotRequired[int | None]
    """Events in each period, if it has a bandwidth budget; null: they are only counted."""
    period_ns: NotRequired[int]
    """Length of the budget's period."""
    max_per_period: NotRequired[int]
    """Largest number of events in a period."""
    overshoot_max: NotRequired[int]
    """Largest number of events beyond the budget in a period."""
    periods: NotRequired[int]
    """Periods in which the scheduler has refilled the budget."""
    periods_due: NotRequired[int]
    """Periods that have ended by the clock."""
    throttled_periods: NotRequired[int]
    """Periods in which it was stopped."""


@with_config(CLOSED)
class KeptResult(TypedDict):
    """One promise of a shared core."""

    kept: bool
    """Nothing broke it."""
    broken: list[str]
    """Events that broke the promise, in words."""


@with_config(CLOSED)
class SharedCoreResult(TypedDict):
    """A core that VCPUs of several domains share."""

    core: int
    """Number of the core."""
    scheduler: str
    """`fixed-priority` or `round-robin`."""
    slice_ns: int
    """Time slice of VCPUs of the same priority."""
    switches: int
    """Switches from one VCPU to another."""
    exit_reasons: dict[str, int]
    """Entries into EL2 by reason, of all VCPUs together."""
    release_bound_ns: int | None
    """The platform's bound of release delays; null: none, or this run's time does not show it."""
    vcpus: list[SharedVcpuResult]
    """The VCPUs that share the core."""
    starved: list[str]
    """Domains that were ready and never had the core."""
    promises: dict[str, KeptResult]
    """The promises of the core, by name."""


@with_config(CLOSED)
class FlowResult(Sender):
    """One direction of a flow between domains."""

    name: str
    """Name in the system file; `added N` if a manager added the flow."""
    to: str
    """Domain that receives."""
    port: int
    """Port of the virtio socket."""
    size: int
    """Largest payload of a packet, in bytes."""
    period_ns: int
    """Shortest time between two packets."""
    deadline_ns: int
    """Longest time from a packet's release to the receiver's interrupt."""
    packets: int
    """Packets that were delivered."""
    bytes: int
    """Bytes of payload that were delivered."""
    control_packets: int
    """Packets without payload that were delivered."""
    latency_ns: MinMeanMaxResult
    """From a packet's release to the receiver's interrupt."""
    bound_ns: int | None
    """Longest time that the analysis guarantees; null: the flows were not analyzed."""
    misses: int
    """Packets, with or without payload, that were later than the deadline."""
    replaced_misses: int
    """The same of closed flows whose place this flow has taken."""
    lost: int
    """Packets that were dropped."""
    refused: int
    """Refused connections and packets that the flow does not allow."""
    unread: int | None
    """Multicast flow: bytes that this receiver has not taken; null: not connected, or no multicast flow."""
    state: str
    """`open`, or `closed` if a manager has ended the flow."""


@with_config(CLOSED)
class ChainResult(TypedDict):
    """Requests of a client to a server, with their answers."""

    name: str
    """Name in the system file."""
    client: str
    """Domain that sends requests and measures."""
    server: str
    """Domain that answers."""
    answered: int | None
    """Answers by the client's report; null: it has reported none."""
    longest_ns: int | None
    """Longest time from sending a request to the arrival of its answer, by the client's report, or the age of
    a request without an answer."""
    bound_ns: int
    """Longest time that the analysis guarantees."""
    deadline_ns: int
    """Longest time that the system file allows."""


_Class = TypedDict("_Class", {"class": Annotated[str, Field(description="Kind of the attack.")]})


@with_config(CLOSED)
class AttemptResult(_Class):
    """One way in which a hostile guest tried to break out."""

    domain: str
    """The hostile domain."""
    what: str
    """What was tried."""
    count: int
    """How often."""
    outcome: str
    """Outcome of the attack."""
    through: bool
    """Whether the attack succeeded, so that the domain is not contained."""
    evidence: NotRequired[str]
    """A value in hexadecimal that shows the outcome."""


@with_config(CLOSED)
class SummaryResult(TypedDict):
    """A summary in ns."""

    min: int
    """The smallest."""
    mean: int
    """The mean."""
    max: int
    """The largest."""


@with_config(CLOSED)
class MeasuredWindowResult(TypedDict):
    """What a real-time domain measured in a window."""

    releases: object
    """Number of releases, as the domain prints it."""
    jitter_ns: SummaryResult
    """From a release to the job's start."""
    work_ns: SummaryResult
    """Duration of the job."""


@with_config(CLOSED)
class InterferenceResult(TypedDict):
    """What a real-time domain measured before an attack began and during it."""

    domain: str
    """The domain."""
    before: MeasuredWindowResult
    """Releases, jitter and work before the attack."""
    after: MeasuredWindowResult
    """The same during the attack."""
    exits_per_release: dict[str, dict[str, float]]
    """Entries into EL2 for each release, by reason, before and after."""
    own_exits: list[str]
    """Reasons that the domain itself causes; they are not compared."""
    differing: list[str]
    """Reasons whose rate the attack has changed."""
    held: bool
    """Whether no rate has changed."""


@with_config(CLOSED)
class SmmuResult(TypedDict):
    """What the SMMU reported, beside refused accesses of domains' devices."""

    unowned_accesses: int
    """Refused accesses of streams that no domain has."""
    failed_accesses: int
    """Accesses of domains' devices for which the SMMU could not read a table or an entry."""
    overflows: int
    """Number of times that events were lost because their queue was full."""
    global_errors: int
    """Number of global errors."""
    interrupts: int
    """Number of interrupts."""
    unanswered: int
    """Number of times that the SMMU did not answer within 0.1 ms."""


@with_config(CLOSED)
class HypervisorResult(TypedDict):
    """The hypervisor itself."""

    program: str
    """`full` or `space`."""
    phase: str | None
    """State that the hypervisor reached: `started`, `ended`, `refused`, `panicked` …"""
    pool_frames: int | None
    """Frames of its memory."""
    pool_used: int | None
    """Frames of its memory that are used."""
    exit_reasons: dict[str, int]
    """Entries into EL2 by reason, of all cores."""
    llc: LlcResult | None
    """Its own use of the last-level cache; null if no witness observed the cache."""
    colors: list[int] | None
    """Colors of the last-level cache that it has; null: it has all."""
    samples_in: NotRequired[str]
    """Memory in which samples of periods are kept."""
    mpam: NotRequired[list[MonitoredResult]]
    """Values of MPAM's monitors for the hypervisor."""
    smmu: NotRequired[SmmuResult]
    """What the SMMU reported, on a platform whose SMMU the hypervisor drives."""


@with_config(CLOSED)
class ColoringResult(TypedDict):
    """How the last-level cache is colored."""

    enabled: bool
    """Whether domains have colors of their own."""
    colors: int
    """Number of colors."""
    granule_bytes: int
    """Number of contiguous bytes that have the same color."""
    color_bits: str
    """Address bits that make the color, as a mask."""


@with_config(CLOSED)
class MechanismResult(TypedDict):
    """What divides the last-level cache and bandwidth, and why."""

    llc: Literal["mpam", "coloring", "none"]
    """Mechanism that divides the last-level cache."""
    llc_reason: str
    """Why."""
    bandwidth: Literal["mpam", "reservations", "none"]
    """What divides bandwidth."""
    bandwidth_reason: str
    """Why."""


@with_config(CLOSED)
class RangeResult(TypedDict):
    """Mean and range of a regulator's value."""

    last: NotRequired[float]
    """At the end."""
    mean: float
    """The mean."""
    min: float
    """The smallest."""
    max: float
    """The largest."""


@with_config(CLOSED)
class RegulatedDeviceResult(TypedDict):
    """A device whose rate the regulator changes, by a regulator of the interconnect in front of it."""

    name: str
    """Its name in the platform file."""
    budget_events: RangeResult
    """Its budgets of an interval, in events."""
    bytes_per_s: RangeResult
    """The same as rates, reads and writes together, for intervals of the file's length."""
    rate_changes: int
    """Steps that changed the registers: a unit of them is more than an event."""


@with_config(CLOSED)
class RegulationResult(TypedDict):
    """Steps of the regulator."""

    policy: str
    """Its policy."""
    interval_ns: int
    """Time between two steps."""
    intervals: int
    """Number of steps that were made."""
    missed: int
    """Intervals that ended without a step."""
    late: int
    """Steps that were abandoned because the next interval had begun."""
    unusable: int
    """Samples of the load that could not be used."""
    changes: int
    """Steps that changed budgets."""
    global_events: RangeResult
    """The global budget, in events."""
    load: RangeResult
    """Measured utilization of the memory, 0 to 1."""
    devices: NotRequired[list[RegulatedDeviceResult]]
    """Devices that are regulated, if there are some."""


@with_config(CLOSED)
class DramResult(TypedDict):
    """The DRAM of the simulated machine."""

    utilization: float
    """Part of the time in which its data bus was busy."""
    read_bytes: int
    """Bytes that were read."""
    written_bytes: int
    """Bytes that were written."""


@with_config(CLOSED)
class PathPartResult(TypedDict):
    """What a part of packets' paths took: in ns, or in the `unit` of `bench flows`."""

    count: int
    """How often it was seen."""
    min: int
    """The smallest."""
    avg: int
    """The mean."""
    max: int
    """The largest."""
    median: int
    """The median."""


@with_config(CLOSED)
class CorePathCostsResult(TypedDict):
    """What parts of packets' paths took on one core."""

    core: int
    """Its number."""
    parts: dict[str, PathPartResult]
    """The parts, by name."""


@with_config(CLOSED)
class PathCostsResult(TypedDict):
    """What parts of packets' paths took."""

    parts: dict[str, PathPartResult]
    """The parts by name, all cores together."""
    cores: list[CorePathCostsResult]
    """Each core."""


@with_config(CLOSED)
class MpamStateResult(TypedDict):
    """State of MPAM's components."""

    state: str
    """`enabled`, or why they are not programmed."""
    version: str
    """Version of the architecture."""
    components: int
    """Number of components."""
    writes: int
    """Writes to their registers."""
    start_ns: int | None
    """Time in which they were programmed; null: not known."""
    reads: int
    """How often monitors were read."""
    read_mean_ns: int | None
    """Mean duration of a read of the monitors."""
    read_max_ns: int | None
    """Longest duration of a read of the monitors."""
    errors: dict[str, int]
    """Errors that they reported, by name."""
    error_interrupts: int
    """Interrupts with which they reported errors."""
    without_monitor: int
    """PARTIDs for which there was no monitor."""


@with_config(CLOSED)
class RunResult(Envelope):
    """The result of a run of domains."""

    package_sha256: str
    """SHA-256 of the package that was booted."""
    options: OptionsResult
    """Options of the run."""
    not_shown: list[str]
    """Promises that the run did not test, in words."""
    notices: list[ProblemResult]
    """Requests of the system file that this version, or this platform, does not fulfil."""
    ended: str
    """Its end: `shutdown` (by itself), `left` (by the user), `interrupted`, `timeout`, `died` or `failed`."""
    guest_ns: int | None
    """Guest time from the hypervisor's start to the end of the run."""
    guest_ns_by: str | None
    """Clock of `guest_ns`: `hypervisor`, `machine`, `host` or `console`."""
    domains: list[DomainResult]
    """The domains, in the system file's order; the broker is the last."""
    attempts: list[AttemptResult]
    """Attacks that hostile guests tried."""
    interference: list[InterferenceResult]
    """Measurements of real-time domains before and during an attack."""
    witnesses: WitnessResults
    """Results of the witnesses, which observe the run independently of the hypervisor."""
    hypervisor: HypervisorResult
    """The hypervisor itself."""
    coloring: ColoringResult
    """How the last-level cache is colored."""
    expectations: NotRequired[list[ExpectedResult]]
    """Expectations of the system file (`expect`), and what was seen."""
    shared_cores: NotRequired[list[SharedCoreResult]]
    """Cores that VCPUs of several domains share."""
    chains: NotRequired[list[ChainResult]]
    """Requests to servers with their answers, if the system has chains."""
    flows: NotRequired[list[FlowResult]]
    """Flows between domains."""
    path_costs: NotRequired[PathCostsResult]
    """Durations of the parts of packets' paths, if the system file asks for them."""
    mechanism: NotRequired[MechanismResult]
    """Mechanisms that divide cache and bandwidth."""
    mpam: NotRequired[MpamStateResult]
    """State of MPAM's components, on a platform that has them."""
    regulation: NotRequired[RegulationResult]
    """Steps of the regulator, if one runs."""
    digest: NotRequired[str]
    """Digest of the simulated machine's complete activity: equal runs have equal digests."""
    simulated_ns: NotRequired[int]
    """Simulated time, boot included."""
    dram: NotRequired[DramResult]
    """The DRAM of the simulated machine."""


@with_config(CLOSED)
class NotRunResult(Envelope):
    """A system of domains was not run."""

    notices: list[ProblemResult]
    """What the system file asks for and this version, or this platform, does not do."""
    domains: list[DomainResult]
    """Empty."""
