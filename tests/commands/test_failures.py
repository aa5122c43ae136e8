# SPDX-License-Identifier: Apache-2.0
"""Unexpected failures: a distinct exit code, a message instead of a traceback, and with `--json` still one
object."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from pathlib import Path

import pytest
from tests.json_results import parsed

from bulkhead import cli, fetches
from bulkhead.commands import setup, size
from bulkhead.env import native
from bulkhead.env.errors import BuildFailed, MissingTool
from bulkhead.machine import native as machine_native
from bulkhead.recording import compare
from bulkhead.run import packets, samples


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
        result = parsed(shown.out)
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


def test_a_closed_output_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`>&-` closes standard output."""
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "argv", ["bulkhead", "check", str(EXAMPLES / "flows.yaml")])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 0
    assert "Traceback" not in capsys.readouterr().err


def test_results_of_every_command_have_the_common_keys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`size` and `setup` also state the version that they come from."""
    monkeypatch.setattr(native, "ensure_built", lambda *_: None)
    monkeypatch.setattr(size, "compiled_sources", lambda _: [])
    monkeypatch.setattr(fetches, "fetches", dict)
    monkeypatch.setattr(native, "install_tools", lambda *_: None)
    monkeypatch.setattr(setup, "_discard_damaged", list)
    for command in ("size", "setup"):
        monkeypatch.setattr(sys, "argv", ["bulkhead", command, "--json"])
        with pytest.raises(SystemExit) as end:
            cli.main()
        result = parsed(capsys.readouterr().out)
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
    assert "there is no workload 'nope' (known: disparity, sift)" in capsys.readouterr().err


EXAMPLES = Path(__file__).parents[2] / "examples"


def ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[object, str]:
    """The exit code, and the error stream without the frame of usage errors."""
    monkeypatch.setattr(sys, "argv", ["bulkhead", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code, " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_watching_and_budgets_exclude_each_other_before_anything_is_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(native, "ensure_built", lambda *_: pytest.fail("built"))
    run = ("run", str(EXAMPLES / "throttled.yaml"), "--observe", "--directory", str(tmp_path / "run"))
    code, said = ended(monkeypatch, capsys, *run)
    assert code == 2
    assert "cannot be combined with the budget of hog" in said and "--on machine" in said
    assert not (tmp_path / "run").exists()


def test_a_board_that_is_only_simulated_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = str(EXAMPLES / "regulated.yaml")
    code, said = ended(monkeypatch, capsys, "run", file, "--directory", str(tmp_path / "run"))
    assert code == 1
    assert f"it is simulated, `bulkhead run {file} --on machine`" in said


@pytest.mark.parametrize("command", ["trace", "build"])
def test_an_output_without_a_name_is_wrong_usage(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = ended(monkeypatch, capsys, command, str(EXAMPLES / "throttled.yaml"), "-o", "")
    assert code == 2
    assert "--output: names no file" in said


def test_a_trace_makes_no_directories(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    content = {
        "format": samples.FORMAT, "system": "s", "on": "qemu", "counter_hz": 1, "started_at": 0, "cores": [],
        "domains": [], "dropped": {}, "fields": samples.FIELDS, "samples": [],
        "flows": [], "packet_fields": packets.FIELDS, "packets": [], "dropped_packets": 0,
    }  # fmt: skip
    (tmp_path / samples.SAMPLES_FILE).write_text(json.dumps(content))
    wanted = tmp_path / "elsewhere" / "trace.json"
    code, said = ended(monkeypatch, capsys, "trace", str(tmp_path), "-o", str(wanted))
    assert code == 1
    assert f"error: {wanted}: cannot be written: No such file or directory" in said
    assert not wanted.parent.exists()


def test_each_of_several_errors_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    system = (EXAMPLES / "throttled.yaml").read_text()
    (tmp_path / "s.yaml").write_text(system.replace("cpus: [1]", "cpus: [99]").replace("premap", "prmap"))
    code, said = ended(monkeypatch, capsys, "top", str(tmp_path / "s.yaml"))
    assert code == 1
    assert said.count("error: ") == said.count("s.yaml:") == 2
