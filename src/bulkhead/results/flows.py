# SPDX-License-Identifier: Apache-2.0
"""Results of `flows check`, `flows min-bandwidth`, `flows min-period` and `flows sweep`."""

from __future__ import annotations

from typing import Literal

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope
from bulkhead.results.flow_plan import FlowPlanResult
from bulkhead.results.problem import ProblemResult


@with_config(CLOSED)
class FlowProblemsResult(Envelope):
    """The system file has problems, or no flows: nothing was analyzed."""

    errors: list[ProblemResult]
    """The problems."""


@with_config(CLOSED)
class NotSchedulableResult(Envelope):
    """The flows are not schedulable."""

    errors: list[ProblemResult]
    """The reasons, by key of the system file, with what would help."""
    schedulable: Literal[False]
    """Whether the flows are schedulable."""


@with_config(CLOSED)
class FlowsCheckResult(Envelope, FlowPlanResult):
    """The flows are schedulable: those of the only broker, or of the first and of all further ones."""

    errors: list[ProblemResult]
    """Empty."""
    schedulable: Literal[True]
    """Whether the flows are schedulable."""
    further_brokers: list[FlowPlanResult]
    """Analysis of the flows of each further broker."""


@with_config(CLOSED)
class MinBandwidthResult(Envelope):
    """The smallest bandwidth of each broker with which its flows are schedulable."""

    errors: list[ProblemResult]
    """The reasons why no bandwidth is enough; else empty."""
    bytes_per_s: int | None
    """The bandwidth of the only broker, or of the first; null if none is enough."""
    mb_per_s: float | None
    """The same in MB/s."""
    brokers: dict[str, int | None]
    """The bandwidth of each broker in bytes/s, by the broker's name; null if none is enough."""


@with_config(CLOSED)
class MinPeriodResult(Envelope):
    """The smallest period of one flow alone whose deadline is its period."""

    period_ns: int
    """The period."""
    size: int
    """Bytes of a packet."""
    bytes_per_s: int
    """Bandwidth of the broker."""
    chunk: int
    """Largest size of one transfer, in bytes."""
    senders: int
    """Number of domains that send."""
    transfers: int
    """Number of transfers of a packet."""
    flow_model: str
    """Path of packets whose costs were used: `single-thread` or `published`."""
    costs_assumed: str | None
    """Why the costs are assumptions; null: they were measured."""


@with_config(CLOSED)
class AnalysisTimeResult(TypedDict):
    """Processor time of the analysis of a set, in microseconds, over many sets."""

    median: float
    """The median."""
    mean: float
    """The mean."""
    p95: float
    """95 % of the sets take at most this."""
    max: float
    """The longest."""


@with_config(CLOSED)
class SweepPointResult(TypedDict):
    """All sets of one utilization."""

    utilization: float
    """Utilization of the broker."""
    sets: int
    """Number of sets."""
    schedulable: int
    """Sets that are schedulable."""
    undecided: int
    """Sets whose analysis ended without a verdict; they count as not schedulable."""
    ratio: float
    """Share of schedulable sets."""
    ratio_low: float
    """Lower end of the share's 95 % interval."""
    ratio_high: float
    """Upper end of the share's 95 % interval."""
    analysis_us: AnalysisTimeResult
    """Duration of the analysis of a set."""


@with_config(CLOSED)
class FlowsSweepResult(Envelope):
    """Which share of random sets of flows is schedulable, by utilization."""

    domains: int
    """Number of domains, from which senders are drawn."""
    flows: int
    """Number of flows in each set."""
    size: int
    """Bytes of a packet."""
    bytes_per_s: int
    """Bandwidth of the broker."""
    chunk: int
    """Largest size of one transfer, in bytes."""
    sets: int
    """Number of sets for each utilization."""
    flow_model: str
    """Path of packets whose costs were used: `single-thread` or `published`."""
    costs_assumed: str | None
    """Why the costs are assumptions; null: they were measured."""
    analysis_us: AnalysisTimeResult
    """Duration of the analysis of a set, over all points."""
    rows: list[SweepPointResult]
    """A row for each utilization."""
    files: list[str]
    """Files with the table and the plot."""
