# SPDX-License-Identifier: Apache-2.0
"""`bulkhead flows check|min-bandwidth|min-period|sweep`: analyze flows between domains (F6).

`check` and `min-bandwidth` take a system file, and its platform need not be bootable. The other two commands
take no system file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from bulkhead.commands.options import AsJson, Overrides, Seed, SystemFile
from bulkhead.commands.output import complain, console, print_json, print_problems
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.admission.flows import FlowCheck, LeastBandwidth
    from bulkhead.admission.load import Loaded
    from bulkhead.config.flow_costs import FlowCosts
    from bulkhead.config.platform import Platform
    from bulkhead.config.problem import Problem
    from bulkhead.flows.sweep import Sweep, Swept
    from bulkhead.results.envelope import Envelope
    from bulkhead.results.flows import (
        FlowProblemsResult,
        FlowsCheckResult,
        FlowsSweepResult,
        MinBandwidthResult,
        MinPeriodResult,
        NotSchedulableResult,
    )

PlatformName = Annotated[
    str,
    typer.Option(
        "--platform", metavar="PLATFORM", help="Name of the platform whose measured path costs are used."
    ),
]
Size = Annotated[str, typer.Option(metavar="BYTES", help="Payload of a packet, as 4KiB.")]
Bandwidth = Annotated[
    str, typer.Option(metavar="BYTES/S", help="Bandwidth at which the broker copies, as 148MB/s.")
]
Isolated = Annotated[
    bool,
    typer.Option(
        "--isolated",
        help="Take the costs of systems whose colors keep EL2 and the broker apart from domains.",
    ),
]
Chunk = Annotated[str, typer.Option(metavar="BYTES", help="Largest size of one transfer, as 4KiB.")]


def register(app: typer.Typer) -> None:
    flows = typer.Typer(no_args_is_help=True, help="Analyze flows between domains.")
    flows.command("check")(check)
    flows.command("min-bandwidth")(min_bandwidth)
    flows.command("min-period")(min_period)
    flows.command("sweep")(sweep)
    app.add_typer(flows, name="flows")


def check(file: SystemFile, overrides: Overrides = None, as_json: AsJson = False) -> None:
    """Check whether all flows of a system meet their deadlines.

    If they do, show the slack of each flow, else the smallest changes that make the flows schedulable.
    """
    from bulkhead.admission.flows import check_flows
    from bulkhead.commands.flows_view import show_flows

    loaded = _load(file, overrides, "flows check", as_json)
    assert loaded.system is not None
    assert loaded.platform is not None
    found = check_flows(loaded)
    planned = found.planned
    if as_json:
        print_json(_check_json(found))
    elif planned:
        for broker in planned:
            of = "" if len(planned) == 1 else f", broker '{broker.broker.name}'"
            show_flows(broker, f"{file}: {loaded.system.name} on {loaded.platform.name}{of}")
        console().print("schedulable", style="green")
    else:
        print_problems(found.problems)
        console().print("not schedulable", style="red")
    if not planned:
        raise typer.Exit(1)


def _check_json(found: FlowCheck) -> FlowsCheckResult | NotSchedulableResult:
    from bulkhead.planning.flow_result import flows_json

    common = _common("flows check", found.loaded, found.problems)
    errors = [problem.json() for problem in found.problems]
    if not found.planned:
        return {**common, "errors": errors, "schedulable": False}
    first, *further = (flows_json(planned) for planned in found.planned)
    return {**common, "errors": errors, "schedulable": True, **first, "further_brokers": further}


def min_bandwidth(file: SystemFile, overrides: Overrides = None, as_json: AsJson = False) -> None:
    """Find the smallest bandwidth of each broker with which the flows of a system are schedulable."""
    from bulkhead.admission.flows import least_bandwidths

    loaded = _load(file, overrides, "flows min-bandwidth", as_json)
    brokers = least_bandwidths(loaded)
    if as_json:
        problems = tuple(problem for least in brokers for problem in least.problems)
        found = brokers[0].bytes_per_s
        result: MinBandwidthResult = {
            **_common("flows min-bandwidth", loaded, problems),
            "errors": [problem.json() for problem in problems],
            "bytes_per_s": found,
            "mb_per_s": None if found is None else found / 1e6,
            "brokers": {least.broker: least.bytes_per_s for least in brokers},
        }
        print_json(result)
    else:
        for least in brokers:
            _show_least(least, "" if len(brokers) == 1 else f"{least.broker}: ")
    if any(least.bytes_per_s is None for least in brokers):
        raise typer.Exit(1)


def _show_least(least: LeastBandwidth, of: str) -> None:
    found, model = least.bytes_per_s, least.model
    if found is None or model is None:
        print_problems(least.problems)
        return
    console().print(f"{of}{found} B/s ({found / 1e6:.3f} MB/s), transfers {model.transfers_from}")
    _say_assumed(model.costs)


def min_period(
    size: Size,
    bandwidth: Bandwidth,
    platform: PlatformName = "zcu102-published",
    chunk: Chunk = "4KiB",
    senders: Annotated[int, typer.Option(min=1, max=32, help="Number of domains that send.")] = 1,
    isolated: Isolated = False,
    as_json: AsJson = False,
) -> None:
    """Find the smallest period of a single flow whose deadline equals its period.

    The flow has no control packets, and its buffers are contiguous and hold at least a chunk.
    """
    from bulkhead.flows import analysis

    command = "flows min-period"
    used, costs = _platform(platform, command, as_json, isolated=isolated)
    packet, rate, chunk_bytes = _bytes("--size", size), _rate(bandwidth), _bytes("--chunk", chunk)
    try:
        found = analysis.smallest_period(costs, packet, rate, chunk_bytes=chunk_bytes, senders=senders)
    except ValueError as error:
        _no(command, platform, str(error.args[0]), as_json)
    if found is None:
        _no(command, platform, f"no period up to 18 minutes is long enough at {rate} B/s", as_json)
    if as_json:
        result: MinPeriodResult = {
            **result_object(command, platform=used.name, verdict="ok"),
            "period_ns": found,
            "size": packet,
            "bytes_per_s": rate,
            "chunk": chunk_bytes,
            "senders": senders,
            "transfers": -(-packet // chunk_bytes),
            "flow_model": used.flow_model,
            "costs_assumed": costs.assumed,
        }
        print_json(result)
        return
    count = -(-packet // chunk_bytes)
    console().print(f"{found} ns ({found / 1000:.3f} us), {used.flow_model}, transfers by chunk: {count}")
    _say_assumed(costs)


def sweep(
    domains: Annotated[
        int, typer.Option(min=1, help="Number of domains; the sender of each flow is drawn from them.")
    ] = 4,
    flows: Annotated[int, typer.Option(min=1, help="Number of flows in each set.")] = 48,
    size: Size = "12KiB",
    bandwidth: Bandwidth = "500MB/s",
    sets: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Number of random sets of flows for each utilization.")
    ] = 1000,
    platform: PlatformName = "zcu102-published",
    chunk: Chunk = "4KiB",
    first: Annotated[
        float,
        typer.Option("--from", min=0.001, max=2, help="Lowest utilization, as a fraction of the bandwidth."),
    ] = 0.05,
    last: Annotated[
        float,
        typer.Option("--to", min=0.001, max=2, help="Highest utilization, as a fraction of the bandwidth."),
    ] = 1.0,
    step: Annotated[
        float, typer.Option(min=0.0001, max=2, help="Step from one utilization to the next.")
    ] = 0.05,
    isolated: Isolated = False,
    seed: Seed = 1,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of threads that run at the same time.",
            show_default="one for each core",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIRECTORY",
            help="Directory to which the table and the plot are written.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show for each utilization how many of the random sets of flows are schedulable."""
    import os

    from bulkhead.commands.flows_view import show_sweep, write_sweep
    from bulkhead.env.paths import build_dir
    from bulkhead.env.progress import progress
    from bulkhead.flows import sweep as library

    command = "flows sweep"
    used, costs = _platform(platform, command, as_json, isolated=isolated)
    steps = int((last - first) / step + 1e-9) + 1 if last >= first else 0
    utilizations = tuple(round(first + number * step, 6) for number in range(steps))
    if not utilizations:
        raise typer.BadParameter("is below --from", param_hint="--to")
    packet, rate, chunk_bytes = _bytes("--size", size), _rate(bandwidth), _bytes("--chunk", chunk)
    what = library.Sweep(costs, domains, flows, packet, rate, sets, chunk_bytes, utilizations, seed)
    try:
        with progress("flows sweep") as update:
            swept = library.run(what, jobs or os.cpu_count() or 1, update)
    except ValueError as error:
        _no(command, platform, str(error.args[0]), as_json)
    directory = output or build_dir() / "run" / "flows-sweep"
    try:
        files = write_sweep(what, swept, directory)
    except OSError as error:
        place = error.filename or directory
        _no(command, platform, f"{place}: cannot be written: {error.strerror}", as_json)
    if as_json:
        print_json(_sweep_json(what, swept, used, files))
        return
    show_sweep(swept)
    took = swept.took
    console().print(
        f"analysis of a set: median {took.median:.1f} us, mean {took.mean:.1f} us, "
        f"95 % within {took.p95:.1f} us, longest {took.max:.1f} us"
    )
    console().print(f"wrote {', '.join(files)}")
    _say_assumed(costs)


