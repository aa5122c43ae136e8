# SPDX-License-Identifier: Apache-2.0
"""Shared by the checks: the result of one, the files of the checkout, running a tool.

Used by every module here; it must not know any particular check.
"""

import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
# Programs of the Python environment that runs this (ruff, clang-format, ...).
VENV_BIN = Path(sys.executable).parent
# Limit of the printed output of a failed check.
SHOWN_LINES = 60


@dataclass(frozen=True)
class Result:
    """How one check ended; `output` describes the problems, and is empty if it passed."""

    name: str
    output: str
    seconds: float

    def text(self) -> str:
        """One line; for a failed check also its problems, limited in length, with all of them in a file."""
        line = f"{'ok  ' if self.passed else 'FAIL'} {self.name} ({self.seconds:.1f} s)"
        lines = self.output.splitlines()
        if len(lines) > SHOWN_LINES:
            log = BUILD / "logs" / f"{self.name.replace(' ', '-')}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(self.output + "\n")
            lines = [
                *lines[:SHOWN_LINES],
                f"… {len(lines) - SHOWN_LINES} more lines: {log.relative_to(ROOT)}",
            ]
        return "\n".join([line, *(f"    {text}" for text in lines)])

    @property
    def passed(self) -> bool:
        return not self.output


def timed(name: str, check: Callable[[], str]) -> Result:
    """Run a check that returns its problems."""
    start = time.monotonic()
    try:
        output = check()
    except Exception:  # a check that breaks has failed; the others go on
        output = traceback.format_exc()
    return Result(name, output, time.monotonic() - start)


def run(command: Sequence[str | Path], text: str | None = None) -> str:
    """Run a tool in the checkout; returns its output if it failed, else nothing."""
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    return (done.stdout + done.stderr).strip() or f"{command[0]} ended with {done.returncode}"


def changed_files() -> list[Path]:
    """Files of the checkout that differ from the upstream branch, committed or not."""
    base = ["git", "merge-base", "HEAD", "@{upstream}"]
    found = subprocess.run(base, cwd=ROOT, capture_output=True, text=True, check=False)
    since = found.stdout.strip() if found.returncode == 0 else "HEAD"
    command = ["git", "diff", "--name-only", "-z", since]
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    command = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    new = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (ROOT / name for name in (tracked + new).split("\0") if name)
    return sorted(path for path in paths if path.is_file())


def files(*suffixes: str) -> list[Path]:
    """Files of the checkout that are or could be committed, with one of the suffixes (all without)."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = (ROOT / name for name in listed.split("\0") if name)
    return sorted({file for file in names if file.is_file() and (not suffixes or file.suffix in suffixes)})
