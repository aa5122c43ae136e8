# SPDX-License-Identifier: Apache-2.0
"""Runs an AArch64 program under the emulator of single programs, with the recorder in it.

Called by `bulkhead record` and by the comparison of workloads. The plugin (observe/record_plugin.cpp) decides
the contents of a trace; docs/guide/traces.md describes them.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bulkhead import __version__
from bulkhead.env import store
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir, host_dir
from bulkhead.env.qemu_user import qemu_user
from bulkhead.errors import BulkheadError
from bulkhead.results.record import TraceContents

# A core that the platforms have: programs select their routines by it. The C library uses memset without DC
# ZVA, whose stores the emulator does not report.
CPU = "cortex-a53"
TUNABLES = "GLIBC_TUNABLES=glibc.cpu.name=kunpeng920"


class RecordingError(BulkheadError):
    """Why there is no trace."""


@dataclass(frozen=True)
class Counts:
    """Counts of what was executed while recording was on."""

    instructions: int
    reads: int
    writes: int
    unseen_zeroings: int  # of 64 bytes each
    threads_left_out: bool

    @property
    def accesses(self) -> int:
        return self.reads + self.writes


@dataclass(frozen=True)
class TraceWindow:
    """Record only from one address up to before the other."""

    start: int
    end: int


@dataclass(frozen=True)
class RecordedProgram:
    """The program to run. `root`: directory with its loader and libraries, if not the machine's own."""

    file: Path
    arguments: tuple[str, ...] = ()
    root: Path | None = None


def _quoted(value: object) -> str:
    """A value of a plugin's argument: commas are doubled."""
    return str(value).replace(",", ",,")


def run(
    program: RecordedProgram,
    *,
    trace: Path | None = None,
    about: Mapping[str, object] | None = None,
    window: TraceWindow | None = None,
    limit: int | None = None,
    output: list[str] | None = None,
    directory: Path | None = None,
    environment: dict[str, str] | None = None,
) -> tuple[int, Counts]:
    """The program's exit code and the counts; `trace` is complete when this returns.

    The program's output is appended to `output`, if given, else it is shown. It runs in `directory` and with
    `environment`, if given, else with those of this process.

    Raises RecordingError, MissingTool, BuildFailed.
    """
    ensure_built(["host"], ["record"])
    plugin = host_dir() / "observe" / "librecord.so"
    with tempfile.TemporaryDirectory(prefix="record-", dir=build_dir()) as scratch:
        counts = Path(scratch) / "counts.json"
        arguments: dict[str, object] = {"counts": counts}
        if trace is not None:
            description = Path(scratch) / "about.json"
            description.write_text(json.dumps(about or {}))
            arguments |= {"out": trace, "about": description}
        if window is not None:
            arguments |= {"from": hex(window.start), "to": hex(window.end)}
        if limit is not None:
            arguments["instructions"] = limit
        given_environment = dict(os.environ) if environment is None else environment
        given = "".join(f",{name}={_quoted(value)}" for name, value in arguments.items())
        command = [str(qemu_user()), "-cpu", CPU, "-E", TUNABLES, "-plugin", f"{plugin}{given}"]
        command += ["-L", str(program.root)] if program.root else []
        done = subprocess.run(
            [*command, str(program.file), *program.arguments],
            stdout=None if output is None else subprocess.PIPE,
            env={name: value for name, value in given_environment.items() if name != "LD_LIBRARY_PATH"},
            cwd=directory,
            check=False,
        )
        if output is not None:
            output.append(done.stdout.decode(errors="replace"))
        if not counts.exists():
            raise RecordingError(f"{program.file}: the emulator ended with {done.returncode} and no record")
        counted = Counts(**json.loads(counts.read_text()))
    if counted.instructions == 0:
        if trace is not None:
            trace.unlink(missing_ok=True)
        raise RecordingError(
            f"{program.file}: nothing was recorded: the file is not an AArch64 program, or does not exist"
        )
    return done.returncode, counted


def describe(program: RecordedProgram, package: str | None) -> dict[str, object]:
    """What the trace says of itself."""
    return {
        "program": program.file.name,
        "arguments": list(program.arguments),
        "package": package,
        "package_version": store.packages_in(program.root)[0].version if package and program.root else None,
        "architecture": "aarch64",
        "cpu": CPU,
        "recorder": f"bulkhead {__version__}",
    }


def trace_info(trace: Path) -> TraceContents:
    """What is in a trace; every block is read. Raises RecordingError if it is damaged."""
    ensure_built(["host"], ["trace_info"])
    tool = host_dir() / "machine" / "trace" / "trace_info"
    done = subprocess.run([tool, trace], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RecordingError(done.stderr.strip())
    try:
        return TypeAdapter(TraceContents).validate_json(done.stdout)
    except ValidationError as error:
        raise RecordingError(f"{trace}: its description is nested too deeply") from error
