# SPDX-License-Identifier: Apache-2.0
"""The long run of the fuzz targets goes on where it was stopped, and only with the same program."""

from pathlib import Path

import pytest

from fuzzing import target
from fuzzing.ledger import Entry, Ledger

# Stands for a libFuzzer program: says how many it ran, fails once it has been told to.
PROGRAM = """#!/bin/sh
runs=${1#-runs=}
echo "$runs" >> pieces
echo "#$runs DONE cov: 7"
echo "stat::number_of_executed_units: $runs"
test ! -e fail
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(target, "TREE", tmp_path)
    monkeypatch.setattr(target, "ROOT", tmp_path)
    monkeypatch.setattr(target, "PIECE_RUNS", 100)
    monkeypatch.setattr(target, "POLL_S", 0.01)
    program = target.program("made")
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return tmp_path


def run(runs: int) -> target.Outcome:
    limits = target.Limits(runs, None, resume=True)
    return target.run_all(["made"], limits, 1, lambda _fraction, _step: None)[0]


def pieces(tree: Path) -> list[str]:
    return (tree / "pieces").read_text().split()


def test_a_long_run_is_made_of_pieces(tree: Path) -> None:
    assert run(250).executions == 250
    assert pieces(tree) == ["100", "100", "50"]


def test_a_later_start_runs_only_what_is_missing(tree: Path) -> None:
    target.ledger("made").add(180, 3.0)
    assert run(250).executions == 250
    assert pieces(tree) == ["70"]


def test_a_piece_with_a_finding_ends_the_run_and_does_not_count(tree: Path) -> None:
    (tree / "fail").touch()
    outcome = run(250)
    assert outcome.crashes
    assert pieces(tree) == ["100"]
    assert target.ledger("made").read() == Entry()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"program": 1}', '{"executions": 5}'])
def test_a_damaged_ledger_counts_nothing(tree: Path, text: str) -> None:
    ledger = target.ledger("made")
    ledger.add(10, 1.0)
    ledger.path.write_text(text)
    assert ledger.read() == Entry()


def test_another_program_begins_anew(tmp_path: Path) -> None:
    program, path = tmp_path / "program", tmp_path / "ledger.json"
    program.write_bytes(b"one")
    Ledger(path, program).add(10, 1.0)
    assert Ledger(path, program).read() == Entry(10, 1.0)
    program.write_bytes(b"two")
    assert Ledger(path, program).read() == Entry()
