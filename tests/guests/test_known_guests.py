# SPDX-License-Identifier: Apache-2.0
"""`make guests`: its cases, and the evaluation of a guest's output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bulkhead.admission.load import load_system
from guests import described, firmware, kvm_unit_tests, real_time_kernels
from guests.case import Seen

LIST = """
[selftest-setup]
file = selftest.flat
smp = 2
test_args = 'setup smp=2 mem=256'
groups = selftest

[pmu-cycle-counter]
file = pmu.flat
groups = pmu
test_args = "cycle-counter 0"

[gicv2-ipi]
file = gic.flat
smp = $((($MAX_SMP < 8)?$MAX_SMP:8))
qemu_params = -machine gic-version=2
groups = gic

[micro-bench]
file = micro-bench.flat
smp = 2
groups = nodefault micro-bench

[pci-test]
file = pci-test.flat
groups = pci

[its-trigger]
file = gic.flat
groups = its
"""


@pytest.fixture
def domains(tmp_path: Path) -> dict[str, dict[str, Any]]:
    (tmp_path / "arm").mkdir()
    (tmp_path / "arm" / "unittests.cfg").write_text(LIST)
    for name in ("selftest", "pmu", "gic", "pl031", "micro-bench"):
        (tmp_path / "arm" / f"{name}.flat").write_bytes(b"code" * 4)
    found = {}
    for case in kvm_unit_tests.cases(tmp_path):
        path = tmp_path / "system.yaml"
        path.write_text(yaml.safe_dump(case.system()))
        loaded = load_system(path)
        assert loaded.ok, loaded.problems
        found[case.name] = case.system()
    return found


def test_a_list_of_kvm_unit_tests_becomes_systems_without_what_a_domain_has_not(
    domains: dict[str, dict[str, Any]],
) -> None:
    names = {"selftest-setup", "pmu-cycle-counter", "gicv2-ipi", "its-trigger", "pl031", "micro-bench"}
    assert set(domains) == names
    (its,) = domains["its-trigger"]["domains"]
    assert (domains["its-trigger"]["platform"], its["devices"]) == ("qemu-virt-smmu", ["nvme"])
    assert [d["name"] for d in domains["micro-bench"]["domains"]] == ["guest", "sink"]
    (setup,) = domains["selftest-setup"]["domains"]
    assert setup["cpus"] == [0, 1]
    assert setup["image"]["cmdline"] == "setup smp=2 mem=256"
    (monitors,) = domains["pmu-cycle-counter"]["domains"]
    assert monitors["pmu"] and domains["pmu-cycle-counter"]["run"]["icount"]
    assert domains["gicv2-ipi"]["platform"] == "qemu-virt-gicv2"
    assert len(domains["gicv2-ipi"]["domains"][0]["cpus"]) == 4
    assert domains["pl031"]["domains"][0]["devices"] == ["rtc"]


@pytest.mark.parametrize(
    ("lines", "works", "says"),
    [
        ("PASS: a\nPASS: b\n\nEXIT: STATUS=1", True, "2 passed"),
        ("PASS: a\nSKIP: b\n\nEXIT: STATUS=1", True, "1 passed, 1 skipped"),
        ("SKIP: b\n\nEXIT: STATUS=77", None, "skipped: b"),
        ("hyp_call 1 2\n\nEXIT: STATUS=1", True, ""),
        ("PASS: a\nFAIL: b\n\nEXIT: STATUS=3", False, "1 passed, 1 failed (status 1): b"),
        ("Unhandled exception\n\nEXIT: STATUS=127", False, "0 passed, 0 failed (status 63): "),
        ("PASS: a\n", False, "1 passed, then: domain guest crashed"),
    ],
)
def test_a_program_is_judged_by_its_own_words(lines: str, works: bool | None, says: str) -> None:
    verdict = kvm_unit_tests.judge(Seen({"reasons": ["domain guest crashed"]}, "", lines))
    assert (verdict.works, verdict.says) == (works, says)


def test_a_case_is_judged_by_its_run_where_the_guest_says_nothing_itself() -> None:
    case = next(firmware.cases())
    assert case.judge(Seen({"verdict": "ok"}, "", "")).works
    failed = case.judge(Seen({"verdict": "failed", "reasons": ["no prompt"]}, "", ""))
    assert (failed.works, failed.says) == (False, "no prompt")
    assert case.judge(Seen({}, "an error\n", "")).says == "an error"


def test_a_description_is_a_domain_with_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "nuttx").write_bytes(b"code")
    (tmp_path / "nuttx.guest.yaml").write_text(
        "image: { elf: nuttx }\nexpect: { line: 'nsh>' }\nseconds: 5\nfaults: abort\n"
        "memory: [{ at: 0x40000000, size: 4 MiB }, { at: 0, size: 2 MiB, flash: nuttx }]\n"
    )
    (case,) = described.cases(tmp_path)
    assert (case.suite, case.name, case.seconds) == (tmp_path.name, "nuttx", 5)
    path = tmp_path / "system.yaml"
    path.write_text(yaml.safe_dump(case.system()))
    loaded = load_system(path)
    assert loaded.system is not None, loaded.problems
    (domain,) = loaded.system.domains
    assert (domain.image.elf, domain.faults) == (str(tmp_path / "nuttx"), "abort")
    assert loaded.system.expect["guest"].line == "nsh>"
    assert domain.memory[1].flash == str(tmp_path / "nuttx")


def test_a_kernel_that_is_not_there_is_not_built(tmp_path: Path) -> None:
    (case,) = real_time_kernels.freertos(tmp_path / "none")
    verdict = case.run(tmp_path / "work")
    assert verdict.works is False
    said = Path(verdict.says.removeprefix("is not built: ")).read_text().split()  # cmake breaks lines
    assert "is no checkout of the FreeRTOS kernel" in " ".join(said)
    for system in sorted(real_time_kernels.SOURCES.glob("*/system.yaml")):
        assert load_system(system).ok
