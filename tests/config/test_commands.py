# SPDX-License-Identifier: Apache-2.0
"""The commands check, plan, platforms and schema: exit codes, the JSON object, and output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..command_line import invoked, run, run_json

ROOT = Path(__file__).parents[2]
GOOD, SMP = ROOT / "examples" / "mixed-criticality.yaml", ROOT / "examples" / "linux-smp.yaml"
BAD = ROOT / "examples" / "bad" / "several.yaml"


def test_check_accepts_the_examples() -> None:
    code, text = run("check", GOOD, SMP)
    assert code == 0
    assert "2 of 2 files ok, 0 errors" in text


def test_check_reports_on_each_file_and_says_no_if_one_is_bad() -> None:
    code, result = run_json("check", GOOD, BAD, "nowhere.yaml")
    assert code == 1
    assert result["verdict"] == "error"
    assert [(Path(f["file"]).name, f["verdict"], len(f["errors"])) for f in result["files"]] == [
        ("mixed-criticality.yaml", "ok", 0),
        ("several.yaml", "error", 4),
        ("nowhere.yaml", "error", 1),
    ]
    assert all(error["cause"] for f in result["files"] for error in f["errors"])
    placed = [[error["line"] is not None for error in f["errors"]] for f in result["files"]]
    assert placed == [[], [True] * 4, [False]], "a file that is not there has no lines"
    assert f"{result['files'][2]['file']}: no such file" in result["reasons"][-1]


def test_check_shows_what_was_promised_and_what_is_left() -> None:
    code, result = run_json("check", GOOD)
    promised = result["files"][0]["promised"]
    assert code == 0
    assert (result["system"], result["platform"]) == ("mixed-criticality", "qemu-virt")
    hog = next(owner for owner in promised["owners"] if owner["name"] == "hog")
    assert hog["capacity_bytes"] - hog["used_bytes"] == hog["free_bytes"] == 208 << 20
    assert promised["cores_left"] == []


@pytest.mark.parametrize(
    "arguments", [("check",), ("check", "--nonsense", "x"), ("nonsense",), ("schema", "disk")]
)
def test_wrong_usage_is_two(arguments: tuple[str, ...]) -> None:
    assert run(*arguments)[0] == 2


@pytest.mark.parametrize("setting", ["name", "=x", "name=", "a..b=1", "domains.0=*x", "isolation.llc=["])
@pytest.mark.parametrize(
    "command",
    [("check",), ("plan",), ("run",), ("build",), ("flows", "check"), ("flows", "min-bandwidth")],
    ids=" ".join,
)
def test_what_is_no_override_is_wrong_usage(command: tuple[str, ...], setting: str) -> None:
    """It is wrong usage for any file, so it is not a finding at a line of the file."""
    done = invoked(*command, GOOD, "--set", setting)
    assert done.exit_code == 2
    assert "--set" in done.stderr
    assert ":1:1" not in done.stderr


@pytest.mark.parametrize("command", [("hypervisor",), ("linux-boot",)], ids=" ".join)
def test_the_same_of_benchmarks(command: tuple[str, ...]) -> None:
    assert run("bench", *command, "--set", "name")[0] == 2


def test_an_override_that_the_file_cannot_take_is_an_error_without_a_line() -> None:
    code, result = run_json("check", GOOD, "--set", "domains.hogg.cpus=[3]")
    assert code == 1
    assert result["reasons"][0].startswith(
        "--set domains.hogg.cpus=[3]: domains.hogg.cpus: there is no element with the name"
    )
    assert result["files"][0]["errors"][0]["line"] is None


@pytest.mark.parametrize(
    ("setting", "key"),
    [
        ("platform=nope", "platform"),
        ("isolation.llc=colour", "isolation.llc"),
        ("domains.hog.memory=[{at: 0, size: 1, colour: 1}]", "domains[2].memory[0].colour"),
    ],
)
def test_a_value_of_an_override_that_is_refused_has_no_line(setting: str, key: str) -> None:
    """The value is not in a line of the file, and the command line has no lines."""
    code, result = run_json("check", GOOD, "--set", setting)
    found = {error["key"]: error for error in result["files"][0]["errors"]}
    assert code == 1
    assert found[key]["line"] is None
    assert any(reason.startswith(f"--set {setting}: {key}: ") for reason in result["reasons"])


def test_plan_gives_a_reason_for_each_choice() -> None:
    code, result = run_json("plan", SMP)
    assert code == 0
    assert {choice["key"] for choice in result["choices"]} >= {
        "hypervisor.llc.colors",
        "domains.linux.llc.colors",
    }
    assert all(choice["reason"] for choice in result["choices"])
    assert sum(segment["bytes"] for segment in result["domains"][0]["segments"]) == 512 << 20


def test_plan_writes_a_file_that_check_accepts(tmp_path: Path) -> None:
    resolved = tmp_path / "resolved.yaml"
    assert run("plan", SMP, "-o", resolved)[0] == 0
    assert run("check", resolved)[0] == 0


def test_plan_says_no_if_its_file_cannot_be_written(tmp_path: Path) -> None:
    resolved = tmp_path / "missing" / "resolved.yaml"
    code, result = run_json("plan", SMP, "-o", resolved)
    assert (code, result["verdict"]) == (1, "error")
    assert result["reasons"] == [f"{resolved}: cannot be written: No such file or directory"]
    said = invoked("plan", SMP, "-o", resolved)
    assert (said.exit_code, said.stderr) == (1, f"error: {result['reasons'][0]}\n")
    assert "wrote" not in said.stdout


def test_plan_says_no_to_what_does_not_fit() -> None:
    code, result = run_json("plan", GOOD, "--set", "domains.hog.memory.0.size=1 GiB")
    assert code == 1
    assert "hog" in result["reasons"][0]


def test_platforms_lists_and_describes() -> None:
    code, result = run_json("platforms")
    assert code == 0
    assert {"qemu-virt", "zcu102", "rpi2"} <= {platform["name"] for platform in result["platforms"]}
    colors = {platform["name"]: platform["colors"] for platform in result["platforms"]}
    assert colors["zcu102"] == colors["rpi2"] == colors["qemu-virt"] == 8
    assert colors["s32v234"] == 2  # 256 KiB in 16 ways: bits 13..6
    assert colors["stm32f767"] == 0
    code, text = run("platforms", "zcu102")
    assert code == 0
    assert "UG1085" in text


def test_a_platform_tells_fitted_parameters_from_those_of_a_manual() -> None:
    code, result = run_json("platforms", "stm32f767")
    assert code == 0
    (one,) = result["platforms"]
    by_key = {parameter["key"]: parameter for parameter in one["parameters"]}
    assert by_key["cores.mpu.fault"]["fitted"]
    assert not by_key["cores.mpu.regions"]["fitted"]
    assert "Cortex-M7" in by_key["cores.mpu.regions"]["source"]
    assert {fact["fact"]: fact["target"] for fact in one["facts"]} == {"load-hit": 2, "load-region-miss": 360}
    assert "EL2" in one["not_bootable"]


def test_an_unknown_platform_is_no_and_names_the_nearest() -> None:
    code, result = run_json("platforms", "zcu12")
    assert code == 1
    assert "zcu102" in result["reasons"][0]


@pytest.mark.parametrize("kind", ["system", "components", "platform"])
def test_the_schema_has_every_key_with_closed_mappings(kind: str) -> None:
    code, text = run("schema", kind)
    schema = json.loads(text)
    assert code == 0
    assert schema["additionalProperties"] is False
    named = [place for place in schema["$defs"].values() if place.get("type") == "object"]
    assert all(place["additionalProperties"] is False for place in named)
    expected = {
        "system": {"domains", "isolation", "flows"},
        "components": {"components", "hardware"},
        "platform": {"caches", "load", "memory"},
    }
    assert set(schema["properties"]) >= expected[kind]


def test_the_schema_knows_keys_that_are_words_of_json_schema() -> None:
    schema = json.loads(run("schema")[1])
    assert schema["$defs"]["Console"]["properties"]["default"]["type"] == "string"


def test_version_names_the_commit() -> None:
    code, text = run("--version")
    assert code == 0
    assert text.startswith("bulkhead 0.")
