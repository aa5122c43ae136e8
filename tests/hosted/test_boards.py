# SPDX-License-Identifier: Apache-2.0
"""Boards other than that of test_hosted.py: a GICv2 with its virtual interface in memory, a Cadence UART, a
DMA engine; and typed input, which reaches a domain on each of them (S1, S2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.load import load_system
from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.package.build import Build, BuildOptions, build_system
from bulkhead.run.console import ConsoleLog, ConsoleParser

pytestmark = pytest.mark.usefixtures("hosted_built")

MS_PS = 10**9
BOARDS = ("zcu102", "qemu-virt-gicv2", "qemu-virt")
RAM = 0x4000_0000
ESCAPE = "\x1d"


def domain(name: str, program: str, cpus: list[int], **keys: Any) -> dict[str, Any]:
    memory = [{"at": RAM, "size": "4 MiB"}]
    return {"name": name, "cpus": cpus, "image": {"elf": f"guests/{program}.elf"}, "memory": memory, **keys}


def built_for(board: str, directory: Path, *domains: dict[str, Any], for_ns: int = 0, **keys: Any) -> Build:
    system = {"bulkhead": 1, "name": "system", "platform": board, "domains": list(domains)}
    system |= {"isolation": {"llc": "none"}, **keys}
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(system, sort_keys=False))
    loaded = load_system(path)
    assert loaded.ok, loaded.problems
    return build_system(loaded, directory / "package", BuildOptions(hosted=True, run_for_ns=for_ns))


def heard(run: HostedRun, *names: str) -> dict[str, ConsoleLog]:
    parser = ConsoleParser(names)
    parser.feed(run.console.encode("latin-1"))
    parser.finish()
    return parser.domains


def report_of(run: HostedRun, name: str) -> dict[str, Any]:
    assert run.answer["ending"] == "off", run.answer["trouble"]
    report = heard(run, name)[name].report
    assert report is not None, run.console
    return report


@pytest.fixture(scope="module", params=BOARDS)
def beside(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HostedRun:
    """A task that reports every ten releases beside a hog on two cores."""
    params = {"period_us": 1000, "working_set_kib": 64, "report_every": 10}
    task = domain("control", "periodic", [0], criticality="rt", params=params)
    hog = domain("hog", "hog", [2, 3], params={"rest_us": 100})
    directory = tmp_path_factory.mktemp(request.param)
    return run_hosted(built_for(request.param, directory, task, hog, for_ns=45_000_000))


def test_timers_and_interrupts_between_cores_arrive_on_every_board(beside: HostedRun) -> None:
    report = report_of(beside, "control")
    assert report["releases"] >= 20
    assert report["missed"] == 0
    assert "[hog " in beside.console


@pytest.mark.parametrize("board", BOARDS)
def test_what_is_typed_reaches_the_domain_that_has_the_focus(board: str, tmp_path: Path) -> None:
    """Input goes to the second domain after the escape; an empty line ends each domain."""
    build = built_for(
        board,
        tmp_path,
        domain("one", "echo", [0]),
        domain("two", "echo", [1]),
        hypervisor={"console": {"default": "one"}},
    )
    typed = [(5 * MS_PS, "first\r"), (6 * MS_PS, f"{ESCAPE}1second\r\r"), (8 * MS_PS, f"{ESCAPE}0\r")]
    run = run_hosted(build, typed=typed, until_ps=30 * MS_PS)
    assert run.answer["ending"] == "off", (run.answer["trouble"], run.console)
    said = heard(run, "one", "two")
    assert list(said["one"].lines) == ["bulkhead: ready", "echo: first"]
    assert list(said["two"].lines) == ["bulkhead: ready", "echo: second"]
    assert list(said["bulkhead"].lines)[1:] == [
        "input goes to two",
        "two: powered off",
        "input goes to one",
        "one: powered off",
    ]


def test_a_domain_copies_by_dma_and_is_interrupted_at_each_end(tmp_path: Path) -> None:
    """F2: the channel's registers and interrupt are those of the ZynqMP; bytes arrive completely."""

    def build(memory_pa: int) -> Build:
        params = {"memory_pa": memory_pa, "bytes": 100_000, "chunk": 8192}
        copier = domain("copier", "copier", [0], devices=["adma"], dma="trusted", params=params)
        return built_for("zcu102", tmp_path, copier, for_ns=40_000_000)

    [memory] = {segment.pa - (segment.ipa - RAM) for segment in build(0).plan.domains[0].segments}
    run = run_hosted(build(memory))
    report = report_of(run, "copier")
    assert (report["bytes"], report["errors"], report["wrong"]) == (100_000, 0, 0)
    assert 100_000 / 4 < report["elapsed_ns"] < 100_000 * 4  # less than 4 GB/s, more than 250 MB/s


@pytest.mark.req("D5")
def test_a_regulator_holds_a_device_to_its_declared_rate(tmp_path: Path) -> None:
    """Reads and writes together, from the domain's first transfer on."""

    def moved_mb_s(directory: Path, **rates: Any) -> float:
        def build(memory_pa: int) -> Build:
            params = {"memory_pa": memory_pa, "bytes": 1 << 20, "chunk": 65536}
            copier = domain("copier", "copier", [0], devices=["adma"], dma="trusted", params=params, **rates)
            return built_for("zcu102", directory, copier, for_ns=40_000_000)

        [memory] = {segment.pa - (segment.ipa - RAM) for segment in build(0).plan.domains[0].segments}
        report = report_of(run_hosted(build(memory)), "copier")
        assert (report["bytes"], report["errors"], report["wrong"]) == (1 << 20, 0, 0)
        return float(2 * report["bytes"] / report["elapsed_ns"] * 1e3)

    assert moved_mb_s(tmp_path / "free") > 3000
    held = moved_mb_s(tmp_path / "held", device_rates={"adma": "320 MB/s"})
    assert 0.95 * 312.5 < held <= 312.5, "registers of 10 units of 15.625 MB/s"


def test_dma_past_the_end_of_memory_ends_with_an_error(tmp_path: Path) -> None:
    params = {"memory_pa": 0x8000_0000, "bytes": 8192, "chunk": 8192}
    copier = domain("copier", "copier", [0], devices=["adma"], dma="trusted", params=params)
    run = run_hosted(built_for("zcu102", tmp_path, copier, for_ns=20_000_000))
    report = report_of(run, "copier")
    assert (report["errors"], report["wrong"]) == (1, 8192)
