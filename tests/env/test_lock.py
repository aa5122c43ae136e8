# SPDX-License-Identifier: Apache-2.0
"""packages.lock: locked versions are preferred, required, or replaced, and each difference is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import typer
from tests.json_results import parsed
from typer.testing import CliRunner

from bulkhead import fetches
from bulkhead.commands import setup
from bulkhead.env import lock, native, store
from bulkhead.env.aptroot import AptFailed
from bulkhead.env.errors import MissingTool
from bulkhead.env.lock import LockedPackage, Versions, deviations, read_lock, want, write_lock
from bulkhead.env.progress import Update
from bulkhead.env.versions import used_json

OLD = LockedPackage("tool", "1:1.0", "arm64", "aa")
NEW = LockedPackage("tool", "1:2.0", "arm64", "bb")
LIBRARY = LockedPackage("libtool", "7", "arm64", "cc")


@pytest.fixture(autouse=True)
def lock_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache and a lock file of the test's own."""
    monkeypatch.setenv("BULKHEAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(lock, "lock_file", lambda: tmp_path / lock.FILE)
    monkeypatch.setattr(store, "_obtained", {})
    return tmp_path / lock.FILE


class Mirror:
    """Has the newest version, and older ones if they are in `kept`."""

    def __init__(self, newest: LockedPackage, *kept: LockedPackage) -> None:
        self.newest = newest
        self.kept = kept
        self.online = True
        self.downloads = 0

    def fill(self, request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
        if not self.online:
            raise AptFailed("E: no route to the mirror")
        self.downloads += 1
        chosen = next((pin for pin in request.pins if pin in self.kept), self.newest)
        (content / "program").write_text(chosen.version)
        request.others.append(LIBRARY)  # installed on this machine
        return [chosen]

    def get(self, versions: Versions = Versions.CACHED) -> str:
        """The version that is used."""
        fetch = store.Fetch("tool", "tool-package", lambda directory: [directory / "program"], self.fill)
        with want(versions):
            return (store.obtain(fetch) / "program").read_text()


def test_the_locked_version_is_fetched_as_long_as_the_mirror_has_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_lock({"tool": [OLD]})
    assert Mirror(NEW, OLD).get() == OLD.version
    assert used_json()["tool"]["locked"]
    assert not capsys.readouterr().err


def test_another_version_is_fetched_with_a_notice(capsys: pytest.CaptureFixture[str]) -> None:
    write_lock({"tool": [OLD]})
    assert Mirror(NEW).get() == NEW.version
    assert "notice" in (said := capsys.readouterr().err)
    assert "tool 1:1.0 (arm64) is locked, but tool 1:2.0 (arm64) has been fetched" in said
    assert used_json()["tool"] == {
        "package": "tool",
        "version": "1:2.0",
        "architecture": "arm64",
        "sha256": "bb",
        "locked": False,
    }


def test_nothing_but_the_locked_version_will_do_where_it_is_asked_for() -> None:
    with pytest.raises(MissingTool, match="has no entry tool"):
        Mirror(NEW).get(Versions.LOCKED)
    write_lock({"tool": [OLD]})
    with pytest.raises(
        MissingTool, match=r"tool 1:1\.0 \(arm64\) is locked, but tool 1:2\.0 \(arm64\) has been fetched"
    ):
        Mirror(NEW).get(Versions.LOCKED)
    assert store.find("tool") is None
    assert Mirror(NEW, OLD).get(Versions.LOCKED) == OLD.version


def test_the_cache_is_used_whatever_its_version_until_setup_asks() -> None:
    mirror = Mirror(NEW, OLD)
    assert mirror.get() == NEW.version
    write_lock({"tool": [OLD]})
    assert (mirror.get(), mirror.downloads) == (NEW.version, 1)
    assert (mirror.get(Versions.PREFERRED), mirror.downloads) == (OLD.version, 2)
    assert (mirror.get(), mirror.downloads) == (OLD.version, 2)
    assert (mirror.get(Versions.LOCKED), mirror.downloads) == (OLD.version, 2)


def test_without_network_setup_keeps_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    mirror = Mirror(NEW)
    mirror.get()
    write_lock({"tool": [OLD]})
    mirror.online = False
    assert mirror.get(Versions.PREFERRED) == NEW.version
    assert "instead of the version in packages.lock" in capsys.readouterr().err
    with pytest.raises(MissingTool, match="no route to the mirror"):
        mirror.get(Versions.LOCKED)


def test_an_update_takes_the_newest(lock_file: Path) -> None:
    write_lock({"tool": [OLD], "other": [LIBRARY]})
    mirror = Mirror(NEW, OLD)
    assert mirror.get() == OLD.version
    assert mirror.get(Versions.NEWEST) == NEW.version
    changes = write_lock({key: store.lockable(one.directory) for key, one in store.obtained().items()})
    assert changes == ["tool: tool 1:2.0 (arm64), was 1:1.0", "tool: libtool 7 (arm64), new"]
    assert read_lock() == {"tool": (NEW, LIBRARY), "other": (LIBRARY,)}
    assert mirror.get() == NEW.version


@pytest.mark.parametrize(
    ("fetched", "difference"),
    [
        ([OLD, LIBRARY], None),
        ([OLD], None),  # the machine has the library
        ([LIBRARY], "tool 1:1.0 (arm64) is locked, but has not been fetched"),
        ([OLD, replace(LIBRARY, name="libelse")], "libelse 7 (arm64) is not in packages.lock"),
        ([OLD, replace(LIBRARY, sha256="dd")], "libtool 7 (arm64) has SHA-256 dd, but cc is locked"),
        (
            [OLD, replace(LIBRARY, architecture="amd64")],
            "libtool 7 (arm64) is locked, but libtool 7 (amd64) has been fetched",
        ),
    ],
)
def test_differences_are_named(fetched: list[LockedPackage], difference: str | None) -> None:
    assert deviations(fetched, [OLD, LIBRARY]) == ([difference] if difference else [])


@pytest.mark.parametrize(
    "text", ["", "{", "lock: 2\npackages: {}", "lock: 1\npackages: {tool: [{name: tool}]}", "lock: 1"]
)
def test_a_damaged_lock_file_is_said(lock_file: Path, text: str) -> None:
    lock_file.write_text(text)
    with pytest.raises(MissingTool, match=r"packages\.lock"):
        read_lock()


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """Everything that `setup` fetches here is one tool."""
    mirror = Mirror(NEW)
    fetch = store.Fetch("tool", "tool-package", lambda directory: [directory / "program"], mirror.fill)
    monkeypatch.setattr(fetches, "fetches", lambda: {"tool": lambda: store.obtain(fetch)})
    monkeypatch.setattr(native, "install_tools", lambda *_: None)
    monkeypatch.setattr(native, "ensure_built", lambda *_: None)
    return mirror


def run_setup(*options: str) -> dict[str, object]:
    app = typer.Typer()
    setup.register(app)
    done = CliRunner().invoke(app, [*options, "--json"], catch_exceptions=False)
    result: dict[str, object] = parsed(done.stdout)
    return result


def test_setup_writes_the_lock_only_when_asked(mirror: Mirror, lock_file: Path) -> None:
    run_setup()
    assert not lock_file.exists()
    assert run_setup("--update")["changes"] == [
        "tool: tool 1:2.0 (arm64), new",
        "tool: libtool 7 (arm64), new",
    ]
    assert read_lock() == {"tool": (NEW, LIBRARY)}
    assert run_setup("--update")["changes"] == []
    assert run_setup("--locked")["fetched"] == {"tool": used_json()["tool"] | {"locked": True}}


def test_setup_insists_on_the_lock_when_asked(mirror: Mirror) -> None:
    write_lock({"tool": [OLD]})
    with pytest.raises(MissingTool, match="`bulkhead setup --update` locks them"):
        run_setup("--locked")
    assert run_setup()["verdict"] == "ok"
