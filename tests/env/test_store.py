# SPDX-License-Identifier: Apache-2.0
"""The cache holds complete, undamaged packages or nothing, also with interruptions and concurrent
requests."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from bulkhead.env import store
from bulkhead.env.aptroot import AptFailed
from bulkhead.env.errors import MissingTool
from bulkhead.env.lock import LockedPackage
from bulkhead.env.progress import Update


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BULKHEAD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Fill:
    """Stands in for a download: writes two files, and counts its calls."""

    def __init__(self, version: str = "1:2.0") -> None:
        self.version = version
        self.calls = 0

    def __call__(self, request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
        self.calls += 1
        update(0.5, "half")
        (content / "program").write_text("key")
        (content / "other").write_text("more")
        return [LockedPackage("tool", self.version, "all", "0")]


def key_files(directory: Path) -> Sequence[Path]:
    return [directory / "program"]


def obtain(fill: store.Fill) -> Path:
    return store.obtain(store.Fetch("tool", "tool-package", key_files, fill))


def test_a_package_is_fetched_once_and_named_by_version(cache: Path) -> None:
    fill = Fill()
    assert obtain(fill) == obtain(fill) == cache / "tool-1_2.0"
    assert fill.calls == 1
    assert store.packages_in(cache / "tool-1_2.0")[0].version == "1:2.0"


def test_a_damaged_key_file_is_fetched_again() -> None:
    fill = Fill()
    program = obtain(fill) / "program"
    program.write_text("changed")
    assert obtain(fill) == program.parent
    assert program.read_text() == "key"
    assert fill.calls == 2


def test_every_file_can_be_checked() -> None:
    directory = obtain(Fill())
    assert store.damaged(directory) == []
    (directory / "other").unlink()
    assert store.damaged(directory) == ["other"]


def test_an_interruption_leaves_nothing(cache: Path) -> None:
    def interrupted(request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
        (content / "program").write_text("half of it")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        obtain(interrupted)
    assert [entry.name for entry in cache.iterdir()] == [".tool.lock"]
    assert store.find("tool") is None


def test_a_failed_download_names_the_package_and_the_reason() -> None:
    def offline(request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
        raise AptFailed("E: no route to the mirror")

    with pytest.raises(MissingTool) as caught:
        obtain(offline)
    assert caught.value.package == "tool-package"
    assert "no route to the mirror" in str(caught.value)


def test_of_two_at_once_one_fetches_and_the_other_waits() -> None:
    fill = Fill()
    results: list[Path] = []
    threads = [threading.Thread(target=lambda: results.append(obtain(fill))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    assert fill.calls == 1


def test_the_newest_of_several_versions_is_used(cache: Path) -> None:
    old = obtain(Fill("1.0"))
    store.discard(old)
    assert obtain(Fill("2.0")) == cache / "tool-2.0"


@pytest.mark.parametrize("manifest", ["", "{", "[]", '{"files": 1}'])
def test_a_damaged_manifest_means_fetching_again(manifest: str) -> None:
    fill = Fill()
    (obtain(fill) / store.MANIFEST).write_text(manifest)
    assert store.damaged(obtain(fill)) == []
    assert fill.calls == 2
