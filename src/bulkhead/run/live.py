# SPDX-License-Identifier: Apache-2.0
"""The current state of a run for `bulkhead top`: read from the machine's memory several times a second and
written as a small file in the run's directory, so that any number of readers does not disturb the run.

Called by the session, and once more at the end of a run, also on the simulated machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bulkhead.evidence.mpam_promise import MpamPromise
from bulkhead.results.run import MonitoredResult
from bulkhead.results.top import (
    LiveDomainResult,
    LiveMonitoredResult,
    LiveRegulationResult,
    LiveState,
)
from bulkhead.run import memory
from bulkhead.run.emulator import RunningEmulator
from bulkhead.run.flows import places_of
from bulkhead.run.live_cores import core_rows, flow_rows
from bulkhead.run.mpam import monitored
from bulkhead.run.pace import MOST_S, Pace
from bulkhead.run.packets import PacketRecorder
from bulkhead.run.samples import Counted, RecordedFlow, Recorder, RingPlaces, add_all, write_samples
from bulkhead.run.status import CoreStatus, FlowStatus, RegulationStatus, SystemStatus, read_status
from bulkhead.run.status_mpam import MpamStatus, mpam_frame, read_mpam
from bulkhead.run.target import Target

LIVE_FILE = "live.json"
_SCRATCH = "live.tmp"


@dataclass(frozen=True)
class _Moment:
    """State at one time; rates are computed from the difference of two."""

    host_s: float
    guest_ticks: int  # 0: not known
    cores: dict[int, CoreStatus] = field(default_factory=dict)
    regulation: RegulationStatus | None = None
    mpam: MpamStatus | None = None
    flows: Sequence[FlowStatus] = ()


@dataclass(frozen=True)
class LiveWindow:
    """A window of a run: its length, and the cores' state at its beginning (empty: the run's beginning)."""

    seconds: float | None  # None: not known
    clock: str  # clock of `seconds`: `guest` or `host`
    guest_s: float | None  # from the run's start to the window's end
    before: dict[int, CoreStatus] = field(default_factory=dict)
    regulation_before: RegulationStatus | None = None
    mpam_before: MpamStatus | None = None  # None: there is no earlier count
    flows_before: Sequence[FlowStatus] = ()
    ended: bool = False


class Live:
    """Follows one run."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._places = RingPlaces(target.promise.pool_frames, target.on_chip_frames)
        self._recorder = Recorder(target.layout)
        self._packets = PacketRecorder(target.layout, target.packet_frames)
        self._before = _Moment(time.monotonic(), 0)
        self._rings: list[int] = []  # their frames, once known
        self._mpam_frames: list[int] = []
        self._pool = target.promise.pool_frames.tolist()
        self._pace = Pace()
        self._looked_s = self._before.host_s

    @property
    def has_rings(self) -> bool:
        """Whether the machine records something that has to be read while it runs."""
        return bool(self._packets.frames) or any(d.budget is not None for d in self._target.domains)

    async def look(self, emulator: RunningEmulator) -> float:
        """Reads a running machine. Returns the seconds until the next read. Raises EmulatorError."""
        wanted = [*self._target.status_frames, *self._rings, *self._mpam_frames, *self._packets.frames]
        began_s = time.monotonic()
        image = await memory.fetch(emulator, wanted, self._target.directory / _SCRATCH)
        status = self._status(image.bytes_at)
        came, capacity = self._take(status, image.bytes_at) if status is not None else (0, 0)
        interval_s = self._pace.next(came, capacity, began_s - self._looked_s)
        self._looked_s = began_s
        return max(0.0, began_s + interval_s - time.monotonic())

    def conclude(self, bytes_at: Callable[[int], bytes | None], guest_ns: int | None) -> None:
        """Reads a machine that has stopped after `guest_ns` of guest time, and writes the means of the whole
        run."""
        status = self._status(bytes_at)
        if status is None:
            return
        add_all(self._recorder, status, self._places, bytes_at)
        self._packets.add(bytes_at)
        self._write(status, _whole(guest_ns), self._mpam(status, bytes_at))
        if self._packets.frames or any(core.samples_bytes for core in status.cores):
            target = self._target
            counted = [Counted(d.name, d.event, d.event_bytes) for d in target.domains]
            write_samples(
                target.directory, self._recorder, system=target.system, on=target.options.on, status=status,
                counted=counted, flows=_flows(target, status), recorded=self._packets,
            )  # fmt: skip

    def _status(self, bytes_at: Callable[[int], bytes | None]) -> SystemStatus | None:
        status = read_status(self._target.layout, [bytes_at(pa) for pa in self._target.status_frames])
        return None if isinstance(status, str) else status

    def _mpam(self, status: SystemStatus, bytes_at: Callable[[int], bytes | None]) -> MpamStatus | None:
        if self._target.mpam is None:
            return None
        frame = mpam_frame(self._pool, status.mpam_frame)
        self._mpam_frames = [frame] if frame is not None else []
        found = read_mpam(self._target.layout, status.mpam_frame, self._pool, bytes_at, dump=False)
        return found if isinstance(found, MpamStatus) else None

    def _take(self, status: SystemStatus, bytes_at: Callable[[int], bytes | None]) -> tuple[int, int]:
        """Processes one read. Returns the number of new entries of the ring that fills fastest, and its
        capacity."""
        self._rings = [pa for core in status.cores for pa in self._places.frames(core)]
        seen = self._recorder.seen
        add_all(self._recorder, status, self._places, bytes_at)
        packets = self._packets.add(bytes_at)
        now = _Moment(
            time.monotonic(), self._recorder.latest, {core.core: core for core in status.cores},
            status.regulation, self._mpam(status, bytes_at), status.flows,
        )  # fmt: skip
        if now.host_s - self._before.host_s >= MOST_S:
            self._write(status, _since(status, self._before, now), now.mpam)
            self._before = now
        samples = max((n - seen.get(core, 0) for core, n in self._recorder.seen.items()), default=0)
        rings = ((samples, self._recorder.capacity), (packets, self._packets.capacity))
        return max(rings, key=lambda ring: ring[0] / max(ring[1], 1))

    def _write(self, status: SystemStatus, window: LiveWindow, mpam: MpamStatus | None) -> None:
        _replace(self._target.directory / LIVE_FILE, live_table(self._target, status, window, mpam))


