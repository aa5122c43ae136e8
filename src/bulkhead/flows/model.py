# SPDX-License-Identifier: Apache-2.0
"""The flows of a system as the analysis takes them, each with its reserved control packets.

Connect, credit, reset and shutdown are packets, too: for these, every flow reserves one transfer of a header
per period and direction (F2), with the flow's own deadline. A flow therefore becomes three tasks: its data,
its sender's control packets, its receiver's. A flow with a way back becomes four: data and control packets of
each direction (core/flow.h).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from bulkhead.config.flow_costs import FlowCosts
from bulkhead.config.system import Flow
from bulkhead.config.ways import Way, ways_of
from bulkhead.flows.native import Declared, FlowSet, Task, analysis
from bulkhead.units import size_text

HALF_NS_PER_S = 2 * 10**9

KINDS = ("data", "control of the sender", "control of the receiver")


@dataclass(frozen=True)
class FlowMember:
    """One task of the analysis."""

    flow: int  # number of its direction
    kind: str  # one of KINDS
    sender: str


@dataclass(frozen=True)
class FlowModel:
    """All flows through one broker."""

    flows: tuple[Flow, ...]
    costs: FlowCosts
    chunk_bytes: int
    sockets: tuple[str, ...] = ()  # domains with a socket, also those without a flow
    run_bytes: int = 0  # size of pieces in which memory is contiguous for the engine; 0: all of it

    @property
    def domains(self) -> tuple[str, ...]:
        """Domains with a socket: each has a queue, which the broker polls."""
        ends = (name for flow in self.flows for name in (flow.from_, *flow.receivers))
        return tuple(dict.fromkeys([*ends, *self.sockets]))

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """The flows by direction; ways back follow all flows."""
        return ways_of(self.flows)

    @property
    def members(self) -> tuple[FlowMember, ...]:
        """The tasks in the order of `make`."""
        return tuple(
            FlowMember(number, kind, way.to if kind == KINDS[2] else way.from_)
            for number, way in enumerate(self.ways)
            for kind in (KINDS if way.other is None else KINDS[:2])
        )

    def of_flow(self, number: int) -> list[int]:
        """Numbers of the tasks of a direction."""
        return [task for task, member in enumerate(self.members) if member.flow == number]

    def declared(self) -> list[Declared]:
        """The flows in core's form, each with its control packets."""
        queue = {name: number for number, name in enumerate(self.domains)}
        found: list[Declared] = []
        for number, way in enumerate(self.ways):
            transfers = way.transfers or (self.transfers_of(number) if self._expects_most else 0)
            data = (way.size, way.period, way.deadline, transfers, queue[way.from_])
            other_ns = 0 if way.other is None else self.ways[way.other].period
            found += analysis().with_control(data, queue[way.to], other_ns)
        return found

    def make(self) -> FlowSet:
        """The transformed set. Raises ValueError; its subclass Refused of the module if one flow is the
        cause."""
        costs = self.costs.analyzed()
        ends = self.costs.interrupts.ends
        of_ways = [ends.get(way.from_, 0) + ends.get(way.to, 0) for way in self.ways]
        ends_ns = [of_ways[member.flow] for member in self.members]
        return analysis().FlowSet(self.declared(), costs, len(self.domains), self.chunk_bytes, ends_ns)

    def with_flow(self, number: int, **changes: int) -> FlowModel:
        """A copy with other values for one direction, and for all receivers of a multicast flow."""
        way = self.ways[number]
        flows = list(self.flows)
        flow = flows[way.number]
        if way.answers and flow.back is not None:
            changed: dict[str, object] = {"back": flow.back.model_copy(update=changes)}
        else:
            changed = dict(changes)
        flows[way.number] = flow.model_copy(update=changed)
        return replace(self, flows=tuple(flows))

    @property
    def _expects_most(self) -> bool:
        """Whether the largest possible number of transfers is assumed if a flow states none; else one for
        each chunk."""
        return self.costs.path == "single-thread"

    def transfers_of(self, number: int) -> int:
        """n_i: number of transfers of a direction's packet."""
        flow = self.ways[number]
        if flow.transfers is not None:
            return flow.transfers
        if self._expects_most:
            run_bytes = 0 if self.costs.copies(flow.size) else self.run_bytes
            return analysis().most_transfers(flow.size, self.chunk_bytes, run_bytes)
        return -(-flow.size // self.chunk_bytes)

    @property
    def transfers_from(self) -> str:
        """Text about the values of n_i that were used."""
        given = sum(way.transfers is not None for way in self.ways)
        plain = "by chunk (contiguous buffers, RX buffers of a chunk or more)"
        if self._expects_most:
            pieces = f", memory in pieces of {size_text(self.run_bytes)}" if self.run_bytes else ""
            plain = f"the largest possible number (RX buffers for {analysis().LEAST_ROOM} B{pieces})"
        if given == 0:
            return plain
        return "from the file" if given == len(self.ways) else f"from the file for {given}, else {plain}"


def task_time(task: Task, bytes_per_s: int, packets: int = 1) -> tuple[int, int]:
    """C' of this many packets in half ns, as numerator and denominator b."""
    return packets * (task[2] * bytes_per_s + task[3] * HALF_NS_PER_S), bytes_per_s


def packets_until(task: Task, at: int) -> int:
    """eta(t): number of packets that are due until `at`."""
    return 1 + (at - task[1]) // task[0] if at >= task[1] else 0


def blocking_at(made: FlowSet, tasks: Sequence[Task], at: int, bytes_per_s: int) -> tuple[int, int]:
    """Q(t, b) b of the set's tasks, and the task whose transfer blocks; (0, -1): none."""
    longest = (0, -1)
    chunk = made.dma_fixed * bytes_per_s + made.chunk_bytes * HALF_NS_PER_S
    for number, task in enumerate(tasks):
        if task[1] > at:
            last = task[4] * bytes_per_s + task[5] * HALF_NS_PER_S
            own = max(last, chunk) if task[6] else last
            longest = max(longest, (own, number), key=lambda one: one[0])
    return longest


def lead_time(made: FlowSet, bytes_per_s: int) -> int:
    """lead(b) b: time for what domains may have the broker parse at once."""
    fixed, nbytes = made.lead
    return fixed * bytes_per_s + nbytes * HALF_NS_PER_S
