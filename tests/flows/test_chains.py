# SPDX-License-Identifier: Apache-2.0
"""Bounds of chains (D3, F7): a request along a flow, its service, and the answer along another flow.

The server is simulated step by step, with flows, services and budgets that take as long as they may; no
answer is later than the bound. With one of the rules that the bound rests on left out, some are.
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
from bulkhead.config.system import Regulation
from bulkhead.flows.chains import ChainBound, End, Service, Supply, chain_bound, device_time
from bulkhead.planning.chains import plan_chains
from bulkhead.planning.flow_result import flows_json
from tests.command_line import run, run_json

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "server.yaml"
SETS = 300
pytestmark = pytest.mark.req("D3", "F7")


@dataclass
class Client:
    """A client with its chain at the server."""

    service: Service
    request: int  # bounds of the two flows
    answer: int
    period: int
    hostile: bool = False  # sends as fast as it can
    pending: list[tuple[int, int]] = field(default_factory=list)  # (arrival, sent), by arrival
    last_answer: int = -(10**9)


@dataclass
class Core:
    """The server's core: its budget is spent when a busy time begins."""

    supply: Supply | None
    now: int = 0
    left: int = 0
    refill: int = 0

    def idle_until(self, when: int, draw: random.Random) -> None:
        self.now = when
        if self.supply is not None:
            until_refill = draw.choice((self.supply.period, draw.randrange(1, self.supply.period + 1)))
            self.left, self.refill = 0, when + until_refill

    def work(self, service: Service) -> None:
        for _ in range(service.lines):
            self._line()
        self.now += service.time

    def _line(self) -> None:
        if self.supply is None:
            return
        while self.refill <= self.now:
            self.left, self.refill = self.supply.events, self.refill + self.supply.period
        if self.left == 0:
            self.now = self.refill
            self.left, self.refill = self.supply.events, self.refill + self.supply.period
        self.left -= 1


@dataclass(frozen=True)
class Rules:
    turns: bool = True  # at most one request of each chain in a turn
    conserving: bool = True  # it serves others while an answer waits for its period
    spaced: bool = True  # answers leave a period apart


def bounds_of(clients: list[Client], supply: Supply | None) -> list[ChainBound]:
    return [
        chain_bound(
            End(Service(0)),
            End(one.service, [other.service for other in clients if other is not one], supply),
            request=one.request,
            answer=one.answer,
        )
        for one in clients
    ]


def simulate(
    clients: list[Client], supply: Supply | None, draw: random.Random, rules: Rules, rounds: int = 12
) -> tuple[list[int], list[int]]:
    """The longest time from a request to its answer of each client, and the shortest time between two answers
    that left."""
    for one in clients:
        sent = draw.choice((0, draw.randrange(one.period)))
        for _ in range(rounds * (6 if one.hostile else 1)):
            arrival = sent + draw.choice((one.request, draw.randrange(one.request + 1)))
            one.pending.append((arrival, sent))
            sent += draw.randrange(1, 4) if one.hostile else one.period + draw.choice((0, draw.randrange(9)))
        one.pending.sort()
    core, place = Core(supply), 0
    longest, apart = [0] * len(clients), [10**9] * len(clients)
    while any(one.pending for one in clients):
        next_arrival = min(one.pending[0][0] for one in clients if one.pending)
        if next_arrival > core.now:
            core.idle_until(next_arrival, draw)
        order = [(place + step) % len(clients) for step in range(len(clients))]
        chosen = next(
            number
            for number in (order if rules.turns else range(len(clients)))
            if clients[number].pending and clients[number].pending[0][0] <= core.now
        )
        one = clients[chosen]
        place = chosen + 1
        _, sent = one.pending.pop(0)
        core.work(one.service)
        leaves = max(core.now, one.last_answer + one.period) if rules.spaced else core.now
        if not rules.conserving:
            core.now = leaves
        apart[chosen] = min(apart[chosen], leaves - one.last_answer)
        one.last_answer = leaves
        answered = leaves + draw.choice((one.answer, draw.randrange(one.answer + 1)))
        longest[chosen] = max(longest[chosen], answered - sent)
    return longest, apart


def random_set(seed: int, *, hostile: bool = False) -> tuple[list[Client], Supply | None, random.Random]:
    """A set that `check` would accept: each bound is at most the period."""
    draw = random.Random(seed)
    supply = draw.choice((None, Supply(draw.randrange(1, 9), draw.randrange(20, 200))))
    clients = [
        Client(
            Service(draw.randrange(1, 60), draw.choice((0, draw.randrange(80))), draw.randrange(10)),
            draw.randrange(1, 100),
            draw.randrange(1, 100),
            0,
        )
        for _ in range(draw.randrange(1, 6))
    ]
    for one, bound in zip(clients, bounds_of(clients, supply), strict=True):
        one.period = bound.total + draw.choice((0, draw.randrange(100)))
    if hostile:
        clients[0].hostile = True
    return clients, supply, draw


@pytest.mark.parametrize("hostile", [False, True])
def test_no_simulated_answer_is_later_than_the_bound(hostile: bool) -> None:
    """Also beside a client that sends more than it declared: its requests wait for its own turns."""
    closest = 0.0
    for seed in range(SETS):
        clients, supply, draw = random_set(seed, hostile=hostile)
        bounds = bounds_of(clients, supply)
        longest, apart = simulate(clients, supply, draw, Rules())
        for number, one in enumerate(clients):
            if one.hostile:
                continue
            assert longest[number] <= bounds[number].total, f"seed {seed}, chain {number}"
            assert apart[number] >= one.period, "answers are as sporadic as the analysis of flows assumes"
            closest = max(closest, longest[number] / bounds[number].total)
    assert closest > 0.9, "the simulation reaches long times"


