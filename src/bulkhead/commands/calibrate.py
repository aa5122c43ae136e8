# SPDX-License-Identifier: Apache-2.0
"""`bulkhead calibrate PLATFORM`: fit the free parameters to measured facts, and show facts and model.

Without `--write` nothing changes: the file's own values are shown beside what the fit finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, engine_of
from bulkhead.commands.output import complain, console, print_json, reported
from bulkhead.envelope import platform_sha256, result_object

if TYPE_CHECKING:
    from bulkhead.config.platform import Platform
    from bulkhead.machine.answer import PointAnswer
    from bulkhead.machine.calibrate import CheckedFact
    from bulkhead.machine.independence import Perturbed
    from bulkhead.machine.job import Job
    from bulkhead.results.calibrate import CalibrateResult, CheckedFactResult, FittedParameterResult


SHARE = Fraction(1, 4)  # by which parameters are changed


def register(app: typer.Typer) -> None:
    app.command("calibrate")(calibrate)


def calibrate(
    name: Annotated[
        str, typer.Argument(metavar="PLATFORM", help="Name of a platform, or path of a platform file.")
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Write the fitted values into the platform file.")
    ] = False,
    check_only: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Do not fit: compare the facts with what the machine gives for the values in the file.",
        ),
    ] = False,
    perturb: Annotated[
        bool,
        typer.Option(
            "--perturb",
            help="With --check: also change each parameter in turn, and show which facts always change "
            "together.",
        ),
    ] = False,
    jobs: Jobs = None,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Fit a platform's free parameters to its measured facts, and show how well the result meets them."""
    from bulkhead.campaign.points import run_jobs
    from bulkhead.env.paths import platforms_dir, repository
    from bulkhead.machine import calibrate as library
    from bulkhead.machine.facts import runs_workloads
    from bulkhead.machine.independence import perturb as perturbed
    from bulkhead.machine.job import on_platform
    from bulkhead.machine.native import built_machine

    if write and check_only:
        raise typer.BadParameter(
            "--check fits nothing, so --write has no values to write: give one of the two"
        )
    if perturb and not check_only:
        raise typer.BadParameter("--perturb needs --check")
    path, platform = _named(name, as_json)
    if write and path.is_relative_to(platforms_dir()):
        repository("`--write` to a platform's own file")
    engine = engine_of(jobs, cluster)
    built_machine(workloads=runs_workloads(platform))

    def run(wanted: Sequence[Job]) -> list[PointAnswer]:
        jobs = on_platform(wanted, name)
        return run_jobs([(f"{number}", job) for number, job in enumerate(jobs)], None, engine, "calibrate")

    with reported("calibrate", as_json=as_json, platform=name):
        values = {} if check_only else library.fit(platform, run)
        checked = library.check(platform, run, values)
        moved = perturbed(path, platform, run, SHARE) if perturb else None
    if write:
        library.write(path, values, checked)
    fitted: list[FittedParameterResult] = [
        {"key": free.key, "value": free.shown.format(value)} for free, value in values.items()
    ]
    facts = [_fact(one) for one in checked]
    if as_json:
        result: CalibrateResult = {
            **result_object(
                "calibrate",
                platform=platform.name,
                on="machine",
                verdict="ok",
                platform_sha256=platform_sha256(name),
            ),
            "parameters": fitted,
            "facts": facts,
            "perturbed": None if moved is None else list(moved.settings),
            "same": None if moved is None else [list(pair) for pair in moved.same()],
        }
        print_json(result)
        return
    _show(fitted, facts)
    if moved is not None:
        _show_same(moved)


def _named(name: str, as_json: bool) -> tuple[Path, Platform]:
    """The platform of this name; without measured facts the command ends with exit code 1."""
    from bulkhead.config.load import load_named

    path, platform, reasons = load_named(name)
    if platform is not None and path is not None and platform.calibration:
        return path, platform
    if platform is not None:
        reasons = [f"{name} has no measured facts to fit to (key calibration, docs/reference/platforms.md)"]
    if as_json:
        print_json(result_object("calibrate", platform=name, verdict="error", reasons=reasons))
    for reason in () if as_json else reasons:
        complain(f"error: {reason}")
    raise typer.Exit(1)


def _fact(one: CheckedFact) -> CheckedFactResult:
    fact = one.fact
    found: CheckedFactResult = {
        "fact": fact.fact,
        "unit": fact.unit,
        "follows": fact.follows,
        "independent": fact.follows is None,
        "measured": one.measured,
        "error": None if one.measured is None else round(one.error, 4),
        "fitted": one.measured is not None and fact.fits,
    }
    if fact.target is not None:
        found["target"] = float(fact.target)
    if fact.low is not None:
        found["low"] = float(fact.low)
    if fact.high is not None:
        found["high"] = float(fact.high)
    if fact.source is not None:
        found["source"] = fact.source
    if one.measured is None:
        found["reason"] = "the machine has no model for it yet"
    return found


def _show_same(moved: Perturbed) -> None:
    same = moved.same()
    changed = f"with {len(moved.settings) - 1} parameters changed, one at a time"
    if not same:
        console().print(f"{changed}, no two of the facts to fit to always move together")
    for one, other in same:
        console().print(f"{changed}, {one} and {other} always move together: they are one fact")


def _show(fitted: list[FittedParameterResult], facts: list[CheckedFactResult]) -> None:
    from rich.table import Table

    table = Table()
    for heading in ("fact", "target", "machine", "error", "unit", ""):
        table.add_column(heading)
    for fact in facts:
        target = f"{fact['target']:g}" if "target" in fact else f"{fact['low']:g}..{fact['high']:g}"
        measured = "–" if fact["measured"] is None else f"{fact['measured']:.4g}"
        error = "–" if fact["error"] is None else f"{fact['error']:+.1%}"
        how = "fitted" if fact["fitted"] else fact.get("reason", "compared")
        if fact["follows"] is not None:
            how = f"follows {fact['follows']}: confirms nothing"
        table.add_row(fact["fact"], target, measured, error, fact["unit"], how)
    console().print(table)
    for one in fitted:
        console().print(f"{one['key']}: {one['value']}")
