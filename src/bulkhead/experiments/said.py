# SPDX-License-Identifier: Apache-2.0
"""Keys of an experiment's file about its rows: plots, published figures for comparison, relations between
rows, and the headline.

model.py has these keys; rows.py, sensitivity.py and the command `published` use them. Nothing here runs
anything.
"""

from __future__ import annotations

from typing import Any, Literal

from bulkhead.config.base import Model, Text
from bulkhead.experiments.regulated import Series


class Published(Model):
    """A published figure of a real board (published/figures.yaml), for comparison with rows that have these
    values."""

    where: dict[Text, Any]
    y: Text
    figure: Text  # id of the figure


class Relative(Model):
    """The column `relative` of a row: its `y` divided by that of the row with these values and otherwise
    equal ones."""

    to: dict[Text, Any]
    y: Text


class Headline(Model):
    """The row with these values, and the column that is its headline."""

    where: dict[Text, Any] = {}
    y: Text
    what: Text  # in words


class Plot(Model):
    kind: Literal["lines", "bars", "tornado"] = "lines"  # bars: x is a word; tornado: bars to both sides of 0
    x: Text
    y: Text
    x_label: Text
    y_label: Text
    series: tuple[Text, ...] = ()
    log: bool = False
    scale: float = 1.0  # y is divided by this
    where: dict[Text, Any] = {}  # only rows with these values


class Printed(Model):
    """Columns that fit into a terminal."""

    where: dict[Text, Any] = {}  # only rows with these values
    columns: tuple[Text, ...]


class Shown(Model):
    """How rows are shown."""

    title: Text
    plots: tuple[Plot, ...] = ()
    table: Printed | None = None  # in a terminal; none: as many evenly chosen rows and columns as fit
    about: Text = "-"


class SheetSection(Shown):
    """The same for a section."""

    experiment: Text | None = None  # the experiment that is this section; its file has the plots
    headline: Headline | None = None  # of the whole experiment; at most one section has one


class Sheet(Shown):
    """The same for an experiment's table."""

    name: Text
    platform: Text
    series: tuple[Series, ...] = ()
