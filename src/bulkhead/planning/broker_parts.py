# SPDX-License-Identifier: Apache-2.0
"""The brokers of a system, and the system as each of them sees it.

Each broker serves its own domains: it owns their queues, and moves the packets of all flows between them. No
flow has ends at two brokers, so each part is planned and analyzed as a system of its own. Only the memory is
shared (planning/flows.py). Used by cross-checks, the planner, the builder and runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.system import System
from bulkhead.config.ways import ways_of
from bulkhead.planning.broker import broker_domain


@dataclass(frozen=True)
class BrokerPart:
    """A broker with what it serves."""

    name: str  # of its domain
    key: KeyPath  # of the broker in the file
    system: System  # as this broker sees it
    flows: tuple[int, ...]  # numbers in the file of its flows
    chains: tuple[int, ...]  # and of its chains

    def in_file(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings about the part, with their keys in the file."""
        for finding in findings:
            yield replace(finding, path=self._key(finding.path))

    def _key(self, path: KeyPath) -> KeyPath:
        if path[:1] == ("broker",):
            return (*self.key, *path[1:])
        for key, numbers in (("flows", self.flows), ("chains", self.chains)):
            if path[:1] == (key,) and len(path) > 1 and isinstance(path[1], int):
                return (key, numbers[path[1]], *path[2:])
        return path


def parts_of(system: System) -> tuple[BrokerPart, ...]:
    """All brokers of a system with flows, in the order of the file. The only broker serves all domains."""
    if not system.flows:
        return ()
    if not system.brokers:
        every = (tuple(range(len(system.flows))), tuple(range(len(system.chains))))
        return () if system.broker is None else (BrokerPart(system.broker.name, ("broker",), system, *every),)
    return tuple(_part(system, name) for name in system.brokers)


def part_of(system: System, name: str) -> BrokerPart | None:
    """The broker whose domain has this name; None: it is another domain."""
    return next((part for part in parts_of(system) if part.name == name), None)


def number_of(system: System, name: str) -> int | None:
    """Number of the broker that a domain is, or that serves it; None: neither."""
    for number, part in enumerate(parts_of(system)):
        broker = part.system.broker
        if name == part.name or (broker is not None and name in (broker.domains or (name,))):
            return number
    return None


def with_broker(system: System, platform: Platform) -> System:
    """A checked system; if it has flows, with its brokers added as its last domains."""
    found = [broker_domain(part.system, platform) for part in parts_of(system)]
    brokers = [domain for domain in found if domain is not None]
    return system.model_copy(update={"domains": (*system.domains, *brokers)}) if brokers else system


def _part(system: System, name: str) -> BrokerPart:
    broker = system.brokers[name].called(name)
    flows = [number for number, flow in enumerate(system.flows) if flow.from_ in broker.domains]
    own = tuple(system.flows[number] for number in flows)
    ways = {way.name for way in ways_of(own)}
    chains = [number for number, chain in enumerate(system.chains) if chain.request in ways]
    domains = tuple(
        domain if domain.name in broker.domains else domain.model_copy(update={"socket": False})
        for domain in system.domains
    )
    seen = {
        "broker": broker,
        "domains": domains,
        "flows": own,
        "chains": tuple(system.chains[number] for number in chains),
    }
    return BrokerPart(name, ("brokers", name), system.model_copy(update=seen), tuple(flows), tuple(chains))
