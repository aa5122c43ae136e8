# SPDX-License-Identifier: Apache-2.0
"""What is said of a set of flows at a bandwidth: is it schedulable, how much is left, or where it fails and
which change would help (F4, F6).

The verdicts are core/'s; here they are asked for and put in words. Nothing here rounds in the user's favour.
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

EARLY_POINTS = 4000  # among them the first point that fails is looked for: it is the easiest to understand
POINTS_OF_A_TRY = 1 << 13  # while a change is looked for: a value that needs more is not proposed
POINTS_OF_CHANGES = 1 << 17  # then no more changes are looked for
AT_MOST_RATE = " (at 1.1 TB/s; longer at less)"  # said of changes that were found at MAX_BYTES_PER_S
FARTHEST = 64  # times the longer of a flow's deadline and period: no change beyond is proposed


@dataclass(frozen=True)
class AskedFlow:
    """What the packets of one flow need until a point."""

    flow: str
    packets: int  # of data
    controls: int
    ns: float

    def text(self) -> str:
        data = f"{self.packets} packet{'s' if self.packets != 1 else ''}" if self.packets else ""
        control = f"{self.controls} of control" if self.controls else ""
        return " and ".join(part for part in (data, control) if part)


@dataclass(frozen=True)
class Violation:
    """Packets that are due until `at_ns` after they were sent all at once need `demand_ns` of the broker."""

    at_ns: float  # on the broker's clock: without what the path takes before and after it
    demand_ns: float
    asked: tuple[AskedFlow, ...]
    blocked_by: str | None  # the flow of which a transfer was under way
    blocking_ns: float
    parsing_ns: float = 0  # what domains may make the broker parse at once

    def text(self) -> str:
        """In words."""
        parts = [f"{one.flow} {time_text(one.ns)} for {one.text()}" for one in self.asked]
        if self.blocked_by is not None:
            parts.append(f"{self.blocked_by} {time_text(self.blocking_ns)} for a transfer that is under way")
        if self.parsing_ns:
            parts.append(f"{time_text(self.parsing_ns)} for what all domains may have it parse at once")
        return (
            f"if all flows send at once, packets that are due within {time_text(self.at_ns)} of the broker's "
            f"time need {time_text(self.demand_ns)} of it ({', '.join(parts)})"
        )


@dataclass(frozen=True)
class FlowChange:
    """One value that, changed alone, makes the set schedulable, and the nearest that does."""

    keys: tuple[str, ...]  # "rate" of the broker; "deadline", "period" of a flow, or both with the same value
    flow: int | None  # its number
    name: str | None
    now: int
    needed: int

    def text(self) -> str:
        if self.flow is None:
            return f"rate: {self.needed} B/s ({self.needed / 1e6:.2f} MB/s)"
        return f"{' and '.join(self.keys)} of {self.name}: {self.needed} ns ({time_text(self.needed)})"


@dataclass(frozen=True)
class CheckedFlows:
    """One set at one bandwidth."""

    bytes_per_s: int
    verdict: str  # of core/flow_test.h
    points: int
    slack_ns: tuple[float, ...] = ()  # by flow, where it is schedulable
    slack_exact: tuple[bool, ...] = ()  # else it is at least that: near a load of 1 it takes too long to say
    violation: Violation | None = None

    @property
    def schedulable(self) -> bool:
        return self.verdict == "schedulable"


def check(model: FlowModel, bytes_per_s: int, made: FlowSet | None = None) -> CheckedFlows:
    """Test a set. Raises ValueError for one that cannot be transformed."""
    flow_set = made or model.make()
    outcome = flow_set.check(bytes_per_s)
    if outcome.verdict == "schedulable":
        found = [flow_set.slack(bytes_per_s, model.of_flow(n)) for n in range(len(model.ways))]
        slack, exact = tuple(half_ns / 2 for half_ns, _ in found), tuple(all_of_it for _, all_of_it in found)
        return CheckedFlows(bytes_per_s, outcome.verdict, outcome.points, slack, exact)
    violation = _violation(model, flow_set, outcome) if outcome.verdict == "late" else None
    return CheckedFlows(bytes_per_s, outcome.verdict, outcome.points, violation=violation)


def schedulable(model: FlowModel, bytes_per_s: int) -> bool:
    """Only that; a set that cannot be transformed is not."""
    try:
        return model.make().check(bytes_per_s).verdict == "schedulable"
    except library().Refused:
        return False


def smallest_bandwidth(model: FlowModel) -> int | None:
    """The smallest bandwidth that `check` finds schedulable; None: there is none."""
    outcome = model.make().smallest_bandwidth()
    return outcome.bytes_per_s if outcome.verdict == "schedulable" else None


def load(model: FlowModel, bytes_per_s: int) -> float:
    """U' of the set, for reports: of the time that is left beside parsing."""
    return sum(_quotient(*task_time(task, bytes_per_s)) / task[0] for task in model.make().tasks())


def changes(model: FlowModel, bytes_per_s: int) -> list[FlowChange]:
    """Single changes after which the set is schedulable, the bandwidth first, then from small to large; where
    there is none, a flow's period and deadline together."""
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
    for number, flow in enumerate(model.ways):
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
                    found.append(FlowChange(keys, number, flow.name, now, value))
    return sorted(found, key=lambda one: one.needed / one.now)


def tried(model: FlowModel, bytes_per_s: int) -> FlowOutcome | None:
    """A test that does not take long; None: the set cannot be transformed."""
    try:
        return model.make().check(bytes_per_s, POINTS_OF_A_TRY)
    except library().Refused:
        return None


def smallest_period(
    costs: FlowCosts, size: int, bytes_per_s: int, *, chunk_bytes: int = 4096, senders: int = 1
) -> int | None:
    """The smallest period of one flow alone whose deadline is its period, in whole ns; None: there is none.

    Raises ValueError for what no flow may have.
    """
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
    """The smallest value above `low`, up to `most`, for which `fits`, if it stays so above."""
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
    )


def _points(tasks: list[Task]) -> Iterator[int]:
    """T, in increasing order."""
    return merge(*(count(task[1], task[0]) for task in tasks))


def _demand(made: FlowSet, tasks: list[Task], at: int, b: int) -> int:
    """(lead(b) + Q(t, b) + sum DBF_i(t, b)) b."""
    total = sum(task_time(task, b, packets_until(task, at))[0] for task in tasks)
    return lead_time(made, b) + total + blocking_at(made, tasks, at, b)[0]


def _quotient(numerator: int, denominator: int) -> float:
    return numerator / denominator
