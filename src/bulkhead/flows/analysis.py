# SPDX-License-Identifier: Apache-2.0
"""Analyzes a set of flows at a bandwidth: whether it is schedulable, its slack, or where it fails and which
change would help (F4, F6).

core/ decides the verdicts; this module puts them into words. All rounding is to the safe side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import count, islice

from bulkhead.config.flow_costs import FlowCosts
from bulkhead.flows.model import FlowModel, blocking_at, lead_time, packets_until, task_time
from bulkhead.flows.native import FlowOutcome, FlowSet, Task
from bulkhead.flows.native import analysis as library
from bulkhead.units import time_text

EARLY_POINTS = 4000  # the first failing point is searched among these: it is the easiest to understand
POINTS_OF_A_TRY = 1 << 13  # while a change is searched: a value that needs more points is not proposed
POINTS_OF_CHANGES = 1 << 17  # after so many points no further changes are searched
AT_MOST_RATE = " (at 1.1 TB/s; longer at less)"  # added to changes that were found at MAX_BYTES_PER_S
FARTHEST = 64  # largest change that is proposed: multiple of the longer of a flow's deadline and period


@dataclass(frozen=True)
class AskedFlow:
    """The broker's time that the packets of one flow need until a point."""

    flow: str
    packets: int  # packets with payload
    controls: int
    ns: float

    def text(self) -> str:
        data = f"{self.packets} packet{'s' if self.packets != 1 else ''}" if self.packets else ""
        control = f"{self.controls} of control" if self.controls else ""
        return " and ".join(part for part in (data, control) if part)


@dataclass(frozen=True)
class Violation:
    """Packets due within `at_ns`, if all flows send at once, need `demand_ns` of the broker's time."""

    at_ns: float  # on the broker's clock, without the parts of the path before and after
    demand_ns: float
    asked: tuple[AskedFlow, ...]
    blocked_by: str | None  # flow whose transfer was in progress
    blocking_ns: float
    parsing_ns: float = 0  # for what all domains may have the broker parse at once, and EL2's interrupts
    interrupted: bool = False  # EL2 has own interrupts on the broker's core

    @property
    def first_text(self) -> str:
        """What comes before all packets."""
        interrupts = ", and for EL2's own interrupts" if self.interrupted else ""
        return f"parsing the packets that all domains can send at once{interrupts}"

    def text(self) -> str:
        """The violation as a sentence."""
        parts = [f"{one.flow} {time_text(one.ns)} for {one.text()}" for one in self.asked]
        if self.blocked_by is not None:
            parts.append(
                f"{self.blocked_by} {time_text(self.blocking_ns)} for a transfer that has already begun"
            )
        if self.parsing_ns:
            parts.append(f"{time_text(self.parsing_ns)} for {self.first_text}")
        return (
            f"if all flows send at once, packets with deadlines within {time_text(self.at_ns)} need "
            f"{time_text(self.demand_ns)} of the broker's time ({', '.join(parts)})"
        )


@dataclass(frozen=True)
class FlowChange:
    """A single value to change, with the nearest value that makes the set schedulable."""

    keys: tuple[str, ...]  # "rate" of the broker; "deadline", "period" of a flow, or both with one value
    flow: int | None  # number of the flow
    name: str | None
    now: int
    needed: int

    def text(self) -> str:
        if self.flow is None:
            return f"rate: {self.needed} B/s ({self.needed / 1e6:.2f} MB/s)"
        return f"{' and '.join(self.keys)} of {self.name}: {self.needed} ns ({time_text(self.needed)})"


@dataclass(frozen=True)
class CheckedFlows:
    """Result of the analysis of one set at one bandwidth."""

    bytes_per_s: int
    verdict: str  # as in core/flow_test.h
    points: int
    slack_ns: tuple[float, ...] = ()  # by flow, if schedulable
    slack_exact: tuple[bool, ...] = ()  # False: at least this (near a load of 1 the exact one takes too long)
    violation: Violation | None = None

    @property
    def schedulable(self) -> bool:
        return self.verdict == "schedulable"


def check(model: FlowModel, bytes_per_s: int, made: FlowSet | None = None) -> CheckedFlows:
    """Test a set. Raises ValueError if it cannot be transformed."""
    flow_set = made or model.make()
    outcome = flow_set.check(bytes_per_s)
    if outcome.verdict == "schedulable":
        found = [flow_set.slack(bytes_per_s, model.of_flow(n)) for n in range(len(model.ways))]
        slack, exact = tuple(half_ns / 2 for half_ns, _ in found), tuple(all_of_it for _, all_of_it in found)
        return CheckedFlows(bytes_per_s, outcome.verdict, outcome.points, slack, exact)
    violation = _violation(model, flow_set, outcome) if outcome.verdict == "late" else None
    return CheckedFlows(bytes_per_s, outcome.verdict, outcome.points, violation=violation)


def schedulable(model: FlowModel, bytes_per_s: int) -> bool:
    """Whether the set is schedulable; False if it cannot be transformed."""
    try:
        return model.make().check(bytes_per_s).verdict == "schedulable"
    except library().Refused:
        return False


def smallest_bandwidth(model: FlowModel) -> int | None:
    """The smallest bandwidth that `check` finds schedulable; None: there is none."""
    outcome = model.make().smallest_bandwidth()
    return outcome.bytes_per_s if outcome.verdict == "schedulable" else None


