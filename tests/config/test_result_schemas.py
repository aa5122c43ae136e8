# SPDX-License-Identifier: Apache-2.0
"""Schemas of results: every command with `--json` has one, which is strict and describes each key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.core
import typer.main

from bulkhead.cli import build_app
from bulkhead.results.schema import COMMON, SHAPES, kind_of, kinds, result_schema
from tests.command_line import invoked, run, run_json
from tests.json_results import validated

ROOT = Path(__file__).parents[2]
OTHER = {"schema"}  # its `--json` is a schema


def commands(of: Any, name: str = "") -> Iterator[str]:
    """The commands with `--json`, as `command` of their results says."""
    if isinstance(of, typer.core.TyperGroup):
        for word, one in of.commands.items():
            yield from commands(one, f"{name} {word}".strip())
    elif any("--json" in parameter.opts for parameter in of.params):
        yield name


def test_every_command_with_json_has_a_schema() -> None:
    assert set(commands(typer.main.get_command(build_app()))) - OTHER == set(SHAPES)


@pytest.mark.parametrize("kind", kinds())
def test_a_schema_is_strict_and_describes_each_key(kind: str) -> None:
    schema = result_schema(kind)
    for name, part in schema.get("$defs", {}).items():
        assert part["description"], name
        assert part["additionalProperties"] is False, name
        assert all(node["description"] for node in part["properties"].values()), name
    assert json.loads(run("schema", kind)[1]) == schema


def test_an_unknown_schema_is_wrong_usage_and_names_the_nearest() -> None:
    done = invoked("schema", "chek-result")
    assert done.exit_code == 2
    assert "check-result" in done.stderr


@pytest.fixture
def checked() -> dict[str, Any]:
    return run_json("check", ROOT / "examples" / "mixed-criticality.yaml")[1]


def test_a_result_with_another_key_or_without_one_is_refused(checked: dict[str, Any]) -> None:
    """All tests of results rely on this check."""
    for change in ({"more": 1}, {"files": None}, {"files": [{**checked["files"][0], "errors": 0}]}):
        with pytest.raises(ValueError, match="validation error"):
            validated({**checked, **change})
    del checked["files"][0]["unchecked"]
    with pytest.raises(ValueError, match="validation error"):
        validated(checked)


def test_the_common_keys_are_those_of_every_result() -> None:
    common = set(result_schema(COMMON)["properties"])
    for command in SHAPES:
        schema = result_schema(kind_of(command))
        shapes = [schema["$defs"][one["$ref"].rpartition("/")[2]] for one in schema["anyOf"]]
        assert all(common <= set(shape["required"]) for shape in shapes), command
