# SPDX-License-Identifier: Apache-2.0
"""The single-threaded broker (F8, F9): its analysis in fractions, and the broker itself, step by step.

Written only from docs/design/flows.md, "One thread"; it shares nothing with the code that it checks. The
analysis is not scaled and not rounded, except rho, which is defined in 1/65536 of the broker's time. The
simulation counts in picoseconds, rounded down.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, lcm
from random import Random

NS_PER_S = 10**9
PS = 1000  # of a ns
SCALE = 1 << 16
LEAST_ROOM = 3776 - 44
CHECK = 20_000 * PS  # interval of checks for changes that cause no event


@dataclass(frozen=True)
class Parts:
    """Costs in ns: smallest and largest if sends vary, else the largest."""

    call: tuple[int, int] = (939, 949)  # HC
    transport: tuple[int, int] = (111, 757)  # PT
    parse: int = 1161  # PP
    look: int = 71  # PS, for each domain
    program: int = 949  # PD
    finalize: int = 2646  # FT
    engine: int = 828  # IP
    notify: int = 1460  # BR
    wake: int = 2000
    copied: int = 0  # largest size in bytes of a task that the core copies instead of the engine
    copy: int = 0  # cost of that besides PS, PD and FT
    # EL2's own interrupts. On the broker's core: cost and distance of each source, which may be late by up to
    # the distance once. At an end: the longest delay of a notification, or of a handler.
    interrupts: tuple[tuple[int, int], ...] = ()
    at_end: int = 0

    def named(self) -> dict[str, int]:
        """In core/'s form; there are no locks, so the cost of locks must not matter."""
        found = {
            "hypervisor_call_min": self.call[0],
            "hypervisor_call_max": self.call[1],
            "transport_min": self.transport[0],
            "transport_max": self.transport[1],
            "parse_max": self.parse,
            "find_earliest_max": self.look,
            "program_dma_max": self.program,
            "finalize_max": self.finalize,
            "dma_interrupt_max": self.engine,
            "notify_max": self.notify,
            "wake_max": self.wake,
            "copied_bytes": self.copied,
            "copy_max": self.copy,
            "end_interrupts_max": self.at_end,
            "broker_interrupts_burst": self.burst,
            "broker_interrupts_share": int(self.share * SCALE),
            "model": 1,
        }
        return found | dict.fromkeys(
            ("queue_lock_max", "queue_insert_max", "find_place_max", "queue_remove_max"), 10**6
        )

    @classmethod
    def of(cls, named: dict[str, int]) -> Parts:
        """The costs of a platform."""
        return cls(
            call=(named["hypervisor_call_min"], named["hypervisor_call_max"]),
            transport=(named["transport_min"], named["transport_max"]),
            parse=named["parse_max"],
            look=named["find_earliest_max"],
            program=named["program_dma_max"],
            finalize=named["finalize_max"],
            engine=named["dma_interrupt_max"],
            notify=named["notify_max"],
            wake=named["wake_max"],
            copied=named["copied_bytes"],
            copy=named["copy_max"],
        )

    @cached_property
    def sent_max(self) -> Fraction:
        return Fraction(self.call[1], 2) + self.transport[1]

    @cached_property
    def sent_min(self) -> Fraction:
        return Fraction(self.call[0], 2) + self.transport[0]

    @cached_property
    def received(self) -> Fraction:
        return self.notify - Fraction(self.call[1], 2)

    @cached_property
    def burst(self) -> int:
        """B_e: a source may interrupt twice at once."""
        return 2 * sum(cost for cost, _ in self.interrupts)

    @cached_property
    def share(self) -> Fraction:
        """rho_e, in 1/65536."""
        found = sum((Fraction(cost, every) for cost, every in self.interrupts), Fraction(0))
        return Fraction(ceil(found * SCALE), SCALE)

    @property
    def woken(self) -> int:
        """`wake` with the interrupts beside it, without the burst."""
        return ceil(self.wake / (1 - self.share))

    def transfer(self, domains: int, size: int) -> int:
        """O_dma of a task with packets of this size."""
        between = self.copy if size <= self.copied else self.call[1] + self.engine
        return domains * self.look + self.program + between + self.finalize


