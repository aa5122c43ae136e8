# SPDX-License-Identifier: Apache-2.0
"""`bulkhead schema`: JSON Schemas of the files that users write, and of the results that commands print."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    system = "system"
    components = "components"
    platform = "platform"
    result = "result"
    run_result = "run-result"


def register(app: typer.Typer) -> None:
    app.command("schema")(schema)


def schema(
    kind: Annotated[Kind, typer.Argument(help="Kind of file or result that it describes.")] = Kind.system,
    json_schema: Annotated[
        bool, typer.Option("--json-schema", "--json", help="Print JSON, which is the only form.")
    ] = True,
) -> None:
    """Print a JSON Schema: of files, with which editors complete and check them, or of results.

    `result` has the keys that every `--json` begins with, `run-result` all keys of a run of domains.
    """
    from bulkhead.config.schema import file_schema
    from bulkhead.results.schema import RESULTS, result_schema

    del json_schema
    made = result_schema(kind.value) if kind.value in RESULTS else file_schema(kind.value)
    typer.echo(json.dumps(made, indent=2))
