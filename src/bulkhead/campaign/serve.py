# SPDX-License-Identifier: Apache-2.0
"""A process that answers tasks, one line of JSON each: `python -m bulkhead.campaign.serve PID`.

A task is `{"point": job}` (a job of machine/point.py) or `{"armv7": request}` (a request of
machine/armv7.py); its answer is `{"result": …}` or `{"error": text}`. Each task runs in a process that is
forked for it, because a process runs one machine at a time, and because what a task breaks ends with it.
The process ends with the process `PID`, which started it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
from typing import Any

from bulkhead.env.child import end_with
from bulkhead.errors import BulkheadError
from bulkhead.machine import armv7
from bulkhead.machine.point import job_platform, run_point


def answer(line: str) -> str:
    """The answer to a task, as one line without its end."""
    try:
        task = json.loads(line)
        found = _armv7(task["armv7"]) if "armv7" in task else run_point(task["point"])
        return json.dumps({"result": found})
    except KeyError as error:
        return json.dumps({"error": f"the job has no key {error}"})
    except (BulkheadError, ValueError, TypeError) as error:
        return json.dumps({"error": str(error)})
    except Exception as error:  # no memory left, or a mistake of ours: the caller still gets a line
        return json.dumps({"error": f"{type(error).__name__}: {error}"})


def _armv7(request: dict[str, Any]) -> dict[str, Any]:
    return dataclasses.asdict(armv7.run(request))


def serve(starter: int) -> None:
    end_with(starter)
    for line in sys.stdin:
        with contextlib.suppress(Exception):  # the child will report it
            job_platform(json.loads(line)["point"])  # kept for all children
        serving = os.getpid()
        child = os.fork()
        if child == 0:
            end_with(serving)
            print(answer(line), flush=True)  # noqa: T201
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0:
            how = "was killed by signal" if os.WIFSIGNALED(status) else "ended with exit code"
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            error = f"its process {how} {number}"
            print(json.dumps({"error": error}), flush=True)  # noqa: T201


if __name__ == "__main__":
    serve(int(sys.argv[1]))
