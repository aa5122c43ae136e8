# SPDX-License-Identifier: Apache-2.0
"""`bulkhead limits PLATFORM`: bandwidth that memory sustains, by access pattern and number of cores (B10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, engine_of
from bulkhead.commands.output import complain, console, print_json, reported
from bulkhead.envelope import platform_sha256, result_object

if TYPE_CHECKING:
    from bulkhead.config.platform import Platform
    from bulkhead.machine.answer import PointAnswer
    from bulkhead.machine.enforcement import Enforced
    from bulkhead.machine.job import Job
    from bulkhead.machine.limits import StaticBudget, SustainedRate
    from bulkhead.results.limits import LimitsResult


def register(app: typer.Typer) -> None:
    app.command("limits")(limits)


def limits(
    name: Annotated[
        str, typer.Argument(metavar="PLATFORM", help="Name of a platform, or path of a platform file.")
    ],
    rt: Annotated[
        str | None,
        typer.Option(
            metavar="WORKLOAD",
            help="Real-time workload for which the smallest sufficient static budget is searched, too.",
            show_default=False,
        ),
    ] = None,
    slowdown: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=1000,
            metavar="PERCENT",
            help="With --rt: largest slowdown of the workload that its budget may cause.",
        ),
    ] = 5,
    step: Annotated[
        int,
        typer.Option(
            min=1, max=100_000, metavar="MB/S", help="With --rt: step from one tried budget to the next."
        ),
    ] = 50,
    jobs: Jobs = None,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Measure on the simulated machine which bandwidth memory sustains and which budgets can be enforced."""
    from bulkhead.campaign.points import run_jobs
    from bulkhead.config.load import load_named
    from bulkhead.config.machine_figures import machines_own
    from bulkhead.machine import enforcement
    from bulkhead.machine import limits as library
    from bulkhead.machine.delays import measured_delays, text
    from bulkhead.machine.job import on_platform
    from bulkhead.machine.native import built_machine

    _, platform, reasons = load_named(name)
    if platform is None:
        if as_json:
            print_json(result_object("limits", platform=name, verdict="error", reasons=reasons))
        for reason in () if as_json else reasons:
            complain(f"error: {reason}")
        raise typer.Exit(1)
    if rt is not None and (unknown := _unknown_workload(rt)):
        if as_json:
            print_json(result_object("limits", platform=name, verdict="error", reasons=[unknown]))
        else:
            complain(f"error: {unknown}")
        raise typer.Exit(1)
    engine = engine_of(jobs, cluster)
    built_machine(workloads=rt is not None)

    def run_named(wanted: Sequence[tuple[str, Job]]) -> list[PointAnswer]:
        jobs = on_platform([job for _, job in wanted], name)
        keys = [key for key, _ in wanted]
        return run_jobs(list(zip(keys, jobs, strict=True)), None, engine, f"limits {name}")

    def run(wanted: Sequence[Job]) -> list[PointAnswer]:
        return run_named([(f"{number}", job) for number, job in enumerate(wanted)])

    with reported("limits", as_json=as_json, platform=name):
        found = library.sustained(platform, run)
        worst = library.guaranteed(found, platform.cores.count)
        periods = enforcement.periods(platform, run, worst.mb_per_s)
        budgets = enforcement.budgets(platform, run, worst.mb_per_s)
        delays = measured_delays(platform, run)
        static = (
            None
            if rt is None
            else library.static_budget(
                platform,
                rt,
                run_named,
                bound=slowdown / 100,
                step_mb_s=step,
                guaranteed_mb_s=library.stated_guarantee(platform) or worst.mb_per_s,
            )
        )
    peak = library.peak_mb_per_s(platform)
    stated = library.stated_guarantee(platform)
    if as_json:
        shortest, least = enforcement.smallest(periods), enforcement.smallest(budgets)
        result: LimitsResult = {
            **result_object(
                "limits",
                platform=platform.name,
                on="machine",
                verdict="ok",
                platform_sha256=platform_sha256(name),
            ),
            "peak_mb_s": peak,
            "guaranteed_mb_s": worst.mb_per_s,
            "guaranteed_pattern": worst.pattern,
            "guaranteed_cores": worst.cores,
            "guaranteed_stated_mb_s": stated,
            "rows": [one.json() for one in found],
            "event": enforcement.event_of(platform),
            "periods": [one.json() for one in periods],
            "smallest_period_ns": None if shortest is None else shortest.period_ns,
            "budgets": [one.json() for one in budgets],
            "smallest_budget_events": None if least is None else least.events,
            "delays": [one.json() for one in delays],
            "static_budget": None if static is None else static.json(),
            "memory_table_from": machines_own(platform),
        }
        print_json(result)
        return
    _show(found, platform.cores.count)
    console().print(
        f"peak {peak:,.0f} MB/s; guaranteed {worst.mb_per_s:,.0f} MB/s"
        f" ({worst.pattern}, {worst.cores} core{'s' if worst.cores != 1 else ''} busy)"
    )
    if stated is None:
        console().print("the platform's file states none (`dram.guaranteed`): `check` admits every budget")
    else:
        used = "`check`, `plan` and --rt go by that"
        console().print(f"the platform's file states {stated:,.0f} MB/s (`dram.guaranteed`): {used}")
    _show_enforced("period", periods, enforcement.smallest(periods))
    _show_enforced("budget", budgets, enforcement.smallest(budgets))
    for line in text(delays):
        console().print(line)
    _show_rest(static, platform)


def _show_rest(static: StaticBudget | None, platform: Platform) -> None:
    from bulkhead.config.machine_figures import machines_own

    if static is not None:
        console().print(static.text())
    if (own := machines_own(platform)) is not None:
        console().print(f"all of this is the simulated machine's; and {own}")


def _unknown_workload(name: str) -> str | None:
    """Why the workload cannot be used; checked before measurements that take minutes."""
    from bulkhead.config.problem import no_such
    from bulkhead.env.native import ensure_built
    from bulkhead.recording.compare import workload_names

    ensure_built(["host"], ["workload"])
    known = workload_names()
    return None if name in known else no_such("workload", name, known)


def _show_enforced(what: str, tried: list[Enforced], smallest: Enforced | None) -> None:
    from rich.table import Table

    table = Table(title=f"the smallest {what} that is enforced: MB/s of each core", title_justify="left")
    for heading in ("events", "period, us", "nominal", "measured", "held"):
        table.add_column(heading, justify="right")
    for one in tried:
        cells = (f"{one.nominal_mb_s:,.2f}", f"{one.measured_mb_s:,.2f}", "yes" if one.held else "no")
        table.add_row(str(one.events), f"{one.period_ns / 1000:g}", *cells)
    console().print(table)
    if smallest is None:
        console().print(f"no {what} of these is enforced")
        return
    least = f"{smallest.events} events in {smallest.period_ns / 1000:g} us"
    console().print(f"the smallest {what} that is enforced within 5 %: {least}")


def _show(found: list[SustainedRate], cores: int) -> None:
    from rich.table import Table

    table = Table(title="MB/s (DRAM utilization) by busy cores", title_justify="left")
    table.add_column("pattern")
    for count in range(1, cores + 1):
        table.add_column(str(count), justify="right")
    for pattern in dict.fromkeys(one.pattern for one in found):
        cells = [f"{one.mb_per_s:,.0f} ({one.utilization:.0%})" for one in found if one.pattern == pattern]
        table.add_row(pattern, *cells)
    console().print(table)
