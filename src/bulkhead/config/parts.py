# SPDX-License-Identifier: Apache-2.0
"""Parts of platforms: keys that all boards with one core type or one memory controller have in common.

A platform file names its parts (`parts: [cortex-a53, allwinner-dram]`), which are files of platforms/parts
with keys of platform files. load.py calls this module to add these keys before it validates the platform. A
value of the platform itself overrides that of a part; two parts must not give the same key.
"""

from __future__ import annotations

from bulkhead.config.locate import part_names, parts_dir
from bulkhead.config.problem import KeyPath, Problem, key_text, nearest_of, quoted
from bulkhead.config.source import Node, Source, read_file

_SOURCE = "source"  # if both have this key, their texts are joined


def text_of_parts() -> str:
    """The text of all parts, one after the other."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(parts_dir().glob("*.yaml")))


def add_parts(source: Source) -> list[Problem]:
    """Merge the keys of all parts that a platform file names into its tree, and append their text to its
    text."""
    root = source.root
    listed = root.value.get("parts") if root is not None and isinstance(root.value, dict) else None
    if root is None or listed is None or not isinstance(listed.value, list):
        return []  # the model reports a value that is not a list
    problems: list[Problem] = []
    beneath: Node | None = None
    for node in listed.value:
        if not isinstance(node.value, str):
            continue
        if node.value not in part_names():
            names = part_names()
            problems.append(
                Problem(
                    source.file,
                    node.line,
                    node.column,
                    "parts",
                    "unknown-name",
                    f"there is no part {quoted(node.value)}",
                    ", ".join(names),
                    nearest_of(node.value, names),
                )
            )
            continue
        part = read_file(parts_dir() / f"{node.value}.yaml", f"parts/{node.value}.yaml")
        problems += part.problems
        source.text += part.text
        if part.root is None or not isinstance(part.root.value, dict):
            continue
        if beneath is not None:
            problems += _conflicts(beneath, part.root, ())
        beneath = part.root if beneath is None else _merged(beneath, part.root)
    if beneath is not None:
        root.value = _merged(root, beneath).value
    return problems


def _merged(above: Node, below: Node) -> Node:
    """Merges two trees at all depths: values of `above`, and those that only `below` has."""
    if not isinstance(above.value, dict) or not isinstance(below.value, dict):
        return above
    value = {**below.value}
    for key, node in above.value.items():
        other = below.value.get(key)
        if other is not None and key == _SOURCE and isinstance(node.value, str):
            node = Node(f"{node.value}; {other.value}", node.file, node.line, node.column, *_key(node))
        value[key] = node if other is None else _merged(node, other)
    return Node(value, above.file, above.line, above.column, *_key(above))


def _key(node: Node) -> tuple[int, int]:
    return node.key_line, node.key_column


def _conflicts(one: Node, other: Node, path: KeyPath) -> list[Problem]:
    """A problem for each value that both parts give."""
    if isinstance(one.value, dict) and isinstance(other.value, dict):
        return [
            problem
            for key in one.value
            if key in other.value and key != _SOURCE
            for problem in _conflicts(one.value[key], other.value[key], (*path, key))
        ]
    cause = f"is also given by {one.file}"
    return [
        Problem(other.file, other.line, other.column, key_text(path), "conflict", cause, "one of the two")
    ]
