# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have, declared once so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

SystemFile = Annotated[str, typer.Argument(metavar="SYSTEM.yaml", help="System file.", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Override one key of the file (repeatable).",
        show_default=False,
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
        help="Put one frame into wrong colors: a test of the witnesses.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=(1 << 63) - 1, help="Seed of all randomness.")]
