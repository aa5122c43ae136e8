# SPDX-License-Identifier: Apache-2.0
"""Each period of each core with a budget: samples from the hypervisor's rings, collected during a run.

The rings drop their oldest entries, so they are read several times a second and once at the end of a run.
`bulkhead.run.live` fetches the memory; `bulkhead trace` reads the file that is left in the run's directory.
That file also has the packets of flows (`packets`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from bulkhead.errors import BulkheadError
from bulkhead.run import packets
from bulkhead.run.packets import Packet
from bulkhead.run.rings import RingReader, entry_type
from bulkhead.run.status import CoreStatus, SystemStatus
from bulkhead.schema.layout import Layout

SAMPLES_FILE = "samples.json"
FORMAT = 3
_MOST = 1_000_000  # samples kept of a run: some hours of periods of 10 ms on one core

Json = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """One period of one core's budget. Times are counter values; `budget`, `period_ticks` and `global_events`
    are those of the next period."""

    core: int
    time: int
    domain: int
    vcpu: int
    carried: int  # what the regulator's policy carries to the next interval: `status_sample`
    events: int
    budget: int
    throttled_ticks: int
    period_ticks: int
    global_events: int
    utilization: int  # in 1/65536
    device_events: int  # budgets of regulated devices together, in the next period


FIELDS = tuple(field.name for field in fields(Sample))


@dataclass(frozen=True)
class Counted:
    """The event that the samples of a domain count."""

    domain: str
    event: str | None
    event_bytes: int | None


@dataclass(frozen=True)
class RecordedFlow:
    """A direction of a flow, as the packets name it by its place."""

    name: str
    source: str
    destination: str
    deadline_ns: int


class NoSamples(BulkheadError):
    """There are no samples to read; the message is for the user."""


class Recorder:
    """Collects the samples of a run."""

    def __init__(self, layout: Layout) -> None:
        self._entry = entry_type(layout, "status_sample", FIELDS[1:])
        self._readers: dict[int, RingReader] = {}  # by core
        self.latest = 0  # time of the last one
        self.samples: list[Sample] = []

    @property
    def seen(self) -> dict[int, int]:
        """Number of samples of each core, including overwritten ones."""
        return {core: reader.seen for core, reader in self._readers.items()}

    @property
    def dropped(self) -> dict[int, int]:
        """Number of overwritten samples of each core."""
        return {core: reader.dropped for core, reader in self._readers.items()}

    @property
    def capacity(self) -> int:
        """Of a ring; 0: there was none."""
        return max((reader.capacity for reader in self._readers.values()), default=0)

    def add(self, core: int, ring: bytes) -> int:
        """Adds the new samples of a core's ring and returns their number; 0 if the bytes are no valid
        ring."""
        new = self._readers.setdefault(core, RingReader(self._entry)).take(ring)
        self.samples += [Sample(core, *entry) for entry in new.tolist()]
        self.latest = max(self.latest, int(new["time"].max(initial=0)))
        del self.samples[:-_MOST]
        return len(new)


class RingPlaces:
    """Possible places of rings: on-chip memory, or the hypervisor's pool, whose frames are scattered."""

    def __init__(self, pool_frames: Iterable[int], on_chip_frames: Iterable[int] = ()) -> None:
        self._order = [[int(pa) for pa in frames] for frames in (on_chip_frames, pool_frames)]
        self._place = [{pa: number for number, pa in enumerate(frames)} for frames in self._order]

    def frames(self, core: CoreStatus) -> list[int]:
        """Physical addresses of the frames of a core's ring, in order; empty if it has none at a possible
        place."""
        count = -(-core.samples_bytes // 4096)
        for order, place in zip(self._order, self._place, strict=True):
            first = place.get(core.samples_pa)
            if first is not None and first + count <= len(order):
                return order[first : first + count]
        return []

    def on_chip(self, core: CoreStatus) -> bool:
        return core.samples_pa in self._place[0]


def add_all(
    recorder: Recorder,
    status: SystemStatus,
    places: RingPlaces,
    bytes_at: Callable[[int], bytes | None],
) -> None:
    """Adds the rings of all cores, from memory that has been fetched."""
    for core in status.cores:
        pages = [bytes_at(pa) for pa in places.frames(core)]
        if pages and all(page is not None for page in pages):
            recorder.add(core.core, b"".join(page for page in pages if page is not None))


def write_samples(
    directory: Path,
    recorder: Recorder,
    *,
    system: str,
    on: str,
    status: SystemStatus,
    counted: Sequence[Counted],
    flows: Sequence[RecordedFlow] = (),
    recorded: packets.PacketRecorder | None = None,
) -> None:
    """Writes what was recorded of budgets, and of packets if the broker recorded them."""
    content: Json = {
        "format": FORMAT,
        "system": system,
        "on": on,
        "counter_hz": status.counter_hz,
        "started_at": status.started_at,
        "cores": [
            {"core": core.core, "domain": core.domain, "vcpu": core.vcpu, "shared": bool(core.shared)}
            for core in status.cores
        ],
        "domains": [vars(one) for one in counted],
        "dropped": {str(core): count for core, count in sorted(recorder.dropped.items()) if count},
        "fields": list(FIELDS),
        "samples": [list(astuple(sample)) for sample in recorder.samples],
        "flows": [vars(one) for one in flows],
        "packet_fields": list(packets.FIELDS),
        "packets": [list(astuple(packet)) for packet in recorded.packets] if recorded is not None else [],
        "dropped_packets": recorded.dropped if recorded is not None else 0,
    }
    (directory / SAMPLES_FILE).write_text(json.dumps(content) + "\n", encoding="utf-8")


def read_samples(directory: Path) -> Json:
    """The file that write_samples() wrote, with samples as Sample and packets as Packet. Raises NoSamples."""
    path = directory / SAMPLES_FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        known = (content["format"], tuple(content["fields"]), tuple(content["packet_fields"]))
        if known != (FORMAT, FIELDS, packets.FIELDS) or content["counter_hz"] <= 0:
            raise NoSamples(f"{path}: the file was written by another version: run the system again")
        content["samples"] = [Sample(*(int(value) for value in row)) for row in content["samples"]]
        content["packets"] = [Packet(*(int(value) for value in row)) for row in content["packets"]]
    except FileNotFoundError:
        raise NoSamples(f"{directory} has no {SAMPLES_FILE}: run the system first") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoSamples(f"{path}: cannot be read ({error})") from None
    assert isinstance(content, dict)
    return content
