# SPDX-License-Identifier: Apache-2.0
"""Each packet that brokers delivered, from the rings in their memory (`broker: { samples: true }`).

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

    def __init__(self, layout: Layout, rings: Sequence[Sequence[int]]) -> None:
        """`rings`: of each broker that records packets, physical addresses of its ring's frames, in order."""
        self.frames = tuple(pa for ring in rings for pa in ring)
        self.packets: list[Packet] = []
        self._rings = [(ring, RingReader(entry_type(layout, "packet_sample", FIELDS))) for ring in rings]

    @property
    def dropped(self) -> int:
        """Packets that were overwritten before they were read."""
        return sum(reader.dropped for _, reader in self._rings)

    @property
    def capacity(self) -> int:
        """Of the smallest ring; 0: there was none."""
        return min((reader.capacity for _, reader in self._rings), default=0)

    def add(self, bytes_at: Callable[[int], bytes | None]) -> int:
        """Adds the new packets of the rings, from memory that has been fetched. Returns the number of those
        of the ring that got most. A broker's packets are in the order of their delivery."""
        return max((self._take(ring, reader, bytes_at) for ring, reader in self._rings), default=0)

    def _take(self, ring: Sequence[int], reader: RingReader, bytes_at: Callable[[int], bytes | None]) -> int:
        pages = [bytes_at(pa) for pa in ring]
        known = [page for page in pages if page is not None]
        if not known or len(known) < len(pages):
            return 0
        new = reader.take(b"".join(known))
        self.packets += [Packet(*entry) for entry in new.tolist()]
        del self.packets[:-_MOST]
        return len(new)
