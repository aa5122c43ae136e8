# SPDX-License-Identifier: Apache-2.0
"""Evaluation of the hypervisor's time stamps (F5): cores together, medians from buckets, ns from ticks."""

from __future__ import annotations

import itertools

from bulkhead.run.path_costs import NOTHING, PathCost, bucket, merged

BUCKETS = 64


def of(*values: int) -> PathCost:
    histogram = [0] * BUCKETS
    for value in values:
        histogram[next(n for n in range(BUCKETS) if bucket(n)[0] <= value < bucket(n)[1])] += 1
    return PathCost(len(values), min(values), max(values), sum(values), tuple(histogram))


def test_f5_buckets_follow_one_another_without_a_gap() -> None:
    ends = [bucket(number) for number in range(BUCKETS)]
    assert ends[0] == (0, 1)
    assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(ends))


def test_f5_a_median_is_within_an_eighth() -> None:
    for middle in (3, 17, 500, 4711, 65_000):
        seen = of(1, middle, middle, middle, 10**6 // 16).median
        assert abs(seen - middle) <= middle / 8 + 1


def test_f5_cores_are_added_and_time_is_rounded_up() -> None:
    total = merged([{"parse": of(10, 30)}, {"parse": NOTHING}, {"parse": of(7)}])["parse"]
    assert (total.count, total.min, total.max, total.sum) == (3, 7, 30, 47)
    assert total.json(62_500_000) == {
        "count": 3,
        "min": 112,
        "avg": 256,
        "max": 480,
        "median": total.median * 16,
    }
