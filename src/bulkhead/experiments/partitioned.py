# SPDX-License-Identifier: Apache-2.0
"""Keys of an experiment's file about MPAM partitions and settings of the machine, for selected points.

model.py puts them into jobs; machine/partitions.py defines the keys. Nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bulkhead.config.base import Model, Text
from bulkhead.experiments.parts import Value
from bulkhead.experiments.regulated import is_at
from bulkhead.experiments.row import Point
from bulkhead.machine.job import Job


class PartitionChoice(Model):
    """A partition, at points with these values. Of several with one name, the first that applies is used."""

    name: Text
    when: dict[Text, Any] = {}
    llc: dict[Text, Value] = {}
    bandwidth: dict[Text, Value] = {}


class Change(Model):
    """Settings of the machine by path, at points with these values."""

    when: dict[Text, Any] = {}
    set: dict[Text, Any]


def partitions_at(
    choices: Sequence[PartitionChoice], point: Point, fill: Callable[[Any, Point], Any]
) -> list[Job]:
    """The partitions of a job; keys without a value at the point are left out."""
    found: dict[str, Job] = {}
    for one in choices:
        if one.name in found or not is_at(one.when, point):
            continue
        found[one.name] = {"name": one.name}
        for section in ("llc", "bandwidth"):
            filled = fill(getattr(one, section), point)
            asked = {key: value for key, value in filled.items() if value is not None}
            if asked:
                found[one.name][section] = asked
    return list(found.values())


def labelled(parts: Sequence[Job], partitions: Sequence[Job]) -> list[Job]:
    """The parts, without partitions that do not exist at this point."""
    names = [one["name"] for one in partitions]
    return [
        part
        if part.get("partition") in names
        else {key: value for key, value in part.items() if key != "partition"}
        for part in parts
    ]


def changes_at(changes: Sequence[Change], point: Point, fill: Callable[[Any, Point], Any]) -> Point:
    found: Point = {}
    for one in changes:
        if is_at(one.when, point):
            found |= fill(one.set, point)
    return found
