# SPDX-License-Identifier: Apache-2.0
"""A run's result in the terminal: domains, witnesses, reasons, and the verdict as the last line.

Called by the commands `run` and `report`. Prints to standard output and decides nothing.
"""

from __future__ import annotations

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bulkhead.report.fitting import Fitted
from bulkhead.report.load import Json, LoadedRun
from bulkhead.report.monitors import errors_text, monitor_table, run_rows
from bulkhead.report.numbers import count, exit_rate
from bulkhead.report.sentences import (
    budget_text,
    chain_kept,
    chain_text,
    device_texts,
    expectation_text,
    flows_kept,
    flows_text,
    interference_text,
    mpam_text,
    regulation_text,
    shared_core_kept,
    shared_core_text,
    smmu_texts,
    trust_text,
    verdict_text,
    witness_text,
)
from bulkhead.units import duration, ranges_text

_FILE_WIDTH = 120  # columns if the output is not a terminal
WITNESSES = ("observer", "machine", "portions", "mpam", "tables")
_GOOD, _BAD, _DIM = "green", "bold red", "dim"


def show_run(run: LoadedRun, console: Console | None = None) -> None:
    """Prints everything about one run; the verdict is the last line."""
    console = console or Console(highlight=False)
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    console.print(render_run(run))


def render_run(run: LoadedRun) -> Group:
    title = f"{run.report.get('system')} on {run.report.get('platform')}, {run.label}"
    parts: list[RenderableType] = [Text(title, style="bold"), Fitted(_domains(run))]
    if run.attempts:
        parts += [Text(""), Fitted(_attempts(run))]
    parts += [_budget(domain) for domain in run.domains if domain.get("events")]
    parts += [_shared_core(core, run) for core in run.shared_cores]
    if run.report.get("regulation"):
        parts.append(Text.assemble(("· ", _DIM), regulation_text(run.report["regulation"])))
    if run.flows:
        style = {None: "yellow", True: _GOOD, False: _BAD}[flows_kept(run)]
        parts += [Text(""), Fitted(_flows(run.flows)), Text(f"· {flows_text(run)}", style=style)]
    parts += [_chain(chain, run) for chain in run.chains]
    parts += _mpam(run)
    parts += [Text.assemble(("· ", _DIM), ("devices: ", "bold"), text) for text in device_texts(run)]
    parts += [Text.assemble(("· ", _DIM), ("smmu: ", "bold"), text) for text in smmu_texts(run)]
    parts += [_interference(found) for found in run.interference]
    parts += [_expectation(one) for one in run.expectations]
    parts += [line for name in WITNESSES if (line := _witness(run, name))]
    parts += [Text(f"· {text}", style="yellow") for text in run.notices]
    parts += [Text(f"· {text}", style="yellow") for text in run.not_shown]
    parts += [Text(f"  • {reason}", style=_BAD) for reason in run.report.get("reasons", [])]
    parts.append(Text.assemble(("· ", _DIM), ("results: ", "bold"), shown_path(run.directory)))
    parts.append(_verdict(run))
    return Group(*parts)


def shown_path(directory: Path) -> str:
    """The path, relative to the current directory if that is possible."""
    here = Path.cwd()
    return str(directory.relative_to(here) if directory.is_relative_to(here) else directory)


def _domains(run: LoadedRun) -> Table:
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
        table.add_row(*_row(domain, run.rated_ns, observed, compared))
    hypervisor = run.report.get("hypervisor") or {}
    if observed and hypervisor.get("llc"):
        table.add_section()
        blank = Text("–", style=_DIM)
        cells = [Text("hypervisor"), blank, blank, blank, *_llc(hypervisor["llc"])]
        cells += [blank] if compared else []
        table.add_row(*cells, _colors(hypervisor.get("colors")), style=_DIM)
    return table


def _mpam(run: LoadedRun) -> list[RenderableType]:
    """Storage and bandwidth by domain, MPAM's costs, and errors."""
    if run.mpam is None:
        return []
    parts: list[RenderableType] = [Text("")]
    if rows := run_rows(run.report, run.rated_ns):
        parts.append(Fitted(monitor_table(rows)))
    parts.append(Text.assemble(("· ", _DIM), mpam_text(run.mpam)))
    if errors := errors_text(run.mpam):
        parts.append(Text(f"✗ {errors}", style=_BAD))
    return parts


