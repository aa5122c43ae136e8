# SPDX-License-Identifier: Apache-2.0
"""The definitions of F4 and F5 in fractions, and the broker's schedule itself, for comparison with core/.

Written from the specification alone. It is not fast, and shares nothing with the code that it checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from random import Random

NS_PER_S = 10**9

# Published costs, in ns: smallest and largest of each part (F5).
PARTS = {
    "HC": (939, 949),
    "PT": (111, 757),
    "PP": (181, 1161),
    "QL": (71, 142),
    "QI": (50, 101),
    "QA": (24, 30),
    "QR": (20, 40),
    "PS": (20, 71),
    "PD": (373, 949),
    "FT": (2222, 2646),
    "IP": (797, 828),
    "BR": (1370, 1460),
}


@dataclass(frozen=True)
class Declared:
    """C, P, D of a flow and its sender."""

    size: int
    period: int
    deadline: int
    sender: int


@dataclass(frozen=True)
class Task:
    """A transformed flow, in ns."""

    period: Fraction
    first: Fraction  # D' - J'
    transfers: int
    size: int
    packet: Fraction  # Opkt
    dma: Fraction  # O_dma
    chunk: int

    @property
    def last(self) -> int:
        return self.size - (self.transfers - 1) * self.chunk

    def cost(self, b: int) -> Fraction:
        return self.transfers * self.dma + Fraction(self.size * NS_PER_S, b) + self.packet

    def pieces(self, b: int) -> list[Fraction]:
        """Its transfers, which are not preempted."""
        whole = self.dma + Fraction(self.chunk * NS_PER_S, b)
        return [whole] * (self.transfers - 1) + [self.dma + Fraction(self.last * NS_PER_S, b) + self.packet]

    def longest(self, b: int) -> Fraction:
        return max(self.pieces(b))


def transform(flows: list[Declared], senders: int, chunk: int) -> list[Task]:
    low = {name: Fraction(part[0]) for name, part in PARTS.items()}
    high = {name: Fraction(part[1]) for name, part in PARTS.items()}
    sent_min, sent_max = low["HC"] / 2 + low["PT"], high["HC"] / 2 + high["PT"]
    dma = senders * high["PS"] + high["PD"] + high["HC"] + high["IP"] + high["FT"]
    received = high["BR"] - high["HC"] / 2
    tasks = []
    for flow in flows:
        own = [one for one in flows if one.sender == flow.sender]
        queue = high["QI"] + sum(ceil(Fraction(one.deadline, one.period)) * high["QA"] for one in own)
        packet = high["QL"] + queue + high["QL"] + high["QR"]
        jitter = (high["PP"] + packet) * len(own)
        tasks.append(
            Task(
                flow.period + sent_min - sent_max,
                flow.deadline - sent_max - received - jitter,
                -(-flow.size // chunk),
                flow.size,
                packet,
                dma,
                chunk,
            )
        )
    return tasks


def gcd_of_rate(b: int) -> int:
    """The factor by which a byte's time in ns, 10^9 / b, can be reduced."""
    return gcd(b, NS_PER_S)


def load(tasks: list[Task], b: int) -> Fraction:
    return sum((task.cost(b) / task.period for task in tasks), Fraction(0))


def demand(tasks: list[Task], b: int, t: Fraction) -> Fraction:
    total = Fraction(0)
    blocking = Fraction(0)
    for task in tasks:
        if task.first > t:
            blocking = max(blocking, task.longest(b))
        else:
            total += (1 + floor((t - task.first) / task.period)) * task.cost(b)
    return total + blocking


def horizon(tasks: list[Task], b: int) -> Fraction:
    """T*."""
    common = lcm(*(task.period.denominator for task in tasks))
    hyper = Fraction(lcm(*(int(task.period * common) for task in tasks)), common)
    left = 1 - load(tasks, b)
    if left == 0:
        return hyper
    late = sum((task.cost(b) / task.period * (task.period - task.first) for task in tasks), Fraction(0))
    return min(hyper, max(*(task.first for task in tasks), late / left))


def points(tasks: list[Task], end: Fraction) -> list[Fraction]:
    found = set()
    for task in tasks:
        for k in range(max(0, ceil((end - task.first) / task.period))):
            found.add(task.first + k * task.period)
    return sorted(found)


def schedulable(tasks: list[Task], b: int) -> bool:
    """F4, point by point."""
    if any(task.first <= 0 or task.period <= 0 for task in tasks) or load(tasks, b) > 1:
        return False
    return all(demand(tasks, b, t) <= t for t in points(tasks, horizon(tasks, b)))


@dataclass(frozen=True)
class Release:
    at: Fraction
    task: int


def latest(
    tasks: list[Task], b: int, releases: list[Release], started: int | None = None
) -> dict[int, Fraction]:
    """The largest lateness of each task, with a broker that takes the earliest deadline whenever a transfer
    has ended; negative: it is early.

    `started`: a task whose longest transfer begins just before 0.
    """
    waiting = sorted(releases, key=lambda one: one.at)
    ready: list[tuple[Fraction, int, list[Fraction], int]] = []  # deadline, order, transfers left, task
    now = tasks[started].longest(b) if started is not None else Fraction(0)
    taken = 0
    late: dict[int, Fraction] = {}
    while waiting[taken:] or ready:
        while waiting[taken:] and waiting[taken].at <= now:
            one = waiting[taken]
            ready.append((one.at + tasks[one.task].first, taken, tasks[one.task].pieces(b), one.task))
            taken += 1
        if not ready:
            now = waiting[taken].at
            continue
        ready.sort(key=lambda entry: entry[:2])
        deadline, _, left, task = ready[0]
        now += left.pop(0)
        if not left:
            ready.pop(0)
            late[task] = max(late.get(task, now - deadline), now - deadline)
    return late


def missed(tasks: list[Task], b: int, releases: list[Release], started: int | None = None) -> bool:
    """Whether the broker is ever late."""
    return any(late > 0 for late in latest(tasks, b, releases, started).values())


def worst_releases(tasks: list[Task], until: Fraction) -> list[Release]:
    """All packets that are due by then, sent at once and again as soon as allowed."""
    return [
        Release(k * task.period, number)
        for number, task in enumerate(tasks)
        if task.first <= until
        for k in range(1 + floor((until - task.first) / task.period))
    ]


def any_releases(tasks: list[Task], random: Random, end: Fraction) -> list[Release]:
    """Sporadic releases: sometimes as fast as allowed, sometimes slower."""
    found = []
    for number, task in enumerate(tasks):
        at = Fraction(random.choice((0, 0, random.randrange(1 + int(task.period)))))
        while at < end:
            found.append(Release(at, number))
            at += task.period + random.choice((0, 0, 0, random.randrange(1 + int(task.period))))
    return found


def any_flows(random: Random) -> list[Declared]:
    """P' is a multiple of 50 us, so that hyperperiods are short: a send varies by 651 ns."""
    flows = []
    for _ in range(random.randint(1, 5)):
        period = 50_000 * random.choice((1, 2, 3, 4, 5, 6, 8, 10, 12)) + 651
        deadline = random.choice((period, random.randint(15_000, period), random.randint(period, 3 * period)))
        flows.append(Declared(random.randint(1, 20_000), period, deadline, random.randrange(3)))
    return flows
