# SPDX-License-Identifier: Apache-2.0
"""Bounds of chains (D3, F7): a request along a flow, its service, and the answer along another flow.

Server and clients are simulated step by step, with flows, services and budgets that take as long as they may;
no answer is later than the bound. With one of the rules that the bound rests on left out, some are.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.flows import check_flows
from bulkhead.admission.load import load_system
from bulkhead.config.shares import Bandwidth
from bulkhead.config.system import CpuTime, Regulation
from bulkhead.flows.chains import ChainBound, End, Service, Supply, chain_bound, device_time
from bulkhead.planning.chains import PlannedChain, plan_chains
from bulkhead.planning.flow_result import flows_json
from tests.command_line import run, run_json

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "server.yaml"
SETS = 300
pytestmark = pytest.mark.req("D3", "F7")


@dataclass
class Link:
    """A chain of a client at the server."""

    asks: Service  # parts of the client's work
    takes: Service
    service: Service
    request: int  # bounds of the two flows
    answer: int
    period: int = 0  # of requests
    back_period: int = 0  # of answers
    client: int = 0  # number of the client's core
    hostile: bool = False  # sends as fast as it can
    sends: list[int] = field(default_factory=list)  # earliest times
    since: int = -(10**9)  # the last request was sent
    waits: bool = False
    arrivals: list[int] = field(default_factory=list)  # of requests, at the server
    ready: bool = False  # an answer is made, and not sent
    may_leave: int = -(10**9)
    arrived: int | None = None  # the answer, at the client
    longest: int = 0
    apart: int = 10**9  # least time between two answers that left
    left: int = -(10**9)

    @property
    def at_client(self) -> Service:
        return Service(self.asks.core + self.takes.core, 0, self.asks.lines + self.takes.lines)


@dataclass
class Core:
    """A core whose budget may be spent when a busy time begins."""

    supply: Supply | None
    links: list[int]
    now: int = 0  # of its next decision
    idle: bool = True
    place: int = 0
    left: int = 0
    refill: int = 0

    def begin(self, when: int, draw: random.Random) -> None:
        self.now, self.idle = when, False
        if self.supply is not None:
            until_refill = draw.choice((self.supply.period, draw.randrange(1, self.supply.period + 1)))
            self.left, self.refill = 0, when + until_refill

    def work(self, service: Service) -> None:
        self._stop_if_spent()
        for _ in range(service.lines):
            self.left -= 1
            self._stop_if_spent()
        self.now += service.time
        self._stop_if_spent()

    def _stop_if_spent(self) -> None:
        if self.supply is None:
            return
        while self.refill <= self.now:
            self.left, self.refill = self.supply.events, self.refill + self.supply.period
        if self.left <= 0:
            self.now = self.refill + self.supply.resume
            self.left, self.refill = self.supply.events, self.refill + self.supply.period


@dataclass(frozen=True)
class Rules:
    turns: bool = True  # at most one request of each chain in a turn
    conserving: bool = True  # it serves others while an answer waits for its period
    spaced: bool = True  # answers leave a period apart


@dataclass
class Systems:
    """A server, and clients with a core each."""

    links: list[Link]
    at_server: Supply | None
    at_clients: list[Supply | None]

    def bounds(self) -> list[ChainBound]:
        def beside(one: Link) -> list[Link]:
            return [other for other in self.links if other is not one]

        return [
            chain_bound(
                End(
                    one.at_client,
                    [other.at_client for other in beside(one) if other.client == one.client],
                    self.at_clients[one.client],
                ),
                End(one.service, [other.service for other in beside(one)], self.at_server),
                request=one.request,
                answer=one.answer,
            )
            for one in self.links
        ]


class Simulation:
    """Cores decide in the order of time. A core does what it has decided without a break."""

    def __init__(self, system: Systems, draw: random.Random, rules: Rules) -> None:
        self.links, self.draw, self.rules = system.links, draw, rules
        self.server = Core(system.at_server, list(range(len(system.links))))
        self.clients = [
            Core(
                supply, [n for n, link in enumerate(self.links) if link.client == number and not link.hostile]
            )
            for number, supply in enumerate(system.at_clients)
        ]

    def run(self) -> None:
        cores = [self.server, *self.clients]
        while True:
            when, core = min(((self._next(core), core) for core in cores), key=lambda one: one[0])
            if when == NEVER:
                return
            if when > core.now or core.idle:
                core.begin(max(when, core.now), self.draw)
            self._decide(core)

    def _next(self, core: Core) -> int:
        """Time of the core's next decision, as far as it is known."""
        at = self._at_server if core is self.server else self._at_client
        return max(core.now, min((at(self.links[n]) for n in core.links), default=NEVER))

    def _at_server(self, link: Link) -> int:
        if link.ready:
            return link.may_leave
        return link.arrivals[0] if link.arrivals else NEVER

    def _at_client(self, link: Link) -> int:
        if link.waits:
            return NEVER if link.arrived is None else link.arrived
        return self._sends_at(link)

    def _sends_at(self, link: Link) -> int:
        return max(link.sends[0], link.since + link.period) if link.sends else NEVER

    def _decide(self, core: Core) -> None:
        at = self._at_server if core is self.server else self._at_client
        count = len(core.links)
        in_turn = self.rules.turns or core is not self.server
        order = [(core.place + step) % count if in_turn else step for step in range(count)]
        place = next(place for place in order if at(self.links[core.links[place]]) <= core.now)
        core.place = place + 1
        link = self.links[core.links[place]]
        if core is self.server:
            self._serve(link)
        else:
            self._attend(core, link)

    def _serve(self, link: Link) -> None:
        core = self.server
        if not link.ready:
            link.arrivals.pop(0)
            core.work(link.service)
            link.ready = True
        if not self.rules.conserving and self.rules.spaced:
            core.now = max(core.now, link.may_leave)
        if core.now < link.may_leave and self.rules.spaced:
            return  # it is held: nothing sends it while another request is served
        link.ready = False
        link.apart = min(link.apart, core.now - link.left)
        link.left = core.now
        link.may_leave = core.now + (link.back_period if self.rules.spaced else 0)
        if not link.hostile:
            link.arrived = core.now + self._delay(link.answer)

    def _attend(self, core: Core, link: Link) -> None:
        if link.waits:
            core.work(link.takes)
            link.longest = max(link.longest, core.now - link.since)
            link.waits, link.arrived = False, None
        if self._sends_at(link) <= core.now:
            link.sends.pop(0)
            link.since, link.waits = core.now, True
            core.work(link.asks)
            link.arrivals.append(core.now + self._delay(link.request))

    def _delay(self, bound: int) -> int:
        return self.draw.choice((bound, self.draw.randrange(bound + 1)))


