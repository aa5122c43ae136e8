# SPDX-License-Identifier: Apache-2.0
"""Packets of flows in a run's trace: a process for the flows, with a track for each direction of a flow.

A packet is a span from its release to its delivery. A span inside of it begins with its first transfer;
before that the packet waited in its queue. Spans of a flow overlap if several packets are queued. So they are
nestable asynchronous events, of which viewers make a track for each name. A packet that was delivered after
its deadline is named so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bulkhead.run.packets import Packet

Json = dict[str, Any]
_PID = 2
_CATEGORY = "flow"


def packet_events(run: Json) -> Iterator[Json]:
    """Events of the packets in the result of `read_samples`."""
    packets: list[Packet] = run["packets"]
    if not packets:
        return
    yield {"ph": "M", "name": "process_name", "pid": _PID, "tid": 0, "args": {"name": "flows"}}
    for place, packet in enumerate(packets):
        yield from _spans(run, place, packet)


def _flow(run: Json, number: int) -> Json:
    flows: list[Json] = run["flows"]
    if number < len(flows):
        return flows[number]
    return {"name": f"flow {number}", "source": "?", "destination": "?", "deadline_ns": 0}


def _spans(run: Json, place: int, packet: Packet) -> Iterator[Json]:
    hz, start = run["counter_hz"], run["started_at"]

    def us(ticks: int) -> float:
        return float(round(ticks * 1e6 / hz, 3))

    flow = _flow(run, packet.flow)
    latency_ns = (packet.delivered - packet.release) * 10**9 / hz
    late = bool(packet.bytes) and latency_ns > flow["deadline_ns"]
    name = f"{flow['name']}: {_kind(packet)}{', late' if late else ''}"
    where = {"cat": _CATEGORY, "id": place, "pid": _PID, "tid": packet.flow}
    seen = {
        "from": flow["source"],
        "to": flow["destination"],
        "bytes": packet.bytes,
        "latency_us": us(packet.delivered - packet.release),
        "queued_us": us(packet.begun - packet.release),
        "deadline_us": flow["deadline_ns"] / 1000,
    }
    yield {"ph": "b", "name": name, "ts": us(packet.release - start), "args": seen} | where
    if packet.release <= packet.begun < packet.delivered:
        yield {"ph": "b", "name": "transfer", "ts": us(packet.begun - start)} | where
        yield {"ph": "e", "name": "transfer", "ts": us(packet.delivered - start)} | where
    yield {"ph": "e", "name": name, "ts": us(packet.delivered - start)} | where


def _kind(packet: Packet) -> str:
    return "packet" if packet.bytes else "control packet"