def _flows(target: Target, status: SystemStatus) -> list[RecordedFlow]:
    names = [domain.name for domain in target.domains]
    return [
        RecordedFlow(flow.name, flow.source, flow.destination, flow.deadline_ns)
        for flow in places_of(target.flows, status.flows, names)
    ]


def _since(status: SystemStatus, before: _Moment, now: _Moment) -> LiveWindow:
    """The window since the last read: in guest time if it is known, else in host time."""
    hz = status.counter_hz
    guest = now.guest_ticks > before.guest_ticks > 0 and hz > 0
    ticks = now.guest_ticks - before.guest_ticks
    return LiveWindow(
        seconds=ticks / hz if guest else now.host_s - before.host_s,
        clock="guest" if guest else "host",
        guest_s=(now.guest_ticks - status.started_at) / hz if now.guest_ticks and hz else None,
        before=before.cores,
        regulation_before=before.regulation,
        mpam_before=before.mpam,
        flows_before=before.flows,
    )


def _whole(guest_ns: int | None) -> LiveWindow:
    """The window of a whole run that has ended."""
    seconds = guest_ns / 1e9 if guest_ns is not None else None
    return LiveWindow(seconds=seconds, clock="guest", guest_s=seconds, ended=True)


def live_table(
    target: Target, status: SystemStatus, window: LiveWindow, mpam: MpamStatus | None = None
) -> LiveState:
    """Rows for domains, shared cores and flows, with their activity in the window."""
    rows = [_row(target, status, index, window) for index in range(len(target.domains))]
    if target.mpam is not None and mpam is not None:
        for index, row in enumerate(rows):
            row["mpam"] = _monitored(target.mpam, mpam, index, window)
    return {
        "system": target.system,
        "on": target.options.on,
        "ended": window.ended,
        "guest_s": window.guest_s,
        "window_s": window.seconds,
        "window_clock": window.clock,
        "domains": rows,
        "cores": core_rows(target, status.cores, window.before, window.seconds),
        "flows": flow_rows(target, status.flows, window.flows_before, window.seconds),
        "mpam_errors": mpam.errors if mpam is not None else {},
        "regulation": _regulation(target, window.regulation_before, status),
    }


