# SPDX-License-Identifier: Apache-2.0
"""scripts/setup without root and with missing tools: exit 3, the exact list of missing tools, and the
command."""

import shutil
import subprocess
from pathlib import Path

import pytest

from bulkhead.env.paths import repository

# Programs that the script itself uses; none that it has to report as missing.
BASICS = ("sh", "dirname", "readlink", "cat", "cksum", "mkdir", "tail", "env")


def program(directory: Path, name: str, body: str) -> None:
    file = directory / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A PATH of a user who is not root, on a machine with few installed programs."""
    for name in BASICS:
        real = shutil.which(name)
        assert real
        (tmp_path / name).symlink_to(real)
    program(tmp_path, "id", "echo 1000")
    program(tmp_path, "python3", "exit 0")
    for name in ("gcc", "g++", "cmake", "ninja", "git", "make"):
        program(tmp_path, name, "exit 1")
    return tmp_path


def setup(path: Path, *parts: str) -> subprocess.CompletedProcess[str]:
    command = [str(repository() / "scripts/setup"), *parts]
    return subprocess.run(command, env={"PATH": str(path)}, capture_output=True, text=True, check=False)


def test_missing_packages_are_named_with_the_command(path: Path) -> None:
    program(path, "apt-get", "echo must not be called; exit 99")
    done = setup(path, "packages")
    assert done.returncode == 3
    named = "gcc-aarch64-linux-gnu binutils-aarch64-linux-gnu device-tree-compiler"
    assert f"sudo apt-get install --no-install-recommends {named}" in done.stderr
    for present in ("cmake", "ninja-build", "git "):
        assert present not in done.stderr


def test_a_sudo_that_asks_for_a_password_is_not_used(path: Path) -> None:
    program(path, "apt-get", "echo must not be called; exit 99")
    program(path, "sudo", "exit 1")
    done = setup(path, "lint")
    assert done.returncode == 3
    assert "clang-tidy cppcheck" in done.stderr


def test_another_distribution_is_told_what_is_needed(path: Path) -> None:
    done = setup(path, "packages")
    assert done.returncode == 3
    assert "no apt-get" in done.stderr
    assert "gcc-aarch64-linux-gnu" in done.stderr


def test_nothing_is_said_when_nothing_is_missing(path: Path) -> None:
    for name in ("clang-tidy", "cppcheck", "clang", "llvm-cov", "ccache"):
        program(path, name, "exit 0")
    done = setup(path, "lint")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_unknown_part_is_a_usage_error(path: Path) -> None:
    assert setup(path, "everything").returncode == 2