def load(model: FlowModel, bytes_per_s: int) -> float:
    """U' of the set, for reports: share of the time that parsing leaves."""
    return sum(_quotient(*task_time(task, bytes_per_s)) / task[0] for task in model.make().tasks())


def changes(model: FlowModel, bytes_per_s: int) -> list[FlowChange]:
    """Changes of a single value that make the set schedulable: first the bandwidth, then others from small to
    large. If there are none, changes of a flow's period and deadline together."""
    found = []
    try:
        needed = smallest_bandwidth(model)
    except library().Refused:
        needed = None
    if needed is not None and needed > bytes_per_s:
        found.append(FlowChange(("rate",), None, None, bytes_per_s, needed))
    return (
        found + _of_flows(model, bytes_per_s, (("deadline",), ("period",)))
        or _of_flows(model, bytes_per_s, (("period", "deadline"),))
    )  # fmt: skip


def _of_flows(model: FlowModel, bytes_per_s: int, choices: tuple[tuple[str, ...], ...]) -> list[FlowChange]:
    found = []
    spent = 0
    declared = {flow.key: number for number, flow in reversed(list(enumerate(model.ways)))}
    for number in sorted(declared.values()):
        flow = model.ways[number]
        for keys in choices:
            now = max(getattr(flow, key) for key in keys)

            def fits(value: int, number: int = number, keys: tuple[str, ...] = keys) -> bool:
                nonlocal spent
                outcome = tried(model.with_flow(number, **dict.fromkeys(keys, value)), bytes_per_s)
                spent += outcome.points if outcome is not None else 0
                return outcome is not None and outcome.verdict == "schedulable"

            if spent < POINTS_OF_CHANGES:
                most = min(max(flow.period, flow.deadline) * FARTHEST, library().MAX_NS)
                value = smallest_above(now, most, fits)
                if value is not None:
                    found.append(FlowChange(keys, number, flow.declared, now, value))
    return sorted(found, key=lambda one: one.needed / one.now)


def tried(model: FlowModel, bytes_per_s: int) -> FlowOutcome | None:
    """A test of limited duration; None: the set cannot be transformed."""
    try:
        return model.make().check(bytes_per_s, POINTS_OF_A_TRY)
    except library().Refused:
        return None


def smallest_period(
    costs: FlowCosts, size: int, bytes_per_s: int, *, chunk_bytes: int = 4096, senders: int = 1
) -> int | None:
    """The smallest period in ns of a single flow whose deadline is its period; None: there is none. Raises
    ValueError for values that no flow may have."""
    core = library()

    def fits(period: int) -> bool:
        try:
            made = core.FlowSet(((size, period, period, 0, 0),), costs.analyzed(), senders, chunk_bytes)
        except core.Refused as refused:
            if refused.args[1] not in ("deadline-short", "period-short"):
                raise
            return False
        return made.check(bytes_per_s).verdict == "schedulable"

    return smallest_above(0, core.MAX_NS, fits)


def smallest_above(low: int, most: int, fits: Callable[[int], bool]) -> int | None:
    """The smallest value above `low`, up to `most`, with `fits(value)`, if all larger values fit, too; None:
    there is none."""
    high = max(low, 1)
    while not fits(high):
        if high >= most:
            return None
        low, high = high, min(high * 2, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _violation(model: FlowModel, flow_set: FlowSet, outcome: FlowOutcome) -> Violation:
    tasks, b = flow_set.tasks(), outcome.bytes_per_s
    at = outcome.at
    for early in islice(_points(tasks), EARLY_POINTS):
        if early >= at:
            break
        if _demand(flow_set, tasks, early, b) > early * b:
            at = early
            break
    asked = []
    for number, flow in enumerate(model.ways):
        own = model.of_flow(number)
        packets = [packets_until(tasks[task], at) for task in own]
        need = sum(_quotient(*task_time(tasks[t], b, n)) for t, n in zip(own, packets, strict=True))
        if any(packets):
            asked.append(AskedFlow(flow.name, packets[0], sum(packets[1:]), need / 2))
    blocking, blocker = blocking_at(flow_set, tasks, at, b)
    return Violation(
        at_ns=at / 2,
        demand_ns=_demand(flow_set, tasks, at, b) / b / 2,
        asked=tuple(asked),
        blocked_by=model.ways[model.members[blocker].flow].name if blocker >= 0 else None,
        blocking_ns=blocking / b / 2,
        parsing_ns=lead_time(flow_set, b) / b / 2,
        interrupted=model.costs.interrupts.broker_burst != 0,
    )


def _points(tasks: list[Task]) -> Iterator[int]:
    """The points T of the test, in increasing order."""
    return merge(*(count(task[1], task[0]) for task in tasks))


def _demand(made: FlowSet, tasks: list[Task], at: int, b: int) -> int:
    """The demand (lead(b) + Q(t, b) + sum DBF_i(t, b)) b."""
    total = sum(task_time(task, b, packets_until(task, at))[0] for task in tasks)
    return lead_time(made, b) + total + blocking_at(made, tasks, at, b)[0]


def _quotient(numerator: int, denominator: int) -> float:
    return numerator / denominator
