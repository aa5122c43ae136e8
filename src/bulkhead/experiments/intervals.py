# SPDX-License-Identifier: Apache-2.0
"""Combines the rows of several seeds into one row per point: means with confidence intervals.

run.py calls it when all seeds are done; output.py draws the intervals. An interval is Student's, for the mean
over independent seeds, at CONFIDENCE; with one seed there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isfinite, sqrt
from statistics import stdev
from typing import Any

from bulkhead.experiments.row import Row

CONFIDENCE = 0.95
LOW, HIGH = "_low", "_high"  # suffixes of an interval's ends
_FEWEST = 2


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Confidence interval of the mean; None if there are too few values, or one that is no number."""
    if len(values) < _FEWEST or not all(isfinite(value) for value in values):
        return None
    from scipy.special import stdtrit  # scipy.stats would take four times as long to import

    mean = sum(values) / len(values)
    error = stdev(values) / sqrt(len(values))
    half = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)) * error
    return mean - half, mean + half


def combined(by_seed: Sequence[Sequence[Row]], with_interval: Collection[str]) -> list[Row]:
    """One row for each point. Numbers are means over the seeds; those in `with_interval` also have an
    interval (`mean_ns_low`, `mean_ns_high`). `longest_ns` is the largest `max_ns` of all seeds."""
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
    """Mean of numbers; element by element for lists. A value that is equal in all seeds is kept."""
    first = values[0]
    if all(value == first for value in values):
        return first
    if all(isinstance(value, list) and len(value) == len(first) for value in values):
        return [_mean(each) for each in zip(*values, strict=True)]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return sum(values) / len(values)
    return first if not any(isinstance(value, (int, float)) for value in values) else None
