# SPDX-License-Identifier: Apache-2.0
"""The memory's bandwidth in a manifest: EL2 admits changes of budgets by the same data as `check` admits the
system file (planning/demands.py, planning/memory_budget.py).

Called by `manifest`. The fields are zero if nothing was checked: without budgets, if the counted event is no
memory event, or if the file allows overcommitment.
"""

from __future__ import annotations

from collections.abc import Mapping

from bulkhead.planning.budgets import CountedEvent
from bulkhead.planning.device_rates import charged_together, constant_rates
from bulkhead.planning.flows import not_held
from bulkhead.planning.memory_budget import Sustained
from bulkhead.planning.model import Plan
from bulkhead.planning.regulation import budget_in
from bulkhead.schema import Value, load_layout

Row = Mapping[str, Value]


def bandwidth_row(plan: Plan, event: CountedEvent | None) -> Row:
    """The record `manifest_bandwidth`. `event`: the event that budgets count."""
    fields = load_layout().schema.records["manifest_bandwidth"].fields
    row: dict[str, Value] = dict.fromkeys((field.name for field in fields if not field.reserved), 0)
    limit, sustained = _limit(plan), _sustained(plan, event)
    if event is None or not _counts_memory(plan, event) or (limit == 0 and sustained is None):
        return row
    row |= {
        "event_bytes": event.bytes or 0,
        "access_bytes": event.access_bytes,
        "accesses_are_all": int(event.access_counts_lines),
        "limit_bytes_per_s": limit,
    }
    if sustained is not None:
        row |= {
            "smallest_events": sustained.smallest_events,
            "shortest_period_ns": sustained.shortest_period_ns,
            "broker_bytes_per_s": sustained.broker_bytes_per_s,
            "broker_full_bytes_per_s": sustained.broker_full_bytes_per_s,
        }
    return row


def bandwidth_tables(plan: Plan, event: CountedEvent | None) -> dict[str, list[Row]]:
    """The tables `bandwidth_curve` and `bandwidth_table`, which belong to the record."""
    found = _sustained(plan, event)
    if found is None:
        return {"bandwidth_curve": [], "bandwidth_table": []}
    return {
        "bandwidth_curve": [{"bytes_per_s": rate, "utilization": used} for rate, used in found.curve],
        "bandwidth_table": [
            {"cores": cores, "refills": refills, "bytes_per_s": rate} for cores, refills, rate in found.table
        ],
    }


def _counts_memory(plan: Plan, event: CountedEvent | None) -> bool:
    if event is None or event.bytes is None:
        return False
    return any(budget_in(plan.system, one, event) is not None for one in plan.system.domains)


def _limit(plan: Plan) -> int:
    """Limit of all budgets together in bytes per s, which is what devices without a budget leave; 0: there is
    none."""
    dram, regulation = plan.platform.dram, plan.system.regulation
    if dram is None or dram.guaranteed is None or (regulation is not None and regulation.overcommit):
        return 0
    return max(1, dram.guaranteed - charged_together(constant_rates(plan.system, plan.platform)))


def _sustained(plan: Plan, event: CountedEvent | None) -> Sustained | None:
    """The data by which cores and brokers were admitted; None: the memory's part is not enforced.

    The measured table is of an engine, so of two brokers the one with an engine is taken, beside which the
    other one is counted."""
    seen = sorted(
        (one for one in plan.brokers if one.memory is not None), key=lambda one: one.engine != "zdma"
    )
    if not seen or seen[0].memory is None or not_held(plan.system) is not None:
        return None
    return seen[0].memory.sustained if _counts_memory(plan, event) else None
