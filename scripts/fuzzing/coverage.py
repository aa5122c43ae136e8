# SPDX-License-Identifier: Apache-2.0
"""Lines of the code under test that the corpus of a target reaches, counted by clang's own counters.

Called by scripts/fuzz.py after a run. The counting program has no sanitizers, so it is fast, and a finding
does not end it before its counts are written.
"""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from checks.common import ROOT
from fuzzing.target import TREE, corpus, inputs

UNDER_TEST = ("core/", "hypervisor/", "guests/programs/broker/", "guests/runtime/", "machine/armv7/")
NOT_UNDER_TEST = ("hypervisor/arch/hosted/",)


@dataclass(frozen=True)
class Lines:
    covered: int
    total: int

    def __str__(self) -> str:
        return f"{self.covered} of {self.total}"


@dataclass(frozen=True)
class Coverage:
    """Lines of each file of the repository that the target reaches at all."""

    files: dict[str, Lines]

    @property
    def total(self) -> Lines:
        lines = self.files.values()
        return Lines(sum(file.covered for file in lines), sum(file.total for file in lines))

    def as_json(self) -> dict[str, object]:
        return {
            "covered": self.total.covered,
            "total": self.total.total,
            "files": {name: [lines.covered, lines.total] for name, lines in self.files.items()},
        }


def _tool(name: str) -> str | None:
    for candidate in (name, f"{name}-14", f"/usr/lib/llvm-14/bin/{name}"):
        if found := shutil.which(candidate):
            return found
    return None


def count_lines(target: str) -> Coverage | None:
    """None if clang's tools are missing."""
    merge, report = _tool("llvm-profdata"), _tool("llvm-cov")
    program = TREE / "tests" / "fuzz" / f"cover_{target}"
    if merge is None or report is None or not program.exists():
        return None
    raw = TREE / "logs" / f"{target}.profraw"
    merged = raw.with_suffix(".profdata")
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(raw)}
    command: list[str | Path] = [program, "--gtest_brief=1", corpus(target), *inputs(target)]
    subprocess.run(command, env=environment, capture_output=True, cwd=ROOT, check=False)
    if not raw.exists():
        return None
    subprocess.run([merge, "merge", "-sparse", raw, "-o", merged], capture_output=True, check=True)
    export = [report, "export", "-summary-only", f"-instr-profile={merged}", str(program)]
    exported = subprocess.run(export, capture_output=True, text=True, check=True).stdout
    files: dict[str, Lines] = {}
    for entry in json.loads(exported)["data"][0]["files"]:
        path = Path(os.path.normpath(entry["filename"]))
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
        lines = Lines(entry["summary"]["lines"]["covered"], entry["summary"]["lines"]["count"])
        if name.startswith(UNDER_TEST) and not name.startswith(NOT_UNDER_TEST) and lines.covered:
            files[name] = lines
    return Coverage(dict(sorted(files.items())))
