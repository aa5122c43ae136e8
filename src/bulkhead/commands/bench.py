# SPDX-License-Identifier: Apache-2.0
"""`bulkhead bench NAME`: costs of the hypervisor, speed of the simulated machine. Options and output only.

Each benchmark is a module of `bulkhead.bench`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, Overrides, Seed, engine_of
from bulkhead.commands.output import complain, console, print_json, print_problems, reported, result_object

if TYPE_CHECKING:
    from bulkhead.admission.load import Loaded
    from bulkhead.bench.campaign import PointCost
    from bulkhead.bench.flows import MeasuredFlows
    from bulkhead.bench.hypervisor import HypervisorCosts
    from bulkhead.bench.linux_boot import BootComparison
    from bulkhead.bench.machine import Speeds
    from bulkhead.config.flow_costs import FlowCosts
    from bulkhead.results.bench import (
        BenchCampaignResult,
        BenchFlowsResult,
        BenchHypervisorResult,
        BenchLinuxBootResult,
        BenchMachineResult,
        BenchRefillBoundResult,
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
    from bulkhead.admission.load import load_system
    from bulkhead.bench.hypervisor import BUDGET, ONE_VCPU, SHARED, SYSTEM
    from bulkhead.env.paths import repository

    checkout = repository("`bench hypervisor`")
    given = [*(overrides or ()), *((f"platform={platform}",) if platform else ())]
    file = str(checkout / SYSTEM)
    two, one = load_system(file, given), load_system(file, [*ONE_VCPU, *given])
    print_problems(two.notices, kind="notice")
    budgets = (load_system(file, [*BUDGET, *given]), load_system(str(checkout / SHARED), given))
    measured = _measure_hypervisor(one, two, budgets, seed)
    if not isinstance(measured, list) and two.platform is not None:
        measured = replace(measured, packet=_measure_packet(two.platform.name, seed))
    reasons = measured if isinstance(measured, list) else measured.missed
    if as_json:
        verdict: Verdict = "error" if isinstance(measured, list) else "failed" if reasons else "ok"
        result: Envelope | BenchHypervisorResult = _common("bench hypervisor", two, seed, verdict, reasons)
        if not isinstance(measured, list):
            result = {**result, **measured.json()}
        print_json(result)
    elif isinstance(measured, list):
        for reason in measured:
            complain(f"error: {reason}")
    else:
        _show_costs(measured)
        _show_verdict(reasons)
    if reasons:
        raise typer.Exit(1)


def _show_verdict(missed: list[str]) -> None:
    """Print the goals that were missed, and the verdict as the last line."""
    for reason in missed:
        complain(f"  • {reason}")
    number = len(missed)
    verdict = f"failed: {number} goal{'s' if number != 1 else ''} missed" if missed else "ok: no goal missed"
    console().print(verdict, style="bold red" if missed else "bold green")


def _measure_hypervisor(
    one: Loaded, two: Loaded, budgets: tuple[Loaded, Loaded], seed: int
) -> HypervisorCosts | list[str]:
    """`budgets`: a system whose two VCPUs have a core each, and one whose two VCPUs share a core. A list
    as the result holds the reasons why nothing was measured."""
    from bulkhead.bench.hypervisor import PathsError, has_budget, measure, one_core
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import build_dir
    from bulkhead.env.progress import progress
    from bulkhead.env.qemu import qemu_binary
    from bulkhead.package.errors import PackageError
    from bulkhead.planning.plan import PlanningError
    from bulkhead.run.directory import run_directory

    budget, shared = budgets
    for loaded in (one, two, *budgets):
        if not loaded.ok or loaded.platform is None:
            return [problem.text() for problem in loaded.problems]
        if loaded.platform.emulator is None:
            return [f"platform '{loaded.platform.name}' is not a board of the emulator"]
    binary = qemu_binary()
    ensure_built(["target"])
    try:
        with (
            run_directory(build_dir() / "run", "bench-hypervisor") as place,
            progress("measure the paths into the hypervisor") as update,
        ):
            systems = (one_core(one), two, *([budget, one_core(shared)] if has_budget(budget) else []))
            return measure(
                systems,
                binary=binary,
                directory=place,
                seed=seed,
                done=lambda n: update(n / len(systems), f"run {n} of {len(systems)}"),
            )
    except PlanningError as error:
        return [two.locate(finding).text() for finding in error.findings]
    except PackageError as error:
        return [f"{two.file}: {reason}" for reason in error.reasons]
    except PathsError as error:
        return [str(error)]


def _measure_packet(platform: str, seed: int) -> int | None:
    """Costs of a packet of a flow; empty on a board where flows cannot be measured."""
    from bulkhead.bench.flows import FlowsNotMeasured, load, measure, packet_of
    from bulkhead.commands.run import run_quietly
    from bulkhead.run.target import QEMU

    try:
        return packet_of(measure(load([f"platform={platform}"], QEMU), QEMU, seed, run_quietly))
    except FlowsNotMeasured:
        return None


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
        bool, typer.Option("--write", help="Write the measured costs into the platform file.")
    ] = False,
    overrides: Overrides = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure the parts of a packet's path, in ns (simulated machine) or in instructions (emulator)."""
    from bulkhead.bench.flows import (
        WRITTEN_ROUNDS,
        FlowsNotMeasured,
        load,
        measure,
        published_costs,
        write_costs,
    )
    from bulkhead.commands.run import run_quietly
    from bulkhead.config.locate import platform_path
    from bulkhead.env.paths import platforms_dir, repository
    from bulkhead.run.target import MACHINE, QEMU

    if on not in (MACHINE, QEMU):
        raise typer.BadParameter(f"'{on}' is neither machine nor qemu", param_hint="--on")
    if on == QEMU:
        repository("`bench flows --on qemu`")
    path = platform_path(platform or "qemu-virt")
    if write and path is not None and path.is_relative_to(platforms_dir()):
        repository("`--write` to a platform's own file")
    name, published = platform or "qemu-virt", published_costs()
    systems = load([f"platform={name}", *(overrides or ())], on)
    measured, reasons = None, []
    try:
        measured = measure(systems, on, seed, run_quietly, WRITTEN_ROUNDS if write else 1)
        if write:
            write_costs(name, measured)
    except FlowsNotMeasured as error:
        reasons = str(error).split("\n")
    if as_json:
        verdict: Verdict = "error" if reasons else "ok"
        result: Envelope | BenchFlowsResult = _common("bench flows", systems[0], seed, verdict, reasons, on)
        if measured is not None and not reasons:
            result = {**result, **measured.json(published)}
        print_json(result)
    elif reasons or measured is None:
        for reason in reasons:
            complain(f"error: {reason}")
    else:
        _show_flows(measured, published)
    if reasons:
        raise typer.Exit(1)


