# SPDX-License-Identifier: Apache-2.0
"""The plots of the page, each as SVG; None if there is nothing to show.

Called by `html`. Data that guests reported are checked before they are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import EngFormatter, MaxNLocator

from bulkhead.evidence.observer import ObserverResult
from bulkhead.report.load import Json, LoadedRun
from bulkhead.report.numbers import count
from bulkhead.report.style import HEAT, TEXT, WRONG, owner_color, power_of_ten, svg, text_on


def evictions(runs: Sequence[LoadedRun]) -> str | None:
    """Lines of each domain that others evicted, for each run."""
    runs = [run for run in runs if any("llc" in domain for domain in run.domains)]
    if not runs:
        return None
    names = _names(runs)

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        width = 0.8 / len(runs)
        for index, run in enumerate(runs):
            values = [_evicted(run, name) for name in names]
            places = np.arange(len(names)) + (index - (len(runs) - 1) / 2) * width
            colors = [owner_color(names, name) for name in names]
            bars = axes.bar(
                places,
                values,
                width * 0.92,
                color=colors,
                alpha=1 if index == len(runs) - 1 else 0.45,
                label=run.label,
            )
            own = f"\n{run.label}" if len(runs) == 2 else ""
            labels = [count(value) + own for value in values]
            axes.bar_label(bars, labels, padding=2, fontsize=8.5)
        axes.set_xticks(range(len(names)), names)
        axes.set_yscale("symlog", linthresh=10)
        axes.yaxis.set_major_formatter(power_of_ten)
        axes.set_ylim(0, max(10, *(_evicted(run, name) for run in runs for name in names)) * 12)
        axes.set_ylabel("LLC lines evicted by others (log)")
        if len(runs) > 2:
            order = " | ".join(run.label for run in runs)
            axes.set_title(f"from left to right: {order}", fontsize=8.5)
        axes.grid(axis="y")

    return svg(draw, (6.4, 3.1))


def who_evicted_whom(run: LoadedRun, runs: Sequence[LoadedRun] = ()) -> str | None:
    """Heat map of victims and evictors, with the same color scale for all `runs` of a comparison."""
    witness = run.witness("observer") or run.witness("machine")
    if not witness or "evictions" not in witness:
        return None
    owners: list[str] = witness["owners"]
    # Lines of the load area are evicted in any run; they matter only if they evicted a line of another owner.
    kept = [
        i for i, name in enumerate(owners) if name != "nobody" or any(row[i] for row in witness["evictions"])
    ]
    matrix = np.array(witness["evictions"], dtype=float)[np.ix_(kept, kept)]
    most = max(4.0, *(float(np.log10(max(_foreign(one), 1))) for one in (run, *runs)))
    names = [owners[i] for i in kept]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        foreign = matrix.copy()
        np.fill_diagonal(foreign, np.nan)
        shown = np.ma.masked_where(~(foreign > 0), np.log10(np.where(foreign > 0, foreign, 1)))
        axes.imshow(shown, cmap=HEAT, aspect="auto", vmin=0, vmax=most)
        for row, column in np.ndindex(*matrix.shape):
            value = int(matrix[row, column])
            on_color = row != column and value > 0
            axes.text(
                column,
                row,
                _short(value),
                ha="center",
                va="center",
                fontsize=8.5,
                color=text_on(to_hex(HEAT(np.log10(value) / most))) if on_color else TEXT,
                alpha=0.7 if row == column else 1,
            )
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks(range(len(names)), names)
        axes.set_xlabel("made room for a line of")
        axes.set_ylabel("lost a line")
        axes.spines[:].set_visible(False)
        axes.set_xticks(np.arange(-0.5, len(names)), minor=True)
        axes.set_yticks(np.arange(-0.5, len(names)), minor=True)
        axes.grid(which="minor", alpha=0.25)
        axes.tick_params(which="both", length=0)

    return svg(draw, (6.4, 3.5))


def over_time(run: LoadedRun, runs: Sequence[LoadedRun] = ()) -> str | None:
    """Evictions by others and misses of each domain, for each window; with the same scale for all `runs` of a
    comparison."""
    if run.observer is None or len(run.observer.windows) < 2:
        return None
    observer = run.observer
    ends = _ends_s(observer)
    names = _names(runs or (run,))
    most_evicted, most_missed = (
        max(of_run) for of_run in zip(*map(_most_per_s, runs or (run,)), strict=True)
    )

    def draw(figure: Figure) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True)
        for owner, name in enumerate(observer.owners):
            if name == "nobody":
                continue
            color = owner_color(names, name)
            for axes, rates in zip((upper, lower), _per_s(observer, owner), strict=True):
                axes.stairs(rates, ends, color=color, label=name, linewidth=1.3)
        upper.set_ylabel("evicted by\nothers per s")
        lower.set_ylabel("misses per s")
        lower.set_xlabel("time since start, s (host's clock)")
        for axes, most in ((upper, most_evicted), (lower, most_missed)):
            axes.yaxis.set_major_formatter(EngFormatter(sep=""))
            axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
            axes.set_ylim(0, 1.05 * max(1.0, most))
            axes.grid(axis="y")
        upper.legend(ncols=4, loc="lower left", bbox_to_anchor=(0, 1.0), fontsize=8.5, handlelength=1.2)

    return svg(draw, (6.4, 3.4))


def exits(run: LoadedRun, runs: Sequence[LoadedRun] = ()) -> str | None:
    """Exit reasons of each domain's VCPUs, per second; with the same reasons and scale for all `runs` of a
    comparison."""
    domains = _leaving(run)
    if not domains or not run.rated_ns:
        return None
    guest_ns = run.rated_ns
    rates: dict[str, float] = {}
    for one in runs or (run,):
        for domain in _leaving(one) if one.rated_ns else []:
            for reason, n in domain["exit_reasons"].items():
                rates[reason] = max(rates.get(reason, 0.0), n * 1e9 / (one.rated_ns or 1))
    most = sorted(rates, key=lambda reason: -rates[reason])[:10]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        names = _names(runs or (run,))
        height = 0.8 / len(domains)
        for index, domain in enumerate(domains):
            values = [domain["exit_reasons"].get(reason, 0) * 1e9 / guest_ns for reason in most]
            places = np.arange(len(most)) + (index - (len(domains) - 1) / 2) * height
            axes.barh(
                places, values, height * 0.9, color=owner_color(names, domain["name"]), label=domain["name"]
            )
        axes.set_yticks(range(len(most)), [reason.replace("_", " ") for reason in most])
        axes.invert_yaxis()
        axes.set_xscale("symlog", linthresh=1)
        axes.xaxis.set_major_formatter(power_of_ten)
        axes.set_xlim(0, 1.5 * max(1.0, *rates.values()))
        axes.set_xlabel("exits per second of guest time (log above 1)")
        axes.grid(axis="x")
        axes.legend(fontsize=8.5, loc="lower right")

    return svg(draw, (6.4, 1.0 + 0.32 * len(most)))


def jitter(runs: Sequence[LoadedRun]) -> str | None:
    """Lateness of real-time releases in log2 buckets, as periodic guests report it. Runs in the host's time
    are left out: they would show the host's delays."""
    series = []
    names = _names(runs)
    styles = ("-", "--", ":", "-.")
    for place, run in enumerate(runs, start=1 - len(runs)):  # the last run has the solid line
        if not run.own_time:
            continue
        for domain in run.domains:
            report = domain.get("report")
            histogram = report.get("histogram") if isinstance(report, dict) else None
            if isinstance(histogram, list) and histogram and all(_is_count(n) for n in histogram):
                label = domain["name"] + (f", {run.label}" if len(runs) > 1 else "")
                color = owner_color(names, domain["name"])
                series.append((label, histogram[:64], color, styles[min(-place, len(styles) - 1)]))
    if not series:
        return None

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        longest = max(len(histogram) for _, histogram, _, _ in series)
        first = min(next((i for i, n in enumerate(h) if n), longest - 1) for _, h, _, _ in series)
        for label, histogram, color, line in series:
            share = np.array(histogram + [0] * (longest - len(histogram)), dtype=float)
            share /= max(share.sum(), 1)
            edges = np.arange(first, longest + 1)
            if line == "-":
                axes.stairs(share[first:], edges, color=color, fill=True, alpha=0.28)
            axes.stairs(share[first:], edges, color=color, label=label, linewidth=1.4, linestyle=line)
        ticks = np.arange(first, longest + 1, max(1, (longest - first) // 8))
        format_ns = EngFormatter(unit="s", places=0, sep=" ")
        axes.set_xticks(ticks, [format_ns(2.0**t * 1e-9) for t in ticks], fontsize=8.5)
        axes.set_xlabel("release lateness (buckets double)")
        axes.set_ylabel("share of releases")
        axes.set_yscale("symlog", linthresh=1e-4)
        axes.yaxis.set_major_formatter(power_of_ten)
        axes.set_ylim(0, 2)
        axes.grid(axis="y")
        axes.legend(fontsize=8.5, ncols=2, loc="lower left", bbox_to_anchor=(0, 1.0), handlelength=1.2)

    return svg(draw, (6.4, 2.8))


def color_map(run: LoadedRun, runs: Sequence[LoadedRun] = ()) -> str | None:
    """Mapped frames by owner and color, from the table witness; frames of a wrong color are highlighted."""
    witness = run.witness("tables")
    coloring = run.report.get("coloring", {})
    if not witness or not witness.get("frames_by_color") or not coloring.get("enabled"):
        return None
    colors = int(coloring["colors"])
    promised: Json = {domain["name"]: domain.get("colors") or [] for domain in run.domains}
    promised["hypervisor"] = run.report["hypervisor"].get("colors") or []
    names = [name for name in promised if name in witness["frames_by_color"]]
    domains = _names(runs or (run,))

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for row, name in enumerate(names):
            counts = {int(color): n for color, n in witness["frames_by_color"][name].items()}
            for color in range(colors):
                inside = color in promised[name]
                wrong = counts.get(color, 0) > 0 and not inside
                face = WRONG if wrong else owner_color(domains, name) if inside else "none"
                axes.add_patch(
                    Rectangle(
                        (color + 0.04, row + 0.06),
                        0.92,
                        0.88,
                        facecolor=face,
                        edgecolor=TEXT,
                        linewidth=0.4,
                        alpha=1 if inside or wrong else 0.25,
                    )
                )
                if color in counts and colors <= 16:
                    axes.text(
                        color + 0.5,
                        row + 0.5,
                        _short(counts[color]),
                        ha="center",
                        va="center",
                        color=TEXT if face == "none" else text_on(face),
                        fontsize=9,
                    )
        axes.set_xlim(0, colors)
        axes.set_ylim(len(names), 0)
        step = max(1, colors // 16)
        axes.set_xticks(np.arange(0, colors, step) + 0.5, [str(c) for c in range(0, colors, step)])
        axes.set_yticks(np.arange(len(names)) + 0.5, names)
        axes.set_xlabel("color")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)

    return svg(draw, (6.4, 0.8 + 0.42 * len(names)))


def _names(runs: Sequence[LoadedRun]) -> list[str]:
    """The domains of all runs of a page: a domain's place here is its color in each plot."""
    return list(dict.fromkeys(str(domain["name"]) for run in runs for domain in run.domains))


def _ends_s(observer: ObserverResult) -> Any:
    return np.array([0.0, *(window.end_ms for window in observer.windows)]) / 1e3


def _per_s(observer: ObserverResult, owner: int) -> tuple[Any, Any]:
    """Evictions by others and misses per second, window by window."""
    spans = np.maximum(np.diff(_ends_s(observer)), 1e-6)
    evicted = [window.evicted_by_others[owner] for window in observer.windows]
    return np.array(evicted) / spans, np.array([window.misses[owner] for window in observer.windows]) / spans


def _most_per_s(run: LoadedRun) -> tuple[float, float]:
    """The highest rates of any owner that over_time() draws."""
    observer = run.observer
    if observer is None or len(observer.windows) < 2:
        return 0.0, 0.0
    drawn = [owner for owner, name in enumerate(observer.owners) if name != "nobody"]
    rates = [_per_s(observer, owner) for owner in drawn]
    return max(float(one.max()) for one, _ in rates), max(float(one.max()) for _, one in rates)


def _leaving(run: LoadedRun) -> list[Json]:
    return [domain for domain in run.domains if domain.get("exit_reasons")]


def _foreign(run: LoadedRun) -> int:
    """The most lines that one owner lost to another."""
    witness = run.witness("observer") or run.witness("machine") or {}
    rows = witness.get("evictions") or []
    return max((int(n) for i, row in enumerate(rows) for j, n in enumerate(row) if i != j), default=0)


def _evicted(run: LoadedRun, name: str) -> int:
    domain = next((d for d in run.domains if d["name"] == name), {})
    return int((domain.get("llc") or {}).get("evicted_by_others") or 0)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 1 << 64


def _short(value: int) -> str:
    return count(value) if value < 100_000 else EngFormatter(places=1, sep="")(value)
