# SPDX-License-Identifier: Apache-2.0
"""Which run a user means: the directory of one, or a system file, of which it is the latest.

Called by `top` and `trace`.
"""

from __future__ import annotations

from pathlib import Path

from bulkhead.config.locate import system_path
from bulkhead.env.paths import build_dir


class NoRun(Exception):
    """There is none; the message is for the user."""


def find_run(given: Path, wanted: str) -> Path:
    """The directory of a run that has the file `wanted`. Raises NoRun."""
    if given.is_dir():
        if not (given / wanted).is_file():
            raise NoRun(
                f"{given} has no {wanted}: it is not the directory of a run, or the run has only begun"
            )
        return given
    given = system_path(given)
    if not given.is_file():
        raise NoRun(f"{given} does not exist: name a system file, or the directory of a run")
    name = _system_name(given)
    parent = build_dir() / "run"
    found = [
        path.parent
        for path in parent.glob(f"{name}*/{wanted}")
        if path.parent.name == name or path.parent.name.startswith((f"{name}-", f"{name}."))
    ]
    if not found:
        raise NoRun(f"{given}: no run of `{name}` has left a {wanted}: start one with `bulkhead run {given}`")
    return max(found, key=lambda path: (path / wanted).stat().st_mtime)


def _system_name(file: Path) -> str:
    from bulkhead.config.load import load_system

    loaded = load_system(file)
    if loaded.system is None:
        raise NoRun("\n".join(problem.text() for problem in loaded.problems))
    return loaded.system.name
