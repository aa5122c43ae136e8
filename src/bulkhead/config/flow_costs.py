# SPDX-License-Identifier: Apache-2.0
"""What a platform file says of flows: what each part of a packet's path costs (F5), and what the DMA
engine and the cores' budgets make of the DRAM (F3).

platform.py puts these sections in their places; planning/flows.py and planning/memory_budget.py use them.
"""

from __future__ import annotations

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

MAX_COST_NS = 1 << 24  # core/flow.h
MOST_POINTS, MOST_ROWS = 16, 64  # of what EL2 is told: schema/manifest.yaml

# How packets go, and so which parts there are: with locks, as F5 was published, or through a broker that does
# all of it in one thread. In the order of `enum flow_model` of core/flow.h.
FlowPath = Literal["published", "single-thread"]
PATHS: tuple[FlowPath, ...] = ("published", "single-thread")

CostNs = Annotated[
    int, BeforeValidator(whole(TIME_UNITS, "940 ns", "ns", 0, MAX_COST_NS)), quantity_schema("940 ns")
]


class CostPart(Section):
    """One part of the path. The analysis needs the largest, and the smallest where sends vary."""

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


class FlowCosts(Sourced):
    """Every part of the path of a packet through the broker, by the table of F5. Those of queues with locks
    may be left out where the broker has none."""

    assumed: Text | None = None  # these are not measured on this platform: where they were, for every report
    hypervisor_call: CostPart  # HC: entry and exit
    transport: CostPart  # PT
    parse: CostPart  # PP
    queue_lock: CostPart | None = None  # QL
    queue_insert: CostPart | None = None  # QI
    find_place: CostPart | None = None  # QA, for each packet in the queue
    queue_remove: CostPart | None = None  # QR
    find_earliest: CostPart  # PS, for each domain
    program_dma: CostPart  # PD
    finalize: CostPart  # FT, with the IPI
    dma_interrupt: CostPart  # IP
    notify: CostPart  # BR: IPI and interrupt at the receiver
    # Of a broker that slept, from a packet's insertion to the look at the queues; not in F5's table.
    wake: CostPart = CostPart.model_validate(dict.fromkeys(("min", "avg", "max", "median"), "0 ns"))
    wake_by_interrupt: CostPart | None = None  # the same of one that waits for an interrupt, not for an event
    # What is between two transfers of a core that copies, which calls nobody for one. None: `dma_interrupt`.
    between_copies: CostPart | None = None
    # The highest rate at which copies of a core were measured; beyond it one may take longer. None: any rate.
    copied_rate: BytesPerS | None = None
    _path: FlowPath = PrivateAttr("published")  # `flow_model` of the platform's file
    _copied_bytes: int = PrivateAttr(0)  # `copied_bytes`

    @property
    def path(self) -> FlowPath:
        """Which of the two analyses these are for."""
        return self._path

    @property
    def copied_bytes(self) -> int:
        """Flows that declare at most so much are copied by the broker's core, others by an engine; 0: all go
        the same way."""
        return self._copied_bytes

    def copies(self, size: int) -> bool:
        """Whether the broker's core copies packets of a flow with this `size`, in the place of an engine."""
        return size <= self.copied_bytes

    def on_path(self, path: FlowPath) -> FlowCosts:
        """The same for an analysis. Raises the error of a file that lacks a part."""
        if path == "published":
            missing = [name for name in LOCKED if getattr(self, name) is None]
            if missing:
                cause = f"has no {', '.join(missing)}, and packets go through queues with locks"
                raise problem("missing-key", cause, "these parts, or `flow_model: single-thread`")
        found = self.model_copy()
        found._path = path
        return found

    def parts(self) -> dict[str, CostPart]:
        """Those that there are."""
        named = {name: getattr(self, name) for name in (*part_names(), *OF_BROKERS)}
        return {name: part for name, part in named.items() if part is not None}

    def of_broker(self, *, by_event: bool, copies: bool, copied_bytes: int = 0) -> FlowCosts:
        """Those of a system whose broker is woken so, and copies all itself (`copied_bytes` is 0 then), or
        has an engine copy what is longer than `copied_bytes`."""
        changes: dict[str, CostPart] = {}
        if not by_event and self.wake_by_interrupt is not None:
            changes["wake"] = self.wake_by_interrupt
        if copies and self.between_copies is not None:
            # A transfer counts a call beside it (F5), and there is none.
            most = max(0, self.between_copies.max - self.hypervisor_call.max)
            changes["dma_interrupt"] = CostPart.model_validate({"max": f"{most} ns"})
        found = self.model_copy(update=changes)
        found._copied_bytes = copied_bytes
        return found

    def analyzed(self) -> dict[str, int]:
        """What core/'s analysis takes, by its names (struct flow_costs). A smallest one that is not known
        is 0, which is on the safe side."""
        parts = self.parts()
        found = {f"{name}_max": parts[name].max if name in parts else 0 for name in part_names()}
        for name in _VARYING:
            found[f"{name}_min"] = getattr(self, name).min or 0
        found |= {"copy_max": self._copy_max(), "copied_bytes": self.copied_bytes}
        if self.path == "single-thread":
            found |= dict.fromkeys((f"{name}_max" for name in LOCKED), 0)
        return found | {"model": PATHS.index(self.path)}

    def _copy_max(self) -> int:
        """Beside PD and FT, of a transfer that the core makes where an engine makes others."""
        if self.copied_bytes == 0:
            return 0
        if self.between_copies is None:
            return self.hypervisor_call.max + self.dma_interrupt.max
        return self.between_copies.max


