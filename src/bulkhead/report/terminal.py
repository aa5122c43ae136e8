# SPDX-License-Identifier: Apache-2.0
"""A run's result in the terminal: domains, witnesses, reasons, and the verdict as the last line.

Called by the commands `run` and `report`. Prints to standard output and decides nothing.
"""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bulkhead.report.load import Run
from bulkhead.report.numbers import count, duration, ranges, rate

_FILE_WIDTH = 120  # columns when nobody says how many there are
_GOOD, _BAD, _DIM = "green", "bold red", "dim"


def show_run(run: Run, console: Console | None = None) -> None:
    """Everything about one run; the verdict is the last line."""
    console = console or Console(highlight=False)
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    console.print(render_run(run))


def render_run(run: Run) -> Group:
    title = f"{run.report.get('system')} on {run.report.get('platform')}, {run.label}"
    parts: list[RenderableType] = [Text(title, style="bold"), _domains(run)]
    if run.attempts:
        parts += [Text(""), _attempts(run)]
    parts += [_budget(domain) for domain in run.domains if domain.get("events")]
    if run.report.get("regulation"):
        parts.append(Text.assemble(("· ", _DIM), regulation_text(run.report["regulation"])))
    parts += [_interference(found) for found in run.interference]
    parts += [line for name in ("observer", "machine", "tables") if (line := _witness(run, name))]
    parts += [Text(f"· {text}", style="yellow") for text in run.notices]
    parts += [Text(f"  • {reason}", style=_BAD) for reason in run.report.get("reasons", [])]
    parts.append(_verdict(run))
    return Group(*parts)


def _domains(run: Run) -> Table:
    report = run.report
    table = Table(header_style=_DIM, box=SIMPLE_HEAD, padding=(0, 0), show_edge=False, pad_edge=False)
    observed = any("llc" in domain for domain in run.domains)
    compared = any("slowdown" in domain for domain in run.domains)
    table.add_column("\ndomain", no_wrap=True)
    table.add_column("\nstate", no_wrap=True)
    numbers = ["\nready", "\nexits/s"]
    if observed:
        numbers += ["LLC\naccesses", "\nmisses", "evicted\nby others", "by hyper-\nvisor"]
    if compared:
        numbers.append("\nslowdown")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("\ncolors", no_wrap=True)
    for domain in run.domains:
        table.add_row(*_row(domain, report.get("guest_ns"), observed, compared))
    hypervisor = report.get("hypervisor") or {}
    if observed and hypervisor.get("llc"):
        table.add_section()
        blank = Text("–", style=_DIM)
        cells = [Text("hypervisor"), blank, blank, blank, *_llc(hypervisor["llc"])]
        cells += [blank] if compared else []
        table.add_row(*cells, _colors(hypervisor.get("colors")), style=_DIM)
    return table


def _attempts(run: Run) -> Table:
    table = Table(header_style=_DIM, box=SIMPLE_HEAD, padding=(0, 0), show_edge=False, pad_edge=False)
    table.add_column("attempts", no_wrap=True)
    table.add_column("ways", justify="right")
    table.add_column("tries", justify="right", no_wrap=True)
    table.add_column("what became of them")
    table.add_column("through", justify="right")
    for row in attempts_by_class(run.attempts):
        through = Text(count(row["through"]), style=_BAD if row["through"] else _GOOD)
        table.add_row(row["class"], count(row["ways"]), count(row["tries"]), row["outcomes"], through)
    return table