def _show_flows(measured: MeasuredFlows, published: FlowCosts | None) -> None:
    from rich.table import Table

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
        shown.print("For the platform's file (`flow_costs`):")
        for line in measured.yaml():
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

    if trace_format not in FORMATS:
        raise typer.BadParameter(f"one of {', '.join(FORMATS)}", param_hint="--trace-format")
    if against is not None and TRACE not in against:
        raise typer.BadParameter(
            f"the command needs {TRACE} where the file's name goes", param_hint="--against"
        )
    measured = _measure_machine(against, trace_format, repeat, share)
    reasons = measured if isinstance(measured, list) else measured.missed
    if as_json:
        verdict: Verdict = "error" if isinstance(measured, list) else "failed" if reasons else "ok"
        common = result_object("bench machine", on="machine", seed=1, verdict=verdict, reasons=reasons)
        result: Envelope | BenchMachineResult = common
        if not isinstance(measured, list):
            result = {**common, **measured.json()}
        print_json(result)
    elif isinstance(measured, list):
        for reason in measured:
            complain(f"error: {reason}")
    else:
        _show_speeds(measured)
        _show_verdict(reasons)
    if reasons:
        raise typer.Exit(1)


def _measure_machine(against: str | None, trace_format: str, repeat: int, share: int) -> Speeds | list[str]:
    """The measured costs, or a list of the reasons why nothing was measured."""
    from dataclasses import replace

    from bulkhead.bench.machine import GOALS, PROGRAM, TARGET, MachineError, measure, time_peer
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import build_dir, host_dir
    from bulkhead.env.progress import progress
    from bulkhead.run.directory import run_directory

    ensure_built(["host"], [TARGET])
    program = host_dir() / PROGRAM
    total = repeat * len(GOALS)
    try:
        with (
            run_directory(build_dir() / "run", "bench-machine") as place,
            progress("measure the machine") as update,
        ):
            speeds = measure(
                program,
                repeat=repeat,
                share_percent=share,
                done=lambda n: update(n / total, f"{n} of {total}"),
            )
            if against is None:
                return speeds
            update(1.0, against)
            peer = time_peer(program, against, trace_format, place, repeat=repeat, share_percent=share)
            return replace(speeds, peer=peer)
    except MachineError as error:
        return [str(error)]


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
    from bulkhead.admission.load import load_system
    from bulkhead.bench.linux_boot import ONE_VCPU, SYSTEM
    from bulkhead.env.paths import repository

    loaded = load_system(str(repository("`bench linux-boot`") / SYSTEM), [ONE_VCPU, *(overrides or ())])
    print_problems(loaded.notices, kind="notice")
    measured = _measure_linux_boot(loaded, runs, seed)
    reasons = measured if isinstance(measured, list) else measured.reasons
    error = isinstance(measured, list)
    if as_json:
        verdict: Verdict = "error" if error else "failed" if reasons else "ok"
        result: Envelope | BenchLinuxBootResult = _common("bench linux-boot", loaded, seed, verdict, reasons)
        if not isinstance(measured, list):
            result = {**result, **measured.json()}
        print_json(result)
    else:
        if not isinstance(measured, list):
            _show(measured)
        for reason in reasons:
            complain(f"error: {reason}")
    if reasons:
        raise typer.Exit(1)