LOCKED = (
    "queue_lock",
    "queue_insert",
    "find_place",
    "queue_remove",
)  # of queues that senders share with the broker
OF_BROKERS = ("wake_by_interrupt", "between_copies")  # parts that take another one's place with some brokers
_COPIED = ("copy_max", "copied_bytes")  # of a core that copies beside an engine
_VARYING = ("hypervisor_call", "transport")  # parts whose smallest matters


def part_names() -> tuple[str, ...]:
    """Of all brokers' parts, in the file's order."""
    others = (*MARKS, *OF_BROKERS, "copied_rate")
    return tuple(name for name in FlowCosts.model_fields if name not in others)


def no_costs() -> dict[str, int]:
    """As `analyzed` has them, of a platform that says nothing."""
    largest = [f"{name}_max" for name in part_names()]
    return dict.fromkeys([*largest, *(f"{name}_min" for name in _VARYING), *_COPIED, "model"], 0)


class CurvePoint(Section):
    """DRAM utilization in the worst case, by a core that moves `rate` in each direction."""

    rate: BytesPerS
    utilization: Share


class EngineRate(Section):
    """What the DMA engine moves alone, in each direction, in chunks of this size: its whole utilization."""

    chunk: Bytes
    rate: BytesPerS


class MeasuredRate(Section):
    """The largest DMA rate beside which cores keep their refills: at most `cores` of them, and at most
    `refills` each in the shortest period.

    Of equal sums, fewer cores were measured to bear less. So a row is good, too, for any number of cores that
    ask for no more than `refills` together: one core with all of them would bear the rate.
    """

    cores: Annotated[int, Field(ge=1, le=1 << 10)] | None = None  # at most; None: any number
    refills: Annotated[int, Field(ge=1, le=1 << 31)]
    rate: BytesPerS


class MemoryBudget(Section):
    """F3: what cores and DMA cause together must fit."""

    shortest_period: Nanoseconds  # of a budget that works
    smallest_budget: Annotated[int, Field(ge=1, le=1 << 31)]  # refills of a period
    # U_c, with straight lines between, from nothing; beyond the last point its line goes on.
    cores: tuple[CurvePoint, ...] = Field(min_length=1, max_length=MOST_POINTS)
    dma: tuple[EngineRate, ...] = Field(min_length=1)  # U_b
    table: tuple[MeasuredRate, ...] = Field((), max_length=MOST_ROWS)  # where contributions do not add up

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
            raise problem("conflict", "the utilization falls where the rate of cores rises")
        return self

    def engine_rate(self, chunk_bytes: int) -> Fraction:
        """What the engine moves alone: by the largest chunk of the curve that is not larger. Below the
        first, a chunk is assumed to take as long as that one."""
        fitting = [row for row in self.dma if row.chunk <= chunk_bytes]
        if fitting:
            return Fraction(fitting[-1].rate)
        return Fraction(self.dma[0].rate * chunk_bytes, self.dma[0].chunk)
