# SPDX-License-Identifier: Apache-2.0
"""State of a run: the file live.json of its directory, which `top` reads, and what `top` prints of it.

Rates are means of a window: of the time since the state was last written, or of the whole run when it has
ended.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope

RunState = Literal["running", "ended", "killed"]


@with_config(CLOSED)
class LiveMonitoredResult(TypedDict):
    """What MPAM's monitors of one resource say of a domain."""

    resource: str
    """Name of the resource in the platform file."""
    kind: str
    """`storage` or `bandwidth`."""
    bytes: int
    """Bytes that are held, or that were moved."""
    most_bytes: NotRequired[int]
    """Most bytes that were held at a time."""
    flags: list[str]
    """What makes the value doubtful: overflow, not ready."""
    per_s: NotRequired[float | None]
    """Bytes that were moved in a second; null: the window is not known."""


@with_config(CLOSED)
class LiveDomainResult(TypedDict):
    """What a domain does. Keys from `event` on: it has a budget, or its events are counted."""

    domain: str
    """Name in the system file."""
    state: str
    """`running`, `stopped`, `crashed` …; `ran` after the run."""
    cores: list[int]
    """Cores of its VCPUs."""
    exits_per_s: float | None
    """Entries into EL2 in a second; null on a core that VCPUs share."""
    event: NotRequired[str | None]
    """Event that is counted."""
    budget: NotRequired[int | None]
    """Events in each period; null: they are only counted."""
    period_ns: NotRequired[int]
    """Length of a period."""
    events_per_period: NotRequired[float | None]
    """Mean events of a period; null: no period has ended."""
    mb_per_s: NotRequired[float | None]
    """Rate in MB/s, if the event is of bytes."""
    throttled: NotRequired[float | None]
    """Share of the time for which it was stopped; null: no period has ended."""
    changes: NotRequired[int]
    """How often a manager changed the budget."""
    mpam: NotRequired[list[LiveMonitoredResult]]
    """What MPAM's monitors say, on a platform that has them."""


@with_config(CLOSED)
class LiveVcpuResult(TypedDict):
    """A VCPU that shares its core."""

    domain: str
    """Its domain."""
    vcpu: int
    """Number within its domain."""
    state: str
    """`running`, `ready`, `blocked` …"""
    priority: int
    """Priority; 0 is the most urgent."""
    share: float | None
    """Share of the core's time; null: the window is not known."""
    reserved: float | None
    """Share that is reserved for it; null: none."""
    releases: int
    """Events that made it the most urgent one of its core."""
    release_max_ns: int | None
    """Longest delay from such an event to its first instruction, in the whole run."""


@with_config(CLOSED)
class LiveCoreResult(TypedDict):
    """A core that VCPUs of several domains share."""

    core: int
    """Its number."""
    scheduler: str
    """How it is shared."""
    release_bound_ns: int | None
    """Bound of release delays; null: there is none."""
    runnable: int
    """VCPUs that run or wait for the core."""
    switches_per_s: float | None
    """Switches from one VCPU to another in a second."""
    vcpus: list[LiveVcpuResult]
    """Its VCPUs."""


@with_config(CLOSED)
class LiveFlowResult(TypedDict):
    """One direction of a flow."""

    flow: str
    """Name in the system file."""
    state: str
    """State of its connection."""
    packets_per_s: float | None
    """Packets that were delivered in a second."""
    bytes_per_s: float | None
    """Payload that was delivered in a second."""
    latency_max_ns: int | None
    """Longest latency of the whole run; null: no packet was delivered."""
    deadline_ns: int
    """Its deadline."""
    misses: int
    """Packets that were later than the deadline, in the whole run."""


# `global` is a word of Python, so a class cannot declare it.
_Global = TypedDict("_Global", {"global": Annotated[int, Field(description="Global budget, in events.")]})


@with_config(CLOSED)
class LiveRegulationResult(_Global):
    """The regulator."""

    load: float
    """Mean utilization of the memory, 0 to 1."""
    changes: int
    """Steps that changed budgets, in the whole run."""
    devices: dict[str, int]
    """Budget of each regulated device, in events."""


@with_config(CLOSED)
class LiveKeys(TypedDict):
    """Keys of the file and of the result alike."""

    ended: bool
    """The run has ended."""
    guest_s: float | None
    """Guest time from the run's start to the window's end."""
    window_s: float | None
    """Length of the window; null: not known."""
    window_clock: str
    """Clock of that length: `guest` or `host`."""
    domains: list[LiveDomainResult]
    """The domains."""
    cores: list[LiveCoreResult]
    """Cores that VCPUs share."""
    flows: list[LiveFlowResult]
    """Flows between domains."""
    mpam_errors: dict[str, int]
    """Errors that MPAM's components reported, by kind."""
    regulation: LiveRegulationResult | None
    """The regulator; null if none runs."""


@with_config(CLOSED)
class LiveState(LiveKeys):
    """The file live.json."""

    system: str
    """Name of the system."""
    on: str
    """Where it runs: `qemu` or `machine`."""


@with_config(CLOSED)
class LiveSeen(LiveState):
    """The file, and whether its run still runs."""

    state: RunState


@with_config(CLOSED)
class TopResult(Envelope, LiveKeys):
    """What a run's domains, cores and flows do."""

    state: RunState
    """`running`, `ended`, or `killed`: its process ended without a result."""
