# SPDX-License-Identifier: Apache-2.0
"""C5: no domain evicts another domain's cache lines, and both witnesses would detect it.

One bare-metal system is run three times: isolated, unprotected, and with one frame in a wrong color.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .harness import EXAMPLES, MS, Run, attached, boot, command, control, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600), pytest.mark.req("C5")]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task whose working set fills its colors, beside a hog that never rests."""
    task = {**control(working_set_kib=512), "llc": {"colors": [0, 1, 2]}}
    hog = domain("hog", "hog", 1, llc={"colors": [3, 4]})
    other = domain("other", "periodic", 2, llc={"colors": [5, 6]}, params={"working_set_kib": 128})
    hypervisor = {"llc": {"colors": [7]}}
    return write_system(tmp_path_factory.mktemp("isolation"), task, hog, other, hypervisor=hypervisor)


def evicted(run: Run) -> dict[str, int]:
    return {entry["name"]: entry["llc"]["evicted_by_others"] for entry in run.result["domains"]}


def test_c5_isolated_domains_lose_no_line_to_others(system: Path, tmp_path: Path) -> None:
    run = boot(system, tmp_path / "run", observe=True, for_ns=800 * MS)
    assert evicted(run) == {"control": 0, "hog": 0, "other": 0}
    for name in ("control", "hog", "other"):
        assert run.domain(name)["llc"]["accesses"] > 1000, "the observer saw the domain work"
    assert run.domain("hog")["llc"]["misses"] > 10_000
    witnesses = run.result["witnesses"]
    assert [witnesses[name]["verdict"] for name in ("observer", "tables")] == ["held", "held"]
    assert run.result["verdict"] == "ok", run.result["reasons"]


def test_c5_unprotected_the_task_loses_its_lines(system: Path, tmp_path: Path) -> None:
    run = boot(system, tmp_path / "run", observe=True, unprotected=True, for_ns=800 * MS)
    assert evicted(run)["control"] > 1000
    assert run.result["witnesses"]["observer"]["verdict"] == "nothing promised"
    assert run.result["verdict"] == "ok", "nothing was promised, so nothing was broken"


def test_c5_both_witnesses_catch_one_wrong_frame(system: Path, tmp_path: Path) -> None:
    run = command(system, tmp_path / "run", "--observe", "--miscolor", "hog", "--for", "800ms")
    assert run.exit_code == 1
    assert run.result["verdict"] == "failed"
    witnesses = run.result["witnesses"]
    assert [witnesses[name]["verdict"] for name in ("observer", "tables")] == ["broken", "broken"]
    assert sum(evicted(run).values()) > 0
    assert any(reason.startswith("tables: ") for reason in run.result["reasons"])
    assert any("evicted" in reason for reason in run.result["reasons"])


def test_c5_the_table_witness_alone_is_enough(system: Path, tmp_path: Path) -> None:
    """Without the observer a wrong frame still breaks the promise."""
    run = boot(system, tmp_path / "run", miscolor="other", icount=True, for_ns=5 * MS)
    assert run.result["verdict"] == "failed"
    assert run.result["witnesses"]["tables"]["verdict"] == "broken"
    assert "observer" not in run.result["witnesses"]


def _mixed(directory: Path, *arguments: str) -> Run:
    """The demo's system until its Linux has worked a little at its prompt."""
    example = EXAMPLES / "mixed-criticality.yaml"
    with attached(example, directory, "--observe", *arguments) as terminal:
        terminal.wait_for_prompt()
        assert "100+0 records out" in terminal.ask("dd if=/dev/zero of=/file bs=64k count=100")
        return terminal.leave()


@pytest.mark.slow
def test_c5_real_linux_and_its_neighbours_lose_no_line_to_others(tmp_path: Path) -> None:
    run = _mixed(tmp_path / "run")
    assert evicted(run) == {"control": 0, "linux": 0, "hog": 0}
    states: dict[str, Any] = {entry["name"]: entry["state"] for entry in run.result["domains"]}
    assert states == dict.fromkeys(("control", "linux", "hog"), "running")
    assert run.domain("linux")["prompt_ns"] > 0
    assert run.domain("linux")["llc"]["misses"] > 10_000
    witnesses = run.result["witnesses"]
    assert [witnesses[name]["verdict"] for name in ("observer", "tables")] == ["held", "held"]
    assert run.exit_code == 0, run.result["reasons"]


@pytest.mark.slow
def test_c5_the_same_unprotected_costs_the_task_its_lines(tmp_path: Path) -> None:
    run = _mixed(tmp_path / "run", "--unprotected")
    assert evicted(run)["control"] > 1000
    assert run.exit_code == 0, run.result["reasons"]
