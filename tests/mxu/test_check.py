# SPDX-License-Identifier: Apache-2.0
"""`bulkhead check` of systems of components: examples, the JSON object, and messages of other commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.admission.load import load_system
from bulkhead.mxu.costs import refill_cycles, refill_ns
from bulkhead.units import duration

from ..command_line import invoked, run, run_json
from .systems import board

EXAMPLES = Path(__file__).parents[2] / "examples"
PROTECTED, UNPROTECTED, TABLES = (
    EXAMPLES / f"mxu-{name}.yaml" for name in ("protected", "unprotected", "tables")
)


@pytest.mark.req("X9")
def test_x9_the_protected_sensor_misses_once_and_the_unprotected_one_two_thousand_times() -> None:
    code, result = run_json("check", PROTECTED, UNPROTECTED)
    assert code == 0
    sensor, both = (file["promised"]["jobs"][0] for file in result["files"])
    assert (sensor["component"], sensor["misses"]) == ("sensor", 1)
    assert both["misses"] > 2000 and both["misses_ns"] == both["misses"] * refill_ns(board("stm32f767"))
    memory = {one["name"]: one for one in result["files"][0]["promised"]["components"][0]["memory"]}
    assert memory["samples"]["hardware"] == "static region" and memory["samples"]["check"]["cycles"] == 0
    assert memory["log"]["hardware"] == "dynamic region"
    each = refill_cycles(board("stm32f767"))
    assert memory["log"]["check"]["cycles"] == 2 * each, "`frames` is its neighbour"
    assert memory["log"]["check"]["sources"]


@pytest.mark.req("X9")
def test_x9_unprotected_drops_every_specification() -> None:
    _, kept = run_json("check", PROTECTED)
    code, dropped = run_json("check", PROTECTED, "--unprotected")
    assert code == 0
    misses = [one["files"][0]["promised"]["jobs"][0]["misses"] for one in (kept, dropped)]
    assert misses[0] < misses[1]
    memory = dropped["files"][0]["promised"]["components"][0]["memory"]
    assert [one["name"] for one in memory if one["hardware"] == "static region"] == ["stack"]


@pytest.mark.req("X9")
def test_x9_the_documentation_has_the_figures_that_check_says() -> None:
    said = (EXAMPLES.parent / "docs/design/mxu.md").read_text()
    for title, arguments in (
        ("protected", (PROTECTED,)),
        ("protected, with `--unprotected`", (PROTECTED, "--unprotected")),
        ("unprotected", (UNPROTECTED,)),
    ):
        job = run_json("check", *arguments)[1]["files"][0]["promised"]["jobs"][0]
        cost = duration(job["misses_ns"]).replace("µ", "u")
        assert f"| {title} | {job['misses']:,} | {cost} |" in said


@pytest.mark.req("X9")
def test_x9_people_see_hardware_costs_misses_and_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    code, text = run("check", TABLES)
    assert code == 0
    words = " ".join(text.split())
    for said in ("locked TLB entry", "in part", "OCM", "no bound", "ASIDs", "sensor.samples 1"):
        assert said in words, said
    assert "1 of 1 file ok, 0 errors" in words
    _, text = run("check", PROTECTED)
    assert f"{duration(200_000 - 60_000 - refill_ns(board('stm32f767')))} of the budget left" in text


@pytest.mark.req("X9")
def test_x9_one_key_can_be_set_and_a_refusal_has_its_place() -> None:
    more = ("--set", "hardware.system_regions=3", "--set", "components.sensor.memory.log.spec=deterministic")
    code, result = run_json("check", PROTECTED, *more)
    assert code == 1
    (error,) = result["files"][0]["errors"]
    assert error["code"] == "mxu-ebusy" and error["key"] == "components[0].memory[3].spec"
    assert result["files"][0]["promised"] is None


def test_x9_plan_refuses_components_in_one_line() -> None:
    done = invoked("plan", PROTECTED)
    assert done.exit_code == 1
    assert "[not-a-hypervisor-system]" in done.stderr


def test_x9_the_loader_of_domains_says_that_they_are_components() -> None:
    assert [one.code for one in load_system(PROTECTED).problems] == ["not-a-hypervisor-system"]


@pytest.mark.emulator
@pytest.mark.parametrize("file", [PROTECTED, UNPROTECTED, TABLES], ids=lambda file: file.stem)
def test_x9_the_first_comment_of_an_example_has_commands_that_work(file: Path, tmp_path: Path) -> None:
    lines = file.read_text().splitlines()
    comment = [line[1:].strip() for line in lines[: lines.index("bulkhead: 1")]]
    commands = [line.split("  ")[0].split() for line in comment if line.startswith("./bulkhead")]
    assert {command for _, command, *_ in commands} == {"check", "run"}
    for _, command, name, *options in commands:
        assert name == f"examples/{file.name}"
        short = ["--for", "10 ms", "--directory", str(tmp_path / "run")] if command == "run" else []
        assert run(command, file, *options, *short)[0] == 0
