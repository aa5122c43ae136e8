# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of the three kinds of files, made from their models.

`bulkhead schema` prints it. The schema describes the form of a file; only load.py checks it completely.
"""

from __future__ import annotations

from typing import Any

from bulkhead.config.base import Model
from bulkhead.config.components import ComponentSystem
from bulkhead.config.meanings import MEANINGS
from bulkhead.config.platform import Platform
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

MODELS: dict[str, type[Model]] = {"system": System, "components": ComponentSystem, "platform": Platform}

_NAMED = ("properties", "$defs")  # mappings whose keys are names and not keywords of JSON Schema


def file_schema(kind: str) -> dict[str, Any]:
    """The schema of "system", "components" or "platform" files."""
    model = MODELS[kind]
    made: dict[str, Any] = _tidied(model.model_json_schema(by_alias=True))
    if kind == "system":
        _explain(made)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **made,
        "title": f"Bulkhead {kind} file",
    }


def _explain(made: dict[str, Any]) -> None:
    """Adds each key's meaning to the schema; editors show it."""
    for name, node in (("System", made), *made["$defs"].items()):
        for key, below in keys_of(node).items():
            if meaning := MEANINGS.get(name, {}).get(key):
                below["description"] = meaning


def keys_of(node: dict[str, Any]) -> dict[str, dict[str, Any]]:
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
    if "default" in kept and not _fits(kept["default"], kept):
        del kept["default"]
    return kept


def _fits(default: Any, node: dict[str, Any]) -> bool:
    kinds = node.get("type")
    if kinds is None:
        return "enum" in node and default in node["enum"]
    known = [_JSON_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    fits = any(isinstance(default, kind) for kind in known)
    return fits and not (
        isinstance(default, bool) and "boolean" not in (kinds if isinstance(kinds, list) else [kinds])
    )
