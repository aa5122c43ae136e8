# SPDX-License-Identifier: Apache-2.0
"""M2, M3, M7, T5: a guest that tries to get partitions of others, on the machine that has MPAM. It writes
every kind of label and accesses the registers of components. The effect is seen in the machine's owners of
lines, which are independent of labels, and in the registers of the components at the end. Hypervisors without
the traps, without the map of virtual PARTIDs and with a component in the guest's address space show the
effect of each protection."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from bulkhead.admission.load import load_system
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.evidence.mpam import check_mpam
from bulkhead.evidence.portions import PortionWitness, check_portions
from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.package.build import Build, BuildOptions, build_system
from bulkhead.run.partitions import mpam_promise, portion_promise
from bulkhead.run.status import SystemStatus, read_status
from bulkhead.run.status_mpam import MpamStatus, read_mpam

from .systems import MS, built_from, domain, said

pytestmark = [pytest.mark.usefixtures("hosted_built"), pytest.mark.req("T5")]

ROOT = Path(__file__).parents[2]
LLC = "l3"
FOR_MS = 40
CONTROL, HOSTILE = 2, 3  # owner ids: nobody, the hypervisor, domains
CONTROL_PARTID, FIRST_OF_HOSTILE = 3, 4
ATTACKED = 1  # the core that both are on
LABELS = 320  # in a sweep of the program
ACCESSES = 32  # a load and a store in each 4 KiB of the component's registers
COMPONENT = 0x2C000000
VIRTUAL: dict[str, Any] = {"virtual_partids": 3}
Hypervisor = Callable[[str], Path]


@pytest.fixture(scope="module")
def hypervisor(tmp_path_factory: pytest.TempPathFactory) -> Hypervisor:
    """Directory with the hypervisor of el2_NAME.c, and the guests, for the builder."""

    def of(name: str) -> Path:
        ensure_built(["host"], [f"hosted_hypervisor_{name.replace('-', '_')}"])
        directory = tmp_path_factory.mktemp(name)
        (directory / "hypervisor").symlink_to(build_dir() / "host" / f"hosted-{name}" / "hypervisor")
        (directory / "guests").symlink_to(build_dir() / "host" / "hosted" / "guests")
        return directory

    return of


@dataclass(frozen=True)
class Attempt:
    """A run of the task beside the guest, and its results."""

    build: Build
    run: HostedRun
    portions: PortionWitness
    status: SystemStatus
    mpam: MpamStatus

    @property
    def taken(self) -> int:
        """Lines of the task that were evicted from the last level by lines of the guest."""
        return int(self.run.answer["levels"][LLC]["evictions"][CONTROL][HOSTILE])

    @property
    def registers_hold(self) -> bool:
        promise = mpam_promise(self.build.plan)
        assert promise is not None and self.mpam.dump is not None
        return check_mpam(promise, self.mpam.dump, self.mpam.dump_left_out).ok

    def moved(self, partid: int) -> int:
        """Bytes to and from memory under a PARTID."""
        (one,) = (it for it in self.mpam.monitors if it.kind == "bandwidth" and it.partid == partid)
        return one.bytes

    def report(self, name: str) -> dict[str, Any]:
        """The last complete report."""
        found = re.findall(r"^report (\{.*\})$", said(self.run.console, name), re.MULTILINE)
        assert found, self.run.console
        last: dict[str, Any] = json.loads(found[-1])
        return last


def attempt(system: Path, directory: Path, target_dir: Path | None = None, for_ms: int = FOR_MS) -> Attempt:
    loaded = load_system(system)
    assert loaded.ok, loaded.problems
    options = BuildOptions(hosted=True, run_for_ns=for_ms * MS, target_dir=target_dir)
    build = build_system(loaded, directory / "package", options)
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


def example(directory: Path, target_dir: Path | None = None, **hostile: Any) -> Attempt:
    """The example with other keys of the guest."""
    yaml = YAML()
    system = yaml.load((ROOT / "examples" / "hostile-partitions.yaml").read_text())
    system["domains"][1] |= hostile
    directory.mkdir(parents=True)
    with (directory / "system.yaml").open("w") as stream:
        yaml.dump(system, stream)
    return attempt(directory / "system.yaml", directory, target_dir)


def test_m2_a_guest_without_virtual_partids_can_write_no_label(tmp_path: Path) -> None:
    one = example(tmp_path / "run")
    said_by_guest = one.report("hostile")
    assert said_by_guest == {
        "identity": 0, "features": 0, "labels": LABELS, "undefined": 3 * LABELS + 1, "taken": 0,
    }  # fmt: skip
    nothing_came_of_it(one)
    assert one.moved(FIRST_OF_HOSTILE) > 10 << 20


def test_m2_whatever_a_guest_with_virtual_partids_writes_is_a_partition_of_its_own(tmp_path: Path) -> None:
    one = example(tmp_path / "run", **VIRTUAL)
    said_by_guest = one.report("hostile")
    assert said_by_guest == {
        "identity": 1 << 32 | 2, "features": 1, "labels": LABELS, "undefined": 0, "taken": LABELS,
    }  # fmt: skip
    nothing_came_of_it(one)
    assert all(one.moved(FIRST_OF_HOSTILE + n) > 1 << 20 for n in range(VIRTUAL["virtual_partids"]))


def nothing_came_of_it(one: Attempt) -> None:
    assert one.portions.lines > 100_000
    assert one.portions.findings == []
    assert one.taken == 0
    assert one.registers_hold
    assert one.mpam.errors == {}, "no request has a label that a component refuses"
    working_set = 704 << 10
    assert one.moved(CONTROL_PARTID) < 2 * working_set, "read once, and hardly anything beside"


@pytest.mark.parametrize("keys", [{}, VIRTUAL], ids=["none", "virtual"])
def test_t5_without_the_measure_the_guest_takes_its_neighbours_cache(
    tmp_path: Path, hypervisor: Hypervisor, keys: dict[str, Any]
) -> None:
    """The witness of lines reports it; the components' registers are as planned."""
    one = example(tmp_path / "run", hypervisor("open-partitions"), **keys)
    assert one.report("hostile")["taken"] == LABELS
    assert one.portions.as_json()["verdict"] == "broken"
    assert any(finding.owners == ("control",) for finding in one.portions.findings)
    assert one.taken > 10_000
    assert one.moved(CONTROL_PARTID) > 10 << 20, "under the task's PARTID"
    assert one.registers_hold


