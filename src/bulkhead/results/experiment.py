# SPDX-License-Identifier: Apache-2.0
"""Results of `experiment` and `sensitivity`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope
from bulkhead.results.record import TraceContents

Cell = str | int | float | bool | None
CellOrList = Cell | list[Cell]


@with_config(CLOSED)
class ExperimentEntryResult(TypedDict):
    """An experiment that can be run."""

    name: str
    """Name of the experiment."""
    platform: str
    """Platform that it runs on."""
    points: int
    """Number of points."""
    title: str
    """What it shows."""


@with_config(CLOSED)
class ExperimentsResult(Envelope):
    """Without a name: the experiments that can be run."""

    experiments: list[ExperimentEntryResult]
    """The experiments."""


@with_config(CLOSED)
class TraceUsedResult(TraceContents):
    """A recorded program that ran."""

    name: str
    """Name in the experiment."""
    file: str
    """File with the trace."""
    sha256: str
    """SHA-256 of the file."""


@with_config(CLOSED)
class ExperimentResult(Envelope):
    """All rows of an experiment."""

    experiment: str
    """Name of the experiment."""
    rows: list[dict[str, CellOrList]]
    """A row for each point, with the columns of rows.csv; `section` names its section, if there are any."""
    files: list[str]
    """Files with tables, plots and pages."""
    traces: list[TraceUsedResult]
    """Recorded programs that ran."""
    seconds: float
    """Wall time."""


@with_config(CLOSED)
class SensitivityRowResult(TypedDict):
    """The headline with another value of one parameter."""

    parameter: str
    """Path of the parameter's key; the first row has all as the file has it."""
    value: str
    """Value in the platform file."""
    to: str
    """Value that was tried."""
    side: str
    """`less`, `more`; empty in the first row."""
    headline: float | None
    """The headline; null: the platform cannot have this value."""
    headline_low: float | None
    """Lower end of its interval over seeds."""
    headline_high: float | None
    """Upper end of its interval over seeds."""
    change_percent: float | None
    """Change of the headline; null if there is none."""
    refused: str | None
    """Why the platform cannot have this value; null: it can."""


@with_config(CLOSED)
class SensitivityResult(Envelope):
    """An experiment's headline for other values of each assumed parameter."""

    experiment: str
    """Name of the experiment."""
    headline: str
    """What the headline is, in words."""
    rows: list[SensitivityRowResult]
    """The rows, the largest change first."""
    files: list[str]
    """Files with table, plot and page."""
    seconds: float
    """Wall time."""
