# SPDX-License-Identifier: Apache-2.0
"""How often to look at a machine that runs, so that rings that drop the oldest are read before they do.

Called by `bulkhead.run.live` with what came between two looks. How fast a guest gets on depends on what it
does and on the host: a guest that mostly sleeps in counted time has tens of thousands of periods in a second.
"""

from __future__ import annotations

LEAST_S = 0.005  # a look costs about so much, and the machine waits meanwhile
MOST_S = 0.2  # often enough for people
_GROWTH = 2.0  # from one look to the next: what was slow may not stay so
_FILL = 0.25  # of a ring, to expect at a look: it may get faster than it was, or the look be late


class Pace:
    """Short at first, longer while little comes."""

    def __init__(self) -> None:
        self._interval_s = LEAST_S

    def next(self, came: int, capacity: int, elapsed_s: float) -> float:
        """Seconds from the last look to the next, if `came` entries of a ring of `capacity` came in
        `elapsed_s`."""
        wanted = elapsed_s * capacity * _FILL / came if came else MOST_S
        self._interval_s = max(LEAST_S, min(wanted, self._interval_s * _GROWTH, MOST_S))
        return self._interval_s
