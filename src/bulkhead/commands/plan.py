# SPDX-License-Identifier: Apache-2.0
"""`bulkhead plan SYSTEM`: choose every value that the system file leaves open, and say why.

The resolved file that `-o` writes is a system file too; planning it gives the same result.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.check import show_usage
from bulkhead.commands.options import AsJson, Overrides, SystemFile, Unprotected
from bulkhead.commands.output import complain, console, print_json, print_problems
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.check.files import Checked
    from bulkhead.planning.model import Plan
    from bulkhead.results.plan import NotPlannedResult, PlanResult


def register(app: typer.Typer) -> None:
    app.command("plan")(plan)


def plan(
    system: SystemFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to which the resolved system file is written.", show_default=False
        ),
    ] = None,
    overrides: Overrides = None,
    unprotected: Unprotected = False,
    as_json: AsJson = False,
) -> None:
    """Choose every value that a system file leaves open, and print the reason for each choice."""
    from bulkhead.check.files import plan_file

    checked = plan_file(system, overrides or [], unprotected=unprotected)
    not_written = None if output is None else _not_written(checked, output)
    if as_json:
        print_json(_json(checked, not_written))
    else:
        print_problems(checked.problems)
        print_problems(checked.loaded.notices, kind="notice")
        if checked.plan is not None:
            _show(checked.plan)
        if not_written is not None:
            complain(f"error: {not_written}")
        elif checked.plan is not None and output is not None:
            console().print(f"wrote {output}")
    if checked.plan is None or not_written is not None:
        raise typer.Exit(1)


def _not_written(checked: Checked, output: Path) -> str | None:
    """Writes the resolved file if there is a plan. Returns why it cannot be written, or None."""
    from bulkhead.planning.resolve import resolved_text

    if checked.plan is None:
        return None
    beside = Path(checked.loaded.file).parent
    try:
        output.write_text(resolved_text(checked.plan, beside=beside, target=output.parent), "utf-8")
    except OSError as error:
        return f"{output}: cannot be written: {error.strerror}"
    return None


def _json(checked: Checked, not_written: str | None) -> PlanResult | NotPlannedResult:
    from bulkhead.check.result import device_rates_json, unconfined_names
    from bulkhead.planning.flow_result import flows_json
    from bulkhead.planning.shares import rows_of
    from bulkhead.planning.socket_pool import reach_of

    loaded, planned = checked.loaded, checked.plan
    common = result_object(
        "plan",
        system=loaded.system.name if loaded.system else None,
        platform=loaded.platform.name if loaded.platform else None,
        verdict="ok" if planned is not None and not_written is None else "error",
        reasons=[problem.text() for problem in checked.problems] + ([not_written] if not_written else []),
        platform_sha256=loaded.platform_sha256,
    )
    errors = [problem.json() for problem in checked.problems]
    notices = [notice.json() for notice in loaded.notices]
    if planned is None:
        return {**common, "errors": errors, "notices": notices}
    free, rates, reach = unconfined_names(planned), device_rates_json(planned), reach_of(planned)
    return {
        **common,
        "errors": errors,
        "notices": notices,
        "color_bits": list(planned.space.positions),
        "granule_bytes": planned.space.granule,
        "pool": {
            "pa": planned.pool.pa,
            "bytes": planned.pool.bytes,
            "colors": _sorted(planned.pool.colors),
        },
        "domains": [
            {
                "name": domain.name,
                "cpus": list(domain.cpus),
                "unconfined_devices": free[domain.name],
                "device_rates": rates[domain.name],
                "colors": _sorted(domain.colors),
                "premap": domain.premap,
                "maps": domain.maps,
                "fragmented_bytes": domain.fragmented_bytes,
                "broker_reach_bytes": reach.get(domain.name, 0),
                "segments": [
                    {"ipa": s.ipa, "bytes": s.bytes, "pa": s.pa, "colors": _sorted(s.colors)}
                    for s in domain.segments
                ],
            }
            for domain in planned.domains
        ],
        "flows": None if planned.flows is None else flows_json(planned.flows),
        "further_brokers": [flows_json(broker) for broker in planned.brokers[1:]],
        "shares": [row.json() for row in rows_of(planned)],
        "mpam": None if planned.mpam is None else planned.mpam.json(),
        "choices": [{"key": c.key, "value": c.value, "reason": c.reason} for c in planned.choices],
    }


def _show(planned: Plan) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="what was open", title_justify="left")
    for heading in ("key", "decided", "why"):
        table.add_column(heading, overflow="fold")
    for choice in planned.choices:
        table.add_row(choice.key, Text(choice.value), choice.reason)
    if planned.choices:
        console().print(table)
    show_usage("plan", planned)


def _sorted(colors: frozenset[int] | None) -> list[int] | None:
    return None if colors is None else sorted(colors)
