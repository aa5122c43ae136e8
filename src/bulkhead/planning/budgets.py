# SPDX-License-Identifier: Apache-2.0
"""A domain's bandwidth budget in counted events of one period.

Event counters of each core enforce a budget, so bytes per second become events per period. The simulated
machine counts the platform's own events; an emulator without memory events counts a stand-in. Dynamic
regulators change budgets: see regulation.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bulkhead.config.platform import AccessEvent, EventName, Platform
from bulkhead.config.shares import Bandwidth

NS_PER_S = 10**9
MOST_EVENTS = (1 << 40) - 1  # in a period: core/event_pool.h
DRAWS = 8  # draws of each VCPU from a shared budget in a period; an unused rest of a chunk is lost
TWO_BUDGETS = ("each", "accesses")  # one counter for each budget: these cannot be shared or reclaimed
# Slack of a sum is at most this part of what a VCPU has at a time, also in core/manifest_budgets.c. That
# needs at most seven interrupts in a period; more would save few, and admission counts budgets alone.
SLACK_PART = 32

# Numbers of common events (DDI 0487, D13.12) that stand for memory traffic, and of instructions.
EVENT_NUMBERS: dict[EventName, int] = {
    "INST_RETIRED": 0x08,
    "MEM_ACCESS": 0x13,
    "L2D_CACHE": 0x16,
    "L2D_CACHE_REFILL": 0x17,
    "L2D_CACHE_WB": 0x18,
    "BUS_ACCESS": 0x19,
    "L3D_CACHE_REFILL": 0x2A,
    "L3D_CACHE_WB": 0x2C,
    "EXT_MEM_REQ_NC": 0xC1,  # implementation defined: Cortex-A53 TRM (DDI 0500)
}


@dataclass(frozen=True)
class CountedEvent:
    """The events that budgets count where a system runs."""

    name: str
    number: int
    bytes: int | None  # bytes moved by an event; None: unknown, so budgets must be given in events
    backup_events: int = 0  # events until a second counter overflows; 0: there is none
    writeback_name: str | None = None  # None: write-backs are not counted
    writeback_number: int = 0
    access_name: str | None = None  # None: accesses past the caches are not counted
    access_number: int = 0
    access_bytes: int = 0  # most bytes that the memory moves for one access
    access_counts_lines: bool = False  # it also counts lines that caches fetch and write back
    stands_in: bool = False  # an event of the emulator's, beside which nothing is written back

    def counted_as(self, counts: str) -> str:
        """Names of the events that a budget of this kind counts, for messages."""
        if counts == "accesses" and self.access_name is not None:
            return f"{self.name} and {self.access_name}"
        if counts == "refills" or self.writeback_name is None:
            return self.name
        joined = {"each": " and ", "sum": " + "}
        return self.name + joined[counts] + self.writeback_name if counts in joined else self.writeback_name


@dataclass(frozen=True)
class Budget:
    events: int | None  # None: events are counted, without a limit
    period_ns: int
    chunk_events: int  # taken in one draw from the shared budget; 0: each VCPU has its own budget
    counts: str = "refills"  # writebacks, each, sum, accesses
    second_events: int = 0  # for `each` and `accesses`; `events` is then for refills
    slack_events: int = 0  # for `sum`
    reclaim: bool = False  # gives away what it does not need, and draws what others gave
    regulated: bool = False  # the initial budget of each core; the regulator changes it

    @property
    def shared(self) -> bool:
        return self.chunk_events != 0 and not self.reclaim


def counted_event(platform: Platform, *, emulated: bool) -> CountedEvent | None:
    """The events that budgets count: a stand-in on the emulator, memory events on boards and the simulated
    machine. None: nothing is counted there."""
    pmu = platform.pmu
    if pmu is None or not pmu.interrupts:
        return None
    if not emulated:
        event, back = pmu.traffic_event, pmu.writeback_event
        if event is None:
            return None
        found = CountedEvent(event.name, EVENT_NUMBERS[event.name], event.bytes)
        if back is not None:
            number = EVENT_NUMBERS[back.name]
            found = replace(found, writeback_name=back.name, writeback_number=number)
        return _with_accesses(found, pmu.access_event)
    stand_in = platform.emulator.event if platform.emulator is not None else None
    if stand_in is None:
        return None
    number = EVENT_NUMBERS[stand_in.name]
    return CountedEvent(stand_in.name, number, stand_in.bytes, stand_in.backup, stands_in=True)


def _with_accesses(found: CountedEvent, access: AccessEvent | None) -> CountedEvent:
    if access is None:
        return found
    return replace(
        found,
        access_name=access.name,
        access_number=EVENT_NUMBERS[access.name],
        access_bytes=access.bytes,
        access_counts_lines=access.counts_lines,
    )


def counts_of(bandwidth: Bandwidth, event: CountedEvent) -> str | None:
    """ "refills", "writebacks", "each", "sum" or "accesses"; None: the requested events cannot be counted."""
    if bandwidth.accesses is not None:
        return "accesses" if event.access_name is not None else None
    if bandwidth.counts == "auto":
        if bandwidth.apart:
            return "each" if event.writeback_name is not None else None
        return "sum" if event.writeback_name is not None else "refills"
    return bandwidth.counts if event.writeback_name is not None or bandwidth.counts == "refills" else None


def counters_of(budget: Budget) -> int:
    """Event counters of each of its cores that the hypervisor needs: one for each event that it counts."""
    return 2 if budget.counts in (*TWO_BUDGETS, "sum") else 1


def events_of_rate(bytes_per_s: int, period_ns: int, event: CountedEvent) -> int:
    """Events in a period of `period_ns` at this rate, rounded down."""
    assert event.bytes is not None
    return events_in(bytes_per_s, period_ns, event.bytes)


def events_in(bytes_per_s: int, period_ns: int, event_bytes: int, *, lines: int = 1) -> int:
    """Events in a period of `period_ns` at this rate, rounded down. For traffic of the memory, `lines` is
    lines_per_event(); for a rate of counted events it is 1."""
    return bytes_per_s * period_ns // (NS_PER_S * event_bytes * lines)


def lines_per_event(counts: Iterable[str], *, access_counts_lines: bool = False) -> int:
    """Most lines that the memory moves for a counted event of any of these kinds of budget: 2 if one of them
    counts refills without write-backs, since each refill can write a dirty line back."""
    uncounted = any(one == "refills" or (one == "accesses" and not access_counts_lines) for one in counts)
    return 2 if uncounted else 1


def most_slack(events: int) -> int:
    """The most slack of a sum for a VCPU that has so many events at a time; a slack of 1 is exact."""
    return max(1, events // SLACK_PART)


def slack_of(bandwidth: Bandwidth, counts: str, events: int) -> int:
    if counts != "sum":
        return 0
    return bandwidth.slack if bandwidth.slack is not None else most_slack(events)


def budget_of(
    bandwidth: Bandwidth, vcpus: int, event: CountedEvent | None, *, reclaim: bool = False
) -> Budget | None:
    """The budget in events. None: the domain has no budget, or one that cannot be counted there."""
    if bandwidth.unlimited or event is None:
        return None
    if event.bytes is None and bandwidth.instructions is not None:
        return _stand_in(bandwidth, vcpus, bandwidth.instructions)
    counts = counts_of(bandwidth, event)
    in_events = bandwidth.events if bandwidth.events is not None else bandwidth.read_events
    if counts is None or (event.bytes is None and in_events is None):
        return None
    second = bandwidth.accesses or bandwidth.write_events or 0
    if in_events is not None:
        events = in_events
    else:
        rate = bandwidth.budget if bandwidth.read is None else bandwidth.read
        assert rate is not None
        events = events_of_rate(rate, bandwidth.period, event)
        second = bandwidth.accesses or events_of_rate(bandwidth.write or 0, bandwidth.period, event)
    alone = counts in TWO_BUDGETS
    shared = bandwidth.per == "domain" and vcpus > 1 and not alone
    reclaim = reclaim and not shared and not alone
    draws = DRAWS * (vcpus if shared else 1)
    chunk = max(1, events // draws) if (shared or reclaim) and events else 0
    slack = slack_of(bandwidth, counts, chunk if shared else events)
    return Budget(events, bandwidth.period, chunk, counts, second, slack, reclaim)


def _stand_in(bandwidth: Bandwidth, vcpus: int, instructions: int) -> Budget:
    """The budget of a system that gives `instructions`, where instructions are counted."""
    shared = bandwidth.per == "domain" and vcpus > 1
    chunk = max(1, instructions // (DRAWS * vcpus)) if shared else 0
    return Budget(instructions, bandwidth.period, chunk)
