# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of docs/reference with every key of the files that users write, from their models.

    PYTHONPATH=src:scripts build/venv/bin/python scripts/key_reference.py [--check]

`--check` writes nothing, and ends 1 if a page is not what would be written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import key_places
from bulkhead.config.meanings_platform import MEANINGS as OF_PLATFORMS
from bulkhead.config.meanings_platform import SHARED
from bulkhead.config.schema import MODELS, file_schema, keys_of, nodes_of
from bulkhead.experiments.key_schema import experiment_nodes
from generated import REFERENCE, anchor_of, write_or_check

_UNITS = "Sizes are as `16 MiB`, times as `1 ms`, bandwidths as `200 MB/s`, shares as `25 %`."
_SHARED_KEYS = OF_PLATFORMS[SHARED]


@dataclass(frozen=True)
class Page:
    """What a page says of one kind of file."""

    file: str  # of the page, in docs/reference
    title: str
    intro: str
    places: dict[str, str]  # of mappings, by model
    nodes: dict[str, dict[str, Any]]  # of the JSON Schema, by model

    def text(self) -> str:
        lines = [
            "<!-- Written by scripts/key_reference.py from the models of these files. -->",
            "",
            f"# {self.title}",
            "",
            f"{self.intro} {_UNITS}",
        ]
        if any(_shared_of(node) for node in self.nodes.values()):
            lines += ["", "## Source and marks of a section", "", *_marks()]
        for name, place in self.places.items():
            lines += ["", f"## {place}", *self._section(self.nodes[name])]
        return "\n".join(lines) + "\n"

    def _section(self, node: dict[str, Any]) -> Iterator[str]:
        needed = set(node.get("required", ()))
        shared = _shared_of(node)
        yield from _words(node)
        yield from ("", "| key | meaning | values | default |", "| --- | --- | --- | --- |")
        for key, below in keys_of(node).items():
            if key not in shared:
                yield _row(key, below, ", ".join(dict.fromkeys(self._values(below))), key in needed)
        if needed & shared:
            yield from ("", f"Needed here: {', '.join(f'`{key}`' for key in sorted(needed & shared))}.")

    def _values(self, node: dict[str, Any]) -> Iterator[str]:
        """What may stand for a key, in words."""
        if "$ref" in node:
            place = self.places.get(node["$ref"].rpartition("/")[2])
            if place is not None:
                yield f"a mapping, see [{place.replace('[]', '')}](#{anchor_of(place)})"
        elif "enum" in node or "const" in node:
            yield from (f"`{_shown(one)}`" for one in node.get("enum", [node.get("const")]))
        elif "anyOf" in node:
            for option in node["anyOf"]:
                yield from self._values(option)
        elif node.get("type") == "array":
            if node.get("maxItems") != 0:
                yield _list_of(", ".join(self._values(node.get("items", {}))))
        elif node.get("type") == "object":
            yield from self._mapping(node)
        else:
            yield from _value(node)

    def _mapping(self, node: dict[str, Any]) -> Iterator[str]:
        below = node.get("additionalProperties")
        values = ", ".join(self._values(below)) if isinstance(below, dict) else ""
        yield f"by name: {values}" if values else "a mapping"


def pages() -> dict[Path, str]:
    """The text of each page."""
    return {REFERENCE / page.file: page.text() for page in all_pages()}


def all_pages() -> list[Page]:
    return [
        Page(
            "system-file.md",
            "Keys of a system file",
            "Every key, with what may stand there. `./bulkhead schema` prints the same as a JSON Schema, with"
            " which editors complete and check files. [Configuration](configuration.md) explains how keys"
            " work together.",
            key_places.SYSTEM,
            _nodes("system"),
        ),
        Page(
            "components-file.md",
            "Keys of a system of components",
            "Every key of a file with `components`, which the [microkernel](../design/mxu.md#the-tool) runs."
            " `./bulkhead schema components` prints the same as a JSON Schema."
            " [Configuration](configuration.md#systems-of-components) has the rules that join keys.",
            key_places.COMPONENTS,
            _nodes("components"),
        ),
        Page(
            "platform-file.md",
            "Keys of a platform file",
            "Every key, with what may stand there. `./bulkhead schema platform` prints the same as a JSON"
            " Schema. [Platforms](platforms.md) explains how files are composed and how the simulated machine"
            " is made from them; [configuration](configuration.md#platform-file) has the rules that join"
            " keys.",
            key_places.PLATFORM,
            _nodes("platform"),
        ),
        Page(
            "experiment-file.md",
            "Keys of an experiment's file",
            "Every key of the files in `experiments/`. [Experiments](../guide/experiments.md) explains how"
            " they are written and run. A value of a part, a partition or a regulator may also be `$name`:"
            " the point's value of that name.",
            key_places.EXPERIMENT,
            experiment_nodes(),
        ),
    ]


def _nodes(kind: str) -> dict[str, dict[str, Any]]:
    return nodes_of(MODELS[kind], file_schema(kind))


def _shared_of(node: dict[str, Any]) -> set[str]:
    """Keys of a section that the first table of the page explains."""
    keys = keys_of(node)
    return {
        key
        for key in keys
        if "from_machine" in keys and keys[key].get("description") == _SHARED_KEYS.get(key, "")
    }


def _marks() -> Iterator[str]:
    yield (
        "Most sections may also have these keys, which their tables leave out. `flow_costs`, `dram.delays`"
        " and `release_delay` have neither `absorbs` nor this `assumed`."
    )
    yield from ("", "| key | meaning |", "| --- | --- |")
    yield from (f"| `{key}` | {meaning} |" for key, meaning in _SHARED_KEYS.items())


def _words(node: dict[str, Any]) -> list[str]:
    """Words that can replace the mapping."""
    words = [str(option["const"]) for option in node.get("anyOf", ()) if "const" in option]
    return ["", f"Or a word: {', '.join(f'`{word}`' for word in words)}."] if words else []


def _row(key: str, node: dict[str, Any], values: str, needed: bool) -> str:
    default = node.get("default")
    if needed:
        shown = "needed"
    elif default is None or default in ([], {}, "-"):
        shown = "–"
    else:
        shown = f"`{_shown(default)}`"
    return f"| `{key}` | {node['description']} | {values or '–'} | {shown} |".replace("\n", " ")


def _shown(value: Any) -> str:
    """A value as a file has it."""
    if isinstance(value, list):
        return f"[{', '.join(_shown(one) for one in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value(node: dict[str, Any]) -> Iterator[str]:
    if "examples" in node:
        yield "as " + ", ".join(f"`{one}`" for one in node["examples"])
    elif node.get("format") == "address":
        yield "an address, as `0x40000000`"
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
    if "exclusiveMinimum" in node:
        return f" above {node['exclusiveMinimum']}"
    low, high = node.get("minimum", node.get("ge")), node.get("maximum", node.get("le"))
    return (
        f", {low} to {high}"
        if low is not None and high is not None
        else f", at least {low}"
        if low is not None
        else ""
    )


if __name__ == "__main__":
    sys.exit(write_or_check(pages(), __doc__))
