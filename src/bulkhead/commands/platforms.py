# SPDX-License-Identifier: Apache-2.0
"""`bulkhead platforms [NAME]`: list the described boards, or show one description with its sources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain, console, print_json, print_problems
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.config.platform import Platform
    from bulkhead.results.envelope import Verdict
    from bulkhead.results.platforms import ParameterResult, PlatformResult, PlatformsResult


def register(app: typer.Typer) -> None:
    app.command("platforms")(platforms)


def platforms(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of a platform, or path of a platform file. Without it, all platforms are listed.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the platforms, or describe one with the sources of its figures."""
    from bulkhead.config.load import load_platform
    from bulkhead.config.locate import platform_names, platform_path
    from bulkhead.config.problem import no_such

    references = [name] if name is not None else platform_names()
    described: list[PlatformResult] = []
    reasons: list[str] = []
    for reference in references:
        path = platform_path(reference, Path())
        if path is None:
            reasons.append(no_such("platform", reference, platform_names()))
            if not as_json:
                complain(f"error: {reasons[-1]}")
            continue
        platform, _, problems = load_platform(path)
        reasons += [problem.text() for problem in problems]
        if not as_json:
            print_problems(problems)
        if platform is not None:
            summary = _summary(platform)
            if name is not None:
                _add_details(summary, platform)
            described.append(summary)
            if name is not None and not as_json:
                _describe(platform)
    verdict: Verdict = "error" if reasons else "ok"
    if as_json:
        common = result_object("platforms", platform=name, verdict=verdict, reasons=reasons)
        result: PlatformsResult = {**common, "platforms": described}
        print_json(result)
    elif name is None:
        _list(described)
    if reasons:
        raise typer.Exit(1)


def _summary(platform: Platform) -> PlatformResult:
    from bulkhead.geometry import GeometryError
    from bulkhead.planning.mechanism import llc_by_mpam
    from bulkhead.planning.space import platform_llc_bits

    try:
        bits: tuple[int, ...] = platform_llc_bits(platform, color_l1=False)
        why = None
    except GeometryError as error:
        bits, why = (), str(error)
    return {
        "name": platform.name,
        "description": platform.description,
        "cores": platform.cores.count,
        "core_type": platform.cores.type,
        "memory_bytes": sum(ram.size for ram in platform.memory),
        "llc_color_bits": list(bits),
        "colors": 1 << len(bits) if bits else 0,
        "granule_bytes": 1 << bits[0] if bits else None,
        "not_colorable": why,
        "llc_divided_by": "mpam" if llc_by_mpam(platform) else "coloring" if bits else None,
        "bootable": platform.load is not None and platform.emulator is not None,
        "not_bootable": platform.not_bootable,
    }


def _add_details(summary: PlatformResult, platform: Platform) -> None:
    from bulkhead.config.parameters import facts, parameters

    shown: list[ParameterResult] = [
        {
            "key": one.key,
            "value": one.value,
            "fitted": one.fitted,
            "origin": one.origin,
            "source": one.source,
        }
        for one in parameters(platform)
    ]
    summary["parameters"], summary["facts"] = shown, facts(platform)


def _list(described: list[PlatformResult]) -> None:
    from rich.table import Table

    from bulkhead.units import size_text

    table = Table()
    for heading in ("name", "cores", "memory", "colors", "description"):
        table.add_column(heading)
    for one in described:
        cores = f"{one['cores']} {one['core_type']}"
        table.add_row(
            one["name"], cores, size_text(one["memory_bytes"]), str(one["colors"]), one["description"]
        )
    console().print(table)


def _describe(platform: Platform) -> None:
    from rich.table import Table
    from rich.text import Text

    from bulkhead.config.parameters import facts, parameters

    summary = _summary(platform)
    table = Table(title=f"{platform.name}: {platform.description}", title_justify="left")
    for heading in ("what", "value", "from", "source"):
        table.add_column(heading, overflow="fold")
    above = ""
    for one in parameters(platform):
        source = one.source if one.source != above else ""
        above = one.source
        table.add_row(Text(one.key), Text(one.shown), one.origin, Text(source))
    bits = ", ".join(str(bit) for bit in summary["llc_color_bits"])
    computed = "computed from the caches"
    table.add_row("LLC color bits", bits or "none", "", summary["not_colorable"] or computed)
    table.add_row("LLC colors", str(summary["colors"]), "", computed)
    console().print(table)
    for fact in facts(platform):
        target = fact.get("target") or f"{fact['low']} to {fact['high']}"
        measured = fact.get("measured")
        how = "not fitted" if measured is None else f"the machine has {measured:g}"
        console().print(f"fact {fact['fact']}: {target} {fact['unit']}; {how} ({fact.get('source', '')})")
