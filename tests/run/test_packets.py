# SPDX-License-Identifier: Apache-2.0
"""Packets that the broker recorded (F2), from the bytes of its ring to spans of a trace."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from bulkhead.report.trace import trace_of
from bulkhead.run.packets import Packet, PacketRecorder
from bulkhead.run.samples import RecordedFlow, Recorder, read_samples, write_samples
from bulkhead.run.status import SystemStatus
from bulkhead.schema import load_layout

LAYOUT = load_layout()
HZ, START, CAPACITY = 1_000_000, 5000, 8
STATUS = SystemStatus(
    phase="ended", end_reason="run_limit", refusal=0, refusal_name=None, refusal_offset=0, guest_ns=None,
    ttbr0_el2=0, pool_frames=0, pool_used=0, counter_hz=HZ, started_at=START, cores=[],
)  # fmt: skip
FLOWS = [
    RecordedFlow("camera", "linux", "control", 100_000),
    RecordedFlow("state", "control", "linux", 50_000),
]
PACKETS = [
    Packet(START + 10, START + 30, START + 60, 0, 4096),
    Packet(START + 20, START + 60, START + 90, 1, 64),
    Packet(START + 95, START + 95, START + 95, 1, 0),
]


def ring(packets: list[Packet], written: int | None = None) -> bytes:
    count = len(packets) if written is None else written
    entries = [bytes(LAYOUT.size("packet_sample"))] * CAPACITY
    for number, packet in enumerate(packets, count - len(packets)):
        entries[number % CAPACITY] = LAYOUT.pack("packet_sample", vars(packet))
    return struct.pack("<4Q", CAPACITY, len(entries[0]) // 8, count, count) + b"".join(entries)


def memory(content: bytes) -> dict[int, bytes]:
    """In two frames that are not beside each other."""
    padded = content.ljust(8192, b"\0")
    return {0x9000: padded[:4096], 0x3000: padded[4096:]}


def recorder() -> PacketRecorder:
    return PacketRecorder(LAYOUT, [[0x9000, 0x3000]])


def events(directory: Path, packets: list[Packet]) -> list[dict[str, Any]]:
    seen = recorder()
    seen.add(memory(ring(packets)).get)
    write_samples(
        directory, Recorder(LAYOUT), system="s", on="machine", status=STATUS, counted=[], flows=FLOWS,
        recorded=seen,
    )  # fmt: skip
    made: list[dict[str, Any]] = json.loads(json.dumps(trace_of(read_samples(directory))))["traceEvents"]
    return [event for event in made if event["pid"] == 2]


def test_f2_packets_are_taken_once_and_overwritten_ones_are_counted() -> None:
    seen = recorder()
    assert seen.add(memory(ring(PACKETS[:2])).get) == 2
    assert seen.add(memory(ring(PACKETS)).get) == 1
    assert seen.packets == PACKETS
    assert seen.add(memory(ring(PACKETS * 3, 15)[:8192]).get) == CAPACITY
    assert seen.dropped == 15 - 3 - CAPACITY


def test_f2_a_broker_that_starts_anew_begins_its_ring_anew() -> None:
    seen = recorder()
    seen.add(memory(ring(PACKETS)).get)
    assert seen.add(memory(ring(PACKETS[:1])).get) == 1
    assert (len(seen.packets), seen.dropped) == (4, 0)


def test_f2_a_frame_that_is_missing_and_a_broken_ring_give_no_packets() -> None:
    seen = recorder()
    assert seen.add({0x9000: bytes(4096)}.get) == 0
    assert seen.add(memory(b"\xff" * 8192).get) == 0
    assert PacketRecorder(LAYOUT, []).add(memory(b"").get) == 0


def test_f2_a_packet_is_a_span_from_release_to_delivery_with_its_transfer_inside(tmp_path: Path) -> None:
    spans: dict[tuple[int, str], list[float]] = {}
    for event in events(tmp_path, PACKETS):
        if event["ph"] in "be":
            spans.setdefault((event["id"], event["name"]), []).append(event["ts"])
    assert spans == {
        (0, "camera: packet"): [10, 60],
        (0, "transfer"): [30, 60],
        (1, "state: packet, late"): [20, 90],
        (1, "transfer"): [60, 90],
        (2, "state: control packet"): [95, 95],
    }


def test_f2_a_span_says_what_its_packet_is(tmp_path: Path) -> None:
    first = next(event for event in events(tmp_path, PACKETS) if event["ph"] == "b")
    assert first["args"] == {
        "from": "linux", "to": "control",
        "bytes": 4096, "latency_us": 50, "queued_us": 20, "deadline_us": 100,
    }  # fmt: skip


def test_f2_without_packets_the_trace_has_no_flows(tmp_path: Path) -> None:
    assert events(tmp_path, []) == []
