# SPDX-License-Identifier: Apache-2.0
"""Executions of a fuzz program over several starts: a long run that was stopped continues.

One small file for each target. It is valid for one program: after a change of the code under test the count
begins again, since executions of other code do not count. Without a file, the count begins with the
executions of the same program in the repository's record (fuzzing/record.py).
"""

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

_ELF_MAGIC = b"\x7fELF"
_NOT_EXECUTED = ("SHT_NOBITS", "SHT_NOTE")


@dataclass(frozen=True)
class Entry:
    """Executions without a finding, the seconds that they took, and pieces that ended with one."""

    executions: int = 0
    seconds: float = 0.0
    findings: int = 0


def program_digest(program: Path) -> str:
    """Digest of the executed code, without debug information and the build id, which depend on the build
    directory."""
    content = program.read_bytes()
    digest = hashlib.sha256()
    if content.startswith(_ELF_MAGIC):
        for section in ELFFile(io.BytesIO(content)).iter_sections():
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section["sh_type"] not in _NOT_EXECUTED:
                digest.update(section.name.encode() + section.data())
    else:
        digest.update(content)
    return digest.hexdigest()


class Ledger:
    """Executions of `program`, kept in `path`; `recorded` is the repository's record of the target."""

    def __init__(self, path: Path, program: Path, recorded: tuple[str, Entry] | None = None) -> None:
        self.path = path
        self.digest = program_digest(program)
        self._recorded = recorded

    def read(self) -> Entry:
        """Executions of this very program; none if the file is missing or damaged."""
        try:
            kept = json.loads(self.path.read_text())
            if kept["program"] == self.digest:
                return Entry(int(kept["executions"]), float(kept["seconds"]), int(kept["findings"]))
        except (OSError, ValueError, KeyError, TypeError):
            pass
        if self._recorded is not None and self._recorded[0] == self.digest:
            return self._recorded[1]
        return Entry()

    def add(self, executions: int, seconds: float) -> Entry:
        """Count a piece that ended without a finding."""
        before = self.read()
        return self._write(Entry(before.executions + executions, before.seconds + seconds, before.findings))

    def add_finding(self) -> Entry:
        """Count a piece that ended with one."""
        before = self.read()
        return self._write(Entry(before.executions, before.seconds, before.findings + 1))

    def _write(self, entry: Entry) -> Entry:
        """The file is replaced in one step."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".new")
        kept = {
            "program": self.digest,
            "executions": entry.executions,
            "seconds": round(entry.seconds, 1),
            "findings": entry.findings,
        }
        beside.write_text(json.dumps(kept))
        beside.replace(self.path)
        return entry
