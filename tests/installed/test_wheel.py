# SPDX-License-Identifier: Apache-2.0
"""The installed wheel alone: commands work from any directory, without a checkout and without a compiler.

It is built as by `pip wheel .`, but from the parts in build/host, so that nothing is compiled twice. The
environment has the dependencies of the one that runs the tests: nothing is downloaded.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bulkhead.config.locate import parts_dir
from bulkhead.env.commit import commit
from bulkhead.env.compiled import CORE_TARGETS
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import (
    build_dir,
    examples_dir,
    experiments_dir,
    host_dir,
    locked,
    platforms_dir,
    repository,
    validation_dir,
)
from tests.json_results import parsed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PARTS = [
    *CORE_TARGETS,
    "bulkhead_python",
    "workload_machine",
    "workload",
    "hosted_run",
    "machine_bench",
    "trace_info",
]
EXIT_NO, EXIT_ENVIRONMENT = 1, 3
SYSTEM = """
bulkhead: 1
name: own
platform: zcu102
domains:
  - { name: hello, cpus: [0], image: { elf: guests/hello.elf }, memory: [{ at: 0x40000000, size: 8 MiB }] }
expect: { hello: stopped }
"""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, and the current directory of its user."""

    program: Path
    directory: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs with an empty PATH: no compiler, no emulator, no git."""
        return subprocess.run(
            [self.program, *arguments],
            cwd=self.directory,
            env={
                "PATH": str(self.program.parent),
                "HOME": str(self.directory / "nowhere"),
                "LC_ALL": "C.UTF-8",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = parsed(done.stdout)
        return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ensure_built(["host"], ["bulkhead_flows"])  # the tree is configured; the wheel's build requests the rest
    out = tmp_path_factory.mktemp("wheel")
    place = build_dir() / "wheel-test"
    settings = [f"cmake.define.BULKHEAD_HOST_BUILD={host_dir()}", f"build-dir={place}"]
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
        "-w",
        out,
    ]
    for setting in settings:
        command += ["-C", setting]
    with locked(build_dir() / ".host.lock"):  # as ensure_built
        done = subprocess.run([*command, repository()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def tool(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    root = tmp_path_factory.mktemp("environment")
    venv.create(root, symlinks=True)
    python = root / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (packages,) = (root / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    directory = root / "here"
    directory.mkdir()
    (directory / "own.yaml").write_text(SYSTEM)
    return Installed(root / "bin" / "bulkhead", directory)


def test_it_is_the_package_of_this_commit(tool: Installed) -> None:
    shown = tool.run("--version").stdout
    project = tomllib.loads((repository() / "pyproject.toml").read_text())["project"]
    assert shown == f"bulkhead {project['version']} ({commit()})\n"


def test_what_the_wheel_is_made_of(wheel: Path) -> None:
    """It contains every platform, experiment and example; and nothing that only a checkout uses."""
    names = zipfile.ZipFile(wheel).namelist()
    data = (platforms_dir(), parts_dir(), experiments_dir(), validation_dir(), examples_dir())
    for directory in (*data, examples_dir() / "bad"):
        place = directory.relative_to(repository())
        expected = {f"bulkhead/data/{place}/{file.name}" for file in directory.glob("*.yaml")}
        assert expected
        assert expected <= set(names), place
    assert {name.split("/")[0] for name in names} == {"bulkhead", names[-1].split("/")[0]}
    assert not [name for name in names if name.endswith((".c", ".cpp", ".h", ".o", ".a"))]


def test_every_example_is_checked(tool: Installed) -> None:
    shipped = [f"examples/{file.name}" for file in sorted(examples_dir().glob("*.yaml"))]
    checked = tool.json("check", *shipped)
    assert [one["verdict"] for one in checked["files"]] == ["ok"] * len(shipped)
    bad = [f"examples/bad/{file.name}" for file in sorted((examples_dir() / "bad").glob("*.yaml"))]
    refused = tool.run("check", "--json", *bad)
    assert refused.returncode == EXIT_NO
    accepted = [one for one in parsed(refused.stdout)["files"] if one["verdict"] != "error"]
    assert len(accepted) < len(bad) / 4
    for one in accepted:  # what is wrong with it is a program, and the package has none for the board
        assert "is not built" in " ".join(one["unchecked"]), one["file"]


def test_a_system_of_ones_own_is_checked_and_planned(tool: Installed) -> None:
    assert tool.json("check", "own.yaml")["files"][0]["platform"] == "zcu102"
    done = tool.run("plan", "own.yaml", "-o", "planned.yaml")
    assert done.returncode == 0, done.stderr
    assert tool.json("check", "planned.yaml")["verdict"] == "ok"


def test_flows_platforms_and_schema(tool: Installed) -> None:
    assert tool.json("flows", "check", "examples/flows.yaml")["schedulable"]
    names = [one["name"] for one in tool.json("platforms")["platforms"]]
    assert names == sorted(file.stem for file in platforms_dir().glob("*.yaml"))
    assert "parameters" in tool.json("platforms", "zcu102")["platforms"][0]
    assert json.loads(tool.run("schema").stdout)["title"]


def test_an_experiment_runs_and_its_files_are_in_build(tool: Installed) -> None:
    assert "coloring" in tool.run("experiment").stdout
    result = tool.json("experiment", "coloring", "--set", "n_kib=8", "--only", "alone", "--jobs", "1")
    assert [row["n_kib"] for row in result["rows"]] == [8, 8]
    assert (tool.directory / "build/run/experiments/coloring").is_dir()


def test_workloads_run_on_the_machine(tool: Installed) -> None:
    """The image with all workloads is part of the package."""
    assert tool.run("workloads", "list").stdout.startswith("bandwidth")
    small = [
        "workload=bandwidth",
        "policy=dynamic",
        "budget=20 GB/s",
        "interval=1 ms",
        "size_kib=64",
        "iterations=1",
        "leave_out=0",
    ]
    settings = [word for setting in small for word in ("--set", setting)]
    (row,) = tool.json("experiment", "regulation-overhead", "--jobs", "1", *settings)["rows"]
    assert row["rt_slowdown"] >= 1


def test_a_system_runs_on_the_machine(tool: Installed) -> None:
    result = tool.json("run", "own.yaml", "--on", "machine", "--for", "2ms")
    assert result["verdict"] == "ok"
    assert result["domains"][0]["state"] == "stopped"
    assert {path.name for path in tool.directory.iterdir()} <= {"own.yaml", "planned.yaml", "build"}


@pytest.mark.parametrize("command", ["run own.yaml --set platform=qemu-virt", "size", "experiment recorded"])
def test_what_needs_a_checkout_says_so_in_a_sentence(tool: Installed, command: str) -> None:
    done = tool.run(*command.split())
    assert done.returncode == EXIT_ENVIRONMENT, done.stdout + done.stderr
    said = [line for line in done.stderr.splitlines() if not line.startswith("notice:")]
    assert len(said) == 1, said
    assert re.search("needs a checkout of Bulkhead", said[0])