def _flows(flows: list[Json]) -> Table:
    table = Table(header_style=_DIM, box=SIMPLE_HEAD, padding=(0, 0), show_edge=False, pad_edge=False)
    for name in ("flow", "from", "to"):
        table.add_column(name, no_wrap=True)
    for name in ("packets", "bytes", "latency", "at most", "bound", "deadline", "late", "lost", "refused"):
        table.add_column(name, justify="right", no_wrap=True)
    for flow in flows:
        latencies = [flow["latency_ns"]["mean"], flow["latency_ns"]["max"], flow["bound_ns"]]
        table.add_row(
            flow["name"],
            flow["from"],
            f"{flow['to']}:{flow['port']}",
            count(flow["packets"]),
            count(flow["bytes"]),
            *("–" if ns is None else duration(ns) for ns in latencies),
            duration(flow["deadline_ns"]),
            *(count(flow[key]) for key in ("misses", "lost", "refused")),
        )
    return table


def _chain(chain: Json, run: LoadedRun) -> Text:
    kept = chain_kept(chain, run)
    mark, style = {None: ("·", "yellow"), True: ("✓", _GOOD), False: ("✗", _BAD)}[kept]
    return Text(f"{mark} {chain_text(chain)}", style=style)


def _attempts(run: LoadedRun) -> Table:
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


def attempts_by_class(attempts: list[Json]) -> list[Json]:
    """One row for each class of attempts, in the order of their first occurrence."""
    rows: list[Json] = []
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


def _budget(domain: Json) -> Text:
    return Text.assemble(("· ", _DIM), (f"{domain.get('name')}: ", "bold"), budget_text(domain["events"]))


def _shared_core(core: Json, run: LoadedRun) -> Text:
    mark = ("✓ ", _GOOD) if shared_core_kept(core) else ("✗ ", _BAD)
    return Text.assemble(mark, (f"core {core['core']}: ", "bold"), shared_core_text(core, run))


def _expectation(one: Json) -> Text:
    mark = {None: ("· ", "yellow"), True: ("✓ ", _GOOD), False: ("✗ ", _BAD)}[one["met"]]
    return Text.assemble(mark, (f"{one['domain']}: ", "bold"), expectation_text(one))


def _interference(found: Json) -> Text:
    held = bool(found.get("held"))
    mark = ("✓ ", _GOOD) if held else ("✗ ", _BAD)
    return Text.assemble(mark, (f"{found.get('domain')}: ", "bold"), interference_text(found))


def _row(domain: Json, guest_ns: object, observed: bool, compared: bool) -> list[RenderableType]:
    state = str(domain.get("state"))
    style = {"running": _GOOD, "crashed": _BAD}.get(state, "yellow")
    cells: list[RenderableType] = [
        Text(str(domain.get("name")), style="bold" if domain.get("criticality") == "rt" else ""),
        Text(state, style=style),
        Text(duration(domain.get("ready_ns"))),
        Text(exit_rate(domain.get("vcpus", []), guest_ns)),
    ]
    if observed:
        cells += _llc(domain.get("llc") or {})
    if compared:
        slowdown = domain.get("slowdown")
        cells.append(Text(f"{slowdown:.2f}" if isinstance(slowdown, float) else "–"))
    return [*cells, _colors(domain.get("colors"))]


def _llc(llc: Json) -> list[RenderableType]:
    cells: list[RenderableType] = [Text(count(llc.get(key))) for key in ("accesses", "misses")]
    for key in ("evicted_by_others", "evicted_by_hypervisor"):
        value = llc.get(key)
        cells.append(Text(count(value), style=_GOOD if value == 0 else _BAD))
    return cells


def _colors(colors: object) -> Text:
    return Text(ranges_text(colors) if isinstance(colors, list) else "–", style=_DIM)


def _witness(run: LoadedRun, name: str) -> Text | None:
    witness = run.witness(name)
    if witness is None:
        return None
    verdict = str(witness.get("verdict"))
    mark = {"held": ("✓", _GOOD), "nothing promised": ("·", "yellow")}.get(verdict, ("✗", _BAD))
    return Text.assemble((f"{mark[0]} ", mark[1]), (f"{name}: ", "bold"), witness_text(name, witness))


def _verdict(run: LoadedRun) -> Text:
    style = _BAD if not run.ok else "bold yellow" if run.not_shown or trust_text(run) else "bold green"
    return Text(verdict_text(run), style=style)
