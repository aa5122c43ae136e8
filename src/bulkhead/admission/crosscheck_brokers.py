# SPDX-License-Identifier: Apache-2.0
"""Rules of the keys `broker` and `brokers`: who serves whom, and what two brokers cannot have in common.

crosscheck.py calls this. What must hold for one broker is checked for its part of the system alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bulkhead.admission.broker_engine import check_broker_engine
from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.system import CPU_COPY, Flow, System
from bulkhead.planning import broker
from bulkhead.planning.broker_parts import parts_of

Findings = Iterator[Finding]


def check_brokers(system: System, platform: Platform) -> Findings:
    """Why the brokers cannot move the packets of the system's flows."""
    if system.flows and system.broker is None and not system.brokers:
        yield Finding(("broker",), "missing-key", "flows need the key 'broker'", "broker: { cpu: auto, ... }")
    yield from _cores(system, platform)
    unserved = list(_division(system))
    yield from unserved
    if system.flows:
        yield from broker.flow_findings(system, platform)
    if system.flows and not unserved:
        for part in parts_of(system):
            yield from part.in_file(broker.findings(part.system, platform))
            yield from part.in_file(check_broker_engine(part.system, platform))
        yield from _apart(system, platform)


def _cores(system: System, platform: Platform) -> Findings:
    keys: list[tuple[KeyPath, int | None]] = [
        (("brokers", name), one.cpu) for name, one in system.brokers.items()
    ]
    if system.broker is not None:
        keys.append((("broker",), system.broker.cpu))
    for key, core in keys:
        if core is not None and core >= platform.cores.count:
            cause = f"platform '{platform.name}' has no core {core}"
            yield Finding((*key, "cpu"), "out-of-range", cause, f"auto, or 0 to {platform.cores.count - 1}")


def _division(system: System) -> Findings:
    """Each socket has one broker, and each flow has both ends at the same one."""
    if system.broker is not None:
        if system.brokers:
            cause = "a system has the key 'broker' or the key 'brokers'"
            yield Finding(("brokers",), "conflict", cause, "the broker as one of `brokers`")
        elif system.broker.domains:
            cause = "the only broker serves all domains with a socket"
            yield Finding(("broker", "domains"), "conflict", cause, "no `domains`, or `brokers`")
    if not system.brokers:
        return
    most = limits()["max_brokers"]
    if len(system.brokers) > most:
        cause = f"{len(system.brokers)} brokers are more than the hypervisor has room for"
        yield Finding(("brokers",), "limit", cause, f"at most {most}")
    yield from _domains(system)
    served = _served(system)
    for index, domain in enumerate(system.domains):
        if domain.name in broker.sockets_of(system) and domain.name not in served:
            cause = f"no broker serves '{domain.name}', which has a socket"
            allowed = f"'{domain.name}' in `domains` of {_or(system.brokers)}"
            yield Finding(("domains", index, "name"), "no-broker", cause, allowed)
    for number, flow in enumerate(system.flows):
        yield from _between(number, flow, served, system)


def _domains(system: System) -> Findings:
    names = [domain.name for domain in system.domains]
    seen: dict[str, str] = {}
    for key, one in system.brokers.items():
        at: KeyPath = ("brokers", key, "domains")
        if not one.domains:
            yield Finding(at, "missing-key", f"broker '{key}' serves no domain", "the domains that it serves")
        elif not any(flow.from_ in one.domains for flow in system.flows):
            cause = f"broker '{key}' has no flow to move packets of"
            yield Finding(at, "no-effect", cause, "a flow between its domains, or no such broker")
        for place, name in enumerate(one.domains):
            if name not in names:
                cause = f"there is no domain {quoted(name)}"
                near = nearest_of(name, names)
                yield Finding((*at, place), "unknown-name", cause, ", ".join(names), near)
            elif name in seen:
                cause = f"'{name}' has one socket device, whose queues broker '{seen[name]}' owns already"
                yield Finding((*at, place), "duplicate-name", cause, "each domain at one broker")
            seen.setdefault(name, key)


def _served(system: System) -> dict[str, str]:
    """The broker of each domain."""
    return {name: key for key, one in system.brokers.items() for name in one.domains}


def _between(number: int, flow: Flow, served: dict[str, str], system: System) -> Findings:
    """A flow whose ends have different brokers, and what can be done instead."""
    own = served.get(flow.from_)
    for place, name in enumerate(flow.receivers):
        other = served.get(name)
        if own is None or other is None or own == other:
            continue
        at: KeyPath = ("flows", number, "to", *((place,) if len(flow.receivers) > 1 else ()))
        cause = (
            f"flow '{flow.name}' goes from '{flow.from_}' at broker '{own}' to '{name}' at broker '{other}', "
            "and no broker reaches memory of another one's domains"
        )
        moves = sorted(
            ((_together(name, other, system), own), (_together(flow.from_, own, system), other)),
            key=lambda move: len(move[0]),
        )
        allowed = [f"{_and(names)} in `domains` of '{to}'" for names, to in moves]
        yield Finding(at, "two-brokers", cause, ", or ".join((*allowed, "one broker")))


def _together(name: str, key: str, system: System) -> list[str]:
    """The domains of a broker that have to move with one of them, because flows connect them."""
    own = set(system.brokers[key].domains)
    found = {name}
    while True:
        more = {
            end
            for flow in system.flows
            for ends in [{flow.from_, *flow.receivers} & own]
            if ends & found
            for end in ends
        }
        if more <= found:
            return [one for one in system.brokers[key].domains if one in found]
        found |= more


def _apart(system: System, platform: Platform) -> Findings:
    """Two brokers share neither a core nor an engine."""
    cores: dict[int, str] = {}
    engines: dict[str, str] = {}
    for part in parts_of(system) if system.brokers else ():
        key, one = part.name, system.brokers[part.name]
        # The hypervisor's engine is a device that has a name of its own, too.
        device = broker.engine_of(part.system, platform) or broker.own_engine_of(part.system, platform)
        engine = one.engine if device is None else device.name
        if one.cpu is not None and one.cpu in cores:
            cause = f"broker '{cores[one.cpu]}' has core {one.cpu}, and each broker needs a core of its own"
            yield Finding(("brokers", key, "cpu"), "conflict", cause, "another core, or auto")
        if engine in engines:
            cause = f"broker '{engines[engine]}' has '{engine}', and an engine copies for one broker"
            yield Finding(("brokers", key, "engine"), "conflict", cause, f"another engine, or {CPU_COPY}")
        if one.cpu is not None:
            cores.setdefault(one.cpu, key)
        if not one.copies:
            engines.setdefault(engine, key)


def _and(names: list[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def _or(names: Iterable[str]) -> str:
    return " or ".join(f"'{name}'" for name in names)
