# SPDX-License-Identifier: Apache-2.0
"""`bulkhead experiment flows`: number 5 of the experiments, whose parts are of different kinds.

Called by the command `experiment`. Each section leaves a table, plots and a page of its own; what is done is
kept and not done again unless what it depends on has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bulkhead.commands.output import commit, version_text
from bulkhead.experiments import flow_memory, flow_schedules
from bulkhead.experiments.model import BadExperiment, Experiment, Plot
from bulkhead.experiments.output import write_output
from bulkhead.experiments.runner import run_jobs

if TYPE_CHECKING:
    from bulkhead.config.flow_costs import FlowCosts

NAME = "flows"
TITLE = "Communication between domains: memory's part, costs, analysis, latency"
PLATFORM = "zcu102"
PUBLISHED = "zcu102-published"

Row = dict[str, Any]

_SERIES = ("costs", "flows", "size_kib", "rate_mb_s")

# What each section is about, its plots, and what its page says.
SECTIONS: dict[str, tuple[str, tuple[Plot, ...], str]] = {
    "ustress": (
        "DRAM bandwidth of stressing cores over their budgets",
        (
            Plot(
                x="refills_of_all",
                y="mb_s",
                x_label="refills of all cores in 30 us",
                y_label="DRAM traffic, MB/s",
                series=("cores",),
            ),
        ),
        "Stores whose lines lie in other rows of one bank; refills and write-backs are both counted in MB/s.",
    ),
    "dma": (
        "Bandwidth of the DMA engine alone over its regulator's rate",
        (
            Plot(
                x="allowed_mb_s",
                y="mb_s",
                x_label="rate of the regulator, MB/s",
                y_label="engine, MB/s",
                series=("chunk_kib",),
                where={"regulated": True},
            ),
        ),
        "Chunk after chunk, each begun when the one before has ended. Register 0: the regulator is off.",
    ),
    "rates": (
        "The largest rate of the engine that leaves three stressing cores unaffected",
        (
            Plot(
                x="refills",
                y="rate_mb_s",
                x_label="budget of each core, refills in 30 us",
                y_label="largest rate, MB/s",
            ),
        ),
        "Unaffected: the cores get 99 % of the refills that they get without it. curve_mb_s: what the "
        "sum of utilizations (F3) would leave.",
    ),
    "overheads": (
        "Parts of a packet's path, beside the published ones",
        (),
        "Ours are of the simulated machine: ./bulkhead bench flows --platform zcu102.",
    ),
    "schedulable": (
        "Share of random sets of flows that is schedulable",
        tuple(
            Plot(
                x="utilization",
                y="ratio",
                x_label="utilization of the copying, C / (b P)",
                y_label="schedulable",
                series=("flows", "size_kib"),
                where={"costs": costs, "rate_mb_s": rate},
            )
            for costs in ("published", "ours")
            for rate in flow_schedules.RATES_MB_S
        ),
        "Four domains, 1000 sets a point, deadlines as long as periods, chunks of 4 KiB.",
    ),
    "latency": (
        "Worst observed latency against the analysed smallest period",
        (),
        "One flow alone that sends in each period, on the simulated machine; from release to delivery.",
    ),
}


def count_points() -> int:
    """Of all sections."""
    return (
        len(flow_memory.ustress_jobs())
        + len(flow_memory.dma_jobs())
        + len(flow_memory.TABLE_BUDGETS)
        + 1
        + len(flow_schedules.ratio_points())
        + len(flow_schedules.latency_points())
    )


def run_flows(
    only: Sequence[str], workers: int | None, again: bool, arguments: Sequence[str]
) -> tuple[dict[str, list[Row]], list[str], float]:
    """Rows of each section, files, seconds. Raises BadExperiment, PointFailed, ValueError."""
    from bulkhead.env.paths import build_dir
    from bulkhead.machine.native import built_machine

    if unknown := [one for one in only if one not in SECTIONS]:
        raise BadExperiment(f"--only {unknown[0]}: no section is named so (known: {', '.join(SECTIONS)})")
    directory = build_dir() / "run" / "experiments" / NAME
    if again:
        shutil.rmtree(directory, ignore_errors=True)
    begin = time.monotonic()
    built_machine(workloads=False)
    work = _Work(directory / "points", workers)
    rows: dict[str, list[Row]] = {}
    files: list[str] = []
    for name in SECTIONS:
        if only and name not in only:
            continue
        rows[name] = getattr(work, name)()
        files += _write(name, rows[name], directory / name, arguments)
    return rows, files, time.monotonic() - begin


class _Work:
    """One method for each section."""

    def __init__(self, keep: Path, workers: int | None) -> None:
        self.keep, self.workers = keep, workers

    def ustress(self) -> list[Row]:
        points = flow_memory.ustress_jobs()
        return flow_memory.ustress_rows(points, self._jobs([(p["key"], p["job"]) for p in points], "ustress"))

    def dma(self) -> list[Row]:
        points = flow_memory.dma_jobs()
        rows = flow_memory.dma_rows(points, self._jobs([(p["key"], p["job"]) for p in points], "DMA"))
        return [{**row, "regulated": row["register"] != 0} for row in rows]

    def rates(self) -> list[Row]:
        return flow_memory.rate_rows(lambda jobs: self._jobs(jobs, "largest rates"))

    def overheads(self) -> list[Row]:
        from bulkhead.bench.flows import STATISTICS

        parts = self._kept("overheads", _hosted_inputs(), _measured_parts)
        published = _costs_of(PUBLISHED).parts()
        return [
            {
                "part": name,
                **{f"{key}_ns": part[key] for key in STATISTICS},
                "seen": part["count"],
                **{f"published_{key}_ns": getattr(published[name], key) for key in STATISTICS},
            }
            for name, part in parts.items()
        ]

    def schedulable(self) -> list[Row]:
        from bulkhead.env.progress import progress

        costs = {"published": _costs_of(PUBLISHED), "ours": _costs_of(PLATFORM)}
        points = flow_schedules.ratio_points()
        workers = self.workers or os.cpu_count() or 1
        rows: list[Row] = []
        with progress("flows, schedulable sets") as update:
            for number, point in enumerate(points):
                key = "sets-" + "-".join(str(point[name]) for name in _SERIES)
                own = costs[point["costs"]]
                inputs = json.dumps([point, own.analyzed(), flow_schedules.SETS])

                def work(point: Row = point, own: FlowCosts = own) -> list[Row]:
                    return flow_schedules.ratio_rows(point, own, flow_schedules.SETS, workers)

                found = self._kept(key, inputs, work)
                half = flow_schedules.half_ratio(found)
                rows += [{**row, "half_at": half} for row in found]
                update((number + 1) / len(points), key)
        return rows

    def latency(self) -> list[Row]:
        from bulkhead.env.progress import progress

        published, own = _costs_of(PUBLISHED), _costs_of(PLATFORM)
        points = flow_schedules.latency_points()
        rows = []
        with progress("flows, observed latency") as update:
            for number, point in enumerate(points):
                key = f"latency-{point['rate_mb_s']}-{point['size_kib']}"
                inputs = json.dumps([point, published.analyzed(), own.analyzed(), _hosted_inputs()])

                def work(point: Row = point) -> Row:
                    return flow_schedules.latency_row(point, published, own, _hosted)

                rows.append(self._kept(key, inputs, work))
                update((number + 1) / len(points), key)
        return rows

    def _jobs(self, jobs: Sequence[tuple[str, Row]], title: str) -> list[Row]:
        return run_jobs(jobs, self.keep, self.workers, f"flows, {title}")

    def _kept(self, key: str, inputs: str, work: Callable[[], Any]) -> Any:
        """The result of earlier work on the same inputs, or of this."""
        path = self.keep / f"{key}.json"
        wanted = hashlib.sha256(inputs.encode()).hexdigest()
        if path.is_file():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["input"] == wanted:
                return kept["result"]
        result = work()
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"input": wanted, "result": result}), encoding="utf-8")
        part.replace(path)
        return result


def _costs_of(name: str) -> FlowCosts:
    from bulkhead.config.load import load_platform
    from bulkhead.config.locate import platform_path

    path = platform_path(name)
    platform = load_platform(path)[0] if path is not None else None
    if platform is None or platform.flow_costs is None:
        raise BadExperiment(f"platform '{name}' does not say what a packet's path costs")
    return platform.flow_costs


def _hosted_inputs() -> str:
    """Hash of what runs on the machine."""
    from bulkhead.config.locate import platform_path
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import build_dir

    ensure_built(["host"], ["hosted_run", f"hosted_hypervisor_{PLATFORM}"])
    host = build_dir() / "host"
    images = [
        *(host / "hosted" / "guests").glob("*.elf"),
        host / "hosted" / "hypervisor" / PLATFORM / "bulkhead.elf",
    ]
    files = [host / "machine" / "hosted" / "hosted_run", *images, platform_path(PLATFORM)]
    whole = hashlib.sha256()
    for file in sorted(str(one) for one in files):
        whole.update(Path(file).read_bytes())
    return whole.hexdigest()


def _measured_parts() -> dict[str, dict[str, int]]:
    from bulkhead.commands.bench import measure_flows
    from bulkhead.run.target import MACHINE

    measured, _, _ = measure_flows([f"platform={PLATFORM}"], MACHINE, 0)
    if isinstance(measured, list):
        raise BadExperiment("; ".join(measured))
    return measured.parts


def _hosted(system: dict[str, Any]) -> dict[str, Any]:
    """A run of a system on the simulated machine."""
    import yaml

    from bulkhead.commands.run import run_quietly
    from bulkhead.config.load import load_system
    from bulkhead.env.paths import build_dir
    from bulkhead.run.target import MACHINE, Options

    place = build_dir() / "run" / "experiments" / NAME / "runs" / str(system["name"])
    place.mkdir(parents=True, exist_ok=True)
    file = place / "system.yaml"
    file.write_text(yaml.safe_dump(system, sort_keys=False), encoding="utf-8")
    loaded = load_system(str(file), emulated=False)
    return run_quietly(loaded, Options(for_ns=2 * 10**9, on=MACHINE), place / "run")


def _write(name: str, rows: list[Row], directory: Path, arguments: Sequence[str]) -> list[str]:
    from bulkhead.config.locate import platform_path

    title, plots, about = SECTIONS[name]
    what = Experiment.model_construct(
        experiment=1,
        name=f"{NAME}-{name}",
        title=title,
        platform=PLATFORM,
        plots=plots,
        series=(),
        sweep={},
        parts=(),
        result="walk-times",
        about=about,
    )
    path = platform_path(PLATFORM)
    assert path is not None, "it was run"
    facts = {
        "version": version_text(),
        "commit": commit(),
        "platform file, SHA-256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "points": str(len(rows)),
    }
    command = ["./bulkhead", "experiment", *arguments]
    return [str(file) for file in write_output(what, rows, directory, command, facts)]
