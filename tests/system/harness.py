# SPDX-License-Identifier: Apache-2.0
"""Boots whole systems for the tests of this directory: small ones in this process, Linux at a terminal.

`boot` executes the steps of `bulkhead run` one by one, so that a test can change the system and read data
that the command does not print. `attached` is the command itself with a terminal of its own. Neither knows
the expectations of the tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect
import pytest
import yaml

from bulkhead.admission.load import load_system
from bulkhead.env.native import ensure_built
from bulkhead.env.paths import build_dir
from bulkhead.env.qemu import qemu_binary
from bulkhead.package.build import Build, BuildOptions, build_system
from bulkhead.run.boot import in_one_piece
from bulkhead.run.conclude import conclude
from bulkhead.run.console import HYPERVISOR, ConsoleLine, ConsoleParser
from bulkhead.run.emulator import EmulatedMachine
from bulkhead.run.prepare import make_target, registers_of
from bulkhead.run.session import SessionPlan, run_session
from bulkhead.run.status import SystemStatus, read_status
from bulkhead.run.target import RunOptions, Target
from tests.json_results import parsed, validated

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
MS = 10**6
S = 10**9
MIB = 1 << 20
_PROMPT = r"^~ # "  # of the shell
_LOOK_S = 0.1  # between two reads of the output
# Wall time after which a run counts as hung: nothing waits for it, so it allows for a busy machine.
HUNG_S = 300.0
STAYING = ("--for", "3600s")  # for examples whose `run.for` would end a session at their prompt
_SHOWN_LINES = 12  # of a domain's console, if a test failed
COMMAND = [sys.executable, "-m", "bulkhead.cli"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "dumb"}


def domain(name: str, program: str, core: int, **keys: Any) -> dict[str, Any]:
    """A bare-metal domain of a system file."""
    memory = [{"at": 0x4000_0000, "size": "4 MiB"}]
    image = {"elf": f"guests/{program}.elf"}
    return {"name": name, "cpus": [core], "image": image, "memory": memory, **keys}


def control(**params: int) -> dict[str, Any]:
    """The real-time domain that others must not disturb, on core 0."""
    given = {"period_us": 1000, "working_set_kib": 64, "report_every": 20, **params}
    return domain("control", "periodic", 0, criticality="rt", params=given)


def write_system(directory: Path, *domains: dict[str, Any], **keys: Any) -> Path:
    """A system file of these domains on the emulator's board."""
    system = {"bulkhead": 1, "name": "system", "platform": "qemu-virt", "domains": list(domains), **keys}
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "system.yaml"
    path.write_text(yaml.safe_dump(system, sort_keys=False))
    return path


@dataclass(frozen=True)
class Run:
    """Results of a run."""

    result: dict[str, Any]  # as `run --json` prints it
    directory: Path
    status: SystemStatus | None = None
    parser: ConsoleParser | None = None
    exit_code: int | None = None

    def domain(self, name: str) -> dict[str, Any]:
        return next(entry for entry in self.result["domains"] if entry["name"] == name)

    def lines(self, name: str = HYPERVISOR) -> list[str]:
        """Output lines of a domain or the hypervisor."""
        assert self.parser is not None
        return list(self.parser.domains[name].lines)

    @property
    def console(self) -> bytes:
        return (self.directory / "console.log").read_bytes()


class _Nobody:
    def line(self, line: ConsoleLine) -> None: ...

    def raw(self, data: bytes) -> None: ...

    def tick(self, parser: ConsoleParser) -> None: ...


Change = Callable[[Build], None]


def make(system: Path, directory: Path, change: Change | None = None, **asked: Any) -> Target:
    """Build a system for a run; `change` may damage the result. `asked` are the run's options."""
    options = RunOptions(**asked)
    loaded = load_system(system, options.overrides, unprotected=options.unprotected)
    assert loaded.ok, loaded.problems
    ensure_built(["target"])
    plugin = None
    if options.observe:
        ensure_built(["host"], ["observe"])
        plugin = build_dir() / "host" / "observe" / "libobserve.so"
    directory.mkdir(parents=True, exist_ok=True)
    build_options = BuildOptions(
        seed=options.seed, run_for_ns=options.for_ns or 0, in_place=not in_one_piece(options.boot)
    )
    built = build_system(loaded, directory / "package", build_options, options.hooks)
    if change is not None:
        change(built)
    return make_target(loaded, built, options, binary=qemu_binary(), plugin=plugin, directory=directory)


def boot(
    system: Path,
    directory: Path,
    change: Change | None = None,
    alter: Callable[[EmulatedMachine], EmulatedMachine] | None = None,
    **asked: Any,
) -> Run:
    """Build and run to the end, without a terminal; `alter` changes the planned machine."""
    target = make(system, directory, change, **asked)
    assert target.machine is not None
    plan = SessionPlan(
        machine=alter(target.machine) if alter else target.machine,
        directory=directory,
        domain_names=tuple(entry.name for entry in target.domains),
        frames=(*target.status_frames, *target.promise.pool_frames.tolist()),
        timeout_s=target.options.timeout_s or HUNG_S,
        attach=False,
        watched=target.watched,
        registers=tuple(registers_of(target)),
    )
    outcome = run_session(plan, _Nobody())
    result = validated(dict(conclude(target, outcome, version="test", commit="test")))
    pages = [outcome.image.bytes_at(pa) for pa in target.status_frames] if outcome.image else []
    status = read_status(target.layout, pages)
    return Run(result, directory, status if isinstance(status, SystemStatus) else None, outcome.console)