NEVER = 10**12


def simulate(system: Systems, draw: random.Random, rules: Rules, rounds: int = 12) -> None:
    for link in system.links:
        sent = draw.choice((0, draw.randrange(link.period)))
        for _ in range(rounds * (6 if link.hostile else 1)):
            if link.hostile:
                link.arrivals.append(sent)
                sent += draw.randrange(1, 4)
            else:
                link.sends.append(sent)
                sent += link.period + draw.choice((0, draw.randrange(9), draw.randrange(link.period)))
    Simulation(system, draw, rules).run()


def _some_service(draw: random.Random, most: int, *, device: bool = False) -> Service:
    spent = draw.choice((0, draw.randrange(80))) if device else 0
    return Service(draw.randrange(1, most), spent, draw.randrange(10))


def _some_supply(draw: random.Random) -> Supply | None:
    return draw.choice((None, Supply(draw.randrange(1, 9), draw.randrange(20, 200), draw.choice((0, 7)))))


def random_system(seed: int, *, hostile: bool = False) -> tuple[Systems, random.Random]:
    """A system that `check` would accept: each bound is at most the period, and answers do not pile up."""
    draw = random.Random(seed)
    clients = draw.randrange(1, 4)
    links = [
        Link(
            _some_service(draw, 20),
            _some_service(draw, 20),
            _some_service(draw, 60, device=True),
            draw.randrange(1, 100),
            draw.randrange(1, 100),
            client=0 if hostile and n == 0 else draw.randrange(clients),
        )
        for n in range(draw.randrange(1, 6))
    ]
    system = Systems(links, _some_supply(draw), [_some_supply(draw) for _ in range(clients)])
    for one, bound in zip(links, system.bounds(), strict=True):
        one.period = bound.total + draw.choice((0, draw.randrange(100)))
        one.back_period = one.period - bound.blocking
    if hostile:
        links[0].hostile = True
    return system, draw


