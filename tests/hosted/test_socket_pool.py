# SPDX-License-Identifier: Apache-2.0
"""Pools of socket devices on the simulated machine (F8): packets arrive as without pools, and a broker that
was taken over reaches the pools and nothing else."""

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
from .test_flows import KIB, assert_all_arrived_in_time, assert_guaranteed, run, run_file, system

EXAMPLE = Path(__file__).parents[2] / "examples" / "flows-pool.yaml"
AT, BYTES, POOL = 0x4000_0000, 4 << 20, 256 * KIB
FRAMES = {"size": "4 KiB", "period": "1 ms", "deadline": "2 ms"}


def pooled(wanted: dict[str, Any]) -> dict[str, Any]:
    for one in wanted["domains"]:
        one["socket_pool"] = {"size": "256 KiB"}
    return wanted


def test_f8_the_example_keeps_its_bounds_with_and_without_pools(tmp_path: Path) -> None:
    (tmp_path / "pool").mkdir()
    assert_guaranteed(run_file(EXAMPLE, tmp_path / "pool"), 170_000_000)
    whole = yaml.safe_load(EXAMPLE.read_text())
    for one in whole["domains"]:
        del one["socket_pool"]
    assert_guaranteed(run(tmp_path / "whole", whole, "200ms"), 170_000_000)


@pytest.mark.parametrize("on_pci", [False, True])
def test_f8_what_is_sent_through_a_pool_arrives_in_time(tmp_path: Path, *, on_pci: bool) -> None:
    wanted = pooled(system(("frames", 128 * KIB, FRAMES)))
    if on_pci:
        keys = {"image": {"elf": "guests/socket_source_pci.elf"}, "socket_transport": "pci"}
        wanted["domains"][0] |= keys
    result = run(tmp_path, wanted)
    assert_all_arrived_in_time(result)
    assert result["witnesses"]["tables"]["verdict"] == "held"
    assert not any(one["socket_failures"] for one in result["domains"])


def taken_over(monkeypatch: pytest.MonkeyPatch, **params: int) -> None:
    """The broker runs another program, with a console."""
    real = broker_parts.with_broker

    def instead(given: System, platform: Platform) -> System:
        found = real(given, platform)
        *others, last = found.domains
        changes = {
            "image": Image(elf="guests/hostile_broker.elf"),
            "params": params,
            "console": WITH_CONSOLE,
            "restart": "never",
        }
        return found.model_copy(update={"domains": (*others, last.model_copy(update=changes))})

    monkeypatch.setattr("bulkhead.admission.load.with_broker", instead)


def attacked(directory: Path, *, pool: bool) -> dict[str, Any]:
    """A run of two domains with a socket, each in contiguous memory. The second one is between others."""
    wanted = system(("frames", 128 * KIB, FRAMES))
    wanted = pooled(wanted) if pool else wanted
    wanted["domains"].append(domain("other", "busy", [2]))
    del wanted["expect"]
    directory.mkdir(exist_ok=True)
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(wanted))
    _, result = run_json(
        "run", path, "--on", "machine", "--no-page", "--for", "20ms", "--directory", directory / "run"
    )
    return result


def test_f8_a_broker_that_was_taken_over_reaches_no_byte_outside_of_the_pools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads its own victim's pool. The byte before it is its victim's, too, and ends the broker."""
    taken_over(monkeypatch, victim=0, before=1)
    result = attacked(tmp_path, pool=True)
    hostile = next(one for one in result["domains"] if one["name"] == "broker")
    log = (tmp_path / "run" / "console.log").read_text()
    assert f"read {POOL // KIB} KiB" in log, "it reaches the pool"
    assert "has read" not in log
    assert hostile["state"] == "crashed"
    _, plan = run_json("plan", tmp_path / "system.yaml")
    memory, pool = plan["domains"][0]["segments"]
    assert (memory["ipa"], pool["bytes"]) == (AT, POOL)
    assert int(hostile["fault"]["address"], 16) == limits()["broker_window"] + pool["pa"] - 1
    assert memory["pa"] < pool["pa"] - 1 < memory["pa"] + memory["bytes"], "the byte is its victim's"
    for one in result["domains"]:
        assert one["state"] == "running" or one["name"] == "broker"
    assert result["witnesses"]["tables"]["verdict"] == "held"


def test_f8_without_a_pool_it_reaches_all_memory_of_its_victim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the test above can fail; a byte behind the memory of the second victim ends it here, too."""
    taken_over(monkeypatch, victim=1, before=0)
    result = attacked(tmp_path, pool=False)
    hostile = next(one for one in result["domains"] if one["name"] == "broker")
    log = (tmp_path / "run" / "console.log").read_text()
    assert f"read {BYTES // KIB} KiB" in log
    assert "has read" not in log
    assert hostile["state"] == "crashed"


def test_f8_a_pool_without_room_for_queues_and_buffers_is_refused(tmp_path: Path) -> None:
    """Its driver would keep no queue outside of the pool, and so find no device."""
    wanted = pooled(system(("frames", 128 * KIB, FRAMES)))
    wanted["domains"][0]["socket_pool"] = {"size": "64 KiB"}
    path = tmp_path / "system.yaml"
    path.write_text(yaml.safe_dump(wanted))
    code, result = run_json("check", path)
    assert code == 1
    assert any("64 KiB cannot hold the domain's queues" in one for one in result["reasons"]), result
