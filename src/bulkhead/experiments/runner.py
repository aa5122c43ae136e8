# SPDX-License-Identifier: Apache-2.0
"""Runs jobs side by side, each in a process of its own, and keeps what is done: interrupted work goes on.

A result is kept with a hash of everything that went into it (job, platform file, the compiled machine); what
has the same is not run again. Experiments, calibration and limits use this.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.env.compiled import core_modules
from bulkhead.env.progress import progress
from bulkhead.machine.native import module_path, workload_image
from bulkhead.planning.mpam_native import module_path as encoder_path

Job = dict[str, Any]
Result = dict[str, Any]

LOOK_S = 0.2


class PointFailed(RuntimeError):
    """A job was impossible, or its process died."""


def run_jobs(
    jobs: Sequence[tuple[str, Job]], keep: Path | None, workers: int | None, title: str
) -> list[Result]:
    """The results in the order of the jobs, kept in `keep` by their key. Raises PointFailed."""
    found: dict[int, Result] = {}
    hashes = [input_hash(job, native) for (_, job), native in zip(jobs, _native_hashes(jobs), strict=True)]
    first = {one: index for index, one in reversed(list(enumerate(hashes)))}  # equal jobs are run once
    if keep is not None:
        for index in first.values():
            kept = kept_result(keep / f"{jobs[index][0]}.json", hashes[index])
            if kept is not None:
                found[index] = kept
    waiting = sorted(index for index in first.values() if index not in found)
    # Closed at once, whatever ends this: an exception's traceback would keep it and its processes alive.
    with (
        progress(f"{title}: {len(waiting)} of {len(first)} points to run") as update,
        contextlib.closing(_run(waiting, jobs, workers)) as running,
    ):
        for index, result in running:
            found[index] = result
            if keep is not None:
                keep_result(keep / f"{jobs[index][0]}.json", hashes[index], result)
            update(len(found) / len(first), jobs[index][0])
    return [found[first[one]] for one in hashes]


def _native_hashes(jobs: Sequence[tuple[str, Job]]) -> list[str]:
    """Of what is compiled and makes each result: the machine, workloads, core/'s encoding of partitions."""
    machine, workloads = _file_hash(module_path()), _file_hash(workload_image())
    if any("partitions" in job for _, job in jobs):
        core_modules()
    encoder = _file_hash(encoder_path())
    return [machine + workloads * runs_workloads(job) + encoder * ("partitions" in job) for _, job in jobs]


def runs_workloads(job: Job) -> bool:
    return any("workload" in part for part in job["parts"])


def input_hash(job: Job, machine: str) -> str:
    """Of everything that a result depends on; `machine`: hash of what runs it."""
    path = platform_path(str(job["platform"]))
    platform = load_platform(path)[1].text if path is not None else ""  # with what it extends, and its parts
    text = json.dumps([job, platform, machine], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def kept_result(path: Path, wanted: str) -> Any:
    """What `keep_result` has kept there for inputs with this hash; None: nothing."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept["result"] if isinstance(kept, dict) and kept.get("input") == wanted else None


def keep_result(path: Path, inputs: str, result: Any) -> None:
    """All of it or nothing: what was interrupted is done again. `inputs`: hash of what it depends on."""
    part = path.with_suffix(".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(json.dumps({"input": inputs, "result": result}), encoding="utf-8")
    part.replace(path)


class _Worker:
    """A process that forks one for each job, and is used by one thread."""

    def __init__(self) -> None:
        source = Path(__file__).resolve().parents[2]
        path = os.pathsep.join([str(source), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bulkhead.machine.point", "--serve", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
            start_new_session=True,  # an interrupt is for the command, which ends its workers
        )

    def run(self, job: Job) -> Result:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PointFailed("its process ended without an answer")
        result: Result = json.loads(line)
        if "error" in result:
            raise PointFailed(str(result["error"]))
        return result

    def close(self) -> None:
        """With the process of the job that it is at: the rest of a long one is of no use."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def _run(
    waiting: Sequence[int], jobs: Sequence[tuple[str, Job]], workers: int | None
) -> Generator[tuple[int, Result], None, None]:
    """Results as they come. Whatever ends this, no process is left behind."""
    if not waiting:
        return
    count = max(1, min(len(waiting), workers or len(os.sched_getaffinity(0))))
    free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    started = [_Worker() for _ in range(count)]
    for worker in started:
        free.put(worker)

    def one(index: int) -> tuple[int, Result]:
        worker = free.get()
        try:
            return index, worker.run(jobs[index][1])
        except PointFailed as error:
            raise PointFailed(f"point {jobs[index][0]}: {error}") from error
        finally:
            free.put(worker)

    pool = ThreadPoolExecutor(count)
    try:
        pending = {pool.submit(one, index) for index in waiting}
        while pending:
            # An interrupt may reach another thread, and does not end a wait that has no limit.
            done, pending = wait(pending, LOOK_S, FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in started:
            worker.close()
        pool.shutdown(wait=True)


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
