# SPDX-License-Identifier: Apache-2.0
"""`bulkhead schema`: the JSON Schema of system, component or platform files, for editors."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    system = "system"
    components = "components"
    platform = "platform"


def register(app: typer.Typer) -> None:
    app.command("schema")(schema)


def schema(
    kind: Annotated[Kind, typer.Argument(help="Kind of file that the schema describes.")] = Kind.system,
    json_schema: Annotated[
        bool, typer.Option("--json-schema", "--json", help="Print JSON, which is the only form.")
    ] = True,
) -> None:
    """Print the JSON Schema that editors use to complete and check files."""
    from bulkhead.config.schema import file_schema

    del json_schema
    typer.echo(json.dumps(file_schema(kind.value), indent=2))
