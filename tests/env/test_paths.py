# SPDX-License-Identifier: Apache-2.0
"""Places of files, in a checkout and in a package; locks between processes: a waiting process reports what it
waits for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bulkhead.env import paths, progress
from bulkhead.env.errors import NeedsCheckout
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import locked

HOLDER = (
    "import fcntl, sys, time; file = open(sys.argv[1], 'w'); fcntl.flock(file, fcntl.LOCK_EX);"
    "print('held', flush=True); time.sleep(1)"
)


def test_who_waits_for_a_lock_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SHOWN_AFTER_S", 0.1)
    file = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(file)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with locked(file):
            assert capsys.readouterr().err.startswith("wait for another process")
    with locked(file):
        assert not capsys.readouterr().err


def _as_installed(monkeypatch: pytest.MonkeyPatch, package: Path) -> None:
    monkeypatch.setattr(paths, "_PACKAGE", package)
    monkeypatch.setattr(paths, "_CHECKOUT", package.parents[1])
    monkeypatch.setattr(paths, "_PACKAGE_DATA", package / "data")


def test_a_package_has_files_of_its_own_and_writes_where_its_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lib" / "site-packages" / "bulkhead"
    _as_installed(monkeypatch, package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BULKHEAD_CACHE", raising=False)
    assert paths.checkout() is None
    assert paths.platforms_dir() == package / "data" / "platforms"
    assert paths.layout_file() == package / "data" / "schema" / "manifest.yaml"
    assert paths.host_dir() == package / "native"
    assert paths.build_dir() == tmp_path / "build"
    assert paths.cache_dir() == tmp_path / "build" / "cache"
    with pytest.raises(NeedsCheckout, match="`size` needs a checkout"):
        paths.repository("`size`")


def test_a_package_has_the_parts_that_it_names_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lib" / "site-packages" / "bulkhead"
    _as_installed(monkeypatch, package)
    with pytest.raises(NeedsCheckout):
        ensure_built(["host"], ["hosted_run"])
    (package / "native").mkdir(parents=True)
    (package / "native" / "targets").write_text("hosted_run\nworkload\n")
    ensure_built(["host"], ["workload", "hosted_run"])
    for presets, targets in ((["host"], ["workload", "observe"]), (["host"], []), (["target"], ["workload"])):
        with pytest.raises(NeedsCheckout):
            ensure_built(presets, targets)
