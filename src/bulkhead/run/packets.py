# SPDX-License-Identifier: Apache-2.0
"""Each packet that the broker delivered, from the ring in its memory (`broker: { samples: true }`).

`bulkhead.run.live` fetches the memory during a run and at its end; the packets are written beside the samples
of budgets, and `bulkhead trace` shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from bulkhead.run.rings import RingReader, entry_type
from bulkhead.schema.layout import Layout

_MOST = 1_000_000  # packets kept of a run


@dataclass(frozen=True)
class Packet:
    """A delivered packet. Times are counter values."""

    release: int  # when its sender could have it in its queue at the earliest
    begun: int  # when its first transfer was chosen; without payload: when it was delivered
    delivered: int
    flow: int  # number of the flow, or of the way back
    bytes: int  # payload; 0: a control packet


FIELDS = tuple(field.name for field in fields(Packet))


class PacketRecorder:
    """Collects the packets of a run."""

    def __init__(self, layout: Layout, frames: Sequence[int]) -> None:
        """`frames`: physical addresses of the ring's frames, in order; none: nothing is recorded."""
        self.frames = tuple(frames)
        self.packets: list[Packet] = []
        self._reader = RingReader(entry_type(layout, "packet_sample", FIELDS))

    @property
    def dropped(self) -> int:
        """Packets that were overwritten before they were read."""
        return self._reader.dropped

    @property
    def capacity(self) -> int:
        """Of the ring; 0: there was none."""
        return self._reader.capacity

    def add(self, bytes_at: Callable[[int], bytes | None]) -> int:
        """Adds the new packets of the ring, from memory that has been fetched, and returns their number."""
        pages = [bytes_at(pa) for pa in self.frames]
        known = [page for page in pages if page is not None]
        if not known or len(known) < len(pages):
            return 0
        new = self._reader.take(b"".join(known))
        self.packets += [Packet(*entry) for entry in new.tolist()]
        del self.packets[:-_MOST]
        return len(new)
