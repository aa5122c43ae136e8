# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have, declared once so that they read the same everywhere."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperArgument, TyperOption

if TYPE_CHECKING:
    from bulkhead.campaign.engine import Engine


def _well_formed(settings: list[str] | None) -> list[str] | None:
    from bulkhead.config.override import malformed

    for setting in settings or ():
        if (wrong := malformed(setting)) is not None:
            raise typer.BadParameter(f"{wrong} (allowed: key.path=value)")
    return settings


SystemFile = Annotated[
    str, typer.Argument(metavar="SYSTEM.yaml", help="System file to work on.", show_default=False)
]
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
    bool, typer.Option("--unprotected", help="Use the same system with isolation and regulation off.")
]


def _address(address: str | None) -> str | None:
    if address is not None and not re.fullmatch(r"[a-z]+://\S+:\d{1,5}", address):
        raise typer.BadParameter(f"'{address[:100]}' is no address of a scheduler (example: tcp://host:8786)")
    return address


Jobs = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Number of processes.", show_default="one for each core"),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run points at the workers of a Dask cluster: address of its scheduler, as tcp://host:8786.",
        show_default=False,
        callback=_address,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def _witness_test(does: str, metavar: str = "DOMAIN") -> Any:
    """An option that makes a system wrong, which a witness has to find."""
    return typer.Option(metavar=metavar, help=f"{does}: a test of the witnesses.", show_default=False)


Miscolor = Annotated[
    str | None,
    _witness_test("Put one granule (one frame or more) into a wrong color", "DOMAIN[:PAGE]"),
]
Mislabel = Annotated[str | None, _witness_test("Give the domain and a neighbour each other's MPAM labels")]
Misprogram = Annotated[
    str | None, _witness_test("Program MPAM components with a neighbour's settings for the domain")
]
Misplace = Annotated[
    str | None, _witness_test("Put stage-2 tables of the domain where its `spec` does not say")
]
Seed = Annotated[int, typer.Option(min=0, max=(1 << 63) - 1, help="Seed of all randomness.")]


def engine_of(jobs: int | None, cluster: str | None) -> Engine:
    """Where the points of a campaign run."""
    from bulkhead.campaign.engine import Engine

    if jobs is not None and cluster is not None:
        raise typer.BadParameter("--jobs counts processes here, --cluster uses none: one of the two")
    return Engine(jobs, cluster)


def refuse_no_file(output: Path | None, given: str) -> None:
    """An option that names a file has a name: an empty one is a variable that was not set."""
    if output is not None and not output.name:
        raise typer.BadParameter("names no file", param_hint=given)


def words_given(context: typer.Context, leave_out: Collection[str]) -> tuple[str, ...]:
    """The command that is being run, with every argument and option that the user gave it but those named in
    `leave_out`: what repeats it. Read from the command's own declaration, so that a new option is in it."""
    words: list[str] = [context.info_name or ""]
    for parameter in sorted(context.command.params, key=lambda one: not isinstance(one, TyperArgument)):
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in leave_out:
            words += _words_of(parameter, context.params[name])
    return tuple(words)


def _words_of(parameter: object, value: object) -> list[str]:
    values = value if isinstance(value, list | tuple) else (value,)
    if not isinstance(parameter, TyperOption):
        return [str(one) for one in values]
    option = max(parameter.opts, key=len)
    if parameter.is_flag:
        return [option if value else max(parameter.secondary_opts, key=len, default=option)]
    return [word for one in values for word in (option, str(one))]
