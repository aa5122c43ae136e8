# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of an experiment's file by model, with each key's meaning; for the manual.

Values of parts and regulators may be `$name` in the file, so the models of the file accept anything there.
The schema has what the models of a point accept.
"""

from __future__ import annotations

from typing import Any

from bulkhead.config.base import Model
from bulkhead.config.schema import keys_of, meaning_of, model_schema, nodes_of
from bulkhead.experiments.meanings import MEANINGS
from bulkhead.experiments.model import Experiment, Sectioned
from bulkhead.experiments.parts import PointPart
from bulkhead.machine.regulation import JobRegulation

_OF_POINTS: dict[str, type[Model]] = {"Part": PointPart, "RegulationChoice": JobRegulation}


def experiment_nodes() -> dict[str, dict[str, Any]]:
    """The mappings of both kinds of files by the names of their models."""
    found: dict[str, dict[str, Any]] = {}
    for model in (Experiment, Sectioned):
        found |= nodes_of(model, model_schema(model, MEANINGS))
    for name, of_points in _OF_POINTS.items():
        known = keys_of(model_schema(of_points, MEANINGS))
        for key in keys_of(found[name]).keys() & known.keys():
            found[name]["properties"][key] = {**known[key], "description": meaning_of(MEANINGS, name, key)}
    return found
