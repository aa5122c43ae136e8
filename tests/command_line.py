# SPDX-License-Identifier: Apache-2.0
"""Calls commands of the tool in this process, as a user does: exit code and output."""

from __future__ import annotations

from functools import cache
from typing import Any
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner, Result

from bulkhead.cli import build_app

from .json_results import parsed


@cache
def tool() -> object:
    """All commands, which have no state: making them from their functions' signatures takes longer than many
    of them run."""
    return get_command(build_app())


def invoked(*arguments: object) -> Result:
    """The full result. If anything but an exit ends the command, the test fails."""
    with patch("typer.testing._get_command", lambda _app: tool()):  # the runner makes them each time
        done = CliRunner().invoke(build_app(), [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def run(*arguments: object) -> tuple[int, str]:
    """Exit code and output."""
    done = invoked(*arguments)
    return done.exit_code, done.stdout


def run_json(*arguments: object) -> tuple[int, dict[str, Any]]:
    """With `--json`: exit code and the object, which is as `bulkhead schema COMMAND-result` says."""
    code, text = run(*arguments, "--json")
    return code, parsed(text)
