# SPDX-License-Identifier: Apache-2.0
"""A server of a disk and a network card, its client and a real-time task on the simulated machine:
`examples/server.yaml` (D3, D5, F7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run_json

EXAMPLE = Path(__file__).parents[2] / "examples" / "server.yaml"
REQUESTS = 6
pytestmark = [pytest.mark.req("D3", "D5", "F7"), pytest.mark.usefixtures("hosted_built")]


def run(directory: Path, *changes: str) -> dict[str, Any]:
    options = [word for change in changes for word in ("--set", change)]
    _, result = run_json(
        "run", EXAMPLE, "--on", "machine", "--no-page", *options, "--directory", directory / "run"
    )
    return result


def test_task_flows_and_chains_keep_their_bounds(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result["verdict"] == "ok", result["reasons"]
    assert all(one["met"] for one in result["expectations"]), "nothing was left out"
    for flow in result["flows"]:
        assert flow["packets"] >= REQUESTS
        assert flow["latency_ns"]["max"] <= flow["bound_ns"] and flow["misses"] == 0
    for chain in result["chains"]:
        assert chain["answered"] == REQUESTS
        flows = [flow for flow in result["flows"] if flow["name"] in (chain["name"], f"{chain['name']}.back")]
        least = sum(flow["latency_ns"]["min"] for flow in flows)
        assert least < chain["longest_ns"] <= chain["bound_ns"] <= chain["deadline_ns"]
    server = next(one["report"] for one in result["domains"] if one["name"] == "server")
    assert server["errors"] == 0
    assert 0 < server["longest0_ns"] <= 60_000 + 40_000 + 136_534, "the service that the file states"


def failing() -> list[list[str]]:
    """Overrides of the two runs of which the example's first comment says that they fail."""
    commands = [
        line.split() for line in EXAMPLE.read_text().splitlines() if line.startswith("#     ./bulkhead")
    ]
    found = [[word for word in words if "=" in word] for words in commands if "--set" in words]
    assert len(found) == 2
    return found


def test_a_load_without_a_budget_makes_the_task_miss_releases(tmp_path: Path) -> None:
    result = run(tmp_path, *failing()[0])
    assert result["verdict"] == "failed"
    assert any("missed: 0" in reason for reason in result["reasons"]), result["reasons"]


def test_a_server_that_is_slower_than_stated_fails_the_run(tmp_path: Path) -> None:
    result = run(tmp_path, *failing()[1])
    assert result["verdict"] == "failed"
    assert any(reason.startswith("chain disk: the longest time") for reason in result["reasons"])


def test_a_server_that_does_not_answer_fails_the_run(tmp_path: Path) -> None:
    result = run(tmp_path, "domains.server.image.elf=guests/hello.elf", "domains.server.params={}")
    assert [chain["longest_ns"] for chain in result["chains"]] == [None, None]
    for name in ("disk", "net"):
        assert any(
            text.startswith(f"chain {name}: 'client' reported no answer") for text in result["reasons"]
        )


def test_a_request_without_an_answer_has_an_age(tmp_path: Path) -> None:
    """The server takes so long for the first request that the run ends before the answer."""
    result = run(tmp_path, "domains.server.params.delay_us=100000")
    assert result["verdict"] == "failed"
    for chain in result["chains"]:
        assert chain["answered"] == 0 and chain["longest_ns"] > chain["bound_ns"]
