# SPDX-License-Identifier: Apache-2.0
"""The bound of a cause-effect chain: a request to a server, and its answer (docs/design/devices.md).

Server and client have cores that work in turns: in each turn at most one request or answer of each chain.
The client has one request under way: the chain's deadline is at most the period of its requests. So at most
one request of each chain is served before a request that has arrived, and all of them together take the sum
of their services. The client works in two portions, of which each may wait for a turn of its other chains.
Used by planning/chains.py and by tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

AT_CLIENT = 2  # portions of work: a request is sent, and its answer taken


@dataclass(frozen=True)
class Service:
    """What a request takes at one end, at most. Times in ns."""

    core: int
    device: int = 0
    lines: int = 0  # events of the budget there

    @property
    def time(self) -> int:
        return self.core + self.device


@dataclass(frozen=True)
class Supply:
    """A budget of events in each period. The core stops at the last of them, until the period's end."""

    events: int
    period: int  # ns
    resume: int = 0  # ns from the period's end to the first instruction

    def stalls(self, events: int, portions: int = 1) -> int:
        """The longest time for which the core stops while it causes so many events, in separate portions of
        work. The core may be stopped when a portion begins."""
        return (events // self.events + portions) * (self.period + self.resume)


@dataclass(frozen=True)
class ChainBound:
    """The parts of a chain's bound, in ns. Their sum bounds the time from the client's sending of a request
    to the arrival of the answer."""

    client: int  # its core
    client_others: int  # the client's core works on its other chains
    client_stalls: int  # the client's core is stopped by its budget
    request: int  # bound of the request's flow
    queue: int  # requests of other chains that are served before
    server_stalls: int
    service: int  # of its own request, core and device
    answer: int  # bound of the answer's flow
    # Not a part of the sum: the longest time from the moment at which an answer that was held may leave,
    # until it has left. The server may have begun a turn of the other chains.
    blocking: int

    @property
    def total(self) -> int:
        at_client = self.client + self.client_others + self.client_stalls
        at_server = self.queue + self.server_stalls + self.service
        return at_client + self.request + at_server + self.answer


@dataclass(frozen=True)
class End:
    """What happens at one end: services of a chain's own request and of the other chains', and the budget
    of the core there."""

    own: Service
    others: Sequence[Service] = ()
    supply: Supply | None = None

    def stalls(self, portions: int) -> int:
        """In each portion of its work for the chain, the core works once on each other chain."""
        lines = self.own.lines + portions * sum(other.lines for other in self.others)
        return 0 if self.supply is None else self.supply.stalls(lines, portions)


def device_time(latency: int, nbytes: int, rate: int) -> int:
    """Service time of a latency-rate server (Stiliadis and Varma, 1998), in ns, rounded up."""
    return latency - (-nbytes * 10**9 // rate)


def chain_bound(client: End, server: End, *, request: int, answer: int) -> ChainBound:
    """`request`, `answer`: bounds of the two flows."""
    queue, server_stalls = sum(other.time for other in server.others), server.stalls(portions=1)
    return ChainBound(
        client=client.own.time,
        client_others=AT_CLIENT * sum(other.time for other in client.others),
        client_stalls=client.stalls(AT_CLIENT),
        request=request,
        queue=queue,
        server_stalls=server_stalls,
        service=server.own.time,
        answer=answer,
        blocking=queue + server_stalls + server.own.core,
    )