@pytest.mark.parametrize("hostile", [False, True])
def test_no_simulated_answer_is_later_than_the_bound(hostile: bool) -> None:
    """Also beside a client that sends more than it declared: its requests wait for its own turns."""
    closest = 0.0
    for seed in range(SETS):
        system, draw = random_system(seed, hostile=hostile)
        bounds = system.bounds()
        simulate(system, draw, Rules())
        for number, (one, bound) in enumerate(zip(system.links, bounds, strict=True)):
            if one.hostile:
                continue
            assert one.longest <= bound.total, f"seed {seed}, chain {number}"
            assert one.apart >= one.back_period, "answers are as sporadic as the analysis of flows assumes"
            closest = max(closest, one.longest / bound.total)
    assert closest > 0.9, "the simulation reaches long times"


def _late(rules: Rules, change: Callable[[Systems], object] | None = None) -> int:
    """In how many of the random systems an answer is later than the bound."""
    late = 0
    for seed in range(SETS):
        system, draw = random_system(seed, hostile=change is None)
        bounds = system.bounds()
        if change is not None:
            change(system)
        simulate(system, draw, rules)
        late += any(
            one.longest > bound.total
            for one, bound in zip(system.links, bounds, strict=True)
            if not one.hostile
        )
    return late


@pytest.mark.parametrize("rules", [Rules(turns=False), Rules(conserving=False)])
def test_without_a_rule_answers_are_late(rules: Rules) -> None:
    assert _late(rules) > SETS // 20


def _as_slow_as_requests(system: Systems) -> None:
    for link in system.links:
        link.back_period = link.period


def test_answers_as_far_apart_as_requests_are_late() -> None:
    """A held answer waits for the service in progress: the delay would add up."""
    assert _late(Rules(), _as_slow_as_requests) > 0


@pytest.mark.parametrize("part", ["client_stalls", "queue", "server_stalls"])
def test_without_half_of_a_part_the_sum_is_no_bound(part: str) -> None:
    late = 0
    for seed in range(SETS):
        system, draw = random_system(seed)
        bounds = system.bounds()
        simulate(system, draw, Rules())
        late += any(
            one.longest > bound.total - getattr(bound, part) // 2
            for one, bound in zip(system.links, bounds, strict=True)
            if getattr(bound, part) > 1
        )
    assert late > 0


class Longest(random.Random):
    """Every delay is the bound."""

    def choice(self, seq: Any) -> Any:
        return seq[0]


@pytest.mark.parametrize("back_period", [1000, 799])
def test_held_answers_that_meet_a_long_service_each_time(back_period: int) -> None:
    """Requests of the other chain arrive just before an answer may leave."""
    nothing = Service(0)
    one = Link(nothing, nothing, Service(1), 10, 10, 1000, back_period, client=0)
    other = Link(nothing, nothing, Service(200), 10, 10, 1000, 1000, client=1)
    one.sends = [1 + 1000 * k for k in range(5)]
    other.sends = [0, 1200, 2399, 3598, 4797]
    system = Systems([one, other], None, [None, None])
    bound = system.bounds()[0]
    assert (bound.total, bound.blocking) == (221, 201)
    Simulation(system, Longest(), Rules()).run()
    assert (one.longest <= bound.total) == (back_period + bound.blocking <= one.period)


def test_a_client_takes_the_answers_of_its_other_chains_first() -> None:
    """Three answers arrive at one time, and the core takes them in turn."""
    nothing = Service(0)
    links = [Link(nothing, Service(50), nothing, 10, 10, 1000, 500) for _ in range(3)]
    for link in links:
        link.sends = [0]
    system = Systems(links, None, [None])
    Simulation(system, Longest(), Rules()).run()
    assert [link.longest for link in links] == [70, 120, 170]
    for bound in system.bounds():
        assert bound.total - bound.client_others < 170 <= bound.total


