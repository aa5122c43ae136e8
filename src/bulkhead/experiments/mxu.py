# SPDX-License-Identifier: Apache-2.0
"""Experiment `mxu` (X7): the points of each section, and comparisons between rows. Each section is a function
of the size (SIZES); sections.py uses their names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from bulkhead.experiments import mxu_systems as systems
from bulkhead.experiments.intervals import combined
from bulkhead.experiments.means import Means
from bulkhead.experiments.mxu_rows import per_access
from bulkhead.experiments.mxu_runs import MxuPoint, run_points
from bulkhead.experiments.mxu_systems import MMU_PLATFORM, MPU_PLATFORM, PATTERNS, PLACES, POLICIES
from bulkhead.experiments.row import Row

SIZES = ("usual", "quick", "full")
ACCESSES = 262144  # for matrices 557,056
QUICK_ACCESSES = 16384
QUICK_PATTERNS = ("random", "stride")
PERIODS_US = (10, 100, 1000, 10000)
QUICK_PERIODS_US = (10, 1000)
# With an adversary before each access. It also cleans the caches, which takes 97 us on the Zynq.
ALL_MISS = "all-miss"
MMU_ALL_MISS_ACCESSES = 4096
MPU_ALL_MISS_ACCESSES = 16384
INSIDE = ("static", "dynamic", "half")  # cases of an MPU with the adversary in the benchmark's component
APART = ("both-static", "static-apart", "apart")
# For an adversary in a component of its own. A job takes 17 us including the scheduler: with one every 10 us
# no time would be left for the benchmark.
APART_PERIODS_US = (20, *PERIODS_US[1:])
WAYS = tuple(range(systems.WAYS + 1))
INTERFERED_WAYS = 4
APP_CASES = ("static", "half", "3", "2")
REFUSED = "1"  # dynamic regions; refused, because an instruction can need two ranges at once

# The published sizes take hours.
FULL_APPS: dict[str, Row] = {
    "sqlite": {"rows": 16384},
    "duktape": {"side": 64, "count": 75000},
    "cnn": {"runs": 50},
}
APPS: dict[str, Row] = {
    "sqlite": {"rows": 2048},
    "duktape": {"side": 16, "count": 20000},
    "cnn": {"runs": 1},
}
QUICK_APPS: dict[str, Row] = {"sqlite": {"rows": 128}}

# Assumed parameters (platforms/zynq7020.yaml): cycles of a walk besides its reads, and cycles of a hit in L2
# or in on-chip memory.
ASSUMED: dict[str, tuple[int, ...]] = {"walk": (0, 5, 10, 20), "latency": (15, 25, 35)}
ASSUMED_ROWS = 1024

MEASURED = (
    "cycles",
    "check_cycles",
    "check_share",
    "misses",
    "miss_mean",
    "miss_deviation",
    "miss_p99",
    "miss_max",
    "near",
    "of_kernel",
    "of_others",
    "of_hits",
    "disturbed",
    "between_us",
    "check_an_act",
    "instructions",
)
COMPARED = ("saved", "overhead")
WITH_INTERVAL = ("cycles", "check_share", "check_an_access", "miss_mean", *COMPARED)
AN_ACCESS = ("cycles_an_access", "check_an_access", "misses_an_access")
PATTERN_COLUMNS = ("platform", "pattern", "case", *AN_ACCESS, *MEASURED)
INTERFERENCE_COLUMNS = (
    "platform",
    "pattern",
    "case",
    "period_us",
    "period",
    *COMPARED,
    *AN_ACCESS,
    *MEASURED,
)
APP_COLUMNS = ("platform", "app", "case", "period_us", "period", "ways", *COMPARED, "refused", *MEASURED)
ASSUMED_COLUMNS = ("platform", "parameter", "value", "case", "saved", *MEASURED)


def rows_of(name: str, means: Means) -> list[Row]:
    """One row for each point. With several seeds: means with intervals, and the largest cost of all
    misses."""
    points, finish = SECTIONS[name](means.size)
    what = name if means.size == SIZES[0] else f"{name}-{means.size}"  # kept separately
    by_seed = []
    for seed in range(1, means.seeds + 1):
        rows = run_points(means, what, [replace(point, seed=seed) for point in points])
        by_seed.append(finish([_shown(row) for row in rows]))
    if means.seeds == 1:
        return by_seed[0]
    made = combined(by_seed, [key for key in WITH_INTERVAL if key in by_seed[0][0]])
    for number, row in enumerate(made):
        costs = [rows[number].get("miss_max") for rows in by_seed]
        row["miss_max"] = max((one for one in costs if one is not None), default=None)
    return made


def count(name: str) -> int:
    return len(SECTIONS[name]("usual")[0])


Section = tuple[list[MxuPoint], Callable[[list[Row]], list[Row]]]


def _shown(row: Row) -> Row:
    """The row without the program's report, except the number of its accesses; with the check's cycles per
    act of an adversary in the component."""
    report: Row = row.get("report", {})
    if "refused" in row:
        row = {**row, **dict.fromkeys(MEASURED)}
    acts = row.get("disturbed")
    row = {**row, "check_an_act": row["check_cycles"] / acts if acts else None}
    rest = {key: value for key, value in row.items() if key not in ("report", "digest")}
    more = per_access(row, report["accesses"]) if "accesses" in report else {}
    return {**rest, **more, "digest": row["digest"]}


def beside(
    rows: Sequence[Row],
    reference: Callable[[Row], Row],
    key: str,
    made: Callable[[float, float], float],
) -> list[Row]:
    """Adds a column `key` computed from the row and another one; None if there is none. `reference`: values
    by which the other row differs. `made`: function of both rows' `cycles`, or `check_cycles` for `saved`."""
    measure = "check_cycles" if key == "saved" else "cycles"
    names = ("platform", "pattern", "app", "case", "period_us", "ways", "parameter", "value")

    def place(row: Row) -> tuple[Any, ...]:
        return tuple(row.get(name) for name in names)

    by_place = {place(row): row for row in rows}
    found = []
    for row in rows:
        than = by_place.get(place({**row, **reference(row)}))
        both = (row.get(measure), None if than is None else than.get(measure))
        value = made(both[0], both[1]) if both[0] is not None and both[1] else None
        found.append({**row, key: value})
    return found


