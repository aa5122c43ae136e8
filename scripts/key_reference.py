# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/system-file.md: every key of a system file, from the schema that editors read.

    PYTHONPATH=src:scripts build/venv/bin/python scripts/key_reference.py [--check]

`--check` writes nothing, and ends 1 if the page is not what would be written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from bulkhead.config.meanings import MEANINGS
from bulkhead.config.schema import file_schema, keys_of
from generated import ROOT, write_or_check

PAGE = ROOT / "docs/reference/system-file.md"
# Where each mapping stands; those that stand in several places are named after what they are.
PLACES = {
    "System": "The file",
    "Hypervisor": "hypervisor",
    "Console": "hypervisor.console",
    "Tables": "hypervisor.tables",
    "Isolation": "isolation",
    "Regulation": "regulation",
    "Domain": "domains[]",
    "Image": "domains[].image",
    "File": "domains[].image.files[]",
    "Region": "domains[].memory[]",
    "CpuTime": "domains[].cpu",
    "Llc": "llc, of a domain or the hypervisor",
    "Banks": "banks, of a domain or the hypervisor",
    "Bandwidth": "domains[].bandwidth",
    "DomainConsole": "domains[].console",
    "Calls": "domains[].firmware[]",
    "Broker": "broker",
    "Flow": "flows[]",
    "WayBack": "flows[].back",
    "Run": "run",
    "Expectation": "expect.DOMAIN",
}


def page() -> str:
    """The page's text."""
    schema = file_schema("system")
    nodes = {"System": schema, **schema["$defs"]}
    lines = [
        "<!-- Written by scripts/key_reference.py from the models of system files. -->",
        "",
        "# Keys of a system file",
        "",
        "Every key, with what may stand there. `./bulkhead schema` prints the same as a JSON Schema, with"
        " which editors complete and check files. [Configuration](configuration.md) explains how keys"
        " work together. Sizes are as `16 MiB`, times as `1 ms`, bandwidths as `200 MB/s`, shares as `25 %`.",
    ]
    for name, place in PLACES.items():
        needed = set(nodes[name].get("required", ()))
        lines += [
            "",
            f"## {place}",
            *_words(nodes[name]),
            "",
            "| key | meaning | values | default |",
            "| --- | --- | --- | --- |",
        ]
        lines += [_row(key, node, key in needed) for key, node in keys_of(nodes[name]).items()]
    return "\n".join(lines) + "\n"


def _words(node: dict[str, Any]) -> list[str]:
    """What can stand for the mapping."""
    words = [str(option["const"]) for option in node.get("anyOf", ()) if "const" in option]
    return ["", f"Or a word: {', '.join(f'`{word}`' for word in words)}."] if words else []


def _row(key: str, node: dict[str, Any], needed: bool) -> str:
    default = node.get("default")
    if needed:
        shown = "needed"
    elif default is None or default in ([], {}):
        shown = "–"
    else:
        shown = f"`{str(default).lower() if isinstance(default, bool) else default}`"
    values = ", ".join(dict.fromkeys(_values(node))) or "–"
    return f"| `{key}` | {node['description']} | {values} | {shown} |".replace("\n", " ")


def _values(node: dict[str, Any]) -> Iterator[str]:
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name in MEANINGS:
            yield f"a mapping, see *{PLACES[name]}*"
    elif "enum" in node or "const" in node:
        yield from (
            f"`{str(one).lower() if isinstance(one, bool) else one}`"
            for one in node.get("enum", [node.get("const")])
        )
    elif "anyOf" in node:
        for option in node["anyOf"]:
            yield from _values(option)
    elif node.get("type") == "array":
        yield _list_of(", ".join(_values(node.get("items", {}))))
    elif node.get("type") == "object":
        yield "a mapping"
    elif "examples" in node:
        yield "as " + ", ".join(f"`{one}`" for one in node["examples"])
    elif node.get("type") == "boolean":
        yield "`true`, `false`"
    elif node.get("type") in ("integer", "number"):
        yield f"a number{_range(node)}"
    elif node.get("type") == "string":
        yield "a name" if "pattern" in node else "text"


def _list_of(what: str) -> str:
    for one, several in (("a mapping", "mappings"), ("a number", "numbers"), ("a name", "names")):
        what = what.replace(one, several)
    return f"a list of {what}" if what else "a list"


def _range(node: dict[str, Any]) -> str:
    low, high = node.get("minimum", node.get("ge")), node.get("maximum", node.get("le"))
    return (
        f", {low} to {high}"
        if low is not None and high is not None
        else f", at least {low}"
        if low is not None
        else ""
    )


if __name__ == "__main__":
    sys.exit(write_or_check({PAGE: page()}, __doc__))