def test_answers_that_leave_at_once_come_closer_than_their_flow_allows() -> None:
    found = 0
    for seed in range(SETS):
        system, draw = random_system(seed)
        simulate(system, draw, Rules(spaced=False))
        found += any(one.apart < one.back_period for one in system.links)
    assert found


def test_the_bound_is_reached_exactly() -> None:
    """All requests arrive at once, and the server serves the others first."""
    nothing = Service(0)
    links = [Link(nothing, nothing, Service(7 + n, 5 * n), 20, 30, 1000, 500, client=n) for n in range(4)]
    for link in links:
        link.sends = [0]
    system = Systems(links, None, [None] * 4)
    Simulation(system, Longest(), Rules()).run()
    assert links[-1].longest == system.bounds()[-1].total


def test_the_stalls_are_reached_exactly() -> None:
    """The core is stopped when the work begins, and again by each budget that is spent."""
    for events, period, lines in ((4, 100, 8), (4, 100, 9), (1, 30, 5), (7, 50, 0)):
        for resume in (0, 7):
            supply = Supply(events, period, resume)
            core = Core(supply, [], now=0, left=0, refill=period)
            core.work(Service(0, 0, lines))
            stops = lines // events + 1
            assert core.now == stops * period + resume
            assert core.now <= supply.stalls(lines) == stops * (period + resume)


def test_a_device_is_a_latency_rate_server() -> None:
    assert device_time(40_000, 8192, 400 * 10**6) == 40_000 + 20_480
    assert device_time(0, 1, 3) == 333_333_334, "rounded up"


# The plan


def system(change: Callable[[dict[str, Any]], object] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    if change is not None:
        change(made)
    return made


def codes(directory: Path, made: dict[str, Any]) -> list[tuple[str, str]]:
    """Key and code of each error of `flows check`."""
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(made, sort_keys=False))
    loaded = load_system(path)
    problems = loaded.problems if not loaded.ok else check_flows(loaded).problems
    return [(problem.key, problem.code) for problem in problems]


