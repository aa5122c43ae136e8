# SPDX-License-Identifier: Apache-2.0
"""Tools with which sections of an experiment measure: running jobs and systems, and keeping results.

run.py makes one for each experiment; sections.py uses it. Nothing is measured here.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bulkhead.campaign.engine import Engine
from bulkhead.campaign.points import keep_result, kept_result, run_jobs
from bulkhead.env.progress import progress
from bulkhead.experiments.row import Row
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.job import Job

if TYPE_CHECKING:
    from bulkhead.bench.flows import RunSystem


@dataclass(frozen=True)
class Means:
    """The tools of one experiment."""

    name: str
    directory: Path  # the experiment's own
    engine: Engine  # where points run
    run_system: RunSystem
    seeds: int = 1  # runs of each point, in sections with seeds
    size: str = "usual"  # amount of work of a section: "usual", "quick" or "full"

    @property
    def points(self) -> Path:
        """Directory in which results are kept by their key."""
        return self.directory / "points"

    def of(self, name: str) -> Means:
        """The tools for another experiment, whose results are kept next to those of this one."""
        return replace(self, name=name, directory=self.directory.parent / name)

    def jobs(self, jobs: Sequence[tuple[str, Job]], what: str = "") -> list[PointAnswer]:
        """Results of jobs of the simulated machine, in their order. `what`: which jobs, for messages. Raises
        PointFailed."""
        return run_jobs(jobs, self.points, self.engine, ", ".join(filter(None, (self.name, what))))

    def kept(self, key: str, inputs: str, work: Callable[[], Any]) -> Any:
        """The kept result of earlier work with equal inputs, else the result of `work`."""
        path, wanted = self.points / f"{key}.json", hashlib.sha256(inputs.encode()).hexdigest()
        result = kept_result(path, wanted)
        if result is None:
            result = work()
            keep_result(path, wanted, result)
        return result

    def kept_each(
        self, what: str, points: Sequence[Row], inputs: Callable[[Row], str], work: Callable[[Row], Any]
    ) -> list[Any]:
        """Like `kept` for each point, one after the other. The key consists of `what` and the point's
        values."""
        found = []
        with progress(f"{self.name}, {what}") as update:
            for number, point in enumerate(points, 1):
                key = "-".join([what, *map(str, point.values())])
                found.append(self.kept(key, inputs(point), partial(work, point)))
                update(number / len(points), key)
        return found

    def forget(self) -> None:
        """Deletes all kept results."""
        shutil.rmtree(self.points, ignore_errors=True)
