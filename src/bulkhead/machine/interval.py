# SPDX-License-Identifier: Apache-2.0
"""Counts of a run between two times, for example from when the machine's caches are full.

`point` uses it for jobs with `from_ps`. It knows only the form of results: nested counts.
"""

from __future__ import annotations

from typing import Any

Counts = dict[str, Any]  # the machine's results, or a part of them

_COUNTED = ("simulated_ps", "cores", "dram", "levels")  # of a result; other values are those at the end


def between(before: Counts, after: Counts) -> Counts:
    """`after` with the counts of `before` subtracted."""
    found = dict(after)
    for key in _COUNTED:
        if key in after:
            found[key] = _less(after[key], before[key])
    # Times of the first and last chunk, and the longest time, are not subtracted.
    counted = ("chunks", "bytes", "busy_ps")
    found["engines"] = [
        late | {key: late[key] - early[key] for key in counted}
        for early, late in zip(before["engines"], after["engines"], strict=True)
    ]
    found["devices"] = [
        late | {key: late[key] - early[key] for key in late if type(late[key]) is int}
        for early, late in zip(before["devices"], after["devices"], strict=True)
    ]
    # What partitions hold is the value at the end.
    found["partitions"] = [
        late | {"moved": _less(late["moved"], early["moved"])}
        for early, late in zip(before["partitions"], after["partitions"], strict=True)
    ]
    dram = found["dram"]
    dram["utilization"] = dram["busy_cycles"] / dram["cycles"] if dram["cycles"] else 0.0
    return found


def _less(after: Any, before: Any) -> Any:
    if isinstance(after, dict):
        return {key: _less(value, before[key]) for key, value in after.items()}
    if isinstance(after, list):
        return [_less(value, other) for value, other in zip(after, before, strict=True)]
    return after - before if type(after) is int else after
