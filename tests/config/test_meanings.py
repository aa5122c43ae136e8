# SPDX-License-Identifier: Apache-2.0
"""Every key of the files that users write has a meaning, for editors and for the manual."""

from __future__ import annotations

from typing import Any

import pytest

import key_reference
from bulkhead.config.meanings_platform import SHARED
from bulkhead.config.schema import MEANINGS, MODELS, Meanings, file_schema, keys_of, meaning_of, nodes_of
from bulkhead.experiments import meanings as experiments
from bulkhead.experiments.key_schema import experiment_nodes

Nodes = dict[str, dict[str, Any]]

KINDS: dict[str, tuple[Meanings, Nodes]] = {
    **{kind: (MEANINGS[kind], nodes_of(MODELS[kind], file_schema(kind))) for kind in MODELS},
    "experiment": (experiments.MEANINGS, experiment_nodes()),
}
of_each_kind = pytest.mark.parametrize(("meanings", "nodes"), KINDS.values(), ids=KINDS)


def keys(nodes: Nodes) -> set[tuple[str, str]]:
    return {(name, key) for name, node in nodes.items() for key in keys_of(node)}


@of_each_kind
def test_each_key_has_a_meaning(meanings: Meanings, nodes: Nodes) -> None:
    assert [
        f"{name}.{key}" for name, key in sorted(keys(nodes)) if meaning_of(meanings, name, key) is None
    ] == []


@of_each_kind
def test_each_meaning_has_a_key(meanings: Meanings, nodes: Nodes) -> None:
    own = {(name, key) for name, found in meanings.items() if name != SHARED for key in found}
    assert own - keys(nodes) == set()
    assert set(meanings.get(SHARED, {})) <= {key for _, key in keys(nodes)}


@of_each_kind
def test_the_schema_says_it(meanings: Meanings, nodes: Nodes) -> None:
    for name, key in keys(nodes):
        assert keys_of(nodes[name])[key]["description"] == meaning_of(meanings, name, key), f"{name}.{key}"


@of_each_kind
def test_meanings_are_sentences(meanings: Meanings, nodes: Nodes) -> None:
    for name, found in meanings.items():
        for key, text in found.items():
            assert text[0].isupper() or text[0] in "`0", f"{name}.{key}"
            assert text.endswith("."), f"{name}.{key}"


@pytest.mark.parametrize("page", key_reference.all_pages(), ids=lambda page: page.file)
def test_each_mapping_is_on_the_page(page: key_reference.Page) -> None:
    assert set(page.places) == {name for name, node in page.nodes.items() if keys_of(node)}


def test_a_default_is_what_a_file_would_have() -> None:
    nodes = KINDS["platform"][1]
    assert nodes["Timers"]["properties"]["frequency"]["default"] == "62.5 MHz"
    assert nodes["Microkernel"]["properties"]["data"]["default"] == "4 KiB"
    assert nodes["Controller"]["properties"]["request"]["default"].startswith("0 ")
    assert KINDS["system"][1]["Regulation"]["properties"]["threshold"]["default"] == "80 %"
    assert "units" not in nodes["Timers"]["properties"]["frequency"]
