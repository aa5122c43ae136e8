# SPDX-License-Identifier: Apache-2.0
"""The unchanged hypervisor and guests on the simulated machine: they boot from an ordinary package, print the
same as on the emulator, and every run is the same (S1, S3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.package.build import Build
from bulkhead.planning.model import Hooks

from .systems import MS, built_from, domain

pytestmark = pytest.mark.usefixtures("hosted_built")

LLC = "l2"
BOOTING_PS = 10**9  # of the first core, which then copies images


def task_beside_hog(directory: Path, **keys: Any) -> Build:
    task = domain(
        "control",
        "periodic",
        [0],
        criticality="rt",
        llc={"colors": [0, 1, 2]},
        params={"period_us": 1000, "working_set_kib": 384, "report_every": 10},
    )
    hog = domain("hog", "hog", [2, 3], llc={"colors": [6]})
    isolation = {"llc": "coloring", "banks": "none", "premap": "auto"}
    pool = {"llc": {"colors": [7]}}
    return built_from(directory, task, hog, isolation=isolation, hypervisor=pool, for_ns=45 * MS, **keys)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory, hosted_built: None) -> tuple[Build, HostedRun]:
    build = task_beside_hog(tmp_path_factory.mktemp("beside"))
    return build, run_hosted(build)


def evicted_by_others(run: HostedRun, owner: int) -> int:
    return int(run.answer["levels"][LLC]["owners"][owner]["evicted_by_others"])


def test_a_guest_boots_and_the_machine_turns_itself_off(tmp_path: Path) -> None:
    run = run_hosted(built_from(tmp_path, domain("hello", "hello", [0])))
    assert run.answer["ending"] == "off", run.answer["trouble"]
    assert "hello: 1 cpus, 3576 KiB of memory to use, psci 1.1" in run.console
    assert "hello: powered off" in run.console
    assert run.answer["started_ps"] is not None


def test_a_periodic_task_meets_its_releases_beside_a_hog_on_two_cores(
    beside: tuple[Build, HostedRun],
) -> None:
    _, run = beside
    assert run.answer["ending"] == "off", run.answer["trouble"]
    assert "[hog " in run.console
    assert '"releases": 20, "period_us": 1000' in run.console
    assert '"missed": 0' in run.console


def test_two_runs_of_the_same_build_are_the_same(beside: tuple[Build, HostedRun]) -> None:
    build, first = beside
    second = run_hosted(build)
    assert first.digest == second.digest
    assert first.answer == second.answer


def test_another_system_has_another_digest(tmp_path: Path) -> None:
    one = run_hosted(built_from(tmp_path / "one", domain("hello", "hello", [0])))
    other = run_hosted(built_from(tmp_path / "other", domain("hello", "hello", [1])))
    assert one.digest != other.digest


def test_colors_keep_the_tasks_lines_from_the_hog(beside: tuple[Build, HostedRun]) -> None:
    """C5: evictions of one domain by another and by the hypervisor are counted by owner of the frame."""
    _, run = beside
    matrix = np.array(run.answer["levels"][LLC]["evictions"])
    control, hog = 2, 3
    assert matrix[control][hog] == 0
    assert matrix[hog][control] == 0
    assert matrix[hog][hog] > 1000  # it has walked through more than its part


def test_a_frame_of_a_wrong_color_is_seen(tmp_path: Path, beside: tuple[Build, HostedRun]) -> None:
    """The same system with one frame of the hog's buffer in a color of the task, whose part is full."""
    _, right = beside
    wrong = run_hosted(task_beside_hog(tmp_path / "wrong", hooks=Hooks(miscolor="hog:600")))
    assert evicted_by_others(wrong, 2) + evicted_by_others(wrong, 3) > (
        evicted_by_others(right, 2) + evicted_by_others(right, 3)
    )


def test_boot_code_with_the_mmu_off_leaves_no_data_in_the_caches(tmp_path: Path) -> None:
    """C5: the copied data and their sources have any color: a line that stayed in L1 would later be evicted
    into a domain's part of the shared level, and replace a line of the domain."""
    build = built_from(tmp_path, domain("hello", "hello", [0]), platform="zcu102")
    run = run_hosted(build, until_ps=BOOTING_PS)
    assert run.answer["started_ps"] is None
    events = run.answer["cores"][0]["events"]
    assert events["l1i_refill"] > 0
    assert events["l1_tlb_refill"] == 0  # the MMU is still off
    assert events["uncached"] > 5000
    assert events["l1d_refill"] == events["l1d_write_back"] == 0


def test_the_statistics_are_where_the_builder_says(tmp_path: Path) -> None:
    """The hypervisor has copied itself to the frames of its own colors."""
    build = built_from(tmp_path, domain("hello", "hello", [0]))
    run = run_hosted(build, frames=build.status_pages)
    page = run.frames[build.status_pages[0]]
    magic = build.layout.unpack("status_system", page)["magic"]
    assert magic == build.layout.constant("status_magic")


def test_a_kernel_is_refused(tmp_path: Path) -> None:
    linux = {"kernel": "linux:debian", "initrd": "busybox", "cmdline": "quiet"}
    from bulkhead.package.errors import PackageError

    with pytest.raises(PackageError, match="runs only programs in C"):
        built_from(tmp_path, domain("linux", "hello", [0]) | {"image": linux})
