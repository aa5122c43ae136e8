# SPDX-License-Identifier: Apache-2.0
"""From the rows of several seeds to one row a point: means over the seeds with their intervals of confidence.

run.py calls it when all seeds are there; output.py draws the intervals. An interval is Student's, of the
mean over independent seeds, at CONFIDENCE; with one seed there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

Row = dict[str, Any]

CONFIDENCE = 0.95
LOW, HIGH = "_low", "_high"  # what the names of an interval's ends end with
_FEWEST = 2


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Where the mean of many such values is, with CONFIDENCE; None where the values do not tell."""
    from scipy import stats

    if len(values) < _FEWEST:
        return None
    mean = sum(values) / len(values)
    error = float(stats.sem(values))
    if error == 0:
        return mean, mean
    low, high = stats.t.interval(CONFIDENCE, len(values) - 1, loc=mean, scale=error)
    return float(low), float(high)


def combined(by_seed: Sequence[Sequence[Row]], with_interval: Collection[str]) -> list[Row]:
    """One row for each point. Numbers are means over the seeds; those of `with_interval` have an interval
    beside them (`mean_ns_low`, `mean_ns_high`), and `longest_ns` is the greatest `max_ns` of all seeds."""
    return [_one(rows, with_interval) for rows in zip(*by_seed, strict=True)]


def _one(rows: Sequence[Row], with_interval: Collection[str]) -> Row:
    made: Row = {}
    for key in rows[0]:
        values = [row[key] for row in rows]
        made[key] = _mean(values)
        if key == "max_ns":
            made["longest_ns"] = max(values)
        if key in with_interval:
            ends = interval([float(value) for value in values]) if None not in values else None
            made[key + LOW], made[key + HIGH] = ends if ends is not None else (None, None)
    if "digest" in made:
        made["digest"] = " ".join(str(row["digest"]) for row in rows)  # of each seed
    return {**made, "seeds": len(rows)}


def _mean(values: Sequence[Any]) -> Any:
    """Of numbers; of lists of them each for itself. What is the same in all seeds stays as it is."""
    first = values[0]
    if all(value == first for value in values):
        return first
    if all(isinstance(value, list) and len(value) == len(first) for value in values):
        return [_mean(each) for each in zip(*values, strict=True)]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return sum(values) / len(values)
    return first if not any(isinstance(value, (int, float)) for value in values) else None
