# SPDX-License-Identifier: Apache-2.0
"""Recordings that anybody can repeat: a package, a program of it, its arguments (workloads/traces/*.yaml).

Experiments name recordings, which are made when they are first needed. A trace `NAME.trace` is in the build
tree; the same recording gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path

from bulkhead.config.base import FormatVersion, Model, Text
from bulkhead.config.named import TRACE_SUFFIX
from bulkhead.config.source import read_file
from bulkhead.config.validate import validate
from bulkhead.env.paths import build_dir, locked, recordings_dir, repository
from bulkhead.env.progress import progress
from bulkhead.env.qemu_user import arm64_root
from bulkhead.recording.record import RecordedProgram, RecordingError, describe, run

# A program reads its environment, so each variable would affect the trace.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/", "LC_ALL": "C"}
PROGRAMS = ("usr/bin", "bin", "usr/sbin", "sbin", "usr/games")


class Recording(Model):
    """One file of workloads/traces/."""

    recording: FormatVersion
    package: Text
    program: Text
    arguments: tuple[Text, ...] = ()


def trace_directory() -> Path:
    return build_dir() / "traces"


def known_names() -> list[str]:
    return sorted(path.stem for path in recordings_dir().glob("*.yaml"))


def program_in(package: str, name: str) -> RecordedProgram | None:
    """A program of a Debian arm64 package, which is fetched on first use. Raises MissingTool."""
    root = arm64_root(package)
    found = next((root / place / name for place in PROGRAMS if (root / place / name).is_file()), None)
    return None if found is None else RecordedProgram(found, root=root)


def known_trace(name: str) -> Path:
    """The trace of a recording by its name, made now if it does not exist yet.

    Raises RecordingError, MissingTool, BuildFailed.
    """
    trace = trace_directory() / f"{name}{TRACE_SUFFIX}"
    with locked(trace_directory() / f".{name}.lock"):
        if not trace.is_file():
            _record(load_recording(name), trace)
    return trace


def load_recording(name: str) -> Recording:
    """Raises RecordingError with all problems of its file."""
    path = recordings_dir() / f"{name}.yaml"
    source = read_file(path, str(path))
    problems = list(source.problems)
    loaded = None
    if source.root is not None:
        loaded, _, found = validate(source.root, Recording, str(path))
        problems += found
    if problems or loaded is None:
        raise RecordingError("\n".join(problem.text() for problem in problems))
    return loaded


def _record(wanted: Recording, trace: Path) -> None:
    checkout = repository(f"To record {trace.name}")
    found = program_in(wanted.package, wanted.program)
    if found is None:
        raise RecordingError(f"package {wanted.package} has no program '{wanted.program}'")
    program = RecordedProgram(found.file, wanted.arguments, found.root)
    part = trace.with_suffix(".part")
    with progress(f"record {trace.name}"):
        code, _ = run(
            program,
            trace=part,
            about=describe(program, wanted.package),
            output=[],
            directory=checkout,
            environment=ENVIRONMENT,
        )
    if code != 0:
        part.unlink(missing_ok=True)
        raise RecordingError(f"{trace.name}: the recorded program ended with {code}")
    part.replace(trace)
