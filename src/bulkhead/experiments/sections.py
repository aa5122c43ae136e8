# SPDX-License-Identifier: Apache-2.0
"""Sections of an experiment: parts that are measured in different ways, each with its own table.

The files of experiments/ define how rows are shown; the ways to measure are here, by the section's name.
Called by run.py; check.py uses the names.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bulkhead.config.flow_costs import ISOLATED, PLAIN
from bulkhead.experiments import device_colors, device_rows, flow_memory, flow_rates, flow_schedules, mxu
from bulkhead.experiments.flow_memory import PLATFORM
from bulkhead.experiments.intervals import combined
from bulkhead.experiments.means import Means
from bulkhead.experiments.mxu_systems import MMU_PLATFORM, Json
from bulkhead.experiments.row import Point, Row
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.assumed import Assumed
from bulkhead.machine.job import Job
from bulkhead.results.run import PathPartResult

if TYPE_CHECKING:
    from bulkhead.admission.load import Loaded
    from bulkhead.config.flow_costs import FlowCosts

PUBLISHED = "zcu102-published"
RUN_NS = 2 * 10**9  # limit for a system whose packets are counted; it ends by itself


@dataclass(frozen=True)
class HeadlineWay:
    """How a row of a section is made for other values of assumed parameters (sensitivity.py)."""

    points: Callable[[], list[Point]]
    jobs: Callable[[Point, int], list[tuple[str, Job]]]  # of a point and a seed
    row: Callable[[Point, Sequence[PointAnswer]], Row]  # from the results of these jobs
    columns: tuple[str, ...]  # that can be the headline
    assumed: Callable[[Fraction], list[Assumed]]  # parameters beside those of the platform
    changed: Callable[[Job, str], Job]  # a job with another value of a parameter


@dataclass(frozen=True)
class SectionWay:
    """How a section's rows are made."""

    points: Callable[[], int]  # number of points
    rows: Callable[[Means], list[Row]]
    columns: tuple[str, ...]  # columns that a plot can have
    platform: str = PLATFORM
    sizes: tuple[str, ...] = ()  # sizes of Means besides the usual one
    seeded: bool = False  # Means.seeds applies
    headline: HeadlineWay | None = None  # None: a section of this kind has no headline
    builds: bool = False  # it builds what it runs; else the machine's module is needed


def _ustress(means: Means) -> list[Row]:
    of_seeds = [flow_memory.ustress_jobs(seed=seed) for seed in range(1, means.seeds + 1)]
    jobs = [(one["key"], one["job"]) for points in of_seeds for one in points]
    results = iter(means.jobs(jobs, "ustress"))
    by_seed = [
        flow_memory.ustress_rows(points, list(itertools.islice(results, len(points)))) for points in of_seeds
    ]
    return combined(by_seed, ("mb_s", "refills_got", "dram_utilization"))


def _dma(means: Means) -> list[Row]:
    points = flow_memory.dma_jobs()
    results = means.jobs([(one["key"], one["job"]) for one in points], "DMA")
    return flow_memory.dma_rows(points, results)


def _rates(means: Means) -> list[Row]:
    return flow_rates.rate_rows_of_seeds(lambda jobs: means.jobs(jobs, "largest rates"), means.seeds)


def _overheads(means: Means) -> list[Row]:
    from bulkhead.bench.flows import STATISTICS, FlowsNotMeasured, load, measure, statistics_of
    from bulkhead.run.target import MACHINE

    def work() -> dict[str, PathPartResult]:
        try:
            return measure(load([f"platform={PLATFORM}"], MACHINE), MACHINE, 0, means.run_system).parts
        except FlowsNotMeasured as error:
            raise ValueError(str(error)) from error

    parts: dict[str, PathPartResult] = means.kept("overheads", _hosted_inputs(), work)
    published = costs_of(PUBLISHED).parts()
    return [
        {
            "part": name,
            **{f"{key}_ns": value for key, value in statistics_of(part).items()},
            "seen": part["count"],
            **{f"published_{key}_ns": getattr(published.get(name), key, None) for key in STATISTICS},
        }
        for name, part in parts.items()
    ]


