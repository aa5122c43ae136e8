# SPDX-License-Identifier: Apache-2.0
"""M2, M3, M7, T5: a guest that tries to get partitions of others, on the machine that has MPAM. It writes
every kind of label and touches the registers of components; what came of it is said by the machine's owners
of lines, which know no labels, and by the registers of the components at the end. Hypervisors without the
traps, without the map of virtual PARTIDs and with a component in the guest's address space show what each
of these keeps away."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.evidence.mpam import check_mpam
from bulkhead.evidence.portions import PortionWitness, check_portions
from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.package.build import Build
from bulkhead.run.partitions import mpam_promise, portion_promise
from bulkhead.run.status import SystemStatus, read_status
from bulkhead.run.status_mpam import MpamStatus, read_mpam

from .systems import MS, built_from, domain, said

pytestmark = [pytest.mark.usefixtures("hosted_built"), pytest.mark.req("T5")]

LLC = "l3"
CONTROL, HOSTILE = 2, 3  # owner ids: nobody, the hypervisor, domains
COMPONENT = 0x2C000000
LABELS = 320  # in a sweep of the program
ACCESSES = 32  # a load and a store in each 4 KiB of the component's registers
Hypervisor = Callable[[str], Path]


@pytest.fixture(scope="module")
def hypervisor(tmp_path_factory: pytest.TempPathFactory) -> Hypervisor:
    """Where the builder finds the hypervisor of el2_NAME.c, and the guests."""

    def of(name: str) -> Path:
        ensure_built(["host"], [f"hosted_hypervisor_{name.replace('-', '_')}"])
        directory = tmp_path_factory.mktemp(name)
        (directory / "hypervisor").symlink_to(build_dir() / "host" / f"hosted-{name}" / "hypervisor")
        (directory / "guests").symlink_to(build_dir() / "host" / "hosted" / "guests")
        return directory

    return of


@dataclass(frozen=True)
class Attempt:
    """A run of a task beside the guest, and what is known of it."""

    build: Build
    run: HostedRun
    portions: PortionWitness
    status: SystemStatus
    mpam: MpamStatus

    @property
    def taken(self) -> int:
        """Lines of the task that went out of the last level for lines of the guest."""
        return int(self.run.answer["levels"][LLC]["evictions"][CONTROL][HOSTILE])

    @property
    def registers_hold(self) -> bool:
        promise = mpam_promise(self.build.plan)
        assert promise is not None and self.mpam.dump is not None
        return check_mpam(promise, self.mpam.dump, self.mpam.dump_left_out).ok

    def report(self, name: str) -> dict[str, Any]:
        found = re.findall(r"^report (\{.*\})$", said(self.run.console, name), re.MULTILINE)
        assert found, self.run.console
        last: dict[str, Any] = json.loads(found[-1])
        return last

    def job_ns(self) -> float:
        return float(self.report("control")["work_ns"]["mean"])


def attempt(
    directory: Path, target_dir: Path | None = None, for_ms: int = 45, **hostile: Any
) -> Attempt:
    params = {"period_us": 800, "working_set_kib": 704, "report_every": 2}
    control = domain(
        "control", "periodic", [0], criticality="rt", params=params, llc={"share": "75 %"}
    )
    memory = [{"at": 0x4000_0000, "size": "3 MiB"}]
    other = domain("hostile", "labels", [2, 3], llc={"share": "12.5 %"}) | {"memory": memory} | hostile
    isolation = {"llc": "mpam", "banks": "none", "premap": "all"}
    build = built_from(
        directory, control, other, platform="mpam4", isolation=isolation, for_ns=for_ms * MS,
        target_dir=target_dir,
    )  # fmt: skip
    run = run_hosted(build, frames=(*build.status_pages, *(int(pa) for pa in build.pool_pages)))
    assert run.answer["ending"] == "off", run.answer["trouble"]
    promise = portion_promise(build.plan)
    assert promise is not None
    owners = ["nobody", "hypervisor", *(one.name for one in build.plan.domains)]
    portions = check_portions(promise, owners, run.answer["levels"][LLC]["placed"])
    status = read_status(build.layout, [run.frames[pa] for pa in build.status_pages])
    assert isinstance(status, SystemStatus), status
    mpam = read_mpam(build.layout, status.mpam_frame, [int(pa) for pa in build.pool_pages], run.frames.get)
    assert isinstance(mpam, MpamStatus), mpam
    return Attempt(build, run, portions, status, mpam)


def crashes(one: Attempt) -> list[str]:
    return re.findall(r"hostile: (?:crashed|restarts).*", one.run.console)


if __name__ == "__main__":
    pass


def test_probe(tmp_path: Path, hypervisor: Hypervisor) -> None:
    for name, keys in (("none", {}), ("virtual", {"virtual_partids": 3})):
        for target in (None, "open-partitions"):
            one = attempt(tmp_path / f"{name}{target}", None if target is None else hypervisor(target), **keys)
            print(name, target, one.report("hostile"), one.taken, one.job_ns(), one.registers_hold, [x.text for x in one.portions.findings], one.mpam.errors)
            print(one.report("control"))


def test_probe2(tmp_path: Path, hypervisor: Hypervisor) -> None:
    for target in (None, "given-component"):
        one = attempt(tmp_path / f"{target}", None if target is None else hypervisor(target), restart="on-failure",
          params={"page": COMPONENT}, memory=[{"at": 0x4000_0000, "size": "2 MiB"}], for_ms=90)
        print(one.run.console[-3000:])
        print(target, one.taken, one.job_ns(), one.registers_hold, [x.text for x in one.portions.findings], one.mpam.errors)
