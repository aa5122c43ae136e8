# SPDX-License-Identifier: Apache-2.0
"""M4, M7: the hypervisor's MPAM driver, unchanged, on the simulated components of `mpam4`: what it programs
has its effect, seen by the machine's owners of lines, which know nothing of partitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine.hosted import HostedRun, run_hosted

from .systems import MS, built_from, domain, said

pytestmark = pytest.mark.usefixtures("hosted_built")

LLC = "l3"
CONTROL, HOG = 2, 3  # owner ids: nobody, the hypervisor, domains


def task_beside_hog(directory: Path, llc: str, task: dict[str, Any], hog: dict[str, Any]) -> HostedRun:
    control = domain(
        "control",
        "periodic",
        [0],
        criticality="rt",
        params={"period_us": 1000, "working_set_kib": 768, "report_every": 10},
        **task,
    )
    other = domain("hog", "hog", [2, 3], params={"buffer_kib": 2048}, **hog)
    isolation = {"llc": llc, "banks": "none", "premap": "auto"}
    build = built_from(directory, control, other, platform="mpam4", isolation=isolation, for_ns=30 * MS)
    run = run_hosted(build)
    assert run.answer["ending"] == "off", run.answer["trouble"]
    assert "bulkhead: ready" in said(run.console, "control")
    return run


def taken_by_hog(run: HostedRun) -> int:
    """Lines of the task in the last level that went for lines of the hog. What EL2 brought in of the task's
    memory is in the hypervisor's portions."""
    return int(run.answer["levels"][LLC]["evictions"][CONTROL][HOG])


def test_nobody_takes_a_line_out_of_a_domains_portions(tmp_path: Path) -> None:
    half = {"llc": {"share": "50 %"}}
    quarter = {"llc": {"share": "25 %"}}
    alone = taken_by_hog(task_beside_hog(tmp_path / "mpam", "mpam", half, quarter))
    shared = taken_by_hog(task_beside_hog(tmp_path / "none", "none", {}, {}))
    assert shared > 1000
    assert alone == 0


def test_the_driver_programs_the_components_and_says_so(tmp_path: Path) -> None:
    shares = {"llc": {"share": "25 %"}, "bandwidth": {"min": "20 %", "max": "50 %", "hard": True}}
    run = task_beside_hog(tmp_path, "mpam", shares, {"bandwidth": {"max": "10 %", "hard": True}})
    assert "MPAM 1.1: 1 components" in run.console
    assert "error" not in run.console.lower()
