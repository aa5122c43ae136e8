# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of results, made from their types; `bulkhead schema` prints them."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from bulkhead.results.envelope import Envelope
from bulkhead.results.run import RunResult

RESULTS: dict[str, Any] = {"result": Envelope, "run-result": RunResult}

_TITLES = {
    "result": "What every command prints with --json",
    "run-result": "What `bulkhead run --json` prints for a system of domains",
}


def result_schema(kind: str) -> dict[str, Any]:
    """The schema of `result`, the keys that all results have, or of `run-result`."""
    made = TypeAdapter(RESULTS[kind]).json_schema()
    for key, node in TypeAdapter(Envelope).json_schema()["properties"].items():
        # pydantic reads the docstrings of a class's own keys only.
        made["properties"][key].setdefault("description", node.get("description", ""))
    for node in made["properties"].values():
        if "description" not in node:
            node["description"] = made["$defs"][node["$ref"].rpartition("/")[2]]["description"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **made,
        "title": _TITLES[kind],
    }
