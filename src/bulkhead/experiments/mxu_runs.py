# SPDX-License-Identifier: Apache-2.0
"""Builds the systems of experiment `mxu` and runs them on the simulated machine, side by side; results are
kept (means.py). mxu.py defines the systems."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path

import yaml

from bulkhead.admission.load_components import load_components
from bulkhead.campaign import points as campaign
from bulkhead.campaign.engine import Task
from bulkhead.campaign.points import PointFailed
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.platform import Platform
from bulkhead.env.native import ensure_built
from bulkhead.experiments.means import Means
from bulkhead.experiments.mxu_rows import ProgramNotMeasured, measured_row
from bulkhead.experiments.mxu_systems import Json
from bulkhead.experiments.row import Row
from bulkhead.experiments.sweep import key_of
from bulkhead.machine import armv7
from bulkhead.machine.settings import Settings
from bulkhead.microkernel.build import APP_TARGETS, board_directory, build_image
from bulkhead.package.errors import PackageError

LIMIT_PS = 60 * 10**12  # simulated time; limits programs that an adversary never lets proceed
OWN = ("manager", "scheduler")  # components of each system
SEEDED = ("patterns", "cnn")  # programs with a parameter `seed`
REPORT = "report "


@dataclass(frozen=True)
class MxuPoint:
    """One run: the first values of its row, and the system."""

    values: Row
    system: Json
    seed: int = 1  # for the replacement in caches and for the program's random numbers
    changes: tuple[tuple[str, int], ...] = ()  # settings of the machine by path
    may_be_refused: bool = False  # a refusal is not an error: its row has the reason

    @property
    def key(self) -> str:
        return key_of([*self.values.values(), *((f"s{self.seed}",) if self.seed != 1 else ())])

    def seeded(self) -> Json:
        """The system with this seed."""
        first, *others = self.system["components"]
        if self.seed == 1 or first["image"]["app"] not in SEEDED:
            return self.system
        params = first["params"] | {"seed": self.seed}
        return {**self.system, "components": [{**first, "params": params}, *others]}

    def on(self, settings: Settings) -> Settings:
        """The machine's settings with this point's changes."""
        made: Settings = json.loads(json.dumps(settings)) | {"seed": self.seed}
        for path, value in self.changes:
            where, *keys, last = path.split(".")
            for one in made[where]:
                reduce(getitem, keys, one)[last] = value
        return made


def run_points(means: Means, what: str, points: Sequence[MxuPoint]) -> list[Row]:
    """A row for each point, in their order: its values, the measurements, and the program's `report`. Raises
    PointFailed."""
    ensure_built(["target"], APP_TARGETS)
    armv7.ensure_armv7()
    names = [f"{what}-{point.key}" for point in points]
    rows = campaign.run_points(
        names,
        [_inputs(point) for point in points],
        lambda number: _task(points[number], names[number], means.directory / "runs" / names[number]),
        lambda number, answer: _row(points[number], names[number], answer),
        means.points,
        means.engine,
        f"{means.name}, {what}",
    )
    return [{**point.values, **row} for point, row in zip(points, rows, strict=True)]


def _task(point: MxuPoint, name: str, directory: Path) -> Task | Row:
    """The task that runs the point's image, which is built here; or the row of a system that is refused, if
    that is allowed. Raises PointFailed."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "system.yaml"
    file.write_text(yaml.safe_dump(point.seeded(), sort_keys=False), encoding="utf-8")
    loaded = load_components(file)
    if loaded.system is None or loaded.platform is None:
        reasons = "\n".join(problem.text() for problem in loaded.problems)
        raise PointFailed(f"point {name}: {reasons}")
    try:
        image = build_image(loaded, directory)
    except PackageError as error:
        if point.may_be_refused:
            return {"refused": "; ".join(one.cause for one in error.findings), "digest": "-"}
        reasons = "\n".join(loaded.locate(one).text() for one in error.findings)
        raise PointFailed(f"point {name}: {reasons}") from error
    request = armv7.request_of(
        loaded.platform,
        image.elf,
        until_ps=LIMIT_PS,
        until_line="report .*program|killed",
    )
    request["settings"] = point.on(request["settings"])
    return Task(json.dumps({"armv7": request}), (request["image"],))


def _row(point: MxuPoint, name: str, answer: Json) -> Row:
    run = armv7.Armv7Run.of(answer)
    platform = _platform(point)[0]
    assert platform.cores.frequency is not None
    try:
        report = report_of(run.console, point.system["components"][0]["name"])
        row = measured_row(run.marks, report, platform.cores.frequency)
    except ProgramNotMeasured as error:
        raise PointFailed(f"point {name}: {error}") from error
    return {**row, "report": report, "digest": f"{run.digest:016x}"}


def report_of(console: Sequence[str], name: str) -> Json:
    """The program's last report. Raises ProgramNotMeasured with the last lines of the console."""
    for line in reversed(console):
        _, found, text = line.partition(REPORT)
        if found and text.startswith("{"):
            report: Json = json.loads(text)
            if "program" in report:
                return report
    raise ProgramNotMeasured(f"{name} did not report: {' | '.join(console[-3:])}")


def _inputs(point: MxuPoint) -> str:
    """Hash of everything that the row depends on: system, platform, machine, kernel and programs."""
    platform, text = _platform(point)
    assert platform.microkernel is not None
    board = board_directory(platform.microkernel)
    apps = [f"{one['image']['app']}.o" for one in point.system["components"]]
    files = [armv7.executable(), board / "kernel.elf"]
    files += [board / "components" / name for name in (*(f"{own}.o" for own in OWN), *apps)]
    run = [point.seeded(), point.seed, point.changes, text, LIMIT_PS]
    whole = hashlib.sha256(json.dumps(run).encode())
    for file in files:
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def _platform(point: MxuPoint) -> tuple[Platform, str]:
    """The point's platform, and its text."""
    path = platform_path(point.system["platform"])
    assert path is not None
    platform, source, _ = load_platform(path)
    assert platform is not None
    return platform, source.text
