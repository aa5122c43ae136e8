# SPDX-License-Identifier: Apache-2.0
"""Finds the run that a user means: the directory of one, or a system file, which means its latest run.

Called by `top` and `trace`.
"""

from __future__ import annotations

from pathlib import Path

from bulkhead.config.locate import system_path
from bulkhead.env.files import is_directory, is_file
from bulkhead.env.paths import build_dir
from bulkhead.errors import BulkheadError
from bulkhead.run.directory import is_in_use


class NoRun(BulkheadError):
    """There is no such run; the message is for the user."""


def find_run(given: Path, wanted: str) -> Path:
    """The directory of a run that has the file `wanted`. Raises NoRun."""
    if is_directory(given):
        if not (given / wanted).is_file():
            raise NoRun(
                _goes_on(given, wanted)
                if is_in_use(given)
                else f"{given} has no {wanted}: it is not the directory of a run"
            )
        return given
    given = system_path(given)
    if not is_file(given):
        raise NoRun(f"{given} does not exist: name a system file, or the directory of a run")
    name = _system_name(given)
    parent = build_dir() / "run"
    runs = [
        path
        for path in parent.glob(f"{name}*")
        if path.name == name or path.name.startswith((f"{name}-", f"{name}."))
    ]
    found = [path for path in runs if (path / wanted).is_file()]
    if not found:
        if going_on := next(filter(is_in_use, runs), None):
            raise NoRun(_goes_on(going_on, wanted))
        raise NoRun(
            f"{given}: no run of `{name}` has written a {wanted}: start a run with `bulkhead run {given}`"
        )
    return max(found, key=lambda path: (path / wanted).stat().st_mtime)


def _goes_on(directory: Path, wanted: str) -> str:
    """Message for a run that has not ended. Samples are written when a run ends; the live table is written
    from the start if a domain has a budget."""
    return f"{directory}: the run has not ended and has written no {wanted} yet: wait for its end"


def _system_name(file: Path) -> str:
    from bulkhead.admission.load import load_system

    loaded = load_system(file)
    if loaded.system is None:
        raise NoRun("\n".join(problem.text() for problem in loaded.problems))
    return loaded.system.name
