# SPDX-License-Identifier: Apache-2.0
"""Recorded traces in place of workloads: finds the file for a name and checks it.

A workload `NAME.trace` is a recording of workloads/traces/ or a trace in build/traces/; a name with a
directory is the path of a file. Every block of the file is read before anything runs, and its hash becomes
part of each job.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bulkhead.config.named import TRACE_SUFFIX
from bulkhead.config.problem import nearest_of, quoted
from bulkhead.experiments.model import BadExperiment, PointJob
from bulkhead.machine.job import JobPart
from bulkhead.recording.known import known_names, known_trace, trace_directory
from bulkhead.recording.record import RecordingError, trace_info
from bulkhead.results.experiment import TraceUsedResult
from bulkhead.results.record import TraceContents


@dataclass(frozen=True)
class Trace:
    name: str  # as in the experiment
    file: Path
    sha256: str
    info: TraceContents  # its contents: machine/trace/info.cpp

    def text(self) -> str:
        """What was recorded, as text for the user."""
        about = self.info["description"]
        about = about if isinstance(about, dict) else {}
        command = shlex.join([str(about.get("program", "?")), *map(str, about.get("arguments", ()))])
        parts = (about.get("package"), about.get("package_version"))  # older traces have no version
        package = f" of package {' '.join(map(str, filter(None, parts)))}" if parts[0] else ""
        return (
            f"{command}{package}: {self.info['instructions']:,} instructions,"
            f" {self.info['records']:,} accesses in {self.info['pages']:,} pages; SHA-256 {self.sha256}"
        )

    def json(self) -> TraceUsedResult:
        return {"name": self.name, "file": str(self.file), "sha256": self.sha256, **self.info}


def is_trace(workload: Any) -> bool:
    return isinstance(workload, str) and workload.endswith(TRACE_SUFFIX)


def with_traces(points: Sequence[PointJob]) -> tuple[list[PointJob], list[Trace]]:
    """The points with the file of each recorded program, and the traces. Raises BadExperiment,
    MissingTool."""
    names = {
        part["workload"] for one in points for part in one.job["parts"] if is_trace(part.get("workload"))
    }
    traces = {name: _trace(name) for name in sorted(names)}

    def found(part: JobPart) -> JobPart:
        trace = traces.get(part.get("workload", ""))
        return part if trace is None else {**part, "trace": {"file": str(trace.file), "sha256": trace.sha256}}

    changed = [
        replace(one, job={**one.job, "parts": [found(part) for part in one.job["parts"]]}) for one in points
    ]
    return changed, list(traces.values())


def _trace(name: str) -> Trace:
    try:
        file = _file(name).absolute()
        info = trace_info(file)
    except RecordingError as error:
        raise BadExperiment(str(error)) from error
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return Trace(name, file, digest, info)


def _file(name: str) -> Path:
    if "/" in name:
        file = Path(name)
    elif name.removesuffix(TRACE_SUFFIX) in known_names():
        return known_trace(name.removesuffix(TRACE_SUFFIX))
    else:
        file = trace_directory() / name
    if not file.is_file():
        near = nearest_of(name, [known + TRACE_SUFFIX for known in known_names()])
        hint = f"; did you mean '{near}'?" if near else ""
        raise BadExperiment(
            f"there is no trace {quoted(str(file), 300)}{hint}"
            f" (`./bulkhead record -o {shlex.quote(str(file))} PROGRAM` records one; traces known by name: "
            f"{', '.join(known_names())})"
        )
    return file
