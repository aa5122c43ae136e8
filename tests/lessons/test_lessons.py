# SPDX-License-Identifier: Apache-2.0
"""The README and the lessons of `docs/start`, followed as by a reader: save files, type commands, compare."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .lesson import Command, File, difference, steps_of

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "docs/start").glob("[0-9]-*.md"))


def test_there_are_six_lessons_which_all_have_commands() -> None:
    assert [page.name[0] for page in LESSONS] == list("123456")
    assert all(any(isinstance(step, Command) for step in steps_of(page)) for page in LESSONS)


@pytest.mark.parametrize("page", [ROOT / "README.md", *LESSONS], ids=lambda page: page.stem)
def test_a_lesson_prints_what_it_shows(page: Path) -> None:
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    for step in steps_of(page):
        if isinstance(step, File):
            path = ROOT / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
            continue
        ran = subprocess.run(
            step.line,
            shell=True,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        wrong = difference(step.expected, ran.stdout)
        if wrong is not None or ran.returncode != int(step.fails):
            pytest.fail(f"$ {step.line}\n{ran.stdout}\nends {ran.returncode}; {wrong}", pytrace=False)
