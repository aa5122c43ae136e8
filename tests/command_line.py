# SPDX-License-Identifier: Apache-2.0
"""Calls commands of the tool in this process, as a user does: exit code and output."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner, Result

from bulkhead.cli import build_app

from .json_results import parsed


def invoked(*arguments: object) -> Result:
    """The full result. If anything but an exit ends the command, the test fails."""
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
