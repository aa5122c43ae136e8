# SPDX-License-Identifier: Apache-2.0
"""Points of the files `banks` and `phases`: the colors of each part, the relations between rows, and the
numbers about traffic over time."""

from __future__ import annotations

from typing import Any

import pytest

from bulkhead.experiments.columns import taken_names
from bulkhead.experiments.model import Experiment, load_experiment, points_of
from bulkhead.experiments.override import with_seeds, with_settings
from bulkhead.experiments.phases import phases
from bulkhead.experiments.run import rows_of_seeds
from bulkhead.machine.point import run_point

pytestmark = pytest.mark.usefixtures("workloads_built")

MS = 10**9


def experiment(name: str, *settings: str, seeds: int = 1) -> Experiment:
    what = with_seeds(with_settings(load_experiment(name), settings), seeds)
    assert isinstance(what, Experiment)
    return what


@pytest.mark.req("C3")
def test_banks_gives_each_mechanism_alone_both_and_none_on_two_platforms_and_more() -> None:
    points = points_of(experiment("banks"))
    assert len({one.job["platform"] for one in points}) >= 2
    assert {one.job["platform"] for one in points} == {one.point["platform"] for one in points}
    for one in points:
        victim, *attackers = one.job["parts"]
        isolation = one.point["isolation"]
        assert ("colors" in victim) == (isolation in ("cache", "both"))
        assert ("banks" in victim) == (isolation in ("banks", "both"))
        assert len(attackers) == (one.point["attacker"] != "alone")
        for attacker in attackers:
            assert victim.keys() & {"colors", "banks"} == attacker.keys() & {"colors", "banks"}
            assert all(victim[key] != attacker[key] for key in attacker.keys() & {"colors", "banks"})
        assert victim["shuffled"] == (victim["kind"] == "chase")


@pytest.mark.req("C3")
def test_cache_colors_keep_the_victim_s_lines_and_what_is_alone_is_the_measure_of_all() -> None:
    what = experiment("banks", "platform=s32v234", "size_kib=[96]", "walks=3", "isolation=[none, cache]")
    points = points_of(what, ("chase",))
    rows, _ = rows_of_seeds(what, points, lambda jobs: [run_point(job) for _, job in jobs])
    found = {(row["isolation"], row["attacker"]): row for row in rows}
    assert found["none", "alone"]["relative"] == 1
    assert found["none", "everywhere"]["evicted_by_others"] > 100
    assert found["none", "everywhere"]["relative"] > 1.5
    assert found["cache", "everywhere"]["evicted_by_others"] == 0
    assert found["cache", "everywhere"]["relative"] < 1.1


def made_up(*rates_mb_s: int) -> Any:
    """Invented intervals of 10 ms."""
    return {
        "regulation": {
            "intervals": {
                "end_ps": [10 * MS * (n + 1) for n in range(len(rates_mb_s))],
                "read_bytes": [rate * 10_000 for rate in rates_mb_s],
                "written_bytes": [0] * len(rates_mb_s),
                "busy_cycles": [min(100, rate // 20) for rate in rates_mb_s],
                "cycles": [100] * len(rates_mb_s),
            }
        }
    }


def test_phases_are_the_quiet_time_at_first_the_mean_after_it_and_peaks() -> None:
    found = phases(made_up(5, 5, 50, 400, 2000, 1800, 400, 20, 1600, 400))
    assert (found["quiet_ms"], found["busy_ms"]) == (30, 70)
    assert found["quiet_mb_s"] == pytest.approx(20)
    assert found["busy_mb_s"] == pytest.approx((400 + 2000 + 1800 + 400 + 20 + 1600 + 400) / 7)
    assert (found["peaks"], found["peak_mb_s"]) == (2, pytest.approx(2000))
    assert found["peak_utilization"] == pytest.approx((1.0 + 0.9 + 0.8) / 3)
    quiet = phases(made_up(5, 5))
    assert (quiet["busy_mb_s"], quiet["peaks"], quiet["peak_utilization"]) == (None, 0, None)


def test_disparity_is_quiet_at_first_and_its_peaks_are_planes_that_are_cleared() -> None:
    """As published: little traffic while the images are made, then phases with peaks at the bus's rate."""
    what = experiment("phases", "width=640", "height=480", "shifts=12", "interval=500 us")
    points = points_of(what, ("disparity",))
    (row,), _ = rows_of_seeds(what, points, lambda jobs: [run_point(job) for _, job in jobs])
    assert set(row) - set(points[0].point) <= set(taken_names(what)), "new columns, new taken names"
    assert row["quiet_ms"] > 10
    assert row["quiet_mb_s"] < 50 < row["busy_mb_s"]
    assert row["peaks"] >= 2
    assert row["peak_mb_s"] > 2 * row["busy_mb_s"]
    assert row["peak_utilization"] > 0.8
    assert row["published_busy_mb_s"] == "500 MB/s"
