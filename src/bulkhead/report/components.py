# SPDX-License-Identifier: Apache-2.0
"""The result of a component run for the terminal and as a page: jobs compared with what was admitted, the
memory of each allocation, violations. Decides nothing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bulkhead.report.load import read_about
from bulkhead.report.numbers import count
from bulkhead.run.console import visible
from bulkhead.units import duration

Json = Mapping[str, Any]  # of a report.json, which any version may have written
_TEMPLATE = "components.html.j2"
_LONGEST_REPORT = 1000  # most characters of a component's report that are shown
JOBS = (
    "component",
    "period",
    "budget",
    "jobs",
    "longest response",
    "mean",
    "longest execution",
    "late",
    "stopped",
    "most refills of a job",
    "admitted",
)
MEMORY = ("component", "memory", "size", "spec", "got", "check at worst", "independent")


def job_rows(result: Json) -> list[tuple[str, ...]]:
    return [
        (
            one["name"],
            duration(job["period_ns"]),
            duration(job["budget_ns"]),
            count(job.get("ended")),
            duration(job.get("response_most_ns")),
            duration(job.get("response_mean_ns")),
            duration(job.get("execution_most_ns")),
            count(job.get("late")),
            count(job.get("overruns")),
            count(job.get("most_refills")),
            count(job["misses_admitted"]) if job["misses_admitted"] is not None else "not counted",
        )
        for one in result["components"]
        if (job := one.get("job")) is not None
    ]


def memory_rows(result: Json) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for component in result["admitted"]["components"]:
        for one in component["memory"]:
            check = one["check"] or {}
            cycles = check.get("cycles")
            worst = f"{count(cycles)} cycles" if cycles is not None else "no bound"
            rows.append(
                (
                    component["name"],
                    one["name"],
                    count(one["size"]),
                    ", ".join(one["spec"]) or "best effort",
                    one["hardware"],
                    worst,
                    one["independent"],
                )
            )
    return rows


def other_lines(result: Json) -> list[str]:
    """Activity of each component besides its jobs."""
    lines = []
    for one in result["components"]:
        said = [f"{one['name']}: ran for {duration(one.get('busy_ns'))}"]
        if one.get("refills"):
            said.append(f"{count(one['refills'])} refills of dynamic regions")
        if one["violation"]:
            said.append(f"killed: {one['violation']}")
        lines.append("; ".join(said))
        # The component's own words go on a line of their own.
        own = ", ".join(f"{key} {value}" for key, value in (one.get("report") or {}).items())
        if own:
            lines.append(f"{one['name']} says: {visible(own)[:_LONGEST_REPORT]}")
    return lines


def machine_lines(result: Json) -> list[str]:
    """Counts of the simulated machine."""
    mpu = result.get("mpu")
    if not mpu or not mpu.get("misses"):
        return []
    mean = round(mpu["miss_cycles"] / mpu["misses"])
    longest = mpu.get("longest_miss_cycles")
    bound = (result["admitted"].get("refill") or {}).get("bound")
    beside = "" if bound is None else f"; the bound is {count(bound)}"
    return [
        f"{count(mpu['misses'])} refills took {count(mean)} cycles each, {count(longest)} at most{beside}"
    ]


def verdict_line(result: Json) -> str:
    if result["verdict"] == "ok":
        counted = [
            one for one in result["components"] if (one.get("job") or {}).get("misses_admitted") is not None
        ]
        held = "no job had more refills than were admitted" if counted else "all components ran as promised"
        return f"ok: {held}"
    return f"{result['verdict']}: {len(result['reasons'])} reason{'s' if len(result['reasons']) != 1 else ''}"


def label_of(result: Json) -> str:
    return "unprotected" if result["options"]["unprotected"] else "as specified"


def show_components_run(directory: Path, result: Json) -> None:
    """Prints the result of a run; the verdict is the last line."""
    from rich.table import Table
    from rich.text import Text

    from bulkhead.report.fitting import FittingConsole

    console = FittingConsole(highlight=False)
    if not console.is_terminal:
        console.width = 160
    console.print(Text(f"{result['system']} on {result['platform']}, {label_of(result)}", style="bold"))
    rows = job_rows(result)
    if rows:
        table = Table(header_style="dim", box=None, pad_edge=False)
        for heading in JOBS:
            table.add_column(heading, justify="left" if heading == "component" else "right")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    for line in other_lines(result):
        console.print(Text(f"· {line}"))
    for line in machine_lines(result):
        console.print(Text(f"· {line}"))
    for note in result["notes"]:
        console.print(Text(f"· {note}", style="yellow"))
    for reason in result["reasons"]:
        console.print(Text(f"  • {reason}", style="bold red"))
    here = Path.cwd()
    place = directory.relative_to(here) if directory.is_relative_to(here) else directory
    console.print(Text.assemble(("· ", "dim"), ("results: ", "bold"), str(place)))
    console.print(Text(verdict_line(result), style="green" if result["verdict"] == "ok" else "bold red"))


def is_components_run(path: Path) -> bool:
    """Whether `path` has the result of a component run. Other files are handled as runs of domains."""
    try:
        found = json.loads(_report_file(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("command") == "run" and "admitted" in found


def read_run(path: Path) -> tuple[Path, Json, Json]:
    """Directory, result and variable data of a run for which is_components_run() is true."""
    file = _report_file(path)
    return file.parent, json.loads(file.read_text(encoding="utf-8")), read_about(file.parent)


def _report_file(path: Path) -> Path:
    return path / "report.json" if path.is_dir() else path.with_name("report.json")


def write_components_page(runs: Sequence[tuple[Path, Json, Json]], path: Path) -> None:
    """Writes one page of one or several runs, in the given order."""
    from bulkhead.report.templates import page_templates

    shown = [
        {
            "result": result,
            "label": label_of(result),
            "jobs": job_rows(result),
            "memory": memory_rows(result),
            "others": [*other_lines(result), *machine_lines(result)],
            "verdict": verdict_line(result),
            "command": shlex.join(["./bulkhead", *map(str, about.get("options", {}).get("repeat", []))]),
        }
        for _, result, about in runs
    ]
    title = " and ".join(dict.fromkeys(str(result["system"]) for _, result, _ in runs))
    text = page_templates().get_template(_TEMPLATE).render(title=title, runs=shown, jobs=JOBS, memory=MEMORY)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
