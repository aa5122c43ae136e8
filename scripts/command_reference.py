# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/commands.md: every command with its arguments and options, as in `--help`.

    PYTHONPATH=src:scripts build/venv/bin/python scripts/command_reference.py [--check]

`--check` writes nothing, and ends 1 if the page is not what would be written.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer

from bulkhead.cli import PANELS, build_app
from generated import ROOT, write_or_check

PAGE = ROOT / "docs/reference/commands.md"


def page() -> str:
    """The page's text."""
    root = typer.main.get_command(build_app())
    lines = [
        "<!-- Written by scripts/command_reference.py from the commands themselves. -->",
        "",
        "# Commands",
        "",
        "Exit codes of all commands: 0 yes or done, 1 the answer is no, 2 wrong usage, 3 the environment"
        " lacks something, 130 interrupted. With `--json` standard output has one JSON object in every case"
        " but wrong usage.",
    ]
    for panel, names in PANELS.items():
        lines += ["", f"## {panel}"]
        for name in names:
            for path, command in _with_parts(f"bulkhead {name}", _parts(root)[name]):
                lines += ["", *_section(path, command)]
    return "\n".join(lines) + "\n"


def _parts(command: Any) -> dict[str, Any]:
    """Commands of a group; a command has none."""
    return dict(getattr(command, "commands", {}))


def _with_parts(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not _parts(command):
        yield path, command
    for name, part in _parts(command).items():
        yield from _with_parts(f"{path} {name}", part)


def _section(path: str, command: Any) -> list[str]:
    parameters = [one for one in command.params if one.name != "help" and not getattr(one, "hidden", False)]
    arguments = " ".join(_shown(one) for one in parameters if one.param_type_name == "argument")
    lines = [
        f"### {path}",
        "",
        f"    {path} [OPTIONS] {arguments}".rstrip(),
        "",
        inspect.cleandoc(command.help or ""),
    ]
    if parameters:
        lines += ["", "| | meaning | default |", "| --- | --- | --- |"]
        lines += [f"| `{_shown(one)}` | {_escaped(one.help or '')} | {_default(one)} |" for one in parameters]
    return lines


def _shown(one: Any) -> str:
    """An argument's name, or the names of an option and its value."""
    if one.param_type_name == "argument":
        return _escaped(one.metavar or str(one.name).upper())
    names = ", ".join([*one.opts, *one.secondary_opts])
    if one.is_flag:
        return names
    return _escaped(f"{names} {one.metavar or _value_of(one.type_descriptor.annotation)}")


def _value_of(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(str(choice.value) for choice in annotation)
    return {int: "N", float: "NUMBER", Path: "PATH"}.get(annotation, "TEXT")


def _default(one: Any) -> str:
    if one.required:
        return "needed"
    if isinstance(one.show_default, str):
        return _escaped(one.show_default)
    value = getattr(one.default, "value", one.default)
    if one.show_default is False or value is None or value is False or callable(value):
        return "–"
    return "yes" if value is True else _escaped(str(value))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(write_or_check({PAGE: page()}, __doc__))
