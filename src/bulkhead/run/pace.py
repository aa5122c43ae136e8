# SPDX-License-Identifier: Apache-2.0
"""How often to read a running machine, so that rings of samples are read before they drop their oldest
entries.

Called by `bulkhead.run.live` with the number of new samples. A guest's speed depends on its work and on the
host: a guest that mostly sleeps in counted time has tens of thousands of periods in a second.
"""

from __future__ import annotations

LEAST_S = 0.005  # about the duration of a read, during which the machine waits
MOST_S = 0.2  # often enough for a user's display
_GROWTH = 2.0  # largest growth from one interval to the next: samples may come faster again
_FILL = 0.25  # target fill of a ring at a read; the margin is for faster samples and late reads


class Pace:
    """Interval between reads: short at first, longer while few samples come."""

    def __init__(self) -> None:
        self._interval_s = LEAST_S

    def next(self, came: int, capacity: int, elapsed_s: float) -> float:
        """Seconds from the last read to the next, if `came` entries of a ring of `capacity` came in
        `elapsed_s`."""
        wanted = elapsed_s * capacity * _FILL / came if came else MOST_S
        self._interval_s = max(LEAST_S, min(wanted, self._interval_s * _GROWTH, MOST_S))
        return self._interval_s