def _sweep_json(what: Sweep, swept: Swept, used: Platform, files: list[str]) -> FlowsSweepResult:
    return {
        **result_object("flows sweep", platform=used.name, seed=what.seed, verdict="ok"),
        "domains": what.domains,
        "flows": what.flows,
        "size": what.packet_bytes,
        "bytes_per_s": what.bytes_per_s,
        "chunk": what.chunk_bytes,
        "sets": what.sets,
        "flow_model": used.flow_model,
        "costs_assumed": what.costs.assumed,
        "analysis_us": swept.took.json(),
        "rows": [point.json() for point in swept.points],
        "files": files,
    }


def _say_assumed(costs: FlowCosts) -> None:
    """Print a notice if costs of the path are assumed: each figure depends on them."""
    if costs.assumed is not None:
        console().print(f"costs of the path are assumed: {costs.assumed}")


def _load(file: str, overrides: list[str] | None, command: str, as_json: bool) -> Loaded:
    """The system with its flows; if it has errors or no flows, the command ends with exit code 1."""
    from bulkhead.admission.flows import load_flows

    loaded, problems = load_flows(file, overrides or ())
    if problems:
        if as_json:
            refused: FlowProblemsResult = {
                **_common(command, loaded, problems),
                "errors": [problem.json() for problem in problems],
            }
            print_json(refused)
        else:
            print_problems(problems)
        raise typer.Exit(1)
    return loaded


