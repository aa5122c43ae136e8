# SPDX-License-Identifier: Apache-2.0
"""examples/self-test.yaml on the simulated machine, where everything that it measures is known: it must find
the figures of the platform file, and those of the machine for the same accesses (`validate`, `limits`).

What several cores do at once is compared only where the DRAM is saturated: the machine makes accesses to
memory that VCPUs share in order (docs/design/machine.md), so several VCPUs of one domain demand less than
several domains.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.campaign.points import run_jobs
from bulkhead.commands.options import engine_of
from bulkhead.config.platform import Platform
from bulkhead.env.paths import platforms_dir
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.job import Job
from bulkhead.machine.limits import PATTERNS, job_beside
from bulkhead.machine.native import built_machine
from bulkhead.validation.measure import ValidationPoint
from bulkhead.validation.model import Board, MeasuredBoard, PointKind
from bulkhead.validation.self_test import PatternName, SelfTest, read_log
from bulkhead.validation.self_test_figures import MeasuredFigure, figures_of
from tests.command_line import run_json

from ..platforms import platform

EXAMPLE = Path(__file__).parents[2] / "examples" / "self-test.yaml"
PLATFORMS = ("qemu-virt", "zcu102", "s32v234")
KIB, MB = 1024, 10**6
# The program's loops are compiled code; the machine's jobs say how many instructions an access has. Where the
# DRAM is saturated, that does not matter.
RATE_TOLERANCE = 0.2
SATURATED_TOLERANCE = 0.05
LATENCY_TOLERANCE = 0.08


@dataclass(frozen=True)
class Measured:
    platform: Platform
    test: SelfTest

    def figures(self) -> dict[str, MeasuredFigure]:
        return {one.key: one for one in figures_of(self.test, self.platform) if one.key is not None}


def simulated_with_flow_costs() -> list[str]:
    """Boards whose own files state costs of flows that were measured on the simulated machine."""
    stated = [path.stem for path in platforms_dir().glob("*.yaml") if "\nflow_costs:" in path.read_text()]
    costs = {name: platform(name).flow_costs for name in stated}
    return sorted(name for name, one in costs.items() if one is not None and one.from_machine)


_runs: dict[str, Measured] = {}  # by platform: each is measured once


def measured_on(name: str, directories: pytest.TempPathFactory) -> Measured:
    if name not in _runs:
        _runs[name] = measured_in(EXAMPLE, name, directories.mktemp("self-test"))
    return _runs[name]


def measured_in(file: Path, name: str, directory: Path) -> Measured:
    options = ("--on", "machine", "--no-page", "--directory", directory, "--set", f"platform={name}")
    code, result = run_json("run", file, *options)
    assert code == 0, result["reasons"]
    test, problems = read_log(directory / "console.log")
    assert isinstance(test, SelfTest), problems
    return Measured(platform(name), test)


@pytest.fixture(scope="module", params=PLATFORMS)
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured_on(request.param, tmp_path_factory)


def machine(jobs: dict[str, Job]) -> dict[str, PointAnswer]:
    built_machine()
    return dict(zip(jobs, run_jobs(list(jobs.items()), None, engine_of(1, None), "self-test"), strict=True))


def test_it_finds_the_figures_of_the_platform_file(measured: Measured) -> None:
    found = measured.figures()
    for key in ("cores.count", "timers.frequency", "caches.l1d.size", "caches.l2.size"):
        assert found[key].ratio == 1, found[key]
    assert found["cores.frequency"].ratio == pytest.approx(1, abs=0.001)
    assert found["caches.l2.latency"].ratio == pytest.approx(1, abs=0.05)
    pipeline = measured.platform.cores.pipeline
    assert pipeline is not None
    assert found["cores.pipeline.load_use"].value == str(pipeline.load_use)
    for event in ("traffic_event", "writeback_event"):
        assert found[f"pmu.{event}.bytes"].ratio == pytest.approx(1, abs=0.05)
    for key, tolerance in (("flow_costs.hypervisor_call", 0.2), ("dram.guaranteed", 0.05)):
        ratio = found[key].ratio  # None: the file does not state it
        assert ratio is None or ratio == pytest.approx(1, abs=tolerance), found[key]


def test_a_third_level_is_measured_apart_from_the_second(tmp_path_factory: pytest.TempPathFactory) -> None:
    """mpam4 has a private L2 and a shared L3 of twice its size."""
    measured = measured_on("mpam4", tmp_path_factory)
    found = measured.figures()
    for key in ("caches.l1d.size", "caches.l2.size", "caches.l3.size"):
        assert found[key].ratio == 1, found[key]
    assert found["pmu.traffic_event.bytes"].ratio == pytest.approx(1, abs=0.05), "L3D_CACHE_REFILL"
    assert found["caches.l2.latency"].ratio == pytest.approx(1, abs=0.1)
    # Only half of a block of the L3's size is in the L3 alone, and code and EL2 need a part of it.
    assert found["caches.l3.latency"].ratio == pytest.approx(1, abs=0.2)
    rates = {one.what: one.measured for one in figures_of(measured.test, measured.platform)}
    second, third, memory = (
        rates[f"one core: lines from {level}"] for level in ("the second level", "the third level", "memory")
    )
    assert second is not None and third is not None and memory is not None
    assert second > 0.95 * third  # prefetches hide most of the third level's latency
    assert third > memory
    assert memory == pytest.approx(measured.test.rate("sequential reads", 1), rel=0.05)


def not_on_the_console_core(system: dict[str, Any]) -> dict[str, Any]:
    """The system with the program in real time on three cores and a short program on the fourth. That core
    has the console, whose interrupts at EL2 lengthen a call that they meet by their own time."""
    (measuring,) = system["domains"]
    other = {
        "name": "other",
        "cpus": measuring["cpus"][-1:],
        "image": {"elf": "guests/hello.elf"},
        "memory": [{"at": 0x40000000, "size": "4 MiB"}],
    }
    measuring |= {"criticality": "rt", "cpus": measuring["cpus"][:-1]}
    expected = system["expect"] | {"other": {"state": "stopped"}}
    return system | {"domains": [measuring, other], "expect": expected}


@pytest.mark.parametrize("board", simulated_with_flow_costs())
def test_f5_no_call_takes_longer_than_the_costs_of_flows_say(board: str, tmp_path: Path) -> None:
    """The program calls beside writers, as no run of `bench flows` does: if that run misses a case that takes
    longer, the admission of flows rests on a cost that a system can exceed."""
    file = tmp_path / "self-test.yaml"
    file.write_text(yaml.safe_dump(not_on_the_console_core(yaml.safe_load(EXAMPLE.read_text()))))
    found = measured_in(file, board, tmp_path / "run")
    costs, call = found.platform.flow_costs, found.test.paths.hypervisor_call
    assert costs is not None
    assert call.max <= costs.hypervisor_call.max
    assert call.max > 1.5 * call.median, "no call met the writers"


def test_f5_the_boards_of_the_simulated_machine_have_costs_of_flows() -> None:
    assert simulated_with_flow_costs() == ["mpam4", "qemu-virt", "zcu102"]


def test_latencies_are_those_of_the_machine(measured: Measured) -> None:
    """The points of `validate`. Not those of L2's own size, which code and EL2 need a part of."""
    about = MeasuredBoard(program="self-test", source="-", kernel="-", cpu="-", table_levels=3)
    board = Board(validation=1, board=measured.platform.name, role="validation", measured=about)
    last = measured.platform.llc
    assert last is not None
    sizes = [one for one in measured.test.latency if one.size < last.size / 2 or one.size > last.size]
    points = [ValidationPoint(board, "single", "huge", one.size, one.single, "ns") for one in sizes]
    jobs = {f"{point.size}": point.job for point in points}
    base = points[0].base
    assert base is not None
    answers = machine(jobs | {"base": base})
    for point in points:
        expected = point.value(answers[f"{point.size}"], answers["base"])
        assert point.published == pytest.approx(expected, rel=LATENCY_TOLERANCE, abs=0.5), point.key
    assert sum(one.size > last.size for one in sizes) >= 3, "memory is not measured"


