# SPDX-License-Identifier: Apache-2.0
"""MPAM's part of a run's result: storage and bandwidth of each domain by the monitors, errors that components
reported, the hypervisor's costs; and the verdict of the witness `mpam`.

Pure functions: `conclude` reads the page, `result` adds this to the object that `run --json` prints.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.evidence.mpam import check_mpam
from bulkhead.evidence.mpam_promise import MpamPromise, MpamWitness
from bulkhead.results.run import MonitoredResult, MpamStateResult
from bulkhead.run.status_mpam import ENABLED, MonitorStatus, MpamStatus

NS_PER_S = 10**9
_FLAGS = ("never_read", "not_ready", "wrapped")


def witness_of(promise: MpamPromise, status: MpamStatus | str) -> MpamWitness | str:
    """Compares what components held at the end with the promise. A string says why that is not possible."""
    if isinstance(status, str):
        return status
    if status.state != ENABLED:
        return f"the components are not programmed: MPAM is `{status.state}`"
    if status.dump is None:
        return "the dump of registers could not be read"
    return check_mpam(promise, status.dump, status.dump_left_out)


def mpam_json(promise: MpamPromise, status: MpamStatus, hz: int) -> MpamStateResult:
    """The object `mpam` of the result, without the values of each domain."""

    def ns(ticks: int) -> int | None:
        return -(-ticks * NS_PER_S // hz) if hz else None

    return {
        "state": status.state,
        "version": f"{status.version >> 4}.{status.version & 0xF}",
        "components": len(promise.mpam.components),
        "writes": status.writes,
        "start_ns": ns(status.start_ticks),
        "reads": status.reads,
        "read_mean_ns": ns(status.read_sum_ticks // max(1, status.reads)),
        "read_max_ns": ns(status.read_max_ticks),
        "errors": status.errors,
        "error_interrupts": status.error_interrupts,
        "without_monitor": status.without_monitor,
    }


def monitored(promise: MpamPromise, status: MpamStatus, owner: int) -> list[MonitoredResult]:
    """Values of the monitors of a domain (by its index) or of HYPERVISOR: a row for each resource, summed
    over instances and PARTIDs."""
    rows: dict[tuple[str, str], list[MonitorStatus]] = {}
    for one in status.monitors:
        if one.owner == owner and (name := resource_name(promise, one.component, one.instance)) is not None:
            rows.setdefault((name, one.kind), []).append(one)
    return [_row(name, kind, ones) for (name, kind), ones in rows.items()]


def resource_name(promise: MpamPromise, component: int, instance: int) -> str | None:
    components = promise.mpam.components
    if component >= len(components) or instance >= len(components[component].resources):
        return None
    return components[component].resources[instance].name


def _row(name: str, kind: str, ones: Sequence[MonitorStatus]) -> MonitoredResult:
    flags = [flag for flag in _FLAGS if any(getattr(one, flag) for one in ones)]
    row: MonitoredResult = {
        "resource": name,
        "kind": kind,
        "bytes": sum(one.bytes for one in ones),
        "flags": flags,
    }
    if kind == "storage":
        row["most_bytes"] = sum(one.most_bytes for one in ones)  # with several monitors, not of one moment
    return row
