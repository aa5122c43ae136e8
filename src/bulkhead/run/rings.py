# SPDX-License-Identifier: Apache-2.0
"""Rings of samples (core/sample_ring.h), read from memory that the running machine goes on writing.

A ring drops its oldest entries. Each read takes the entries that are new, and counts those that were
overwritten before they were read. Used by `samples` and `packets`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bulkhead.schema.layout import Layout

_HEADER = struct.Struct("<4Q")  # capacity, words, begun, done

Entries = NDArray[np.void]


def entry_type(layout: Layout, name: str, fields: Sequence[str]) -> np.dtype[np.void]:
    """Data type of the entries of a ring of structures `name`, with the fields that are kept."""
    places = [layout.locate(name, field) for field in fields]
    return np.dtype(
        {
            "names": list(fields),
            "formats": [f"<{'i' if field.signed else 'u'}{field.bytes}" for _, field in places],
            "offsets": [offset for offset, _ in places],
            "itemsize": layout.size(name),
        }
    )


class RingReader:
    """The reader of one ring."""

    def __init__(self, entry: np.dtype[np.void]) -> None:
        self._entry = entry
        self.capacity = 0
        self.seen = 0  # number of entries, including overwritten ones
        self.dropped = 0

    def take(self, ring: bytes) -> Entries:
        """The entries that are new in the bytes of the ring; none if the bytes are no valid ring."""
        none = np.empty(0, self._entry)
        if len(ring) < _HEADER.size:
            return none
        capacity, words, begun, done = _HEADER.unpack_from(ring)
        size = self._entry.itemsize
        if words * 8 != size or capacity < 2 or _HEADER.size + capacity * size > len(ring) or done > begun:
            return none
        if begun < self.seen:  # the writer has started anew
            self.seen = 0
        first = max(self.seen, begun - capacity, 0)
        last = max(done, first)
        self.dropped += first - self.seen
        self.seen, self.capacity = last, capacity
        entries: Entries = np.frombuffer(ring, self._entry, capacity, _HEADER.size)
        new: Entries = entries[np.arange(first, last) % capacity]
        return new
