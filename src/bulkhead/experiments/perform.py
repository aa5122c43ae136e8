# SPDX-License-Identifier: Apache-2.0
"""An experiment from its name to its files: `perform`.

Called by the command `experiment`. run.py makes the tables, and output.py writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bulkhead.campaign.engine import Engine
from bulkhead.env import paths
from bulkhead.envelope import result_object
from bulkhead.experiments.facts import table_facts
from bulkhead.experiments.means import Means
from bulkhead.experiments.model import Experiment, Sectioned, load_experiment
from bulkhead.experiments.output import write_output
from bulkhead.experiments.override import full, quick, with_seeds, with_settings
from bulkhead.experiments.run import Table, tables_of
from bulkhead.results.experiment import ExperimentResult
from bulkhead.run.system import run_quietly


@dataclass(frozen=True)
class ExperimentRequest:
    """An experiment, with the settings and the size of this run."""

    name: str  # or the path of its file
    engine: Engine  # where points run
    command: Sequence[str] = ()  # command that repeats it, for its page
    settings: Sequence[str] = ()  # `key=value` each
    only: Sequence[str] = ()  # points with these values, or sections with these names
    size: Literal["usual", "quick", "full"] = "usual"
    seeds: int | None = None  # None: the file's
    again: bool = False  # run points again that already have results


@dataclass(frozen=True)
class Written:
    """A table with its files."""

    table: Table
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Performed:
    """The experiment that was run, and all its tables."""

    what: Experiment | Sectioned
    written: tuple[Written, ...]

    def json(self, seconds: float) -> ExperimentResult:
        """The result that `experiment --json` prints; `section` of a row is there if there are sections."""
        tables = [one.table for one in self.written]
        return {
            **result_object("experiment", platform=self.what.platform, on="machine", verdict="ok"),
            "experiment": self.what.name,
            "rows": [
                {"section": table.section, **row} if table.section else row
                for table in tables
                for row in table.rows
            ],
            "files": [str(file) for one in self.written for file in one.files],
            "traces": [trace.json() for table in tables for trace in table.traces],
            "seconds": round(seconds, 1),
        }


def perform(request: ExperimentRequest) -> Performed:
    """Run the experiment and return its tables; each is written as soon as it is complete. Raises
    BadExperiment, BadSetting, PointFailed, ValueError."""
    loaded = load_experiment(request.name)
    sized = {"usual": lambda one: one, "quick": quick, "full": full}[request.size](loaded)
    what = with_seeds(with_settings(sized, request.settings), request.seeds)
    place = paths.build_dir() / "run" / "experiments" / what.name
    means = Means(what.name, place, request.engine, run_quietly)
    written = []
    for table in tables_of(what, request.only, means, again=request.again):
        facts = table_facts(table)
        files = write_output(table.sheet, table.rows, table.directory, request.command, facts, table.recorded)
        written.append(Written(table, tuple(files)))
    return Performed(what, tuple(written))