@pytest.mark.parametrize("kind", ["read", "bcopy"])
def test_rates_of_one_core_are_those_of_the_machine(measured: Measured, kind: PointKind) -> None:
    about = MeasuredBoard(program="self-test", source="-", kernel="-", cpu="-", table_levels=3)
    board = Board(validation=1, board=measured.platform.name, role="validation", measured=about)
    found = next(one for one in measured.test.rates if one.kind == kind)
    point = ValidationPoint(board, kind, "huge", 4096 * KIB, found.mb_s, "MB/s")
    expected = point.value(machine({"rate": point.job})["rate"], None)
    assert found.mb_s == pytest.approx(expected, rel=RATE_TOLERANCE)


def mb_per_s(answer: PointAnswer) -> float:
    dram = answer["dram"]
    return (dram["read_bytes"] + dram["written_bytes"]) / MB * 10**12 / answer["simulated_ps"]


# A core's patterns that do not depend on how many instructions the program needs for an address; on all cores
# those that a platform's guarantee is made of.
PATTERN_CASES: tuple[tuple[PatternName, int], ...] = (
    ("sequential reads", 1),
    ("sequential writes", 1),
    ("random writes", 1),
    ("same-bank writes", 1),
    ("same-bank writes", 4),
    ("same-bank updates", 4),
)


