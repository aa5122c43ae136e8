# SPDX-License-Identifier: Apache-2.0
"""Turns pydantic's errors into findings: a stable code, the cause, what is allowed.

validate.py calls this after a model rejected a tree. Each error becomes at most one finding; errors that
source.py has already reported are left out.
"""

from __future__ import annotations

import types
import typing
from typing import Any

from pydantic import BaseModel, ValidationError

from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.quantity import described
from bulkhead.config.source import Broken, Node

_TYPE_WORDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_BOUNDS = {
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "greater_than": "more than {gt}",
}


def translate(error: ValidationError, model: type[BaseModel], root: Node) -> list[Finding]:
    """All of the model's errors as findings."""
    findings = [_one(item, model, root) for item in error.errors(include_url=False)]
    return [finding for finding in findings if finding is not None]


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys of a model as files write them."""
    return [field.alias or name for name, field in model.model_fields.items()]


def model_at(model: type[BaseModel], path: KeyPath) -> type[BaseModel] | None:
    """The model of the mapping at `path`; None if it is not a mapping with fixed keys."""
    kind: Any = model
    for part in path:
        kind = _below(kind, part)
    found = _models_in(kind)
    return found[0] if found else None


def _one(item: Any, model: type[BaseModel], root: Node) -> Finding | None:
    kind: str = item["type"]
    of_key = bool(item["loc"]) and item["loc"][-1] == "[key]"
    path: KeyPath = tuple(item["loc"][:-1] if of_key else item["loc"])
    node, depth = root.at(path)
    value = node.plain() if depth == len(path) else None
    context = item.get("ctx", {})
    if depth == len(path) and isinstance(node.value, Broken):
        return None
    if kind == "extra_forbidden":
        return _unknown_key(path, model_at(model, path[:-1]))
    if kind == "missing":
        cause = f"the key {quoted(str(path[-1]))} is missing"
        return Finding(path, "missing-key", cause, _described(model_at(model, path[:-1]), str(path[-1])))
    if "cause" in context:
        return Finding(path, kind, context["cause"], context.get("allowed"), context.get("nearest"))
    if kind == "literal_error":
        words = [word.strip().strip("'") for word in context["expected"].replace(" or ", ", ").split(",")]
        near = nearest_of(value, words) if isinstance(value, str) else None
        if of_key:
            return Finding(
                path,
                "unknown-key",
                f"unknown key {quoted(str(path[-1]))}",
                ", ".join(words),
                nearest_of(str(path[-1]), words),
            )
        code = "bad-value" if isinstance(value, str) else "wrong-type"
        return Finding(path, code, f"is {described(value)}", ", ".join(words), near)
    if kind in _TYPE_WORDS:
        return Finding(path, "wrong-type", f"is {described(value)}", _TYPE_WORDS[kind])
    if kind in _BOUNDS:
        return Finding(
            path, "out-of-range", f"{described(value)} is out of range"[4:], _BOUNDS[kind].format(**context)
        )
    if kind in ("too_short", "too_long"):
        return _wrong_length(kind, path, value, context)
    if kind == "string_too_long":
        return Finding(path, "out-of-range", "is too long", f"at most {context['max_length']} characters")
    return Finding(path, "bad-value", f"is {described(value)}: {item['msg']}")


def _wrong_length(kind: str, path: KeyPath, value: Any, context: dict[str, Any]) -> Finding | None:
    """A list or mapping with too few or too many elements. None: it has enough, but some of them failed
    validation, and have errors of their own."""
    length = len(value) if isinstance(value, (tuple, dict)) else 0
    if kind == "too_long":
        return Finding(path, "out-of-range", f"has {length} elements", f"at most {context['max_length']}")
    least = context["min_length"]
    if length >= least:
        return None
    return Finding(path, "out-of-range", f"has {length} elements", f"at least {least}")


def _described(model: type[BaseModel] | None, key: str) -> str | None:
    """The description of a field, if it has one."""
    field = model.model_fields.get(key) if model is not None else None
    return field.description if field is not None else None


def _unknown_key(path: KeyPath, model: type[BaseModel] | None) -> Finding:
    keys = keys_of(model) if model is not None else []
    name = str(path[-1])
    return Finding(
        path, "unknown-key", f"unknown key {quoted(name)}", ", ".join(keys), nearest_of(name, keys)
    )


def _below(kind: Any, part: str | int) -> Any:
    """The annotation of the value that `part` leads to."""
    for model in _models_in(kind):
        for name, field in model.model_fields.items():
            if part in (field.alias, name):
                return field.annotation
    for inner in _members(kind):
        origin = typing.get_origin(inner)
        if origin is tuple and isinstance(part, int):
            return typing.get_args(inner)[0]
        if origin is dict:
            return typing.get_args(inner)[1]
    return None


def _models_in(kind: Any) -> list[type[BaseModel]]:
    return [member for member in _members(kind) if isinstance(member, type) and issubclass(member, BaseModel)]


def _members(kind: Any) -> list[Any]:
    """The alternatives of an annotation, without `Annotated`."""
    if typing.get_origin(kind) is typing.Annotated:
        return _members(typing.get_args(kind)[0])
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return [member for alternative in typing.get_args(kind) for member in _members(alternative)]
    return [] if kind is None else [kind]
