# SPDX-License-Identifier: Apache-2.0
"""Runs tasks side by side with joblib: in processes of this machine (loky), or at a Dask cluster's workers.

The same tasks give the same answers at both. If a worker is lost, its tasks run again: Dask gives them to
another worker, also to one that joins later; for loky `each` dispatches them again.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import sys
import sysconfig
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bulkhead.campaign import worker
from bulkhead.campaign.archive import code_archive, files_archive, name_of
from bulkhead.env.child import end_with
from bulkhead.env.errors import MissingTool
from bulkhead.env.paths import build_dir
from bulkhead.env.progress import notice
from bulkhead.errors import BulkheadError, EnvironmentLacks

ATTEMPTS = 3  # in a row that lose workers before any task is done
CONNECT_S = 10
WORKERS_S = 30  # how long a cluster may have no worker
AHEAD = "4 * n_jobs"  # tasks that are dispatched: a cluster may grow fourfold within a campaign

# A task that joblib runs: a function and its arguments; what it returns is the task's number and its answer.
Call = Callable[[int, "Task"], Any]


class CampaignFailed(BulkheadError):
    """Workers are lost again and again, or cannot work."""


class NoCluster(EnvironmentLacks):
    """There is no cluster at the address, or the cluster has no worker."""


@dataclass(frozen=True)
class Task:
    """One line of JSON for a serving process (serve.py), and the paths of files that are values in it."""

    line: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Engine:
    """Where tasks run. `jobs`: number of processes here, None: one for each core. `cluster`: address of a
    Dask scheduler, as `tcp://host:8786`, whose workers are used in place of processes here."""

    jobs: int | None = None
    cluster: str | None = None

    def workers(self) -> int:
        """How many tasks run at a time, now. Raises NoCluster, MissingTool."""
        if self.cluster is None:
            return self.jobs or len(os.sched_getaffinity(0))
        return sum(_cluster_of(self.cluster).client.ncores().values())

    def each(self, tasks: Sequence[Task]) -> Generator[tuple[int, dict[str, Any]], None, None]:
        """Number and answer of each task, as they come. If it is closed early, what runs here ends. Raises
        CampaignFailed, NoCluster, MissingTool."""
        left = dict(enumerate(tasks))
        failures = 0
        while left:
            answers = None
            try:
                parallel, call = self._parallel(tasks)
                with _uninterrupted_start() if self.cluster is None else contextlib.nullcontext():
                    answers = parallel(call(number, task) for number, task in list(left.items()))
                for number, line in answers:
                    del left[number]
                    failures = 0
                    yield number, json.loads(line)
            except BulkheadError:
                raise
            except Exception as error:
                failures += 1
                if not _is_loss(error) or failures == ATTEMPTS:
                    raise CampaignFailed(_text(error)) from error
                notice(f"workers were lost ({_text(error)}): {len(left)} unfinished points run again")
            finally:
                if answers is not None:
                    with warnings.catch_warnings(
                        action="ignore"
                    ):  # joblib's, about answers that are not used any more
                        answers.close()

    def _parallel(self, tasks: Iterable[Task]) -> tuple[Any, Call]:
        """joblib's runner, and what makes a call of a task."""
        import joblib

        how = {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": AHEAD}
        if self.cluster is None:
            count = self.workers()
            begin = {"initializer": _begin, "initargs": (os.getpid(),)} if count > 1 else {}
            return joblib.Parallel(count, "loky", **how, **begin), _call_here
        cluster = _cluster_of(self.cluster)
        with joblib.parallel_config(cluster.backend()):
            return joblib.Parallel(-1, **how), _call_at(cluster, tasks)


@contextlib.contextmanager
def _uninterrupted_start() -> Generator[None, None, None]:
    """Worker processes that start inside inherit that interrupts are blocked: until `_begin` runs, one would
    print a traceback."""
    from joblib.externals.loky.backend import resource_tracker

    resource_tracker.ensure_running()  # its start would end the blocking
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(starter: int) -> None:
    """A worker process of this machine: an interrupt is for the command, with which the worker ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(starter)


def _call_here(number: int, task: Task) -> Any:
    import joblib

    return joblib.delayed(_run_here)(number, task.line)


def _run_here(number: int, line: str) -> tuple[int, str]:
    return number, worker.run(line)


def _call_at(cluster: _Cluster, tasks: Iterable[Task]) -> Call:
    """Has the cluster's workers get the code and the files."""
    import joblib

    run_there = joblib.delayed(_by_value(_run_there))
    directory = build_dir() / "campaigns"
    code = cluster.send(code_archive(directory))
    names = {file: name_of(Path(file)) for file in {one for task in tasks for one in task.files}}
    files = cluster.send(files_archive(names, directory)) if names else ""

    def call(number: int, task: Task) -> Any:
        line = task.line
        for file in task.files:
            line = line.replace(json.dumps(file), json.dumps(f"{worker.FILES}/{names[file]}"))
        return run_there(number, line, code, files)

    return call


def _run_there(number: int, line: str, code: str, files: str) -> tuple[int, str]:
    """At a cluster's worker, which gets this function by value: runs the archive's worker.py."""
    import sys
    import types
    import zipfile
    from pathlib import Path

    from distributed import get_worker

    place = Path(get_worker().local_directory)
    name = code.removesuffix(".zip").replace("-", "_")
    if name not in sys.modules:
        module = types.ModuleType(name)
        with zipfile.ZipFile(place / code) as packed:
            exec(packed.read("bulkhead/campaign/worker.py"), module.__dict__)  # noqa: S102 - our own code
        sys.modules.setdefault(name, module)
    return number, sys.modules[name].run(line, place / code, place / files if files else None)


def _by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as something that can be unpickled where this module is not installed."""
    import cloudpickle

    own = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(own)
    try:
        pickled = cloudpickle.dumps(function)
    finally:
        cloudpickle.unregister_pickle_by_value(own)
    called: Callable[..., Any] = cloudpickle.loads(pickled)

    class ByValue:
        def __call__(self, *arguments: Any) -> Any:
            return called(*arguments)

        def __reduce__(self) -> tuple[Any, ...]:
            return cloudpickle.loads, (pickled,)

    return ByValue()


class _Cluster:
    """A connection to a scheduler. Raises NoCluster, MissingTool."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ModuleNotFoundError as error:
            hint = "pip install distributed"
            raise MissingTool("the Python package 'distributed'", "distributed", hint) from error
        try:
            self.client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise NoCluster(
                f"there is no Dask scheduler at {address}\nStart one with: dask scheduler"
            ) from error
        self.address = address
        self.sent: dict[str, str] = {}  # name at the workers by the archive's name
        atexit.register(self.forget)

    def wait_for_worker(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=WORKERS_S)
        except TimeoutError as error:
            raise NoCluster(
                f"the cluster at {self.address} has no worker\n"
                f"Start workers with: dask worker {self.address} --nthreads 1"
            ) from error

    def check_workers(self) -> None:
        """Raises CampaignFailed if one cannot run what is compiled here. A worker that joins later answers so
        for itself (worker.py)."""
        here = sysconfig.get_config_var("EXT_SUFFIX")
        found = self.client.run(sysconfig.get_config_var, "EXT_SUFFIX")
        wrong = sorted(f"{one} is {abi}" for one, abi in found.items() if abi != here)
        if wrong:
            raise CampaignFailed(f"the machine is compiled for {here}; {', '.join(wrong)}")

    def backend(self) -> Any:
        """joblib's, which by itself runs tasks here if the cluster has one worker."""
        from joblib._dask import DaskDistributedBackend

        class Backend(DaskDistributedBackend):  # type: ignore[misc]
            def effective_n_jobs(self, n_jobs: int) -> int:
                return max(2, int(super().effective_n_jobs(n_jobs)))

            def submit(self, func: Any, callback: Any = None) -> Any:
                """joblib would wait for ever for a task that ends with an error at the scheduler."""
                future = super().submit(func, callback)
                future.add_done_callback(lambda done: done.exception() and callback(done.exception()))
                return future

        return Backend(client=self.client, wait_for_workers_timeout=WORKERS_S)

    def send(self, archive: Path) -> str:
        """To all workers, also those that join later. Its name at the workers."""
        from distributed.diagnostics.plugin import UploadFile

        if archive.name not in self.sent:
            upload = UploadFile(str(archive), load=False)
            # A name of this client's own: nobody writes the file again while a task reads it.
            upload.filename = f"{archive.stem}-{uuid.uuid4().hex[:12]}.zip"
            try:
                self.client.register_plugin(upload, name=upload.filename)
            except OSError as error:
                raise CampaignFailed(f"a worker could not store the code or the files: {error}") from error
            self.sent[archive.name] = upload.filename
        return self.sent[archive.name]

    def forget(self) -> None:
        """At the end of this program: workers that join later do not get the archives."""
        for name in self.sent.values() if self.client.status == "running" else ():
            with contextlib.suppress(Exception):
                self.client.unregister_worker_plugin(name)


@cache
def _connected(address: str) -> _Cluster:
    return _Cluster(address)


def _cluster_of(address: str) -> _Cluster:
    """With at least one worker. Raises NoCluster, MissingTool."""
    cluster = _connected(address)
    if cluster.client.status != "running":  # its scheduler has gone
        _connected.cache_clear()
        cluster = _connected(address)
    cluster.wait_for_worker()
    cluster.check_workers()
    return cluster


def _is_loss(error: Exception) -> bool:
    """Whether it says that a worker, or all of them, have gone."""
    if isinstance(error, (BrokenProcessPool, CancelledError)):
        return True
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(
        error,
        (distributed.scheduler.KilledWorker, distributed.CancelledError, distributed.comm.CommClosedError),
    )


def _text(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0].rpartition("cancelled for reason: ")[2]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
