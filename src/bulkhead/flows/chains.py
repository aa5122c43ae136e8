# SPDX-License-Identifier: Apache-2.0
"""The bound of a cause-effect chain: a request to a server, and its answer (docs/design/devices.md).

The server has a core of its own, serves one request at a time, and in each turn at most one of each chain.
The client has one request under way: the chain's deadline is at most the period of its requests. So at most
one request of each chain is served before a request that has arrived, and all of them together take the sum
of their services. What a request takes of the client's budget is counted with all that its other chains take.
Used by planning/chains.py and by tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
    """A budget of events in each period, after which the core stops until the period's end."""

    events: int
    period: int  # ns

    def stalls(self, events: int) -> int:
        """The longest time for which the core stops while it causes so many events. The budget may be spent
        when it begins."""
        return -(-events // self.events) * self.period


@dataclass(frozen=True)
class ChainBound:
    """The parts of a chain's bound, in ns. Their sum bounds the time from the client's sending of a request
    to the arrival of the answer."""

    client: int  # its core
    client_stalls: int  # the client's core is stopped by its budget
    request: int  # bound of the request's flow
    queue: int  # requests of other chains that are served before
    server_stalls: int
    service: int  # of its own request, core and device
    answer: int  # bound of the answer's flow

    @property
    def total(self) -> int:
        at_client = self.client + self.client_stalls
        at_server = self.queue + self.server_stalls + self.service
        return at_client + self.request + at_server + self.answer


@dataclass(frozen=True)
class End:
    """What happens at one end: services of a chain's own request and of the other chains', and the budget
    of the core there."""

    own: Service
    others: Sequence[Service] = ()
    supply: Supply | None = None

    @property
    def stalls(self) -> int:
        lines = self.own.lines + sum(other.lines for other in self.others)
        return 0 if self.supply is None else self.supply.stalls(lines)


def device_time(latency: int, nbytes: int, rate: int) -> int:
    """Service time of a latency-rate server (Stiliadis and Varma, 1998), in ns, rounded up."""
    return latency - (-nbytes * 10**9 // rate)


def chain_bound(client: End, server: End, *, request: int, answer: int) -> ChainBound:
    """`request`, `answer`: bounds of the two flows."""
    return ChainBound(
        client=client.own.time,
        client_stalls=client.stalls,
        request=request,
        queue=sum(other.time for other in server.others),
        server_stalls=server.stalls,
        service=server.own.time,
        answer=answer,
    )
