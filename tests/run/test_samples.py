# SPDX-License-Identifier: Apache-2.0
"""Samples of the hypervisor's rings (B8), from bytes to the trace: none twice, none out of order, drops
counted, and arbitrary memory of a broken machine is not taken for samples."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from bulkhead.report.trace import trace_of
from bulkhead.run.samples import (
    Counted,
    NoSamples,
    Recorder,
    RingPlaces,
    Sample,
    add_all,
    read_samples,
    write_samples,
)
from bulkhead.run.status import CoreStatus, SystemStatus
from bulkhead.schema import load_layout

LAYOUT = load_layout()
CAPACITY, PERIOD, HZ = 4, 1000, 1_000_000
STATUS = SystemStatus(
    phase="ended", end_reason="run_limit", refusal=0, refusal_name=None, refusal_offset=0, guest_ns=None,
    ttbr0_el2=0, pool_frames=0, pool_used=0, counter_hz=HZ, started_at=5000,
    cores=[CoreStatus(1, 0, 0, False, {}, 0, 0)],
)  # fmt: skip


def entry(number: int, events: int = 10, throttled: int = 0, regulated: bool = False) -> bytes:
    values = {
        "time": 5000 + number * PERIOD, "domain": 0, "vcpu": 0, "events": events, "budget": 10,
        "throttled_ticks": throttled, "period_ticks": PERIOD,
        "global_events": 100 * number if regulated else 0, "utilization": number * 4096 if regulated else 0,
        "device_events": 40 * number if regulated else 0,
        "carried": -number if regulated else 0,
    }  # fmt: skip
    return LAYOUT.pack("status_sample", values)


def ring(
    done: int,
    *,
    begun: int | None = None,
    capacity: int = CAPACITY,
    throttled: int = 0,
    regulated: bool = False,
) -> bytes:
    size = LAYOUT.size("status_sample")
    entries = [bytes(size)] * CAPACITY
    for number in range(max(0, done - CAPACITY), done):
        entries[number % CAPACITY] = entry(number + 1, throttled=throttled, regulated=regulated)
    return struct.pack("<4Q", capacity, size // 8, done if begun is None else begun, done) + b"".join(entries)


def times(recorder: Recorder) -> list[int]:
    return [(sample.time - 5000) // PERIOD for sample in recorder.samples]


def test_each_sample_is_taken_once_and_what_was_overwritten_is_counted() -> None:
    recorder = Recorder(LAYOUT)
    assert recorder.add(1, ring(2)) == 2
    assert recorder.add(1, ring(2)) == 0
    assert recorder.add(1, ring(5)) == 3
    assert times(recorder) == [1, 2, 3, 4, 5]
    assert recorder.dropped == {1: 0}
    assert recorder.add(1, ring(11)) == 4
    assert times(recorder)[5:] == [8, 9, 10, 11]
    assert recorder.dropped == {1: 2}


def test_one_that_is_being_written_is_not_taken() -> None:
    recorder = Recorder(LAYOUT)
    assert recorder.add(1, ring(6, begun=7)) == 3
    assert times(recorder) == [4, 5, 6], "the place of the third is the seventh's"


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        bytes(4096),
        ring(3, begun=2),
        ring(3, capacity=0),
        ring(3, capacity=1 << 60),
        ring(3)[:100],
        b"\xff" * 4096,
    ],
)
def test_what_is_no_ring_is_nothing(damaged: bytes) -> None:
    recorder = Recorder(LAYOUT)
    assert recorder.add(0, damaged) == 0
    assert recorder.samples == []


def core_with_ring(pa: int, size: int = 8192) -> CoreStatus:
    return CoreStatus(1, 0, 0, False, {}, 0, 0, samples_pa=pa, samples_bytes=size)


def test_b8_a_ring_is_in_the_pools_frames_in_their_order_or_in_on_chip_memory() -> None:
    pool, on_chip = [0x1000, 0x9000, 0x2_1000], [0xFFFC_0000, 0xFFFC_1000]
    places = RingPlaces(pool, on_chip)
    assert places.frames(core_with_ring(0x9000)) == [0x9000, 0x2_1000]
    assert places.frames(core_with_ring(0xFFFC_0000)) == on_chip
    for nowhere in (0x2_1000, 0xFFFC_1000, 0xA000, 0):  # too near to the end, or not the hypervisor's
        assert places.frames(core_with_ring(nowhere)) == []
    assert places.frames(core_with_ring(0x1000, 0)) == [], "it has none"


def test_b8_what_is_in_on_chip_memory_is_read_there() -> None:
    content = ring(3)
    recorder = Recorder(LAYOUT)
    status = replace(STATUS, cores=[core_with_ring(0xFFFC_0000, 4096)])
    memory = {0x1000: ring(1).ljust(4096, b"\0"), 0xFFFC_0000: content.ljust(4096, b"\0")}
    add_all(recorder, status, RingPlaces([0x1000], [0xFFFC_0000]), memory.get)
    assert times(recorder) == [1, 2, 3]


def recorded(directory: Path) -> dict[str, object]:
    recorder = Recorder(LAYOUT)
    recorder.add(1, ring(3, throttled=400))
    counted = [Counted("hog", "L2D_CACHE_REFILL", 64)]
    write_samples(directory, recorder, system="s", on="machine", status=STATUS, counted=counted)
    return read_samples(directory)


def test_the_file_says_what_was_recorded(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    assert run["samples"] == [
        Sample(1, 5000 + n * PERIOD, 0, 0, 0, 10, 10, 400, PERIOD, 0, 0, 0) for n in (1, 2, 3)
    ]
    (tmp_path / "samples.json").write_text("{")
    with pytest.raises(NoSamples):
        read_samples(tmp_path)
    with pytest.raises(NoSamples, match="run the system first"):
        read_samples(tmp_path / "nothing")


def test_the_trace_has_a_track_for_a_core_with_spans_that_fill_its_periods(tmp_path: Path) -> None:
    trace = json.loads(json.dumps(trace_of(recorded(tmp_path))))
    events = trace["traceEvents"]
    assert {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "core 1"}} in events
    spans = [(e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"]
    assert spans == [
        (name, start, length)
        for period in (0, 1000, 2000)
        for name, start, length in (("hog VCPU 0", period, 600.0), ("throttled", period + 600.0, 400.0))
    ]
    assert [e["ts"] for e in events if e["ph"] == "i"] == [1000, 2000, 3000]
    counters = {e["name"]: e["args"]["value"] for e in events if e["ph"] == "C"}
    assert counters == {"core 1: L2D_CACHE_REFILL": 10, "core 1: MB/s": 0.64}


def test_the_trace_says_once_what_the_regulator_saw_and_did(tmp_path: Path) -> None:
    """It has U of the period that ended, and G of the one that begins."""
    recorder = Recorder(LAYOUT)
    for core in (1, 2):
        recorder.add(core, ring(3, regulated=True))
    write_samples(tmp_path, recorder, system="s", on="machine", status=STATUS, counted=[])
    events = trace_of(read_samples(tmp_path))["traceEvents"]
    values = [
        (e["name"], e["ts"], e["args"]["value"]) for e in events if e["ph"] == "C" and "core" not in e["name"]
    ]
    assert values == [
        value
        for n in (1, 2, 3)
        for value in (
            ("utilization of the memory", (n - 1) * 1000, round(n / 16, 4)),
            ("G of the regulator", n * 1000, 100 * n),
            ("devices' part of G", n * 1000, 40 * n),
            ("carried by the policy", n * 1000, -n),
        )
    ]  # fmt: skip
