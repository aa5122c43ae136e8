# SPDX-License-Identifier: Apache-2.0
"""Short runs of a platform whose digests are kept in tests/golden/machine: generators, a trace, a program.

As a process it runs those of generators and traces with another build of the machine:
`python -m tests.machine.golden_runs MODULE TRACE PLATFORM...` prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bulkhead.env.compiled import load_compiled
from bulkhead.machine.native import MODULE
from bulkhead.machine.point import job_platform, run_point

from . import handmade_trace as made
from .handmade_trace import READ, WRITE, Record

KIB = 1024
KINDS = ("update", "chase", "copy", "random", "read", "write")  # of machine/generator.h
RECORDS = 4000
STRIDES = (8, 64, 4160)  # words, lines, a line of the next page

Summary = dict[str, Any]


def write_mixed_trace(path: Path) -> Path:
    """Stretches of words, of lines and of pages, and every third access is a store."""
    records, address = [], 0x5555_0000
    for number in range(RECORDS):
        address += STRIDES[number // 100 % len(STRIDES)]
        if number % 300 == 0:
            address = 0x5555_0000 + number * 8
        records.append(Record(WRITE if number % 3 == 2 else READ, 3, 1 + number % 7, address))
    return made.write_trace(path, records)


def of_generators(name: str) -> list[Summary]:
    """All kinds, as many at a time as there are cores, in one run each time."""
    at_once = _cores(name)
    return [_run(name, _walks(KINDS[first : first + at_once])) for first in range(0, len(KINDS), at_once)]


def of_trace(name: str, trace: Path) -> Summary:
    """On the first core, beside a writing generator on the last one if there is another."""
    described = {"file": str(trace), "sha256": ""}
    part = {
        "name": "trace",
        "workload": trace.name,
        "trace": described,
        "core": 0,
        "memory_bytes": 1024 * KIB,
    }
    beside = {"name": "beside", "core": _cores(name) - 1, "memory_bytes": 512 * KIB}
    beside |= {"kind": "write", "walks": 1, "stride_bytes": 64}
    return _run(name, [part, *([beside] if _cores(name) > 1 else [])])


def of_program(name: str) -> Summary:
    """A sort on the first core: text, stack, data, calls."""
    part = {"name": "sort", "workload": "qsort", "core": 0, "memory_bytes": 1024 * KIB}
    return _run(name, [part | {"params": {"small": 1, "iterations": 2}}])


def of_front_ends(name: str, trace: Path) -> dict[str, Any]:
    """Results that do not depend on the compiler of the machine."""
    return {"generators": of_generators(name), "trace": of_trace(name, trace)}


def _walks(kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {"name": kind, "core": core, "memory_bytes": 512 * KIB, "kind": kind, "walks": 2}
        for core, kind in enumerate(kinds)
    ]


def _cores(name: str) -> int:
    return job_platform({"platform": name}).cores.count


def _run(name: str, parts: list[dict[str, Any]]) -> Summary:
    """The digest, and further values that show how far apart two digests are."""
    found = run_point({"platform": name, "parts": parts})
    return {
        "digest": found["digest"],
        "simulated_ps": found["simulated_ps"],
        "instructions": sum(core["instructions"] for core in found["cores"]),
        "l1d_refill": sum(core["events"]["l1d_refill"] for core in found["cores"]),
        "dram_read_bytes": found["dram"]["read_bytes"],
        "dram_written_bytes": found["dram"]["written_bytes"],
    }


def main(module: str, trace: str, *names: str) -> None:
    load_compiled(Path(module), MODULE, "the machine by another compiler", "is not there")
    json.dump({name: of_front_ends(name, Path(trace)) for name in names}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
