# SPDX-License-Identifier: Apache-2.0
"""What an experiment's file says of its rows: beside which figures they stand, to which of them others are in
relation, and which number is the one that people remember.

model.py has these keys; rows.py, sensitivity.py and the command `published` use them. Nothing here runs
anything.
"""

from __future__ import annotations

from typing import Any

from bulkhead.config.base import Model, Text


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
