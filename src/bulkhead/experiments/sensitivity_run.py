# SPDX-License-Identifier: Apache-2.0
"""A sensitivity analysis from an experiment's name to its files: `perform_sensitivity`.

Called by the command `sensitivity`. sensitivity.py makes the variations and their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from bulkhead.campaign.engine import Engine
from bulkhead.env import paths
from bulkhead.experiments import sensitivity as library
from bulkhead.experiments.facts import table_facts
from bulkhead.experiments.means import Means
from bulkhead.experiments.model import load_experiment
from bulkhead.experiments.output import write_output
from bulkhead.experiments.override import with_seeds, with_settings
from bulkhead.experiments.run import Table
from bulkhead.machine import native
from bulkhead.results.experiment import SensitivityRowResult
from bulkhead.run.system import run_quietly


@dataclass(frozen=True)
class SensitivityRequest:
    """An experiment, and the share by which each assumed parameter is varied."""

    name: str  # or the path of its file
    share: Fraction
    engine: Engine  # where points run
    command: Sequence[str] = ()  # command that repeats it, for its page
    settings: Sequence[str] = ()  # `key=value` each
    only: Sequence[str] = ()  # parameters
    seeds: int | None = None  # None: the file's
    again: bool = False  # run points again that already have results


@dataclass(frozen=True)
class Sensitivities:
    """A row for each variation, and the files."""

    experiment: str
    platform: str
    headline: str
    rows: list[SensitivityRowResult]
    files: tuple[Path, ...]


def perform_sensitivity(request: SensitivityRequest) -> Sensitivities:
    """Run all variations and write their rows. Raises BadExperiment, BadSetting, PointFailed, ValueError."""
    what = with_seeds(with_settings(load_experiment(request.name), request.settings), request.seeds)
    place = paths.build_dir() / "run" / "sensitivity" / what.name
    means = Means(what.name, place, request.engine, run_quietly)
    native.built_machine(workloads=True)
    if request.again:
        means.forget()
    asked = library.asked(what, request.share, request.only, means.jobs)
    rows = library.sensitivity(asked, means.jobs)
    sheet = library.sheet_of(asked, request.share)
    table = Table(sheet, [dict(row) for row in rows], means.directory)
    files = write_output(sheet, table.rows, means.directory, request.command, table_facts(table))
    return Sensitivities(what.name, asked.platform, sheet.title, rows, tuple(files))
