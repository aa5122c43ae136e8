# SPDX-License-Identifier: Apache-2.0
"""How often a running machine is read (B8): a ring of samples is read before it drops its oldest, however
fast the guest is, and a slow guest is not read more often than needed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bulkhead.run.pace import LEAST_S, MOST_S, Pace

CAPACITY = 511


def looked_at(rates: Sequence[float], cost_s: float = 0.0) -> tuple[list[int], list[float]]:
    """Pauses between reads of a ring that is filled at these rates, one for each read."""
    pace = Pace()
    interval, came, intervals = LEAST_S, [], []
    for rate in rates:
        elapsed = max(interval, cost_s)
        came.append(round(rate * elapsed))
        interval = pace.next(came[-1], CAPACITY, elapsed)
        intervals.append(interval)
    return came, intervals


@pytest.mark.parametrize("rate", [100, 1_000, 5_000, 20_000, 80_000])
def test_no_ring_is_overrun_at_any_constant_rate(rate: int) -> None:
    came, intervals = looked_at([rate] * 100)
    assert max(came) <= CAPACITY
    assert all(LEAST_S <= one <= MOST_S for one in intervals)


def test_a_guest_that_gets_three_times_as_fast_loses_nothing() -> None:
    came, _ = looked_at([2_000] * 20 + [6_000] * 20 + [18_000] * 20)
    assert max(came) <= CAPACITY


def test_little_is_looked_at_seldom() -> None:
    _, intervals = looked_at([100] * 20)
    assert intervals[-1] == MOST_S
    _, intervals = looked_at([0] * 20)
    assert intervals[-1] == MOST_S


def test_it_is_slow_to_believe_that_nothing_comes() -> None:
    _, intervals = looked_at([20_000] * 20 + [0] * 2)
    assert intervals[-1] <= 4 * intervals[19]