def _saved(own: float, plain: float) -> float:
    return 1 - own / plain


def _more(own: float, static: float) -> float:
    return own / static - 1


def _same(rows: list[Row]) -> list[Row]:
    return rows


def _period(period_us: int) -> Row:
    """The adversary's period as number and as word. 0: no adversary."""
    word = f"{period_us} us" if period_us < 1000 else f"{period_us // 1000} ms"
    return {"period_us": period_us, "period": word if period_us else "none"}


# --- Patterns ---


def _mmu(size: str) -> Section:
    points = []
    for name, place in itertools.product(_patterns(size), (*PLACES, ALL_MISS)):
        values = {"platform": MMU_PLATFORM, "pattern": name, "case": place}
        made = (
            systems.mmu_pattern(name, "plain", _few(MMU_ALL_MISS_ACCESSES, size), each=True)
            if place == ALL_MISS
            else systems.mmu_pattern(name, place, _accesses(name, size))
        )
        points.append(MxuPoint(values, made))
    return points, _same


def _mpu(size: str) -> Section:
    points = []
    for name, case in itertools.product(_patterns(size), ("static", *POLICIES, ALL_MISS)):
        values = {"platform": MPU_PLATFORM, "pattern": name, "case": case}
        if case == ALL_MISS:
            few = _few(MPU_ALL_MISS_ACCESSES, size)
            made = systems.mpu_pattern(name, "dynamic", few, each=True)
        elif case == "static":
            made = systems.mpu_pattern(name, case, _accesses(name, size))
        else:
            made = systems.mpu_pattern(name, "dynamic", _accesses(name, size), policy=case)
        points.append(MxuPoint(values, made))
    return points, _same


def _patterns(size: str) -> tuple[str, ...]:
    return QUICK_PATTERNS if size == "quick" else PATTERNS


def _accesses(name: str, size: str) -> int:
    """Number of accesses. Matrices have their 17 rows, or fewer for a quick run."""
    return (QUICK_ACCESSES if size == "quick" else ACCESSES) * (4 if name == "matrix" else 1)


def _few(accesses: int, size: str) -> int:
    return accesses // 8 if size == "quick" else accesses


def _mmu_interference(size: str) -> Section:
    points = [
        MxuPoint(
            {"platform": MMU_PLATFORM, "pattern": name, "case": place, **_period(period)},
            systems.mmu_pattern(name, place, _accesses(name, size), period),
        )
        for name, place, period in itertools.product(_patterns(size), PLACES, _periods(size))
    ]
    return points, lambda rows: beside(rows, lambda _row: {"case": "plain"}, "saved", _saved)


