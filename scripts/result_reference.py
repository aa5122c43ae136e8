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

from bulkhead.results.schema import result_schema
from generated import ROOT, write_or_check

PAGE = ROOT / "docs/reference/results.md"


def page() -> str:
    """The page's text."""
    envelope, run = result_schema("result"), result_schema("run-result")
    common = set(envelope["properties"])
    own = {key: node for key, node in run["properties"].items() if key not in common}
    lines = [
        "<!-- Written by scripts/result_reference.py from the types in src/bulkhead/results. -->",
        "",
        "# Results",
        "",
        "With `--json` every command prints one object. It begins with the keys of the first table. A run"
        " also leaves its object as `report.json` in its directory. `./bulkhead schema result` and"
        " `./bulkhead schema run-result` print JSON Schemas. A key with *sometimes* is left out where it"
        " says nothing.",
        "",
        "## Every command",
        *_table(envelope["properties"], set(envelope["required"])),
        "",
        "## `run`: a system of domains",
        *_table(own, set(run["required"])),
    ]
    for name in _in_order(run):
        node = run["$defs"][name]
        title = name.removesuffix("Result")
        lines += ["", f"## {title}", "", node["description"]]
        lines += _table(node["properties"], set(node.get("required", ())))
    return "\n".join(lines) + "\n"


def _in_order(schema: dict[str, Any]) -> list[str]:
    """Names of the parts, each after the first that has it."""
    found: list[str] = []

    def visit(node: dict[str, Any]) -> None:
        names = list(dict.fromkeys(re.findall(r"#/\$defs/(\w+)", str(node["properties"]))))
        new = [name for name in names if name not in found]
        found.extend(new)
        for name in new:
            visit(schema["$defs"][name])

    visit(schema)
    return found


def _table(keys: dict[str, Any], needed: set[str]) -> Iterator[str]:
    yield from ("", "| key | value | meaning |", "| --- | --- | --- |")
    for key, node in keys.items():
        sometimes = "" if key in needed else ", *sometimes*"
        yield f"| `{key}` | {_type(node)}{sometimes} | {node['description'].replace('|', chr(92) + '|')} |"


def _type(node: dict[str, Any]) -> str:
    """In words: `list of [Domain](#domain)`, `integer or null`."""
    if "$ref" in node:
        title = node["$ref"].rpartition("/")[2].removesuffix("Result")
        return f"[{title}](#{title.lower()})"
    if "anyOf" in node:
        return " or ".join(_type(one) for one in node["anyOf"])
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return ", ".join(f"`{value}`" for value in node["enum"])
    kind = node.get("type")
    if kind == "array":
        return f"list of {_type(node['items'])}"
    if kind == "object":
        inner = node.get("additionalProperties")
        return f"object of {_type(inner)}" if isinstance(inner, dict) and inner else "object"
    return str(kind) if kind else "any"


if __name__ == "__main__":
    sys.exit(write_or_check({PAGE: page()}, __doc__))
