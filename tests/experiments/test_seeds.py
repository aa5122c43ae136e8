# SPDX-License-Identifier: Apache-2.0
"""Several runs of each point: what differs between seeds, what does not, and the computed intervals."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from scipy import stats

from bulkhead.campaign.engine import Engine
from bulkhead.experiments.intervals import combined, interval
from bulkhead.experiments.means import Means
from bulkhead.experiments.model import Experiment, load_experiment, points_of
from bulkhead.experiments.output import drawing_of, write_output
from bulkhead.experiments.override import with_seeds, with_settings
from bulkhead.experiments.run import rows_of_seeds, tables_of
from bulkhead.experiments.seeds import PHASE_PS, seeded, seeded_jobs
from bulkhead.machine.point import run_point

pytestmark = pytest.mark.usefixtures("workloads_built")

ROWS = [
    {"n": 8, "max_ns": 10.0, "mean_ns": 5.0, "list": [1.0, None], "word": "a", "digest": "1"},
    {"n": 8, "max_ns": 14.0, "mean_ns": 7.0, "list": [3.0, None], "word": "a", "digest": "2"},
    {"n": 8, "max_ns": 12.0, "mean_ns": 6.0, "list": [2.0, 4.0], "word": "a", "digest": "3"},
]


def coloring(*settings: str, seeds: int = 3) -> Experiment:
    what = with_seeds(with_settings(load_experiment("coloring"), settings), seeds)
    assert isinstance(what, Experiment)
    return what


def job() -> dict[str, Any]:
    parts = [
        {"name": "reader", "core": 0, "memory_bytes": 256 << 10, "kind": "read", "walks": 20},
        {"name": "walker", "core": 1, "memory_bytes": 10 << 20, "kind": "read", "walks": 0},
    ]
    return {"platform": "rpi2", "parts": parts}


def test_a_seed_says_when_each_part_begins_and_the_same_seed_says_the_same() -> None:
    first, again, other = seeded(job(), 1), seeded(job(), 1), seeded(job(), 2)
    assert first == again
    starts = [[part["start_ps"] for part in one["parts"]] for one in (first, other)]
    assert len({*starts[0], *starts[1]}) == 4
    for reader, walker in starts:
        assert 0 <= walker < PHASE_PS <= reader < 2 * PHASE_PS, "what has an end begins beside the others"
    assert (first["seed"], other["seed"]) == (1, 2)


def test_a_part_begins_within_the_period_of_its_budget_or_its_regulator() -> None:
    """Over 200 seeds all start within 10 ms, and some in its last tenth; without a budget they start within
    PHASE_PS."""
    limited = {"name": "one", "workload": "membomb", "bandwidth": {"budget": "4 MB/s", "period": "10 ms"}}
    regulated = {"parts": [{"name": "one", "workload": "membomb"}], "regulation": {"interval": "10 ms"}}
    for what in ({"parts": [limited]}, regulated):
        starts = [seeded(what, seed)["parts"][0]["start_ps"] for seed in range(200)]
        assert 9 * 10**9 < max(starts) < 10**10
    free = {"parts": [{"name": "one", "workload": "membomb"}]}
    assert max(seeded(free, seed)["parts"][0]["start_ps"] for seed in range(200)) < PHASE_PS


def test_a_part_begins_at_the_same_time_whatever_runs_beside_it() -> None:
    alone = {**job(), "parts": job()["parts"][:1]}
    assert seeded(alone, 5)["parts"][0] == seeded(job(), 5)["parts"][0]


def test_shuffled_walks_have_another_order_in_each_seed_unless_the_file_says_one() -> None:
    parts = [
        {"name": "one", "kind": "chase", "shuffled": True},
        {"name": "two", "kind": "chase", "shuffled": True, "seed": 7},
    ]
    orders = [[part["seed"] for part in seeded({"parts": parts}, seed)["parts"]] for seed in (1, 2)]
    assert orders[0][0] != orders[1][0]
    assert orders[0][1] == orders[1][1] == 7


def test_programs_begin_when_they_are_told_to() -> None:
    part = {"name": "one", "core": 0, "memory_bytes": 1 << 20, "workload": "latency"}
    what: dict[str, Any] = {
        "platform": "s32v234",
        "parts": [{**part, "params": {"size_kib": 64}}],
        "iterations": 2,
        "from_iterations": True,
    }
    plain = run_point(what)["programs"][0]["first_ps"]
    assert plain is not None
    late = {**what, "parts": [{**what["parts"][0], "start_ps": 7_000_000_000}]}
    assert run_point(late)["programs"][0]["first_ps"] == pytest.approx(plain + 7_000_000_000, rel=1e-3)


def test_seeds_make_results_differ_and_each_is_repeated_to_the_byte() -> None:
    """Synchronized loops show no variance: a thousand walks take the same time."""
    results = [run_point(seeded(job(), seed)) for seed in (1, 2, 3)]
    assert len({one["digest"] for one in results}) == 3
    means = [statistics.mean(one["walks"][0]["walk_ps"][2:]) for one in results]
    assert len(set(means)) == 3
    assert run_point(seeded(job(), 2)) == results[1]


def test_each_seed_of_each_point_is_a_job_with_a_key_of_its_own_and_is_kept(tmp_path: Path) -> None:
    """If two seeds are kept, only the third one is run."""
    jobs = [(one.key, one.job) for one in points_of(coloring("n_kib=8"), ("alone",))]
    keys = [key for key, _ in seeded_jobs(jobs, 2)]
    assert keys == ["8-no-alone-s1", "8-yes-alone-s1", "8-no-alone-s2", "8-yes-alone-s2"]
    means = Means("coloring", tmp_path, Engine(2), lambda *_: pytest.fail("runs no system"))
    list(tables_of(coloring("n_kib=8", seeds=2), ("alone",), means, again=False))
    kept = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "points").iterdir()}
    list(tables_of(coloring("n_kib=8", seeds=3), ("alone",), means, again=False))
    now = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "points").iterdir()}
    assert {f"{key}.json" for key in keys} == set(kept)
    assert set(now) - set(kept) == {"8-no-alone-s3.json", "8-yes-alone-s3.json"}
    assert all(now[name] == kept[name] for name in kept)


def test_rows_have_means_over_seeds_their_intervals_and_the_longest_of_all() -> None:
    (row,) = combined([[one] for one in ROWS], ("max_ns", "mean_ns"))
    low, high = stats.t.interval(0.95, 2, loc=6.0, scale=stats.sem([5.0, 7.0, 6.0]))
    assert (row["mean_ns"], row["mean_ns_low"], row["mean_ns_high"]) == pytest.approx((6.0, low, high))
    assert (row["max_ns"], row["longest_ns"]) == (12.0, 14.0)
    assert row["list"] == [2.0, None]
    assert (row["n"], row["word"], row["seeds"], row["digest"]) == (8, "a", 3, "1 2 3")
    (single,) = combined([[ROWS[0]]], ("max_ns",))
    assert (single["max_ns"], single["max_ns_low"], single["seeds"]) == (10.0, None, 1)


@given(st.integers(2, 8), st.floats(0.1, 10), st.integers(0, 2**32 - 1))
def test_intervals_are_as_wide_as_students(count: int, width: float, seed: int) -> None:
    """The mean is in the interval; more of the same values make it narrower; equal values make it a point."""
    values = list(stats.norm.rvs(100, width, count, random_state=seed))
    found = interval(values)
    assert found is not None
    assert found[0] <= statistics.mean(values) <= found[1]
    twice = interval(values * 2)
    assert twice is not None
    assert twice[1] - twice[0] < found[1] - found[0] or found[0] == found[1]
    assert interval([5.0] * count) == (5.0, 5.0)
    assert interval(values[:1]) is None


def test_an_interval_holds_the_mean_as_often_as_it_says() -> None:
    """Of 2000 samples of 4 values, 95 % have the true mean within their interval."""
    held = 0
    for number in range(2000):
        low, high = interval(list(stats.norm.rvs(7, 3, 4, random_state=number))) or (0, 0)
        held += low <= 7 <= high
    assert held / 2000 == pytest.approx(0.95, abs=0.015)


def test_tables_and_plots_show_the_intervals(tmp_path: Path) -> None:
    what = coloring("n_kib=[8, 384]", seeds=2)
    points = points_of(what, ("yes",))
    rows, _ = rows_of_seeds(what, points, lambda jobs: [run_point(one) for _, one in jobs])
    assert all(row["seeds"] == 2 and len(row["digest"].split()) == 2 for row in rows)
    beside = next(row for row in rows if row["n_kib"] == 384 and row["corun"] == "walker")
    assert beside["mean_ns_low"] < beside["mean_ns"] < beside["mean_ns_high"]
    assert beside["relative"] > 1
    write_output(what, rows, tmp_path, ["x"], {})
    assert {"mean_ns_low", "mean_ns_high", "relative_low"} <= set(
        polars.read_parquet(tmp_path / "rows.parquet").columns
    )
    figure = Figure()
    drawing_of(what.plots[1], rows)(figure)
    assert figure.axes[0].collections, "a band around each line"
    bars = what.plots[1].model_copy(update={"kind": "bars"})
    barred = Figure()
    drawing_of(bars, rows)(barred)
    assert any(isinstance(one, ErrorbarContainer) for one in barred.axes[0].containers)
