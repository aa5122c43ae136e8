# SPDX-License-Identifier: Apache-2.0
"""A checkout that was moved or copied with its build directory is built at its new place."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from bulkhead.env import native
from bulkhead.env.paths import repository

PRESETS = """{
  "version": 6,
  "configurePresets": [
    {"name": "host", "generator": "Ninja", "binaryDir": "${sourceDir}/build/host"}
  ]
}
"""
LISTS = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
add_custom_command(
    OUTPUT program
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/program.txt program
    DEPENDS ${PROJECT_SOURCE_DIR}/program.txt)
add_custom_target(all_of_it ALL DEPENDS program)
"""


def copy(old: Path, new: Path) -> None:
    shutil.copytree(old, new, symlinks=True)


def move(old: Path, new: Path) -> None:
    old.rename(new)


RELOCATIONS = pytest.mark.parametrize("relocate", [copy, move], ids=["copied", "moved"])


def write(checkout: Path, text: str) -> None:
    (checkout / "program.txt").write_text(text)


def built(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Files built by the tool of this checkout, in a process that has built nothing yet."""
    monkeypatch.setattr(native, "_built", set())
    monkeypatch.setattr(native, "repository", lambda: checkout)
    monkeypatch.setattr(native, "build_dir", lambda: checkout / "build")
    monkeypatch.setattr(native, "install_tools", lambda *parts: None)
    native.ensure_built(["host"])
    return (checkout / "build/host/program").read_text()


@RELOCATIONS
def test_an_edited_program_is_built_from_the_checkout_that_it_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, relocate: Callable[[Path, Path], None]
) -> None:
    old, new = tmp_path / "old", tmp_path / "new place"
    old.mkdir()
    (old / "CMakeLists.txt").write_text(LISTS)
    (old / "CMakePresets.json").write_text(PRESETS)
    write(old, "first")
    assert built(old, monkeypatch) == "first"
    relocate(old, new)
    write(new, "edited")
    assert built(new, monkeypatch) == "edited"
    assert not old.exists() or (old / "build/host/program").read_text() == "first"


def test_a_tree_of_this_checkout_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout, link = tmp_path / "checkout", tmp_path / "link"
    checkout.mkdir()
    link.symlink_to(checkout)
    (checkout / "CMakeLists.txt").write_text(LISTS)
    (checkout / "CMakePresets.json").write_text(PRESETS)
    write(checkout, "same")
    built(checkout, monkeypatch)
    kept = checkout / "build/host/kept"
    kept.touch()
    built(checkout, monkeypatch)
    built(link, monkeypatch)
    assert kept.exists()


def test_a_process_builds_the_same_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "CMakeLists.txt").write_text(LISTS)
    (tmp_path / "CMakePresets.json").write_text(PRESETS)
    write(tmp_path, "first")
    assert built(tmp_path, monkeypatch) == "first"
    program = tmp_path / "build/host/program"
    program.unlink()
    native.ensure_built(["host"])
    assert not program.exists()
    shutil.rmtree(tmp_path / "build")  # it is built anew if its tree has gone
    native.ensure_built(["host"])
    assert program.read_text() == "first"


def set_up(checkout: Path) -> None:
    subprocess.run([checkout / "scripts/setup", "python"], check=True, capture_output=True)


FAKE_PIP = """import sys
print(sys.prefix)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with scripts/setup, and an environment with scripts as pip writes them."""
    root = tmp_path / "old"
    (root / "scripts").mkdir(parents=True)
    shutil.copy(repository() / "scripts/setup", root / "scripts/setup")
    (root / "constraints.txt").touch()
    (root / "pyproject.toml").write_text(
        "[project]\ndependencies = []\n[project.optional-dependencies]\ndev = []\n"
    )
    environment = root / "build/venv"
    venv.create(environment, with_pip=False, symlinks=True)
    package = next(environment.glob("lib/python*/site-packages")) / "pip"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").touch()
    script(environment, "pip", f"#!{environment}/bin/python\n{FAKE_PIP}")
    long_path = f"#!/bin/sh\n'''exec' \"{environment}/bin/python\" \"$0\" \"$@\"\n' '''\n"
    script(environment, "long", long_path + FAKE_PIP)
    return root


def script(environment: Path, name: str, text: str) -> None:
    (environment / "bin" / name).write_text(text)
    (environment / "bin" / name).chmod(0o755)


def environment_of(checkout: Path, name: str) -> str:
    """The environment that a script of build/venv/bin runs in."""
    file = checkout / "build/venv/bin" / name
    return subprocess.run([file], check=True, capture_output=True, text=True).stdout.strip()


def test_the_python_environment_is_the_one_of_the_checkout(tmp_path: Path, checkout: Path) -> None:
    copied, moved = tmp_path / "copied", tmp_path / "moved to here"
    set_up(checkout)
    copy(checkout, copied)
    set_up(copied)
    move(checkout, moved)
    set_up(moved)
    for place in (copied, moved):
        for name in ("pip", "long"):
            assert environment_of(place, name) == str(place / "build/venv")
        texts = (file.read_bytes() for file in (place / "build/venv/bin").iterdir() if file.is_file())
        assert not any(f"{checkout}/".encode() in text for text in texts)
        assert f"{checkout}/" not in (place / "build/venv/pyvenv.cfg").read_text()


def test_the_tool_sets_up_once_for_each_place(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "scripts").mkdir(parents=True)
    for name in ("bulkhead", "scripts/setup", "pyproject.toml", "constraints.txt"):
        shutil.copy(repository() / name, old / name)
    (old / "build/venv/bin").mkdir(parents=True)
    script(old / "build/venv", "python", '#!/bin/sh\n[ "$2" != bulkhead.start ] || echo the tool runs\n')

    def sets_up(checkout: Path) -> bool:
        done = subprocess.run([checkout / "bulkhead"], capture_output=True, text=True, check=True)
        assert done.stdout == "the tool runs\n"
        return "install Python packages" in done.stderr

    assert [sets_up(old), sets_up(old)] == [True, False]
    copy(old, new)
    assert [sets_up(new), sets_up(new), sets_up(old)] == [True, False, False]
