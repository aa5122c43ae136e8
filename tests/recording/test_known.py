# SPDX-License-Identifier: Apache-2.0
"""Recordings by name: their files are complete, a missing trace is made once, and errors are reported by
name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bulkhead.env import store
from bulkhead.env.paths import repository
from bulkhead.recording import known
from bulkhead.recording.known import known_names, known_trace, load_recording, program_in
from bulkhead.recording.record import RecordedProgram, RecordingError, describe, trace_info


def test_every_recording_can_be_read_and_its_script_is_there() -> None:
    assert "sqlite" in known_names()
    for name in known_names():
        for argument in load_recording(name).arguments:
            if argument.startswith(".read "):
                assert (repository() / argument.removeprefix(".read ")).is_file()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own recordings and traces."""
    monkeypatch.setattr(known, "recordings_dir", lambda: tmp_path)
    monkeypatch.setattr(known, "trace_directory", lambda: tmp_path / "traces")
    return tmp_path


def recording(directory: Path, *arguments: str, program: str = "sqlite3") -> None:
    lines = ["recording: 1", "package: sqlite3", f"program: {program}", f"arguments: {list(arguments)}"]
    (directory / "short.yaml").write_text("\n".join(lines) + "\n")


def test_a_wrong_file_is_refused_with_line_and_key(own: Path) -> None:
    (own / "short.yaml").write_text("recording: 1\npackage: sqlite3\nprogramm: sqlite3\n")
    with pytest.raises(RecordingError, match=r"short\.yaml:3:1: programm: .*'program'"):
        known_trace("short")


def test_a_trace_says_of_which_version_of_a_package_it_is(tmp_path: Path) -> None:
    package = {"name": "sqlite3", "version": "3.40.1-2", "architecture": "arm64", "sha256": "0"}
    (tmp_path / store.MANIFEST).write_text(json.dumps({"packages": [package]}))
    about = describe(RecordedProgram(tmp_path / "usr/bin/sqlite3", root=tmp_path), "sqlite3")
    assert (about["package"], about["package_version"]) == ("sqlite3", "3.40.1-2")
    assert describe(RecordedProgram(tmp_path / "own"), None)["package_version"] is None


@pytest.mark.emulator
def test_a_trace_is_made_once_and_again_with_the_same_bytes(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment of the caller does not matter."""
    recording(own, ":memory:", "select 1;")
    trace = known_trace("short")
    first = trace.read_bytes()
    description = trace_info(trace)["description"]
    assert isinstance(description, dict)
    assert description["arguments"] == [":memory:", "select 1;"]
    written = trace.stat().st_mtime_ns
    assert known_trace("short").stat().st_mtime_ns == written
    trace.unlink()
    monkeypatch.setenv("SQLITE_HISTORY", "a" * 1000)
    assert known_trace("short").read_bytes() == first


@pytest.mark.emulator
def test_what_cannot_be_recorded_leaves_no_trace(own: Path) -> None:
    recording(own, ":memory:", "no such statement;")
    with pytest.raises(RecordingError, match="ended with 1"):
        known_trace("short")
    recording(own, program="sqlite4")
    with pytest.raises(RecordingError, match="package sqlite3 has no program 'sqlite4'"):
        known_trace("short")
    assert [file for file in (own / "traces").iterdir() if not file.name.startswith(".")] == []
    assert program_in("sqlite3", "sqlite3") is not None
