# SPDX-License-Identifier: Apache-2.0
"""Result of `plan`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.device_rate import DeviceRateResult
from bulkhead.results.envelope import CLOSED, Envelope
from bulkhead.results.flow_plan import FlowPlanResult
from bulkhead.results.problem import ProblemResult
from bulkhead.results.share import ShareResult


@with_config(CLOSED)
class PoolResult(TypedDict):
    """Memory of the hypervisor."""

    pa: int
    """Physical address."""
    bytes: int
    """Size."""
    colors: list[int] | None
    """Colors of the last-level cache that it has; null: it has all."""


@with_config(CLOSED)
class SegmentResult(TypedDict):
    """A piece of a domain's memory."""

    ipa: int
    """Address in the domain."""
    bytes: int
    """Size."""
    pa: int
    """Physical address of its first byte."""
    colors: list[int] | None
    """Colors of its frames; null: all."""


@with_config(CLOSED)
class PlannedDomainResult(TypedDict):
    """A domain with nothing left open."""

    name: str
    """Name in the system file."""
    cpus: list[int]
    """Cores that it runs on."""
    unconfined_devices: list[str]
    """Its devices whose DMA no hardware confines."""
    device_rates: list[DeviceRateResult]
    """Memory bandwidth of its devices that master memory."""
    colors: list[int] | None
    """Colors of the last-level cache that it has; null: it has all."""
    premap: bool
    """All its memory is mapped before it starts."""
    maps: int
    """Pieces of contiguous physical memory."""
    fragmented_bytes: int
    """Memory that coloring loses at the ends of its regions."""
    broker_reach_bytes: int
    """Bytes of its memory that the broker reaches: its `socket_pool`, else all if it has a socket device."""
    segments: list[SegmentResult]
    """Its memory."""


@with_config(CLOSED)
class PartitionResult(TypedDict):
    """PARTIDs of one owner."""

    owner: str
    """`hypervisor`, or a domain."""
    partid: int
    """First PARTID."""
    count: int
    """Number of PARTIDs."""
    pmg: int
    """Monitoring group."""


@with_config(CLOSED)
class MpamSettingsResult(TypedDict):
    """Settings of a PARTID at one resource instance. Null or false: not asked for. Shares are fractions."""

    component: str
    """Name of the component in the platform file."""
    ris: int
    """Resource instance."""
    partid: int
    """The PARTID."""
    cache_portions: int | None
    """Bitmap of cache portions; portion n is bit n."""
    cmax: str | None
    """Most of the cache."""
    cmax_soft: bool
    """That limit may be exceeded while others do not use the cache."""
    cmin: str | None
    """Least of the cache."""
    associativity: str | None
    """Most of the ways."""
    mbw_min: str | None
    """Least bandwidth."""
    mbw_max: str | None
    """Most bandwidth."""
    mbw_max_hard: bool
    """That limit holds even while others do not use the bandwidth."""
    bandwidth_portions: int | None
    """Bitmap of bandwidth portions."""
    stride: int | None
    """Stride of proportional bandwidth."""
    internal_priority: int | None
    """Priority within the component; a larger one is more urgent."""
    downstream_priority: int | None
    """Priority of its requests to other components."""
    window_us: int | None
    """Window in which bandwidth is regulated."""


@with_config(CLOSED)
class MpamPlanResult(TypedDict):
    """What EL2 is told to program."""

    partitions: list[PartitionResult]
    """PARTIDs of all owners."""
    settings: list[MpamSettingsResult]
    """Settings by component, instance and PARTID."""


@with_config(CLOSED)
class ChoiceResult(TypedDict):
    """A key that the system file leaves open."""

    key: str
    """The key."""
    value: str
    """What was decided."""
    reason: str
    """Why."""


@with_config(CLOSED)
class NotPlannedResult(Envelope):
    """There is no plan."""

    errors: list[ProblemResult]
    """The problems of the system file."""
    notices: list[ProblemResult]
    """What it asks for and this version, or this platform, does not do."""


@with_config(CLOSED)
class PlanResult(Envelope):
    """The system with nothing left open."""

    errors: list[ProblemResult]
    """Empty."""
    notices: list[ProblemResult]
    """What the system file asks for and this version, or this platform, does not do."""
    color_bits: list[int]
    """Address bits that make the color."""
    granule_bytes: int
    """Bytes in sequence that have one color."""
    pool: PoolResult
    """Memory of the hypervisor."""
    domains: list[PlannedDomainResult]
    """The domains."""
    flows: FlowPlanResult | None
    """Analysis of the flows of the only broker, or of the first; null if there are none."""
    further_brokers: list[FlowPlanResult]
    """The same of each further broker."""
    shares: list[ShareResult]
    """Shares of cache and bandwidth."""
    mpam: MpamPlanResult | None
    """Plan of MPAM; null if it is not used."""
    choices: list[ChoiceResult]
    """What was open."""