def attempts_by_class(attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each class of attempts, in the order in which they were made."""
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(str(attempt["class"]) for attempt in attempts):
        own = [attempt for attempt in attempts if attempt["class"] == name]
        outcomes: dict[str, int] = {}
        for attempt in own:
            outcomes[attempt["outcome"]] = outcomes.get(attempt["outcome"], 0) + attempt["count"]
        rows.append(
            {
                "class": name,
                "ways": len({attempt["what"] for attempt in own}),
                "tries": sum(outcomes.values()),
                "outcomes": ", ".join(f"{count(n)} {what}" for what, n in outcomes.items()),
                "through": sum(attempt["count"] for attempt in own if attempt["through"]),
            }
        )
    return rows


def _budget(domain: dict[str, Any]) -> Text:
    return Text.assemble(("· ", _DIM), (f"{domain.get('name')}: ", "bold"), budget_text(domain["events"]))


def budget_text(events: dict[str, Any]) -> str:
    """How a domain kept to its budget, in one sentence."""
    shared = ", shared by its VCPUs" if events.get("shared") else ""
    limits = [one for one in events["vcpus"] if "budget_mean" in one]
    if limits:
        least, most = min(one["budget_min"] for one in limits), max(one["budget_max"] for one in limits)
        means = ", ".join(count(round(one["budget_mean"])) for one in limits)
        budget = f"on average {means} ({count(least)} to {count(most)})"
    elif events["budget"] is None:
        budget = "any number of"
    elif "write_budget" in events:
        budget = f"{count(events['budget'])} and {count(events['write_budget'])}"
    else:
        budget = count(events["budget"])
    latest = events.get("latest")
    changed = (
        f", changed {events['changes']} times to {count(latest['budget'])} in {duration(latest['period_ns'])}"
        if latest
        else ""
    )
    period = duration(events["period_ns"])
    return (
        f"{budget} {events['event']} in each {period}{shared}{changed}; "
        f"at most {count(events['max_per_period'])} on a core, "
        f"stopped in {count(events['throttled_periods'])} of {count(events['periods'])} periods"
        + _reclaim_text(events["vcpus"])
    )


def _reclaim_text(vcpus: list[dict[str, Any]]) -> str:
    given = [one for one in vcpus if "given" in one]
    if not given:
        return ""
    sums = {key: sum(one[key] for one in given) for key in ("given", "drawn", "violations")}
    gave, drew, missed = (count(number) for number in sums.values())
    return f"; gave {gave}, drew {drew}, missed its own in {missed}"


def regulation_text(found: dict[str, Any]) -> str:
    """What the regulator did, in one sentence."""
    together, load = found["global_events"], found["load"]
    intervals = f"{count(found['intervals'])} intervals of {duration(found['interval_ns'])}"
    return (
        f"regulation {found['policy']}: {intervals}, {count(found['missed'])} missed, "
        f"{count(found['late'])} late; together {count(round(together['mean']))} events "
        f"({count(together['min'])} to {count(together['max'])}), "
        f"load {load['mean']:.1%} ({load['min']:.1%} to {load['max']:.1%})"
    )


def _interference(found: dict[str, Any]) -> Text:
    held = bool(found.get("held"))
    mark = ("✓ ", _GOOD) if held else ("✗ ", _BAD)
    return Text.assemble(mark, (f"{found.get('domain')}: ", "bold"), interference_text(found))


def interference_text(found: dict[str, Any]) -> str:
    """What a real-time domain measured before and during an attack, in one sentence."""
    exits = "the same" if found.get("held") else "not the same (" + ", ".join(found["differing"]) + ")"
    jitter = []
    for key, when in (("before", "before the attack"), ("after", "during it")):
        summary = found[key]["jitter_ns"]
        jitter.append(f"{when}: mean {duration(summary['mean'])}, max {duration(summary['max'])}")
    return f"exits of its core per release {exits} before and during the attack; jitter {'; '.join(jitter)}"


def _row(domain: dict[str, Any], guest_ns: object, observed: bool, compared: bool) -> list[RenderableType]:
    state = str(domain.get("state"))
    style = {"running": _GOOD, "crashed": _BAD}.get(state, "yellow")
    exits = sum(vcpu.get("exits", 0) for vcpu in domain.get("vcpus", []))
    cells: list[RenderableType] = [
        Text(str(domain.get("name")), style="bold" if domain.get("criticality") == "rt" else ""),
        Text(state, style=style),
        Text(duration(domain.get("ready_ns"))),
        Text(rate(exits, guest_ns)),
    ]
    if observed:
        cells += _llc(domain.get("llc") or {})
    if compared:
        slowdown = domain.get("slowdown")
        cells.append(Text(f"{slowdown:.2f}" if isinstance(slowdown, float) else "–"))
    return [*cells, _colors(domain.get("colors"))]


def _llc(llc: dict[str, Any]) -> list[RenderableType]:
    cells: list[RenderableType] = [Text(count(llc.get(key))) for key in ("accesses", "misses")]
    for key in ("evicted_by_others", "evicted_by_hypervisor"):
        value = llc.get(key)
        cells.append(Text(count(value), style=_GOOD if value == 0 else _BAD))
    return cells


def _colors(colors: object) -> Text:
    return Text(ranges(colors) if isinstance(colors, list) else "–", style=_DIM)


def _witness(run: Run, name: str) -> Text | None:
    witness = run.witness(name)
    if witness is None:
        return None
    verdict = str(witness.get("verdict"))
    mark = {"held": ("✓", _GOOD), "nothing promised": ("·", "yellow")}.get(verdict, ("✗", _BAD))
    return Text.assemble((f"{mark[0]} ", mark[1]), (f"{name}: ", "bold"), witness_text(name, witness))


def witness_text(name: str, witness: dict[str, Any]) -> str:
    """What a witness says, in one sentence."""
    if witness.get("verdict") == "missing":
        return f"no statement ({witness.get('reason')})"
    if name in ("observer", "machine"):
        evicted = count(witness.get("evicted_by_others"))
        tail = "" if witness.get("verdict") != "nothing promised" else "; nothing was promised"
        return f"{evicted} cache lines of domains evicted by others{tail}"
    what = "color and owner" if witness.get("colored") else "owner"
    later = f" ({count(planned)} more not mapped yet)" if (planned := witness.get("frames_planned")) else ""
    return (
        f"{what} of {count(witness.get('frames_checked'))} mapped frames{later} and "
        f"{count(witness.get('tables_checked'))} table frames checked, "
        f"{count(witness.get('findings_total'))} wrong"
    )


def _verdict(run: Run) -> Text:
    guest = duration(run.report.get("guest_ns"))
    if run.ok:
        held = "every promise held" if run.protected else "all domains as expected, caches not divided,"
        return Text(f"ok: {held} for {guest} of guest time", style="bold green")
    reasons = len(run.report.get("reasons", []))
    return Text(
        f"{run.report.get('verdict')}: {reasons} reason{'s' if reasons != 1 else ''} above", style=_BAD
    )
