# SPDX-License-Identifier: Apache-2.0
"""Sections of a platform file about flows: the cost of each part of a packet's path (F5), and how DMA engine
and cores' budgets share the DRAM (F3).

platform.py holds these sections; planning/flows.py and planning/memory_budget.py use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from bulkhead.config.base import Text
from bulkhead.config.quantity import (
    TIME_UNITS,
    Bytes,
    BytesPerS,
    Nanoseconds,
    Share,
    problem,
    quantity_schema,
    whole,
)
from bulkhead.config.timing import MARKS, Section, Sourced

MAX_COST_NS = 1 << 24  # the same as in core/flow.h, like the next
SHARE_ONE = 1 << 16  # units of shares of the broker's time
MOST_POINTS, MOST_ROWS = 16, 64  # sizes of EL2's tables: schema/manifest.yaml

# The path of packets, which determines its parts: queues with locks, as F5 was published, or a broker that
# does everything in one thread. In the order of `enum flow_model` of core/flow.h.
FlowPath = Literal["published", "single-thread"]
PATHS: tuple[FlowPath, ...] = ("published", "single-thread")

PLAIN, ISOLATED = "flow_costs", "flow_costs_isolated"  # keys of a platform file with costs of the path

CostNs = Annotated[
    int,
    BeforeValidator(whole(TIME_UNITS, "940 ns", "ns", 0, MAX_COST_NS)),
    quantity_schema("940 ns", TIME_UNITS),
]


class CostPart(Section):
    """Cost of one part of the path. The analysis uses `max`; for parts of a send that vary, also `min`."""

    min: CostNs | None = None
    avg: CostNs | None = None
    max: CostNs
    median: CostNs | None = None

    @model_validator(mode="after")
    def _ordered(self) -> CostPart:
        low = self.min if self.min is not None else 0
        for name in ("avg", "median"):
            value = getattr(self, name)
            if value is not None and not low <= value <= self.max:
                raise problem("conflict", f"{name} is not between min and max")
        if low > self.max:
            raise problem("conflict", "min is above max")
        return self


@dataclass(frozen=True)
class InterruptCosts:
    """EL2's own interrupts on the path (core/flow.h): the longest at each domain that has any, and on the
    broker's core the most at once, in ns, and the share of its time, in 1/65536. A platform file has what one
    interrupt takes; a system says how many there are (planning/el2_interrupts.py)."""

    ends: Mapping[str, int] = field(default_factory=dict)
    broker_burst: int = 0
    broker_share: int = 0


class FlowCosts(Sourced):
    """Costs of all parts of a packet's path through the broker, as listed in F5. The parts of queues with
    locks may be left out if the broker has no locks."""

    assumed: Text | None = None  # costs not measured on this platform: where they come from, for reports
    hypervisor_call: CostPart  # HC: entry into EL2 and exit
    transport: CostPart  # PT
    parse: CostPart  # PP
    queue_lock: CostPart | None = None  # QL
    queue_insert: CostPart | None = None  # QI: insert into a queue
    find_place: CostPart | None = None  # QA, for each packet in the queue
    queue_remove: CostPart | None = None  # QR
    find_earliest: CostPart  # PS, for each domain
    program_dma: CostPart  # PD
    finalize: CostPart  # FT, with the IPI
    dma_interrupt: CostPart  # IP
    notify: CostPart  # BR: IPI and interrupt at the receiver
    # Of a sleeping broker, from the insertion of a packet until it looks at its queues; not in F5's table.
    wake: CostPart = CostPart.model_validate(dict.fromkeys(("min", "avg", "max", "median"), "0 ns"))
    wake_by_interrupt: CostPart | None = None  # the same if it waits for an interrupt, not an event
    # Between two transfers that the core copies itself, without a call. None: as `dma_interrupt`.
    between_copies: CostPart | None = None
    # EL2's own interrupts, which come between the other parts: one of a core with a budget (end of a period,
    # message of the regulator, overflow), and one of the console core. None: not measured.
    budget_interrupt: CostPart | None = None
    console_interrupt: CostPart | None = None
    # Highest rate at which the core's copies were measured; above it a copy may take longer. None: any rate.
    copied_rate: BytesPerS | None = None
    _path: FlowPath = PrivateAttr("published")  # `flow_model` of the platform's file
    _copied_bytes: int = PrivateAttr(0)  # `copied_bytes`
    _interrupts: InterruptCosts = PrivateAttr(InterruptCosts())  # of a system

    @property
    def path(self) -> FlowPath:
        """Which of the two analyses these costs are for."""
        return self._path

    @property
    def copied_bytes(self) -> int:
        """Packets of flows with at most this size are copied by the broker's core, others by an engine. 0:
        all packets are copied the same way."""
        return self._copied_bytes

    def copies(self, size: int) -> bool:
        """Whether the broker's core, and not an engine, copies packets of a flow with this `size` in
        bytes."""
        return size <= self.copied_bytes

    def on_path(self, path: FlowPath) -> FlowCosts:
        """A copy of these costs for the analysis of `path`. Raises a validation error if a part is
        missing."""
        if path == "published":
            missing = [name for name in LOCKED if getattr(self, name) is None]
            if missing:
                cause = f"lacks {', '.join(missing)}, which a path of queues with locks needs"
                raise problem("missing-key", cause, "these parts, or `flow_model: single-thread`")
        found = self.model_copy()
        found._path = path
        return found

    def parts(self) -> dict[str, CostPart]:
        """The parts that have a cost, by name."""
        named = {name: getattr(self, name) for name in (*part_names(), *OF_BROKERS, *OF_EL2)}
        return {name: part for name, part in named.items() if part is not None}

    def of_broker(
        self, *, by_event: bool, copies: bool, copied_bytes: int = 0, samples: bool = False
    ) -> FlowCosts:
        """The costs for a broker that is woken by event or by interrupt (`by_event`), and that copies
        everything itself (`copies`, with `copied_bytes` 0) or has an engine copy what is longer than
        `copied_bytes`. `samples`: it records each packet."""
        changes: dict[str, CostPart] = {}
        if not by_event and self.wake_by_interrupt is not None:
            changes["wake"] = self.wake_by_interrupt
        if copies and self.between_copies is not None:
            # F5 adds a hypervisor call to each transfer. Copies of the core have none, so it is subtracted
            # here.
            most = max(0, self.between_copies.max - self.hypervisor_call.max)
            changes["dma_interrupt"] = CostPart.model_validate({"max": f"{most} ns"})
        if samples:
            changes["finalize"] = self.finalize.model_copy(update={"max": self.finalize.max + RECORD_MAX_NS})
        found = self.model_copy(update=changes)
        found._copied_bytes = copied_bytes
        return found

    @property
    def interrupts(self) -> InterruptCosts:
        """EL2's own interrupts in the system that these costs are for."""
        return self._interrupts

    def beside(self, interrupts: InterruptCosts) -> FlowCosts:
        """A copy for a system with these interrupts of EL2."""
        found = self.model_copy()
        found._interrupts = interrupts
        return found

    def analyzed(self) -> dict[str, int]:
        """The costs in ns under the names of core's analysis (struct flow_costs). An unknown minimum is 0,
        which is on the safe side."""
        parts = self.parts()
        found = {f"{name}_max": parts[name].max if name in parts else 0 for name in part_names()}
        for name in _VARYING:
            found[f"{name}_min"] = getattr(self, name).min or 0
        found |= {"copy_max": self._copy_max(), "copied_bytes": self.copied_bytes}
        found |= {
            "end_interrupts_max": max(self.interrupts.ends.values(), default=0),
            "broker_interrupts_burst": self.interrupts.broker_burst,
            "broker_interrupts_share": self.interrupts.broker_share,
        }
        if self.path == "single-thread":
            found |= dict.fromkeys((f"{name}_max" for name in LOCKED), 0)
        return found | {"model": PATHS.index(self.path)}

    def _copy_max(self) -> int:
        """Cost of a transfer that the core copies where an engine copies others, besides PD and FT, in ns."""
        if self.copied_bytes == 0:
            return 0
        if self.between_copies is None:
            return self.hypervisor_call.max + self.dma_interrupt.max
        return self.between_copies.max


