# SPDX-License-Identifier: Apache-2.0
"""`bulkhead schema`: JSON Schemas of the files that users write, and of the results that commands print."""

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
        bool, typer.Option("--json-schema", "--json", help="Print JSON, which is the only form.")
    ] = True,
) -> None:
    """Print a JSON Schema: of files, with which editors complete and check them, or of results.

    `result` has the keys that every `--json` begins with. `COMMAND-result` has all keys that a command
    prints, as `run-result`, `check-result` or `flows-sweep-result`.
    """
    from bulkhead.config.problem import no_such
    from bulkhead.config.schema import file_schema
    from bulkhead.results.schema import result_schema

    del json_schema
    if kind not in _kinds():
        raise typer.BadParameter(no_such("schema", kind, _kinds()), param_hint="KIND")
    made = file_schema(kind) if kind in FILES else result_schema(kind)
    typer.echo(json.dumps(made, indent=2))