def _schedulable(means: Means) -> list[Row]:
    costs = {"published": costs_of(PUBLISHED), "ours": costs_of(PLATFORM)}
    workers = means.engine.jobs or os.cpu_count() or 1

    def inputs(point: Row) -> str:
        return json.dumps([point, costs[point["costs"]].analyzed(), flow_schedules.SETS])

    def work(point: Row) -> list[Row]:
        return flow_schedules.ratio_rows(point, costs[point["costs"]], flow_schedules.SETS, workers)

    found = means.kept_each("schedulable", flow_schedules.ratio_points(), inputs, work)
    return [{**row, "half_at": flow_schedules.half_ratio(rows)} for rows in found for row in rows]


def _latency(means: Means) -> list[Row]:
    published, hosted = costs_of(PUBLISHED), _hosted_inputs()
    points = flow_schedules.latency_points()
    own = {section: _costs_in(means, points, section) for section in (PLAIN, ISOLATED)}

    def inputs(point: Row) -> str:
        return json.dumps([point, published.analyzed(), own[point["costs"]].analyzed(), hosted])

    def work(point: Row) -> Row:
        costs, seed = own[point["costs"]], point["seed"]
        return flow_schedules.latency_row(
            point, published, costs, lambda system: _hosted(means, system, seed)
        )

    seeds = range(1, means.seeds + 1)
    of_seeds = [{**point, "seed": seed} for seed in seeds for point in points]
    rows = means.kept_each("latency", of_seeds, inputs, work)
    each = len(rows) // means.seeds
    shown = [{key: value for key, value in row.items() if key != "seed"} for row in rows]
    by_seed = [shown[begin : begin + each] for begin in range(0, len(rows), each)]
    found = combined(by_seed, ("latency_mean_ns", "latency_max_ns", "observed_of_period"))
    longest = [max(row["latency_max_ns"] for row in own) for own in zip(*by_seed, strict=True)]
    return [{**row, "latency_longest_ns": ns} for row, ns in zip(found, longest, strict=True)]


def _mxu(name: str, columns: tuple[str, ...]) -> SectionWay:
    return SectionWay(
        lambda: mxu.count(name),
        lambda means: mxu.rows_of(name, means),
        columns,
        platform=MMU_PLATFORM,
        builds=True,
        sizes=mxu.SIZES[1:],
        seeded=True,
    )


WAYS = {
    "ustress": SectionWay(
        lambda: len(flow_memory.ustress_jobs()),
        _ustress,
        ("cores", "refills", "refills_of_all", "mb_s", "refills_got", "dram_utilization"),
        seeded=True,
    ),
    "dma": SectionWay(
        lambda: len(flow_memory.dma_jobs()),
        _dma,
        ("chunk_kib", "register", "regulated", "allowed_mb_s", "mb_s"),
    ),
    "rates": SectionWay(
        lambda: len(flow_rates.POINTS),
        _rates,
        (
            "placement",
            "cores",
            "refills",
            "refills_of_all",
            "register",
            "rate_mb_s",
            "dma_mb_s",
            "refills_alone",
            "refills_beside",
            "least_alone",
            "least_beside",
            "us_alone",
            "us_beside",
            "slowdown",
            "curve_mb_s",
            "least_rate_mb_s",
        ),
        seeded=True,
        headline=HeadlineWay(
            flow_rates.headline_points,
            flow_rates.headline_pair,
            flow_rates.headline_row,
            ("refills_beside", "least_beside", "us_alone", "us_beside", "slowdown"),
            lambda _: [],
            lambda job, setting: {**job, "platform_set": [setting]},
        ),
    ),
    "overheads": SectionWay(
        lambda: 1, _overheads, ("part", "min_ns", "avg_ns", "max_ns", "median_ns", "seen")
    ),
    "schedulable": SectionWay(
        lambda: len(flow_schedules.ratio_points()),
        _schedulable,
        ("costs", "flows", "size_kib", "rate_mb_s", "utilization", "ratio", "undecided", "half_at"),
    ),
    "latency": SectionWay(
        lambda: len(flow_schedules.latency_points()),
        _latency,
        (
            "rate_mb_s",
            "size_kib",
            "bound_ns",
            "latency_mean_ns",
            "latency_max_ns",
            "latency_longest_ns",
            "observed_of_period",
        ),
        seeded=True,
    ),
    "contention": SectionWay(
        lambda: len(device_rows.points_of(device_rows.CONTENTION)),
        lambda means: device_rows.rows(device_rows.points_of(device_rows.CONTENTION), means, "contention"),
        device_rows.CONTENTION_COLUMNS,
        seeded=True,
        headline=HeadlineWay(
            lambda: device_rows.points_of(device_rows.CONTENTION),
            device_rows.pair_of,
            device_rows.pair_row,
            device_rows.WITH_INTERVAL,
            device_rows.assumed_of,
            device_rows.changed,
        ),
    ),
    "tlb": SectionWay(
        lambda: len(device_rows.points_of(device_rows.TLB)),
        lambda means: device_rows.rows(device_rows.points_of(device_rows.TLB), means, "tlb"),
        device_rows.TLB_COLUMNS,
        seeded=True,
    ),
    "colored": SectionWay(
        lambda: len(device_colors.points()),
        lambda means: device_colors.rows(device_colors.points(), means),
        device_colors.COLUMNS,
        seeded=True,
    ),
    "mmu": _mxu("mmu", mxu.PATTERN_COLUMNS),
    "mmu-interference": _mxu("mmu-interference", mxu.INTERFERENCE_COLUMNS),
    "mpu": _mxu("mpu", mxu.PATTERN_COLUMNS),
    "mpu-interference": _mxu("mpu-interference", mxu.INTERFERENCE_COLUMNS),
    "ways": _mxu("ways", mxu.APP_COLUMNS),
    "apps-mmu": _mxu("apps-mmu", mxu.APP_COLUMNS),
    "apps-mpu": _mxu("apps-mpu", mxu.APP_COLUMNS),
    "assumed": _mxu("assumed", mxu.ASSUMED_COLUMNS),
}


