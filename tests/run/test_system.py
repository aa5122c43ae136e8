# SPDX-License-Identifier: Apache-2.0
"""`run_system` as programs call it: it prints nothing, and returns the reasons if a system cannot be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.admission.load import Loaded, load_system
from bulkhead.env.paths import examples_dir
from bulkhead.run.directory import is_in_use
from bulkhead.run.system import RunRequest, run_quietly, run_system
from bulkhead.run.target import RunOptions
from bulkhead.run.watcher import Watcher

EXAMPLE = examples_dir() / "mixed-criticality.yaml"


class Recorded(Watcher):
    """Records all calls."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.done: list[Path] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def finished(self, directory: Path) -> None:
        self.done.append(directory)


def test_a_system_with_problems_is_not_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loaded = load_system(EXAMPLE, ["domains.control.cpus=[99]"])
    watcher = Recorded()
    ran = run_system(RunRequest(loaded, RunOptions(seed=7), tmp_path / "run"), watcher)
    assert not ran.started
    assert (ran.result["verdict"], ran.result["seed"]) == ("error", 7)
    assert ran.result["reasons"] == [problem.text() for problem in loaded.problems] != []
    assert (watcher.said, watcher.done) == ([], [])
    assert not (tmp_path / "run").exists()
    assert capfd.readouterr() == ("", "")


def test_a_directory_with_a_users_files_is_left_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").write_text("mine")
    watcher = Recorded()
    loaded = load_system(EXAMPLE)
    ran = run_system(RunRequest(loaded, RunOptions(), tmp_path), watcher)
    assert not ran.started
    (reason,) = ran.result["reasons"]
    assert "is neither empty nor the directory of a run" in reason
    assert watcher.said, "the mechanism is said before the start"
    assert watcher.done == []
    assert (tmp_path / "notes").read_text() == "mine"
    assert capfd.readouterr() == ("", "")


def test_a_board_that_nothing_emulates_is_a_reason(tmp_path: Path) -> None:
    loaded = load_system(EXAMPLE, ["platform=imx8mq"])
    assert loaded.platform is not None and loaded.platform.emulator is None
    result = run_quietly(loaded, RunOptions(), tmp_path / "run")
    assert result["verdict"] == "error"
    assert "is not a board of the emulator" in result["reasons"][0]


def test_the_watcher_sees_the_result_while_the_directory_is_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Looking(Recorded):
        def finished(self, directory: Path) -> None:
            super().finished(directory)
            assert is_in_use(directory)
            assert (directory / "report.json").is_file()

    def run(_loaded: Loaded, _options: RunOptions, directory: Path, _watcher: Watcher) -> dict[str, str]:
        (directory / "report.json").write_text("{}")
        return {"verdict": "failed"}

    monkeypatch.setattr("bulkhead.run.system.run_on_emulator", run)
    watcher = Looking()
    ran = run_system(RunRequest(load_system(EXAMPLE), RunOptions(), tmp_path / "run"), watcher)
    assert ran.started and dict(ran.result) == {"verdict": "failed"}
    assert watcher.done == [tmp_path / "run"]
    assert not is_in_use(tmp_path / "run")
