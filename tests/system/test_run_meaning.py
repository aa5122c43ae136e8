# SPDX-License-Identifier: Apache-2.0
"""Effects of the options of `run` on a real system: time, seed, overrides, and equality of equal runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .harness import MS, Run, S, boot, command, control, domain, make, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    hog = domain("hog", "hog", 1, params={"buffer_kib": 512})
    return write_system(tmp_path_factory.mktemp("meaning"), control(), hog)


def test_for_ends_the_run_at_the_guest_time_asked_for(system: Path, tmp_path: Path) -> None:
    for number, asked_ns in enumerate((30 * MS, 70 * MS)):
        run = boot(system, tmp_path / str(number), icount=True, for_ns=asked_ns)
        assert run.result["ended"] == "shutdown"
        assert run.status is not None
        assert run.status.end_reason == "run_limit"
        assert asked_ns <= run.result["guest_ns"] < asked_ns + MS
        assert run.result["verdict"] == "ok", run.result["reasons"]


def test_for_counts_wall_time_where_the_clock_is_the_hosts(system: Path, tmp_path: Path) -> None:
    run = command(system, tmp_path, "--for", "1s")
    assert run.exit_code == 0
    assert S <= run.result["guest_ns"] < 10 * S, "late by what a busy host adds, never early"


def test_without_for_the_run_ends_when_all_domains_have(tmp_path: Path) -> None:
    both = [domain("first", "hello", 0), domain("second", "hello", 2)]
    expect = {"first": "stopped", "second": "stopped"}
    run = boot(write_system(tmp_path, *both, expect=expect), tmp_path / "run", icount=True)
    assert run.status is not None
    assert run.status.end_reason == "all_domains_ended"
    assert [entry["end"] for entry in run.result["domains"]] == ["system_off", "system_off"]
    assert run.result["verdict"] == "ok", run.result["reasons"]


def take_interrupts_between_cores(run: Run) -> list[int]:
    """Remove the counts of interrupts between cores from a run's result; the hypervisor's, then each VCPU's.

    `exits` of a VCPU counts these interrupts, too, and loses them.
    """
    counts = [run.result["hypervisor"]["exit_reasons"].pop("irq_ipi")]
    for entry in run.result["domains"]:
        (vcpu,) = entry["vcpus"]
        counts.append(entry["exit_reasons"].pop("irq_ipi", 0))
        vcpu["exits"] -= counts[-1]
    return counts


def test_equal_counted_runs_are_equal_to_the_byte(system: Path, tmp_path: Path) -> None:
    first, second = (
        boot(system, tmp_path / name, icount=True, for_ns=60 * MS) for name in ("first", "second")
    )
    assert first.console.count(b"report {") >= 2
    assert first.console == second.console
    # The host decides which of the emulator's two threads ends an idle time, and so whose turn is first then:
    # whether two requests to a core meet in one interrupt (docs/guide/running.md).
    counts = [take_interrupts_between_cores(run) for run in (first, second)]
    of_hypervisor = [count[0] for count in counts]
    assert min(of_hypervisor) > 0.8 * max(of_hypervisor)
    for one, other in zip(*counts, strict=True):
        assert abs(one - other) < 0.2 * max(of_hypervisor)
    assert first.result == second.result


def test_set_changes_what_runs(system: Path, tmp_path: Path) -> None:
    def releases(name: str, **asked: Any) -> tuple[int, int]:
        run = boot(system, tmp_path / name, icount=True, for_ns=60 * MS, **asked)
        report = run.domain("control")["report"]
        return report["period_us"], report["releases"]

    usual_us, usual = releases("usual")
    fast_us, fast = releases("fast", overrides=("domains.control.params.period_us=500",))
    assert (usual_us, fast_us) == (1000, 500)
    assert fast > 1.5 * usual


def test_equal_seeds_give_equal_packages(system: Path, tmp_path: Path) -> None:
    def package(name: str, seed: int) -> str:
        return make(system, tmp_path / name, seed=seed).package_sha256

    assert package("a", 7) == package("b", 7)
    assert package("c", 8) != package("a", 7), "the guests' seeds follow the run's"