def _common(command: str, loaded: Loaded, problems: Sequence[Problem]) -> Envelope:
    return result_object(
        command,
        system=loaded.system.name if loaded.system else None,
        platform=loaded.platform.name if loaded.platform else None,
        verdict="error" if problems else "ok",
        reasons=[problem.text() for problem in problems],
        platform_sha256=loaded.platform_sha256,
    )


def _platform(name: str, command: str, as_json: bool, *, isolated: bool) -> tuple[Platform, FlowCosts]:
    """The platform, and its costs; without them the command ends with exit code 1."""
    from bulkhead.flows.platforms import NoFlowCosts, platform_with_costs

    try:
        return platform_with_costs(name, isolated=isolated)
    except NoFlowCosts as error:
        _no(command, name, str(error), as_json)


def _no(command: str, platform: str, reason: str, as_json: bool) -> NoReturn:
    if as_json:
        print_json(result_object(command, platform=platform, verdict="error", reasons=[reason]))
    else:
        complain(f"error: {reason}")
    raise typer.Exit(1)


def _bytes(option: str, text: str) -> int:
    from bulkhead.config.quantity import BYTE_UNITS

    return _amount(option, text, BYTE_UNITS, "4KiB")


def _rate(text: str) -> int:
    from bulkhead.config.quantity import RATE_UNITS

    return _amount("--bandwidth", text, RATE_UNITS, "148MB/s")


def _amount(option: str, text: str, units: dict[str, int], example: str) -> int:
    from pydantic_core import PydanticCustomError

    from bulkhead.config.quantity import parse

    try:
        amount = parse(text, units, example, bare=False)
    except PydanticCustomError as error:
        context = error.context or {}
        cause = f"{context.get('cause')}; allowed: {context.get('allowed')}"
        raise typer.BadParameter(cause, param_hint=option) from error
    if amount.denominator != 1 or amount < 1:
        raise typer.BadParameter(f"'{text}' is not a positive whole number of bytes", param_hint=option)
    return int(amount)