@dataclass(frozen=True)
class Sent:
    """One task of a domain: packets of a flow, or control packets of one."""

    size: int
    period: int
    deadline: int
    sender: int
    receiver: int
    transfers: int  # in the worst case
    group: int | None = None  # tasks of one sender with the same group: it sends one packet for all of them

    def declared(self) -> tuple[int, int, int, int, int]:
        return (self.size, self.period, self.deadline, self.transfers, self.sender)


def with_control(size: int, period: int, deadline: int, ends: tuple[int, int], chunk: int) -> list[Sent]:
    """A flow, with its reserved control packets of both ends."""
    sender, receiver = ends
    return [
        *one_way(size, period, deadline, ends, chunk, period),
        Sent(44, period, deadline, receiver, sender, 1),
    ]


def multicast(
    size: int, period: int, deadline: int, ends: tuple[int, ...], chunk: int, groups: int
) -> list[Sent]:
    """A flow with several receivers, after the sender in `ends`. Each has data and control packets of its
    own, but the sender sends a packet once. `groups`: number of groups so far."""
    sender, *receivers = ends
    found: list[Sent] = []
    for receiver in receivers:
        data, control, answer = with_control(size, period, deadline, (sender, receiver), chunk)
        found += [replace(data, group=groups), replace(control, group=groups + 1), answer]
    return found


