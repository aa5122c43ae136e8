# SPDX-License-Identifier: Apache-2.0
"""`bulkhead bench NAME`: costs of the hypervisor, speed of the simulated machine. Options and output only.

Each benchmark is a module of `bulkhead.bench`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, Overrides, Seed, engine_of
from bulkhead.commands.output import complain, console, print_json, print_problems, reported
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.admission.load import Loaded
    from bulkhead.bench.campaign import PointCost
    from bulkhead.bench.flows import MeasuredFlows
    from bulkhead.bench.hypervisor import HypervisorCosts
    from bulkhead.bench.linux_boot import BootComparison
    from bulkhead.bench.machine import Speeds
    from bulkhead.bench.regulators import PolicyCosts
    from bulkhead.config.flow_costs import FlowCosts
    from bulkhead.results.bench import (
        BenchCampaignResult,
        BenchFlowsResult,
        BenchHypervisorResult,
        BenchLinuxBootResult,
        BenchMachineResult,
        BenchRefillBoundResult,
        BenchRegulatorsResult,
    )
    from bulkhead.results.envelope import Envelope, Verdict

app = typer.Typer(
    help="Measure the costs of the hypervisor and the speed of the simulated machine.", no_args_is_help=True
)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="bench")


@app.command("hypervisor")
def hypervisor(
    platform: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the platform to measure on.", show_default="qemu-virt"),
    ] = None,
    overrides: Overrides = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Count the instructions of each path into the hypervisor and back.

    The exit code is 1 if a path misses its goal.
    """
    from bulkhead.bench.hypervisor_run import load_path_systems, measure_hypervisor
    from bulkhead.bench.not_measured import NotMeasured

    systems = load_path_systems(platform, overrides or ())
    two = systems.two
    print_problems(two.notices, kind="notice")
    try:
        measured = measure_hypervisor(systems, seed)
    except NotMeasured as error:
        _end_unmeasured(_common("bench hypervisor", two, seed, "error", error.reasons), as_json)
    reasons = measured.missed
    if as_json:
        verdict: Verdict = "failed" if reasons else "ok"
        common = _common("bench hypervisor", two, seed, verdict, reasons)
        result: BenchHypervisorResult = {**common, **measured.json()}
        print_json(result)
    else:
        _show_costs(measured)
        _show_verdict(reasons)
    if reasons:
        raise typer.Exit(1)


def _end_unmeasured(result: Envelope, as_json: bool) -> NoReturn:
    if as_json:
        print_json(result)
    else:
        for reason in result["reasons"]:
            complain(f"error: {reason}")
    raise typer.Exit(1)


def _show_verdict(missed: list[str]) -> None:
    """Print the goals that were missed, and the verdict as the last line."""
    for reason in missed:
        complain(f"  • {reason}")
    number = len(missed)
    verdict = f"failed: {number} goal{'s' if number != 1 else ''} missed" if missed else "ok: no goal missed"
    console().print(verdict, style="bold red" if missed else "bold green")


def _show_costs(measured: HypervisorCosts) -> None:
    from rich.table import Table

    table = Table("path", "instructions", "best public", "ratio", "goal", title="Instructions, median")
    for column in table.columns[1:]:
        column.justify = "right"
    for row in measured.rows:
        cost = f"{row.sample.median:,}"
        if row.met is not None:
            cost = f"[{'green' if row.met else 'red'}]{cost}[/]"
        public, goal = row.way.best_public, row.way.goal
        table.add_row(
            row.way.what,
            cost,
            "" if public is None else f"{public:,}",
            "" if row.ratio is None else f"{row.ratio:.2f}",
            "" if goal is None else f"{goal:,}",
        )
    if measured.packet is not None:
        table.add_row("a packet of a flow: EL2's parts of its path", f"{measured.packet:,}", "", "", "")
    shown = console()
    shown.print(table)
    if any(row.way.of_gic is not None and row.way.best_public is None for row in measured.rows):
        shown.print("Public figures of interrupts are of another interrupt controller: not compared.")
    goals = sum(row.met is not None for row in measured.rows)
    shown.print(f"{goals - len(measured.missed)} of {goals} goals met")


