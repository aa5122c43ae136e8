# SPDX-License-Identifier: Apache-2.0
"""Results of `record` and `workloads compare`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class TraceContents(TypedDict):
    """What is in a trace, as machine/trace/info.cpp prints it."""

    description: object
    """What the trace states about itself: program, arguments, package and recorder; null: nothing."""
    instructions: int
    """Instructions that were recorded."""
    records: int
    """Accesses that were recorded."""
    reads: int
    """Reads."""
    writes: int
    """Writes."""
    pages: int
    """Pages that were accessed."""
    lines: int
    """Lines of 64 bytes that were accessed."""


@with_config(CLOSED)
class RecordedKeys(TraceContents):
    """The trace of a program."""

    trace: str
    """File with the trace."""
    bytes: int
    """Its size."""
    exit_code: int
    """Exit code of the program."""
    unseen_zeroings: int
    """Zeroed blocks of 64 bytes that are not in the trace."""
    threads_left_out: bool
    """The program has further threads, which were not recorded."""


@with_config(CLOSED)
class RecordResult(Envelope, RecordedKeys):
    """The trace of a program."""


@with_config(CLOSED)
class ExecutedResult(TypedDict):
    """What one build of a workload executed."""

    instructions: int
    """Instructions."""
    reads: int
    """Reads."""
    writes: int
    """Writes."""
    checksum: str
    """Checksum of the workload's result."""


@with_config(CLOSED)
class CountErrorsResult(TypedDict):
    """Relative errors of the instrumented build's counts."""

    instructions: float
    """Of instructions."""
    reads: float
    """Of reads."""
    writes: float
    """Of writes."""


@with_config(CLOSED)
class TraceComparisonResult(TypedDict):
    """Both builds of a workload."""

    workload: str
    """The workload."""
    aarch64: ExecutedResult
    """The AArch64 build."""
    instrumented: ExecutedResult
    """The instrumented build."""
    error: CountErrorsResult
    """Errors of the instrumented build."""


@with_config(CLOSED)
class WorkloadsCompareResult(Envelope):
    """Instrumented and AArch64 builds of workloads."""

    rows: list[TraceComparisonResult]
    """The workloads."""
