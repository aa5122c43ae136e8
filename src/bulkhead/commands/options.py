# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share, declared once so that their texts are the same."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperArgument, TyperOption

from bulkhead.experiments.limits import MOST_SEEDS

if TYPE_CHECKING:
    from bulkhead.campaign.engine import Engine


def _well_formed(settings: list[str] | None) -> list[str] | None:
    from bulkhead.config.override import malformed

    for setting in settings or ():
        if (wrong := malformed(setting)) is not None:
            raise typer.BadParameter(f"{wrong} (allowed: key.path=value)")
    return settings


SystemFile = Annotated[
    str,
    typer.Argument(metavar="SYSTEM.yaml", help="System file that the command works on.", show_default=False),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Set one key of the system file to another value for this call (repeatable).",
        show_default=False,
        callback=_well_formed,
    ),
]
Unprotected = Annotated[
    bool,
    typer.Option(
        "--unprotected", help="Take the same system with isolation, regulation and budgets switched off."
    ),
]


def _address(address: str | None) -> str | None:
    if address is not None and not re.fullmatch(r"[a-z]+://\S+:\d{1,5}", address):
        raise typer.BadParameter(
            f"'{address[:100]}' is not the address of a scheduler (example: tcp://host:8786)"
        )
    return address


Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of processes that run at the same time.",
        show_default="one for each core",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of the scheduler of a Dask cluster whose workers run the points, as tcp://host:8786. "
        "Without it, processes on this computer run them.",
        show_default=False,
        callback=_address,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def _witness_test(does: str, metavar: str = "DOMAIN") -> Any:
    """An option that puts an error into the system, which a witness must report."""
    return typer.Option(
        metavar=metavar,
        help=f"{does}. The witnesses must then report it: this tests them.",
        show_default=False,
    )


Miscolor = Annotated[
    str | None,
    _witness_test(
        "Map one granule (one or more 4 KiB frames) of the domain to memory of a wrong color", "DOMAIN[:PAGE]"
    ),
]
Mislabel = Annotated[
    str | None, _witness_test("Swap the PARTIDs (MPAM labels) of the domain and of another domain")
]
Misprogram = Annotated[
    str | None,
    _witness_test("Program the MPAM components with another domain's settings for this domain's PARTIDs"),
]
Misplace = Annotated[
    str | None, _witness_test("Put stage-2 tables of the domain into memory that its `spec` does not allow")
]
Seed = Annotated[int, typer.Option(min=0, max=(1 << 63) - 1, help="Seed of all random choices.")]

Seeds = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_SEEDS,
        metavar="N",
        help="Number of times that each point is run, each time with another seed.",
        show_default="the file's",
    ),
]


def engine_of(jobs: int | None, cluster: str | None) -> Engine:
    """The engine that runs the points of a campaign: local processes or a Dask cluster."""
    from bulkhead.campaign.engine import Engine

    if jobs is not None and cluster is not None:
        raise typer.BadParameter(
            "--jobs sets the number of processes on this computer, and --cluster uses "
            "none: give one of the two"
        )
    return Engine(jobs, cluster)


def refuse_no_file(output: Path | None, given: str) -> None:
    """Refuse an empty file name: it usually comes from a shell variable that is not set."""
    if output is not None and not output.name:
        raise typer.BadParameter("names no file", param_hint=given)


def words_given(context: typer.Context, leave_out: Collection[str]) -> tuple[str, ...]:
    """The command line that repeats this call: every argument and option that the user gave, except those in
    `leave_out`. It is made from the command's declaration, so new options need no change here."""
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