QUIET: dict[str, Any] = {"params": {"after_us": 1_000_000}}


@pytest.mark.req("T7")
def test_t7_what_the_measure_is_worth_is_as_documented(tmp_path: Path, hypervisor: Hypervisor) -> None:
    found = {
        "no attack": example(tmp_path / "quiet", **QUIET),
        "as it is": example(tmp_path / "closed"),
        "the accesses do not trap": example(tmp_path / "open", hypervisor("open-partitions")),
    }
    text = (ROOT / "docs" / "design" / "time.md").read_text()
    for what, one in found.items():
        job = one.report("control")["work_ns"]
        measured = (one.taken, job["mean"] / 1000, job["max"] / 1000)
        row = re.search(rf"^\| {what} \|.* \| ([\d,]+) \| ([\d.]+) us, ([\d.]+) us \|$", text, re.MULTILINE)
        assert row is not None, (what, measured)
        documented = (float(row[1].replace(",", "")), float(row[2]), float(row[3]))
        assert documented == pytest.approx(measured, rel=0.1), what
    harmless, harmed = (found[what].report("control")["work_ns"] for what in ("as it is", list(found)[-1]))
    assert harmed["mean"] > 1.25 * harmless["mean"]


@pytest.mark.req("T7")
def test_t7_accesses_that_trap_in_a_loop_delay_no_release_beyond_the_bound(tmp_path: Path) -> None:
    """EL2's part is taken from its own measurement, and the task's part from the task."""
    stormed, quiet = example(tmp_path / "storm"), example(tmp_path / "quiet", **QUIET)
    assert stormed.status.cores[ATTACKED].exits["other_register"] > 10_000
    assert "other_register" not in quiet.status.cores[ATTACKED].exits
    bound = stormed.build.plan.platform.release_delay
    assert bound is not None
    shared = stormed.status.cores[ATTACKED].shared
    assert all(0 < vcpu.release_max_ns <= bound.bound for vcpu in shared if vcpu.releases)
    delays = [one.report("control")["jitter_ns"] for one in (stormed, quiet)]
    assert delays[0]["max"] - delays[1]["max"] < bound.bound / 5
    assert stormed.report("control")["missed"] == 0


def beside_component(directory: Path, target_dir: Path | None = None) -> Attempt:
    """A guest that is started again after each access."""
    control = domain("control", "periodic", [0], criticality="rt", llc={"share": "75 %"})
    control["params"] = {"period_us": 800, "working_set_kib": 704, "report_every": 2}
    hostile = domain("hostile", "labels", [2, 3], llc={"share": "12.5 %"}, restart="on-failure")
    hostile["params"] = {"page": COMPONENT, "accesses": ACCESSES}
    hostile["memory"] = [{"at": 0x4000_0000, "size": "2 MiB"}]
    isolation = {"llc": "mpam", "banks": "none", "premap": "all"}
    built_from(directory, control, hostile, platform="mpam4", isolation=isolation)
    return attempt(directory / "system.yaml", directory / "run", target_dir, for_ms=75)


def test_m7_each_access_to_a_components_registers_ends_the_guest(tmp_path: Path) -> None:
    one = beside_component(tmp_path)
    assert one.status.domains[1].restarts == ACCESSES + 1
    assert "has ended nothing" not in one.run.console
    assert f"{ACCESSES + 1} accesses to the component's registers" in said(one.run.console, "hostile")
    assert one.registers_hold and one.mpam.errors == {}
    assert one.portions.lines > 1000 and one.portions.findings == []


def test_m7_a_guest_that_has_a_components_registers_is_found(tmp_path: Path, hypervisor: Hypervisor) -> None:
    one = beside_component(tmp_path, hypervisor("given-component"))
    assert one.status.domains[1].restarts == 0
    assert not one.registers_hold
    assert any(finding.owners == ("control",) for finding in one.portions.findings)
    assert one.taken > 10_000
    assert one.mpam.errors != {}
