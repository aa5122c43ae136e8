# SPDX-License-Identifier: Apache-2.0
"""C sources are extracted completely from a source package, or an error says why not."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulkhead.env import aptroot, c_sources, store
from bulkhead.env.errors import MissingTool
from bulkhead.env.lock import LockedPackage

DESCRIPTION = "Format: 3.0 (quilt)\nSource: duktape\nVersion: 2.7.0-2\n"


def archive(file: Path, contents: dict[str, str]) -> None:
    with tarfile.open(file, "w:xz") as opened:
        for name, text in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            opened.addfile(info, io.BytesIO(text.encode()))


class Root:
    """Stands in for a private apt that has downloaded a source package."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def update_lists(self, _update: object) -> None:
        pass

    def download_source(self, package: str, _pins: object, _update: object) -> list[Path]:
        assert package == "duktape"
        return sorted(self.directory.iterdir())


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("BULKHEAD_CACHE", str(tmp_path / "cache"))
    directory = tmp_path / "downloaded"
    directory.mkdir()
    sources = {f"duktape-2.7.0/src/{name}": name for name in c_sources.DUKTAPE.files}
    archive(directory / "duktape_2.7.0.orig.tar.xz", sources)
    archive(directory / "duktape_2.7.0-2.debian.tar.xz", {"debian/copyright": "License: expat\n"})
    (directory / "duktape_2.7.0-2.dsc").write_text(DESCRIPTION)
    monkeypatch.setattr(aptroot, "create", lambda *_arguments, **_options: Root(directory))
    c_sources.duktape_source.cache_clear()
    yield directory
    c_sources.duktape_source.cache_clear()


def test_files_are_copied_and_locked_by_the_authors_archive(mirror: Path, tmp_path: Path) -> None:
    assert c_sources.main(["duktape", str(tmp_path / "out")]) == 0
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == sorted(c_sources.DUKTAPE.files)
    [package] = store.packages_in(c_sources.duktape_source())
    sha256 = store.sha256(mirror / "duktape_2.7.0.orig.tar.xz")
    assert package == LockedPackage("duktape", "2.7.0-2", "source", sha256)
    assert (c_sources.duktape_source() / "usr/share/doc/duktape/copyright").is_file()


def test_a_second_use_needs_no_mirror(mirror: Path, tmp_path: Path) -> None:
    c_sources.duktape_source()
    for file in mirror.iterdir():
        file.unlink()
    c_sources.duktape_source.cache_clear()
    assert c_sources.main(["duktape", str(tmp_path / "out")]) == 0


def test_a_package_without_the_authors_archive_is_refused(
    mirror: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (mirror / "duktape_2.7.0.orig.tar.xz").unlink()
    assert c_sources.main(["duktape", str(tmp_path / "out")]) == 3
    assert "does not contain the authors' archive" in capsys.readouterr().err


def test_what_joins_sqlite_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "unpacked").mkdir()
    with pytest.raises(MissingTool, match="scripts/setup packages"):
        c_sources.SQLITE.make(tmp_path / "unpacked", tmp_path)


def test_a_name_that_is_not_known_is_refused(tmp_path: Path) -> None:
    assert c_sources.main(["lua", str(tmp_path)]) == 2
