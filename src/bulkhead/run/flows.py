# SPDX-License-Identifier: Apache-2.0
"""The results of each flow, from the statistics page.

Called by `result`. Latencies are from a packet's release (when its sender may have it in the queue) to the
notification of its receiver. Missed deadlines, also those of control packets, count only on the simulated
machine: the emulator's time follows the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bulkhead.results.run import FlowResult, MinMeanMaxResult
from bulkhead.run.status import DomainStatus, FlowStatus
from bulkhead.run.target import MACHINE, FlowTarget
from bulkhead.units import time_text

Json = dict[str, object]
_FAILURES = {
    "queue": "the driver put a queue where the device does not reach it (with `socket_pool`: outside of the "
    "pool), or at an address that is not aligned",
    "broker": "the broker found an invalid packet or buffer (with `socket_pool`: also one outside of the "
    "pool), or it ended",
}


def flows_of(
    targets: Sequence[FlowTarget], statuses: Sequence[FlowStatus], domains: Sequence[str]
) -> list[tuple[FlowTarget, FlowStatus]]:
    """Flows of the system file, in its order, and those that a manager has added. A flow whose place another
    has taken is left out."""
    found = zip(places_of(targets, statuses, domains), statuses, strict=True)
    return [(target, status) for target, status in found if status.state != "none"]


def places_of(
    targets: Sequence[FlowTarget], statuses: Sequence[FlowStatus], domains: Sequence[str]
) -> list[FlowTarget]:
    """The flow in each place of the status page: of the system file, or added by a manager."""
    found = []
    for number, status in enumerate(statuses):
        given = targets[number] if number < len(targets) else None
        if given is None or (status.state != "none" and not _is(given, status, domains)):
            given = FlowTarget(
                name=f"added {number}",
                source=_name(domains, status.source),
                destination=_name(domains, status.destination),
                port=status.port,
                packet_bytes=status.packet_bytes,
                period_ns=status.period_ns,
                deadline_ns=status.deadline_ns,
            )
        found.append(given)
    return found


def _name(domains: Sequence[str], index: int) -> str:
    return domains[index] if index < len(domains) else f"domain {index}"


def _is(target: FlowTarget, status: FlowStatus, domains: Sequence[str]) -> bool:
    ends = (_name(domains, status.source), _name(domains, status.destination), status.port)
    return ends == (target.source, target.destination, target.port)


def flows_json(flows: Sequence[tuple[FlowTarget, FlowStatus]]) -> list[FlowResult]:
    """One JSON object for each flow."""
    return [_one(target, status) for target, status in flows]


def flow_reasons(
    flows: Sequence[tuple[FlowTarget, FlowStatus]],
    on: str,
    unheard_ns: Mapping[str, int],
    transfer_ns: Sequence[int],
) -> list[str]:
    """Reasons why flows make a run fail.

    Packets that the broker had not handled at the end are not counted as late, so their waiting time is
    checked here. `unheard_ns`: by domain, time since its first notification that the broker had not heard.
    `transfer_ns`: by broker, time since the start of its engine's transfer. Closed flows are not checked.
    """
    if on != MACHINE:
        return []
    open_ones = [target for target, status in flows if status.state == "open"]
    late = [
        f"flow {target.name}: {status.misses} of {status.packets + status.control_packets} packets were late"
        for target, status in flows
        if status.misses
    ]
    late += [
        f"flow {target.name}: {status.replaced_misses} packets of flows that had its place before were late"
        for target, status in flows
        if status.replaced_misses
    ]
    late += [
        f"flow {target.name}: when the run ended, the broker had not handled a notification of "
        f"'{target.source}' for "
        f"{time_text(unheard_ns[target.source])}, longer than the deadline"
        for target in open_ones
        if unheard_ns.get(target.source, 0) > target.deadline_ns
    ]
    for broker, ns in enumerate(transfer_ns):
        if any(target.broker == broker and ns > target.deadline_ns for target in open_ones):
            late.append(
                "flows: when the run ended, the engine had worked on one transfer for "
                f"{time_text(ns)}, longer than the shortest deadline"
            )
    return late


def flows_without_packets(flows: Sequence[tuple[FlowTarget, FlowStatus]]) -> list[str]:
    """Remarks on flows whose deadline the run did not test, because no packet moved."""
    return [
        f"flow {target.name}: no packet was delivered, so its deadline was not tested"
        for target, status in flows
        if status.packets == 0
    ]


def failed_sockets(domains: Mapping[str, DomainStatus]) -> list[str]:
    """Remarks on domains whose socket device asked the driver for a reset: their flows stood still from then
    on until the reset."""
    return [
        f"domain {name}: its socket device asked the driver for a reset ({domain.socket_failures} in all), "
        f"the last time because {_FAILURES.get(domain.socket_failure, 'of an unknown error')}"
        for name, domain in domains.items()
        if domain.socket_failures
    ]


def _latency(status: FlowStatus) -> MinMeanMaxResult:
    """Latency from release to notification in ns; None without packets."""
    if status.packets == 0:
        return {"min": None, "mean": None, "max": None}
    mean = status.latency_sum_ns // status.packets
    return {"min": status.latency_min_ns, "mean": mean, "max": status.latency_max_ns}


def _one(target: FlowTarget, status: FlowStatus) -> FlowResult:
    return {
        "name": target.name,
        "from": target.source,
        "to": target.destination,
        "port": target.port,
        "size": target.packet_bytes,
        "period_ns": target.period_ns,
        "deadline_ns": target.deadline_ns,
        "packets": status.packets,
        "bytes": status.bytes,
        "control_packets": status.control_packets,
        "latency_ns": _latency(status),
        "bound_ns": target.bound_ns,
        "misses": status.misses,
        "replaced_misses": status.replaced_misses,
        "lost": status.lost,
        "refused": status.refused,
        "unread": status.unread,
        "state": status.state,
    }