def one_way(
    size: int, period: int, deadline: int, ends: tuple[int, int], chunk: int, control_period: int
) -> list[Sent]:
    """One direction of a flow that has a way back: its data, its sender's control packets."""
    sender, receiver = ends
    most = -(-size // min(chunk, LEAST_ROOM))
    return [
        Sent(size, period, deadline, sender, receiver, most),
        Sent(44, control_period, deadline, sender, receiver, 1),
    ]


def share(sent: list[Sent], domain: int) -> tuple[int, int]:
    """N_d and T_d in ns; T_d is rounded down after rates were rounded up to 2^-63 of a packet each ns."""
    periods = [one.period for one in sent if one.sender == domain]
    rate = sum(-(-(1 << 63) // period) for period in periods)
    return len(periods), (1 << 63) // rate if periods else 0


@dataclass(frozen=True)
class Analysis:
    """F4 of the single-threaded broker, in ns."""

    sent: list[Sent]
    parts: Parts
    domains: int
    chunk: int
    b: int
    more_ns: Fraction = Fraction(0)  # for every transfer
    more_bytes: int = 0  # for every packet and transfer

    def copying(self, nbytes: int) -> Fraction:
        return Fraction((nbytes + self.more_bytes) * NS_PER_S, self.b)

    def transfer(self, task: Sent) -> Fraction:
        return self.parts.transfer(self.domains, task.size) + self.more_ns

    @property
    def rho(self) -> Fraction:
        found = 0
        for domain in range(self.domains):
            packets, period = share(self.sent, domain)
            found += ceil(Fraction(self.parts.parse * SCALE, period)) if packets else 0
        return Fraction(found, SCALE)

    def period(self, task: Sent) -> Fraction:
        return task.period + self.parts.sent_min - self.parts.sent_max

    def first(self, task: Sent) -> Fraction:
        wake = self.parts.woken
        return task.deadline - self.parts.sent_max - self.parts.received - wake - 2 * self.parts.at_end

    def cost(self, task: Sent) -> Fraction:
        return task.transfers * self.transfer(task) + self.copying(task.size)

    def longest(self, task: Sent) -> Fraction:
        """Its longest transfer. Their ends are known only if there is one for each chunk, and then not before
        the last."""
        most = task.size if task.size <= self.chunk else self.chunk
        return self.transfer(task) + self.copying(most)

    @property
    def load(self) -> Fraction:
        return sum((self.cost(task) / self.period(task) for task in self.sent), Fraction(0))

    @property
    def lead(self) -> Fraction:
        """Work that comes first: a packet of each task of every domain, and turns earned during a
        transfer."""
        burst = self.more_ns + self.copying(0)
        burst += self.parts.parse * len(self.sent) + self.domains * self.parts.look + self.parts.burst
        largest = max(min(task.size, self.chunk) for task in self.sent)
        back = self.parts.call[1] // 2 + 1 + self.parts.transport[1] + self.parts.wake
        back += self.domains * self.parts.look + self.parts.at_end
        before = max(*map(self.transfer, self.sent), Fraction(back)) + self.copying(largest)
        before += 3 * self.parts.burst
        return burst + self.rho / (1 - self.rho - self.parts.share) * before

    def demand(self, t: Fraction) -> Fraction:
        total, blocking = self.lead + (self.rho + self.parts.share) * t, Fraction(0)
        for task in self.sent:
            first = self.first(task)
            if first > t:
                blocking = max(blocking, self.longest(task))
            else:
                total += (1 + floor((t - first) / self.period(task))) * self.cost(task)
        return total + blocking

    def horizon(self) -> Fraction:
        periods = [self.period(task) for task in self.sent]
        firsts = [self.first(task) for task in self.sent]
        common = lcm(*(period.denominator for period in periods))
        repeated = Fraction(lcm(*(int(period * common) for period in periods)), common) + min(firsts)
        left = 1 - self.rho - self.parts.share - self.load
        if left == 0:
            return repeated
        late = sum(
            (
                self.cost(task) / period * (period - first)
                for task, period, first in zip(self.sent, periods, firsts, strict=True)
            ),
            Fraction(0),
        )
        return min(repeated, max(*firsts, (self.lead + late) / left))

    def schedulable(self) -> bool:
        """Tests every point."""
        if any(self.first(task) <= 0 for task in self.sent) or self.load + self.rho + self.parts.share > 1:
            return False
        end = self.horizon()
        points = set()
        for task in self.sent:
            t = self.first(task)
            while t < end:
                points.add(t)
                t += self.period(task)
        return all(self.demand(t) <= t for t in points)


class Interrupts:
    """EL2's interrupts on the broker's core, in ps. They come first: the broker's work stands meanwhile."""

    def __init__(self, sources: tuple[tuple[int, int], ...], random: Random) -> None:
        self.random = random
        self.sources = [(cost * PS, every * PS) for cost, every in sources]
        self.on_grid = [random.randrange(every) for _, every in self.sources]
        self.next = [self._late(source) for source in range(len(self.sources))]
        self.served = 0  # until then one is being served

    def _late(self, source: int) -> int:
        return self.on_grid[source] + self.random.choice((0, self.random.randrange(self.sources[source][1])))

    def after(self, start: int, work: int) -> int:
        """When the broker has done this work, which begins at `start`."""
        if not self.sources:
            return start + work
        left, now = work, max(start, self.served)
        while True:
            source = min(range(len(self.next)), key=self.next.__getitem__)
            if self.next[source] > now + left:
                return now + left
            begin = max(self.next[source], self.served)
            left -= max(0, begin - now)
            cost, every = self.sources[source]
            self.served = begin + cost
            now = max(now, self.served)
            self.on_grid[source] += every
            self.next[source] = max(self._late(source), self.next[source])


@dataclass
class Queued:
    """A packet in its flow's queue, or in a ring."""

    task: int
    sent: int  # the notification, ps
    seen: int  # in the ring from then on
    left: list[int] = field(default_factory=list)  # bytes of its transfers
    release: int = 0
    deadline: int = 0
    held: bool = False  # for want of a receive buffer
    others: list[Queued] = field(default_factory=list)  # copies for other receivers

    @property
    def needs(self) -> int:
        """Turns that the packet takes: one for each receiver."""
        return 1 + len(self.others)


@dataclass
class Guest:
    """A domain: its ring, the notifications that EL2 has noted, and its turns."""

    packets: int
    period: int  # ps
    left: int = 0  # of turns, ps, as of `look`
    look: int = 0
    ring: list[Queued] = field(default_factory=list)  # in the order of `seen`
    stamps: list[int] = field(default_factory=list)
    hostile: bool = False

    def turns(self, before: int, now: int) -> int:
        """Each look keeps at most one turn for each packet, and adds what was earned since the look before. A
        look that takes nothing needs no work: the last one keeps what all of them would."""
        if self.look < now:
            kept, most = self.left + before - self.look, self.packets * self.period
            self.left = (kept if kept < most else most) + now - before
            self.look = now
        return self.left // self.period if self.packets else 0

    def next_take(self) -> int:
        """When the broker can take the first packet of the ring: it is there, and the domain has a turn."""
        return max(self.ring[0].seen, self.look + self.ring[0].needs * self.period - self.left)


Rules = frozenset[str]
ALL_RULES: Rules = frozenset(
    {
        "turns",  # domains have turns, and hostile ones use up only their own
        "late cut",  # turns earned during a transfer are not cut
        "held",  # packets that waited for a receive buffer are released when there is one
        "fresh stamps",  # a packet is not released before the step that found it
    }
)


class Broker:
    """One run of the broker's loop, each part of which takes any allowed time."""

    def __init__(
        self,
        sent: list[Sent],
        parts: Parts,
        domains: int,
        chunk: int,
        b: int,
        random: Random,
        hostile: frozenset[int] = frozenset(),
        rules: Rules = ALL_RULES,
    ) -> None:
        self.sent, self.parts, self.chunk, self.b = sent, parts, chunk, b
        self.random, self.rules, self.hostile = random, rules, hostile
        self.domains = domains
        self.queues: dict[int, list[Queued]] = {}  # of tasks that have packets
        self.released: list[int | None] = [None] * len(sent)
        # What a step needs of the costs, in ps.
        self.look, self.parse = domains * parts.look * PS, parts.parse * PS
        self.fixed = [parts.transfer(domains, one.size) * PS - self.look for one in sent]  # of a transfer
        gone = parts.sent_max + parts.received + parts.woken
        gone += 2 * parts.at_end
        self.relative = [floor((one.deadline - gone) * PS) for one in sent]  # deadline after a release
        self.received = ceil((parts.received + parts.at_end) * PS)
        woken = (parts.wake + parts.burst) / (1 - parts.share)
        self.blind = ceil((parts.sent_max + parts.at_end + woken) * PS)
        self.interrupts = Interrupts(parts.interrupts, random)
        self.guests = []
        for domain in range(domains):
            packets, period = share(sent, domain)
            guest = Guest(packets, period * PS, packets * period * PS, hostile=domain in hostile)
            self.guests.append(guest)
        self.undelivered = 0  # packets
        self.longest = [0] * len(sent)  # ps, from notification to notification
        self.now = 0
        self.before = 0  # the previous look at the rings
        self.eager = random.random()  # how often hostile domains use their turns
        self.stalled: Callable[[int], bool] = lambda _now: False  # hostile receivers, at this time
        self.to_hostile = [one.receiver in hostile for one in sent]

    def send(self, task: int, at: int, late: int) -> None:
        """A packet is put into the ring `at`, and EL2 notes it `late` after that."""
        self.send_copies([task], at, late)

    def send_copies(self, tasks: list[int], at: int, late: int) -> None:
        """One packet for the receivers of all these tasks."""
        guest = self.guests[self.sent[tasks[0]].sender]
        first, *others = [Queued(task, at, at, self._pieces(self.sent[task])) for task in tasks]
        first.others = others
        guest.ring.append(first)
        guest.stamps.append(at + late)

    def _pieces(self, task: Sent) -> list[int]:
        """As many transfers as possible, some of which have the greatest length."""
        left, found = task.size, []
        for rest in range(task.transfers - 1, -1, -1):
            most = min(self.chunk, left - rest) if rest else left
            least = max(1, left - rest * self.chunk)
            found.append(self.random.choice((most, max(least, min(most, LEAST_ROOM)))) if rest else left)
            left -= found[-1]
        assert left == 0 and max(found) <= self.chunk
        return found

    def run(self) -> None:
        """Runs until all is done."""
        for guest in self.guests:
            guest.ring.sort(key=lambda one: one.seen)
            guest.stamps.sort()
        self.undelivered = sum(one.needs for guest in self.guests for one in guest.ring)
        while self.undelivered:
            begin = self.now
            self._look(begin)
            task = self._earliest(begin)
            if task is None:
                self._wait(begin)
            else:
                self.before = begin
                self._transfer(task)

    def _work(self, work: int) -> None:
        self.now = self.interrupts.after(self.now, work)

    def _look(self, begin: int) -> None:
        """Handles everything as of the step's begin."""
        self._work(self.look)
        for guest in self.guests:
            stamps, ring = guest.stamps, guest.ring
            noted = bool(stamps) and stamps[0] <= begin
            if not (guest.hostile or noted or (ring and ring[0].seen <= self.now)):
                continue  # there is nothing to take, and it asks for nothing
            turns = guest.turns(self.before, begin)
            if "late cut" not in self.rules:
                turns = min(turns, guest.packets)
                guest.left = min(guest.left, guest.packets * guest.period)
            if guest.hostile and "turns" not in self.rules:
                self._work(5 * guest.packets * self.parse)
            stamp = begin
            if noted:
                stamp = stamps[0]
                del stamps[: bisect_right(stamps, begin)]
            if "fresh stamps" not in self.rules and ring:
                stamp = min(stamp, ring[0].seen)
            used = guest.hostile and self.random.random() < self.eager
            while turns:
                needs = 1
                if ring and ring[0].seen <= self.now:
                    needs = ring[0].needs
                    if needs > turns:
                        break
                    self._take(ring.pop(0), stamp)
                elif not used:
                    break
                self._work(needs * self.parse)  # a packet, or invalid data
                guest.left -= needs * guest.period
                turns -= needs

    def _take(self, packet: Queued, stamp: int) -> None:
        for one in (packet, *packet.others):
            self._release(one, stamp)
            self.queues.setdefault(one.task, []).append(one)

    def _release(self, packet: Queued, at: int) -> None:
        task, last = self.sent[packet.task], self.released[packet.task]
        packet.release = at if last is None else max(at, last + task.period * PS)
        self.released[packet.task] = packet.release
        packet.deadline = packet.release + self.relative[packet.task]

    def _earliest(self, begin: int) -> int | None:
        found: int | None = None
        first = 0  # deadline of `found`
        stalled = bool(self.hostile) and self.stalled(begin)
        for task, queue in self.queues.items():
            head = queue[0]
            if stalled and self.to_hostile[task]:
                head.held = True
                continue
            if head.held and "held" in self.rules:
                head.held = False
                self.released[task] = None
                for packet in queue:
                    self._release(packet, max(begin, packet.release))
            if head.release > begin:
                continue
            if found is None or head.deadline < first or (head.deadline == first and task < found):
                found, first = task, head.deadline
        return found

    def _transfer(self, task: int) -> None:
        queue = self.queues[task]
        packet = queue[0]
        self._work(self.fixed[task] + packet.left.pop(0) * NS_PER_S * PS // self.b)
        if not packet.left:
            queue.pop(0)
            if not queue:
                del self.queues[task]
            self.undelivered -= 1
            self.longest[task] = max(self.longest[task], self.now - packet.sent + self.received)

    def _wait(self, begin: int) -> None:
        """Sleeps until a notification or a release, or polls all the time, because domains ring without
        need. The last look before the next step is at its end."""
        event = max(self.now, self._next_event())
        if self.hostile and self.random.random() < 0.7:
            # It would take a packet from a ring before EL2 has noted it: the last step before that.
            for guest in self.guests:
                if guest.ring:
                    guest.turns(self.before, begin)
                    event = min(event, guest.next_take())
            self.before = begin
            last = event - self.random.randrange(self.look + 1)
            if last <= self.now:
                return  # there is none: the present step is the next
            self.now = self.before = last
        else:
            self.before = begin
            asleep = self.now
            wake = self.random.choice((1000, self.random.randrange(1000))) * self.parts.wake
            self.now = self.interrupts.after(event, wake)
            back = self.now - self.blind
            if back > asleep:
                self.before = back  # else it hardly slept: something may have come before

    def _next_event(self) -> int:
        """The next notification or release. The broker checks now and then whether a domain provides buffers
        again, and whether one whose packets are left in its ring has turns."""
        events = [guest.stamps[0] for guest in self.guests if guest.stamps]
        check = any(guest.ring and guest.ring[0].seen <= self.now for guest in self.guests)
        for queue in self.queues.values():
            if queue[0].held:
                check = True
            else:
                events.append(queue[0].release)
        if check:
            events.append(self.now + CHECK)
        return min(events)
