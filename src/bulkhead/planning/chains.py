# SPDX-License-Identifier: Apache-2.0
"""Bounds of the chains of a system (flows/chains.py), from the bounds of its flows and what the file states
of its servers. A chain whose bound is longer than its deadline is refused, and one whose answers would pile
up.

Called by planning/flows.py when the flows are schedulable.
"""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.config.system import Chain, Domain, System
from bulkhead.config.ways import Way, ways_of
from bulkhead.flows.chains import ChainBound, End, Service, Supply, chain_bound, device_time
from bulkhead.flows.model import FlowModel
from bulkhead.flows.response import bounds_ns
from bulkhead.planning.budgets import budget_of, counted_event
from bulkhead.units import time_text


@dataclass(frozen=True)
class PlannedChain:
    """A chain, its ends and its bound."""

    chain: Chain
    client: str
    server: str
    bound: ChainBound

    def parts(self) -> str:
        bound, named = self.bound, []
        for name, ns in (
            ("client", bound.client),
            ("its other chains", bound.client_others),
            ("stops by the client's budget", bound.client_stalls),
            (f"flow '{self.chain.request}'", bound.request),
            ("requests of other chains", bound.queue),
            ("stops by the server's budget", bound.server_stalls),
            ("service", bound.service),
            (f"flow '{self.chain.answer_name}'", bound.answer),
        ):
            if ns:
                named.append(f"{name} {time_text(ns)}")
        return ", ".join(named)


def plan_chains(
    system: System, platform: Platform, model: FlowModel, rate: int
) -> tuple[tuple[PlannedChain, ...], list[Finding]]:
    """The chains' bounds at this rate of the broker, and findings: chains without one, and late ones."""
    if not system.chains:
        return (), []
    bounds = dict(zip((way.name for way in model.ways), bounds_ns(model, rate), strict=True))
    ways = {way.name: way for way in ways_of(system.flows)}
    planned, findings = [], []
    for number, chain in enumerate(system.chains):
        client, server = (system.domain(name) for name in (ways[chain.request].from_, ways[chain.request].to))
        assert client is not None
        assert server is not None
        supplies = [_supply(domain, system, platform) for domain in (client, server)]
        if without := [why for _, why in supplies if why is not None]:
            findings.append(Finding(("chains", number, "request"), "no-bound", without[0]))
            continue
        others = [other for other in system.chains if other is not chain]
        bound = chain_bound(
            End(
                _at_client(chain),
                [_at_client(other) for other in others if ways[other.request].from_ == client.name],
                supplies[0][0],
            ),
            End(
                _at_server(chain),
                [_at_server(other) for other in others if ways[other.request].to == server.name],
                supplies[1][0],
            ),
            request=bounds[chain.request],
            answer=bounds[chain.answer_name],
        )
        planned.append(PlannedChain(chain, client.name, server.name, bound))
        if ways[chain.answer_name].period + bound.blocking > ways[chain.request].period:
            findings.append(_piled_up(number, chain, bound, ways))
        if bound.total > chain.deadline:
            findings.append(_late(number, planned[-1]))
    return tuple(planned), findings


def _at_client(chain: Chain) -> Service:
    return Service(chain.client_time, lines=chain.client_lines or 0)


def _at_server(chain: Chain) -> Service:
    device = chain.device
    return Service(
        chain.server_time,
        0 if device is None else device_time(device.latency, device.bytes, device.rate),
        chain.server_lines or 0,
    )


def _supply(domain: Domain, system: System, platform: Platform) -> tuple[Supply | None, str | None]:
    """The budget of an end; or why its stops have no bound."""
    managers = [one.name for one in system.domains if one.manager]
    if managers:
        return None, f"'{managers[0]}' is a manager, which may change budgets and add flows in the run"
    if system.enforced_cpu_time(domain) is not None:
        return None, f"the budget of CPU time of '{domain.name}' stops it, too"
    if domain.bandwidth.max is not None:
        return None, f"for how long MPAM's maximum stops '{domain.name}' is not known"
    if domain.bandwidth.unlimited:
        return None, None
    policy = system.regulation.policy if system.regulation is not None else "none"
    if policy not in ("none", "static"):
        return None, f"the regulator '{policy}' changes the budget of '{domain.name}' while it runs"
    if system.regulation is not None and system.regulation.reclaim:
        return None, f"'{domain.name}' may give away a part of its budget (`regulation.reclaim`)"
    budget = budget_of(domain.bandwidth, len(domain.cpus), counted_event(platform, emulated=False))
    if budget is None or budget.events is None:
        return None, f"the events of the budget of '{domain.name}' cannot be counted on '{platform.name}'"
    if budget.shared:
        return None, f"the VCPUs of '{domain.name}' share a budget, which others of them may use"
    least = min(budget.events, budget.second_events or budget.events) - budget.slack_events
    if least <= 0:
        return None, f"the budget of '{domain.name}' allows nothing in a period"
    resume = 0 if platform.release_delay is None else platform.release_delay.bound
    return Supply(least, budget.period_ns, resume), None


def _piled_up(number: int, chain: Chain, bound: ChainBound, ways: dict[str, Way]) -> Finding:
    request, answer = ways[chain.request].period, ways[chain.answer_name].period
    cause = (
        f"answers may come every {time_text(answer)}, one that was held may wait for the server for "
        f"{time_text(bound.blocking)}, and requests come every {time_text(request)}: answers would pile up"
    )
    most = request - bound.blocking
    allowed = f"a period of the answers of up to {time_text(most)}" if most > 0 else "a longer period of both"
    return Finding(("chains", number, "answer"), "answers-too-slow", cause, allowed)


def _late(number: int, planned: PlannedChain) -> Finding:
    total, deadline = planned.bound.total, planned.chain.deadline
    cause = f"may take {time_text(total)} ({planned.parts()}), longer than {time_text(deadline)}"
    return Finding(("chains", number, "deadline"), "chain-late", cause, f"at least {time_text(total)}")
