# SPDX-License-Identifier: Apache-2.0
"""Two brokers on the simulated machine (F8): the flows of both keep their bounds, the end of one changes
nothing for the flows of the other, and one that was taken over reaches no memory of the other's domains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.system import WITH_CONSOLE, Image, System
from bulkhead.planning import broker_parts
from tests.command_line import run_json

from .systems import domain
from .test_flows import assert_guaranteed, report, run, run_file

EXAMPLE = Path(__file__).parents[2] / "examples" / "two-brokers.yaml"
PACKETS = 40  # of each flow of the controller
VIDEO = 6  # index of the camera's broker in a system with a manager: brokers are the last domains
AT, BYTES = 0x4000_0000, 4 << 20


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_file(EXAMPLE, tmp_path_factory.mktemp("example"))


def test_f8_the_flows_of_both_brokers_keep_their_bounds(example: dict[str, Any]) -> None:
    assert_guaranteed(example, 50_000_000)
    assert {one["name"] for one in example["flows"]} == {"setpoint", "state", "frames"}


def managed(directory: Path, **params: int) -> dict[str, Any]:
    """The example with packets that are counted, and a manager that restarts the camera's broker."""
    wanted = yaml.safe_load(EXAMPLE.read_text())
    for one in wanted["domains"][:2]:
        one["params"] = {"packets": PACKETS}
    reaper = domain("reaper", "reaper", [0], manager=True, priority=2)
    reaper["params"] = {"victim": VIDEO, "gap_us": 3000, "end_machine": 0, "seed": 1, **params}
    wanted["domains"].append(reaper)
    wanted["expect"] = dict.fromkeys(("controller", "supervisor", "reaper"), "stopped")
    return run(directory, wanted, "60ms")


@pytest.mark.parametrize("stops", [0, 1])
def test_f8_restarts_of_one_broker_change_nothing_for_the_flows_of_the_other(
    tmp_path: Path, stops: int
) -> None:
    result = managed(tmp_path, rounds=8, stops=stops)
    brokers = {one["name"]: one for one in result["domains"] if one["name"] in ("control", "video")}
    assert brokers["video"]["restarts"] > 0
    assert brokers["control"]["restarts"] == 0
    flows = {one["name"]: one for one in result["flows"]}
    for name in ("setpoint", "state"):
        one = flows[name]
        assert one["packets"] == PACKETS
        assert (one["misses"], one["lost"], one["refused"]) == (0, 0, 0)
        assert one["latency_ns"]["max"] <= one["bound_ns"]
    for sender, receiver in (("controller", "supervisor"), ("supervisor", "controller")):
        sent, received = report(result, sender), report(result, receiver)
        assert sent["sent0"] == received["received0"] > 0
        assert sent["sent0_crc"] == received["received0_crc"]
    assert flows["frames"]["packets"] > 0, "the other one works between its restarts"
    assert result["witnesses"]["tables"]["verdict"] == "held"


def taken_over(monkeypatch: pytest.MonkeyPatch, name: str, **params: int) -> None:
    """A broker runs another program, with a console."""
    real = broker_parts.with_broker

    def instead(given: System, platform: Platform) -> System:
        found = real(given, platform)
        changes = {
            "image": Image(elf="guests/hostile_broker.elf"),
            "params": params,
            "console": WITH_CONSOLE,
            "restart": "never",
        }
        domains = tuple(one.model_copy(update=changes) if one.name == name else one for one in found.domains)
        return found.model_copy(update={"domains": domains})

    monkeypatch.setattr("bulkhead.admission.load.with_broker", instead)


@pytest.mark.parametrize("target", ["camera", "display", "video"])
def test_f8_a_broker_that_was_taken_over_reaches_no_memory_of_the_others_domains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """It reads its own domain's memory first, so the test can tell that its window works."""
    wanted = yaml.safe_load(EXAMPLE.read_text())
    wanted |= {"isolation": {"llc": "none"}, "hypervisor": {}}
    for one in wanted["domains"]:
        one["memory"] = [{"at": AT, "size": BYTES}]
    del wanted["expect"]
    path = tmp_path / "system.yaml"
    path.write_text(yaml.safe_dump(wanted))
    _, plan = run_json("plan", path)
    (memory,) = next(one for one in plan["domains"] if one["name"] == target)["segments"]
    taken_over(monkeypatch, "control", victim=0, page=memory["pa"] // 4096)
    _, result = run_json(
        "run", path, "--on", "machine", "--no-page", "--for", "20ms", "--directory", tmp_path / "run"
    )
    hostile = next(one for one in result["domains"] if one["name"] == "control")
    log = (tmp_path / "run" / "console.log").read_text()
    assert f"read {BYTES // 1024} KiB" in log
    assert f"reads {memory['pa']:x}" in log
    assert "has read" not in log
    assert hostile["state"] == "crashed"
    assert int(hostile["fault"]["address"], 16) == limits()["broker_window"] + memory["pa"]
    for one in result["domains"]:
        assert one["state"] == "running" or one["name"] == "control"
    frames = next(one for one in result["flows"] if one["name"] == "frames")
    assert frames["packets"] > 0
    assert frames["misses"] == 0
