# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/results.md: every key of the results of commands, from their types.

    PYTHONPATH=src:scripts build/venv/bin/python scripts/result_reference.py [--check]

`--check` writes nothing, and ends 1 if the page is not what would be written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from bulkhead.results.envelope import RefusalResult
from bulkhead.results.schema import COMMON, SHAPES, kind_of, result_schema
from generated import ROOT, write_or_check

PAGE = ROOT / "docs/reference/results.md"

Node = dict[str, Any]  # of a JSON Schema


def page() -> str:
    """The page's text."""
    envelope = result_schema(COMMON)
    parts: dict[str, Node] = envelope["$defs"]
    common = set(envelope["properties"])
    lines = [
        "<!-- Written by scripts/result_reference.py from the types in src/bulkhead/results. -->",
        "",
        "# Results",
        "",
        "With `--json` every command prints one object. It begins with the keys of the first table; the"
        " command's own keys follow. A command that has no answer prints the common keys alone, with the"
        " verdict `error`, unless its section here says otherwise. A run also leaves its object as"
        " `report.json` in its directory.",
        "",
        "`./bulkhead schema result` prints a JSON Schema of the common keys, `./bulkhead schema"
        " COMMAND-result` one of all keys of a command, as `check-result` or `flows-check-result`. A key with"
        " *sometimes* is left out where it says nothing.",
        "",
        "## Every command",
        *_table(envelope["properties"], set(envelope["required"])),
    ]
    described: set[str] = {RefusalResult.__name__}
    for name in _in_order([envelope], parts):
        lines += _part(name, parts[name])
        described.add(name)
    for command, shapes in SHAPES.items():
        parts = result_schema(kind_of(command))["$defs"]
        lines += ["", f"## `{command}`", "", f"Schema: `{kind_of(command)}`."]
        for shape in (parts[one.__name__] for one in shapes):
            own = {key: node for key, node in shape["properties"].items() if key not in common}
            lines += ["", shape["description"], *_table(own, set(shape["required"]))]
        for name in _in_order([parts[one.__name__] for one in shapes], parts):
            if name not in described:
                lines += _part(name, parts[name])
                described.add(name)
    return "\n".join(lines) + "\n"


def _part(name: str, node: Node) -> Iterator[str]:
    yield from ("", f"### {_title(name)}", "", node["description"])
    yield from _table(node["properties"], set(node.get("required", ())))


def _title(name: str) -> str:
    return name.removesuffix("Result")


def _in_order(nodes: list[Node], parts: dict[str, Node]) -> list[str]:
    """Names of the parts of these nodes, each after the first that has it."""
    found: list[str] = []

    def visit(node: Node) -> None:
        names = list(dict.fromkeys(re.findall(r"#/\$defs/(\w+)", str(node["properties"]))))
        new = [name for name in names if name not in found]
        found.extend(new)
        for name in new:
            visit(parts[name])

    for node in nodes:
        visit(node)
    return found


def _table(keys: dict[str, Node], needed: set[str]) -> Iterator[str]:
    yield from ("", "| key | value | meaning |", "| --- | --- | --- |")
    for key, node in keys.items():
        sometimes = "" if key in needed else ", *sometimes*"
        meaning = " ".join(node["description"].split()).replace("|", chr(92) + "|")
        yield f"| `{key}` | {_type(node)}{sometimes} | {meaning} |"


def _type(node: Node) -> str:
    """In words: `list of [Domain](#domain)`, `integer or null`."""
    if "$ref" in node:
        title = _title(node["$ref"].rpartition("/")[2])
        return f"[{title}](#{title.lower()})"
    if "anyOf" in node:
        return " or ".join(dict.fromkeys(_type(one) for one in node["anyOf"]))
    if "const" in node:
        value = node["const"]
        return f"`{str(value).lower() if isinstance(value, bool) else value}`"
    if "enum" in node:
        return ", ".join(f"`{value}`" for value in node["enum"] if value != "")
    kind = node.get("type")
    if kind == "array":
        return f"list of {_type(node['items'])}"
    if kind == "object":
        inner = node.get("additionalProperties")
        return f"object of {_type(inner)}" if isinstance(inner, dict) and inner else "object"
    return str(kind) if kind else "any"


if __name__ == "__main__":
    sys.exit(write_or_check({PAGE: page()}, __doc__))
