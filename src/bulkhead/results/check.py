# SPDX-License-Identifier: Apache-2.0
"""Result of `check`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.admitted import AdmittedResult
from bulkhead.results.device_rate import DeviceRateResult
from bulkhead.results.envelope import CLOSED, Envelope, Verdict
from bulkhead.results.flow_plan import FlowPlanResult
from bulkhead.results.problem import ProblemResult
from bulkhead.results.share import ShareResult


@with_config(CLOSED)
class OwnerResult(TypedDict):
    """Memory of the colors of one owner."""

    name: str
    """A domain, or the hypervisor."""
    colors: list[int] | None
    """Colors of the last-level cache that it has; null: it has all."""
    capacity_bytes: int
    """Memory of these colors."""
    used_bytes: int
    """Memory that it uses."""
    free_bytes: int
    """Memory that it could have in one more region."""


@with_config(CLOSED)
class CheckedDomainResult(TypedDict):
    """A domain with its place."""

    name: str
    """Name in the system file."""
    cpus: list[int]
    """Cores that it runs on."""
    unconfined_devices: list[str]
    """Its devices whose DMA no hardware confines."""
    device_rates: list[DeviceRateResult]
    """Memory bandwidth of its devices that master memory."""
    maps: int
    """Pieces of contiguous physical memory."""
    segments: int
    """Pieces of memory that are given to it."""
    fragmented_bytes: int
    """Memory that coloring loses at the ends of its regions."""
    broker_reach_bytes: int
    """Bytes of its memory that the broker reaches: its `socket_pool`, else all if it has a socket device."""
    premap: bool
    """All its memory is mapped before it starts."""


@with_config(CLOSED)
class AccessBudgetResult(TypedDict):
    """A budget of accesses past the caches; each core of the domain has it."""

    event: str
    """Event that it counts."""
    events: int
    """Events in each period."""
    period_ns: int
    """Length of a period."""


@with_config(CLOSED)
class DemandResult(TypedDict):
    """The memory bandwidth that a domain may use."""

    name: str
    """The domain."""
    bytes_per_s: int | None
    """The bandwidth; null: nothing bounds it."""
    regulated: bool
    """This is the budget at the start, which the regulator changes."""
    accesses: AccessBudgetResult | None
    """Budget of accesses past the caches; null: there is none."""


@with_config(CLOSED)
class BandwidthResult(TypedDict):
    """Bandwidth of the memory: what is guaranteed, and what domains may use."""

    guaranteed_bytes_per_s: int | None
    """What the platform file states; null: it states nothing."""
    guaranteed_source: str | None
    """Source of that figure."""
    simulated_bytes_per_s: int | None
    """What the simulated machine reaches instead; null: it was not measured."""
    bounded_bytes_per_s: int
    """Sum of all bounded demands and of the charges of all devices."""
    overcommitted: bool
    """Demands and charges are more than what is guaranteed."""
    domains: list[DemandResult]
    """Demand of each domain."""


@with_config(CLOSED)
class TableRegionResult(TypedDict):
    """A region of memory whose translations have a specification, and the place of its tables."""

    domain: str
    """The domain."""
    number: int
    """Number of the region, in the file's order."""
    at: int
    """Address in the domain."""
    bytes: int
    """Size of the region."""
    spec: list[str]
    """The specification."""
    where: str
    """Memory of the tables: `pool`, `colored` or `on_chip`."""
    node_bytes: int
    """Bytes of its tables, besides those of the domain's earlier regions."""
    independence: int
    """Whether walks are independent of other domains: 0: no, 1: in part, 2: fully."""
    past_caches: bool
    """Walks do not use the caches."""


@with_config(CLOSED)
class TableResourceResult(TypedDict):
    """A kind of memory for tables."""

    name: str
    """Its name."""
    limit: int
    """How many bytes there are."""
    left: int
    """How many bytes nobody holds."""
    holders: dict[str, int]
    """Bytes that each holder has."""


@with_config(CLOSED)
class Stage2TablesResult(TypedDict):
    """Places of stage-2 tables."""

    regions: list[TableRegionResult]
    """Regions with a specification."""
    resources: list[TableResourceResult]
    """Memory for tables."""


@with_config(CLOSED)
class PromisedResult(TypedDict):
    """What a system of domains is promised, and what is left."""

    colors: int
    """Number of colors of the last-level cache; 0: it cannot be colored."""
    owners: list[OwnerResult]
    """Memory by owner."""
    domains: list[CheckedDomainResult]
    """The domains."""
    cores_left: list[int]
    """Cores that no domain has."""
    shares: list[ShareResult]
    """Shares of cache and bandwidth."""
    bandwidth: BandwidthResult
    """Bandwidth of the memory."""
    stage2_tables: Stage2TablesResult | None
    """Places of stage-2 tables; null if no region has a specification."""
    flows: FlowPlanResult | None
    """Analysis of the flows of the only broker, or of the first; null if there are none."""
    further_brokers: list[FlowPlanResult]
    """The same of each further broker."""


@with_config(CLOSED)
class CheckedFileResult(TypedDict):
    """One file."""

    file: str
    """Its path."""
    system: str | None
    """Name of the system; null if it could not be read."""
    platform: str | None
    """Name of its platform; null if it could not be read."""
    platform_sha256: str | None
    """SHA-256 of the platform's text."""
    verdict: Verdict
    """`ok`, or `error` if there are problems."""
    errors: list[ProblemResult]
    """Its problems."""
    notices: list[ProblemResult]
    """What it asks for and this version, or this platform, does not do."""
    unchecked: list[str]
    """What could not be checked on this machine, in words."""
    promised: PromisedResult | AdmittedResult | None
    """What it is promised: a system of domains, or of components; null if there are problems."""


@with_config(CLOSED)
class CheckResult(Envelope):
    """Each file with its problems and promises."""

    files: list[CheckedFileResult]
    """The files, as they were given."""
