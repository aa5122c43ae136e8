# SPDX-License-Identifier: Apache-2.0
"""Writes measured costs of a packet's path into a platform file (`bench flows --write`).

Largest values vary by 10 to 35 % when the layout of the code changes, and each later change may bring an
unlucky layout back. So a measurement may widen what the file promises, but it narrows it only if the user
asks for that.
"""

from __future__ import annotations

import re

from bulkhead.bench.flows import FlowsNotMeasured, MeasuredFlows, statistics_of, with_margin
from bulkhead.config.flow_costs import ISOLATED, PLAIN, CostPart, FlowCosts
from bulkhead.config.locate import platform_path
from bulkhead.results.run import PathPartResult as Part


def lines_of(parts: dict[str, Part], kept: FlowCosts | None) -> dict[str, str]:
    """The line of each part for a platform file, with the margin of a measurement. `kept`: costs whose
    smallest and largest values stay if they are further apart."""
    stated = {} if kept is None else kept.parts()
    width = max(len(name) for name in parts) + 1
    return {
        name: f"  {name + ':':{width}} {{ "
        + ", ".join(f"{key}: {ns} ns" for key, ns in statistics_of(widened(part, stated.get(name))).items())
        + " }"
        for name, part in parts.items()
    }


def widened(part: Part, kept: CostPart | None) -> Part:
    """The measured part with its margin; the extremes of `kept` where they are further apart."""
    found = with_margin(part)
    if kept is None:
        return found
    least = found["min"] if kept.min is None else min(found["min"], kept.min)
    return {**found, "min": least, "max": max(found["max"], kept.max)}


def write_costs(platform: str, key: str, measured: MeasuredFlows, kept: FlowCosts | None) -> None:
    """Put the parts into the section `key` of a platform file in place of its own; everything else stays.
    `kept`: as for `lines_of`. Raises FlowsNotMeasured."""
    path = platform_path(platform)
    assert path is not None, "it was measured"
    before, found, rest = path.read_text(encoding="utf-8").partition(f"\n{key}:")
    if not found or measured.unit != "ns":
        raise FlowsNotMeasured(f"{path}: has no `{key}` in ns")
    section, end = _section(rest)
    for name, line in lines_of(measured.parts, kept).items():
        section, count = re.subn(rf"(?m)^  {name}:.*$", line, section, count=1)
        if count != 1:
            raise FlowsNotMeasured(f"{path}: has no `{key}.{name}`")
    path.write_text(before + found + section + end, encoding="utf-8")


def contain(platform: str) -> None:
    """Widen the file's `flow_costs` to the extremes of its `flow_costs_isolated`: an isolated system is one
    of those for which `flow_costs` hold. Colors can make a part longer: a domain with few colors has few
    banks of the DRAM. Called after either section has been written."""
    path = platform_path(platform)
    assert path is not None, "it was measured"
    text = path.read_text(encoding="utf-8")
    before, found, rest = text.partition(f"\n{PLAIN}:")
    isolated = text.partition(f"\n{ISOLATED}:")[2]
    if not found or not isolated:
        return
    section, end = _section(rest)
    for name, least, most in _extremes(_section(isolated)[0]):

        def widen(line: re.Match[str], least: int = least, most: int = most) -> str:
            return f"{line[1]}{min(int(line[2]), least)}{line[3]}{max(int(line[4]), most)}"

        section = re.sub(
            rf"(?m)^(  {name}:.*\bmin: )(\d+)( ns.*\bmax: )(\d+)(?= ns)", widen, section, count=1
        )
    path.write_text(before + found + section + end, encoding="utf-8")


def _extremes(section: str) -> list[tuple[str, int, int]]:
    """Name, smallest and largest value in ns of each part of a section."""
    found = re.findall(r"(?m)^  (\w+):.*\bmin: (\d+) ns.*\bmax: (\d+) ns", section)
    return [(name, int(least), int(most)) for name, least, most in found]


def _section(text: str) -> tuple[str, str]:
    """A section's text from behind its key, and what follows it: the next key of the file."""
    following = re.search(r"(?m)^\S", text.partition("\n")[2])
    if following is None:
        return text, ""
    at = text.index("\n") + 1 + following.start()
    return text[:at], text[at:]
