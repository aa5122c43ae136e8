# SPDX-License-Identifier: Apache-2.0
"""Locks between processes: whoever waits says for what."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bulkhead.env import progress
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
