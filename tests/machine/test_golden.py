# SPDX-License-Identifier: Apache-2.0
"""S7: golden digests of every platform. Generators and traces are the same on every host and with every
compiler; programs only with the compiler that the file names, because others make other accesses.

A change of the machine's results updates them, in a commit of its own, after a review of the differences.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.machine.native import TARGET, module_path

from .golden_runs import of_front_ends, of_program, write_mixed_trace

ROOT = Path(__file__).parents[2]
# Two have no memory system that is simulated, the others have that of the Zynq-7020, of qemu-virt and of the
# ZCU102.
EMULATED_ONLY = {"mps2-an500", "rpi4", "xilinx-zynq-a9", "qemu-virt-smmu", "zcu102-smmu"}
NAMES = sorted({path.stem for path in (ROOT / "platforms").glob("*.yaml")} - EMULATED_ONLY)
DIRECTORY = ROOT / "tests" / "golden" / "machine"
WRITE = "BULKHEAD_WRITE_GOLDEN=1 build/venv/bin/pytest tests/machine/test_golden.py"

pytestmark = [pytest.mark.req("S7"), pytest.mark.usefixtures("workloads_built")]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_mixed_trace(tmp_path_factory.mktemp("golden") / "mixed.trace")


def compiler() -> str:
    done = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True)
    return f"gcc {done.stdout.strip()}"


def kept(name: str) -> dict[str, Any]:
    path = DIRECTORY / f"{name}.json"
    assert path.is_file(), f"platform '{name}' has no golden digests: {WRITE} -k '{name}' writes {path}"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def moved(before: Any, now: Any, where: str = "") -> list[str]:
    """Differences, a line each: 'trace.simulated_ps: 1000, was 900'."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = dict.fromkeys([*before, *now])
        return [line for key in keys for line in moved(before.get(key), now.get(key), f"{where}.{key}")]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [line for number, (old, new) in pairs for line in moved(old, new, f"{where}[{number}]")]
    return [] if before == now else [f"{where.removeprefix('.')}: {now}, was {before}"]


def compare(name: str, now: dict[str, Any]) -> None:
    """Compares with the kept results of the same runs; or keeps these."""
    if os.environ.get("BULKHEAD_WRITE_GOLDEN"):
        path = DIRECTORY / f"{name}.json"
        before = json.loads(path.read_text()) if path.is_file() else {}
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(before | now, indent=1, sort_keys=True) + "\n")
    before = kept(name)
    lines = moved({key: before.get(key) for key in now}, now)
    assert not lines, f"'{name}' runs otherwise; if that is meant: {WRITE}\n" + "\n".join(lines)


@pytest.mark.parametrize("name", NAMES)
def test_generators_and_a_trace_run_as_they_did(name: str, trace: Path) -> None:
    compare(name, of_front_ends(name, trace))


@pytest.mark.parametrize("name", NAMES)
def test_a_program_runs_as_it_did(name: str) -> None:
    if not os.environ.get("BULKHEAD_WRITE_GOLDEN"):
        wanted = kept(name).get("compiler")
        assert wanted, f"platform '{name}' has no golden digest of a program: {WRITE} -k '{name}' writes it"
        if wanted != compiler():
            pytest.skip(f"the digests are those of {wanted}; {compiler()} makes other accesses")
    compare(name, {"compiler": compiler(), "program": of_program(name)})


def test_no_digest_is_kept_of_a_platform_that_is_gone() -> None:
    gone = sorted({path.stem for path in DIRECTORY.glob("*.json")} - set(NAMES))
    assert not gone, f"no such platforms: remove {', '.join(gone)} from {DIRECTORY}"


def by(module: Path, trace: Path) -> dict[str, Any]:
    """The same runs with this build of the machine, in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.machine.golden_runs", str(module), str(trace), *NAMES],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)  # it builds the machine
def test_another_compiler_makes_the_same_machine(trace: Path) -> None:
    """Generators and traces on all platforms: the kept results, with which the tests above check gcc's
    machine, hold for clang's."""
    if shutil.which("clang++") is None:
        pytest.skip("there is no clang++: scripts/setup lint installs it")
    ensure_built(["clang"], [TARGET])
    other = build_dir() / "clang" / module_path().relative_to(build_dir() / "host")
    found = by(other, trace)
    lines = moved({name: {run: kept(name).get(run) for run in found[name]} for name in NAMES}, found)
    assert not lines, "gcc and clang make machines that differ\n" + "\n".join(lines)


def test_what_moved_is_said_by_its_name() -> None:
    before = {"trace": {"digest": 1, "simulated_ps": 5}, "generators": [{"digest": 2}]}
    now = {"trace": {"digest": 3, "simulated_ps": 5}, "generators": [{"digest": 2}]}
    assert moved(before, now) == ["trace.digest: 3, was 1"]
    assert moved(before, {"trace": None}) == [
        "trace: None, was {'digest': 1, 'simulated_ps': 5}",
        "generators: None, was [{'digest': 2}]",
    ]