def _measure_linux_boot(loaded: Loaded, runs: int, seed: int) -> BootComparison | list[str]:
    """The measured costs, or a list of the reasons why nothing was measured."""
    from bulkhead.bench.counted import CountError
    from bulkhead.bench.linux_boot import measure, prepare
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import build_dir, host_dir
    from bulkhead.env.progress import progress
    from bulkhead.env.qemu import qemu_binary
    from bulkhead.package.build import BuildOptions, build_system
    from bulkhead.package.errors import PackageError
    from bulkhead.planning.plan import PlanningError
    from bulkhead.run.directory import run_directory

    if not loaded.ok or loaded.platform is None:
        return [problem.text() for problem in loaded.problems]
    if loaded.platform.emulator is None:
        return [f"platform '{loaded.platform.name}' is not a board of the emulator"]
    binary = qemu_binary()
    ensure_built(["target"])
    ensure_built(["host"], ["count"])
    counter = host_dir() / "observe" / "libcount.so"
    try:
        with (
            run_directory(build_dir() / "run", "bench-linux-boot") as place,
            progress("boot Linux, bare and under the hypervisor") as update,
        ):
            built = build_system(loaded, place / "package", BuildOptions(seed=seed))
            setup = prepare(loaded, built, binary=binary, counter=counter, directory=place)
            return measure(setup, place, runs, lambda n: update(n / runs, f"run {n} of {runs}"))
    except PlanningError as error:
        return [loaded.locate(finding).text() for finding in error.findings]
    except PackageError as error:
        return [f"{loaded.file}: {reason}" for reason in error.reasons]
    except CountError as error:
        return [str(error)]


def _common(
    command: str, loaded: Loaded, seed: int, verdict: Verdict, reasons: list[str], on: str = "qemu"
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
