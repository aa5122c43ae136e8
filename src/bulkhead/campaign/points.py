# SPDX-License-Identifier: Apache-2.0
"""Runs jobs side by side, each in a process of its own, and keeps what is done: interrupted work goes on.

A result is kept with a hash of everything that went into it (job, platform file, the machine and the Python
that sets it up); a point with the same hash is not run again. Experiments, calibration, validation and limits
use this.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from bulkhead.campaign.engine import CampaignFailed, Engine, Task
from bulkhead.config.load import load_platform
from bulkhead.config.locate import is_path, platform_path
from bulkhead.env.compiled import core_modules
from bulkhead.env.progress import progress
from bulkhead.errors import BulkheadError
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.job import Job
from bulkhead.machine.native import module_path, workload_image
from bulkhead.planning.mpam_native import module_path as encoder_path

R = TypeVar("R")

_OF_POINTS = ("machine", "config", "planning", "schema")  # packages that run in a point's process


class PointFailed(BulkheadError):
    """A job was impossible, or its process died."""


def run_jobs(
    jobs: Sequence[tuple[str, Job]], keep: Path | None, engine: Engine, title: str
) -> list[PointAnswer]:
    """The results in the order of the jobs, kept in `keep` by their key. Raises PointFailed."""
    texts = {name: _platform_text(name) for name in {str(job["platform"]) for _, job in jobs}}
    hashes = [
        input_hash(job, native, texts[str(job["platform"])])
        for (_, job), native in zip(jobs, _native_hashes(jobs), strict=True)
    ]
    names = [key for key, _ in jobs]
    return run_points(
        names,
        hashes,
        lambda number: task_of(jobs[number][1]),
        _answer,
        keep,
        engine,
        title,
    )


def _answer(_number: int, answer: Any) -> PointAnswer:
    """What the machine answers is taken as it is."""
    found: PointAnswer = answer
    return found


def run_points(
    names: Sequence[str],
    hashes: Sequence[str],
    task: Callable[[int], Task | R],
    result: Callable[[int, Any], R],
    keep: Path | None,
    engine: Engine,
    title: str,
) -> list[R]:
    """The results of points in their order, kept in `keep` by their names. Points with equal hashes run once.

    `hashes`: of what a point depends on. `task`: what runs a point, by its number, or its result if nothing
    has to run. `result`: makes a point's result of what its task answered. Raises PointFailed.
    """
    first = {one: number for number, one in reversed(list(enumerate(hashes)))}
    found: dict[int, R] = {}

    def done(number: int, made: R) -> None:
        found[number] = made
        if keep is not None:
            keep_result(keep / f"{names[number]}.json", hashes[number], made)

    if keep is not None:
        for number in first.values():
            kept = kept_result(keep / f"{names[number]}.json", hashes[number])
            if kept is not None:
                found[number] = kept
    waiting = sorted(number for number in first.values() if number not in found)
    with progress(f"{title}: {len(waiting)} of {len(first)} points to run") as update:
        tasks: dict[int, Task] = {}
        for number in waiting:
            made = task(number)
            if isinstance(made, Task):
                tasks[number] = made
            else:
                done(number, made)
        numbers = list(tasks)
        # Closed at once, whatever ends this: an exception's traceback would keep it and its processes alive.
        with contextlib.closing(engine.each(list(tasks.values()))) as answers:
            for at, answer in _named(answers, [names[number] for number in numbers]):
                done(numbers[at], result(numbers[at], answer))
                update(len(found) / len(first), names[numbers[at]])
    return [found[first[one]] for one in hashes]


def _native_hashes(jobs: Sequence[tuple[str, Job]]) -> list[str]:
    """Of what is compiled and makes each result: the machine, workloads, core/'s encoding of partitions."""
    machine, workloads = _file_hash(module_path()) + _code_hash(), _file_hash(workload_image())
    if any("partitions" in job for _, job in jobs):
        core_modules()
    encoder = _file_hash(encoder_path())
    return [machine + workloads * runs_workloads(job) + encoder * ("partitions" in job) for _, job in jobs]


@cache
def _code_hash() -> str:
    """Of the Python that turns a job into settings, memory and programs of the machine."""
    whole = hashlib.sha256()
    package = Path(__file__).resolve().parents[1]
    for file in sorted(one for place in _OF_POINTS for one in (package / place).rglob("*.py")):
        whole.update(file.read_bytes())
    return whole.hexdigest()


def runs_workloads(job: Job) -> bool:
    return any("workload" in part for part in job["parts"])


def input_hash(job: Job, machine: str, platform: str | None = None) -> str:
    """Of everything that a result depends on. `machine`: hash of what runs it; `platform`: text of its
    platform file, which is read if it is not given."""
    text = _platform_text(str(job["platform"])) if platform is None else platform
    return hashlib.sha256(json.dumps([job, text, machine], sort_keys=True).encode()).hexdigest()


def _platform_text(name: str) -> str:
    """With what it extends, and its parts."""
    path = platform_path(name)
    return load_platform(path)[1].text if path is not None else ""


def kept_result(path: Path, wanted: str) -> Any:
    """What `keep_result` has kept there for inputs with this hash; None: nothing."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept["result"] if isinstance(kept, dict) and kept.get("input") == wanted else None


def keep_result(path: Path, inputs: str, result: Any) -> None:
    """All of it or nothing: what was interrupted is done again. `inputs`: hash of what it depends on."""
    part = path.with_suffix(f".{os.getpid()}.part")  # another command may keep the same point
    path.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(json.dumps({"input": inputs, "result": result}), encoding="utf-8")
    part.replace(path)


def _named(answers: Iterable[tuple[int, dict[str, Any]]], names: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """The results of answers; an error has the point's name. Raises PointFailed."""
    try:
        for number, answer in answers:
            if "error" in answer:
                raise PointFailed(f"point {names[number]}: {answer['error']}")
            yield number, answer["result"]
    except CampaignFailed as error:
        raise PointFailed(str(error)) from error


def task_of(job: Job) -> Task:
    """With the files that it names: a platform of the user's, recorded traces."""
    platform = str(job["platform"])
    files = [platform] if is_path(platform) and Path(platform).is_file() else []
    files += [part["trace"]["file"] for part in job["parts"] if "trace" in part]
    return Task(json.dumps({"point": job}), tuple(files))


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
