# SPDX-License-Identifier: Apache-2.0
"""Published figures beside our own, with the results that this checkout keeps.

Called by the command `published`. published.py decides which measurement a figure needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.campaign.engine import Engine
from bulkhead.env import paths
from bulkhead.experiments import run as tables
from bulkhead.experiments.means import Means
from bulkhead.experiments.model import Experiment, Sectioned
from bulkhead.experiments.published import FigurePlaces, kept, measured
from bulkhead.experiments.row import Row
from bulkhead.machine import native
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.job import Job
from bulkhead.published.beside import FigureBeside
from bulkhead.published.figures import Figure
from bulkhead.run.system import run_quietly


def places() -> FigurePlaces:
    run = paths.build_dir() / "run"
    return FigurePlaces(run / "experiments", run / "published" / "figures")


def kept_figures(figures: Sequence[Figure]) -> list[FigureBeside]:
    """The figures with the kept results; nothing is run."""
    return kept(figures, places())


def measured_figures(figures: Sequence[Figure], engine: Engine) -> tuple[list[FigureBeside], list[str]]:
    """The measured figures, and the reasons why others could not be measured."""
    native.built_machine(workloads=True)
    where = places()
    run = where.experiments.parent

    def facts(asked: Sequence[tuple[str, Job]], title: str) -> list[PointAnswer]:
        return Means(title, run / "published", engine, run_quietly).jobs(asked)

    def rows(what: Experiment | Sectioned, only: Sequence[str], title: str) -> list[Row]:
        means = Means(title, where.experiments / what.name, engine, run_quietly)
        found = tables.tables_of(what, only, means, again=False)
        return [row for table in found for row in table.rows]

    return measured(figures, facts, rows, where)