class CostLimits(Section):
    """What a system must keep so that its costs are at most those measured: planning/flow_costs.py."""

    domains: Annotated[int, Field(ge=1, le=1 << 10)]  # with a socket, at most
    flows: Annotated[int, Field(ge=1, le=1 << 10)]  # at most, each direction and receiver counted
    memory: Bytes  # of all domains together, at most: walks of their stage-2 tables use EL2's color


class IsolatedFlowCosts(FlowCosts):
    """Costs of the path where colors keep the lines of EL2 and the broker in the last-level cache apart from
    those of all domains. Beside writers without budgets: budgets make little difference then."""

    within: CostLimits


# The record of a packet in the broker's ring: some 60 instructions, and two lines of the ring that may come
# from DRAM. On the simulated machine it takes 50 ns on average (docs/design/flows.md, Record of packets).
RECORD_MAX_NS = 1000
LOCKED = (
    "queue_lock",
    "queue_insert",
    "find_place",
    "queue_remove",
)  # of queues that senders share with the broker
OF_BROKERS = ("wake_by_interrupt", "between_copies")  # parts that replace another part for some brokers
OF_EL2 = ("budget_interrupt", "console_interrupt")  # between the parts, on cores with such work
_COPIED = ("copy_max", "copied_bytes")  # for a core that copies in addition to an engine
_INTERRUPTS = ("end_interrupts_max", "broker_interrupts_burst", "broker_interrupts_share")
_VARYING = ("hypervisor_call", "transport")  # parts whose minimum is used, too


