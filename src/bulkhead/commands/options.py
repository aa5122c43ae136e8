# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have, declared once so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _well_formed(settings: list[str] | None) -> list[str] | None:
    from bulkhead.config.override import malformed

    for setting in settings or ():
        if (wrong := malformed(setting)) is not None:
            raise typer.BadParameter(f"{wrong} (allowed: key.path=value)")
    return settings


SystemFile = Annotated[str, typer.Argument(metavar="SYSTEM.yaml", help="System file.", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Override one key of the file (repeatable).",
        show_default=False,
        callback=_well_formed,
    ),
]
Unprotected = Annotated[
    bool, typer.Option("--unprotected", help="The same system with isolation and regulation off.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Miscolor = Annotated[
    str | None,
    typer.Option(
        metavar="DOMAIN[:PAGE]",
        help="Put one granule (one frame or more) into a wrong color: a test of the witnesses.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=(1 << 63) - 1, help="Seed of all randomness.")]


def refuse_no_file(output: Path | None, given: str) -> None:
    """An option that names a file has a name: an empty one is a variable that was not set."""
    if output is not None and not output.name:
        raise typer.BadParameter("names no file", param_hint=given)