def test_rates_are_those_that_limits_measures(measured: Measured) -> None:
    jobs: dict[str, Job] = {}
    for pattern, cores in PATTERN_CASES:
        # As many instructions as the program's loops have for an access.
        part = {
            **PATTERNS[pattern],
            "instructions": 2 if "updates" in pattern else 1,
            "memory_bytes": 4096 * KIB,
        }
        jobs[f"{pattern} {cores}"] = job_beside(measured.platform, part, 0, part, range(1, cores))
    answers = machine(jobs)
    for pattern, cores in PATTERN_CASES:
        expected = mb_per_s(answers[f"{pattern} {cores}"])
        found = measured.test.rate(pattern, cores)
        tolerance = RATE_TOLERANCE if cores == 1 else SATURATED_TOLERANCE
        assert found == pytest.approx(expected, rel=tolerance), (pattern, cores)


def test_a_board_without_monitors_other_cores_and_known_rows_is_measured(tmp_path: Path) -> None:
    changes = (
        "cpus=[0]",
        "pmu=false",
        "params={ largest_kib: 256, core_kib: 256, draws: 2000, window_us: 100 }",
    )
    settings = [f"--set=domains.self-test.{one}" for one in changes]
    code, result = run_json(
        "run", EXAMPLE, "--on", "machine", "--no-page", "--directory", tmp_path, *settings
    )
    assert code == 0, result["reasons"]
    code, read = run_json("self-test", "qemu-virt", tmp_path / "console.log")
    assert code == 0, read["reasons"]
    found = {one["key"]: one for one in read["figures"]}
    assert found["caches.l1d.size"]["ratio"] == 1
    for key in ("cores.frequency", "dram.guaranteed", "pmu.traffic_event.bytes", "caches.l2.size"):
        assert found[key]["measured"] is None, key
    assert "dram.delays" not in found


def test_parameters_that_do_not_fit_end_the_program(tmp_path: Path) -> None:
    options = ("--on", "machine", "--no-page", "--directory", tmp_path)
    code, _ = run_json("run", EXAMPLE, *options, "--set=domains.self-test.params.core_kib=65536")
    assert code == 1
    assert "too little memory" in (tmp_path / "console.log").read_text()
    assert run_json("self-test", "qemu-virt", tmp_path / "console.log")[0] == 1


def test_a_platform_file_with_wrong_figures_is_noticed(measured: Measured) -> None:
    """A run that finds nothing else than what the file says would prove nothing."""
    wrong = measured.platform.model_copy(
        update={"cores": measured.platform.cores.model_copy(update={"frequency": 10**9 * 2})}
    )
    found = {one.key: one for one in figures_of(measured.test, wrong)}
    assert found["cores.frequency"].ratio != pytest.approx(1, abs=0.1)