def command(system: Path, directory: Path, *arguments: str) -> Run:
    """`bulkhead run --json` as a separate process."""
    full = [*COMMAND, "run", str(system), "--json", "--no-page", "--directory", str(directory), *arguments]
    done = subprocess.run(
        full, capture_output=True, text=True, timeout=HUNG_S, cwd=ROOT, env=ENVIRONMENT, check=False
    )
    assert done.stdout, done.stderr
    return Run(parsed(done.stdout), directory, exit_code=done.returncode)


def said(console: bytes, domain: str) -> str:
    """Output of one domain: its lines, joined where others' lines interrupted them; the last may be
    incomplete."""
    parser = ConsoleParser([domain])
    parser.feed(console)
    parser.finish()
    return "\n".join(parser.domains[domain].lines)


class Terminal:
    """`bulkhead run` with the console of a Linux domain on a terminal.

    Input is typed at the terminal. A domain's answers are read from the run's console log, where each line
    has its tag: on the terminal the lines of all domains interrupt one another.
    """

    def __init__(self, system: Path, directory: Path, *arguments: str) -> None:
        self.directory = directory
        full = [*COMMAND, "run", str(system), "--directory", str(directory), *arguments]
        self.child = pexpect.spawn(
            full[0],
            full[1:],
            timeout=HUNG_S,
            encoding="utf-8",
            codec_errors="replace",
            cwd=str(ROOT),
            env=ENVIRONMENT,
            dimensions=(50, 200),
        )
        # By domain: number of output characters that earlier answers have used. (Not bytes of the log: a
        # place in the log can be in the middle of a line, where the rest has no tag.)
        self._seen: dict[str, int] = {}
        self._asked = 0

    def wait_for(self, pattern: str, domain: str = "linux") -> str:
        """The domain's output since the last wait, as soon as it contains the pattern (lines by `^` and `$`).

        If the pattern never comes, the failure shows the run's own report.
        """
        log = self.directory / "console.log"
        until = time.monotonic() + HUNG_S
        while time.monotonic() < until and self.child.isalive():
            # Reads the command's output, since the command would block otherwise.
            ended = self.child.expect([pexpect.TIMEOUT, pexpect.EOF], timeout=_LOOK_S)
            console = log.read_bytes() if log.exists() else b""
            everything = said(console, domain)
            text = everything[self._seen.get(domain, 0) :]
            if re.search(pattern, text, re.MULTILINE):
                self._seen[domain] = len(everything)
                return text
            if ended:
                break
        pytest.fail(f"{domain}: no {pattern!r} within {HUNG_S:.0f} s\n{self._what_it_did()}", pytrace=False)

    def wait_for_prompt(self, domain: str = "linux") -> str:
        """The domain's output before the shell waits for a line."""
        return self.wait_for(_PROMPT, domain)

    def _what_it_did(self) -> str:
        """The end of each domain's console, and the report's data on its VCPUs."""
        run = self.leave() if self.child.isalive() else self.wait_for_end()
        for domain in run.result["domains"]:
            domain["console"] = said(run.console, domain["name"]).splitlines()[-_SHOWN_LINES:]
        return json.dumps(run.result["domains"], indent=1)

    def type(self, line: str) -> None:
        self.child.sendline(line)

    def ask(self, line: str, domain: str = "linux") -> str:
        """Type a line at the prompt; returns the command's output, without the echo of the line."""
        self._asked += 1
        # The echo of the input has the mark in two pieces, so that only the shell prints it in one.
        typed, mark = f"end''-{self._asked}", f"end-{self._asked}"
        self.type(f"{line}; echo {typed}")
        text = self.wait_for(rf"{mark}\n(?s:.*){_PROMPT}", domain)
        before_mark = text.partition(f"{mark}\n")[0]
        return before_mark.rpartition(typed)[2].strip()

    def leave(self) -> Run:
        """Types Ctrl-A x."""
        self.child.send("\x01x")
        return self.wait_for_end()

    def wait_for_end(self) -> Run:
        self.child.expect(pexpect.EOF)
        self.child.close()
        result = parsed((self.directory / "report.json").read_text())
        return Run(result, self.directory, exit_code=self.child.exitstatus)

    def close(self) -> None:
        self.child.close(force=True)


@contextlib.contextmanager
def attached(system: Path, directory: Path, *arguments: str) -> Iterator[Terminal]:
    """The command at a terminal; it ends with the block."""
    terminal = Terminal(system, directory, *arguments)
    try:
        yield terminal
    finally:
        terminal.close()
