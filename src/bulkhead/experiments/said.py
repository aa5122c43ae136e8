# SPDX-License-Identifier: Apache-2.0
"""What an experiment's file says of its rows: what is drawn of them, beside which figures they stand, to
which of them others are in relation, and which number is the one that people remember.

model.py has these keys; rows.py, sensitivity.py and the command `published` use them. Nothing here runs
anything.
"""

from __future__ import annotations

from typing import Any, Literal

from bulkhead.config.base import Model, Text
from bulkhead.experiments.regulated import Series


class Published(Model):
    """Rows with these values have a figure of somebody's board beside their own (published/figures.yaml)."""

    where: dict[Text, Any]
    y: Text
    figure: Text  # its id


class Relative(Model):
    """`relative` of a row: its `y` by that of the row that has these values and is the same otherwise."""

    to: dict[Text, Any]
    y: Text


class Headline(Model):
    """The one row with these values, and what is read from it."""

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
    scale: float = 1.0  # what y is divided by
    where: dict[Text, Any] = {}  # only rows with these values


class Printed(Model):
    """What a terminal has room for."""

    where: dict[Text, Any] = {}  # only rows with these values
    columns: tuple[Text, ...]


class Shown(Model):
    """What is shown of some rows."""

    title: Text
    plots: tuple[Plot, ...] = ()
    table: Printed | None = None  # in a terminal; nothing: rows and columns as evenly as they fit
    about: Text = "-"


class SheetSection(Shown):
    """The same, of a part of an experiment."""

    experiment: Text | None = None  # the experiment that this part is, which has the plots


class Sheet(Shown):
    """The same, of an experiment's table."""

    name: Text
    platform: Text
    series: tuple[Series, ...] = ()
