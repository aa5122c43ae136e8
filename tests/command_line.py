# SPDX-License-Identifier: Apache-2.0
"""Commands of the tool, called in this process as a user calls them: exit code and what is printed."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner, Result

from bulkhead.cli import build_app

from .json_results import parsed


def invoked(*arguments: object) -> Result:
    """All that is known of it. Whatever else than an exit ends the command is a failure of the test."""
    done = CliRunner().invoke(build_app(), [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def run(*arguments: object) -> tuple[int, str]:
    """Exit code and text."""
    done = invoked(*arguments)
    return done.exit_code, done.stdout


def run_json(*arguments: object) -> tuple[int, dict[str, Any]]:
    """With `--json`: exit code and the object, which is as `bulkhead schema COMMAND-result` says."""
    code, text = run(*arguments, "--json")
    return code, parsed(text)
