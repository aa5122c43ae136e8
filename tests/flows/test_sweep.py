# SPDX-License-Identifier: Apache-2.0
"""F6: random sets are drawn correctly, are the same for the same seed, and are counted correctly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bulkhead.flows import sweep
from bulkhead.flows.native import analysis

from ..platforms import platform
from .test_analysis import COSTS

SMALL = sweep.Sweep(COSTS, 4, 12, 12288, 500_000_000, 250, 4096, (0.2, 0.5, 0.6, 0.9), 7)


def ran(what: sweep.Sweep, workers: int = 2) -> sweep.Swept:
    return sweep.run(what, workers, lambda _fraction, _step: None)


@pytest.mark.req("F6")
def test_utilizations_add_up_and_are_uniform() -> None:
    """By UUniFast the first of n is distributed as 1 - r^(1 / (n - 1)): its mean is 1/n."""
    shares = sweep.uunifast(np.random.default_rng(1), 20_000, 8, 0.7)
    assert np.allclose(shares.sum(axis=1), 0.7)
    assert (shares > 0).all()
    assert np.allclose(shares.mean(axis=0), 0.7 / 8, rtol=0.03)
    assert np.mean(shares[:, 0] <= 0.1) == pytest.approx(1 - (1 - 0.1 / 0.7) ** 7, abs=0.01)


@pytest.mark.req("F6")
def test_periods_give_the_utilization_and_senders_are_drawn_from_all() -> None:
    periods, senders = sweep.draw(SMALL, 1, 0, 250)
    utilization = (12288 / 500e6 * 1e9 / periods.astype(float)).sum(axis=1)
    assert np.allclose(utilization, 0.5, atol=1e-4)
    assert set(np.unique(senders)) == {0, 1, 2, 3}


@pytest.mark.req("F6")
@pytest.mark.parametrize(
    ("size", "rate", "words"),
    [(4 << 30, 100_000_000, "18 minutes"), (12288, 1, "18 minutes"), (1, 1 << 40, "1 ns")],
)
def test_a_utilization_that_no_period_can_give_is_refused(size: int, rate: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ran(replace(SMALL, packet_bytes=size, bytes_per_s=rate))


@pytest.mark.req("F6")
def test_ratios_are_those_of_the_sets_one_by_one() -> None:
    swept = ran(SMALL)
    for number, point in enumerate(swept.points):
        hits = 0
        for first in range(0, SMALL.sets, sweep.SETS_AT_ONCE):
            periods, senders = sweep.draw(SMALL, number, first, min(sweep.SETS_AT_ONCE, SMALL.sets - first))
            for row, by in zip(periods.tolist(), senders.tolist(), strict=True):
                declared = [(12288, p, p, 0, s) for p, s in zip(row, by, strict=True)]
                try:
                    made = analysis().FlowSet(declared, COSTS.analyzed(), 4, 4096)
                except analysis().Refused:
                    continue
                hits += made.check(SMALL.bytes_per_s).verdict == "schedulable"
        assert point.schedulable == hits
        assert point.low <= point.ratio <= point.high
    assert swept.points[0].ratio > 0.5 > swept.points[-1].ratio
    assert 0 < swept.took.median <= swept.took.max


@pytest.mark.req("F6")
@pytest.mark.parametrize("board", ["zcu102-published", "zcu102"])
def test_the_time_of_a_test_grows_with_the_number_of_flows(board: str) -> None:
    """Some microseconds for 64 flows; the limits have room for a busy host."""
    costs = platform(board).flow_costs
    assert costs is not None
    loads = (0.01, 0.02, 0.2)
    few, many = (
        ran(sweep.Sweep(costs, 4, flows, 4096, 500_000_000, 100, 4096, loads, 7), 1).took.median
        for flows in (8, 64)
    )
    assert many < 60
    assert many < 12 * few


@pytest.mark.req("F6")
def test_the_same_seed_gives_the_same_sets_and_another_does_not() -> None:
    def counted(what: sweep.Sweep, workers: int) -> list[int]:
        return [point.schedulable for point in ran(what, workers).points]

    assert counted(SMALL, 1) == counted(SMALL, 2)
    first, other = sweep.draw(SMALL, 0, 0, 10)[0], sweep.draw(replace(SMALL, seed=8), 0, 0, 10)[0]
    assert not np.array_equal(first, other)


@pytest.mark.req("F6")
@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"), [(0, 100, 0, 0.037), (50, 100, 0.404, 0.596), (100, 100, 0.963, 1)]
)
def test_the_interval_is_wilsons(hits: int, tries: int, low: float, high: float) -> None:
    """Values are as in tables of the Wilson score interval."""
    assert sweep.interval(hits, tries) == pytest.approx((low, high), abs=6e-4)


@pytest.mark.parametrize(
    "change", [{"flows": 0}, {"flows": 1000}, {"domains": 33}, {"packet_bytes": 1 << 40}]
)
def test_impossible_settings_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="are out of range"):
        ran(replace(SMALL, **change))  # type: ignore[arg-type]


def test_columns_of_different_lengths_are_refused() -> None:
    good = np.ones((2, 3), dtype=np.uint64)
    with pytest.raises(ValueError, match="as many flows"):
        analysis().test_batch(
            good, good, np.ones((1, 3), dtype=np.uint64), good,
            costs=COSTS.analyzed(), senders=1, chunk_bytes=4096, bytes_per_s=1,
        )  # fmt: skip
