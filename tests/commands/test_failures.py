# SPDX-License-Identifier: Apache-2.0
"""Failures that no command expects: an exit code that tells them apart, words instead of a traceback, and
with `--json` still one object."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from pathlib import Path

import pytest

from bulkhead import cli
from bulkhead.commands import setup, size
from bulkhead.env import linux, native, qemu
from bulkhead.env.errors import BuildFailed, MissingTool
from bulkhead.machine import native as machine_native
from bulkhead.recording import compare


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (MissingTool("cmake", "cmake", "install it"), 3, "package cmake"),
        (BuildFailed("target", Path("log"), "undefined reference"), 1, "undefined reference"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "build/logs"), 3, "build/logs: No space left"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS), "build"), 3, "build: Read-only file system"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_failure_of_the_surroundings(
    failure: Exception,
    code: int,
    words: str,
    as_json: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(native, "ensure_built", fail)
    monkeypatch.setattr(sys, "argv", ["bulkhead", "size", *(["--json"] if as_json else [])])
    with pytest.raises(SystemExit) as end:
        cli.main()
    shown = capsys.readouterr()
    assert end.value.code == code
    assert words in shown.err
    if as_json:
        result = json.loads(shown.out)
        assert (result["command"], result["verdict"]) == ("size", "error")
        assert words in result["reasons"][0]
    else:
        assert shown.out == ""


def test_a_terminal_without_unicode_gets_what_it_can_show(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.TextIOWrapper(io.BytesIO(), encoding="ascii")

    def report(*_: object) -> None:
        sys.stdout.write("✓ held\n")
        raise MissingTool("cmake", "cmake", "")

    monkeypatch.setattr(native, "ensure_built", report)
    monkeypatch.setattr(sys, "argv", ["bulkhead", "size"])
    monkeypatch.setattr(sys, "stdout", shown)
    with pytest.raises(SystemExit):
        cli.main()
    shown.seek(0)
    assert shown.read() == "? held\n"


def test_results_of_every_command_have_the_common_keys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`size` and `setup` too say which version they come from."""
    monkeypatch.setattr(native, "ensure_built", lambda *_: None)
    monkeypatch.setattr(size, "compiled_sources", lambda _: [])
    for module, name in ((qemu, "qemu_binary"), (linux, "linux_kernel"), (linux, "busybox")):
        monkeypatch.setattr(module, name, Path)
    monkeypatch.setattr(native, "install_tools", lambda *_: None)
    monkeypatch.setattr(setup, "_discard_damaged", list)
    for command in ("size", "setup"):
        monkeypatch.setattr(sys, "argv", ["bulkhead", command, "--json"])
        with pytest.raises(SystemExit) as end:
            cli.main()
        result = json.loads(capsys.readouterr().out)
        assert end.value.code == 0
        assert (result["command"], result["verdict"], result["reasons"]) == (command, "ok", [])
        assert set(result["bulkhead"]) == {"version", "commit"}


def test_limits_of_a_workload_that_is_not_there_measures_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native, "ensure_built", lambda *_: None)
    monkeypatch.setattr(compare, "workload_names", lambda: ["disparity", "sift"])
    monkeypatch.setattr(machine_native, "built_machine", lambda **_: pytest.fail("built"))
    monkeypatch.setattr(sys, "argv", ["bulkhead", "limits", "s32v234", "--rt", "nope"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    assert "there is no workload 'nope'; known are disparity, sift" in capsys.readouterr().err
