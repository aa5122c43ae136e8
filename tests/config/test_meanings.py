# SPDX-License-Identifier: Apache-2.0
"""Every key of a system file has a meaning, in the schema that editors read and in the manual."""

from __future__ import annotations

from typing import Any

from bulkhead.config.meanings import MEANINGS
from bulkhead.config.schema import file_schema, keys_of


def keys() -> dict[str, dict[str, dict[str, Any]]]:
    made = file_schema("system")
    nodes = {"System": made, **made["$defs"]}
    return {name: found for name, node in nodes.items() if (found := keys_of(node))}


def test_each_key_has_a_meaning_and_each_meaning_a_key() -> None:
    assert {name: sorted(found) for name, found in keys().items()} == {
        name: sorted(found) for name, found in MEANINGS.items()
    }


def test_the_schema_says_it() -> None:
    for name, found in keys().items():
        for key, node in found.items():
            assert node["description"] == MEANINGS[name][key], f"{name}.{key}"


def test_meanings_are_sentences() -> None:
    for name, found in MEANINGS.items():
        for key, text in found.items():
            assert text[0].isupper() or text[0] == "`", f"{name}.{key}"
            assert text.endswith("."), f"{name}.{key}"
