# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of the three kinds of files, made from their models and meanings.

`bulkhead schema` prints it. The schema describes the form of a file; only load.py checks it completely.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pydantic.json_schema import JsonSchemaValue

from bulkhead.config import meanings, meanings_components, meanings_platform
from bulkhead.config.base import Model
from bulkhead.config.components import ComponentSystem
from bulkhead.config.platform import Platform
from bulkhead.config.quantity import UNITS_KEY, amount_text
from bulkhead.config.system import System

_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "number": (int, float),
    "null": type(None),
}

Meanings = Mapping[str, Mapping[str, str]]  # by model and key

MODELS: dict[str, type[Model]] = {"system": System, "components": ComponentSystem, "platform": Platform}
MEANINGS: dict[str, Meanings] = {
    "system": meanings.MEANINGS,
    "components": meanings_components.MEANINGS,
    "platform": meanings_platform.MEANINGS,
}

_NAMED = ("properties", "$defs")  # mappings whose keys are names and not keywords of JSON Schema


def file_schema(kind: str) -> JsonSchemaValue:
    """The schema of "system", "components" or "platform" files."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model_schema(MODELS[kind], MEANINGS[kind]),
        "title": f"Bulkhead {kind} file",
    }


def model_schema(model: type[Model], meanings: Meanings) -> JsonSchemaValue:
    """The schema of a model and all below it, with each key's meaning; editors show it."""
    made: JsonSchemaValue = _tidied(model.model_json_schema(by_alias=True))
    for name, node in nodes_of(model, made).items():
        for key, below in keys_of(node).items():
            if meaning := meaning_of(meanings, name, key):
                below["description"] = meaning
    return made


def nodes_of(model: type[Model], schema: JsonSchemaValue) -> dict[str, JsonSchemaValue]:
    """The mappings of a schema by the names of their models."""
    return {model.__name__: schema, **schema.get("$defs", {})}


def meaning_of(meanings: Meanings, name: str, key: str) -> str | None:
    """A model's own meaning of the key, or that of the keys that most sections share."""
    own = meanings.get(name, {})
    return own.get(key) or meanings.get(meanings_platform.SHARED, {}).get(key)


def keys_of(node: JsonSchemaValue) -> dict[str, JsonSchemaValue]:
    """The keys of a mapping in the schema, including mappings with a short form."""
    found = dict(node.get("properties", {}))
    for option in node.get("anyOf", ()):
        found.update(option.get("properties", {}))
    return found


def _tidied(node: Any) -> Any:
    """Removes what applies to the models but not to files: null for 'left out', defaults in base units."""
    if isinstance(node, list):
        return [_tidied(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: {name: _tidied(below) for name, below in value.items()} if key in _NAMED else _tidied(value)
        for key, value in node.items()
        if key != "title"
    }
    options = kept.get("anyOf")
    if isinstance(options, list):
        options = [option for option in options if option != {"type": "null"}]
        del kept["anyOf"]
        kept = {**options[0], **kept} if len(options) == 1 else {**kept, "anyOf": options}
    units = kept.pop(UNITS_KEY, None)
    if "default" in kept and units is not None:
        kept["default"] = amount_text(Fraction(str(kept["default"])), units)
    elif "default" in kept and not _fits(kept["default"], kept):
        del kept["default"]
    return kept


def _fits(default: Any, node: JsonSchemaValue) -> bool:
    kinds = node.get("type")
    if kinds is None:
        return "enum" in node and default in node["enum"]
    known = [_JSON_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    fits = any(isinstance(default, kind) for kind in known)
    return fits and not (
        isinstance(default, bool) and "boolean" not in (kinds if isinstance(kinds, list) else [kinds])
    )
