# SPDX-License-Identifier: Apache-2.0
"""C5: the observer's result exists when the emulator ends regularly, completely or not at all, and on
request."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from .bench import TIMEOUT_S, Owned, Setup, observer_command, quit_by_qmp, run, running, wait_for

pytestmark = [pytest.mark.emulator, pytest.mark.req("C5")]

ALPHA = 0x42000000
BODY = f"main:\n start_counting\n read {ALPHA}, 0x10000\n b park\n"
ENDLESS = Setup(BODY, (Owned("alpha", ALPHA, 0x10000),))


def request(out: Path) -> dict[str, object]:
    """Requests the present result."""
    asked = out.with_name(out.name + ".request")
    asked.touch()
    wait_for(asked, gone=True)
    result: dict[str, object] = json.loads(out.read_text())
    return result


def started(out: Path) -> None:
    while not request(out)["started"]:
        pass


def test_request_gives_a_result_while_it_runs(tmp_path: Path) -> None:
    """The file OUT.request is removed when OUT is written."""
    out = tmp_path / "out.json"
    with running(observer_command(tmp_path, ENDLESS)) as emulator:
        started(out)
        assert emulator.poll() is None


@pytest.mark.parametrize("more", [(), ("-no-shutdown",)])
def test_quit_writes_the_result(tmp_path: Path, more: tuple[str, ...]) -> None:
    """QMP `quit` also ends a machine that does not end by itself."""
    out = tmp_path / "out.json"
    control = tmp_path / "qmp"
    line = observer_command(tmp_path, ENDLESS, "-qmp", f"unix:{control},server=on,wait=off", *more)
    with running(line) as emulator:
        started(out)
        out.unlink()
        quit_by_qmp(control)
        assert emulator.wait(TIMEOUT_S) == 0
    assert json.loads(out.read_text())["owners"]["alpha"]["misses"] == 1024


def test_terminated_writes_killed_leaves_nothing(tmp_path: Path) -> None:
    """SIGTERM is a regular end; after SIGKILL there is no result and no part of one."""
    out = tmp_path / "out.json"
    for how, there in ((signal.SIGTERM, True), (signal.SIGKILL, False)):
        with running(observer_command(tmp_path, ENDLESS)) as emulator:
            started(out)
            out.unlink()
            emulator.send_signal(how)
            emulator.wait(TIMEOUT_S)
        assert out.exists() is there
        out.unlink(missing_ok=True)
    assert not list(tmp_path.glob("out.json*"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"llc": {"size": 1000, "ways": 4, "line": 64}}, "llc: a size of 1000 B is no multiple of 4 ways"),
        ({"llc": {"size": 1 << 20, "ways": 16, "line": 64, "replacement": "fifo"}}, "'fifo' is none of"),
        ({"names": ["nobody", "hypervisor"]}, "belongs to owner 2 of 2"),
        ({"names": ["nobody", "hypervisor", "alpha", "alpha"]}, "same name twice"),
        ({"cores": 0}, "'cores' is 0"),
        ({"owners": "missing.bin"}, "can not read the owners map"),
        ({"window_acesses": 5}, "unknown key 'window_acesses'"),
        ({"ram": [{"pa": 0x40000000, "bytes": 4096}]}, "for RAM of 1 frames"),
        ({"start": {"pa": 1, "value": 1}}, "not aligned"),
    ],
)
def test_bad_configuration_refuses_to_run(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    """The reason is on standard error, before anything runs."""
    setup = Setup(ENDLESS.body, ENDLESS.owned, config=change)
    done = run(observer_command(tmp_path, setup))
    assert done.returncode != 0
    assert reason in done.stderr
    assert not (tmp_path / "out.json").exists()
