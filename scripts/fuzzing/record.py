# SPDX-License-Identifier: Apache-2.0
"""The repository's record of long runs: executions of each fuzz target, the commit, and the findings.

`make fuzz FUZZ="--record"` takes it from the build tree's ledgers. A later long run of the same program
continues from it, in any checkout; docs/design/fuzzing.md shows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from fuzzing.ledger import Entry

BEGIN = "<!-- written by make fuzz FUZZ=--record -->\n"
END = "<!-- end of what it writes -->\n"


@dataclass(frozen=True)
class Recorded:
    """What one program has run."""

    program: str  # its digest
    commit: str
    executions: int
    seconds: float
    findings: int

    @property
    def entry(self) -> Entry:
        return Entry(self.executions, self.seconds, self.findings)


def read_record(path: Path) -> dict[str, Recorded]:
    """By target; empty if there is no record yet. A damaged record is an error, since it is a source file."""
    if not path.exists():
        return {}
    return {target: Recorded(**kept) for target, kept in json.loads(path.read_text()).items()}


def write_record(path: Path, record: Mapping[str, Recorded]) -> None:
    kept = {target: asdict(recorded) for target, recorded in sorted(record.items())}
    path.write_text(json.dumps(kept, indent=1) + "\n")


def table(record: Mapping[str, Recorded]) -> str:
    """The table as in the document."""
    lines = ["| target | executions | findings | per second | commit |", "| --- | --- | --- | --- | --- |"]
    for target, one in sorted(record.items()):
        speed = round(one.executions / one.seconds) if one.seconds else 0
        lines.append(f"| `{target}` | {one.executions:,} | {one.findings} | {speed:,} | {one.commit} |")
    return "".join(f"{line}\n" for line in lines)


def with_table(document: str, record: Mapping[str, Recorded]) -> str:
    """The document with the record's table between its marks."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table(record)}\n{END}{after}"
