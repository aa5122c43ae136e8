# SPDX-License-Identifier: Apache-2.0
"""One guest as one domain: the system file, the run, and its results."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from checks.common import ROOT

GUEST = "guest"  # the domain's name
RAM = 0x4000_0000
_TAG = re.compile(r"^\[guest[+ ] *[\d.]+\] ?", re.MULTILINE)


@dataclass(frozen=True)
class Seen:
    """Results of a run: the object, the output of its command, and the domain's lines."""

    result: Mapping[str, Any]
    said: str
    lines: str

    @property
    def reasons(self) -> str:
        return "; ".join(self.result.get("reasons", ())) or "".join(self.said.strip().splitlines()[-1:])


@dataclass(frozen=True)
class Verdict:
    """Verdict of a case: whether it works, and a remark."""

    works: bool | None  # None: skipped, by the guest itself
    says: str


def as_expected(seen: Seen) -> Verdict:
    """Uses the run's own verdict."""
    works = seen.result.get("verdict") == "ok"
    return Verdict(works, "" if works else seen.reasons)


@dataclass(frozen=True)
class Case:
    """A guest and its expectation."""

    suite: str
    name: str
    domain: Mapping[str, Any]  # keys of a system file; `name` and, if not given, memory are added
    seconds: int = 30  # of guest time
    platform: str = "qemu-virt"
    icount: bool = False  # time is counted instructions: the emulator's cores count them then
    expect: Mapping[str, Any] = field(default_factory=dict)
    judge: Callable[[Seen], Verdict] = as_expected
    beside: Mapping[str, Any] = field(default_factory=dict)  # more keys of the system, and domains of it

    def system(self) -> dict[str, Any]:
        domain = {"memory": [{"at": RAM, "size": "256 MiB"}], "cpus": [1], **self.domain, "name": GUEST}
        return {
            "bulkhead": 1,
            "name": "known-guest",
            "platform": self.platform,
            **self.beside,
            "domains": [domain, *self.beside.get("domains", ())],
            "run": {"for": f"{self.seconds} s", "icount": self.icount},
            "expect": {GUEST: dict(self.expect)} if self.expect else {},
        }

    def run(self, directory: Path) -> Verdict:
        """Boots it; files of the run are left in `directory`."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        path = directory / "system.yaml"
        path.write_text(yaml.safe_dump(self.system(), sort_keys=False), encoding="utf-8")
        return self.judge(run_file(path, directory / "run"))


def run_file(path: Path, output: Path, *settings: str) -> Seen:
    """Runs a system file with `--set` for each of the settings; its files are left in `output`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "dumb"}
    command = [sys.executable, "-m", "bulkhead.cli", "run", str(path), "--directory", str(output)]
    command += [argument for setting in settings for argument in ("--set", setting)]
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    report, console = output / "report.json", output / "console.log"
    result = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    lines = console.read_text(encoding="utf-8", errors="replace") if console.exists() else ""
    own = "\n".join(line for line in lines.replace("\r", "").splitlines() if line.startswith(f"[{GUEST}"))
    return Seen(result, done.stdout + done.stderr, _TAG.sub("", own))
