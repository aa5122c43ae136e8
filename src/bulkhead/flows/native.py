# SPDX-License-Identifier: Apache-2.0
"""Core's analysis of flows, compiled: builds the module when it is out of date, and loads it.

The module needs only core/ from the host build, so building it takes seconds, once. Times of sets and
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
    """Result of a test or of a search (core/flow_test.h)."""

    verdict: str  # schedulable, overloaded, late, undecided, impossible; goes-on: too few points
    bytes_per_s: int
    at: int
    demand: int
    points: int


class FlowSet(Protocol):
    """A transformed set of flows. For a single-threaded broker, costs of tasks, transfers and the lead are in
    time that parsing leaves. Values out of range raise ValueError."""

    dma_fixed: int  # O_dma
    chunk_bytes: int  # S_c
    lead: tuple[int, int]  # time before any other work: half ns, and bytes

    def tasks(self) -> list[Task]:
        """The tasks of the transformed set, in the order of the declarations."""

    def check(self, bytes_per_s: int, points: int = ...) -> FlowOutcome:
        """Tests the set at a bandwidth; limited to `points`, it may end without a verdict."""

    def smallest_bandwidth(self) -> FlowOutcome:
        """Searches the smallest `bytes_per_s` that is schedulable."""

    def slack(self, bytes_per_s: int, members: Sequence[int]) -> tuple[int, bool]:
        """By how much the deadlines of these tasks can be shortened, and whether that is exact (False: at
        least so much)."""


class Analysis(Protocol):
    """The module (bindings/flows/module.cpp)."""

    MAX_FLOWS: int
    MAX_DOMAINS: int
    MAX_NS: int
    MAX_BYTES: int
    MAX_BYTES_PER_S: int
    MAX_WAITING: int  # packets of a domain in its queue
    CONTROL_BYTES: int  # bytes of a packet without payload
    LEAST_ROOM: int  # payload bytes of the shortest receive buffer
    Refused: type[ValueError]  # its arguments: text, code, number of the flow

    def FlowSet(  # noqa: N802
        self,
        flows: Sequence[Declared],
        costs: Mapping[str, int],
        senders: int,
        chunk_bytes: int,
        ends_ns: Sequence[int] = (),
    ) -> FlowSet:
        """Transforms the declared flows, with the costs of FlowCosts.analyzed and this many queues.
        `ends_ns`: the longest that EL2's own interrupts delay the ends of each flow; empty: they do not."""

    def with_control(self, data: Declared, receiver: int, other_way_ns: int) -> list[Declared]:
        """One direction of a flow and its reserved control packets, in the order of model.KINDS.
        `other_way_ns`: period of the other direction if that has payload, else 0; only with 0 there is a
        third task."""

    def most_transfers(self, packet_bytes: int, chunk_bytes: int, run_bytes: int) -> int:
        """Most transfers of a packet into buffers of unknown size (core/flow_transfers.h)."""

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
        """Tests sets in rows, with a flow in each column: `schedulable`, `undecided` and `analysis_ns` of
        each set."""


@cache
def analysis() -> Analysis:
    """The compiled module. Raises BuildFailed, or MissingTool if it cannot be built."""
    core_modules()
    path = compiled_path("bindings/flows", MODULE)
    return cast("Analysis", load_compiled(path, MODULE, "the compiled analysis of flows", "was not built"))
