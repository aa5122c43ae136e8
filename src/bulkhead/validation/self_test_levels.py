# SPDX-License-Identifier: Apache-2.0
"""Three levels of caches, apart from each other, from a board's curve of random reads.

A random read of a block finds its line in the first level with the part of the block that fits there, in the
second with the further part that fits there, and so on. Sizes and latencies of all levels together predict
the whole curve; those that predict it best are those of the board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from bulkhead.validation.self_test import BlockRead, SelfTest

CACHES = 3
LEAST_NS = 1.0  # differences of latencies below this are not weighted as errors of their part
# Two levels are two only if the slower one takes so much longer.
DIFFERENT = 1.25
LARGEST_ERROR = 0.15  # of the curve's points, root of the mean square: what explains less explains nothing


@dataclass(frozen=True)
class Level:
    size: int  # bytes
    ns: float  # of a read that hits there, beyond a hit in the first level


@dataclass(frozen=True)
class ThreeLevels:
    first_size: int
    second: Level
    third: Level
    memory_ns: float


def three_levels_of(test: SelfTest) -> ThreeLevels | None:
    """The levels, sizes rounded to powers of two. None: the curve does not show three caches and memory."""
    curve = [(one.size, one.single) for one in test.latency]
    sizes = [size for size, _ in curve]
    fits = [
        found for caches in combinations(sizes[:-1], CACHES) if (found := _fit(curve, caches)) is not None
    ]
    if not fits:
        return None
    _, caches, times = min(fits)
    (first, second, third), (second_ns, third_ns, memory_ns) = caches, times
    return ThreeLevels(first, Level(second, second_ns), Level(third, third_ns), memory_ns)


def _fit(
    curve: Sequence[tuple[int, float]], caches: tuple[int, ...]
) -> tuple[float, tuple[int, ...], tuple[float, ...]] | None:
    """Error, sizes, and the times of all levels behind the first by weighted least squares."""
    parts = np.array([_parts(size, caches) for size, _ in curve])
    seen = np.array([ns for _, ns in curve])
    weights = 1 / np.maximum(seen, LEAST_NS)
    times, *_ = np.linalg.lstsq(parts * weights[:, None], seen * weights, rcond=None)
    if times[0] < LEAST_NS or any(later < DIFFERENT * one for one, later in pairwise(times)):
        return None
    error = float(np.sqrt(np.mean(((parts @ times - seen) * weights) ** 2)))
    return (error, caches, tuple(float(time) for time in times)) if error <= LARGEST_ERROR else None


def _parts(size: int, caches: tuple[int, ...]) -> list[float]:
    """The part of a block's lines that each level behind the first has."""
    held = [min(1.0, cache / size) for cache in caches]
    return [*(later - one for one, later in pairwise(held)), 1 - held[-1]]


def rate_within(reads: Sequence[BlockRead], inner: int, outer: int | None) -> float | None:
    """MB/s of one core that reads a block which the cache of size `outer` holds (None: memory) and that of
    size `inner` does not: of the largest block that leaves half of `outer` free, or the one of its own size
    if there is no smaller one."""
    fitting = [one for one in reads if one.size >= 2 * inner]
    if outer is None:
        return fitting[-1].mb_s if fitting else None
    within = [one for one in fitting if one.size <= outer // 2] or [
        one for one in fitting if one.size <= outer
    ]
    return within[-1].mb_s if within else None