def part_names() -> tuple[str, ...]:
    """Names of the parts that every broker has, in the order of the file."""
    others = (*MARKS, *OF_BROKERS, *OF_EL2, "copied_rate")
    return tuple(name for name in FlowCosts.model_fields if name not in others)


def no_costs() -> dict[str, int]:
    """Costs of a platform without `flow_costs`: all 0, under the names of `analyzed`."""
    largest = [f"{name}_max" for name in part_names()]
    return dict.fromkeys(
        [*largest, *(f"{name}_min" for name in _VARYING), *_COPIED, *_INTERRUPTS, "model"], 0
    )


class CurvePoint(Section):
    """Largest DRAM utilization that a core causes which moves `rate` in each direction."""

    rate: BytesPerS
    utilization: Share


class EngineRate(Section):
    """Rate that the DMA engine reaches alone with chunks of this size, in each direction: utilization 100
    %."""

    chunk: Bytes
    rate: BytesPerS


class MeasuredRate(Section):
    """The largest DMA rate beside which cores still get their refills: at most `cores` cores with at most
    `refills` refills each, in the shortest period.

    Measurements showed that with equal sums fewer cores tolerate less. A row therefore also applies to any
    number of cores that have no more than `refills` together: even one core with all of them would tolerate
    the rate.
    """

    cores: Annotated[int, Field(ge=1, le=1 << 10)] | None = None  # at most this many; None: any number
    refills: Annotated[int, Field(ge=1, le=1 << 31)]
    rate: BytesPerS


class MemoryBudget(Section):
    """F3: limits on what cores and DMA cause together."""

    shortest_period: Nanoseconds  # shortest period in which a budget works
    smallest_budget: Annotated[int, Field(ge=1, le=1 << 31)]  # refills in a period
    # U_c: linear between the points, from (0, 0); beyond the last point the last line is continued.
    cores: tuple[CurvePoint, ...] = Field(min_length=1, max_length=MOST_POINTS)
    dma: tuple[EngineRate, ...] = Field(min_length=1)  # U_b
    table: tuple[MeasuredRate, ...] = Field((), max_length=MOST_ROWS)  # used where parts do not simply add up

    @model_validator(mode="after")
    def _rising(self) -> MemoryBudget:
        orders: list[tuple[str, str, list[tuple[int, ...]]]] = [
            ("cores", "rate", [(row.rate,) for row in self.cores]),
            ("dma", "chunk", [(row.chunk,) for row in self.dma]),
            ("table", "cores and refills", [(row.cores or 0, row.refills) for row in self.table]),
        ]
        for name, key, values in orders:
            if values != sorted(set(values)):
                raise problem("conflict", f"the rows of {name} are not in the order of their {key}")
        uses = [row.utilization for row in self.cores]
        if uses != sorted(uses):
            raise problem(
                "conflict",
                "utilization decreases from one row to the next although the rate of cores increases",
            )
        return self

    def engine_rate(self, chunk_bytes: int) -> Fraction:
        """Rate that the engine reaches alone, in bytes per s, taken from the largest measured chunk that is
        not larger than `chunk_bytes`. A chunk smaller than the first measured one is assumed to take as long
        as that one."""
        fitting = [row for row in self.dma if row.chunk <= chunk_bytes]
        if fitting:
            return Fraction(fitting[-1].rate)
        return Fraction(self.dma[0].rate * chunk_bytes, self.dma[0].chunk)
