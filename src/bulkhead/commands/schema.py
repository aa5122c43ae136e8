# SPDX-License-Identifier: Apache-2.0
"""`bulkhead schema`: print the JSON Schema of a kind of file that users write, or of a command's result."""

from __future__ import annotations

import json
from typing import Annotated

import typer

FILES = ("system", "components", "platform")


def register(app: typer.Typer) -> None:
    app.command("schema")(schema)


def _kinds() -> list[str]:
    from bulkhead.results.schema import kinds

    return [*FILES, *kinds()]


def schema(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="Kind of file (system, components, platform) or result (result, COMMAND-result).",
            autocompletion=_kinds,
        ),
    ] = FILES[0],
    json_schema: Annotated[
        bool, typer.Option("--json-schema", "--json", help="Print JSON; there is no other form.")
    ] = True,
) -> None:
    """Print the JSON Schema of a kind of file or result. Editors use it to complete and check files.

    `result` describes the keys with which each `--json` object begins. `COMMAND-result` describes all keys
    that a command prints, as `run-result`, `check-result` or `flows-sweep-result`.
    """
    from bulkhead.config.problem import no_such
    from bulkhead.config.schema import file_schema
    from bulkhead.results.schema import result_schema

    del json_schema
    if kind not in _kinds():
        raise typer.BadParameter(no_such("schema", kind, _kinds()), param_hint="KIND")
    made = file_schema(kind) if kind in FILES else result_schema(kind)
    typer.echo(json.dumps(made, indent=2))
