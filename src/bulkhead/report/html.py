# SPDX-License-Identifier: Apache-2.0
"""The page of one or several runs: a self-contained HTML file, which fetches nothing.

Called by the commands `run` and `report`. The template engine escapes texts of guests.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from bulkhead.report import numbers, plots
from bulkhead.report.load import LoadedRun
from bulkhead.report.monitors import HEADINGS, errors_text, run_rows
from bulkhead.report.sentences import (
    budget_text,
    chain_kept,
    chain_text,
    device_texts,
    expectation_text,
    flows_kept,
    flows_text,
    guest_time,
    interference_text,
    mpam_text,
    regulation_text,
    shared_core_kept,
    shared_core_text,
    smmu_texts,
    trust_text,
    witness_text,
)
from bulkhead.report.templates import page_templates
from bulkhead.report.terminal import attempts_by_class
from bulkhead.units import duration, ranges_text

_TEMPLATE = "page.html.j2"


def write_html(runs: Sequence[LoadedRun], path: Path) -> None:
    """Write the page of these runs; several runs are compared, in the given order."""
    path.write_text(render(runs), encoding="utf-8", errors="backslashreplace")


def render(runs: Sequence[LoadedRun]) -> str:
    """The page as text."""
    environment = page_templates()
    environment.filters.update(count=numbers.count, duration=duration, ranges=ranges_text)
    return environment.get_template(_TEMPLATE).render(
        title=_title(runs),
        headline=_headline(runs),
        runs=[_shown(run) for run in runs],
        domains=_domain_names(runs),
        monitor_headings=HEADINGS,
        sections=[section for section in _sections(runs) if section],
    )


def command_of(run: LoadedRun) -> str | None:
    """The command that repeats this run; None if another command made the run, or an older version."""
    words = run.about.get("options", {}).get("repeat")
    return shlex.join(["./bulkhead", *map(str, words)]) if words else None


def _title(runs: Sequence[LoadedRun]) -> str:
    names = dict.fromkeys(str(run.report.get("system")) for run in runs)
    return " and ".join(names)


def _domain_names(runs: Sequence[LoadedRun]) -> list[str]:
    return list(dict.fromkeys(str(domain["name"]) for run in runs for domain in run.domains))


def _lines_lost(run: LoadedRun) -> int | None:
    """Lines that all domains lost to others; None if they were not counted."""
    counts = [
        int(llc["evicted_by_others"])
        for domain in run.domains
        if (llc := domain.get("llc")) and llc.get("evicted_by_others") is not None
    ]
    return sum(counts) if counts else None


def _headline(runs: Sequence[LoadedRun]) -> list[dict[str, object]]:
    """The headline of the page: the lines lost in each run that counted them."""
    return [{"label": run.label, "lines": lost} for run in runs if (lost := _lines_lost(run)) is not None]


def _shown(run: LoadedRun) -> dict[str, object]:
    witnesses = run.report.get("witnesses") or {}
    on_machine = run.report.get("on") == "machine"
    return {
        "run": run,
        "report": run.report,
        "about": run.about,
        "label": run.label,
        "on_machine": on_machine,
        "where": f"{run.report.get('platform')}, {'simulated' if on_machine else 'emulated'}",
        "ok": run.ok,
        "lost": run.ok and not run.protected and bool(_lines_lost(run)),
        "trust": trust_text(run),
        "devices": device_texts(run),
        "smmu": smmu_texts(run),
        "command": command_of(run),
        "guest_time": guest_time(run),
        "emulator": shlex.join(str(word) for word in run.about.get("command", [])),
        "by_name": {domain["name"]: domain for domain in run.domains},
        "attempts": attempts_by_class(run.attempts),
        "interference": [
            {"held": found.get("held"), "domain": found.get("domain"), "text": interference_text(found)}
            for found in run.interference
        ],
        "rates": {
            domain["name"]: numbers.exit_rate(domain.get("vcpus", []), run.rated_ns) for domain in run.domains
        },
        "shared_cores": [
            {"kept": shared_core_kept(core), "core": core["core"], "text": shared_core_text(core, run)}
            for core in run.shared_cores
        ],
        "expectations": [
            {"met": one["met"], "domain": one["domain"], "text": expectation_text(one)}
            for one in run.expectations
        ],
        "flows": run.flows,
        "flows_text": flows_text(run) if run.flows else None,
        "chain_texts": [
            ({None: "warn", True: "good", False: "bad"}[chain_kept(chain, run)], chain_text(chain))
            for chain in run.chains
        ],
        "flows_class": {None: "warn", True: "good", False: "bad"}[flows_kept(run)],
        "budgets": [
            {"domain": domain["name"], "text": budget_text(domain["events"])}
            for domain in run.domains
            if domain.get("events")
        ],
        "mpam": mpam_text(run.mpam) if run.mpam else None,
        "mpam_errors": errors_text(run.mpam) if run.mpam else None,
        "monitors": run_rows(run.report, run.rated_ns),
        "regulation": regulation_text(found) if (found := run.report.get("regulation")) else None,
        "witnesses": [
            {
                "name": name,
                "verdict": found.get("verdict"),
                "text": witness_text(name, found),
                "findings": found.get("findings") or [],
                "findings_total": found.get("findings_total") or 0,
            }
            for name, found in witnesses.items()
        ],
    }


def _sections(runs: Sequence[LoadedRun]) -> Iterator[dict[str, object] | None]:
    """The plots by subject: first those of all runs together, then one for each run side by side."""
    several = len(runs) > 1
    evictions = _figure(
        "Lines that others evicted",
        plots.evictions(runs),
        "Lines of a domain in the last-level cache that were evicted for a line of another domain or of the "
        "hypervisor.",
    )
    jitter = _figure(
        "Release jitter",
        plots.jitter(runs),
        "How late the real-time task was released, as it measured itself in counted or simulated time.",
    )
    subjects = [name for name, figure in (("Evictions", evictions), ("Jitter", jitter)) if figure]
    yield _section(" and ".join(subjects).capitalize() if several else "", [evictions, jitter])
    by_run: tuple[tuple[str, Callable[[LoadedRun, Sequence[LoadedRun]], str | None], str], ...] = (
        (
            "Who evicted whom",
            plots.who_evicted_whom,
            "Owners in rows lost lines to owners in columns. The pale diagonal shows lines that an owner "
            "replaced itself.",
        ),
        (
            "Over time",
            plots.over_time,
            "In the last-level cache; a window is a fixed number of accesses to it.",
        ),
        (
            "Colors of all mapped frames",
            plots.color_map,
            "4 KiB frames that the translation tables map, by color. Filled colors were promised; red ones "
            "were not.",
        ),
        ("Exits to the hypervisor", plots.exits, ""),
    )
    for title, draw, caption in by_run:
        figures = [_figure(run.label if several else title, draw(run, runs), caption) for run in runs]
        yield _section(title if several else "", figures)


def _section(title: str, figures: list[dict[str, object] | None]) -> dict[str, object] | None:
    shown = [figure for figure in figures if figure]
    return {"title": title, "figures": shown} if shown else None


def _figure(title: str, svg: str | None, caption: str) -> dict[str, object] | None:
    return {"title": title, "svg": Markup(svg), "caption": caption} if svg else None  # noqa: S704 (our own SVG)
