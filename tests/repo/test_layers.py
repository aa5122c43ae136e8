# SPDX-License-Identifier: Apache-2.0
"""Layers of the Python tool: docs/design/architecture.md describes those that import-linter checks."""

from __future__ import annotations

import re
import tomllib

from bulkhead.env.paths import repository


def layers_checked() -> list[set[str]]:
    project = tomllib.loads((repository() / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    return [set(layer.split(" | ")) for layer in layers]


def layers_described() -> list[set[str]]:
    page = (repository() / "docs/design/architecture.md").read_text()
    table = page.partition("## Inside the tool\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return [set(re.findall(r"`(\w+)`", row)) for row in rows]


def test_the_page_has_the_layers_that_are_checked() -> None:
    assert layers_described() == layers_checked()
