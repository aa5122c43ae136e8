# SPDX-License-Identifier: Apache-2.0
"""Campaigns in processes of this machine: workers that are lost, errors, archives for a cluster."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import types
import zipfile
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from bulkhead.campaign import engine as engine_module
from bulkhead.campaign import worker
from bulkhead.campaign.archive import code_archive, files_archive, name_of
from bulkhead.campaign.engine import ATTEMPTS, CampaignFailed, Engine, Task
from bulkhead.campaign.points import PointFailed, run_jobs, task_of
from bulkhead.env.paths import platforms_dir

pytestmark = pytest.mark.usefixtures("machine_built")

LONG = 3000  # walks that take half a second or more


def job(walks: int, core: int = 0) -> dict[str, Any]:
    part = {"name": "reader", "core": core, "kind": "read", "walks": walks, "memory_bytes": 65536}
    return {"platform": "rpi2", "parts": [part]}


def line(walks: int) -> str:
    return json.dumps({"point": job(walks)})


def children(parent: int, text: str) -> list[int]:
    """Processes below this one with the text in their command."""
    parents, commands = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            status = (place / "stat").read_text().rpartition(")")[2].split()
            commands[int(place.name)] = (place / "cmdline").read_text()
        except OSError:
            continue
        parents[int(place.name)] = int(status[1])
    below = {parent}
    while more := {pid for pid, above in parents.items() if above in below} - below:
        below |= more
    return sorted(pid for pid in below - {parent} if text in commands[pid])


def wait_for(number: int, parent: int) -> list[int]:
    """Waits for this number of processes below this one."""
    end = time.time() + 60
    while len(found := children(parent, "")) != number:
        assert time.time() < end
        time.sleep(0.01)
    return found


@pytest.mark.parametrize("text", ["popen_loky", "campaign.serve"])
def test_a_killed_process_costs_time_and_no_point(text: str, tmp_path: Path) -> None:
    """A worker of joblib or its serving process is killed: the results are the same as without."""
    jobs = [(f"{walks}", job(walks)) for walks in range(LONG, LONG + 8)]
    killed: list[int] = []

    def kill() -> None:
        end = time.time() + 60
        while time.time() < end and not any(tmp_path.glob("*.json")):
            time.sleep(0.01)
        killed.append(children(os.getpid(), text)[0])
        os.kill(killed[0], signal.SIGKILL)

    expected = run_jobs(jobs, None, Engine(2), "whole")
    killer = Thread(target=kill)
    killer.start()
    found = run_jobs(jobs, tmp_path, Engine(2), "killed")
    killer.join()
    assert killed
    assert found == expected


def test_workers_that_are_lost_again_and_again_end_the_campaign(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The campaign ends after this many losses in a row; a finished task resets the count."""
    script = iter([*["lost"] * (ATTEMPTS - 1), "one", *["lost"] * (ATTEMPTS - 1)])

    class Parallel:
        def __call__(self, calls: Any) -> Iterator[tuple[int, str]]:
            if next(script) == "one":
                yield next(iter(calls)), '{"result": 5}'
            raise BrokenProcessPool("a worker was killed")

    monkeypatch.setattr(Engine, "_parallel", lambda *_: (Parallel(), lambda number, _task: number))
    answers = Engine(2).each([Task("{}"), Task("{}")])
    assert next(answers) == (0, {"result": 5})
    with pytest.raises(CampaignFailed, match="a worker was killed"):
        next(answers)
    assert next(script, None) is None
    assert "1 unfinished points run again" in capsys.readouterr().err


def test_what_is_no_loss_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def parallel(_calls: Any) -> Iterator[tuple[int, str]]:
        yield from ()
        raise ImportError("no module named 'zlib'")

    monkeypatch.setattr(Engine, "_parallel", lambda *_: (parallel, lambda number, _task: number))
    with pytest.raises(CampaignFailed, match="ImportError: no module named 'zlib'"):
        list(Engine(2).each([Task("{}")]))


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_has_the_name_of_its_point(processes: int) -> None:
    jobs = [("good", job(1)), ("bad", job(1, core=9))]
    with pytest.raises(PointFailed, match="point bad: "):
        run_jobs(jobs, None, Engine(processes), "x")


