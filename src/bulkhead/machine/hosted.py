# SPDX-License-Identifier: Apache-2.0
"""One run of the hypervisor and its guests on the simulated machine, as a process of its own.

`hosted_run` (machine/hosted/main.cpp) gets a request made from a build (package/build.py with `hosted=True`)
and the settings of its platform; the answer has the counts and the console. Used by tests.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bulkhead.env.paths import host_dir
from bulkhead.errors import BulkheadError
from bulkhead.geometry import PAGE_BYTES
from bulkhead.machine.request import request_of
from bulkhead.machine.settings import Settings
from bulkhead.package.build import Build

TARGET = "hosted_run"  # of the host build; builds the images, too
SECOND_PS = 10**12
LONGEST_PS = 100 * SECOND_PS


class HostedNotRun(BulkheadError):
    """The machine refused the request."""


@dataclass(frozen=True)
class HostedRun:
    """Results of a run."""

    answer: dict[str, Any]  # machine/hosted/run.h
    frames: dict[int, bytes]  # contents of the requested pages, by physical address

    @property
    def console(self) -> str:
        return str(self.answer["console"])

    @property
    def digest(self) -> int:
        return int(self.answer["digest"])


def ensure_hosted() -> None:
    """Build the machine and its images if they are out of date. Raises BuildFailed or MissingTool."""
    from bulkhead.env.native import ensure_built

    ensure_built(["host"], [TARGET])


def run_hosted(
    build: Build,
    *,
    settings: Settings | None = None,
    until_ps: int = LONGEST_PS,
    frames: tuple[int, ...] = (),
    typed: Sequence[tuple[int, str]] = (),
) -> HostedRun:
    """Run a build until it turns the machine off, or until `until_ps`. Raises HostedNotRun with the reason.

    `typed`: (time in ps of the machine, characters) that arrive at the UART.
    """
    shown = build.directory / "frames.bin"
    elves = [domain.image.elf for domain in build.plan.system.domains]
    programs = [build.hypervisor_elf.parents[2] / elf for elf in elves if elf is not None]
    request = request_of(build, programs, frames, shown) | {
        "until_ps": until_ps,
        "typed": [{"at_ps": at_ps, "text": text} for at_ps, text in typed],
    }
    if settings is not None:
        request["settings"] = settings
    done = subprocess.run(
        [host_dir() / "machine" / "hosted" / TARGET],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1) or not done.stdout:
        raise HostedNotRun(f"the machine ended with {done.returncode}: {done.stderr.strip()}")
    *pieces, answer = (json.loads(line) for line in done.stdout.splitlines())
    if "error" in answer:
        raise HostedNotRun(answer["error"])
    answer["console"] = "".join(piece["console"] for piece in pieces)
    pages = shown.read_bytes()
    found = {pa: pages[n * PAGE_BYTES : (n + 1) * PAGE_BYTES] for n, pa in enumerate(frames)}
    return HostedRun(answer, found)
