# SPDX-License-Identifier: Apache-2.0
"""What became of each flow, from the statistics page.

Called by `result`. Latencies count from a packet's release (when its sender may have it in the queue) to the
notification of its receiver. Only the simulated machine has a time in which a missed deadline says something:
the emulator's follows the host."""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.run.status import FlowStatus
from bulkhead.run.target import MACHINE, FlowTarget

Json = dict[str, object]


def flows_json(targets: Sequence[FlowTarget], statuses: Sequence[FlowStatus]) -> list[Json]:
    """One object for each flow, in the order of the system file."""
    return [_one(target, status) for target, status in zip(targets, statuses, strict=False)]


def flow_reasons(targets: Sequence[FlowTarget], statuses: Sequence[FlowStatus], on: str) -> list[str]:
    """Why flows make a run fail."""
    if on != MACHINE:
        return []
    return [
        f"flow {target.name}: {status.misses} of {status.packets} packets were late"
        for target, status in zip(targets, statuses, strict=False)
        if status.misses
    ]


def _one(target: FlowTarget, status: FlowStatus) -> Json:
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
        "latency_mean_ns": status.latency_sum_ns // status.packets if status.packets else None,
        "latency_max_ns": status.latency_max_ns if status.packets else None,
        "bound_ns": target.bound_ns,
        "misses": status.misses,
        "lost": status.lost,
        "refused": status.refused,
    }
