# SPDX-License-Identifier: Apache-2.0
"""`--set key.path=value`: changes one value of a file's tree before anything is validated.

load.py applies these in the given order, so a wrong override is reported by the same checks and in the same
words as a wrong file.
"""

from __future__ import annotations

import re

from bulkhead.config.problem import Problem, nearest_of, quoted
from bulkhead.config.source import Node, Source, parse_text

_PART = re.compile(r"[A-Za-z0-9_-]+")
_FORM = "key.path=value"


def malformed(setting: str) -> str | None:
    """Why `setting` is not an override for any file (wrong usage of the command); None if it has the right
    form."""
    if (wrong := _wrong_form(setting)) is not None:
        return wrong
    problems = parse_text(setting.partition("=")[2], Source(""), line=0).problems
    causes = "; ".join(problem.cause for problem in problems)
    return f"the value of {quoted(setting)} cannot be read: {causes}" if problems else None


def _wrong_form(setting: str) -> str | None:
    key, equals, text = setting.partition("=")
    if not equals or not all(_PART.fullmatch(part) for part in _path(key)):
        return f"{quoted(setting)} is not an override"
    return None if text.strip() else f"{quoted(setting)} has no value"


def _path(key: str) -> list[str]:
    return re.sub(r"\[(\d+)\]", r".\1", key.strip()).split(".")


def apply_override(root: Node, setting: str) -> list[Problem]:
    """Change `root` as `setting` says. Elements of lists are selected by position or by their `name`. Returns
    problems."""
    shown = f"--set {setting if len(setting) <= 80 else setting[:77] + '...'}"

    def fail(code: str, cause: str, allowed: str | None = None, nearest: str | None = None) -> list[Problem]:
        return [Problem(shown, 0, 0, setting.partition("=")[0][:80], code, cause, allowed, nearest)]

    if (wrong := _wrong_form(setting)) is not None:
        return fail("bad-override", wrong, _FORM)
    key, _, text = setting.partition("=")
    path = _path(key)
    source = parse_text(text, Source(shown), line=0)
    if source.root is None:
        return source.problems or fail("bad-override", "has no value", _FORM)
    node = root
    for part in path[:-1]:
        below = _child(node, part)
        if isinstance(below, _Unknown):
            return fail("unknown-name", below.cause, below.allowed, below.nearest)
        if below is None:
            below = Node({}, shown, 0, 0)
            node.value[part] = below
        node = below
    value, last = source.root, path[-1]
    if isinstance(node.value, dict):
        node.value[last] = value
        return source.problems
    below = _child(node, last)
    if isinstance(below, _Unknown):
        return fail("unknown-name", below.cause, below.allowed, below.nearest)
    node.value[node.value.index(below)] = value
    return source.problems


class _Unknown:
    """Result for a part of a path that does not exist, with the cause."""

    def __init__(self, cause: str, allowed: str | None = None, nearest: str | None = None) -> None:
        self.cause, self.allowed, self.nearest = cause, allowed, nearest


def _child(node: Node, part: str) -> Node | _Unknown | None:
    """The node that `part` selects below `node`; None if `part` is a key that does not exist yet."""
    if isinstance(node.value, dict):
        return node.value.get(part)
    if not isinstance(node.value, list):
        return _Unknown(f"{quoted(part)} cannot be set here: the key has a single value, not keys of its own")
    if part.isdecimal():
        if len(part) < 6 and int(part) < len(node.value):
            element: Node = node.value[int(part)]
            return element
        return _Unknown(
            f"there is no element {part[:20]}", f"0 to {len(node.value) - 1}" if node.value else None
        )
    named = {_name_of(element): element for element in node.value if _name_of(element)}
    if part in named:
        found: Node = named[part]
        return found
    return _Unknown(
        f"there is no element with the name {quoted(part)}", ", ".join(named) or None, nearest_of(part, named)
    )


def _name_of(node: Node) -> str:
    name = node.value.get("name") if isinstance(node.value, dict) else None
    return name.value if name is not None and isinstance(name.value, str) else ""