def _monitored(
    promise: MpamPromise, now: MpamStatus, index: int, window: LiveWindow
) -> list[LiveMonitoredResult]:
    """The domain's monitors, and its memory bandwidth in the window."""
    rows = [_live(row) for row in monitored(promise, now, index)]
    before = monitored(promise, window.mpam_before, index) if window.mpam_before is not None else []
    old = {row["resource"]: row["bytes"] for row in before if row["kind"] == "bandwidth"}
    for row in rows:
        if row["kind"] == "bandwidth":
            moved = row["bytes"] - old.get(row["resource"], 0)
            row["per_s"] = moved / window.seconds if window.seconds else None
    return rows


def _live(row: MonitoredResult) -> LiveMonitoredResult:
    """The row, to which a rate can be added."""
    live: LiveMonitoredResult = {
        "resource": row["resource"],
        "kind": row["kind"],
        "bytes": row["bytes"],
        "flags": row["flags"],
    }
    if "most_bytes" in row:
        live["most_bytes"] = row["most_bytes"]
    return live


def _regulation(
    target: Target, before: RegulationStatus | None, status: SystemStatus
) -> LiveRegulationResult | None:
    """The current global budget G and that of each device, and the mean load in the window."""
    now = status.regulation
    if now is None or now.samples == 0:
        return None
    old, old_sum = (before.samples, before.samples * before.load_mean) if before is not None else (0, 0.0)
    steps = now.samples - old
    load = (now.samples * now.load_mean - old_sum) / steps if steps > 0 else now.load_mean
    devices = target.regulator.devices if target.regulator is not None else ()
    limits = zip(devices, status.device_limits, strict=False)
    return {
        "global": now.global_last,
        "load": round(load, 4),
        "changes": now.changes,
        "devices": {device.name: limit.last for device, limit in limits},
    }


def _row(target: Target, status: SystemStatus, index: int, window: LiveWindow) -> LiveDomainResult:
    domain = target.domains[index]
    cores = [one for core in status.cores if (one := core.vcpu_of(index)) is not None]
    old = {number: core.vcpu_of(index) for number, core in window.before.items()}
    exits = _difference(cores, old, lambda core: sum(core.exits.values()))
    known = all(core.attributed for core in cores)
    row: LiveDomainResult = {
        "domain": domain.name,
        "state": status.domains[index].state if index < len(status.domains) else "absent",
        "cores": [core.core for core in cores],
        "exits_per_s": exits / window.seconds if window.seconds and known else None,
    }
    limited = [core for core in cores if core.budget is not None]
    if not limited:
        return row
    periods = _difference(limited, old, lambda core: core.budget.periods if core.budget else 0)
    events = _difference(limited, old, lambda core: core.budget.events if core.budget else 0)
    throttled_ns = _difference(limited, old, lambda core: core.budget.throttled_ns if core.budget else 0)
    budget = limited[0].budget
    assert budget is not None
    counted_ns = periods * budget.period_ns
    rate = (
        events * 1e9 * domain.event_bytes / (counted_ns / len(limited))
        if domain.event_bytes and counted_ns
        else None
    )
    return {
        **row,
        "event": domain.event,
        "budget": budget.limit,
        "period_ns": budget.period_ns,
        "events_per_period": events / periods * len(limited) if periods else None,
        "mb_per_s": rate / 1e6 if rate is not None else None,
        "throttled": throttled_ns / counted_ns if counted_ns else None,
        "changes": budget.changes,
    }


def _difference(
    cores: Sequence[CoreStatus], old: dict[int, CoreStatus | None], value: Callable[[CoreStatus], int]
) -> int:
    total = 0
    for core in cores:
        was = old.get(core.core)
        total += value(core) - (value(was) if was is not None else 0)
    return total


def _replace(path: Path, content: LiveState) -> None:
    """Replaces the file atomically, since it may be read at any time."""
    scratch = path.with_suffix(".new")
    scratch.write_text(json.dumps(content) + "\n", encoding="utf-8")
    scratch.replace(path)