def costs_of(name: str, section: str = PLAIN) -> FlowCosts:
    """Flow costs of a platform. Raises ValueError if it has none."""
    from bulkhead.config.load import load_platform
    from bulkhead.config.locate import platform_path

    path = platform_path(name)
    platform = load_platform(path)[0] if path is not None else None
    costs: FlowCosts | None = None if platform is None else getattr(platform, section)
    if costs is None:
        raise ValueError(f"platform '{name}' has no costs of a packet's path (`{section}`)")
    return costs


def _hosted_inputs() -> str:
    """Hash of the programs that run: the machine, the hypervisor, the guests, and the platform."""
    from bulkhead.config.locate import platform_path
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import host_dir

    ensure_built(["host"], ["hosted_run", f"hosted_hypervisor_{PLATFORM}"])
    host = host_dir()
    images = [
        *(host / "hosted" / "guests").glob("*.elf"),
        host / "hosted" / "hypervisor" / PLATFORM / "bulkhead.elf",
    ]
    files = [host / "machine" / "hosted" / "hosted_run", *images, platform_path(PLATFORM)]
    whole = hashlib.sha256()
    for file in sorted(str(one) for one in files):
        whole.update(Path(file).read_bytes())
    return whole.hexdigest()


def _costs_in(means: Means, points: Sequence[Row], section: str) -> FlowCosts:
    """The costs of a packet's path in the systems of these points that use this section of the platform's
    file, with EL2's own interrupts. They do not depend on the flow."""
    from bulkhead.planning.console import console_core
    from bulkhead.planning.flows import flow_model

    point = next(one for one in points if one["costs"] == section)
    loaded, _ = _loaded(means, flow_schedules.latency_system(point, flow_schedules.MOST_NS, 1))
    if loaded.system is None or loaded.platform is None:
        raise ValueError("\n".join(problem.text() for problem in loaded.problems))
    console = console_core(loaded.system, loaded.platform)
    model, findings = flow_model(loaded.system, loaded.platform, console)
    if model is None:
        raise ValueError("\n".join(loaded.locate(finding).text() for finding in findings))
    return model.costs


def _loaded(means: Means, system: Json) -> tuple[Loaded, Path]:
    """The system, and the directory of its runs."""
    import yaml

    from bulkhead.admission.load import load_system

    place = means.directory / "runs" / str(system["name"])
    place.mkdir(parents=True, exist_ok=True)
    file = place / "system.yaml"
    file.write_text(yaml.safe_dump(system, sort_keys=False), encoding="utf-8")
    return load_system(str(file), emulated=False), place


def _hosted(means: Means, system: Json, seed: int) -> Mapping[str, Any]:
    """Result of a run of a system on the simulated machine."""
    from bulkhead.run.target import MACHINE, RunOptions

    loaded, place = _loaded(means, system)
    return means.run_system(loaded, RunOptions(for_ns=RUN_NS, on=MACHINE, seed=seed), place / "run")
