# SPDX-License-Identifier: Apache-2.0
"""Columns of an experiment's rows: those that a plot can draw, and names that swept values cannot have.

check.py and the modules that make rows use it. rows.py computes the columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bulkhead.experiments.intervals import HIGH, LOW
from bulkhead.experiments.regulated import NRT_BUDGET, RT_BUDGET

if TYPE_CHECKING:
    from bulkhead.experiments.model import Experiment

# Numeric columns that a plot can draw, besides the point's own values (rows.py).
WALKED = ("max_ns", "mean_ns", "min_ns", "p99_ns", "walks", "evicted_by_others")
DRAWN = {
    "walk-times": (
        *WALKED,
        "tlb_misses",
        "translation_ns",
        "miss_ns",
        "dram_utilization",
        "simulated_ns",
    ),
    "partitions": (
        *WALKED,
        "dram_utilization",
        "simulated_ns",
        "measured_mb_s",
        "others_mb_s",
        "measured_kib",
        "others_kib",
        "held_off_bytes",
        "read_off_bytes",
        "written_off_bytes",
    ),
    "slowdown": (
        "rt_slowdown",
        "nrt_slowdown_mean",
        "nrt_traffic_slowdown",
        "rt_alone_ns",
        "rt_alone_mb_s",
        "rt_mb_s",
        "nrt_mb_s",
        "dram_utilization",
        "simulated_ns",
    ),
    "phases": (
        "quiet_ms",
        "quiet_share",
        "quiet_mb_s",
        "busy_ms",
        "busy_mb_s",
        "peaks",
        "peak_mb_s",
        "peak_utilization",
        "dram_utilization",
        "simulated_ns",
    ),
}
OFF = ("held_off_bytes", "read_off_bytes", "written_off_bytes")  # largest errors of monitors
COUNTED = ("walks", "evicted_by_others", "simulated_ns", *OFF)  # columns that depend on the length of a run
SEEDS_DRAWN = {  # over all seeds
    "walk-times": ("longest_ns",),
    "partitions": ("longest_ns",),
    "slowdown": (),
    "phases": (),
}
NOT_DRAWN = {  # further columns
    "walk-times": (),
    "partitions": (
        "tlb_misses",
        "translation_ns",
        "miss_ns",
        "held_monitor_kib",
        "read_monitor_mb",
        "written_monitor_mb",
    ),
    "slowdown": ("nrt_slowdown", "nrt_alone_ns", "interrupt_ns", "throttled"),
    "phases": (),
}
COUNTED_AGAIN = "walks"  # the rows' number of walks is that of the value, less those that are left out
OVER_TIME = (  # of the time series (series.py), in which points also have their values as columns
    "point",
    "end_ms",
    "utilization",
    "mb_s",
    "part",
    "core",
    "lines_mb_s",
    "limit_mb_s",
    "events",
    "limit_events",
    "throttled",
)
WORDS = {"walk-times": (), "partitions": (), "slowdown": ("rt", "nrt"), "phases": ()}  # columns of words


def drawn_of(experiment: Experiment) -> tuple[str, ...]:
    """Names of numeric columns."""
    more = ("relative",) if experiment.relative is not None else ()
    return (*DRAWN[experiment.result], *more)


def with_interval(experiment: Experiment) -> tuple[str, ...]:
    """Names of numeric columns that vary between seeds."""
    return tuple(key for key in drawn_of(experiment) if key not in COUNTED)


def taken_names(experiment: Experiment) -> dict[str, str]:
    """Names that a swept or fixed value cannot have, with what they are: a column with such a name would
    replace the value. A value that names a workload can have the name of the column that repeats it."""
    named = {part.workload for part in experiment.parts}
    columns = [
        *DRAWN[experiment.result],
        *SEEDS_DRAWN[experiment.result],
        *NOT_DRAWN[experiment.result],
        *(word for word in WORDS[experiment.result] if f"${word}" not in named),
        *(key + end for key in with_interval(experiment) for end in (LOW, HIGH)),
        *(f"published_{one.y}" for one in experiment.published),
        *("relative", "digest", "seeds", "section"),
    ]
    found = dict.fromkeys(columns, "a column of the rows")
    if experiment.search is not None:
        found |= dict.fromkeys((RT_BUDGET, NRT_BUDGET), "a value that `search` finds")
    if experiment.regulation:
        found |= {name: "a column of the time series" for name in OVER_TIME if name not in found}
    return found
