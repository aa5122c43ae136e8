# SPDX-License-Identifier: Apache-2.0
"""Directories of runs: two runs at once use different ones, and no user's files are lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from bulkhead.run.directory import NotUsable, run_directory


def test_a_later_run_replaces_an_earlier_one(tmp_path: Path) -> None:
    with run_directory(tmp_path, "system") as place:
        (place / "package").mkdir()
        (place / "package" / "report.json").write_text("{}")
    with run_directory(tmp_path, "system") as place:
        assert place == tmp_path / "system"
        assert [entry.name for entry in place.iterdir()] == [".lock"]


def test_two_runs_at_once_have_directories_of_their_own(tmp_path: Path) -> None:
    with run_directory(tmp_path, "system") as first, run_directory(tmp_path, "system") as second:
        assert (first.name, second.name) == ("system", "system.2")


def test_a_directory_that_is_no_runs_is_left_alone(tmp_path: Path) -> None:
    """`--directory ~` must not empty a home directory."""
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    with pytest.raises(NotUsable, match="is neither empty"), run_directory(tmp_path, "thesis"):
        pass
    assert [entry.name for entry in (tmp_path / "thesis").iterdir()] == ["chapter.tex"]


def test_an_empty_directory_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    with run_directory(tmp_path, "new") as place:
        assert place == tmp_path / "new"


@pytest.mark.parametrize("name", ["file", "link", "file/below", "x" * 300])
def test_what_cannot_be_a_directory_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(NotUsable, match="cannot be the directory"), run_directory(tmp_path, name):
        pass
