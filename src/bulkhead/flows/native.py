# SPDX-License-Identifier: Apache-2.0
"""core/'s analysis of flows, compiled: builds the module when it is out of date, and loads it.

It needs core/ and nothing else of the host build, so that this takes seconds, once. Times of sets and
outcomes are in half nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from bulkhead.env.compiled import compiled_path, core_modules, load_compiled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.uint64]

MODULE = "_flows"

# Packet bytes, period and deadline (ns), transfers (0: by chunk), sender.
Declared = tuple[int, int, int, int, int]
Task = tuple[int, int, int, int, int, int, bool]  # struct flow_task of core/flow.h


class FlowOutcome(Protocol):
    """How a test or a search ended (core/flow_test.h)."""

    verdict: str  # schedulable, overloaded, late, undecided, impossible; goes-on: of too few points
    bytes_per_s: int
    at: int
    demand: int
    points: int


class FlowSet(Protocol):
    """A set of flows that was transformed: of a single-threaded broker, costs of tasks, transfers and the
    lead are in time that is left beside parsing. What is out of range is a ValueError."""

    dma_fixed: int  # O_dma
    chunk_bytes: int  # S_c
    lead: tuple[int, int]  # what comes first at any time: half ns, and bytes

    def tasks(self) -> list[Task]:
        """The transformed set, in the order of what was declared."""

    def check(self, bytes_per_s: int, points: int = ...) -> FlowOutcome:
        """The test at a bandwidth; with `points` it may end before a verdict."""

    def smallest_bandwidth(self) -> FlowOutcome:
        """The smallest `bytes_per_s` at which the test says schedulable."""

    def slack(self, bytes_per_s: int, members: Sequence[int]) -> tuple[int, bool]:
        """By how much the deadlines of these tasks can be shorter; False: at least by so much."""


class Analysis(Protocol):
    """The module (bindings/flows/module.cpp)."""

    MAX_FLOWS: int
    MAX_DOMAINS: int
    MAX_NS: int
    MAX_BYTES: int
    MAX_BYTES_PER_S: int
    MAX_WAITING: int  # packets of a domain
    CONTROL_BYTES: int  # of a packet without payload
    LEAST_ROOM: int  # of the shortest receive buffer, for payload
    Refused: type[ValueError]  # with a text, a code and the number of the flow as arguments

    def FlowSet(  # noqa: N802
        self, flows: Sequence[Declared], costs: Mapping[str, int], senders: int, chunk_bytes: int
    ) -> FlowSet:
        """Transform what was declared, with the costs of FlowCosts.analyzed and this many queues."""

    def with_control(self, data: Declared, receiver: int, other_way_ns: int) -> list[Declared]:
        """One direction of a flow and its reserved control packets, in the order of model.KINDS; the third
        only where the other direction has no payload, which `other_way_ns`, else its period, says with 0."""

    def most_transfers(self, packet_bytes: int, chunk_bytes: int, run_bytes: int) -> int:
        """Of a packet whose buffers nobody describes (core/flow_transfers.h)."""

    def test_batch(
        self,
        packet_bytes: Column,
        period_ns: Column,
        deadline_ns: Column,
        sender: Column,
        *,
        costs: Mapping[str, int],
        senders: int,
        chunk_bytes: int,
        bytes_per_s: int,
    ) -> dict[str, NDArray[Any]]:
        """Sets in rows, a flow in each column: `schedulable`, `undecided` and `analysis_ns` of each set."""


@cache
def analysis() -> Analysis:
    """Raises BuildFailed, or MissingTool where it cannot be built."""
    core_modules()
    path = compiled_path("bindings/flows", MODULE)
    return cast("Analysis", load_compiled(path, MODULE, "the compiled analysis of flows", "was not built"))
