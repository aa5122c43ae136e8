# SPDX-License-Identifier: Apache-2.0
"""A platform file as a flat list of parameters, each with the source of its value.

`bulkhead platforms NAME` prints the list. Fitted values are distinguished from values of manuals: everything
else that the machine shows is a prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from bulkhead.config.flow_costs import ISOLATED, PLAIN
from bulkhead.config.platform import Platform
from bulkhead.config.timing import ALL, MARKS, Fact
from bulkhead.results.platforms import FactResult, Origin
from bulkhead.units import size_text

_NOT_SHOWN = ("sources", "platform", "name", "extends", "parts", "description", *MARKS, "calibration")
_ADDRESSES = ("at", "qos", "distributor", "redistributors", "cpu_interface", "hypervisor", "virtual_cpu")
_SIZES = ("size", "page", "chunk")
TIMES_PS = (
    "request",
    "answer",
    "entry",
    "exit",
    "interrupt_latency",
    "barrier",
    "device",
    "clock",
    "start",
    "finish",
    "per_line",
    "stall",
    "wait",
    "not_ready",
    "window",
)
_TIMES_OF_SECTIONS = ("timing.hit", "ocm.latency", "coherence.snoop")
_SECTIONS_WITH_TIMES = (
    "ocm",
    "interconnect",
    "controller",
    "costs",
    "maintenance",
    "regulators",
    "dma",
    "mpam",
    "iommus",
)
_COSTS_OF_FLOWS = (f"{PLAIN}.", f"{ISOLATED}.")
_NO_COSTS = (f"{PLAIN}.copied_rate", f"{ISOLATED}.copied_rate", f"{ISOLATED}.within.")
_LOWEST_ADDRESS = 1 << 10
_MARKS: tuple[tuple[str, Origin], ...] = (
    ("fitted", "fitted"),
    ("assumed", "assumed"),
    ("from_machine", "machine"),
)


@dataclass(frozen=True)
class Parameter:
    key: str
    value: Any  # a type that JSON has
    shown: str
    source: str
    origin: Origin  # "" if it is from its source

    @property
    def fitted(self) -> bool:
        return self.origin == "fitted"


def is_time(path: str) -> bool:
    """Whether a parameter is a time, in picoseconds. Of some keys that depends on the section: `hit` of a TLB
    is in cycles, that of an IOMMU a time."""
    return path.rpartition(".")[2] in TIMES_PS or path.endswith(_TIMES_OF_SECTIONS)


def parameters(platform: Platform, section: str | None = None) -> list[Parameter]:
    """Every value of the file, or of a section, in the file's order. Its source is its own, else that of the
    innermost section with one."""
    wanted = None if section is None else {section, "source"}
    dumped = platform.model_dump(include=wanted, exclude_none=True, exclude_unset=True)
    return list(_of("", dumped, "", platform.sources))


def facts(platform: Platform) -> list[FactResult]:
    """The measured facts that parameters were fitted to, with what the machine gives."""
    return [_fact(fact) for fact in platform.calibration]


def _fact(fact: Fact) -> FactResult:
    shown: FactResult = {
        "fact": fact.fact,
        "unit": fact.unit,
        "parameters": list(fact.parameters),
        "compared": fact.compared,
    }
    if fact.target is not None:
        shown["target"] = _number(fact.target)
    if fact.low is not None:
        shown["low"] = _number(fact.low)
    if fact.high is not None:
        shown["high"] = _number(fact.high)
    if fact.measured is not None:
        shown["measured"] = _number(fact.measured)
    if fact.follows is not None:
        shown["follows"] = fact.follows
    if fact.source is not None:
        shown["source"] = fact.source
    return shown


def _of(
    prefix: str, section: dict[str, Any], source: str, sources: dict[str, str], whole: Origin = ""
) -> Iterator[Parameter]:
    """Parameters of a section and all below. `whole`: origin of the whole section, if a section above states
    it."""
    source = section.get("source") or source
    for key, value in section.items():
        if key in _NOT_SHOWN:
            continue
        path = f"{prefix}.{key}" if prefix else key
        origin = whole or _origin(section, key)
        if isinstance(value, dict):
            yield from _of(path, value, source, sources, origin)
        elif isinstance(value, (tuple, list)) and value and isinstance(value[0], dict):
            for number, item in enumerate(value):
                yield from _of(f"{path}[{number}]", item, source, sources, origin)
        elif value not in ((), {}):
            where = sources.get(path) or source
            yield Parameter(path, _plain(value), _shown(path, key, value), where, origin)


def _origin(section: dict[str, Any], key: str) -> Origin:
    for mark, origin in _MARKS:
        marked = section.get(mark, ())
        if key in marked or marked == ALL:
            return origin
    return ""


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return _number(value) if isinstance(value, (Fraction, Decimal)) else value


def _number(value: Fraction | Decimal) -> float:
    return int(value) if value == int(value) else float(value)


def _shown(path: str, key: str, value: Any) -> str:
    if path.startswith(_COSTS_OF_FLOWS) and not path.startswith(_NO_COSTS) and isinstance(value, int):
        return f"{value} ns"
    if key == "rate" and isinstance(value, int):
        return f"{value / 10**6:g} MB/s"
    if key in _SIZES and isinstance(value, int):
        return size_text(value)
    if key in _ADDRESSES and isinstance(value, int) and value >= _LOWEST_ADDRESS:
        return f"{value:#x}"
    if is_time(path) and isinstance(value, int) and any(part in path for part in _SECTIONS_WITH_TIMES):
        return f"{value / 1000:g} ns"
    if key in ("frequency", "clock") and isinstance(value, int):
        return f"{value / 10**6:g} MHz"
    plain = _plain(value)
    return ", ".join(str(item) for item in plain) if isinstance(plain, list) else str(plain)
