# SPDX-License-Identifier: Apache-2.0
"""Reads the directory of a run for the terminal and the HTML page.

Directories can be old or incomplete: missing parts are left out. A missing or unreadable report.json is an
error, and so is one of another form if it cannot be shown (form.py).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bulkhead.env.files import exists
from bulkhead.errors import BulkheadError
from bulkhead.evidence.observer import ObserverResult, read_observer
from bulkhead.results.times import rated_ns

Json = dict[str, Any]  # a report.json or a part of it, which an older version may have written

# Words for what a test hook of `run` did to a domain.
_WRONG = {
    "miscolor": "miscolored",
    "mislabel": "mislabelled",
    "misprogram": "misprogrammed",
    "misplace": "misplaced tables of",
}


class NotARun(BulkheadError):
    """The path has no result of `bulkhead run`; the message says what is wrong with it."""


@dataclass(frozen=True)
class LoadedRun:
    """One run: its result, the data that vary between runs, and the observer's series if it was observed."""

    directory: Path
    report: Json
    about: Json
    observer: ObserverResult | None

    @property
    def label(self) -> str:
        """Name of the run among the runs of a comparison."""
        options = self.report.get("options", {})
        kinds = []
        if options.get("unprotected"):
            kinds.append("unprotected")
        elif self.protected:
            kinds.append("isolated")
        for option, wrong in _WRONG.items():
            if options.get(option):
                kinds.append(f"{wrong} {options[option]}")
        return ", ".join(kinds) or "not colored"

    @property
    def protected(self) -> bool:
        """Whether colors were promised, or parts of the cache by MPAM."""
        by_mpam = (self.report.get("mechanism") or {}).get("llc") == "mpam"
        return bool(self.report.get("coloring", {}).get("enabled")) or by_mpam

    @property
    def mpam(self) -> Json | None:
        found = self.report.get("mpam")
        return found if isinstance(found, dict) else None

    @property
    def rated_ns(self) -> int | None:
        """Guest time by which counts may be divided."""
        return rated_ns(self.report)

    @property
    def own_time(self) -> bool:
        """Whether time was counted or simulated, so that it does not depend on the host's load."""
        options = self.report.get("options", {})
        return self.report.get("on") == "machine" or bool(options.get("icount"))

    @property
    def domains(self) -> list[Json]:
        return list(self.report.get("domains", []))

    @property
    def ok(self) -> bool:
        return self.report.get("verdict") == "ok"

    @property
    def notices(self) -> list[str]:
        """Keys of the system file that the run did not enforce."""
        found = self.report.get("notices", [])
        return [f"{notice.get('key')}: {notice.get('cause')}" for notice in found if isinstance(notice, dict)]

    @property
    def not_shown(self) -> list[str]:
        """Promises that the run did not test."""
        return [str(text) for text in self.report.get("not_shown", [])]

    @property
    def attempts(self) -> list[Json]:
        return list(self.report.get("attempts", []))

    @property
    def interference(self) -> list[Json]:
        return list(self.report.get("interference", []))

    @property
    def shared_cores(self) -> list[Json]:
        """Cores that VCPUs of several domains share, with their promises."""
        return list(self.report.get("shared_cores", []))

    @property
    def expectations(self) -> list[Json]:
        """Expectations of the system file, with what was seen."""
        return list(self.report.get("expectations", []))

    @property
    def flows(self) -> list[Json]:
        """Flows between domains, including those that a manager added."""
        return list(self.report.get("flows", []))

    @property
    def chains(self) -> list[Json]:
        """Requests to servers with their answers."""
        return list(self.report.get("chains", []))

    def witness(self, name: str) -> Json | None:
        found = self.report.get("witnesses", {}).get(name)
        return found if isinstance(found, dict) else None


def load_run(path: Path) -> LoadedRun:
    """A run, given by its directory or by any file in it. Raises NotARun."""
    if not exists(path):
        raise NotARun(f"{path} does not exist, so this is not the directory of a run")
    directory = path if path.is_dir() else path.parent
    report = _read(directory / "report.json")
    domains = report.get("domains")
    named = isinstance(domains, list) and all(isinstance(d, dict) and "name" in d for d in domains)
    if report.get("command") != "run" or not named:
        raise NotARun(f"{directory / 'report.json'} is not the result of `bulkhead run`")
    observer = None
    if isinstance(report.get("witnesses"), dict) and "observer" in report["witnesses"]:
        owners = ["nobody", "hypervisor", *(domain["name"] for domain in report["domains"])]
        found = read_observer(directory / "observe-result.json", owners)
        observer = found if isinstance(found, ObserverResult) else None
    return LoadedRun(directory, report, read_about(directory), observer)


def read_about(directory: Path) -> Json:
    """The data that vary between equal runs (run.json). What is missing, damaged or of another form is left
    out."""
    try:
        found = _read(directory / "run.json")
    except NotARun:
        return {}
    command, options = found.get("command"), found.get("options")
    repeat = options.get("repeat") if isinstance(options, dict) else None
    return {
        **found,
        "command": command if isinstance(command, list) else [],
        "options": {"repeat": repeat if isinstance(repeat, list) else []},
    }


def _read(path: Path) -> Json:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotARun(f"{path} does not exist, so this is not the directory of a run") from None
    except (OSError, ValueError, RecursionError) as error:
        raise NotARun(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise NotARun(f"{path} is not the result of a command")
    return content
