# SPDX-License-Identifier: Apache-2.0
"""A broker's plan with the slack of each flow, as the object that `check --json` and `flows check --json`
print."""

from __future__ import annotations

from bulkhead.planning.chains import PlannedChain
from bulkhead.planning.flows import FlowPlan
from bulkhead.planning.memory_budget import MemoryUse
from bulkhead.results.flow_plan import FlowPlanResult, MemoryUseResult, PlannedChainResult


def flows_json(planned: FlowPlan) -> FlowPlanResult:
    """The plan, and the tasks of the schedulability test, so that a reader can repeat the test."""
    model, made = planned.model, planned.model.make()
    tasks = zip(model.members, made.tasks(), strict=True)
    return {
        "broker": {
            "name": planned.broker.name,
            "cpu": planned.cpu,
            "engine": planned.broker.engine,
            "chunk": planned.broker.chunk,
            "rate_bytes_per_s": planned.rate,
            "rate_auto": planned.broker.rate is None,
            "register": None
            if planned.register is None
            else {"value": planned.register.value, "bytes_per_s": planned.register.bytes_per_s},
            "senders": len(model.domains),
            "flow_model": model.costs.path,
            "transfer_half_ns": made.dma_fixed,
            "transfer_bytes": made.chunk_bytes,
            "lead_half_ns": made.lead[0],
            "lead_bytes": made.lead[1],
        },
        "flows": [
            {
                "name": flow.name,
                "from": flow.from_,
                "to": flow.to,
                "size": flow.size,
                "period_ns": flow.period,
                "deadline_ns": flow.deadline,
                "transfers": model.transfers_of(number),
                "slack_ns": planned.checked.slack_ns[number],
                "slack_exact": planned.checked.slack_exact[number],
            }
            for number, flow in enumerate(model.ways)
        ],
        "chains": [_chain_json(chain) for chain in planned.chains],
        "transfers": model.transfers_from,
        "tasks_half_ns": [
            {
                "flow": model.ways[member.flow].name,
                "kind": member.kind,
                "sender": member.sender,
                "period": period,
                "first": first,
                "fixed": fixed,
                "bytes": nbytes,
                "last_fixed": last_fixed,
                "last_bytes": last_bytes,
            }
            for member, (period, first, fixed, nbytes, last_fixed, last_bytes, _) in tasks
        ],
        "points": planned.checked.points,
        "memory": None if planned.memory is None else _memory_json(planned.memory),
        "remarks": list(planned.remarks),
    }


def _chain_json(planned: PlannedChain) -> PlannedChainResult:
    chain, bound = planned.chain, planned.bound
    return {
        "name": chain.name,
        "client": planned.client,
        "server": planned.server,
        "request": chain.request,
        "answer": chain.answer_name,
        "deadline_ns": chain.deadline,
        "bound_ns": bound.total,
        "parts": {
            "client_ns": bound.client,
            "client_others_ns": bound.client_others,
            "client_stalls_ns": bound.client_stalls,
            "request_ns": bound.request,
            "queue_ns": bound.queue,
            "server_stalls_ns": bound.server_stalls,
            "service_ns": bound.service,
            "answer_ns": bound.answer,
        },
    }


def _memory_json(memory: MemoryUse) -> MemoryUseResult:
    return {
        "utilization": float(memory.utilization),
        "largest_rate_bytes_per_s": memory.largest_rate,
        "limited_by": memory.limited_by,
        "table_from": memory.table_from,
        "unbounded": [*memory.unbounded, *(one.device for one in memory.unbounded_devices)],
        "parts": [
            {
                "name": part.name,
                "bytes_per_s": float(part.bytes_per_s),
                "utilization": float(part.utilization),
            }
            for part in memory.parts
        ],
    }
