# SPDX-License-Identifier: Apache-2.0
"""Rules of a system file's `chains`: what must hold so that the bound of a chain does.

Called by admission/crosscheck.py. Whether a chain meets its deadline is decided in planning/chains.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.system import Chain, Domain, System
from bulkhead.config.ways import Way, ways_of
from bulkhead.planning.broker import core_of
from bulkhead.planning.broker_parts import parts_of
from bulkhead.planning.device_rates import rates_of
from bulkhead.units import time_text

Findings = Iterator[Finding]


def check_chains(system: System, platform: Platform) -> Findings:
    ways = {way.name: way for way in ways_of(system.flows)}
    names: set[str] = set()
    used: set[str] = set()
    for number, chain in enumerate(system.chains):
        at: KeyPath = ("chains", number)
        if chain.name in names:
            yield Finding(
                (*at, "name"), "duplicate-name", f"a second chain is named '{chain.name}'", "each name once"
            )
        names.add(chain.name)
        found = list(_of_flows(at, chain, ways, used))
        used |= {chain.request, chain.answer_name}
        yield from found
        if found:
            continue
        client, server = (system.domain(name) for name in (ways[chain.request].from_, ways[chain.request].to))
        if client is not None and server is not None:
            yield from _of_budgets(at, chain, client, server)
            yield from _of_cores(at, server, system, platform)
            yield from _of_other_flows(at, client, server, system, ways)
            yield from _of_device(at, chain, server, system, platform)


def _of_flows(at: KeyPath, chain: Chain, ways: dict[str, Way], used: set[str]) -> Findings:
    request, answer = ways.get(chain.request), ways.get(chain.answer_name)
    if request is None or request.group is not None:
        cause = f"there is no flow {quoted(chain.request)} with one receiver"
        simple = [name for name, way in ways.items() if way.group is None]
        yield Finding(
            (*at, "request"),
            "unknown-name",
            cause,
            ", ".join(simple) or "none",
            nearest_of(chain.request, simple),
        )
        return
    if answer is None:
        if chain.answer is None:
            cause = f"flow '{chain.request}' has no way back, and no `answer` is named"
            yield Finding((*at, "request"), "no-answer", cause, "`back` of the flow, or the key `answer`")
        else:
            cause = f"there is no flow {quoted(chain.answer)}"
            yield Finding((*at, "answer"), "unknown-name", cause, None, nearest_of(chain.answer, list(ways)))
        return
    if (answer.from_, answer.to) != (request.to, request.from_):
        cause = (
            f"'{answer.name}' goes from '{answer.from_}' to '{answer.to}', and the request from "
            f"'{request.from_}' to '{request.to}'"
        )
        yield Finding((*at, "answer"), "conflict", cause, "a flow from the server to the client")
        return
    for key, way in (("request", request), ("answer", answer)):
        if way.name in used:
            cause = f"flow '{way.name}' belongs to another chain"
            yield Finding((*at, key), "duplicate-name", cause, "each flow in one chain")
    if chain.deadline > request.period:
        cause = (
            f"is {time_text(chain.deadline)}, and the client may send the next request after "
            f"{time_text(request.period)}: more than one would be under way"
        )
        yield Finding((*at, "deadline"), "out-of-range", cause, f"up to {time_text(request.period)}")


def _of_cores(at: KeyPath, server: Domain, system: System, platform: Platform) -> Findings:
    beside = [
        f"'{one.name}'" for one in system.domains if one is not server and set(one.cpus) & set(server.cpus)
    ]
    if any(core_of(part.system, platform) in server.cpus for part in parts_of(system)):
        beside.append("a broker")
    if beside:
        cause = f"the server '{server.name}' shares a core with {', '.join(beside)}"
        yield Finding((*at, "request"), "conflict", cause, "a server with a core of its own")


def _of_other_flows(
    at: KeyPath, client: Domain, server: Domain, system: System, ways: dict[str, Way]
) -> Findings:
    """What else takes the time of the two ends is not in the bound."""
    there, back = ({getattr(one, key) for one in system.chains} for key in ("request", "answer_name"))
    for part, domain, sent, taken in (("server", server, back, there), ("client", client, there, back)):
        for way in ways.values():
            if way.from_ == domain.name and way.name not in sent:
                does = "sends"
            elif way.to == domain.name and way.name not in taken:
                does = "receives"
            else:
                continue
            cause = f"the {part} '{domain.name}' also {does} '{way.name}', whose packets take its time, too"
            yield Finding((*at, "request"), "conflict", cause, "flows of chains only, at both ends")
            break


def _of_budgets(at: KeyPath, chain: Chain, client: Domain, server: Domain) -> Findings:
    for key, domain in (("client_lines", client), ("server_lines", server)):
        if not domain.bandwidth.unlimited and getattr(chain, key) is None:
            cause = f"'{domain.name}' has a bandwidth budget, which can stop it while it works on a request"
            yield Finding((*at, key), "missing-key", cause, "most events of the budget for a request")


def _of_device(at: KeyPath, chain: Chain, server: Domain, system: System, platform: Platform) -> Findings:
    if chain.device is None:
        return
    name = chain.device.name
    if name not in server.devices:
        cause = f"the server '{server.name}' has no device {quoted(name)}"
        known = list(server.devices)
        yield Finding(
            (*at, "device", "name"),
            "unknown-name",
            cause,
            ", ".join(known) or "none",
            nearest_of(name, known),
        )
        return
    device = platform.passable().get(name)
    most = None if device is None else device.rate
    if most is not None and chain.device.rate > most:
        cause = f"is more than the {most / 1e6:g} MB/s that '{name}' moves at most"
        yield Finding((*at, "device", "rate"), "out-of-range", cause, f"up to {most / 1e6:g} MB/s")
    limit = next((one for one in rates_of(system, server, platform) if one.device == name), None)
    if limit is not None and limit.dynamic:
        cause = f"'{name}' has no constant rate: the regulator changes it (`regulation.devices`)"
        yield Finding((*at, "device", "rate"), "conflict", cause, "`device_rates` alone")
        return
    regulated = limit.register if limit is not None else None
    if regulated is not None and chain.device.rate > regulated.value * regulated.step:
        each = float(regulated.value * regulated.step) / 1e6
        cause = f"is more than the {each:g} MB/s that the regulator lets '{name}' read, and write"
        allowed = f"up to {each:g} MB/s, or more in `device_rates`: each direction gets half of it"
        yield Finding((*at, "device", "rate"), "out-of-range", cause, allowed)