@app.command("regulators")
def regulators(
    policies: Annotated[
        list[str] | None,
        typer.Argument(metavar="[POLICY]...", help="Policies to measure.", show_default="all"),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Count the instructions and interrupts at EL2 in an interval of each regulator, in the emulator."""
    from bulkhead.bench.not_measured import NotMeasured
    from bulkhead.bench.regulators import POLICIES, json_of
    from bulkhead.bench.regulators_run import load_regulator_systems, measure_regulators

    for policy in policies or ():
        if policy not in POLICIES:
            raise typer.BadParameter(f"'{policy}' is none of {', '.join(POLICIES)}", param_hint="POLICY")
    systems = load_regulator_systems(policies or ())
    first = next(iter(systems.values()))[0]
    try:
        measured = measure_regulators(systems, seed)
    except NotMeasured as error:
        _end_unmeasured(_common("bench regulators", first, seed, "error", error.reasons), as_json)
    if as_json:
        common = _common("bench regulators", first, seed, "ok", ())
        result: BenchRegulatorsResult = {**common, **json_of(measured)}
        print_json(result)
    else:
        _show_regulators(measured)


def _show_regulators(measured: Sequence[PolicyCosts]) -> None:
    from rich.table import Table

    from bulkhead.bench.regulators import KINDS

    kinds = Table("policy", *KINDS, title="Instructions of an interrupt at EL2: mean, longest")
    shares = Table(
        "policy",
        "regulated",
        "real-time",
        "regulated, asleep",
        "real-time beside them",
        title="Interrupts and instructions at EL2 of a core in an interval",
    )
    for table in (kinds, shares):
        for column in table.columns[1:]:
            column.justify = "right"
    for one in measured:
        costs = (getattr(one, kind) for kind in KINDS)
        kinds.add_row(one.policy, *(f"{c.mean:,.0f}, {c.longest:,}" if c is not None else "" for c in costs))
        parts = (one.regulated, one.others, one.quiet_regulated, one.quiet_others)
        shares.add_row(one.policy, *(f"{part.interrupts:.2f}, {part.instructions:,.0f}" for part in parts))
    shown = console()
    shown.print(kinds)
    shown.print(shares)


@app.command("flows")
def flows(
    platform: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the platform to measure on.", show_default="qemu-virt"),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            metavar="machine|qemu",
            help="Run on the simulated machine (`machine`) or in the emulator (`qemu`).",
        ),
    ] = "machine",
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Measure in more rounds, and write the costs into the platform file. Largest and smallest "
            "values of the file stay if they are further out than the measured ones.",
        ),
    ] = False,
    anew: Annotated[
        bool,
        typer.Option("--anew", help="With --write: also replace values of the file that are further out."),
    ] = False,
    isolated: Annotated[
        bool,
        typer.Option(
            "--isolated",
            help="Measure where colors of the cache keep the hypervisor and the broker apart from all "
            "domains (`flow_costs_isolated` of the platform file).",
        ),
    ] = False,
    overrides: Overrides = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure the parts of a packet's path, in ns (simulated machine) or in instructions (emulator)."""
    from bulkhead.bench.flows import published_costs
    from bulkhead.bench.flows_run import PathRequest, load_flow_systems, measure_flows
    from bulkhead.bench.not_measured import NotMeasured
    from bulkhead.config.flow_costs import ISOLATED, PLAIN
    from bulkhead.run.target import MACHINE, QEMU

    if on not in (MACHINE, QEMU):
        raise typer.BadParameter(f"'{on}' is neither machine nor qemu", param_hint="--on")
    if anew and not write:
        raise typer.BadParameter("needs --write", param_hint="--anew")
    request = PathRequest(platform or "qemu-virt", on, tuple(overrides or ()), seed, write, anew, isolated)
    published = published_costs()
    try:
        systems = load_flow_systems(request)
    except NotMeasured as error:
        _end_unmeasured(result_object("bench flows", verdict="error", reasons=error.reasons), as_json)
    try:
        measured = measure_flows(request, systems)
    except NotMeasured as error:
        _end_unmeasured(_common("bench flows", systems.on, seed, "error", error.reasons, on), as_json)
    if as_json:
        common = _common("bench flows", systems.on, seed, "ok", (), on)
        result: BenchFlowsResult = {**common, **measured.json(published)}
        print_json(result)
    else:
        _show_flows(measured, published, ISOLATED if isolated else PLAIN)


def _show_flows(measured: MeasuredFlows, published: FlowCosts | None, section: str) -> None:
    from rich.table import Table

    from bulkhead.bench.flow_costs_file import lines_of
    from bulkhead.bench.flows import STATISTICS, statistics_of

    table = Table("part", *STATISTICS, "seen", title=f"Parts of a packet's path, {measured.unit}")
    table.add_column("published: min, avg, max, median (ns, on the board)")
    for column in table.columns[1:]:
        column.justify = "right"
    kept = published.parts() if published is not None else {}
    for name, part in measured.parts.items():
        there = kept.get(name)
        values = [getattr(there, key, None) for key in STATISTICS]
        beside = ", ".join("" if value is None else f"{value:,}" for value in values) if there else ""
        costs = (f"{value:,}" for value in statistics_of(part).values())
        table.add_row(name, *costs, f"{part['count']:,}", beside)
    shown = console()
    shown.print(table)
    if measured.unit != "ns":
        shown.print("Cores take turns: averages and largest values have others' instructions in them.")
    else:
        shown.print(f"For the platform's file (`{section}`):")
        for line in lines_of(measured.parts, None).values():
            shown.print(line, highlight=False)


@app.command("machine")
def machine(
    against: Annotated[
        str | None,
        typer.Option(
            metavar="'COMMAND {trace}'",
            help="Command that starts another DRAM simulator, which is timed too; `{trace}` stands for the "
            "trace file.",
            show_default=False,
        ),
    ] = None,
    trace_format: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="Format of the trace that --against gets: dramsim3, ramulator or load-store.",
        ),
    ] = "dramsim3",
    repeat: Annotated[
        int, typer.Option(min=1, max=100, help="Number of times that each figure is measured.")
    ] = 5,
    share: Annotated[
        int,
        typer.Option(
            min=1,
            max=100,
            metavar="PERCENT",
            help="Percentage of a full measurement's accesses to make; less is faster and less exact.",
        ),
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """Measure the speed of the simulated machine on one core; the exit code is 1 if it is too slow."""
    from bulkhead.bench.machine import FORMATS, TRACE
    from bulkhead.bench.machine_run import SpeedRequest, measure_machine
    from bulkhead.bench.not_measured import NotMeasured

    if trace_format not in FORMATS:
        raise typer.BadParameter(f"one of {', '.join(FORMATS)}", param_hint="--trace-format")
    if against is not None and TRACE not in against:
        raise typer.BadParameter(
            f"the command needs {TRACE} where the file's name goes", param_hint="--against"
        )
    request = SpeedRequest(against, trace_format, repeat, share)
    try:
        measured = measure_machine(request)
    except NotMeasured as error:
        unmeasured = result_object(
            "bench machine", on="machine", seed=1, verdict="error", reasons=error.reasons
        )
        _end_unmeasured(unmeasured, as_json)
    reasons = measured.missed
    if as_json:
        verdict: Verdict = "failed" if reasons else "ok"
        common = result_object("bench machine", on="machine", seed=1, verdict=verdict, reasons=reasons)
        result: BenchMachineResult = {**common, **measured.json()}
        print_json(result)
    else:
        _show_speeds(measured)
        _show_verdict(reasons)
    if reasons:
        raise typer.Exit(1)


def _show_speeds(measured: Speeds) -> None:
    from rich.table import Table

    from bulkhead.bench.machine import GOALS

    table = Table("", "min", "median", "max", "aim", title="Million accesses a second of processor time")
    for column in table.columns[1:]:
        column.justify = "right"
    for goal in GOALS:
        figure = measured.figures[goal.key]
        best = f"{figure['max'] / 1e6:,.1f}"
        if goal.aim is not None and goal.least is not None:
            style = (
                "green" if figure["max"] >= goal.aim else "yellow" if figure["max"] >= goal.least else "red"
            )
            best = f"[{style}]{best}[/]"
        aim = "" if goal.aim is None else f"{goal.aim / 1e6:,.0f}"
        table.add_row(goal.what, f"{figure['min'] / 1e6:,.1f}", f"{figure['median'] / 1e6:,.1f}", best, aim)
    shown = console()
    shown.print(table)
    if measured.peer is not None:
        peer = measured.peer
        shown.print(
            f"{peer.command}: {peer.per_s / 1e6:,.2f} of {peer.requests:,} requests, of the same stream"
        )


@app.command("refill-bound")
def refill_bound(
    platform: Annotated[
        str, typer.Option(metavar="NAME", help="Name of a platform whose cores have an MPU.")
    ] = "stm32f767",
    as_json: AsJson = False,
) -> None:
    """Compute from the microkernel's code how many cycles a refill of an MPU region takes at most.

    The exit code is 1 if the platform file states fewer cycles, or if a refill in a run has taken more.
    """
    from bulkhead.bench.refill import measure

    measured = measure(platform)
    reasons = measured if isinstance(measured, list) else measured.reasons
    if as_json:
        verdict: Verdict = "error" if isinstance(measured, list) else "failed" if reasons else "ok"
        common = result_object("bench refill-bound", platform=platform, verdict=verdict, reasons=reasons)
        result: Envelope | BenchRefillBoundResult = common
        if not isinstance(measured, list):
            result = {**common, **measured.json()}
        print_json(result)
    else:
        if not isinstance(measured, list):
            for row in measured.rows():
                console().print(row, markup=False)
        for reason in reasons:
            complain(f"error: {reason}")
    if reasons:
        raise typer.Exit(1)


@app.command("linux-boot")
def linux_boot(
    runs: Annotated[
        int,
        typer.Option(min=1, max=100, help="Number of boots; the largest figure is compared with the limit."),
    ] = 1,
    overrides: Overrides = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare the instructions of a Linux boot under the hypervisor with those on the bare emulator.

    Both are counted up to the shell prompt. The exit code is 1 if the ratio is above the limit.
    """
    from bulkhead.bench.linux_boot_run import load_linux_system, measure_linux_boot
    from bulkhead.bench.not_measured import NotMeasured

    loaded = load_linux_system(overrides or ())
    print_problems(loaded.notices, kind="notice")
    try:
        measured = measure_linux_boot(loaded, runs, seed)
    except NotMeasured as error:
        _end_unmeasured(_common("bench linux-boot", loaded, seed, "error", error.reasons), as_json)
    reasons = measured.reasons
    if as_json:
        verdict: Verdict = "failed" if reasons else "ok"
        common = _common("bench linux-boot", loaded, seed, verdict, reasons)
        result: BenchLinuxBootResult = {**common, **measured.json()}
        print_json(result)
    else:
        _show(measured)
        for reason in reasons:
            complain(f"error: {reason}")
    if reasons:
        raise typer.Exit(1)


def _common(
    command: str, loaded: Loaded, seed: int, verdict: Verdict, reasons: Sequence[str], on: str = "qemu"
) -> Envelope:
    return result_object(
        command,
        system=loaded.system.name if loaded.system else None,
        platform=loaded.platform.name if loaded.platform else None,
        on=on,
        seed=seed,
        verdict=verdict,
        reasons=reasons,
        platform_sha256=loaded.platform_sha256,
    )


def _show(measured: BootComparison) -> None:
    from rich.table import Table

    table = Table("run", "bare", "under the hypervisor", "of them at EL2", title="Instructions to the prompt")
    for column in table.columns[1:]:
        column.justify = "right"
    rows = zip(measured.bare, measured.hypervisor, measured.at_el2, strict=True)
    for number, counts in enumerate(rows, 1):
        table.add_row(str(number), *(f"{count:,}" for count in counts))
    shown = console()
    shown.print(table)
    entries = ", ".join(f"{name} {count:,}" for name, count in measured.exits.items())
    shown.print(f"entries to EL2: {entries or 'none counted'}")
    if any(measured.spread.values()):
        shown.print("runs differ: the machine was not deterministic", style="yellow")
    style = "red" if measured.reasons else "green"
    shown.print(f"ratio {measured.ratio:.4f}, at most {measured.limit_text}", style=style)


@app.command("campaign")
def campaign(
    points: Annotated[
        int, typer.Option(min=10, max=100_000, metavar="N", help="Number of points in the measured campaign.")
    ] = 400,
    jobs: Jobs = None,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Measure the cost of a campaign's point besides its simulation, and project it to large campaigns."""
    from bulkhead.bench.campaign import PLATFORM, measure

    engine = engine_of(jobs, cluster)
    with reported("bench campaign", as_json=as_json, platform=PLATFORM, on="machine"):
        found = measure(engine, points)
    if as_json:
        common = result_object("bench campaign", platform=PLATFORM, on="machine", verdict="ok")
        result: BenchCampaignResult = {**common, **found.json()}
        print_json(result)
    else:
        _show_campaign(found)


def _show_campaign(found: PointCost) -> None:
    from rich.table import Table

    from bulkhead.bench.campaign import CAMPAIGN_POINTS, POINTS_S, WORKERS

    console().print(
        f"{found.points} points at {found.workers} workers: {found.wall_ms:.1f} ms a point. A point takes"
        f" {found.worker_ms:.1f} ms of a worker, {found.client_ms:.2f} ms of this command's processor time;"
        f" a point that is kept takes {found.kept_ms:.2f} ms. This command needs {found.client_kib:.0f} KiB"
        " of memory a point."
    )
    table = Table(title=f"{CAMPAIGN_POINTS:,} points, projected", title_justify="left")
    table.add_column("a point simulates", justify="right")
    for workers in WORKERS:
        table.add_column(f"{workers} workers", justify="right")
    for point_s in POINTS_S:
        hours = (f"{found.hours(workers, point_s):,.2f} h" for workers in WORKERS)
        table.add_row(f"{point_s:g} s", *hours)
    console().print(table)
