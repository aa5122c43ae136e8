# SPDX-License-Identifier: Apache-2.0
"""Validates the tree of one file with a pydantic model: a value, or problems with their place and cause.

Files of platforms, systems and experiments use it. Contents of a file never raise an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from bulkhead.config.problem import Finding, Problem, key_text
from bulkhead.config.quantity import Empty, described
from bulkhead.config.source import Node
from bulkhead.config.translate import translate

M = TypeVar("M", bound=BaseModel)


def locate(finding: Finding, root: Node | None, file: str) -> Problem:
    """Adds line and column to a finding: of the key if the key is wrong, else of the value."""
    line, column, shown = 1, 1, file
    if root is not None:
        node, depth = root.at(finding.path)
        of_key = finding.code in ("unknown-key", "bad-name") or isinstance(node.value, Empty)
        of_key = of_key and depth == len(finding.path) and node.key_line > 0
        line, column = (node.key_line, node.key_column) if of_key else (node.line, node.column)
        shown = node.file
    return Problem(
        shown,
        line,
        column,
        key_text(finding.path),
        finding.code,
        finding.cause,
        finding.allowed,
        finding.nearest,
    )


def validate(root: Node, model: type[M], file: str) -> tuple[M | None, M | None, list[Problem]]:
    """Validates a tree. Returns the value, or in its place the model without wrong keys (for cross-checks;
    None if that is impossible), and the problems."""
    plain = root.plain()
    if not isinstance(plain, dict):
        cause = f"is {described(plain)}"
        return (
            None,
            None,
            [Problem(file, root.line, root.column, "", "wrong-type", cause, "a mapping of keys to values")],
        )
    try:
        return model.model_validate(plain), None, []
    except ValidationError as error:
        return (
            None,
            _repaired(error, model, plain),
            [locate(finding, root, file) for finding in translate(error, model, root)],
        )


def _repaired(error: ValidationError, model: type[M], plain: dict[str, Any]) -> M | None:
    """The model without its wrong keys, so that the rest can be cross-checked; None if they cannot be left
    out."""
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        _leave_out(plain, [part for part in item["loc"] if part != "[key]"])
    try:
        return model.model_validate(plain)
    except ValidationError:
        return None


def _leave_out(plain: dict[str, Any], path: Sequence[str | int]) -> None:
    """Removes the last key of a mapping on the way to `path`."""
    place, key = plain, ""
    value: Any = plain
    for part in path:
        if isinstance(value, dict) and part in value:
            place, key, value = value, str(part), value[part]
        elif isinstance(value, tuple) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            break
    place.pop(key, None)


def is_below(key: str, wrong: set[str]) -> bool:
    """Whether `key` is, or lies below, a key that is already reported as wrong."""
    return any(key == other or key.startswith((f"{other}.", f"{other}[")) for other in wrong if other)