@pytest.mark.parametrize("rules", [Rules(turns=False), Rules(conserving=False)])
def test_without_a_rule_answers_are_late(rules: Rules) -> None:
    late = 0
    for seed in range(SETS):
        clients, supply, draw = random_set(seed, hostile=True)
        bounds = bounds_of(clients, supply)
        longest, _ = simulate(clients, supply, draw, rules)
        late += any(most > bound.total for most, bound in list(zip(longest, bounds, strict=True))[1:])
    assert late > SETS // 20


def test_answers_that_leave_at_once_come_closer_than_their_flow_allows() -> None:
    found = 0
    for seed in range(SETS):
        clients, supply, draw = random_set(seed)
        _, apart = simulate(clients, supply, draw, Rules(spaced=False))
        found += any(least < one.period for least, one in zip(apart, clients, strict=True))
    assert found


def test_the_bound_is_reached_exactly() -> None:
    """All requests arrive at once, and the server serves the others first."""
    clients = [Client(Service(7 + n, 5 * n), 20, 30, 1000) for n in range(4)]
    bounds = bounds_of(clients, None)
    for one in clients:
        one.pending = [(20, 0)]
    core = Core(None, now=20)
    for one in clients:
        core.work(one.service)
    assert core.now + 30 == bounds[-1].total


def test_the_stalls_are_reached_exactly() -> None:
    """A budget that is spent at the begin of a period stops the core once for each budget."""
    for events, period, lines in ((4, 100, 8), (4, 100, 9), (1, 30, 5), (7, 50, 0)):
        core = Core(Supply(events, period), now=0, left=0, refill=period)
        core.work(Service(0, 0, lines))
        assert core.now == Supply(events, period).stalls(lines)


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
    planned = check_flows(loaded).planned
    assert planned is not None
    for chain in flows_json(planned)["chains"]:
        parts: dict[str, Any] = dict(chain["parts"])
        assert chain["bound_ns"] == sum(parts.values()) <= chain["deadline_ns"]
    disk, net = (one.bound for one in planned.chains)
    assert disk.service == 60_000 + 40_000 + 20_480 == net.queue
    assert net.service == 60_000 + 30_000 + 10_240 == disk.queue
    assert disk.client_stalls == -(-1100 // (300 - 4)) * 100_000, "of both chains; counters have slack"
    assert disk.server_stalls == -(-900 // (200 - 3)) * 100_000


def test_check_and_flows_check_show_the_parts() -> None:
    for command in ("check",), ("plan",), ("flows", "check"):
        code, text = run(*command, EXAMPLE)
        assert code == 0
        words = " ".join(text.split())
        assert "chain net: from 'client' to 'server' and back in at most" in words
        assert "stops by the server's budget 500.0 us, service 100.2 us, flow 'net.back'" in words
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
    planned = check_flows(loaded).planned
    assert loaded.system is not None and loaded.platform is not None and planned is not None
    changed = loaded.system.model_copy(update={"regulation": regulation})
    if bandwidth is not None:
        limit = {"bandwidth": Bandwidth.model_validate(bandwidth)}
        domains = tuple(one.model_copy(update=limit) for one in loaded.system.domains)
        changed = loaded.system.model_copy(update={"domains": domains})
    _, findings = plan_chains(changed, loaded.platform, planned.model, planned.rate)
    found = [(one.path, one.code) for one in findings]
    assert found == [(("chains", number, "request"), "no-bound") for number in (0, 1)]


def test_vcpus_that_share_a_budget_may_have_drawn_a_part_of_it() -> None:
    loaded = load_system(EXAMPLE)
    planned = check_flows(loaded).planned
    assert loaded.system is not None and loaded.platform is not None and planned is not None
    small = Bandwidth.model_validate({"events": 16, "counts": "refills"})
    stalls = []
    for cpus in ((1,), (1, 1)):
        domains = tuple(
            one.model_copy(update={"cpus": cpus, "bandwidth": small}) if one.name == "server" else one
            for one in loaded.system.domains
        )
        changed = loaded.system.model_copy(update={"domains": domains})
        found, _ = plan_chains(changed, loaded.platform, planned.model, planned.rate)
        stalls.append(found[0].bound.server_stalls)
    assert stalls == [Supply(16, 10**6).stalls(900), Supply(15, 10**6).stalls(900)]


def test_a_deadline_below_the_bound_is_refused_with_the_parts(tmp_path: Path) -> None:
    made = system(lambda one: one["chains"][0].update(deadline="2 ms"))
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
    made["domains"][3]["cpus"] = [1]


def _stray_flow(made: dict[str, Any]) -> None:
    made["flows"].append({**made["flows"][0], "name": "stray", "to": "server"})


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
        (_set("flows.1.back.period", "3 ms"), "chains[0].answer", "answers-too-slow"),
        (_set("chains.0.deadline", "2600 us"), "chains[0].deadline", "out-of-range"),
        (_shared_server, "chains[0].request", "conflict"),
        (_stray_flow, "chains[0].request", "conflict"),
        (_set("chains.0.client_lines", None), "chains[0].client_lines", "missing-key"),
        (_set("chains.0.server_lines", None), "chains[0].server_lines", "missing-key"),
        (_set("chains.0.device.name", "nvme"), "chains[0].device.name", "unknown-name"),
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
    platform.write_text(text.replace("    per_line: 18.6 ns", "    rate: 300 MB/s\n    per_line: 18.6 ns"))
    made = system(_set("platform", str(platform)))
    made["domains"][1]["device_rates"] = {}
    assert ("chains[0].device.rate", "out-of-range") in codes(tmp_path, made)
