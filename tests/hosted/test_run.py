# SPDX-License-Identifier: Apache-2.0
"""`run --on machine`: the same report as on the emulator, the third witness of C5, times, and the slowdown of
a domain by others. One system is run protected, unprotected and miscolored."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.report.trace import trace_of
from bulkhead.run.samples import read_samples
from tests.command_line import run_json

MS = 10**6
EXAMPLES = Path(__file__).parents[2] / "examples"
SYSTEM = {
    "bulkhead": 1,
    "name": "pair",
    "platform": "qemu-virt",
    "hypervisor": {"llc": {"colors": [7]}},
    "isolation": {"llc": "coloring"},
    "domains": [
        {
            "name": "control",
            "criticality": "rt",
            "cpus": [0],
            "image": {"elf": "guests/periodic.elf"},
            "memory": [{"at": 0x4000_0000, "size": "4 MiB"}],
            "llc": {"colors": [0, 1, 2]},
            "params": {"period_us": 1000, "working_set_kib": 256, "report_every": 2},
        },
        {
            "name": "linux",
            "cpus": [1],
            "image": {"kernel": "linux:debian"},
            "memory": [{"at": 0x4000_0000, "size": "32 MiB"}],
            "llc": {"colors": [3, 4]},
            "workload": "membomb",
        },
    ],
}


def run(directory: Path, *options: str, system: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(system or SYSTEM))
    return run_file(path, directory, *options)


def run_file(path: Path, directory: Path, *options: str) -> tuple[int, dict[str, Any]]:
    arguments = ("run", path, "--on", "machine", "--for", "20ms", "--no-page", *options)
    return run_json(*arguments, "--directory", directory / "run")


@pytest.fixture(scope="module")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    code, result = run(tmp_path_factory.mktemp("isolated"), "--solo")
    assert code == 0, result["reasons"]
    return result


def domain(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in result["domains"] if one["name"] == name)


def test_the_page_is_drawn_unless_it_is_not_wanted(tmp_path: Path) -> None:
    run(tmp_path, "--page")
    page = tmp_path / "run" / "index.html"
    assert "<svg" in page.read_text()
    run(tmp_path)
    assert not page.exists(), "that of the run before is none of this one's"


def test_the_report_is_the_emulators_with_times(isolated: dict[str, Any]) -> None:
    assert isolated["on"] == "machine"
    assert isolated["witnesses"]["tables"]["verdict"] == "held"
    assert isolated["witnesses"]["machine"]["verdict"] == "held"
    assert isolated["simulated_ns"] == pytest.approx(20 * MS, rel=0.01)
    assert 0 < isolated["dram"]["utilization"] <= 1
    assert isolated["dram"]["written_bytes"] > 0
    assert domain(isolated, "control")["report"]["releases"] >= 2
    assert domain(isolated, "control")["exit_reasons"]
    assert domain(isolated, "linux")["ready_ns"] < 20 * MS


def test_colors_of_its_own_keep_a_domains_lines(isolated: dict[str, Any]) -> None:
    for one in isolated["domains"]:
        assert one["llc"]["evicted_by_others"] == 0
        assert one["llc"]["accesses"] > 1000


def test_the_task_is_slowed_by_memory_alone_and_less_than_without_colors(
    isolated: dict[str, Any], tmp_path: Path
) -> None:
    code, exposed = run(tmp_path, "--unprotected", "--solo")
    assert code == 0, exposed["reasons"]
    assert domain(exposed, "control")["llc"]["evicted_by_others"] > 1000
    assert 0.95 < domain(isolated, "control")["slowdown"] < domain(exposed, "control")["slowdown"]


def test_a_frame_in_a_wrong_color_is_noticed_by_both_witnesses(tmp_path: Path) -> None:
    code, result = run(tmp_path, "--miscolor", "control")
    assert code == 1
    assert result["witnesses"]["machine"]["verdict"] == "broken"
    assert result["witnesses"]["tables"]["verdict"] == "broken"


def test_tables_beside_the_memory_of_their_specification_are_noticed(tmp_path: Path) -> None:
    """X5: `--misplace` makes the error; the table witness finds it and names the owner of the tables."""
    rt = {
        "name": "rt",
        "criticality": "rt",
        "cpus": [0],
        "image": {"elf": "guests/periodic.elf"},
        "memory": [{"at": 0x4000_0000, "size": "16 MiB", "spec": "l2"}],
        "params": {"period_us": 1000, "working_set_kib": 64, "report_every": 2},
    }
    placed = {
        "bulkhead": 1,
        "name": "placed",
        "platform": "zcu102",
        "isolation": {"llc": "coloring"},
        "domains": [rt],
    }
    code, result = run(tmp_path, system=placed)
    assert code == 0 and result["witnesses"]["tables"]["tables_placed"] > 0, result["reasons"]
    code, result = run(tmp_path, "--misplace", "rt", system=placed)
    assert code == 1
    [reason] = result["reasons"]
    assert reason.startswith("tables: domain rt: table at PA ")
    assert "not in the memory that its `spec` demands" in reason


def test_two_runs_have_one_digest(isolated: dict[str, Any], tmp_path: Path) -> None:
    code, again = run(tmp_path)
    assert code == 0
    assert again["digest"] == isolated["digest"]


def test_what_the_machine_cannot_run_is_refused_with_the_reason(tmp_path: Path) -> None:
    kernels = json.loads(json.dumps(SYSTEM))
    del kernels["domains"][1]["workload"]
    code, result = run(tmp_path, system=kernels)
    assert (code, result["verdict"]) == (1, "error")
    assert "kernel" in result["reasons"][0]
    code, result = run(tmp_path, system={**SYSTEM, "platform": "rpi2"})
    assert code == 1
    assert "does not describe its interrupt controller" in result["reasons"][0]


@pytest.mark.parametrize("example", ["zcu102", "mixed-criticality"])
def test_an_example_runs_and_keeps_its_promises(example: str, tmp_path: Path) -> None:
    """As on the emulator, domains that should stop have stopped, and no domain evicts a line of another."""
    sooner_ready = ("--set", "domains.control.params.period_us=1000")
    code, result = run_file(EXAMPLES / f"{example}.yaml", tmp_path, "--solo", *sooner_ready)
    assert code == 0, result["reasons"]
    assert {name: witness["verdict"] for name, witness in result["witnesses"].items() if witness} == {
        "tables": "held",
        "machine": "held",
    }
    for one in result["domains"]:
        assert one["state"] == ("stopped" if one["name"] == "hello" else "running")
        assert one["llc"]["evicted_by_others"] == 0
    assert domain(result, "hog")["exit_reasons"]["irq_timer"] > 5
    assert domain(result, "hog")["slowdown"] == pytest.approx(1, abs=0.2)


def test_b8_a_manager_of_the_regulator_and_what_top_and_trace_are_made_of(tmp_path: Path) -> None:
    code, result = run_file(EXAMPLES / "tuned.yaml", tmp_path, "--for", "55ms")
    assert code == 0, result["reasons"]
    assert domain(result, "tuner")["report"]["wrong"] == 0
    assert result["regulation"]["changes"] == 1
    live = json.loads((tmp_path / "run" / "live.json").read_text())
    assert live["regulation"] == {
        "global": result["regulation"]["global_events"]["last"],
        "load": round(result["regulation"]["load"]["mean"], 4),
        "changes": 1,
        "devices": {},
    }
    kept = read_samples(tmp_path / "run")["samples"]
    assert 4 <= result["regulation"]["intervals"] - len(kept) <= 6, "not stored for four of them"
    assert {sample.core for sample in kept} == {2}
    assert 0 < max(sample.global_events for sample in kept) <= result["regulation"]["global_events"]["max"]
    assert all(sample.budget == sample.global_events for sample in kept), "the only one that is regulated"
    assert 0 < max(sample.utilization for sample in kept) <= result["regulation"]["load"]["max"] * 65536


def test_b2_each_vcpu_of_a_shared_core_has_samples_of_its_own_periods(tmp_path: Path) -> None:
    code, result = run_file(EXAMPLES / "shared-core.yaml", tmp_path)
    assert code == 0, result["reasons"]
    (core,) = result["shared_cores"]
    assert all(promise["kept"] for promise in core["promises"].values())
    kept = read_samples(tmp_path / "run")
    for index, vcpu in enumerate(core["vcpus"]):
        own = [sample for sample in kept["samples"] if sample.domain == index]
        assert {sample.core for sample in own} == {core["core"]}
        # The machine stops at the run's limit, which may be between the count of a period and its sample.
        assert vcpu["periods"] > 1
        assert vcpu["periods"] - len(own) in (0, 1)
        most = max(sample.events for sample in own)
        assert most == vcpu["max_per_period"] or (
            len(own) < vcpu["periods"] and most < vcpu["max_per_period"]
        )
        assert {sample.budget for sample in own} == {vcpu["budget"]}
        lengths = {b.time - a.time for a, b in itertools.pairwise(own)}
        assert all(abs(1 - length / own[0].period_ticks) < 0.05 for length in lengths)
    rows = {row["domain"]: row for row in json.loads((tmp_path / "run" / "live.json").read_text())["domains"]}
    assert rows["filter"]["events_per_period"] > rows["control"]["events_per_period"] > 0
    assert rows["filter"]["exits_per_s"] is None, "of the core, not of the VCPU"
    named = {
        event["args"]["name"]: event["tid"]
        for event in trace_of(kept)["traceEvents"]
        if event["name"] == "thread_name"
    }
    assert {"core 1: control VCPU 0", "core 1: filter VCPU 0", "core 1: batch VCPU 0"} <= named.keys()
    assert len(set(named.values())) == len(named)
