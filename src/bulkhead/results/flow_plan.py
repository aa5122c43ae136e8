# SPDX-License-Identifier: Apache-2.0
"""The analysis of a system's flows: the same object in the results of `flows check`, `check` and `plan`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED

# `from` is a word of Python, so a class cannot declare it.
Sender = TypedDict("Sender", {"from": Annotated[str, Field(description="Domain that sends.")]})


@with_config(CLOSED)
class RateRegisterResult(TypedDict):
    """Setting of the regulator in front of the DMA engine."""

    value: int
    """Value that is written to its register."""
    bytes_per_s: float
    """Rate that this value gives."""


@with_config(CLOSED)
class BrokerResult(TypedDict):
    """The broker, and its costs as the analysis uses them."""

    name: str
    """Name of its domain."""
    cpu: int | None
    """Core that it runs on; null if no core is free."""
    engine: str
    """What copies packets: `cpu-copy` or a DMA engine."""
    chunk: int
    """Largest size of one transfer, in bytes."""
    rate_bytes_per_s: int
    """Rate at which it copies packets."""
    rate_auto: bool
    """The system file leaves the rate open."""
    register: RateRegisterResult | None
    """Setting of the regulator; null if there is none."""
    senders: int
    """Number of domains with a socket, which the broker polls."""
    flow_model: str
    """Path of packets whose costs are used: `single-thread` or `published`."""
    transfer_half_ns: int
    """Fixed cost of a transfer, in half nanoseconds."""
    transfer_bytes: int
    """Bytes of a transfer."""
    lead_half_ns: int
    """Time before any other work, in half nanoseconds."""
    lead_bytes: int
    """Bytes that are copied before any other work."""


@with_config(CLOSED)
class PlannedFlowResult(Sender):
    """One direction of a flow, as planned."""

    name: str
    """Name in the system file."""
    to: str
    """Domain that receives."""
    size: int
    """Largest payload of a packet, in bytes."""
    period_ns: int
    """Shortest time between two packets."""
    deadline_ns: int
    """Longest time from a packet's release to the receiver's interrupt."""
    transfers: int
    """Number of transfers of a packet."""
    slack_ns: float
    """By how much the deadline can be shorter with all else as it is."""
    slack_exact: bool
    """The slack is exact; else it is at least this."""


@with_config(CLOSED)
class FlowTaskResult(TypedDict):
    """A task of the transformed set. Times are in half nanoseconds."""

    flow: str
    """Flow that it belongs to."""
    kind: str
    """Packets of the task: `data`, `control of the sender` or `control of the receiver`."""
    sender: str
    """Domain that sends the packet."""
    period: int
    """Shortest time between two packets, in the share of time that the broker has for the task."""
    first: int
    """Deadline of a packet that is sent at time 0."""
    fixed: int
    """Fixed cost of a packet."""
    bytes: int
    """Bytes that are copied."""
    last_fixed: int
    """Fixed cost of the last transfer."""
    last_bytes: int
    """Bytes of the last transfer."""


@with_config(CLOSED)
class MemoryPartResult(TypedDict):
    """The memory's use by one owner."""

    name: str
    """The owner."""
    bytes_per_s: float
    """Its rate, in each direction."""
    utilization: float
    """Its share of the memory's time; 1 is all of it."""


@with_config(CLOSED)
class MemoryUseResult(TypedDict):
    """The memory's use by all brokers and by all domains with a budget."""

    utilization: float
    """Of the memory by all owners together; 1 is full."""
    largest_rate_bytes_per_s: int
    """Rate that the other owners leave to the broker."""
    limited_by: str
    """What limits that rate: `utilization` or `table`."""
    table_from: str | None
    """Remark about the platform's table if it was not measured on a board."""
    unbounded: list[str]
    """Domains without a budget, and devices without a rate."""
    parts: list[MemoryPartResult]
    """Each owner's part."""


@with_config(CLOSED)
class ChainBoundResult(TypedDict):
    """The parts of a chain's bound."""

    client_ns: int
    """Longest time of the client's core."""
    client_others_ns: int
    """Longest time of the client's core for its other chains meanwhile."""
    client_stalls_ns: int
    """Longest time for which the client is stopped by its budget."""
    request_ns: int
    """Bound of the request's flow."""
    queue_ns: int
    """Requests of other chains that the server serves before."""
    server_stalls_ns: int
    """Longest time for which the server is stopped by its budget."""
    service_ns: int
    """Longest time of the server and its device for the request itself."""
    answer_ns: int
    """Bound of the answer's flow."""


@with_config(CLOSED)
class PlannedChainResult(TypedDict):
    """A request to a server with its answer, as planned."""

    name: str
    """Name in the system file."""
    client: str
    """Domain that sends requests."""
    server: str
    """Domain that answers."""
    request: str
    """Flow of the requests."""
    answer: str
    """Flow of the answers."""
    deadline_ns: int
    """Longest time from sending a request to the arrival of the answer."""
    bound_ns: int
    """Longest time that the analysis guarantees: the sum of the parts."""
    parts: ChainBoundResult
    """The parts."""


@with_config(CLOSED)
class FlowPlanResult(TypedDict):
    """The flows of a broker that are schedulable, with the tasks that were tested."""

    broker: BrokerResult
    """The broker."""
    flows: list[PlannedFlowResult]
    """Each direction of each flow between its domains."""
    chains: list[PlannedChainResult]
    """Requests to servers with their answers."""
    transfers: str
    """How the number of transfers of a packet is known, in words."""
    tasks_half_ns: list[FlowTaskResult]
    """The tasks, so that anyone can test them again."""
    points: int
    """Points in time at which the demand was tested."""
    memory: MemoryUseResult | None
    """Use of the memory; null if the platform has no table for it."""
    remarks: list[str]
    """Assumptions of the verdict, in words."""
