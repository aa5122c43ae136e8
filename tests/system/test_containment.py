# SPDX-License-Identifier: Apache-2.0
"""A domain that misbehaves ends alone: with a reason and a dump, while its neighbour continues.

The neighbour is a periodic task that measures itself. Time is counted instructions, so each run is the same
every time, and the crash's cost to the task can be bounded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .harness import MS, Run, boot, command, control, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

RUN_NS = 100 * MS
# A crash is dumped by the domain's own core: it should cost the task nothing.
CRASH_COSTS_AT_MOST_NS = 1000
RTC = 0x0901_0000
KINDS: dict[str, tuple[int, dict[str, Any], str]] = {
    "read": (0, {}, "stage2_data_abort"),
    "write": (1, {}, "stage2_data_abort"),
    "jump": (2, {}, "stage2_instruction_abort"),
    "paired-store": (4, {}, "undecodable_access"),
    "read-foreign-device": (0, {"address": RTC}, "stage2_data_abort"),
    "write-foreign-device": (1, {"address": RTC}, "stage2_data_abort"),
    "beside-interrupt-controller": (0, {"address": 0x0801_0000}, "stage2_data_abort"),
}


# ESR_EL1 of a synchronous external abort without a change of the exception level.
ABORT_SYNDROMES = {"instruction": 0x86000010, "read": 0x96000010, "write": 0x96000050}


def system(directory: Path, kind: int, restart: str = "never", faults: str = "end", **params: int) -> Path:
    crash = domain("crash", "crash", 1, params={"kind": kind, **params}, restart=restart, faults=faults)
    task = {**control(), "devices": ["rtc"]}
    return write_system(directory, task, crash)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same system with a neighbour that ends at once, regularly."""
    directory = tmp_path_factory.mktemp("undisturbed")
    path = write_system(directory, {**control(), "devices": ["rtc"]}, domain("crash", "hello", 1))
    run = boot(path, directory / "run", icount=True, for_ns=RUN_NS)
    assert run.domain("control")["state"] == "running"
    assert run.domain("crash")["end"] == "system_off"
    return run


def expect_undisturbed(run: Run, undisturbed: Run) -> None:
    """Expects as many releases of the task as without the crash, and none much later."""
    assert run.domain("control")["state"] == "running"
    with_crash, without = (r.domain("control")["report"] for r in (run, undisturbed))
    assert with_crash["missed"] == without["missed"] == 0
    assert with_crash["releases"] == without["releases"] >= 80
    assert with_crash["jitter_ns"]["max"] <= without["jitter_ns"]["max"] + CRASH_COSTS_AT_MOST_NS


@pytest.mark.parametrize("name", KINDS)
def test_a_crash_ends_its_domain_alone_with_a_dump(name: str, undisturbed: Run, tmp_path: Path) -> None:
    kind, params, end = KINDS[name]
    run = boot(system(tmp_path, kind, **params), tmp_path / "run", icount=True, for_ns=RUN_NS)
    crash = run.domain("crash")
    assert (crash["state"], crash["end"]) == ("crashed", end)
    dump = run.lines()
    assert any(line.startswith("crash: crashed: ") for line in dump), dump
    assert any("pc 0000" in line and crash["fault"]["pc"][2:] in line for line in dump), dump
    assert sum(line.startswith("crash: x") for line in dump) == 8, "all general registers"
    assert "crash: survived" not in run.lines("crash")
    if "address" in params:
        assert int(crash["fault"]["address"], 16) == params["address"]
    expect_undisturbed(run, undisturbed)
    assert run.result["verdict"] == "failed"
    assert run.result["witnesses"]["tables"]["verdict"] == "held"


@pytest.mark.parametrize("name", KINDS)
def test_with_faults_abort_the_guest_hears_of_it(name: str, undisturbed: Run, tmp_path: Path) -> None:
    kind, params, _ = KINDS[name]
    path = system(tmp_path, kind, faults="abort", **params)
    run = boot(path, tmp_path / "run", icount=True, for_ns=RUN_NS)
    crash = run.domain("crash")
    assert (crash["state"], crash["end"]) == ("stopped", "system_off")
    assert crash["exit_reasons"]["stage2_fault"] == 1
    said = run.lines("crash")
    assert "crash: survived" not in said
    syndrome = ABORT_SYNDROMES["instruction" if name == "jump" else "write" if kind in (1, 4) else "read"]
    assert any(f"esr {syndrome:016x}" in line for line in said), said
    if "address" in params:
        assert any(f"far  {params['address']:016x}" in line for line in said), said
    expect_undisturbed(run, undisturbed)


def test_an_undefined_instruction_is_the_guests_own_affair(undisturbed: Run, tmp_path: Path) -> None:
    """It goes to the guest's handler, which dumps and powers off."""
    run = boot(system(tmp_path, 3), tmp_path / "run", icount=True, for_ns=RUN_NS)
    crash = run.domain("crash")
    assert (crash["state"], crash["end"]) == ("stopped", "system_off")
    assert any("undefined instruction" in line for line in run.lines("crash"))
    expect_undisturbed(run, undisturbed)


@pytest.mark.parametrize(
    ("expect", "exit_code"), [({}, 1), ({"crash": "stopped"}, 1), ({"crash": "crashed"}, 0)]
)
def test_an_expected_crash_is_no_failure(expect: dict[str, str], exit_code: int, tmp_path: Path) -> None:
    path = system(tmp_path, 0)
    settings = [f"expect.{name}={state}" for name, state in expect.items()]
    arguments = [argument for setting in settings for argument in ("--set", setting)]
    run = command(path, tmp_path / "run", "--icount", "--for", "20ms", *arguments)
    assert run.exit_code == exit_code
    assert run.result["verdict"] == ("failed" if exit_code else "ok")
    reasons = run.result["reasons"]
    assert [reason for reason in reasons if reason.startswith("domain crash crashed")] == reasons
    assert len(reasons) == exit_code
    assert ("expected stopped" in "".join(reasons)) == (expect.get("crash") == "stopped")


def test_restart_on_failure_starts_it_again_and_again(undisturbed: Run, tmp_path: Path) -> None:
    path = system(tmp_path, 0, restart="on-failure")
    run = boot(path, tmp_path / "run", icount=True, for_ns=RUN_NS)
    assert run.status is not None
    task, crash = run.status.domains
    assert crash.restarts >= 10
    assert task.restarts == 0
    assert sum(line == "bulkhead: ready" for line in run.lines("crash")) >= 10, "each life from its start"
    expect_undisturbed(run, undisturbed)
    assert run.result["witnesses"]["tables"]["verdict"] == "held"
