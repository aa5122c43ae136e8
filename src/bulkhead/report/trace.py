# SPDX-License-Identifier: Apache-2.0
"""A run's samples as a trace for Perfetto (or chrome://tracing): which VCPU had a core, when it was
throttled, and its counts; and each packet of flows that the broker recorded.

Called by `bulkhead trace`. The format is Trace Event JSON: times in microseconds since the start, one track
for each core, and counters. `trace_flows` has the packets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bulkhead.report.trace_flows import packet_events
from bulkhead.run.samples import Sample

Json = dict[str, Any]
_PID = 1
_FIRST_SHARED = 1000  # track of the first VCPU on a shared core
_MOST = 8  # most domains, and most VCPUs of each


def trace_of(run: Json) -> Json:
    """The trace of the result of `read_samples`."""
    samples: list[Sample] = run["samples"]
    return {
        "displayTimeUnit": "ns",
        "otherData": {
            "system": run["system"],
            "on": run["on"],
            "counted": {one["domain"]: one["event"] for one in run["domains"] if one["event"]},
            "dropped": run["dropped"],
            "dropped_packets": run["dropped_packets"],
        },
        "traceEvents": [*_names(run), *_events(run, samples), *packet_events(run)],
    }


def _names(run: Json) -> Iterator[Json]:
    yield _meta("process_name", 0, f"{run['system']} on {run['on']}")
    shared = sorted({(s.core, s.domain, s.vcpu) for s in run["samples"] if s.core in _shared(run)})
    tracks = [(core["core"], f"core {core['core']}") for core in run["cores"]]
    tracks += [(_track(run, *one), f"core {one[0]}: {_name(run, *one[1:])}") for one in shared]
    for tid, name in tracks:
        yield _meta("thread_name", tid, name)
        yield {"ph": "M", "name": "thread_sort_index", "pid": _PID, "tid": tid, "args": {"sort_index": tid}}


def _shared(run: Json) -> set[int]:
    """Cores with VCPUs of several domains; on these each VCPU has a track of its own."""
    return {core["core"] for core in run["cores"] if core["shared"]}


def _track(run: Json, core: int, domain: int, vcpu: int) -> int:
    return _FIRST_SHARED + (core * _MOST + domain) * _MOST + vcpu if core in _shared(run) else core


def _name(run: Json, domain: int, vcpu: int) -> str:
    known = domain < len(run["domains"])
    return f"{run['domains'][domain]['domain'] if known else f'domain {domain}'} VCPU {vcpu}"


def _meta(name: str, tid: int, value: str) -> Json:
    return {"ph": "M", "name": name, "pid": _PID, "tid": tid, "args": {"name": value}}


def _events(run: Json, samples: list[Sample]) -> Iterator[Json]:
    """Events in order of time on each core. A sample describes the period that ends at its time."""
    hz, start = run["counter_hz"], run["started_at"]
    ended: dict[int, int] = {}  # by track: end of the previous sample
    teller = min(
        (s.core for s in samples if s.global_events), default=None
    )  # all have the same values of the regulator

    carries = any(s.carried for s in samples)

    def us(ticks: int) -> float:
        return float(round(ticks * 1e6 / hz, 3))

    for sample in sorted(samples, key=lambda s: (s.core, s.time)):
        track = _track(run, sample.core, sample.domain, sample.vcpu)
        begin = max(ended.get(track, sample.time - sample.period_ticks), start)
        throttled = min(sample.throttled_ticks, sample.time - begin)
        ended[track] = sample.time
        if sample.time <= begin:
            continue
        where = {"pid": _PID, "tid": track}
        found = run["domains"][sample.domain] if sample.domain < len(run["domains"]) else {}
        name = _name(run, sample.domain, sample.vcpu)
        place = f"core {sample.core}" + (f", {name}" if track != sample.core else "")
        seen = {"events": sample.events, "budget of the next": sample.budget}
        if sample.time - begin > throttled:
            span = {"ts": us(begin - start), "dur": us(sample.time - begin - throttled), "args": seen}
            yield {"ph": "X", "cat": "vcpu", "name": name} | span | where
        if throttled:
            span = {"ts": us(sample.time - throttled - start), "dur": us(throttled), "args": seen}
            yield {"ph": "X", "cat": "throttled", "name": "throttled"} | span | where
        yield {"ph": "i", "cat": "period", "name": "period", "s": "t", "ts": us(sample.time - start)} | where
        yield from _counters(sample, place, found, us(begin - start), (sample.time - begin) / hz)
        if sample.core == teller:
            yield _counter(
                "utilization of the memory", us(begin - start), round(sample.utilization / 65536, 4)
            )
            yield _counter("G of the regulator", us(sample.time - start), sample.global_events)
            if sample.device_events:
                yield _counter("devices' part of G", us(sample.time - start), sample.device_events)
            if carries:
                yield _counter("carried by the policy", us(sample.time - start), sample.carried)


def _counters(sample: Sample, place: str, found: Json, at: float, seconds: float) -> Iterator[Json]:
    """Counter values of the period that begins at `at` (in us)."""
    yield _counter(f"{place}: {found.get('event') or 'events'}", at, sample.events)
    if found.get("event_bytes"):
        rate = sample.events * found["event_bytes"] / seconds / 1e6
        yield _counter(f"{place}: MB/s", at, round(rate, 3))


def _counter(name: str, at: float, value: float) -> Json:
    return {"ph": "C", "pid": _PID, "name": name, "ts": at, "args": {"value": value}}
