# SPDX-License-Identifier: Apache-2.0
"""`bulkhead --help` and completion in the shell: every command is in a group, and can be completed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import typer
from typer.core import TyperGroup
from typer.models import CommandInfo, TyperInfo

from bulkhead.cli import PANELS, _name, build_app


def commands(app: typer.Typer) -> list[CommandInfo | TyperInfo]:
    return [*app.registered_commands, *app.registered_groups]


def test_every_command_is_in_one_group_of_the_help() -> None:
    grouped = [name for names in PANELS.values() for name in names]
    assert sorted(grouped) == sorted(map(_name, commands(build_app())))
    assert len(grouped) == len(set(grouped))


def test_the_help_of_each_command_is_sentences() -> None:
    """Help texts begin with a capital and end with a full stop."""
    root = typer.main.get_command(build_app())
    assert isinstance(root, TyperGroup)
    for name, one in root.commands.items():
        text = one.help or ""
        assert text[:1].isupper() and text.rstrip().endswith("."), name


@pytest.mark.parametrize(
    ("typed", "offered"), [("bulkhead exp", "experiment"), ("bulkhead run --unpr", "--unprotected")]
)
def test_the_shell_completes_commands_and_options(typed: str, offered: str) -> None:
    environment = os.environ | {
        "_BULKHEAD_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    ran = subprocess.run(
        [sys.executable, "-m", "bulkhead.cli"], env=environment, capture_output=True, text=True
    )
    assert offered in ran.stdout.split(), ran.stderr
