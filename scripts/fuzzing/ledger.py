# SPDX-License-Identifier: Apache-2.0
"""What a fuzz program has run over several starts: a long run that was stopped goes on where it was.

One small file for each target. It holds for one program: after a change of the code under test the count
begins anew, since executions of other code say nothing of this one.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """Executions without a finding, and the seconds that they took."""

    executions: int = 0
    seconds: float = 0.0


class Ledger:
    """Executions of `program`, kept in `path`."""

    def __init__(self, path: Path, program: Path) -> None:
        self.path = path
        self.digest = hashlib.sha256(program.read_bytes()).hexdigest()

    def read(self) -> Entry:
        """What was run of this very program; nothing without a file or with a damaged one."""
        try:
            kept = json.loads(self.path.read_text())
            if kept["program"] == self.digest:
                return Entry(int(kept["executions"]), float(kept["seconds"]))
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return Entry()

    def add(self, executions: int, seconds: float) -> Entry:
        """Count a piece that ended without a finding. The file is replaced in one step."""
        before = self.read()
        entry = Entry(before.executions + executions, before.seconds + seconds)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".new")
        kept = {"program": self.digest, "executions": entry.executions, "seconds": round(entry.seconds, 1)}
        beside.write_text(json.dumps(kept))
        beside.replace(self.path)
        return entry
