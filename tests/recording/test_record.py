# SPDX-License-Identifier: Apache-2.0
"""A recording contains what the program did: tested with a program of known instructions, and a real one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bulkhead.recording.record import RecordedProgram, RecordingError, TraceWindow, run, trace_info
from tests.json_results import parsed

pytestmark = pytest.mark.emulator

ROOT = Path(__file__).parents[2]
# 100 turns of 5 instructions with a read of 8 bytes and a write of 4; before them 3 instructions, of which
# one writes twice 8 bytes, after them 3 and a system call.
SOURCE = """
    .global _start, window, window_end
_start:
    adrp x9, data
    stp xzr, xzr, [x9]
    mov x10, #100
window:
1:  ldr x11, [x9, #16]
    str w11, [x9, #24]
    add x9, x9, #16
    subs x10, x10, #1
    b.ne 1b
window_end:
    mov x0, #5
    mov x8, #93
    nop
    svc #0
    .bss
    .balign 4096
data:
    .space 8192
"""
INSTRUCTIONS = 3 + 100 * 5 + 4


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> RecordedProgram:
    directory = tmp_path_factory.mktemp("known")
    source = directory / "known.S"
    source.write_text(SOURCE)
    file = directory / "known"
    subprocess.run(["aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-o", file, source], check=True)
    return RecordedProgram(file)


def test_every_instruction_and_access_is_counted_once(known: RecordedProgram, tmp_path: Path) -> None:
    code, counts = run(known, trace=tmp_path / "t", about={"program": "known"})
    assert code == 5
    assert (counts.instructions, counts.reads, counts.writes) == (INSTRUCTIONS, 100, 102)
    info = trace_info(tmp_path / "t")
    assert info["description"] == {"program": "known"}
    assert (info["instructions"], info["reads"], info["writes"]) == (INSTRUCTIONS, 100, 102)
    # 32 bytes before the loop and 1600 in it: 26 lines of one page.
    assert (info["pages"], info["lines"]) == (1, 26)


def test_a_window_holds_what_is_between_two_addresses(known: RecordedProgram) -> None:
    listing = subprocess.check_output(["aarch64-linux-gnu-nm", known.file], text=True)
    symbols = {name: int(at, 16) for at, _, name in map(str.split, listing.splitlines())}
    _, counts = run(known, window=TraceWindow(symbols["window"], symbols["window_end"]))
    # `window` is executed in every turn, and opens the window once.
    assert (counts.instructions, counts.reads, counts.writes) == (500, 100, 100)


def test_recording_ends_at_the_limit_and_the_program_runs_on(known: RecordedProgram, tmp_path: Path) -> None:
    code, counts = run(known, trace=tmp_path / "t", limit=50)
    assert code == 5
    assert 50 <= counts.instructions < 60  # to the end of the block
    assert trace_info(tmp_path / "t")["instructions"] == counts.instructions


def test_a_truncated_trace_is_refused(known: RecordedProgram, tmp_path: Path) -> None:
    run(known, trace=tmp_path / "t")
    whole = (tmp_path / "t").read_bytes()
    (tmp_path / "t").write_bytes(whole[:-10])
    with pytest.raises(RecordingError, match="it has no end"):
        trace_info(tmp_path / "t")


def test_what_is_no_program_of_the_emulator_ends_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="nothing was recorded"):
        run(RecordedProgram(Path(sys.executable)), trace=tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_sqlite_is_recorded(tmp_path: Path) -> None:
    """The whole command records the program of a Debian package, with a short script instead of the real
    one."""
    script = "create table t(a); insert into t values(1),(2),(3); select sum(a) from t;"
    command = [sys.executable, "-m", "bulkhead.cli", "record", "--package", "sqlite3", "--json"]
    command += ["-o", str(tmp_path / "trace"), "sqlite3", ":memory:", script]
    done = subprocess.run(command, cwd=ROOT / "src", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = parsed(done.stdout)
    assert result["exit_code"] == 0
    assert result["instructions"] > 1_000_000
    assert result["reads"] > result["writes"] > 100_000
    assert result["bytes"] < result["reads"] + result["writes"]  # less than a byte for an access
    assert result["description"]["package"] == "sqlite3"
