# SPDX-License-Identifier: Apache-2.0
"""The long run of the fuzz targets continues where it was stopped, and only with the same program."""

import subprocess
from pathlib import Path

import pytest

from fuzzing import target
from fuzzing.ledger import Entry, Ledger, program_digest
from fuzzing.record import BEGIN, END, Recorded, read_record, table, with_table, write_record

COMPILER = "gcc"

# Stands in for a libFuzzer program: reports its executions, and fails when it is told to.
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
    monkeypatch.setattr(target, "RECORD", tmp_path / "runs.json")
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
    assert target.ledger("made").read() == Entry(findings=1)


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


def test_another_checkout_goes_on_from_the_record(tree: Path) -> None:
    target.ledger("made").add(180, 3.0)
    target.record(["made"], "0123abc")
    assert read_record(target.RECORD)["made"].entry == Entry(180, 3.0)
    target.ledger("made").path.unlink()
    assert run(250).executions == 250
    assert pieces(tree) == ["70"]
    target.program("made").write_text("#!/bin/sh\nanother")
    assert target.ledger("made").read() == Entry()


def test_a_record_keeps_its_commit_until_more_was_run(tree: Path) -> None:
    target.ledger("made").add(180, 3.0)
    first = target.record(["made"], "0123abc")
    assert target.record(["made"], "4567def") == first
    target.ledger("made").add_finding()
    assert target.record(["made"], "4567def")["made"] == Recorded(
        target.ledger("made").digest, "4567def", 180, 3.0, 1
    )


def test_what_was_never_run_is_not_recorded(tree: Path) -> None:
    assert target.record(["made"], "0123abc") == {}


def test_a_program_is_what_it_executes(tmp_path: Path) -> None:
    """The same source gives the same program in another directory, whose debug information differs."""
    digests, contents = set(), set()
    for place in ("here", "a-longer-place"):
        directory = tmp_path / place
        directory.mkdir()
        (directory / "made.c").write_text("int main(void) { return 0; }\n")
        subprocess.run([COMPILER, "-g", "made.c", "-o", "made"], cwd=directory, check=True)
        digests.add(program_digest(directory / "made"))
        contents.add((directory / "made").read_bytes())
    assert (len(digests), len(contents)) == (1, 2)
    (directory / "made.c").write_text("int main(void) { return 1; }\n")
    subprocess.run([COMPILER, "-g", "made.c", "-o", "made"], cwd=directory, check=True)
    assert program_digest(directory / "made") not in digests


def test_the_document_has_the_record() -> None:
    document = (target.INPUTS.parents[1] / "docs" / "design" / "fuzzing.md").read_text()
    record = read_record(target.INPUTS / "runs.json")
    assert with_table(document, record) == document, 'write it with `make fuzz FUZZ="--record"`'
    assert document.count(BEGIN) == document.count(END) == 1


def test_a_table_of_runs(tmp_path: Path) -> None:
    record = {"vgic": Recorded("ab", "0123abc", 10_000_000, 2000.0, 0)}
    write_record(tmp_path / "runs.json", record)
    assert read_record(tmp_path / "runs.json") == record
    assert table(record).splitlines()[-1] == "| `vgic` | 10,000,000 | 0 | 5,000 | 0123abc |"
