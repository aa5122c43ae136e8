# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/hypercalls.md from schema/hypercalls.yaml and the numbers of schema/manifest.yaml.

    PYTHONPATH=src:scripts build/venv/bin/python scripts/hypercall_reference.py [--check]

`--check` writes nothing, and ends 1 if the page is not what would be written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from bulkhead.schema import load_layout
from bulkhead.schema.model import Schema
from generated import REFERENCE, ROOT, write_or_check

PAGE = REFERENCE / "hypercalls.md"
SOURCE = ROOT / "schema/hypercalls.yaml"
CALLERS = {
    "everyone": "Every domain may make these calls.",
    "manager": "Domains with `manager: true` may make these calls. A domain is given by its index, in the"
    " order of the system file. An image for space isolation only supports none of the calls about budgets,"
    " samples, regulators and flows.",
    "broker": "The [broker](../design/flows.md) may make these calls.",
}
_INTRO = """\
A guest calls the hypervisor by HVC or SMC, by the SMC calling convention (DEN0028), as vendor-specific
hypervisor services: the number is in x0, arguments are in x1 to x17. x0 of the answer is 0, or the
negated number of an error. A call that the caller may not make does not exist for it: the answer is
`not_supported`. Names in `bulkhead_layout.h` are `BH_HYPERCALL_NAME` and `BH_HYPERCALL_ERROR_NAME`.
Types of values are in [statistics](statistics.md) and [manifest](manifest.md#records)."""


@dataclass(frozen=True)
class Call:
    """A hypercall; keys as in schema/hypercalls.yaml."""

    name: str
    number: int
    caller: str
    does: str
    takes: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)


def calls_of(schema: Schema) -> list[Call]:
    """All calls in the order of the file. Raises KeyError for a call without a number."""
    told: dict[str, dict[str, Any]] = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    return [Call(name, schema.constants[f"hypercall_{name}"].value, **one) for name, one in told.items()]


def page() -> str:
    """The page's text."""
    schema = load_layout().schema
    lines = [
        "<!-- Written by scripts/hypercall_reference.py from schema/hypercalls.yaml. -->",
        "",
        "# Hypercalls",
        "",
        " ".join(_INTRO.split()),
    ]
    for caller, text in CALLERS.items():
        lines += ["", f"## {caller.capitalize()}", "", text]
        for call in calls_of(schema):
            if call.caller == caller:
                lines += [
                    "",
                    f"### {call.name}",
                    "",
                    f"`{call.number:#010X}`. {call.does}".replace("0X", "0x"),
                ]
                lines += _table(call)
    lines += ["", "## Errors", "", "| number | error | meaning |", "| --- | --- | --- |"]
    lines += [
        f"| {one.value} | `{one.name}` | {one.comment or '–'} |"
        for one in schema.enums["hypercall_error"].members
    ]
    return "\n".join(lines) + "\n"


def _table(call: Call) -> Iterator[str]:
    rows = [
        *((f"argument {where}", what) for where, what in call.takes.items()),
        *((f"answer {where}", what) for where, what in call.answers.items()),
        *((f"error `{name}`", when) for name, when in call.errors.items()),
    ]
    if rows:
        yield from ("", "| | meaning |", "| --- | --- |")
        yield from (f"| {what} | {meaning} |" for what, meaning in rows)


if __name__ == "__main__":
    sys.exit(write_or_check({PAGE: page()}, __doc__))