def test_a_killed_point_is_an_error_and_its_server_goes_on() -> None:
    begun = worker.run(line(1))
    server = worker._free[worker.own_source()][-1]
    wait_for(0, server.process.pid)  # the process of the first task has answered, but may not have ended

    def kill() -> None:
        os.kill(wait_for(1, server.process.pid)[0], signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    answer = json.loads(worker.run(line(10**9)))
    killer.join()
    assert answer == {"error": "its process was killed by signal 9"}
    assert worker.run(line(1)) == begun
    assert server.process.poll() is None


def test_a_server_that_dies_at_once_is_tried_twice_and_says_why(tmp_path: Path) -> None:
    place = tmp_path / "bulkhead" / "campaign"
    place.mkdir(parents=True)
    (tmp_path / "bulkhead" / "__init__.py").touch()
    (place / "__init__.py").touch()
    counted = tmp_path / "started"
    (place / "serve.py").write_text(
        f"open({str(counted)!r}, 'a').write('x')\nraise ImportError('no module named pydantic')\n"
    )
    answer = json.loads(worker._served(line(1), tmp_path, " at here"))
    assert re.fullmatch(
        r"its process at .* ended without an answer: ImportError: .*pydantic", answer["error"]
    )
    assert counted.read_text() == "x" * worker.STARTS


def worker_of_a_cluster() -> Any:
    """worker.py as a cluster's worker has it: executed from its text, without a file."""
    made = types.ModuleType("at_a_worker")
    exec(Path(worker.__file__).read_text(), made.__dict__)
    return made


def test_at_a_cluster_s_worker_a_dead_server_says_why_and_where(tmp_path: Path) -> None:
    place = tmp_path / "bulkhead" / "campaign"
    place.mkdir(parents=True)
    for package in (place, place.parent):
        (package / "__init__.py").touch()
    (place / "serve.py").write_text("raise ImportError('no module named pydantic')\n")
    code = tmp_path / "code.zip"
    with zipfile.ZipFile(code, "w") as packed:
        packed.writestr(worker.ABI_FILE, str(sysconfig.get_config_var("EXT_SUFFIX")))
        for file in sorted((tmp_path / "bulkhead").rglob("*.py")):
            packed.write(file, file.relative_to(tmp_path))
    answer = json.loads(worker_of_a_cluster().run(line(1), code))
    assert re.fullmatch(r"its process at \S+ ended without an answer: ImportError: .*", answer["error"])


def test_a_server_that_died_while_it_had_no_task_costs_no_attempt() -> None:
    """Idle servers die as often as there are attempts, and a task is still not refused."""
    dead = [worker._Server(worker.own_source()) for _ in range(worker.STARTS + 1)]
    for server in dead:
        server.process.kill()
        server.process.wait()
    worker._free.setdefault(worker.own_source(), []).extend(dead)
    assert "result" in json.loads(worker.run(line(1)))
    assert not set(dead) & set(worker._free[worker.own_source()])


def test_a_task_whose_process_ends_by_itself_is_an_error() -> None:
    """Otherwise the caller would wait for its answer for ever."""
    program = (
        "import os, sys, bulkhead.campaign.serve as serve\n"
        "serve.answer = lambda line: sys.exit(7)\n"
        "serve.serve(os.getppid())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=line(1) + "\n{}\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(worker.own_source())},
    )
    assert [json.loads(one) for one in done.stdout.splitlines()] == [
        {"error": "its process ended with exit code 7"}
    ] * 2


@pytest.mark.parametrize("name", ["plain", "with space", 'quote"and\\slash'])
def test_files_may_lie_in_any_directory(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    own = tmp_path / "own.yaml"
    own.write_text((platforms_dir() / "rpi2.yaml").read_text())
    files = files_archive({str(own): name_of(own)}, place)
    task = json.dumps({"point": {**job(1), "platform": f"{worker.FILES}/{name_of(own)}"}})
    assert worker.run(task, files=files) == worker.run(line(1))


def test_an_archive_runs_points_where_nothing_else_is(tmp_path: Path) -> None:
    """As on a worker, the code and a user's platform come from archives. The answer is the same."""
    own = tmp_path / "own.yaml"
    own.write_text((platforms_dir() / "rpi2.yaml").read_text())
    task = task_of({**job(3), "platform": str(own)})
    assert task.files == (str(own),)
    archives = tmp_path / "archives"
    code, files = code_archive(archives), files_archive({str(own): name_of(own)}, archives)
    there = task.line.replace(str(own), f"{worker.FILES}/{name_of(own)}")
    own.unlink()
    found = json.loads(worker.run(there, code, files))
    assert found == json.loads(worker.run(line(3)))
    with zipfile.ZipFile(code) as packed:
        assert not [name for name in packed.namelist() if str(tmp_path) in name]


def test_equal_contents_are_equal_archives(tmp_path: Path) -> None:
    one, two = code_archive(tmp_path / "one"), code_archive(tmp_path / "two")
    assert one.name == two.name
    assert one.read_bytes() == two.read_bytes()
    text = tmp_path / "a.yaml"
    text.write_text("a")
    first = files_archive({str(text): name_of(text)}, tmp_path)
    text.write_text("b")
    assert files_archive({str(text): name_of(text)}, tmp_path).name != first.name


def test_code_for_another_python_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = code_archive(tmp_path)
    monkeypatch.setattr(sysconfig, "get_config_var", lambda _name: ".cpython-399-m68k.so")
    answer = json.loads(worker.run(line(1), code))
    assert re.search(r"compiled for \.cpython-3.*is \.cpython-399-m68k\.so", answer["error"])


def test_a_relative_platform_travels_and_a_name_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rpi2").mkdir()
    (tmp_path / "my.yaml").touch()
    assert task_of({**job(1), "platform": "./my.yaml"}).files == ("./my.yaml",)
    assert task_of(job(1)).files == ()


def test_only_losses_are_losses() -> None:
    assert engine_module._is_loss(BrokenProcessPool())
    assert not engine_module._is_loss(KeyError("x"))
    assert not engine_module._is_loss(OSError("no space left"))