def _periods(size: str) -> tuple[int, ...]:
    return QUICK_PERIODS_US if size == "quick" else PERIODS_US


def _static_of(row: Row) -> Row:
    """The case to which an overhead refers: all static, with the adversary at the same place."""
    return {"case": "both-static" if row["case"] in APART else "static"}


def _mpu_interference(size: str) -> Section:
    apart = (APART_PERIODS_US[0], QUICK_PERIODS_US[1]) if size == "quick" else APART_PERIODS_US
    cases = [*itertools.product(INSIDE, _periods(size)), *itertools.product(APART, apart)]
    points = [
        MxuPoint(
            {"platform": MPU_PLATFORM, "pattern": name, "case": case, **_period(period)},
            systems.mpu_pattern(name, case, _accesses(name, size), period),
        )
        for name, (case, period) in itertools.product(_patterns(size), cases)
    ]
    return points, lambda rows: beside(rows, _static_of, "overhead", _more)


# --- Applications ---


def _apps(size: str) -> Iterator[tuple[str, Row]]:
    yield from (QUICK_APPS if size == "quick" else FULL_APPS if size == "full" else APPS).items()


def _ways(size: str) -> Section:
    points = [
        MxuPoint(
            {"platform": MMU_PLATFORM, "app": app, "case": _place_of(ways), "period_us": 0, "ways": ways},
            systems.mmu_app(app, params, _place_of(ways), ways),
        )
        for (app, params), ways in itertools.product(_apps(size), (0, 4, 8) if size == "quick" else WAYS)
    ]
    return points, lambda rows: beside(rows, lambda _row: {"case": "plain", "ways": 0}, "overhead", _more)


def _place_of(ways: int) -> str:
    """Place of table nodes: with no locked way they are in plain memory."""
    return "ways" if ways else "plain"


def _apps_mmu(size: str) -> Section:
    cases = {"plain": 0, "ocm": 0, "ways": INTERFERED_WAYS}
    periods = QUICK_PERIODS_US if size == "quick" else (0, *PERIODS_US)
    points = [
        MxuPoint(
            {"platform": MMU_PLATFORM, "app": app, "case": place, **_period(period), "ways": cases[place]},
            systems.mmu_app(app, params, place, cases[place], period),
        )
        for (app, params), place, period in itertools.product(_apps(size), cases, periods)
    ]
    return points, lambda rows: beside(rows, lambda _row: {"case": "plain", "ways": 0}, "saved", _saved)


def _apps_mpu(size: str) -> Section:
    cases = [
        *itertools.product(("static", "3") if size == "quick" else APP_CASES, (0, *_periods(size))),
        (REFUSED, 0),
    ]
    points = [
        MxuPoint(
            {"platform": MPU_PLATFORM, "app": app, "case": case, **_period(period)},
            systems.mpu_app(app, params, case, period),
            may_be_refused=case == REFUSED,
        )
        for (app, params), (case, period) in itertools.product(_apps(size), cases)
    ]

    def finish(rows: list[Row]) -> list[Row]:
        found = beside(rows, lambda _row: {"case": "static"}, "overhead", _more)
        return [{**row, "refused": row.get("refused")} for row in found]

    return points, finish


def _assumed(size: str) -> Section:
    """Dependence of SQLite's TLB stall at 10 us on the assumed parameters."""
    params = QUICK_APPS["sqlite"] if size == "quick" else {"rows": ASSUMED_ROWS}
    points = [
        MxuPoint(
            {"platform": MMU_PLATFORM, "parameter": parameter, "value": value, "case": place},
            systems.mmu_app("sqlite", params, place, 0, PERIODS_US[0]),
            changes=tuple(systems.assumed(parameter, value)),
        )
        for parameter, values in ASSUMED.items()
        for value, place in itertools.product(values, ("plain", "ocm"))
    ]
    return points, lambda rows: beside(rows, lambda _row: {"case": "plain"}, "saved", _saved)


SECTIONS: dict[str, Callable[[str], Section]] = {
    "mmu": _mmu,
    "mmu-interference": _mmu_interference,
    "mpu": _mpu,
    "mpu-interference": _mpu_interference,
    "ways": _ways,
    "apps-mmu": _apps_mmu,
    "apps-mpu": _apps_mpu,
    "assumed": _assumed,
}
