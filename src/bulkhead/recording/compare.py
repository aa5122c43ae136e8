# SPDX-License-Identifier: Apache-2.0
"""The instrumented build of each workload against its AArch64 build: instructions and accesses.

Called by `bulkhead workloads compare`. The instrumented build is counted by workloads/counts.cpp, the AArch64
build by the recorder under the emulator; both must also give the same checksum. Nothing is corrected here.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir, host_dir, repository
from bulkhead.recording.record import Counts, RecordedProgram, RecordingError, TraceWindow, run
from bulkhead.results.record import ExecutedResult, TraceComparisonResult

_BEGINS, _ENDS = "host_iteration_begins", "host_iteration_ends"


@dataclass(frozen=True)
class Executed:
    instructions: int
    reads: int
    writes: int
    checksum: str

    def json(self) -> ExecutedResult:
        return {
            "instructions": self.instructions,
            "reads": self.reads,
            "writes": self.writes,
            "checksum": self.checksum,
        }


@dataclass(frozen=True)
class TraceComparison:
    """One workload. Errors are of the instrumented build against the AArch64 build, as fractions."""

    workload: str
    aarch64: Executed
    instrumented: Executed

    @property
    def same_checksum(self) -> bool:
        return self.aarch64.checksum == self.instrumented.checksum

    def error(self, what: str) -> float:
        real = getattr(self.aarch64, what)
        return float(getattr(self.instrumented, what) / real - 1) if real else 0.0

    def json(self) -> TraceComparisonResult:
        return {
            "workload": self.workload,
            "aarch64": self.aarch64.json(),
            "instrumented": self.instrumented.json(),
            "error": {
                "instructions": round(self.error("instructions"), 4),
                "reads": round(self.error("reads"), 4),
                "writes": round(self.error("writes"), 4),
            },
        }


def build() -> None:
    """All that a comparison needs. Raises MissingTool, BuildFailed."""
    repository("The comparison with the AArch64 build")
    ensure_built(["host"], ["workload", "workload_counts", "workload_machine", "record"])
    ensure_built(["target"], ["workload"])


def workload_names() -> list[str]:
    program = host_dir() / "workloads" / "workload"
    listing = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listing.splitlines() if not line.startswith(" ")]


def compare(names: Iterable[str], parameters: dict[str, int]) -> Iterator[TraceComparison]:
    """One after the other. Raises RecordingError."""
    given = tuple(f"{name}={value}" for name, value in parameters.items())
    file = build_dir() / "target" / "workloads" / "workload"
    window = _timed_part(file)
    for name in names:
        yield TraceComparison(name, _aarch64(file, window, (name, *given)), _instrumented((name, *given)))


def _timed_part(file: Path) -> TraceWindow:
    with file.open("rb") as handle:
        table = ELFFile(handle).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        found = {symbol.name: int(symbol["st_value"]) for symbol in table.iter_symbols()}
    return TraceWindow(found[_BEGINS], found[_ENDS])


def _checksum(output: str, name: str) -> str:
    reports = [line.removeprefix("report ") for line in output.splitlines() if line.startswith("report ")]
    if not reports:
        raise RecordingError(f"workload {name} gave no report: {output.strip()[-200:]}")
    return str(json.loads(reports[-1])["checksum"])


def _aarch64(file: Path, window: TraceWindow, arguments: tuple[str, ...]) -> Executed:
    output: list[str] = []
    code, counts = run(RecordedProgram(file, arguments), window=window, output=output)
    if code != 0:
        raise RecordingError(f"workload {arguments[0]} ended with {code}")
    return _executed(counts, _checksum("".join(output), arguments[0]))


def _executed(counts: Counts, checksum: str) -> Executed:
    return Executed(counts.instructions, counts.reads, counts.writes, checksum)


def _instrumented(arguments: tuple[str, ...]) -> Executed:
    place = host_dir() / "workloads"
    command = [str(place / "workload_counts"), str(place / "workload_machine.image"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    counts = [line.removeprefix("counts ") for line in done.stdout.splitlines() if line.startswith("counts ")]
    if done.returncode != 0 or not counts:
        raise RecordingError(f"workload {arguments[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return Executed(**json.loads(counts[-1]), checksum=_checksum(done.stdout, arguments[0]))