def test_the_bound_is_the_sum_of_its_parts() -> None:
    loaded = load_system(EXAMPLE)
    (planned,) = check_flows(loaded).planned
    for chain in flows_json(planned)["chains"]:
        parts: dict[str, Any] = dict(chain["parts"])
        assert chain["bound_ns"] == sum(parts.values()) <= chain["deadline_ns"]
    disk, net = (one.bound for one in planned.chains)
    assert disk.service == 60_000 + 40_000 + 136_534 == net.queue
    assert net.service == 60_000 + 30_000 + 68_267 == disk.queue
    assert disk.client_others == net.client_others == 2 * 100_000, (
        "in each of two portions of the client's work"
    )
    stop = 100_000 + 50_000  # a period, and the platform's bound of a release
    client, server = 275 - 275 // 32, 200 - 200 // 32  # counters of two events have slack
    assert disk.client_stalls == ((700 + 2 * 400) // client + 2) * stop
    assert net.client_stalls == ((400 + 2 * 700) // client + 2) * stop
    assert disk.server_stalls == net.server_stalls == (900 // server + 1) * stop
    assert disk.blocking == disk.queue + disk.server_stalls + 60_000


def test_answers_leave_room_for_the_longest_turn_of_the_server(tmp_path: Path) -> None:
    """The period of the answers and this turn fit into the period of the requests, to the nanosecond."""
    (planned,) = check_flows(load_system(EXAMPLE)).planned
    most = 8_000_000 - planned.chains[0].bound.blocking
    assert codes(tmp_path, system(_set("flows.1.back.period", f"{most} ns"))) == []
    late = system(_set("flows.1.back.period", f"{most + 1} ns"))
    assert codes(tmp_path, late) == [("chains[0].answer", "answers-too-slow")]


def test_check_and_flows_check_show_the_parts() -> None:
    for command in ("check",), ("plan",), ("flows", "check"):
        code, text = run(*command, EXAMPLE)
        assert code == 0
        words = " ".join(text.split())
        assert "chain net: from 'client' to 'server' and back in at most" in words
        assert "its other chains 200.0 us, stops by the client's budget" in words
        assert "stops by the server's budget 750.0 us, service 158.3 us, flow 'net.back'" in words
    _, result = run_json("flows", "check", EXAMPLE)
    assert [chain["name"] for chain in result["chains"]] == ["disk", "net"]


@pytest.mark.parametrize(
    ("regulation", "bandwidth"),
    [
        (Regulation(policy="dynamic"), None),
        (Regulation(reclaim=True), None),
        (None, {"max": "50 %", "hard": True}),
        (None, {"events": 2, "counts": "sum", "slack": 2}),
    ],
)
def test_a_limit_that_is_no_fixed_budget_has_no_bound(
    regulation: Regulation | None, bandwidth: dict[str, Any] | None
) -> None:
    """For how long such a limit stops a core is not known."""
    loaded = load_system(EXAMPLE)
    (planned,) = check_flows(loaded).planned
    assert loaded.system is not None and loaded.platform is not None
    changed = loaded.system.model_copy(update={"regulation": regulation})
    if bandwidth is not None:
        limit = {"bandwidth": Bandwidth.model_validate(bandwidth)}
        domains = tuple(one.model_copy(update=limit) for one in loaded.system.domains)
        changed = loaded.system.model_copy(update={"domains": domains})
    _, findings = plan_chains(changed, loaded.platform, planned.model, planned.rate)
    found = [(one.path, one.code) for one in findings]
    assert found == [(("chains", number, "request"), "no-bound") for number in (0, 1)]


def findings(**changes: dict[str, Any]) -> tuple[tuple[PlannedChain, ...], list[str]]:
    """Chains of the example whose domains are changed, and causes of refusals."""
    loaded = load_system(EXAMPLE)
    (planned,) = check_flows(loaded).planned
    assert loaded.system is not None and loaded.platform is not None
    domains = tuple(one.model_copy(update=changes.get(one.name, {})) for one in loaded.system.domains)
    changed = loaded.system.model_copy(update={"domains": domains})
    chains, found = plan_chains(changed, loaded.platform, planned.model, planned.rate)
    assert all(one.code == "no-bound" for one in found)
    return chains, [one.cause for one in found]


def test_vcpus_that_share_a_budget_have_no_bound() -> None:
    """Other VCPUs of the domain may use all of it. A budget of each VCPU is its own."""
    _, causes = findings(server={"cpus": (1, 1)})
    assert causes == ["the VCPUs of 'server' share a budget, which others of them may use"] * 2
    own = Bandwidth.model_validate({"events": 200, "counts": "refills", "per": "vcpu", "period": "100 us"})
    chains, causes = findings(server={"cpus": (1, 1), "bandwidth": own})
    assert causes == []
    assert chains[0].bound.server_stalls == Supply(200, 100_000, 50_000).stalls(900)


def test_a_budget_of_cpu_time_has_no_bound() -> None:
    _, causes = findings(client={"cpu": CpuTime.model_validate({"budget": "100 us", "period": "1 ms"})})
    assert causes == ["the budget of CPU time of 'client' stops it, too"] * 2
    _, causes = findings(server={"cpu": CpuTime.model_validate({"budget": "100 us", "period": "1 ms"})})
    assert causes == [], "no budget of CPU time is enforced on a core of its own"


def test_beside_a_manager_there_is_no_bound() -> None:
    """A manager may lower budgets, and add flows to the server."""
    _, causes = findings(batch={"manager": True})
    assert causes == ["'batch' is a manager, which may change budgets and add flows in the run"] * 2


def test_a_deadline_below_the_bound_is_refused_with_the_parts(tmp_path: Path) -> None:
    made = system(lambda one: one["chains"][0].update(deadline="3 ms"))
    assert codes(tmp_path, made) == [("chains[0].deadline", "chain-late")]
    loaded = load_system(tmp_path / "system.yaml")
    (problem,) = check_flows(loaded).problems
    for part in ("client 100.0 us", "flow 'disk'", "other chains", "server's budget", "service", "disk.back"):
        assert part in problem.cause


def _set(path: str, value: object) -> Callable[[dict[str, Any]], object]:
    *way, last = path.split(".")

    def change(made: dict[str, Any]) -> None:
        at: Any = made
        for step in way:
            at = at[int(step)] if step.isdigit() else at[step]
        if value is None:
            del at[last]
        else:
            at[last] = copy.deepcopy(value)

    return change


def _shared_server(made: dict[str, Any]) -> None:
    made["domains"][4]["cpus"] = [1]


def _broker_beside_the_server(made: dict[str, Any]) -> None:
    """No core is free for the broker, and none but the server's has only best-effort domains."""
    del made["broker"]["cpu"]
    for number in (2, 3, 4):
        made["domains"][number]["cpus"] = [0]
    other = copy.deepcopy(made["domains"][0])
    made["domains"].append({**other, "name": "other", "cpus": [2, 3]})


def _stray_flow(made: dict[str, Any]) -> None:
    made["flows"].append({**made["flows"][0], "name": "stray", "to": "server"})


def _flow_to_the_client(made: dict[str, Any]) -> None:
    made["flows"][0]["to"] = "client"


def _flow_of_the_client(made: dict[str, Any]) -> None:
    made["flows"].append({**made["flows"][0], "name": "stray", "from": "client", "port": 5003})


def _back_of_another(made: dict[str, Any]) -> None:
    made["chains"][0]["answer"] = "net.back"


@pytest.mark.parametrize(
    ("change", "key", "code"),
    [
        (_set("chains.1.name", "disk"), "chains[1].name", "duplicate-name"),
        (_set("chains.0.request", "dsk"), "chains[0].request", "unknown-name"),
        (_set("chains.0.request", "state"), "chains[0].request", "no-answer"),
        (_set("chains.0.answer", "nothing"), "chains[0].answer", "unknown-name"),
        (_set("chains.0.answer", "state"), "chains[0].answer", "conflict"),
        (_back_of_another, "chains[1].answer", "duplicate-name"),
        (_set("chains.1.request", "disk"), "chains[1].request", "duplicate-name"),
        (_set("flows.1.back.period", "8 ms"), "chains[0].answer", "answers-too-slow"),
        (_set("chains.0.deadline", "8100 us"), "chains[0].deadline", "out-of-range"),
        (_shared_server, "chains[0].request", "conflict"),
        (_set("broker.cpu", 1), "chains[0].request", "conflict"),
        (_broker_beside_the_server, "chains[0].request", "conflict"),
        (_flow_to_the_client, "chains[0].request", "conflict"),
        (_flow_of_the_client, "chains[1].request", "conflict"),
        (_stray_flow, "chains[0].request", "conflict"),
        (_set("chains.0.client_lines", None), "chains[0].client_lines", "missing-key"),
        (_set("chains.0.server_lines", None), "chains[0].server_lines", "missing-key"),
        (_set("chains.0.device.name", "nvme"), "chains[0].device.name", "unknown-name"),
        (_set("chains.0.device.rate", "63 MB/s"), "chains[0].device.rate", "out-of-range"),
        (_set("domains.2.device_rates.adma", "93 MB/s"), "chains[1].device.rate", "out-of-range"),
    ],
)
def test_what_the_bound_needs_is_checked(
    change: Callable[[dict[str, Any]], object], key: str, code: str, tmp_path: Path
) -> None:
    assert (key, code) in codes(tmp_path, system(change))


def test_a_device_that_is_promised_to_be_faster_than_it_is(tmp_path: Path) -> None:
    platform = tmp_path / "board.yaml"
    platform.write_text("platform: 1\nname: board\nextends: zcu102\n")
    text = (ROOT / "platforms" / "zcu102.yaml").read_text()
    assert "per_line: 18.6 ns" in text
    platform.write_text(text.replace("    per_line: 18.6 ns", "    rate: 50 MB/s\n    per_line: 18.6 ns"))
    made = system(_set("platform", str(platform)))
    made["domains"][2]["device_rates"] = {}
    assert ("chains[0].device.rate", "out-of-range") in codes(tmp_path, made)
