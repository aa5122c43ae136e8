# SPDX-License-Identifier: Apache-2.0
"""Activity of shared cores and of flows in a window of a run: rows for `bulkhead top`.

Called by `live` with two reads of the statistics pages. Shares and rates are those of the window. Longest
release delays, longest latencies and misses are those of the whole run, since a promise that was broken once
stays broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bulkhead.results.top import LiveCoreResult, LiveFlowResult, LiveVcpuResult
from bulkhead.run.flows import flows_of
from bulkhead.run.status import CoreStatus, FlowStatus, SharedVcpu
from bulkhead.run.target import Target

_QUEUED = ("ready", "running")  # states of a VCPU that runs or waits for the core


def core_rows(
    target: Target,
    cores: Sequence[CoreStatus],
    before: Mapping[int, CoreStatus],
    seconds: float | None,
) -> list[LiveCoreResult]:
    """One object for each shared core: number of runnable VCPUs, rate of switches, and each VCPU's share.
    `seconds`: length of the window; None: not known."""
    rows: list[LiveCoreResult] = []
    for core in cores:
        if not core.shared:
            continue
        old = before.get(core.core)
        was = {(one.domain, one.vcpu): one for one in old.shared} if old is not None else {}
        switches = core.switches - (old.switches if old is not None else 0)
        rows.append(
            {
                "core": core.core,
                "scheduler": target.policy.scheduler,
                "release_bound_ns": target.policy.release_bound_ns,
                "runnable": sum(one.state in _QUEUED for one in core.shared),
                "switches_per_s": switches / seconds if seconds else None,
                "vcpus": [
                    _vcpu(target, one, was.get((one.domain, one.vcpu)), seconds)
                    for one in core.shared
                    if one.domain < len(target.domains)
                ],
            }
        )
    return rows


def _vcpu(target: Target, one: SharedVcpu, was: SharedVcpu | None, seconds: float | None) -> LiveVcpuResult:
    domain = target.domains[one.domain]
    run_ns = one.run_ns - (was.run_ns if was is not None else 0)
    reserved = domain.cpu_ns
    return {
        "domain": domain.name,
        "vcpu": one.vcpu,
        "state": one.state,
        "priority": one.priority,
        "share": run_ns / (seconds * 1e9) if seconds else None,
        "reserved": reserved[0] / reserved[1] if reserved is not None else None,
        "releases": one.releases,
        "release_max_ns": one.release_max_ns if one.releases else None,
    }


def flow_rows(
    target: Target, flows: Sequence[FlowStatus], before: Sequence[FlowStatus], seconds: float | None
) -> list[LiveFlowResult]:
    """One object for each flow: packets and bytes of the window, latency and misses of the whole run."""
    known = flows_of(target.flows, flows, [domain.name for domain in target.domains])
    old = {id(status): was for status, was in zip(flows, before, strict=False)}
    rows: list[LiveFlowResult] = []
    for flow, status in known:
        was = old.get(id(status))
        same = was is not None and status.packets >= was.packets  # else another flow has taken its place
        packets = status.packets - (was.packets if was is not None and same else 0)
        moved = status.bytes - (was.bytes if was is not None and same else 0)
        rows.append(
            {
                "flow": flow.name,
                "state": status.state,
                "packets_per_s": packets / seconds if seconds else None,
                "bytes_per_s": moved / seconds if seconds else None,
                "latency_max_ns": status.latency_max_ns if status.packets else None,
                "deadline_ns": flow.deadline_ns,
                "misses": status.misses,
            }
        )
    return rows
